"""Functions of NumPy that the run time of plain Python computes by itself: NumPy's bits for every size and layout."""

from __future__ import annotations

import copy
import linecache
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft
from tests.plain.kernels import load
from tests.plain.test_numpy_calls import described
from weft.plain.function import Native

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not load() or np.__version__ < "2", reason="no run time of plain Python with arrays here"),
]

#: Each line is one function; `a` and `b` are arrays of one axis, `m` a matrix, `k` a square one, `n` an index array.
CALLS = """
    a.sum()    a.mean()    a.std()    a.var()    a.prod()    a.max()    np.sum(b)    np.mean(b)    np.linalg.norm(a)
    np.exp(a)    np.sqrt(np.abs(a))    np.sin(a)    np.floor(a)    np.maximum(a, b)    np.minimum(a, 0.5)
    np.sign(a)    a**3    np.abs(a)**1.5    np.power(np.abs(a), b)    np.clip(a, -0.2, 0.3)    np.round(a)
    np.hypot(a, b)    np.square(a)    np.where(a > b, a, b)    np.where(a > 0, a, 0.0)    a[a > 0.1]    a[n]
    m[n % len(m)]    m[m > 0]    a.cumsum()    np.searchsorted(a, 0.5)    np.searchsorted(a, b[0])
    np.searchsorted(a, 0, side="right")    np.array([a, b])    np.concatenate([a, b])    np.vstack([a, b])
    np.stack([a, b])    np.hstack([a, b])    np.dot(a, b)    a @ b    m.sum()    m.sum(axis=0)    m.sum(axis=1)
    np.sum(m, 0)    m.mean(axis=0)    m.mean(axis=-1)    m.max(axis=0)    m.min(axis=1)    m.prod(axis=1)    np.exp(m)
    m @ m.T    m.T @ m    np.dot(m, k)    m @ k    k @ k[0]    k[0] @ k    np.sort(a)    np.argsort(a)    np.median(b)
    np.unique(a)    np.unique(n)    np.bincount(np.abs(n))    np.diff(a)    np.diff(n)    np.outer(a[:9], b[:9])
    np.max(n)    np.any(a > 0)    np.argmin(b)    np.sum(n)
"""
LINES = [line.strip().split("    ") for line in CALLS.strip().splitlines()]
NAMES = "a, b, m, k, n"
STORES = """
    a[a > 0] = 0.0    a[a > 0.2] *= 2    a[n] = 2.5    a[n] = b[: len(n)]    a[n] = a[n][::-1]    a[::-1][n] = 1.0
    a[b > 0] = b[b > 0]    m[m > 0] = -1.0    m[:, 0][n % len(m)] = 3.0    n[n > 1] = 1    n[n - n] = n    a[n] += 1
"""


def compiled(body: str) -> tuple[Any, Any]:
    """A loop over a list of tuples, which is for plain Python; the plain function, and the compiled one."""
    text = f"def f(d):\n    out = []\n    for {NAMES} in d:\n        {body}\n    return out\n"
    name = f"<route {body}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), space)
    return space["f"], weft.jit(space["f"], fallback="silent")


def layouts(x: Any) -> Iterator[Any]:
    yield x
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1] + 1), x.dtype)
    wide[..., 1::2] = x
    yield wide[..., 1::2]
    yield x[::-1] if x.ndim == 1 else np.asfortranarray(x)


def tables(dtype: str) -> Iterator[tuple[Any, ...]]:
    rng = np.random.default_rng(5)
    shapes = [(1, 1), (2, 1), (3, 2), (8, 8), (9, 130), (130, 9), (129, 2), (2, 129), (257, 33), (8193, 1)]
    for rows, columns in shapes:
        a, b = rng.normal(size=rows).astype(dtype), rng.normal(size=rows).astype(dtype)
        m, k = rng.normal(size=(rows, columns)).astype(dtype), rng.normal(size=(columns, columns)).astype(dtype)
        n = rng.integers(-rows, rows, (rows + 1) // 2)
        yield from zip(layouts(a), layouts(b), layouts(m), layouts(k), layouts(n))


def odd(dtype: str) -> Iterator[tuple[Any, ...]]:
    """No elements, negative zeros, NaN, what overflows, places that are not there."""
    zero, nothing = np.array([0.0, -0.0, 0.0], dtype), np.zeros(0, dtype)
    high = np.full(3, np.finfo(dtype).max, dtype)
    nan, eye, places = np.array([1, np.nan, -np.inf], dtype), np.eye(3, dtype=dtype), np.array([0, 2])
    some_nan = np.where(eye > 0, np.nan, eye).astype(dtype)
    yield zero, -zero, np.full((3, 3), -0.0, dtype), eye, places
    yield -np.abs(zero), zero, eye, eye, places + 1
    yield nothing, nothing, np.zeros((0, 3), dtype), eye, places[:0]
    yield nan, zero, some_nan, eye, places
    yield high, high, np.tile(high, (3, 1)), eye, places


def outcome(function: Any, given: Any) -> Any:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = described(function(given))
        except Exception as problem:
            found = type(problem).__name__, str(problem)
    return found, [(warning.category, str(warning.message)) for warning in told], described(given)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("calls", LINES, ids=lambda calls: calls[0])
def test_bits_are_numpys(calls, dtype):
    plain, native = compiled(f"out.append(({', '.join(calls)},))")
    for case in tables(dtype):
        assert outcome(native, [case]) == outcome(plain, [case]), [x.shape for x in case]
    assert sum(native.stats["calls"].values()) > 10, native.stats
    for case in odd(dtype):
        assert outcome(native, [case]) == outcome(plain, [case]), case


@pytest.mark.parametrize("store", STORES.strip().replace("\n    ", "    ").split("    "))
def test_stores_at_index_arrays_are_numpys(store):
    plain, native = compiled(store)
    for dtype in ("float64", "int32"):
        for case in (*tables(dtype), *(tuple(x.astype(dtype) for x in odd_[:4]) + odd_[4:] for odd_ in finite())):
            ours, theirs = copy.deepcopy(case), copy.deepcopy(case)
            assert outcome(native, [ours]) == outcome(plain, [theirs]), [x.shape for x in case]
    assert any(native.stats["calls"].values()), native.stats


def finite() -> Iterator[tuple[Any, ...]]:
    """Read-only arrays, an array as its own index and values, places that are not there."""
    a, m, k, n = np.arange(4.0), np.ones((4, 2)), np.eye(2), np.array([1, 3])
    a.flags.writeable = m.flags.writeable = False
    yield a, a.copy(), m, k, n
    yield np.arange(4.0), np.arange(5.0), m.copy(), k, np.array([7, 0])


def test_a_call_that_warns_warns_once():
    plain, native = compiled("out.append((a.mean(), a.std()))")
    native([next(tables("float64"))])
    nothing = next(case for case in odd("float64") if len(case[0]) == 0)
    assert outcome(native, [nothing]) == outcome(plain, [nothing])


def test_errors_are_treated_as_the_program_says():
    plain, native = compiled("out.append((np.argsort(a), np.kron(a, b)))")
    case = next(tables("float64"))
    native([case])
    tiny = (np.array([1e-200]), np.array([1e-200]), *case[2:])
    with np.errstate(under="raise"):
        assert outcome(native, [tiny]) == outcome(plain, [tiny])
    assert outcome(native, [tiny]) == outcome(plain, [tiny])


class Fitted:
    """Its attributes get arrays, and places, after they were None."""

    def __init__(self) -> None:
        self.weights = None
        self.place = None

    def fit(self, rows: Any, target: Any, steps: int) -> float:
        self.weights = np.zeros(rows.shape[1])
        error = 0.0
        for step in range(steps):
            off = rows.dot(self.weights) - target
            self.weights -= 0.1 * (rows.T.dot(off)) / len(rows)
            self.place = step
            error += float((off**2).mean())
        return error

    def at(self, rows: Any) -> Any:
        return rows[self.place % len(rows)] @ self.weights


def fitted(rows, target, steps):
    model = Fitted()
    error = model.fit(rows, target, steps) if steps else 0.0
    return error, model.weights, model.at(rows)


def nearest(rows, number):
    centres = rows[[0, 2]]
    places = []
    for _ in range(number):
        places = np.array([int(np.argmin(((row - centres) ** 2).sum(axis=1))) for row in rows])
        for k in range(2):
            if (places == k).any():
                centres[k] = rows[places == k].mean(axis=0)
    return {"centres": centres, "places": places}


@pytest.mark.parametrize(
    ("function", "given"),
    [(fitted, lambda: (np.arange(12.0).reshape(6, 2) / 10, np.ones(6), 4)), (nearest, lambda: (np.eye(5, 3), 3))],
    ids=["attributes that were None", "types that are known late"],
)
def test_types_that_come_late(function, given):
    native = Native(function)
    native._missed = lambda values: native.extend(values) is not None
    for _ in range(3):
        assert described(native(*given())) == described(function(*given()))
    assert sum(version.calls for version in native.versions) == 3


def test_none_for_an_array_is_pythons_exception():
    native = weft.jit(fitted, fallback="silent")
    rows = np.arange(12.0).reshape(6, 2)
    native(rows, np.ones(6), 2)
    assert outcome(lambda x: native(*x), (rows, np.ones(6), 0)) == outcome(lambda x: fitted(*x), (rows, np.ones(6), 0))
