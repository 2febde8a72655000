"""NumPy's element-wise functions over the dtypes, and their counterparts in `math`."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.samples import ALL, COMPLEX, FLOATS, INTEGERS, REAL, awkward, ordinary, positive
from tests.support import Ulps, differential_source, function_from_source, lines, made, outcome

# Results exact whatever the library; the others may differ by the units in the last place that weft promises.
EXACT = ("floor", "ceil", "trunc", "rint", "sqrt", "absolute", "abs", "fabs", "sign", "square", "negative")
CLASSES = ("isnan", "isinf", "isfinite", "signbit")
ELEMENTARY = (
    "exp", "log", "log2", "log10", "log1p", "expm1", "exp2", "sin", "cos", "tan", "arcsin", "arccos", "arctan",
    "sinh", "cosh", "tanh", "arcsinh", "arctanh", "cbrt", "reciprocal", "degrees", "radians", "deg2rad", "rad2deg",
)  # fmt: skip
BINARY = (
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "add",
    "subtract",
    "multiply",
    "divide",
    "floor_divide",
    "mod",
    "remainder",
)
BINARY_FLOAT = ("power", "hypot", "arctan2", "copysign", "fmod")
COMPARING = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")


def _accepted(expression: str, arguments: tuple[object, ...], header: str) -> bool:
    done = outcome(function_from_source(lines(header, f"return {expression}")), arguments)
    # Half precision, NumPy's choice for functions of 8-bit integers, has no native form.
    return done.error is None and np.asarray(done.value).dtype != np.float16


def _check(
    names: tuple[str, ...], call: str, make, header: str, tolerance: float = 0.0, zero_signs: bool = True
) -> None:
    usable = [call.format(name) for name in names if _accepted(call.format(name), make(), header)]
    if not usable:
        pytest.skip("NumPy has none of these for this dtype")
    source = lines(header, "return " + ", ".join(usable) + ",")
    differential_source(source, make, tolerance=tolerance, zero_signs=zero_signs)


@pytest.mark.parametrize("dtype", ALL)
def test_exact_functions(dtype: str) -> None:
    sample, tolerance = (ordinary, 1e-13) if dtype in COMPLEX else (awkward, 0.0)
    names = EXACT if dtype not in COMPLEX else ("sqrt", "absolute", "abs", "square", "negative")
    _check(names, "np.{}(a)", made(sample(dtype, 43)), "a", tolerance)


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX + ("int32",))
def test_classification(dtype: str) -> None:
    _check(CLASSES, "np.{}(a)", made(awkward(dtype, 43)), "a")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ELEMENTARY)
def test_elementary_functions(name: str, dtype: str) -> None:
    _check((name,), "np.{}(a)", made(awkward(dtype, 43)), "a", Ulps(8))


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16", "bool"])
def test_elementary_functions_of_integers(dtype: str) -> None:
    _check(("exp", "sin", "sqrt", "log1p"), "np.{}(a)", made(positive(dtype, 11)), "a", Ulps(8))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_functions(dtype: str) -> None:
    _check(("exp", "sqrt", "conj", "conjugate", "angle"), "np.{}(a)", made(ordinary(dtype, 19)), "a", 1e-13)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_parts_of_complex_arrays(dtype: str) -> None:
    _check(("real", "imag"), "np.{}(a) * 2", made(ordinary(dtype, 19)), "a")
    _check(("real", "imag"), "a.{}.copy()", made(ordinary(dtype, 19)), "a")


@pytest.mark.parametrize("dtype", REAL)
def test_binary_functions(dtype: str) -> None:
    # Which zero wins in maximum(0.0, -0.0) differs between NumPy's own vector and scalar loops.
    _check(BINARY, "np.{}(a, b)", made(awkward(dtype, 43), awkward(dtype, 43, 1)), "a, b", zero_signs=False)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", BINARY_FLOAT)
def test_binary_float_functions(name: str, dtype: str) -> None:
    _check((name,), "np.{}(a, b)", made(awkward(dtype, 43), awkward(dtype, 43, 1)), "a, b", Ulps(8))


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS + ("bool",))
def test_comparing_functions(dtype: str) -> None:
    _check(COMPARING, "np.{}(a, b)", made(awkward(dtype, 43), awkward(dtype, 43, 1)), "a, b")


@pytest.mark.parametrize("dtype", REAL)
def test_where_and_clip(dtype: str) -> None:
    source = lines(
        "a, b",
        "return np.where(a > b, a, b), np.where(a > 2, 1, 0), np.where(a < b, a, 0), np.clip(a, 1, 5), a.clip(2, 3)",
    )
    differential_source(source, made(awkward(dtype, 43), awkward(dtype, 43, 1)))


def test_where_broadcasts_and_promotes() -> None:
    source = lines("m, a, b", "return np.where(m[:, None], a, b), np.where(m, 1.5, 2), np.where(m[:, None], a, 0.5)")
    make = made(ordinary("bool", 4), ordinary("float32", (4, 5)), ordinary("int32", 5))
    differential_source(source, make)


def test_clip_with_array_bounds() -> None:
    source = lines("a, lo, hi", "return np.clip(a, lo, hi), np.clip(a, None, 0.5), np.clip(a, 0.0, None)")
    make = made(ordinary("float64", 20), -np.ones(20), np.ones(20))
    differential_source(source, make)


def test_out_argument_of_a_ufunc() -> None:
    source = lines("a, b, c", "np.add(a, b, out=c)", "np.multiply(c, 2.0, c)", "return c")
    differential_source(source, made(ordinary("float64", 9), ordinary("float64", 9, 1), np.zeros(9)), native=False)


SCALAR_CALLS = (
    "np.sqrt(x)", "np.exp(x)", "np.abs(x)", "abs(x)", "np.maximum(x, 1.0)", "np.floor(x)", "np.sign(x)",
    "math.sqrt(x)", "math.exp(x)", "math.sin(x)", "math.floor(x)", "math.ceil(x)", "math.atan2(x, 2.0)",
    "math.pow(x, 2.0)", "math.fabs(x)", "math.hypot(x, 1.0)", "math.isnan(x)", "math.trunc(x)", "math.log(x)",
)  # fmt: skip


@pytest.mark.parametrize("call", SCALAR_CALLS)
@pytest.mark.parametrize("value", [2.75, np.float64(1.25), 3], ids=repr)
def test_functions_of_a_scalar(call: str, value: object) -> None:
    import math

    differential_source(lines("x", f"return {call}"), made(value), {"math": math}, tolerance=Ulps(4))


@pytest.mark.parametrize("call", ["math.sqrt(x)", "math.log(x)", "math.acos(x)"])
def test_domain_error_of_math(call: str) -> None:
    import math

    differential_source(lines("x", f"return {call}"), made(-2.0), {"math": math}, native=False)
