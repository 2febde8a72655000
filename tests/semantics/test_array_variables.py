"""Names that denote one array after another: of other sizes, views of one another, in loops and branches."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import differential_source, function_from_source, lines, made
from weft import jit

V = np.linspace(0.1, 3.0, 9)
M = np.arange(24.0).reshape(4, 6)


def _check(header: str, body: str, *arguments: object, **how: object) -> None:
    differential_source(lines(header, *body.strip("\n").split("\n")), made(*arguments), **{"tolerance": 1e-12, **how})


# --- other sizes ----------------------------------------------------------------------------------------------------

SHRINKING = {
    "mask": "for i in range(n):\n    keep = x > 0.3 * i\n    x = x[keep] * 1.1\nreturn x",
    "several": "y = x * 2\nfor i in range(n):\n    k = y < 4 - i\n    x, y = x[k], y[k]\nreturn x, y, len(x)",
    "slice": "s = 0.0\nwhile len(x) > n:\n    x = x[1:] + 0.5\n    s += x[0]\nreturn x, s",
    "step": "while x.size > 1:\n    x = x[::2] * 1.5\nreturn x",
    "halves": "while len(x) >= 2:\n    x = 0.5 * (x[: len(x) // 2] + x[len(x) - len(x) // 2 :])\nreturn x",
    "empty": "while len(x):\n    x = x[x > x[0]] + 0.0\nreturn x",
    "unique": "for i in range(n):\n    x = np.unique(np.round(x * 0.5, 1))\nreturn x",
    "break": "for i in range(9):\n    x = x[: len(x) - 1] + i\n    if len(x) < n:\n        break\nreturn x",
}


# np.unique of complex numbers is not native.
SHRINKERS = [(n, t) for n in SHRINKING for t in ("float64", "complex128") if (n, t) != ("unique", "complex128")]


@pytest.mark.parametrize(("name", "dtype"), SHRINKERS)
def test_an_array_shrinks(name: str, dtype: str) -> None:
    body = SHRINKING[name]
    if dtype == "complex128":
        body = body.replace("x > ", "abs(x) > ").replace("y < ", "abs(y) < ").replace("s = 0.0", "s = 0j")
    _check("x, n", body, V.astype(dtype), 3, tolerance=1e-12)


def test_integers_shrink() -> None:
    body = "k = 0\nwhile len(x) > 0:\n    x = x[x % x[0] != 0]\n    k += 1\nreturn k, x"
    for dtype in ("int64", "int32", "uint8"):
        _check("x", body, np.arange(2, 60).astype(dtype))


GROWING = {
    "concatenate": "for i in range(n):\n    x = np.concatenate([x, x[:2] * i])\nreturn x",
    "append": "y = np.zeros(0)\nfor i in range(n):\n    y = np.append(y, x[i] * i)\nreturn y",
    "fibonacci": "y = np.ones(2)\nwhile y[-1] < n * 10:\n    y = np.append(y, y[-1] + y[-2])\nreturn y",
    "tile": "for i in range(n):\n    x = np.repeat(x, 2)[:-1]\nreturn x",
    "either": "for i in range(4):\n    if i > n:\n        x = -x[1:]\n    else:\n        x = np.append(x, i)\nreturn x",
    "nested": "for i in range(n):\n    for j in range(i):\n        x = np.append(x, j)\n    x = x[1:] + 0\nreturn x",
}


@pytest.mark.parametrize("body", GROWING.values(), ids=GROWING)
def test_an_array_grows(body: str) -> None:
    _check("x, n", body, V, 3)


def test_rows_and_columns_change_in_number() -> None:
    _check("a", "while a.shape[0] > 1:\n    a = a[::2] + a[:1]\nreturn a", M)
    _check("a", "while a.shape[1] > 1:\n    a = a[:, 1:] * 2\nreturn a, a.shape", M)
    _check("a, n", "for i in range(n):\n    a = np.vstack([a, a[-1:] * 2])\nreturn a", M, 3)
    _check("a, m", "for i in range(2):\n    a = a[:, a[0] > i]\nreturn a.sum(axis=0), a.copy()", M, 3)


def test_escape_time_with_arrays_that_shrink() -> None:
    body = """
z = np.zeros_like(c)
k = np.arange(len(c))
steps = np.zeros(len(c), dtype=np.int64)
for n in range(m):
    if len(z) == 0:
        break
    z = z * z + c
    out = np.abs(z) > 2.0
    steps[k[out]] = n + 1
    z, c, k = z[~out], c[~out], k[~out]
return steps"""
    points = (np.linspace(-2, 1, 40)[:, None] + 1j * np.linspace(-1, 1, 9)).ravel()
    _check("c, m", body, points, 12)


def test_selection_by_quickselect() -> None:
    body = """
while True:
    p = x[len(x) // 2]
    low, high = x[x < p], x[x > p]
    if k < len(low):
        x = low
    elif k >= len(x) - len(high):
        k -= len(x) - len(high)
        x = high
    else:
        return p"""
    for k in range(0, 9, 4):
        _check("x, k", body, np.array([3.0, 1, 2, 9, 4, 7, 5, 8, 6]), k)


def test_the_size_differs_by_branch() -> None:
    body = "if c > 0:\n    y = x[1:] * 2\nelse:\n    y = x[::2] + 1\ns = y.sum()\nreturn y, s, len(y)"
    _check("x, c", body, V, 1)
    _check("x, c", body, V, -1)
    _check("x, c", "if c > 0:\n    x = x[2:] + 0\nreturn x * 2", V, 1)
    _check("x, c", "y = x[1:] + 1 if c > 0 else x * 2\nreturn y, y.shape[0]", V, 1)
    _check("x, c", "y = x[1:] + 1 if c > 0 else x * 2\nreturn y, y.shape[0]", V, 0)


def test_the_first_array_is_made_in_the_loop() -> None:
    _check("x, n", "for i in range(n):\n    y = x * i\nreturn y", V, 3)
    _check("x, n", "for i in range(n):\n    y = x[x > 0.1 * i]\nreturn y", V, 3)
    _check("x, n", "if n > 1:\n    y = x * 2\nelse:\n    y = x + 1\nreturn y", V, 3)


# --- names of one array ---------------------------------------------------------------------------------------------

SHARING = {
    "the old one is kept": "d = 0.0\nfor i in range(n):\n    old = x\n    x = x * 2\n    d += sum(x - old)\nreturn d",
    "kept after the loop": "old = x\nfor i in range(n):\n    old = x\n    x = x * 2\nreturn x - old",
    "a part of it is kept": "d = 0.0\nfor i in range(n):\n    p = x[1:]\n    x = x * 2\n    d += p.sum()\nreturn d",
    "best so far": "best = x\nfor i in range(n):\n    x = x * 2\n    if x[0] > 1:\n        best = x\nreturn best",
    "written after it is new": "for i in range(n):\n    x = x * 2\n    x[0] = 0\nreturn x",
    "the argument": "for i in range(n):\n    x = x * 2\nreturn x",
    "a part of the argument": "for i in range(n):\n    x = x * 2\nreturn x[1:], x",
    "the argument or not": "if n > 3:\n    x = x * 2\nreturn x",
}


@pytest.mark.parametrize("body", SHARING.values(), ids=SHARING)
@pytest.mark.parametrize("n", [0, 1, 4])
def test_names_of_one_array(body: str, n: int) -> None:
    _check("x, n", body, V, n)


BRANCHES = {
    "one or the other": "if c > 0:\n    x = a\nelse:\n    x = b\nx[0] = 5\nreturn a[0], b[0]",
    "another or the same": "x = a\nif c > 0:\n    x = b\nx += 5\nreturn x",
    "a view or a new one": "x = a[1:] if c > 0 else b * 2\nx[0] = 7\nreturn x, a, b",
    "returned": "if c > 0:\n    a = a[1:]\nreturn a",
    "chosen and returned": "return a if c > 0 else b[1:]",
    "transposed": "if c > 0:\n    a = a[::-1]\na[0] = 9\nreturn a",
    "different types": "x = a if c > 0 else a.astype(np.int64)\nreturn x * 2",
    "different ranks": "x = a if c > 0 else a[None, :]\nreturn x.sum(axis=0) + x.ndim",
    "a number or an array": "x = 0.0\nif c > 0:\n    x = a * 2\ny = x + 1\nreturn y",
}


@pytest.mark.parametrize("body", BRANCHES.values(), ids=BRANCHES)
@pytest.mark.parametrize("c", [1, -1])
def test_branches_that_cannot_be_merged(body: str, c: int) -> None:
    _check("a, b, c", body, V, V + 1, c)


@pytest.mark.parametrize(
    "body",
    [
        "x = np.zeros(9)\nfor i in range(n):\n    x[0] = i\n    x = a\nreturn a",
        "x = a\ns = 0.0\nfor i in range(n):\n    a[0] += 1\n    s += x[0]\n    x = x + 1\nreturn s",
        "x = a[:4]\ny = a[4:8]\nfor i in range(n):\n    y[:] = x + 1\n    x, y = y, x\nreturn a",
        "b = a\nfor i in range(n):\n    b = b[1:]\nreturn b",
    ],
)
def test_what_the_array_compiler_cannot_do_is_native_as_plain_python(body: str) -> None:
    source = lines("a, n", *body.split("\n"))
    function = function_from_source(source)
    compiled = jit(fallback="error")(function)
    for n in (3, 2):
        mine, theirs = V.copy(), V.copy()
        found, expected = compiled(mine, n), function(theirs, n)
        np.testing.assert_array_equal(found, expected)
        assert type(found) is type(expected) and (found is mine) == (expected is theirs)
        np.testing.assert_array_equal(mine, theirs)
    assert compiled._native is not None and compiled._native.versions


def test_swaps() -> None:
    steps = "    v[1:-1] = 0.5 * (u[2:] + u[:-2])\n    u, v = v, u\n"
    for n in range(3):
        _check("u, n", f"v = u.copy()\nfor t in range(n):\n{steps}return u", V, n)
        _check("u, n", f"v = u.copy()\nfor t in range(n):\n{steps}return u.sum(), v.sum()", V, n)
        _check("u, n", f"u = u.copy()\nv = u.copy()\nfor t in range(n):\n{steps}return u, v", V, n)
        _check("u, v, n", f"for t in range(n):\n{steps}return v", V, V * 2, n)


def test_several_names_for_a_new_array() -> None:
    _check("x, n", "for i in range(n):\n    x = y = x[1:] * 2\n    y[0] = i\nreturn x, y", V, 3, native=False)
    _check("x", "a = b = x[x > 1]\na[0] = 9\nreturn a, b", V)
