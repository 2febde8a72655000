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

_DAILY = ("python", "regions")
_PARAMETERS = [mode if mode in _DAILY else pytest.param(mode, marks=pytest.mark.slow) for mode in _MODES]

_UPWARDS = """
class P:
    def __init__(self, m):
        self.m = m
    def up(self):
        self.m = 10.0
        return 1.0
"""

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
    "a dict that has its first name in a branch": (
        "def f(a):\n    v = {a: 1.0} if a else {}\n    for i in range(40):\n        v[i + a] = 0.5\n    return v\n",
        "return (1,)",
        "return (0,)",
    ),
    "a set that has its first name in a branch": (
        "def f(a):\n    v = {a, 3} if a else set()\n    for i in range(40):\n        v.add(i)\n    return v\n",
        "return (0,)",
        "return (1,)",
    ),
    "a dict that is an argument or another one": (
        "def f(a, b):\n    if b:\n        a = {}\n    return a\n",
        "return ({1: 2}, 0)",
        "return ({1: 2}, 1)",
    ),
    "a dict that gets its own name in a handler": (
        "def f(a):\n    try:\n        pass\n    except ValueError:\n        a = a\n    return a\n",
        "return ({},)",
        "return ({3: [], 6: []},)",
    ),
    "constants beyond 64 bits": (
        "def f(a):\n    a[1] = 0.0\n    return 2 ** 64, 1 << 63, a[0] / 2 ** 70\n",
        "return (np.arange(3.0),)",
    ),
    "arrays of rank 0": (
        "def f(a):\n    return np.squeeze(a), np.zeros_like(a), np.copy(a)\n",
        "return (1,)",
        "return (1.5,)",
        "return (np.float32(2),)",
        "return (np.array([[2]]),)",
    ),
    "an array of rank 0 with a name": (
        "def f(a):\n    r = np.squeeze(a)\n    s = r\n    return s, r + 1\n",
        "return (1,)",
        "return (np.array([[2]]),)",
    ),
    "a list of lists or dict of dicts in two places of a result": (
        "def f(a):\n    v = [[] for _ in range(a)]\n    w = v\n    d = e = {a: {a: 1}}\n    return v, w, d, e\n",
        "return (3,)",
    ),
    "a list of objects that loses some": (
        "@dataclass\nclass P:\n    x: int\n\ndef f(a):\n    a.pop()\n    return len(a)\n",
        "return ([P(1), P(2)],)",
    ),
    "a list of objects that loses all": (
        "@dataclass\nclass P:\n    x: int\n\ndef f(a):\n    a.clear()\n    return len(a)\n",
        "return ([P(1), P(2)],)",
    ),
    "an array of rank 0 by its shape": (
        "def f(a):\n    return np.reshape(a, ()), np.zeros(())\n",
        "return (np.array([3.5]),)",
        "return (True,)",
    ),
    "a flip of no axis is another view": (
        "def f(a):\n    return np.flip(a, axis=()), np.flip(a)\n",
        "return (np.arange(8.0).reshape(2, 4),)",
    ),
    "a slice shares the rows of a list of lists": (
        "def f(c, n):\n    d = c[:]\n    d[0][0] = c[1][1] = n\n    return d, d[1][1]\n",
        "return ([[3, 4], [5, 6]], 1)",
        "return ([[3, 4], [5, 6]], 0)",
    ),
    "a slice in reverse shares the rows of a list of lists": (
        "def f(c, n):\n    d = c[::-1]\n    d[0][0] = c[1][1] = n\n    return d, d[1][1]\n",
        "return ([[3, 4], [5, 6]], 1)",
        "return ([[3, 4], [5, 6]], 0)",
    ),
    "list() shares the rows of a list of lists": (
        "def f(c, n):\n    d = list(c)\n    d[0][0] = c[1][1] = n\n    return d, d[1][1]\n",
        "return ([[3, 4], [5, 6]], 1)",
        "return ([[3, 4], [5, 6]], 0)",
    ),
    "a copy shares the rows of a list of lists": (
        "def f(c, n):\n    d = c.copy()\n    d[0][0] = c[1][1] = n\n    return d, d[1][1]\n",
        "return ([[3, 4], [5, 6]], 1)",
        "return ([[3, 4], [5, 6]], 0)",
    ),
    "a comprehension shares the rows of a list of lists": (
        "def f(c, n):\n    d = [v for v in c]\n    d[0][0] = c[1][1] = n\n    return d, d[1][1]\n",
        "return ([[3, 4], [5, 6]], 1)",
        "return ([[3, 4], [5, 6]], 0)",
    ),
    "items by their places shares the rows of a list of lists": (
        "def f(c, n):\n    d = [c[i] for i in range(len(c))]\n    d[0][0] = c[1][1] = n\n    return d, d[1][1]\n",
        "return ([[3, 4], [5, 6]], 1)",
        "return ([[3, 4], [5, 6]], 0)",
    ),
    "a sum shares the rows of a list of lists": (
        "def f(c, n):\n    d = c + [[1, 2]]\n    d[0][0] = c[1][1] = n\n    return d, d[1][1]\n",
        "return ([[3, 4], [5, 6]], 1)",
        "return ([[3, 4], [5, 6]], 0)",
    ),
    "a dict shares the rows of a list of lists": (
        "def f(c, n):\n    d = {i: v for i, v in enumerate(c)}\n    d[0][0] = c[1][1] = n\n    return d, d[1][1]\n",
        "return ([[3, 4], [5, 6]], 1)",
        "return ([[3, 4], [5, 6]], 0)",
    ),
    "rows of a list that is made here": (
        "def f(n):\n    c = [[i, 0] for i in range(n)]\n    d = c[:]\n    d[0][0] = 9\n    return d, c\n",
        "return (3,)",
    ),
    "one list in all places": (
        "def f(n):\n    r = [n + 1]\n    x = [r for _ in range(n)]\n    x[0][0] = 7\n    return x\n",
        "return (3,)",
    ),
    "one list for several names": (
        "def f(a):\n    v = w = x = []\n    w.append(a)\n    x.append(2)\n    return v\n",
        "return (3,)",
    ),
    "one list that is no literal for several names": (
        "def f(a):\n    v = w = [i for i in range(a)]\n    v.append(2)\n    return w, len(v)\n",
        "return (3,)",
    ),
    "one dict for several names": (
        "def f(a):\n    v = w = {}\n    w[a] = 1\n    return v\n",
        "return (3,)",
    ),
    "a generator that ends before it yields": (
        "def f(a):\n    return 3\n    yield a\n",
        "return (1,)",
    ),
    "a read-only array that would not change": (
        "def f(a):\n    a[:] = a\n    a *= 1\n",
        "x = np.arange(3.0)\nx.flags.writeable = False\nreturn (x,)",
        "return (np.arange(3.0),)",
    ),
    "np.ix_ of nothing": ("def f(a):\n    return np.ix_(()), np.ix_([a])\n", "return (1,)"),
    "constants without an order": ("def f(a):\n    return a if None < 'b' else 1\n", "return (2,)"),
    "a dtype called on an array of it is the array": (
        "def f(a):\n    b = np.float64(a)\n    b[0] = 3.0\n    return a, b, np.float64(a[::1]), np.int64(a)\n",
        "return (np.arange(7.0),)",
        "return (np.arange(7),)",
        "return ([1.0, 2.0],)",
    ),
    "the layout of an argument decides between a view and a copy": (
        "def f(a):\n    b = np.ascontiguousarray(a)\n    b[0] = 4.0\n    return b, np.ascontiguousarray(a[::1])\n",
        "return (np.arange(6.0),)",
        "return (np.arange(6.0)[::2],)",
        "return (np.arange(6.0).reshape(2, 3),)",
        "return (np.arange(6.0).reshape(2, 3).T,)",
    ),
    "a reshape of another layout": (
        "def f(a):\n    b = a[::1]\n    return b.reshape(-1), np.ravel(a), np.asfortranarray(a)\n",
        "return (np.arange(6.0).reshape(2, 3),)",
        "return (np.arange(6.0).reshape(2, 3).T,)",
        "return (np.arange(24.0).reshape(4, 6)[::2, ::3],)",
    ),
    "one view in two places of a result": (
        "def f(a):\n    c = np.arange(9).reshape((3, 3))\n    d = a[1:]\n    return [c, c], d, (d, 1), c\n",
        "return (np.arange(4.0),)",
    ),
    "Python bools in ufuncs": (
        "def f(a, b):\n    return np.abs(a), np.maximum(a, True), np.multiply(a, b), np.real(a), np.add(a, 1)\n",
        "return (True, np.arange(3.0))",
        "return (True, False)",
    ),
    "a root of a Python bool": ("def f(a):\n    return np.sqrt(a > 0)\n", "return (2,)"),
    "an exponential of a Python bool": ("def f(a):\n    return np.expm1(True)\n", "return (2,)"),
    "a sign of a Python bool": ("def f(a):\n    return np.positive(a)\n", "return (True,)"),
    "differences of a Python bool": ("def f(a):\n    return np.ediff1d(a)\n", "return (True,)"),
    "an angle of Python bools": ("def f(a):\n    return np.arctan2(a, a)\n", "return (True,)"),
    "an array of a list that may be empty": (
        "def f(a):\n    x = [7 for v in a if v > 2]\n    return np.array(x), np.asarray([[v] for v in x])\n",
        "return ([3],)",
        "return ([1, 2],)",
        "return ([],)",
    ),
    "an array of a list that may be empty, and a store": (
        "def f(a, n):\n    a[0] += 1\n    b = [i for i in range(n) if i > 1]\n    a[1] += 1\n    return np.array(b)\n",
        "return (np.arange(3.0), 4)",
        "return (np.arange(3.0), 1)",
    ),
    "an array of an empty list": ("def f(a):\n    return np.array([7 for v in '' if True])\n", "return (1,)"),
    "an axis of a number": ("def f(a):\n    return np.take_along_axis(a, 4)\n", "return (4,)"),
    "no axes for np.rot90": ("def f(a):\n    return np.rot90(a, axes=None)\n", "return (np.ones((2, 2)),)"),
    "np.nanmean into more axes": ("def f(a):\n    return np.nanmean(a, out=a)\n", "return (np.arange(4.0),)"),
    "np.nanstd into more axes": ("def f(a):\n    return np.nanstd(a, out=a)\n", "return (np.arange(4.0),)"),
    "np.nanvar into more axes": ("def f(a):\n    return np.nanvar(a, out=a)\n", "return (np.arange(4.0),)"),
    "a spacing for no axis": ("def f(a):\n    return np.gradient(a, a, axis=())\n", "return (np.arange(4.0),)"),
    "np.einsum of a number": ("def f(a):\n    return np.einsum('->', a)\n", "return (1,)", "return (1.5,)"),
    "an object with a container in it, put into an empty list": (
        "@dataclass\nclass P:\n    m: int\n    n: list\n\ndef f(a, c):\n    a.append(P(c, [c]))\n",
        "return ([], 2)",
    ),
    "an array whose size is a constant, and gets smaller": (
        "def f():\n    v, w = np.arange(4.0), 3\n    while w < 4:\n        w += 1\n        v = v[1:]\n    return v\n",
        "return ()",
    ),
    "an item of a constant string that is not there": (
        "def f(n):\n    if n <= 0:\n        return ''[0], 'abc'[5], ord('')\n    return n\n",
        "return (1,)",
        "return (0,)",
    ),
    "an attribute that changes while something is added to it": (
        _UPWARDS + "def f(a):\n    p = P(a[0])\n    p.m += p.up()\n    a[1] = p.m\n    return p.m\n",
        "return (np.arange(4.0),)",
    ),
    "an object with a container as its field": (
        "@dataclass\nclass P:\n    m: int\n    n: list\n\ndef f(a, c):\n    a.append(P(c, c))\n",
        "return ([], 2)",
    ),
}


@pytest.mark.parametrize("mode", _PARAMETERS)
@pytest.mark.parametrize("name", _PROGRAMS)
def test_the_same_answer(name: str, mode: str) -> None:
    source, *calls = _PROGRAMS[name]
    case = Case(source, tuple(calls))
    verdict = judge(case, _MODES[mode], expected_of(case)[0])
    assert not verdict.kind, f"{verdict.kind}: {verdict.text}"
