"""Random programs over lists of arrays, with names that share them: the same answer as CPython, and the same arrays are
one object.  The choice is reproducible; WEFT_FUZZ=n tries n new ones.
"""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

import weft
from tests.semantics.test_arrays_in_containers import _outcome
from tests.semantics.wide import needs_compiler
from tests.support import function_from_source

pytestmark = needs_compiler
COUNT = int(os.environ.get("WEFT_FUZZ", "8"))
FIRST = 0 if "WEFT_FUZZ" not in os.environ else random.randrange(10**6)
_RESULTS = ("a, b, x, y, s", "a, s", "x, y, s", "a, x, s", "np.array(a), s, b", "a, b, s")


def _step(draw: random.Random, in_loop: bool) -> str:
    name, other = draw.choice("xy"), draw.choice("xyu")
    one, two = draw.choice("ab"), draw.choice("ab")
    place = draw.choice(["0", "1", "-1", "i % 2" if in_loop else "0"])
    number, at = draw.randint(1, 9), draw.randint(0, 2)
    return draw.choice(
        [
            f"{name} = {name} + {number}",
            f"{name} = {other}",
            f"{name} = {one}[{place}]",
            f"{name}[{at}] = {number}",
            f"{one}.append({name})",
            f"{one}.append({other})",
            f"{one}.append({name}.copy())",
            f"{one}[{place}] = {name}",
            f"{one}[{place}][{at}] = {number}",
            f"{name} += {number}",
            f"{name} = {one}[{place}] * 2",
            f"{one}.append({two}[{place}])",
            f"{one}[{place}] = {two}[{place}] + {other}",
            f"{one}[{place}] += 1",
            "x, y = y, x",
            f"s += {one}[{place}][{at}]",
            f"{one}.insert(1, {name})",
            f"if len({one}) > 3: {one}.pop()",
            f"{one} = {two}[:]",
            f"{name} = np.array({one})[0]",
            f"for w in {one}: s += w[0]",
            f"for w in {one}: w[1] = {number}",
        ]
    )


def _statement(draw: random.Random, depth: int, indent: int, in_loop: bool) -> list[str]:
    pad, kind = "    " * indent, draw.random()
    if depth and kind < 0.15:
        body = [_statement(draw, depth - 1, indent + 1, True) for _ in range(draw.randint(1, 3))]
        return [f"{pad}for i in range({draw.choice(['n', '2'])}):", *(line for part in body for line in part)]
    if depth and kind < 0.28:
        test = draw.choice(["n > 1", "n > 5", "s > 3", "len(a) > 2"])
        lines = [f"{pad}if {test}:", *_statement(draw, depth - 1, indent + 1, in_loop)]
        if draw.random() < 0.4:
            lines += [f"{pad}else:", *_statement(draw, depth - 1, indent + 1, in_loop)]
        return lines
    return [pad + _step(draw, in_loop)]


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_as_cpython(seed):
    draw = random.Random(seed)
    lines = ["def f(u, n):", "    x = u.copy()", "    y = u * 2", "    a = [x.copy(), u * 3]", "    b = [y + 1, x * 4]"]
    lines.append("    s = 0.0")
    for _ in range(draw.randint(3, 8)):
        lines += _statement(draw, 2, 1, False)
    source = "\n".join([*lines, "    s = float(s)", f"    return {draw.choice(_RESULTS)}", ""])
    plain = function_from_source(source, namespace={"np": np})
    native = weft.jit(plain, fallback="silent")
    for n in (3, 0):
        arguments = (np.arange(3.0) + 0.5, n)
        assert _outcome(native, arguments) == _outcome(plain, arguments), source
