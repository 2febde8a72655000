"""Programs that the hunt has found (see tests/hunt), as it has shrunk them: each gives CPython's answer in every way to
run it.  A row is the function, and the arguments of its calls."""

from __future__ import annotations

import pytest

from tests.hunt.case import Case
from tests.hunt.modes import Mode, expected_of, judge
from weft.options import Stress

_MODES = {
    "python": Mode(),
    "c": Mode("c", level="-O0"),
    "regions": Mode(stress=Stress(split=1)),
    "general": Mode(stress=Stress(general=True)),
    "deoptimised": Mode(stress=Stress(deoptimise=0)),
}

_PROGRAMS: dict[str, tuple[str, ...]] = {
    "the order of constant strings": (
        "def f(a):\n    return a[1:] if '' <= 'b' else a[:1], b'a' > b'b', 'x' < 'x'\n",
        "return ([1, 2, 3],)",
    ),
    "dicts and sets in a list change places": (
        "def f(d):\n    d[0], d[1] = d[1], d[0]\n    return d[0]\n",
        "return ([{6}, {1, 2}],)",
        "return ([{6: 1.0}, {1: 0.5, 2: 2.5}],)",
        "return ([(1, {6}), (2, {1, 2})],)",
        "return ({0: {6: 1}, 1: {1: 1, 2: 2}},)",
        "return ([{'a'}, set()],)",
    ),
    "a dict of a list in two places of it": (
        "def f(d, e):\n    d[0] = e[1]\n    d[0][5] = 2\n    return e\n",
        "return ([{6: 0}, {1: 1}], [{3: 4}, {}])",
        "x = [{6: 0}, {1: 1}]\nreturn (x, x)",
    ),
    "an inner dict or set that is returned is the argument's": (
        "def f(d):\n    v = d.pop(1)\n    return v, d[0]\n",
        "return ([{6: 1}, {1: 2}],)",
        "return ([{6}, {1}],)",
        "return ({0: {6: 1}, 1: {1: 2}},)",
    ),
    "an inner dict under two names": (
        "def f(a):\n    d = {a: {a: 1}, 7: {2: 3}}\n    return d, d[a], d[7]\n",
        "return (4,)",
    ),
    "constants without an order": ("def f(a):\n    return a if None < 'b' else 1\n", "return (2,)"),
}


@pytest.mark.parametrize("mode", _MODES)
@pytest.mark.parametrize("name", _PROGRAMS)
def test_the_same_answer(name: str, mode: str) -> None:
    source, *calls = _PROGRAMS[name]
    case = Case(source, tuple(calls))
    verdict = judge(case, _MODES[mode], expected_of(case)[0])
    assert not verdict.kind, f"{verdict.kind}: {verdict.text}"
