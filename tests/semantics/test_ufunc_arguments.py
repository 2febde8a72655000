"""Ufuncs with out=, where=, dtype= and casting=, those with two results, and their methods, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.batches import check_batch, check_statements
from tests.semantics.samples import ALL, FLOATS, INTEGERS, LAYOUTS, REAL, awkward, ordinary, positive
from tests.support import Ulps, made

WIDE = ("int32", "int64", "uint32", "float32", "float64", "complex64", "complex128")


def test_every_ufunc_of_numpy_is_known() -> None:
    from weft.frontend import knowledge

    ufuncs = {name: thing for name in dir(np) if isinstance(thing := getattr(np, name), np.ufunc)}
    left_to_numpy = {"isnat", "_ones_like"}
    missing = [name for name, thing in ufuncs.items() if knowledge.lookup(thing) is None]
    assert set(missing) <= left_to_numpy


@pytest.mark.parametrize("dtype", REAL)
def test_less_usual_ufuncs(dtype: str) -> None:
    expressions = [
        "np.reciprocal(a)", "np.square(a)", "np.positive(a)", "np.float_power(a, 2)", "np.fmod(a, b)",
        "np.fmax(a, b)", "np.fmin(a, b)", "np.logical_xor(a, b)", "np.sign(a)", "np.floor(a)", "np.ceil(a)",
        "np.trunc(a)", "np.fix(a)",
    ]  # fmt: skip
    if np.dtype(dtype).kind in "iu":
        expressions += ["np.gcd(a, b)", "np.lcm(a, b)", "np.bitwise_count(a)", "np.bitwise_invert(a)"]
        expressions += ["np.bitwise_left_shift(a, b & 3)", "np.bitwise_right_shift(a, b & 3)", "np.invert(a)"]
    check_batch(expressions, made(awkward(dtype, 24), positive(dtype, 24, 1)), Ulps(4), "a, b")


@pytest.mark.parametrize("dtype", ["int16", "int64", "float32", "float64"])
def test_floating_ufuncs(dtype: str) -> None:
    expressions = [
        "np.heaviside(a, b)", "np.logaddexp(a, b)", "np.logaddexp2(a, b)", "np.spacing(a)", "np.fabs(a)",
        "np.deg2rad(a)", "np.degrees(a)", "np.radians(a)", "np.rad2deg(a)", "np.signbit(a)", "np.copysign(a, b)",
        "np.nextafter(a, b)", "np.cbrt(a)", "np.exp2(a)", "np.hypot(a, b)", "np.rint(a)", "np.sinc(a)",
    ]  # fmt: skip
    check_batch(expressions, made(awkward(dtype, 40), ordinary(dtype, 40, 1)), Ulps(8), "a, b")


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_ufuncs(dtype: str) -> None:
    expressions = ["np.sign(a)", "np.rint(a)", "np.conj(a)", "np.angle(a)", "np.angle(a, deg=True)", "np.square(a)"]
    expressions += ["np.isreal(a)", "np.iscomplex(a)", "np.nan_to_num(a)", "np.round(a, 2)", "np.reciprocal(a)"]
    expressions += ["np.maximum(a, a.conj())", "np.float_power(a, 2)", "np.iscomplexobj(a)", "np.isrealobj(a)"]
    check_batch(expressions, made(ordinary(dtype, 12)), 1e-6 if dtype == "complex64" else 1e-12)


@pytest.mark.parametrize("dtype", FLOATS)
def test_parts_of_floats(dtype: str) -> None:
    tiny = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).tiny / 4, -3.75, 1e20], dtype=dtype)
    check_batch(["np.frexp(a)", "np.modf(a)", "np.spacing(a)"], made(tiny), zero_signs=True)
    exponents = np.array([0, 3, -3, 5, 2000, -2000, 1, -1000], dtype=np.int32)
    check_batch(["np.ldexp(a, e)", "np.ldexp(a, 4)"], made(tiny, exponents), 0.0, "a, e", zero_signs=True)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float64", "float32"])
def test_divmod(dtype: str) -> None:
    make = made(ordinary(dtype, (3, 4)), positive(dtype, 4, 1))
    check_batch(["np.divmod(a, b)", "divmod(a, b)", "np.divmod(a, 2)"], make, 1e-12, "a, b")
    check_statements(
        "a, b, p, q", "r = np.divmod(a, b, out=(p, q))", "return r[0] + r[1]",
        make=made(ordinary(dtype, 5), positive(dtype, 5, 1), np.zeros(5, dtype), np.zeros(5, dtype)), tolerance=1e-12,
    )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_out(layout: str) -> None:
    place = LAYOUTS[layout]
    make = lambda: tuple(place(ordinary("float64", (3, 4), seed)) for seed in range(3))
    check_statements("a, b, o", "return np.add(a, b, out=o)", make=make)
    check_statements("a, b, o", "r = np.multiply(a, b, out=(o,))", "return r is o, r", make=make, native=False)
    check_statements("a, b, o", "np.subtract(a[:, ::-1], a, out=a)", "np.exp(b, o)", make=make, tolerance=1e-12)
    check_statements("a, b, o", "np.sqrt(b, out=o, where=b > 0)", "return np.negative(a[0], out=o)", make=make)


def test_out_casts_as_numpy_does() -> None:
    a = ordinary("float64", 6)
    check_statements("a, o", "return np.add(a, 1, out=o)", make=made(a, np.zeros(6, np.float32)))
    check_statements("a, o", "return np.add(a, 1, out=o)", make=made(a, np.zeros(6, complex)))
    check_statements("a, o", "return np.add(a, 1, out=o, casting='unsafe')", make=made(a, np.zeros(6, np.int32)))
    check_statements("a, o", "return np.add(a, 1, out=o)", make=made(a, np.zeros(6, np.int32)), native=False)
    check_statements("a, o", "return np.add(a, 1, out=o)", make=made(a, np.zeros(5)), native=False)
    check_statements("a, o", "return np.add(a, 1, out=o)", make=made(a, np.zeros((2, 6))))
    check_statements("a, o", "return np.less(a, 1, out=o)", make=made(a, np.zeros(6, bool)))


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex128"])
def test_where(dtype: str) -> None:
    mask = np.array([True, False, True, True, False])
    make = made(ordinary(dtype, (4, 5)), ordinary(dtype, 5, 1), mask, np.ones((4, 5), dtype))
    check_statements("a, b, m, o", "return np.multiply(a, b, out=o, where=m)", make=make, tolerance=1e-12)
    check_statements("a, b, m, o", "return np.add(a, b, out=a, where=a != b)", make=make)
    check_statements("a, b, m, o", "return np.add(a, b, out=o, where=True)", make=make)
    floats = made(ordinary("float64", 9), np.array([0.0, 1.0, 2.0] * 3))
    check_statements("a, b", "return np.divide(a, b, out=np.zeros_like(a), where=b != 0)", make=floats)


@pytest.mark.parametrize("dtype", WIDE)
def test_dtype(dtype: str) -> None:
    wider = "complex128" if np.dtype(dtype).kind == "c" else "float64"
    expressions = [f"np.add(a, b, dtype=np.{wider})", f"np.multiply(a, 2, dtype=np.{wider})"]
    expressions += [f"np.subtract(a, b, dtype='{dtype}')", f"np.sqrt(a * a, dtype=np.{wider})"]
    check_batch(expressions, made(ordinary(dtype, 6), ordinary(dtype, 6, 1)), 1e-6, "a, b")


def test_dtype_makes_a_small_integer_a_wide_float() -> None:
    check_batch(["np.sqrt(a, dtype=np.float32)", "np.sin(a, dtype=np.float64)"], made(positive("int8", 5)), 1e-6)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_powers(dtype: str) -> None:
    make = made(ordinary(dtype, 8), np.abs(ordinary(dtype, 8, 1)) % np.dtype(dtype).type(5))
    check_batch(["a ** b", "np.power(a, b)", "np.power(a, 3)", "np.power.outer(a, b)"], make, 0.0, "a, b")
    check_statements("a, b", "a **= b", "return a", make=make)


def test_integers_to_negative_powers_are_refused() -> None:
    check_statements("a, b", "return a ** b", make=made(np.array([2, 3]), np.array([2, -1])))
    check_statements("a, b", "return a ** b", make=made(np.array([2, 3]), np.int64(-1)), native=False)


# --- methods --------------------------------------------------------------------------------------------------------

BINARY = ["add", "subtract", "multiply", "minimum", "maximum", "fmax", "fmin", "hypot", "logaddexp"]


@pytest.mark.parametrize("name", [*BINARY, "true_divide", "less", "logical_and", "arctan2", "remainder"])
def test_outer(name: str) -> None:
    make = made(ordinary("float64", (2, 3)), positive("float64", 4, 1))
    check_batch([f"np.{name}.outer(a, b)", f"np.{name}.outer(b, 2.0)"], make, Ulps(4), "a, b")


@pytest.mark.parametrize("name", [*BINARY, "true_divide", "logical_and", "logical_or", "logical_xor"])
def test_reduce(name: str) -> None:
    expressions = [
        f"np.{name}.reduce(a)", f"np.{name}.reduce(a, axis=1)", f"np.{name}.reduce(a, axis=-1, keepdims=True)",
        f"np.{name}.reduce(a[0])", f"np.{name}.reduce(a, axis=(0, 2))", f"np.{name}.reduce(a, axis=None)",
        f"np.{name}.reduce(a, axis=1, initial=2.0)",
    ]  # fmt: skip
    if name in ("subtract", "true_divide", "fmax", "fmin", "hypot", "logaddexp", "logical_xor"):
        expressions = expressions[:4]
    if name.startswith("logical"):
        expressions = expressions[:6]
    check_batch(expressions, made(positive("float64", (2, 3, 4))), 1e-12)


@pytest.mark.parametrize("dtype", ALL)
def test_reduce_of_dtypes(dtype: str) -> None:
    names = ["add", "multiply", "minimum", "maximum", "logical_or", "fmax"]
    names += ["bitwise_and", "bitwise_or", "bitwise_xor"] if np.dtype(dtype).kind in "biu" else []
    if np.dtype(dtype).kind == "c":
        names.remove("fmax")
    expressions = [f"np.{name}.{method}(a)" for name in names for method in ("reduce", "accumulate")]
    check_batch(expressions, made(ordinary(dtype, (4, 3))), 1e-6 if np.dtype(dtype).kind in "fc" else 0.0)


def test_reduce_without_elements() -> None:
    check_batch(["np.add.reduce(a)", "np.multiply.reduce(a)", "np.logical_and.reduce(a)", "np.hypot.reduce(a)"],
                made(np.zeros(0)))  # fmt: skip
    for name in ("subtract", "maximum", "fmax"):
        check_statements("a", f"return np.{name}.reduce(a)", make=made(np.zeros(0)))


@pytest.mark.parametrize("name", [*BINARY, "true_divide", "logical_or"])
def test_accumulate_and_reduceat(name: str) -> None:
    expressions = [
        f"np.{name}.accumulate(a)", f"np.{name}.accumulate(a, axis=1)", f"np.{name}.reduceat(a, k)",
        f"np.{name}.reduceat(a, [0, 2, 1], axis=1)", f"np.{name}.reduceat(a[:, 0], k)",
    ]  # fmt: skip
    make = made(positive("float64", (6, 4)), np.array([0, 3, 1, 1, 5]))
    check_batch(expressions, make, 1e-12, "a, k")


def test_reduceat_beyond_the_end() -> None:
    check_statements("a, k", "return np.add.reduceat(a, k)", make=made(np.arange(4.0), np.array([0, 4])))


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum", "fmin", "power", "true_divide", "hypot"])
def test_at(name: str) -> None:
    k = np.array([0, 3, 3, 1, -1, 0])
    make = made(positive("float64", 5), k, positive("float64", 6, 1))
    check_statements("a, k, b", f"np.{name}.at(a, k, b)", f"np.{name}.at(a, [1, 1], 2.0)", make=make, tolerance=1e-12)


def test_at_of_one_operand_and_of_integers() -> None:
    k = np.array([0, 3, 3, 1])
    check_statements("a, k", "np.negative.at(a, k)", "np.sqrt.at(a, [4])", make=made(positive("float64", 5), k))
    check_statements("a, k", "np.bitwise_xor.at(a, k, 5)", "np.left_shift.at(a, k, 1)", make=made(np.arange(5), k))
    check_statements("a, k", "np.logical_or.at(a, k, True)", make=made(np.zeros(5, bool), k))


# --- other element-wise functions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", REAL)
def test_clip_and_rounding(dtype: str) -> None:
    expressions = [
        "np.clip(a, 1, 5)", "np.clip(a, b, None)", "np.clip(a, None, b)", "a.clip(2, 4)", "a.clip(min=1)",
        "np.clip(a, b, b + 1)", "np.nan_to_num(a)", "np.round(a, 1)", "np.around(a)", "a.round(2)",
    ]  # fmt: skip
    make = made(awkward(dtype, (3, 5)), ordinary(dtype, 5, 1))
    check_batch(expressions, make, 1e-6 if dtype == "float32" else 1e-12, "a, b")


def test_nan_to_num_with_replacements() -> None:
    a = np.array([1.0, np.nan, np.inf, -np.inf])
    check_batch(["np.nan_to_num(a, nan=7.0)", "np.nan_to_num(a, posinf=1, neginf=-1.5)"], made(a))
    check_batch(["np.nan_to_num(a)"], made(a.astype(np.float32)))
    check_batch(["np.isposinf(a)", "np.isneginf(a)"], made(a))


@pytest.mark.parametrize("shape", [9, (4, 6), (0, 3)], ids=str)
def test_unwrap(shape: int | tuple[int, ...]) -> None:
    angles = ordinary("float64", shape) * 3
    expressions = ["np.unwrap(a)", "np.unwrap(a, axis=0)", "np.unwrap(a, discont=4.0)", "np.unwrap(a, period=5.0)"]
    check_batch(expressions, made(angles), 1e-12)
