"""Elementary functions in loops: one value for one argument wherever it stands, and exact results are exact."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import weft

_ONE = [
    "exp log sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arctanh cbrt exp2 expm1 log2 log10 log1p".split(),
    [0.3, 0.7, 0.123, 0.9],
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", _ONE[0])
def test_equal_elements_get_equal_values(name: str, dtype: type) -> None:
    function = getattr(np, name)

    def values(x: np.ndarray) -> np.ndarray:
        return function(x)

    run = weft.jit(values, fallback="error")
    for value in _ONE[1]:
        found = {run(np.full(size, value, dtype)).tobytes()[: np.dtype(dtype).itemsize] for size in range(1, 40)}
        assert len(found) == 1
        assert all(np.unique(run(np.full(size, value, dtype))).size == 1 for size in range(1, 40))


@pytest.mark.parametrize("name", ["hypot", "arctan2", "power"])
def test_equal_pairs_get_equal_values(name: str) -> None:
    function = getattr(np, name)

    def values(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return function(x, y)

    run = weft.jit(values, fallback="error")
    for x, y in ((0.3, 1.7), (12.345, 0.77)):
        assert np.unique(np.concatenate([run(np.full(n, x), np.full(n, y)) for n in range(1, 40)])).size == 1


def test_numbers_of_python_have_the_functions_of_math() -> None:
    def single(x: float) -> tuple[float, ...]:
        return (math.exp(x), math.log10(x), math.sin(x), math.tanh(x), math.pow(x, 0.3), x**0.7, math.hypot(x, 1.1))

    run = weft.jit(single, fallback="error")
    for x in np.random.default_rng(0).random(300).tolist():
        assert run(x) == single(x)


def test_recurrences_have_the_functions_of_math() -> None:
    def chaotic(n: int) -> float:
        x = 0.3
        for _ in range(n):
            x = math.sin(x * 1000.0) + math.exp(-x)
        return x

    def summed(xs: list[float]) -> float:
        s = 0.0
        for x in xs:
            s += math.log(x)
        return s

    assert weft.jit(chaotic, fallback="error")(500) == chaotic(500)
    xs = np.random.default_rng(0).random(1000).tolist()
    assert weft.jit(summed, fallback="error")(xs) == summed(xs)


def of_counters(n: int) -> Any:
    return [math.sin(i * 0.37) for i in range(n)], [(math.cos(i), math.exp(i * 0.01)) for i in range(n)]


def of_a_table(n: int) -> Any:
    return [[math.cos(i * j) for j in range(n)] for i in range(n)]


def powers(n: int) -> Any:
    return [(i + 0.5) ** 1.3 for i in range(n)]


def stored(n: int) -> Any:
    out = [0.0] * n
    for i in range(n):
        out[i] = math.atan2(i, 3.3) * math.log(i + 1.5)
    for i in range(n):
        out[i] = math.sin(out[i])
    return out


def appended(n: int) -> Any:
    out = []
    for i in range(n):
        t = i * 0.1
        u = math.exp(t)
        out.append(math.cos(u) + math.log(u + 1.5))
    return sorted(out), max(out)


def last_one(n: int) -> Any:
    v = 0.0
    for i in range(n):
        v = math.cos(i)
    return v


def into_an_array(n: int) -> Any:
    out = np.zeros(n)
    for i in range(n):
        out[i] = math.sin(i * 0.37)
    return out.tolist()


@pytest.mark.parametrize("function", [of_counters, of_a_table, powers, stored, appended, last_one, into_an_array])
def test_loops_over_numbers_of_python_have_the_functions_of_math(function: Any) -> None:
    for n in (7, 77, 300):
        assert repr(weft.jit(function, fallback="error")(n)) == repr(function(n))


def test_variables_computed_from_arrays_stay_in_vectors() -> None:
    def values(x: np.ndarray) -> np.ndarray:
        out = np.zeros(len(x))
        for i in range(len(x)):
            r = math.sqrt(x[i])
            out[i] = math.exp(-r) / (1.0 + r)
        return out

    native = weft.jit(values, fallback="error")
    x = np.linspace(0.0, 3.0, 99)
    np.testing.assert_allclose(native(x), values(x), rtol=1e-14)
    assert "weft_scalar_exp" not in native.inspect("c")


def log10(x: np.ndarray) -> np.ndarray:
    return np.log10(x)


def cbrt(x: np.ndarray) -> np.ndarray:
    return np.cbrt(x)


def exp2(x: np.ndarray) -> np.ndarray:
    return np.exp2(x)


def log2(x: np.ndarray) -> np.ndarray:
    return np.log2(x)


def hypot(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.hypot(x, y)


def power(x: np.ndarray, e: Any) -> np.ndarray:
    return x**e


_K = np.arange(300.0)
_M = [part.ravel().astype(float) for part in np.meshgrid(np.arange(1, 40), np.arange(1, 40))]
_TENS = np.array([float(f"1e{k}") for k in range(-300, 301)])
_FEW_TENS = np.array([np.float32(f"1e{k}") for k in range(-30, 31)])


@pytest.mark.parametrize(
    ("function", "args", "wanted"),
    [
        (log10, (_TENS,), np.arange(-300.0, 301)),
        (log10, (_FEW_TENS,), np.arange(-30, 31, dtype=np.float32)),
        (log2, (2.0 ** np.arange(-1000, 1000),), np.arange(-1000.0, 1000)),
        (exp2, (np.arange(-1000.0, 1000),), 2.0 ** np.arange(-1000, 1000)),
        (cbrt, (_K**3,), _K),
        (cbrt, (-(_K[1:] ** 3),), -_K[1:]),
        (cbrt, (_K[:200].astype(np.float32) ** 3,), _K[:200].astype(np.float32)),
        (hypot, (2 * _M[0] * _M[1], _M[0] ** 2 - _M[1] ** 2), _M[0] ** 2 + _M[1] ** 2),
        (power, (_M[0], _M[1] % 7), np.array([float(int(a) ** int(b)) for a, b in zip(_M[0], _M[1] % 7)])),
        (power, (_K[1:], -1), 1 / _K[1:]),
        (power, (_K, 2), _K * _K),
        (power, (_K, 0.5), np.sqrt(_K)),
        (power, (_K, 1.0), _K),
    ],
)
@pytest.mark.parametrize("size", [None, 3, 5])
def test_exact_results(function: Any, args: tuple[Any, ...], wanted: np.ndarray, size: int | None) -> None:
    run = weft.jit(function, fallback="error")
    if size is None:
        np.testing.assert_array_equal(run(*args), wanted)
        return
    for start in range(0, 60, size):
        cut = [arg[start : start + size] if isinstance(arg, np.ndarray) else arg for arg in args]
        np.testing.assert_array_equal(run(*cut), wanted[start : start + size])


@pytest.mark.parametrize("exponent", [0.5, -1, 2])
def test_powers_of_special_values_are_numpys(exponent: float) -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 5e-324])
    with np.errstate(all="ignore"):
        wanted = x**exponent
    found = weft.jit(power, fallback="error")(x, exponent)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found[:4]), np.signbit(wanted[:4]))
    constant = weft.jit(lambda x: x**0.5, fallback="error")(x)
    np.testing.assert_array_equal(np.signbit(constant[:2]), [False, True])


def each_power(x: np.ndarray, e: Any) -> np.ndarray:
    out = np.empty(x.size)
    for i in range(x.size):
        out[i] = x[i] ** e
    return out


def power_function(x: np.ndarray, e: Any) -> np.ndarray:
    return np.power(x, e)


def in_place(x: np.ndarray, e: Any) -> np.ndarray:
    x = x.copy()
    x **= e
    return x


_SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 5e-324]


@pytest.mark.parametrize("function", [power, power_function, in_place])
@pytest.mark.parametrize("exponent", [0.5, 2.0, -1.0, 2, -1, np.float64(0.5), np.float64(2.0), np.int64(2)])
def test_roots_squares_and_reciprocals_by_a_variable_have_numpys_bits(function: Any, exponent: Any) -> None:
    x = np.concatenate([_SPECIAL, np.random.default_rng(3).random(300) * 100])
    with np.errstate(all="ignore"):
        wanted = function(x, exponent)
    found = weft.jit(function, fallback="error")(x, exponent)
    np.testing.assert_array_equal(found, wanted)
    there = wanted == wanted
    np.testing.assert_array_equal(np.signbit(found[there]), np.signbit(wanted[there]))


@pytest.mark.parametrize("exponent", [0.5, np.float64(0.5)])
def test_the_root_of_a_number_by_a_variable_is_not_that_of_an_array(exponent: Any) -> None:
    x = np.array(_SPECIAL)
    with np.errstate(all="ignore"):
        wanted = each_power(x, exponent)
    found = weft.jit(each_power, fallback="error")(x, exponent)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found[:4]), np.signbit(wanted[:4]))


def test_special_values_of_cube_roots() -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e-310, 1.7e308, -1e-300])
    found = weft.jit(cbrt, fallback="error")(x)
    np.testing.assert_allclose(found, np.cbrt(x), rtol=1e-15)
    assert np.signbit(found[1]) and not np.signbit(found[0])
