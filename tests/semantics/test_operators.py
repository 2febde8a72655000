"""Every operator over every dtype, over pairs of dtypes, and with Python scalars, which are weak (NEP 50)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.samples import ALL, COMPLEX, FLOATS, INTEGERS, MIXED, SIGNED, UNSIGNED, awkward, ordinary, positive
from tests.support import differential_source, function_from_source, lines, made, outcome

PAIRS = tuple((dtype, dtype) for dtype in ALL) + MIXED
PAIR_IDS = ["-".join(pair) for pair in PAIRS]
ARITHMETIC = ("a + b", "a - b", "a * b")
COMPARISON = ("a == b", "a != b", "a < b", "a <= b", "a > b", "a >= b")


def _tolerance(*dtypes: str) -> float:
    """Complex products and quotients may round differently (NumPy's own loops use fused operations)."""
    return 1e-13 if any(dtype in COMPLEX for dtype in dtypes) else 0.0


def _works(expressions: tuple[str, ...], arguments: tuple[object, ...], header: str = "a, b") -> list[str]:
    """The expressions that NumPy accepts for these arguments (`-` of booleans, for one, is an error)."""
    usable = []
    for expression in expressions:
        plain = function_from_source(lines(header, f"return {expression}"))
        if outcome(plain, arguments).error is None:
            usable.append(expression)
    return usable


def _check_all(expressions: tuple[str, ...], make, tolerance: float = 0.0, header: str = "a, b") -> None:
    usable = _works(expressions, make(), header)
    if not usable:
        pytest.skip("NumPy has none of these for this dtype")
    differential_source(lines(header, "return " + ", ".join(usable) + ","), make, tolerance=tolerance)


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=PAIR_IDS)
def test_arithmetic(one: str, other: str) -> None:
    sample = ordinary if {one, other} & set(COMPLEX) else awkward
    _check_all(ARITHMETIC, made(sample(one, 37), sample(other, 37, 1)), _tolerance(one, other))


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=PAIR_IDS)
def test_true_division(one: str, other: str) -> None:
    sample, divisor = (ordinary, positive) if {one, other} & set(COMPLEX) else (awkward, awkward)
    _check_all(("a / b",), made(sample(one, 37), divisor(other, 37, 1)), _tolerance(one, other))


@pytest.mark.parametrize(("one", "other"), [p for p in PAIRS if not set(p) & set(COMPLEX)])
def test_floor_division_and_remainder(one: str, other: str) -> None:
    _check_all(("a // b", "a % b"), made(awkward(one, 41), awkward(other, 41, 1)))


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=PAIR_IDS)
def test_comparison(one: str, other: str) -> None:
    sample = ordinary if {one, other} & set(COMPLEX) else awkward
    _check_all(COMPARISON, made(sample(one, 37), sample(other, 37, 1)))


@pytest.mark.parametrize(("one", "other"), [p for p in PAIRS if not set(p) & set(COMPLEX + FLOATS)])
def test_bits(one: str, other: str) -> None:
    _check_all(("a & b", "a | b", "a ^ b"), made(awkward(one, 37), awkward(other, 37, 1)))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts(dtype: str) -> None:
    counts = np.arange(37).astype(dtype) % np.array(np.iinfo(dtype).bits, dtype=dtype)
    _check_all(("a << b", "a >> b"), made(awkward(dtype, 37), counts))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts_past_the_width(dtype: str) -> None:
    width = np.iinfo(dtype).bits
    _check_all(("a << b", "a >> b"), made(awkward(dtype, 9), np.full(9, width + 1, dtype=dtype)))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_power(dtype: str) -> None:
    # A signed exponent may be negative, an error in NumPy that depends on the data.
    make = made(ordinary(dtype, 37), (np.arange(37) % 5).astype(dtype))
    differential_source(lines("a, b", "return a ** b"), make, native=dtype in UNSIGNED)


def test_negative_integer_power_is_numpys_error() -> None:
    differential_source(lines("a, b", "return a ** b"), made(np.array([2, 3]), np.array([1, -1])), native=False)


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_power(dtype: str) -> None:
    _check_all(("a ** b",), made(positive(dtype, 37), ordinary(dtype, 37, 1)), 1e-14)


@pytest.mark.parametrize("exponent", ["2", "3", "-1", "0", "0.5", "2.0", "-0.5", "1.7"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_power_by_a_constant(dtype: str, exponent: str) -> None:
    _check_all((f"a ** {exponent}",), made(awkward(dtype, 37)), 1e-14, header="a")


@pytest.mark.parametrize("dtype", ALL)
def test_unary(dtype: str) -> None:
    sample = ordinary if dtype in COMPLEX else awkward
    _check_all(("-a", "+a", "~a", "abs(a)"), made(sample(dtype, 37)), _tolerance(dtype), header="a")


WEAK = ("a + 1", "1 + a", "a - 2", "2 - a", "a * 3", "a / 2", "2 / a", "a // 3", "a % 3", "a ** 2", "a > 1", "1 <= a")
WEAK_FLOAT = ("a + 1.5", "0.1 * a", "a / 2.0", "a - 0.25", "a < 0.5", "a == 1.0")
WEAK_BITS = ("a & 3", "a | 1", "a ^ 5", "a << 2", "a >> 1", "1 << a")
WEAK_COMPLEX = ("a + 1j", "a * (2 - 1j)")


@pytest.mark.parametrize("dtype", ALL)
def test_weak_python_integers(dtype: str) -> None:
    sample = ordinary if dtype in COMPLEX else awkward
    _check_all(WEAK, made(sample(dtype, 37)), _tolerance(dtype), header="a")


@pytest.mark.parametrize("dtype", ALL)
def test_weak_python_floats(dtype: str) -> None:
    sample = ordinary if dtype in COMPLEX else awkward
    _check_all(WEAK_FLOAT, made(sample(dtype, 37)), _tolerance(dtype), header="a")


@pytest.mark.parametrize("dtype", INTEGERS + ("bool",))
def test_weak_python_integers_in_bit_operators(dtype: str) -> None:
    small = ordinary("uint8", 37).astype(dtype)
    _check_all(WEAK_BITS, made(small), header="a")


@pytest.mark.parametrize("dtype", ALL)
def test_weak_python_complex(dtype: str) -> None:
    _check_all(WEAK_COMPLEX, made(ordinary(dtype, 37)), 1e-13, header="a")


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("scalar", [2, 2.5, True, 1 + 2j], ids=["int", "float", "bool", "complex"])
def test_scalar_argument(dtype: str, scalar: object) -> None:
    make = made(ordinary(dtype, 19), scalar)
    _check_all(("a + b", "b * a", "a == b"), make, _tolerance(dtype, "complex64" if scalar == 1 + 2j else dtype))


@pytest.mark.parametrize(
    "scalar", [np.float32(2.5), np.int8(3), np.uint64(2), np.float64(0.1), np.bool_(True)], ids=repr
)
@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "float32", "float64"])
def test_numpy_scalars_are_not_weak(dtype: str, scalar: np.generic) -> None:
    _check_all(("a + b", "b * a", "a > b"), made(ordinary(dtype, 19), scalar))


@pytest.mark.parametrize("dtype", UNSIGNED + SIGNED)
def test_python_integer_outside_the_dtype(dtype: str) -> None:
    """uint8 + 300 is an OverflowError in NumPy; compiled code must not wrap instead."""
    too_much = int(np.iinfo(dtype).max) + 1
    source = lines("a", f"return a + {too_much}")
    differential_source(source, made(ordinary(dtype, 5)), native=False)


AUGMENTED = ("+=", "-=", "*=", "/=", "//=", "%=", "**=", "&=", "|=", "^=", "<<=", ">>=")


@pytest.mark.parametrize("operator", AUGMENTED)
@pytest.mark.parametrize("dtype", ["int32", "uint8", "float64", "float32", "bool"])
def test_augmented_assignment_in_place(dtype: str, operator: str) -> None:
    source = lines("a, b", f"a {operator} b", "return a")
    make = made(positive(dtype, 23), positive(dtype, 23, 1))
    fails = outcome(function_from_source(source), make()).error is not None
    tolerance = 1e-14 if operator == "**=" and dtype in FLOATS else 0.0
    signed_power = operator == "**=" and dtype == "int32"
    differential_source(source, make, native=not fails and not signed_power, tolerance=tolerance)


@pytest.mark.parametrize(
    ("target", "value"),
    [("int32", "int8"), ("float64", "int32"), ("complex128", "float64"), ("int8", "int32"), ("float32", "float64")],
)
def test_augmented_assignment_casts_to_the_target(target: str, value: str) -> None:
    differential_source(
        lines("a, b", "a += b", "a *= 2", "return a"), made(ordinary(target, 17), ordinary(value, 17, 1))
    )


def test_augmented_assignment_refuses_an_unsafe_cast() -> None:
    make = made(ordinary("int32", 17), ordinary("float64", 17))
    differential_source(lines("a, b", "a += b"), make, native=False)


@pytest.mark.parametrize(
    "shapes", [((3, 4), (4,)), ((3, 1), (1, 4)), ((2, 3, 4), (3, 1)), ((1,), (5,)), ((4,), ())], ids=str
)
def test_broadcasting(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    one, other = shapes
    source = lines("a, b", "return a + b, b - a, a * b > 0")
    differential_source(source, made(ordinary("float64", one), ordinary("float64", other, 1)))


@pytest.mark.parametrize("rank", range(5))
def test_rank(rank: int) -> None:
    shape = (3, 2, 4, 2)[:rank]
    source = lines("a, b", "return a * 2 + b, a < b, -a")
    differential_source(source, made(ordinary("float32", shape), ordinary("float32", shape, 1)))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 3)], ids=str)
def test_empty(shape: tuple[int, ...]) -> None:
    source = lines("a, b", "c = a + b", "c *= 2", "return c, a == b, (a + 1).sum()")
    differential_source(source, made(np.zeros(shape), np.zeros(shape)))


def test_logical_functions() -> None:
    source = lines(
        "a, b", "return np.logical_and(a, b), np.logical_or(a > 1, b), np.logical_xor(a, b), np.logical_not(a)"
    )
    differential_source(source, made(ordinary("int32", 19), ordinary("int32", 19, 1)))


def test_bitwise_functions() -> None:
    source = lines(
        "a, b",
        "return np.bitwise_and(a, b), np.bitwise_or(a, b), np.bitwise_xor(a, b), np.invert(a), np.left_shift(a, 1)",
    )
    differential_source(source, made(ordinary("uint16", 19), ordinary("uint16", 19, 1)))


def test_chained_array_expression() -> None:
    source = lines("a, b, c", "return (a + b) * c - a / (1 + b * b) + (a > b) * c")
    differential_source(source, made(*(ordinary("float64", (5, 7), seed) for seed in range(3))))


def test_truth_value_of_an_array_is_numpys_error() -> None:
    differential_source(lines("a", "if a > 0:", "    return 1", "return 2"), made(ordinary("float64", 3)), native=False)


def test_mismatched_shapes_raise_numpys_error() -> None:
    differential_source(lines("a, b", "return a + b"), made(np.zeros(3), np.zeros(4)), native=False)
