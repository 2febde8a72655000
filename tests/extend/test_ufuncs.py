"""`weft.vectorize` and `weft.guvectorize`: ufuncs that do what NumPy's do and what the Python function does."""

from __future__ import annotations

import ctypes
import math
import warnings

import numpy as np
import pytest

import weft
from weft.callbacks import loading
from weft.callbacks.vectorize import Vectorized


def chosen(x, y):
    """The difference or the product."""
    if x > y:
        return x - y
    return x * y


def expected(x, y):
    x, y = np.broadcast_arrays(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array([chosen(a, b) for a, b in zip(x.ravel(), y.ravel())]).reshape(x.shape)


@pytest.fixture(scope="module")
def typed() -> np.ufunc:
    return weft.vectorize(["float64(float64, float64)", "f4(f4, f4)", "ll->l"])(chosen)


@pytest.fixture(scope="module")
def lazy() -> Vectorized:
    return weft.vectorize(chosen)


X, Y = np.arange(300.0) - 100, np.arange(300.0)[::-1] / 2


def test_signatures_make_a_real_ufunc(typed: np.ufunc) -> None:
    assert type(typed) is np.ufunc
    assert (typed.nin, typed.nout, typed.__name__) == (2, 1, "chosen")
    assert "The difference" in typed.__doc__
    assert typed.types == ["ll->l", "ff->f", "dd->d"], "narrow types first, whatever the order of the signatures"


@pytest.mark.parametrize("which", ["typed", "lazy"])
def test_operands_of_all_forms(which: str, request: pytest.FixtureRequest) -> None:
    function = request.getfixturevalue(which)
    cases = [
        (X, Y),
        (X[:5], Y[:5]),
        (X[::3], Y[::-3]),
        (X, 2.5),
        (np.float64(3), Y),
        (X[:, None], Y[:7]),
        (X.reshape(3, 100).T, Y.reshape(100, 3)),
        (np.arange(40), np.arange(40)[::-1]),
        (X.astype(np.float32), Y.astype(np.float32)),
        (X[:0], Y[:0]),
        (X.astype(">f8"), Y),
        (np.array([(1, 2.5), (2, -3.5)], "i1,f8")["f1"], Y[:2]),
        (np.resize(X, 5000)[::2], np.resize(Y, 5000)[::2]),
    ]
    for x, y in cases:
        found, wanted = function(x, y), expected(x, y)
        assert np.array_equal(found, wanted)
        if wanted.size:
            assert found.dtype == wanted.dtype
    assert function(3.0, 2.0) == 1.0


@pytest.mark.parametrize("which", ["typed", "lazy"])
def test_out_where_and_the_methods(which: str, request: pytest.FixtureRequest) -> None:
    function = request.getfixturevalue(which)
    z = X.copy()
    assert function(z, Y, out=z) is z
    assert np.array_equal(z, expected(X, Y))
    z = X.copy()
    function(z[:-1], z[1:], out=z[1:])
    assert np.array_equal(z[1:], expected(X[:-1], X[1:])), "an output that overlaps an input"
    kept = np.full(300, 7.0)
    function(X, Y, out=kept, where=X > 0)
    assert np.array_equal(kept, np.where(X > 0, expected(X, Y), 7.0))
    running, values = [], np.array([3.0, 1.0, 4.0, 1.5, 9.0] * 10)
    total = values[0]
    for value in values:
        total = chosen(total, value) if running else value
        running.append(total)
    assert np.array_equal(function.accumulate(values), running)
    assert function.reduce(values) == running[-1]
    both = np.stack([values, values[::-1]])
    assert np.array_equal(function.reduce(both, axis=0), expected(values, values[::-1]))
    assert np.array_equal(function.outer(X[:4], Y[:3]), expected(X[:4, None], Y[:3]))
    changed = values.copy()
    function.at(changed, [1, 1], 5.0)
    assert changed[1] == chosen(chosen(1.0, 5.0), 5.0)


def test_the_kernel_in_vectors_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long loops do not run element by element: the kernel in vectors answers."""
    loaded = []
    load = loading.load
    monkeypatch.setattr(loading, "load", lambda *args: loaded.append(load(*args)) or loaded[-1])
    weft.vectorize(["dd->d"])(chosen)
    x, y, out = X.copy(), Y.copy(), np.empty(300)
    places = (ctypes.c_void_p * 3)(x.ctypes.data, y.ctypes.data, out.ctypes.data)
    assert loaded[0].library.weft_side_by_side(places, ctypes.c_longlong(300)) == 1
    assert np.array_equal(out, expected(x, y))


def test_results_of_several_numbers_and_types() -> None:
    @weft.vectorize
    def both(x):
        return x + 1, x * 2.5

    first, second = both(np.arange(3))
    assert (first.dtype, second.dtype) == (np.int64, np.float64)
    assert first.tolist() == [1, 2, 3] and second.tolist() == [0.0, 2.5, 5.0]
    assert both.types == ["l->ld"]

    @weft.vectorize
    def positive(x):
        return x > 0

    assert positive(np.array([-1.0, 2.0])).tolist() == [False, True]

    @weft.vectorize
    def clipped(x):
        if x < 0:
            return 0
        return x

    assert clipped(np.array([-1, 2.5], np.float32)).dtype == np.float32, "Python's numbers give way"


def test_exceptions_are_those_of_the_function() -> None:
    @weft.vectorize
    def logarithm(x):
        return math.log(x)

    assert np.allclose(logarithm(np.arange(1.0, 50)), [math.log(x) for x in range(1, 50)], rtol=1e-15)
    assert np.array_equal(logarithm(np.arange(1.0, 50))[3:5], logarithm(np.array([4.0, 5.0])))
    with pytest.raises(ValueError, match="math domain error|expected a positive input"):
        logarithm(np.array([1.0] * 60 + [-1.0]))

    @weft.vectorize(["ll->l"])
    def checked(x, y):
        if y == 0:
            raise ZeroDivisionError("nothing to divide by")
        return x // y

    assert checked(np.arange(40), 7).tolist() == [n // 7 for n in range(40)]
    with pytest.raises(ZeroDivisionError, match="nothing to divide by"):
        checked(np.arange(40), np.arange(40)[::-1])
    with pytest.raises(ZeroDivisionError):
        checked.reduce(np.array([5, 0, 1]))


def test_bad_input_is_refused() -> None:
    with pytest.raises(TypeError, match="2 parameters, the signature has 1"):
        weft.vectorize(["d->d"])(chosen)
    with pytest.raises(TypeError, match="no type of numbers"):
        weft.vectorize(["float64(text)"])
    with pytest.raises(TypeError, match="is no signature"):
        weft.vectorize(["float64"])
    with pytest.raises(ValueError, match="identity"):
        weft.vectorize(chosen, identity=3)
    with pytest.raises(TypeError, match="cannot hold"):
        weft.vectorize(["dd->l"])(chosen)
    with pytest.raises(TypeError, match="not compiled for arguments of type"):
        weft.vectorize(chosen)(np.array(["a"]), np.array(["b"]))
    with pytest.raises(weft.Unsupported):
        weft.vectorize(["d->d"])(_of_text)


def _of_text(x):
    return str(x)


@pytest.mark.parametrize("signatures", [None, ["float64(float64, float64)", "f4(f4, f4)", "ll->l"]])
def test_without_a_compiler_python_computes(signatures: list[str] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_DISABLE", "1")
    function = weft.vectorize(chosen, signatures)
    assert not isinstance(function, (np.ufunc, Vectorized))
    x, y = X[::10], Y[::10]
    for case in ((x, y), (x, 2.5), (x.astype(np.float32), y.astype(np.float32)), (np.arange(9), np.arange(9)[::-1])):
        found, wanted = function(*case), expected(*case)
        assert np.array_equal(found, wanted) and found.dtype == wanted.dtype
    kept = np.full(30, 7.0)
    assert function(x, y, out=kept, where=x > 0) is kept
    assert np.array_equal(kept, np.where(x > 0, expected(x, y), 7.0))
    assert function(3.0, 2.0) == 1.0
    assert np.array_equal(function.outer(x[:4], y[:3]), expected(x[:4, None], y[:3]))
    total = x[0]
    for value in x[1:]:
        total = chosen(total, value)
    assert function.reduce(x) == total == function.accumulate(x)[-1]


def test_generalised() -> None:
    @weft.guvectorize(["void(float64[:], float64, float64[:])", "void(f4[:], f4, f4[:])"], "(n),()->(n)")
    def smooth(x, a, out):
        out[0] = x[0]
        for i in range(1, x.shape[0]):
            out[i] = a * x[i] + (1 - a) * out[i - 1]

    def by_hand(x, a):
        out = np.empty_like(x)
        smooth_python(x, a, out)
        return out

    def smooth_python(x, a, out):
        out[0] = x[0]
        for i in range(1, x.shape[0]):
            out[i] = a * x[i] + (1 - a) * out[i - 1]

    x = np.random.default_rng(0).random((3, 4, 20))
    assert np.array_equal(smooth(x, 0.5), [[by_hand(row, 0.5) for row in rows] for rows in x])
    assert np.array_equal(smooth(x[..., ::2], 0.25)[1, 2], by_hand(x[1, 2, ::2], 0.25))
    assert np.array_equal(smooth(x.T, 0.25)[1, 2], by_hand(x.T[1, 2], 0.25))
    assert smooth(x.astype(np.float32), np.float32(0.5)).dtype == np.float32
    assert np.array_equal(smooth(x[0, 0, :1], 0.5), x[0, 0, :1])
    rates = np.array([0.1, 0.9])
    assert np.array_equal(smooth(x[0, 0], rates), [by_hand(x[0, 0], rate) for rate in rates])
    with pytest.raises(IndexError):
        smooth(np.empty((2, 0)), 0.5)


def test_generalised_products_and_refusals() -> None:
    @weft.guvectorize(["dd->d"], "(m,n),(n,p)->(m,p)")
    def product(a, b, c):
        c[:] = a @ b

    a, b = np.random.default_rng(1).random((2, 3, 4, 5))
    assert np.allclose(product(a, b.swapaxes(-1, -2)), a @ b.swapaxes(-1, -2))
    with pytest.raises(ValueError, match="no layout"):
        weft.guvectorize(["dd->d"], "n,n")
    with pytest.raises(ValueError, match="no input"):
        weft.guvectorize(["d->d"], "(n)->(m)")
    with pytest.raises(TypeError, match="needs 2 parameters"):
        weft.guvectorize(["d->d"], "(n)->(n)")(_one)

    def counts(x, out):
        x[0] += 1.0
        out[0] = x[0]

    with pytest.raises(weft.Unsupported, match="writes its input"):
        weft.guvectorize(["d->d"], "(n)->()")(counts)


def _one(x):
    return None


@weft.vectorize
def clipped(x, t):
    if x > t:
        return x - t
    if x < -t:
        return x + t
    return 0.0


@weft.vectorize(["float64(float64, float64)", "float32(float32, float32)", "ll->l"])
def typed_clipped(x, t):
    return x - t if x > t else x * 0


@weft.vectorize
def largest(x):
    """What means something else of an array than of its elements."""
    return np.max(x) + np.sum(x)


@weft.vectorize
def both(x):
    return x + 1, x > 2


@weft.guvectorize(["void(float64[:], int64, float64[:])"], "(n),()->(n)")
def turned(x, k, y):
    n = x.shape[0]
    for i in range(n):
        y[i] = x[(i + k) % n]


@weft.guvectorize(["void(float64[:], float64[:], float64[:])"], "(n)->(),()")
def bounds(x, low, high):
    low[0] = high[0] = x[0]
    for value in x:
        low[0] = min(low[0], value)
        high[0] = max(high[0], value)


@weft.guvectorize(["void(float64[:,:], float64[:], float64[:])"], "(m,n),(n)->(m)")
def applied(a, x, y):
    for i in range(a.shape[0]):
        y[i] = 0.0
        for j in range(a.shape[1]):
            y[i] += a[i, j] * x[j]


ROWS = np.random.default_rng(3).random((4, 5)) - 0.5
INSIDE = {
    "arrays": (lambda a, b: clipped(a, b), [(ROWS, 0.2), (ROWS, ROWS[0]), (ROWS[:, :1], ROWS[:1]), (ROWS.T, 0.1)]),
    "types": (
        lambda a, b: clipped(a, b),
        [(ROWS.astype("f"), 0.1), (np.float32(1), 0.5), (2.0, 1), (True, 1.5), (np.zeros((0, 3)), 1.0)],
    ),
    "typed": (
        lambda a, b: typed_clipped(a, b) * 2,
        [(ROWS, 0.2), (ROWS.astype("f"), np.float32(0.2)), (np.arange(5), 2), (np.arange(5, dtype="i1"), 0.5), (3, 1)],
    ),
    "elements": (lambda a, b: largest(a) + largest(b), [(ROWS, ROWS[0]), (1.0, 2.0)]),
    "several": (lambda a, b: both(a), [(ROWS, 0), (3, 0)]),
    "fused": (lambda a, b: (clipped(a + 1, b) * 2).max(), [(ROWS, 0.2)]),
    "generalised": (lambda a, b: turned(a, b) + 1, [(ROWS, 2), (ROWS, np.array([0, 1, 2, 3])), (ROWS[0], 3)]),
    "outputs": (lambda a, b: bounds(a * b), [(ROWS, 2.0), (ROWS[1], 1.0), (ROWS.T[::2], 1.0)]),
    "matrices": (lambda a, b: applied(a, b), [(ROWS, ROWS[0]), (np.stack([ROWS, ROWS + 1]), ROWS[:2])]),
}


@pytest.mark.parametrize("name", INSIDE)
def test_calls_in_compiled_functions_are_native(name: str) -> None:
    function, calls = INSIDE[name]
    compiled = weft.jit(fallback="error")(function)
    for arguments in calls:
        found, wanted = compiled(*arguments), function(*arguments)
        assert type(found) is type(wanted)
        for one, other in zip(*((r if isinstance(r, tuple) else (r,)) for r in (found, wanted)), strict=True):
            assert type(one) is type(other) and one.dtype == other.dtype and one.shape == other.shape, arguments
            np.testing.assert_array_equal(one, other)


def test_mistakes_in_compiled_functions_are_numpys() -> None:
    @weft.vectorize
    def root(x):
        return math.sqrt(x)

    for function, arguments, words in (
        (lambda a, b: applied(a, b), (ROWS, ROWS[:, 0]), "mismatch"),
        (lambda a, b: clipped(a, b), (ROWS, ROWS[:, 0]), "broadcast"),
        (lambda a, b: root(a), (ROWS, 0), "math domain error|expected a nonnegative"),
    ):
        for each in (function, weft.jit(fallback="silent")(function)):
            with pytest.raises(ValueError, match=words):
                each(*arguments)


def test_dtypes_and_signatures_choose_the_loop(lazy: Vectorized) -> None:
    @weft.vectorize
    def add(a, b):
        return a + b

    for of in (np.float32, np.complex128):
        assert add(X, Y, dtype=of).dtype == of
        np.testing.assert_array_equal(add.reduce(X, dtype=of), np.add.reduce(X, dtype=of))
        assert add.outer(X, Y, dtype=of).dtype == add.accumulate(X, dtype=of).dtype == of
    assert add(X, Y, signature="ff->f").dtype == add(X, Y, signature=(np.float32,) * 3).dtype == np.float32
    small = np.arange(5, dtype=np.int8)
    assert add.reduce(small) == 10 and add.reduce(small).dtype == np.int8
    with pytest.raises(TypeError, match="Cannot cast"):
        add(X, Y, dtype=np.int64)
