"""`weft.cfunc`: C functions by their address, and SciPy that calls them."""

from __future__ import annotations

import ctypes
import math
import sys

import numpy as np
import pytest

import weft

scipy = pytest.importorskip("scipy")
from scipy import integrate, ndimage, optimize  # noqa: E402


def bell(x):
    return math.exp(-x * x) * math.cos(3 * x)


def test_numbers() -> None:
    compiled = weft.cfunc("double (double x)")(bell)
    assert compiled.ctypes(0.5) == bell(0.5)
    assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(compiled.address)(0.25) == bell(0.25)
    assert compiled(0.5) == bell(0.5)
    assert integrate.quad(compiled.low_level(), 0, 2) == integrate.quad(bell, 0, 2)
    assert optimize.brentq(compiled, 0, 1) == optimize.brentq(bell, 0, 1)


def test_hints_and_several_types() -> None:
    @weft.cfunc
    def scaled(n: int, x: float, up: bool) -> float:
        return n * x if up else -x

    assert scaled.ctypes(3, 1.5, True) == 4.5
    assert scaled.ctypes(3, 1.5, False) == -1.5

    @weft.cfunc("int32 (int32 a, float b)")
    def mixed(a, b):
        return a if b > 1 else 0

    assert (mixed.ctypes(7, 2.0), mixed.ctypes(7, 0.5)) == (7, 0)


def test_several_variables_and_user_data() -> None:
    @weft.cfunc(like="quad")
    def poly(x, a, b):
        return a * x**2 + b

    wanted = integrate.quad(poly.py_func, 0, 1, args=(2.0, 3.0))
    assert integrate.quad(poly.low_level(), 0, 1, args=(2.0, 3.0)) == wanted
    region = [[0, 1], [0, 2], [1, 2]]
    assert integrate.nquad(poly.low_level(), region) == integrate.nquad(poly.py_func, region)

    @weft.cfunc("double (double, void *)", user_data=weft.f64[2])
    def line(x, p):
        return p[0] * x + p[1]

    found, _ = integrate.quad(line.low_level(np.array([2.0, 5.0])), 0, 1)
    assert found == pytest.approx(6.0, abs=1e-12)
    with pytest.raises(ValueError, match="shape"):
        line.low_level(np.zeros(3))


@pytest.mark.parametrize("sizes", [None, {"size": 9}])
def test_filters(sizes: dict[str, int] | None) -> None:
    @weft.cfunc(like="generic_filter", sizes=sizes)
    def spread(window):
        return window.max() - window.min()

    @weft.cfunc(like="generic_filter1d")
    def slope(line, out):
        for i in range(out.shape[0]):
            out[i] = line[i + 2] - line[i]

    image = np.random.default_rng(0).random((20, 30))
    for size in (3, 2):
        found = ndimage.generic_filter(image, spread.low_level(), size=size)
        assert np.array_equal(found, ndimage.generic_filter(image, spread.py_func, size=size))
    found = ndimage.generic_filter1d(image, slope.low_level(), 3)
    assert np.array_equal(found, ndimage.generic_filter1d(image, slope.py_func, 3))


def test_arrays_with_extents() -> None:
    @weft.cfunc("double (double *a[n][2], long n, int32 *marks[n])")
    def total(a, marks):
        found = 0.0
        for i in range(a.shape[0]):
            if marks[i]:
                found += a[i, 0] * a[i, 1]
        return found

    a, marks = np.arange(8.0).reshape(4, 2), np.array([1, 0, 1, 1], np.int32)

    @weft.cfunc("double (double w, double kernel, long i64)")
    def odd_names(w, kernel, i64):
        return w + kernel * i64

    assert odd_names.ctypes(1.0, 2.0, 3) == 7.0
    pointers = a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), marks.ctypes.data_as(ctypes.POINTER(ctypes.c_int))
    assert total.ctypes(pointers[0], 4, pointers[1]) == 0.0 * 1 + 4 * 5 + 6 * 7


def test_names_of_c() -> None:
    @weft.cfunc("long long (int8_t a, unsigned char b, uint16_t c, unsigned int d, long long e, ssize_t n)")
    def total(a, b, c, d, e, n):
        return a + b + c + d + e + n

    assert total.ctypes(-1, 255, 65535, 2**32 - 1, -(2**40), 2**41) == -1 + 255 + 65535 + 2**32 - 1 + 2**40

    text = "int (intptr_t *to[rank], double *of[rank], int rank, int rank_of, void *user_data)"

    @weft.cfunc(text, user_data=weft.f64[1])
    def shifted(to, of, user_data):
        for axis in range(to.shape[0]):
            of[axis] = to[axis] - user_data[0]
        return 1

    image = np.random.default_rng(2).random((8, 9))
    found = ndimage.geometric_transform(image, shifted.low_level(np.array([0.5])))
    np.testing.assert_array_equal(found, ndimage.geometric_transform(image, lambda to: (to[0] - 0.5, to[1] - 0.5)))


def test_exceptions() -> None:
    @weft.cfunc(like="generic_filter")
    def inverse(window):
        return 1 / float(window[0])

    with pytest.raises(ZeroDivisionError):
        ndimage.generic_filter(np.zeros((4, 4)), inverse.low_level(), size=2)

    @weft.cfunc("double (double)")
    def pole(x):
        return 1 / (x - 1)

    with pytest.raises(
        (SystemError, ZeroDivisionError)
    ) as caught:  # quad sees no exceptions of C functions: Python does
        integrate.quad(pole.low_level(), 0, 2)
    causes = caught.value, caught.value.__cause__
    assert any(isinstance(problem, ZeroDivisionError) for problem in causes)
    assert math.isnan(_unraisable(lambda: pole.ctypes(1.0)))

    @weft.cfunc
    def power(n: int, m: int) -> int:
        return n * m // 2**30

    assert power.ctypes(2**40, 2**40) == 2**50, "beyond 64 bits on the way: Python computes it"


def _unraisable(call):
    """The result of a call whose exception nobody can catch, which must have been reported."""
    seen, before = [], sys.unraisablehook
    sys.unraisablehook = seen.append
    try:
        result = call()
    finally:
        sys.unraisablehook = before
    assert [type(report.exc_value) for report in seen] == [ZeroDivisionError]
    return result


def test_bad_signatures_are_refused() -> None:
    for text, words in (
        ("double", "no C signature"),
        ("double (double, double)", "passes 2"),
        ("double (double *x)", "how many elements"),
        ("double (void *x)", "user_data"),
        ("double (double *x[n+1], long n)", "neither a parameter nor a number"),
        ("double (double *x[m])", "no count 'm'"),
        ("float99 (double)", "no type of numbers"),
    ):
        with pytest.raises(TypeError, match=words):
            weft.cfunc(text)(_same)
    with pytest.raises(TypeError, match="no hint for 'x'"):
        weft.cfunc(_same)
    with pytest.raises(ValueError, match="no form 'cube'"):
        weft.cfunc(like="cube")
    with pytest.raises(ValueError, match="no count"):
        weft.cfunc(like="generic_filter", sizes={"n": 3})(_same)
    with pytest.raises(weft.Unsupported, match="complex128 as a C float64"):
        weft.cfunc("double (double)")(_imaginary)


def _same(x):
    return x


def _imaginary(x):
    return x * 1j


@pytest.mark.parametrize("size", [1, 9, 64, 65, 66, 200])
def test_reductions_over_few_and_over_many_terms(size: int) -> None:
    """The ones one by one, the others in vectors."""

    @weft.cfunc("double (double *x[n], long n)", sizes={"n": 9})
    def told(x):
        low = x[0]
        for i in range(1, x.shape[0]):
            if x[i] < low:
                low = x[i]
        return low + x.max() + x.sum()

    def called(values: np.ndarray) -> float:
        return told.ctypes(values.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), len(values))

    values = np.random.default_rng(size).integers(-50, 50, size).astype(float)
    assert called(values) == told.py_func(values)
    for place in (0, size // 2, size - 1):
        changed = values.copy()
        changed[place] = np.nan
        assert np.isnan(called(changed))
        changed[place] = np.inf
        assert called(changed) == told.py_func(changed)
