"""`math`, `cmath`, builtins and methods of Python's numbers, and questions about types, against CPython."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest

from tests.semantics.batches import check_batch
from tests.support import Ulps, differential, differential_source, lines, made

NAMES = {"math": math, "cmath": cmath}


def _check(header: str, expressions: list[str], *values: object, tolerance: float = 0.0, **how: object) -> None:
    source = lines(header, "return (" + ", ".join(expressions) + ",)")
    differential_source(source, lambda: tuple(values), namespace=NAMES, tolerance=tolerance, **how)


REAL = [
    "math.log(abs(x) + 2, 3)", "math.log(n + 1, 2)", "math.remainder(x, 0.7)", "math.nextafter(x, 9.0)", "math.ulp(x)",
    "math.hypot(x, 2.0, 3.0)", "math.hypot(x)", "math.ldexp(x, n)", "math.frexp(x)", "math.modf(x)",
    "math.fmod(x, 1.5)",
    "math.isclose(x, x + 1e-12)", "math.isclose(x, 1.0, rel_tol=0.5)", "math.isclose(x, x + 1, abs_tol=2.0)",
    "math.dist((x, 1.0), (2.0, n))", "math.prod([x, 2.0, n])", "math.cbrt(x)", "math.exp2(x)", "math.trunc(x)",
    "round(x, 1)", "round(x, 2)", "round(x, 0)", "round(x)", "x.is_integer()", "divmod(x, 0.75)", "complex(x, n)",
    "complex(x)", "abs(x)", "bool(x)", "int(x)", "float(n)", "pow(x, 2)", "max(x, n)", "min([x, 2.0])",
]  # fmt: skip


@pytest.mark.parametrize("x", [2.75, -1.25, 0.0, 7.0, -0.001])
def test_real_functions(x: float) -> None:
    _check("x, n", REAL, x, 3, tolerance=Ulps(4))


INTEGER = [
    "math.comb(n, 3)", "math.comb(n, n)", "math.comb(3, n)", "math.perm(n, 2)", "math.perm(n)", "math.factorial(n)",
    "math.isqrt(n)", "math.gcd(n, 14, 21)", "math.gcd(n)", "math.gcd()", "math.lcm(n, 4)", "math.lcm(n, 4, 6)",
    "n.bit_length()", "n.bit_count()", "pow(n, 5, 13)", "pow(n, 3)", "round(n, -1)", "round(n * 25, -1)", "round(n, 2)",
    "divmod(n, 3)", "sum((n, 1), 10)", "any([n > 3, n < 0])", "all((n, 1))", "int('12')", "float('1e3')",
    "complex('1+2j')", "tuple([n, 1])", "math.prod((n, 2))", "n.conjugate()",
]  # fmt: skip


@pytest.mark.parametrize("n", [0, 1, 7, 12, 20])
def test_integer_functions(n: int) -> None:
    _check("n", INTEGER, n)


@pytest.mark.parametrize("n", [2**62 - 1, 10**18, 2147483647**2, 2147483647**2 - 1, 2**53 + 1, 2**52 - 1])
def test_large_integers(n: int) -> None:
    _check("n", ["math.isqrt(n)", "n.bit_length()", "n.bit_count()", "(-n).bit_length()", "round(n, -3)"], n)


def test_large_binomials_stay_within_64_bits() -> None:
    _check("n, k", ["math.comb(n, k)"], 61, 30)
    _check("n, k", ["math.comb(n, k)"], 66, 33)


@pytest.mark.parametrize("seed", range(3))
def test_rounding_to_decimals_is_exact(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ties = [0.5, 1.5, 2.5, 0.125, 2.675, 1.005, 0.285, 1.115, -2.675, 5.015, 1e-9, 123456.785, -0.0, 0.15, 0.25, 0.35]
    values = [*ties, *(float(v) for v in np.round(rng.normal(size=150) * 100, 3)), *(rng.random(50) * 10)]
    source = lines("v", "return [round(x, 2) for x in v], [round(x, 1) for x in v], [round(x, 5) for x in v]")
    differential_source(source, lambda: (list(map(float, values)),))


COMPLEX = [
    f"cmath.{name}(z)" for name in
    ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh",
     "log10")
] + [
    "cmath.log(z, 2.0)", "cmath.phase(z)", "cmath.polar(z)", "cmath.rect(x, 0.5)", "cmath.isnan(z)", "cmath.isinf(z)",
    "cmath.isfinite(z)", "cmath.isclose(z, z + 1e-12)", "cmath.sqrt(x)", "cmath.sqrt(-x)", "abs(z)", "z.conjugate()",
    "cmath.exp(x)", "cmath.atanh(z)",
]  # fmt: skip


@pytest.mark.parametrize("z", [1.5 - 0.5j, -2 + 3j, 0.25j, -0.5 + 0j])
def test_complex_functions(z: complex) -> None:
    _check("z, x", COMPLEX, z, 2.5, tolerance=1e-12)


RAISING = [
    ("x", "math.sqrt(-x)", 2.0), ("x", "math.log(x - 2.0)", 2.0), ("x", "math.log(x, 1.0)", 2.0),
    ("x", "math.exp(x)", 1e4),
    ("x", "math.ldexp(x, 5000)", 2.0), ("x", "math.remainder(x, 0.0)", 2.0), ("n", "math.factorial(-n)", 3),
    ("n", "math.comb(-n, 2)", 3), ("n", "math.isqrt(-n)", 3), ("n", "pow(n, 2, n - 3)", 3), ("z", "cmath.log(z)", 0j),
    ("z", "cmath.atanh(z)", 1 + 0j), ("z", "cmath.exp(z)", 1000 + 0j), ("z", "cmath.atan(z)", 1j),
    ("x", "math.isclose(x, x, rel_tol=-x)", 2.0), ("x", "math.fmod(x, 0.0)", 2.0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "expression", "value"), RAISING)
def test_domain_errors(name: str, expression: str, value: object) -> None:
    _check(name, [expression], value)


def test_builtins_of_arrays() -> None:
    a = np.arange(12.0).reshape(3, 4) - 5
    expressions = ["sum(a)", "sum(a, 10)", "sum(a[0])", "any(a[0] > 0)", "all(a[0])", "divmod(a, 3)", "pow(a, 2)"]
    expressions += ["abs(a)", "max(a[0])", "min(a[1])", "round(a, 1)"]
    check_batch(expressions, made(a))
    check_batch(["sum(a)", "sum(a, 1.5)", "sum(a[0])"], made(np.arange(6, dtype=np.int32).reshape(2, 3)))
    check_batch(["sum(a)"], made(np.ones((2, 3), bool)))


TYPES = [
    "np.finfo(a.dtype).eps", "np.finfo(np.float32).max", "np.finfo(float).tiny", "np.finfo('f4').bits",
    "np.iinfo(k.dtype).max", "np.iinfo(np.uint8).min", "a.dtype == np.float64", "a.dtype != k.dtype", "a.dtype == 'f8'",
    "a.dtype.itemsize", "np.zeros(2, a.dtype)", "np.zeros(2, np.dtype('f4'))", "np.zeros(2, np.result_type(k, a))",
    "np.zeros(2, np.result_type(k, 1.0))", "np.zeros(2, np.promote_types('f4', 'i8'))", "np.can_cast('f8', 'f4')",
    "np.can_cast(a.dtype, np.float32, 'same_kind')", "np.issubdtype(a.dtype, np.floating)", "a.dtype.type(3)",
    "np.issubdtype(k.dtype, np.floating)", "a[0].itemsize", "a.nbytes", "np.dtype(float).itemsize", "np.pi", "np.e",
    "np.euler_gamma", "np.inf", "a[0].ndim", "np.zeros(1, np.common_type(a, a.astype(np.float32)))", "np.int_(3.7)",
    "np.intc(5)", "np.double(2)", "np.single(0.1)", "3 if a.ndim == 1 else 'x'",
]  # fmt: skip


def test_questions_about_types_are_answered_at_compile_time() -> None:
    check_batch(TYPES, made(np.arange(4.0), np.arange(3, dtype=np.int32)), 0.0, "a, k")


NEAR_ZERO = np.array([-0.5, 0.5, -0.0, -3.7, 2.5, -0.25] * 5)


def through_arrays(a):
    return a.astype(np.int64).astype(np.float64), a.astype(np.int32) / 2.0, a.astype(np.int8) * 1.0


def through_single(a):
    return a.astype(np.float32).astype(np.int32).astype(np.float32)


def through_numbers(a):
    out = np.zeros(len(a))
    for i in range(len(a)):
        k = math.ceil(a[i])
        out[i] = math.atan2(k / 3, -1.0) + float(int(a[i])) - float(round(a[i]))
    return out


@pytest.mark.parametrize("function", [through_arrays, through_single, through_numbers], ids=lambda f: f.__name__)
@pytest.mark.parametrize("fp", ["numpy", "strict"])
def test_an_integer_that_was_a_float_has_no_negative_zero(function, fp) -> None:
    differential(function, made(NEAR_ZERO), fp=fp, tolerance=1e-15 if function is through_numbers else 0.0)
