"""Sets in compiled plain Python, step by step beside CPython's: members, and their order, after every operation."""

from __future__ import annotations

import random

import pytest

from weft.plain.function import Native
from weft.plain.runtime import load

pytestmark = pytest.mark.skipif(load() is None, reason="no C compiler")


def history(steps, a, b, c):
    out = []
    for step, key in steps:
        if step == 0:
            a = a | b
        elif step == 1:
            a = a & c
        elif step == 2:
            b = b - a
        elif step == 3:
            c = a ^ b
        elif step == 4:
            a.add(key)
        elif step == 5:
            a.discard(key)
        elif step == 6:
            b.update(c)
        elif step == 7:
            b -= a
        elif step == 8:
            c |= b
        elif step == 9:
            c &= a
        elif step == 10:
            a ^= c
        elif step == 11 and c:
            c.remove(min(c))
        else:
            b = set(a)
        out.append((list(a), list(b), list(c), a <= b, a.isdisjoint(c)))
    return out


KINDS = {
    "int": lambda draw: draw.randrange(-40, 40) * draw.choice((1, 1, 1000003)),
    "str": lambda draw: chr(97 + draw.randrange(26)) * draw.randrange(1, 4),
    "float": lambda draw: draw.randrange(40) / 4 + 0.125,
    "tuple": lambda draw: (draw.randrange(6), draw.randrange(6)),
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_sets_have_the_members_and_the_order_of_cpython(kind):
    draw, make = random.Random(kind), KINDS[kind]
    native = Native(history, lambda values: native.extend(values) is not None)
    for _ in range(40):
        steps = [(draw.randrange(13), make(draw)) for _ in range(draw.randrange(1, 40))]
        drawn = [[make(draw) for _ in range(draw.randrange(1, 60))] for _ in range(3)]
        assert native(steps, *map(set, drawn)) == history(steps, *map(set, drawn))
    assert sum(version.calls for version in native.versions) >= 30
