"""Python's own numbers: division and remainders, powers, rounding, conversions, truth values, big integers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.support import Ulps, differential_source, function_from_source, lines, made, outcome

INTEGERS = (0, 1, -1, 7, -7, 2, 2**40, -(2**40))
FLOATS = (0.5, -2.5, 7.0, -0.0, 1e300, float("inf"))
BINARY = ("x + y", "x - y", "x * y", "x < y", "x == y", "x >= y", "min(x, y)", "max(x, y)")
DIVISION = ("x / y", "x // y", "x % y", "divmod(x, y)")


@pytest.mark.parametrize("expression", BINARY + DIVISION)
def test_integers(expression: str) -> None:
    compiled = differential_source(lines("x, y", f"return {expression}"), made(7, 3))
    _on_all(compiled, expression, itertools.product(INTEGERS, INTEGERS))


@pytest.mark.parametrize("expression", BINARY + DIVISION)
def test_floats(expression: str) -> None:
    compiled = differential_source(lines("x, y", f"return {expression}"), made(7.5, 2.5))
    _on_all(compiled, expression, itertools.product(FLOATS, FLOATS))


@pytest.mark.parametrize("expression", BINARY + DIVISION)
def test_mixed(expression: str) -> None:
    compiled = differential_source(lines("x, y", f"return {expression}"), made(7, 2.5))
    _on_all(compiled, expression, itertools.product(INTEGERS, FLOATS))


def _on_all(compiled, expression: str, pairs) -> None:
    from tests.support import compare

    plain = function_from_source(lines("x, y", f"return {expression}"))
    for pair in pairs:
        why = compare(outcome(compiled, pair), outcome(plain, pair))
        assert why is None, f"{expression} of {pair}: {why}"


def test_numpy_scalars_divide_as_arrays_do() -> None:
    """No ZeroDivisionError for NumPy scalars: infinity or zero."""
    source = lines("a", "x = a[0]", "y = a[1]", "return x / y, x // y, x % y, y / y")
    differential_source(source, made(np.array([1.0, 0.0])))
    differential_source(source, made(np.array([1, 0])))


def test_numpy_integers_wrap() -> None:
    source = lines("a", "x = a[0]", "return x + x, x * 3, -x, x + 1")
    for dtype in ("int8", "int32", "int64", "uint8", "uint64"):
        differential_source(source, made(np.array([np.iinfo(dtype).max], dtype=dtype)))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "float32", "float64", "bool", "complex64"])
def test_type_of_an_element(dtype: str) -> None:
    source = lines("a", "x = a[0]", "y = x + 1", "z = x * 2.0", "return x, y, z, x == 1")
    differential_source(source, made(np.ones(3, dtype=dtype)))


UNARY = (
    "-x", "+x", "abs(x)", "int(x)", "float(x)", "bool(x)", "not x", "round(x)", "round(x, 1)", "complex(x)",
    "x ** 2", "x ** 0.5",
    "x ** -1", "2 ** x", "x * x + 1", "1 if x else 2", "x and 3", "x or 3", "(x > 1) + 1", "True + x", "x != x",
)  # fmt: skip


@pytest.mark.parametrize("expression", UNARY)
@pytest.mark.parametrize("value", [3, 2.5, 0.0, True, np.float64(2.5), np.int32(4), np.float32(1.5)], ids=repr)
def test_unary(expression: str, value: object) -> None:
    source = lines("x", f"return {expression}")
    # What does not compile (a power whose type depends on the value, round to digits) must still be right.
    hard = ("round(x, 1)", "complex(x)", "x ** -1", "2 ** x", "x and 3", "x or 3", "round(x)", "x ** 0.5")
    fails = outcome(function_from_source(source), (value,)).error is not None
    differential_source(source, made(value), native=expression not in hard and not fails, tolerance=Ulps(2))


@pytest.mark.parametrize("value", [0.5, 1.5, 2.5, -0.5, -1.5, 2.4999, 1e15 + 0.5])
def test_round_half_to_even(value: float) -> None:
    differential_source(lines("x", "return round(x), int(x)"), made(value), native=False)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e30])
def test_int_of_what_does_not_fit(value: float) -> None:
    differential_source(lines("x", "return int(x)"), made(value), native=False)


BITS = ("x & y", "x | y", "x ^ y", "~x", "x << 3", "x >> 2", "x << y", "x >> y")


@pytest.mark.parametrize("expression", BITS)
def test_bits(expression: str) -> None:
    compiled = differential_source(lines("x, y", f"return {expression}"), made(12, 5))
    _on_all(compiled, expression, itertools.product((0, 1, -1, 255, -256, 2**40), (0, 1, 5, 30, 62)))


def test_negative_shift_is_an_error() -> None:
    differential_source(lines("x, y", "return x << y"), made(12, -1), native=False)


POWERS = ((2, 10), (-2, 3), (0, 0), (3, -1), (2, 62), (10, 18), (0, -1), (-3, 2))


@pytest.mark.parametrize(("base", "exponent"), POWERS)
def test_integer_power(base: int, exponent: int) -> None:
    differential_source(lines("x, y", "return x ** y"), made(base, exponent), native=False)


# --- big integers: in 64 bits or exactly Python's, never silently wrong ---------------------------------------------

OVERFLOWING = (
    ("x * x", 2**40), ("x + x", 2**62), ("x - 2", -(2**63)), ("x * x * x", 2**22), ("x ** 5", 2**20), ("x << 60", 12),
    ("-x", -(2**63)), ("abs(x)", -(2**63)), ("x + 1", 2**63 - 1), ("x + 1", 2**63), ("x * 3", 2**70),
    ("x // -1", -(2**63)),
)  # fmt: skip


@pytest.mark.parametrize(("expression", "value"), OVERFLOWING, ids=str)
def test_big_integers(expression: str, value: int) -> None:
    differential_source(lines("x", f"return {expression}"), made(value), native=False)


def test_factorial_beyond_64_bits() -> None:
    source = lines("n", "product = 1", "for i in range(2, n + 1):", "    product *= i", "return product")
    compiled = differential_source(source, made(10))
    import math

    for n in (0, 1, 20, 21, 25, 60):
        assert compiled(n) == math.factorial(n)


def test_fibonacci_beyond_64_bits() -> None:
    source = lines("n", "a, b = 0, 1", "for _ in range(n):", "    a, b = b, a + b", "return a")
    plain = function_from_source(source)
    compiled = differential_source(source, made(50))
    for n in (0, 1, 92, 93, 94, 200):
        assert compiled(n) == plain(n)


def test_overflow_after_writing_an_argument_is_not_silent() -> None:
    """The array has been changed, so the call cannot be repeated: OverflowError is allowed, a wrong value is not."""
    source = lines("a, n", "total = 1", "for i in range(len(a)):", "    a[i] += 1", "    total *= n", "return total")
    plain = function_from_source(source)
    compiled = differential_source(source, made(np.zeros(5), 3))
    try:
        value = compiled(np.zeros(70), 1000)
    except OverflowError:
        return
    assert value == plain(np.zeros(70), 1000)


def test_sum_of_array_elements_starting_from_a_python_zero() -> None:
    source = lines("a", "total = 0", "for i in range(len(a)):", "    total += a[i]", "return total")
    for dtype in ("int32", "int64", "float32", "float64", "uint8"):
        differential_source(source, made(np.arange(9).astype(dtype)))


def test_accumulator_keeps_its_python_type_for_an_empty_array() -> None:
    """No iteration: the int 0; otherwise the NumPy scalar. The type depends on the data."""
    source = lines("a", "total = 0", "for i in range(len(a)):", "    total += a[i]", "return total")
    compiled = differential_source(source, made(np.arange(5.0)), native=False)
    value = compiled(np.zeros(0))
    assert value == 0 and type(value) is int


@pytest.mark.parametrize(
    "expression", ["x < y < z", "x < y > z", "x == y == z", "0 <= x < 10", "x != y != z", "x < y <= z < 9"]
)
def test_chained_comparison(expression: str) -> None:
    compiled = differential_source(lines("x, y, z", f"return {expression}"), made(1, 2, 3))
    plain = function_from_source(lines("x, y, z", f"return {expression}"))
    for triple in itertools.product((0, 1, 2, 10), repeat=3):
        assert compiled(*triple) is plain(*triple)


@pytest.mark.parametrize(
    "expression", ["x > 0 and y > 0", "x > 0 or y > 0", "not (x > 0 and y > 0)", "x > 0 and y > 0 or z > 0"]
)
def test_boolean_operators(expression: str) -> None:
    source = lines("x, y, z", f"return {expression}")
    compiled = differential_source(source, made(1, 2, 3))
    plain = function_from_source(source)
    for triple in itertools.product((-1, 1), repeat=3):
        assert compiled(*triple) is plain(*triple)


def test_short_circuit_protects_an_index() -> None:
    source = lines("a, i", "return i < len(a) and a[i] > 0", "")
    for index in (0, 2, 3, 100):
        differential_source(source, made(np.array([1.0, -1.0, 2.0]), index), native=False)


def test_short_circuit_in_a_condition() -> None:
    source = lines("a, i", "if i < len(a) and a[i] > 0:", "    return 1", "return 0")
    compiled = differential_source(source, made(np.array([1.0, -1.0, 2.0]), 0))
    assert [compiled(np.array([1.0, -1.0, 2.0]), i) for i in (0, 1, 2, 3, 100)] == [1, 0, 1, 0, 0]


def test_complex_scalars() -> None:
    source = lines("z, w", "return z * w, z + 1, z / w, z.real, z.imag, z.conjugate(), abs(z), -z, z == w")
    differential_source(source, made(1.5 + 2j, -0.5 + 0.25j), tolerance=Ulps(2))
    differential_source(source, made(np.complex128(1.5 + 2j), np.complex128(0.25j)), tolerance=Ulps(2))


def test_zero_division_message() -> None:
    for arguments in ((1, 0), (1.0, 0.0), (1, 0.0)):
        for operator in ("/", "//", "%"):
            differential_source(lines("x, y", f"return x {operator} y"), made(*arguments), native=False)
