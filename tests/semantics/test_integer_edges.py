"""Integers at the ends of 64 bits: every operator and builtin over a table of edges, in the same way wherever the
numbers stand: in arguments, in variables of a loop, in lists and in arrays of Python's own making.

A result of more than 64 bits is Python's own, exceptions have Python's texts, and what was done before stays done.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import weft
from tests.support import function_from_source

LOWEST, LARGEST = -(2**63), 2**63 - 1
EDGES = [0, 1, -1, 2, -2, 3, -7, 10, 62, 63, 64, 2**31 - 1, 2**31, -(2**31) - 1, 2**32, 3037000499, 3037000500]
EDGES += [2**53, 2**53 + 1, 2**62, -(2**62), LARGEST, LARGEST - 1, LOWEST, LOWEST + 1]
SMALL = [edge for edge in EDGES if abs(edge) < 100]  # what a shift or a power can take before memory ends


def _result(function, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            found = function(*arguments)
        except Exception as error:
            return type(error), str(error)
    return type(found), found


def _same(source, cases, fallback="error"):
    function = function_from_source(source, namespace={"math": math})
    compiled = weft.jit(fallback=fallback)(function)
    for case in cases:
        assert _result(compiled, *case) == _result(function, *case), (source, case)


BINARY = ["+", "-", "*", "//", "%", "&", "|", "^", "/", "<", "=="]
PAIRS = [(a, b) for a in EDGES for b in EDGES]


@pytest.mark.parametrize("operator", BINARY)
def test_binary(operator):
    _same(f"def f(a, b):\n    return a {operator} b\n", PAIRS)


@pytest.mark.parametrize("operator", ["<<", ">>", "**"])
def test_shifts_and_powers(operator):
    _same(f"def f(a, b):\n    return a {operator} b\n", [(a, b) for a in EDGES for b in SMALL])


@pytest.mark.parametrize(
    "expression",
    ["-a", "~a", "abs(a)", "+a", "a.bit_length()", "a.bit_count()", "float(a)", "bool(a)", "a % 2**62", "a * a"]
    + ["a + 9223372036854775807", "a > 9223372036854775807", "divmod(a, -3)", "a // -1"]
    + ["math.isqrt(a)", "math.gcd(a, 6)", "round(a)", "int(a)", "min(a, 0) - 1", "max(a, 0) + 1"],
)
def test_one_number(expression):
    _same(f"def f(a):\n    return {expression}\n", [(a,) for a in EDGES])


def test_comparisons_with_floats_beyond_53_bits():
    near = [float(a) for a in EDGES] + [2.0**63, -(2.0**63), 1e300, -1e300, math.inf, -math.inf, math.nan]
    cases = [(a, x) for a in EDGES for x in near]
    _same("def f(a, x):\n    return a == x, a != x, a < x, a <= x, a > x, a >= x, x == a, x < a, x >= a\n", cases)


def test_comparisons_with_floats_up_to_53_bits():
    small = [a for a in EDGES if abs(a) <= 2**53]
    cases = [(a, float(b) + d) for a in small for b in small for d in (0, 0.5)]
    _same("def f(a, x):\n    return a == x, a < x\n", cases)


@pytest.mark.parametrize(
    "expression", ["int(x)", "round(x)", "math.floor(x)", "math.ceil(x)", "math.trunc(x)", "int(x) + 1"]
)
def test_integers_of_floats(expression):
    near = [2.0**63, -(2.0**63), 2.0**63 - 1024, -(2.0**63) - 2048, 2.0**64, 1e300, -1e300, 0.5, -0.5, 1.5, 2.5, -2.5]
    near += [-0.0, 2.0**53 + 2, 4503599627370497.5, math.inf, -math.inf, math.nan, 5e-324]
    _same(f"def f(x):\n    return {expression}\n", [(x,) for x in near])


def test_powers_with_a_modulus():
    numbers = [0, 1, -1, 2, 7, -7, 10**9 + 7, 2**61 - 1, LARGEST, LOWEST, LOWEST + 1]
    cases = [(a, b, m) for a in numbers for b in (0, 1, 2, 5, 2**40, LARGEST, -1) for m in numbers]
    _same("def f(a, b, m):\n    return pow(a, b, m)\n", cases)


@pytest.mark.parametrize(
    "body",
    [
        "s = a\n    for i in range(3):\n        s += b\n    return s",
        "s = a\n    for i in range(3):\n        s = s * 3 - b\n    return s",
        "xs = [a, b, a]\n    return sum(xs)",
        "xs = [a]\n    xs.append(a + b)\n    return xs[-1] - a",
        "d = {a: b}\n    d[a] += b\n    return d[a]",
        "n = 0\n    for i in range(a, a + 3):\n        n += 1\n    return n + b",
        "n = 0\n    i = a\n    while n < 4:\n        i += b\n        n += 1\n    return i",
        "return len(range(a, b)) if -100 < b - a < 100 else 7",
        "return [i for i in range(b, b + 2)][-1] if a else 0",
        "t = (a, b)\n    return t[0] * t[1]",
        "return a if a + b > b else b",
        "x = a * b\n    return x % 1000",
        "try:\n        return a // b\n    except ZeroDivisionError:\n        return a + 1",
    ],
)
def test_inside_programs(body):
    _same(f"def f(a, b):\n    {body}\n", [(a, b) for a in EDGES[::2] for b in EDGES[1::2]] + PAIRS[-12:])


@pytest.mark.parametrize("step", [1, -1, 3, 2**62, LARGEST, LOWEST, 0])
def test_ends_of_ranges(step):
    source = """
def f(start, stop, step):
    found = []
    for i in range(start, stop, step):
        found.append(i)
        if len(found) == 5:
            break
    return found
"""
    ends = [0, 5, -5, LARGEST, LARGEST - 2, LOWEST, LOWEST + 2]
    _same(source, [(a, b, step) for a in ends for b in ends], "error" if step else "silent")


@pytest.mark.parametrize("index", ["i", "i + 1", "i - 1", "-i", "2 * i", "i * i", "~i", "i << 1"])
def test_indices_do_not_wrap(index):
    source = f"def f(xs, i):\n    x = xs[0]\n    return xs[{index}] + x\n"
    for make in (lambda: [1.0, 2.0, 3.0], lambda: np.arange(3.0)):
        function = function_from_source(source)
        compiled = weft.jit(fallback="error")(function)
        for i in EDGES:
            plain, native = make(), make()
            expected = _result(function, plain, i)
            assert _result(compiled, native, i) == expected, (index, i)
            assert list(plain) == list(native)


def test_large_literals():
    for literal in (LARGEST, LOWEST, 2**63, -(2**63) - 1, 2**64, 10**30):
        _same(f"def f(a):\n    b = {literal}\n    return a + b\n", [(0,), (1,), (-1,)], "silent")
        _same(f"def f(a):\n    return a < {literal}\n", [(0,), (LARGEST,), (LOWEST,)], "silent")


def test_beyond_64_bits_after_an_effect_is_told():
    """Where repeating the call in Python would be seen, the exception says what happened, and nothing wraps around."""

    def f(xs, i):
        xs[0] = 5.0
        return xs[i + 1]

    for make in (lambda: [1.0, 2.0, 3.0], lambda: np.arange(3.0)):
        compiled, values = weft.jit(fallback="error")(f), make()
        assert compiled(values, 1) == make()[2]
        with pytest.raises((OverflowError, IndexError)):
            compiled(values, LARGEST)
        assert values[0] == 5.0


def test_powers_of_two_as_divisors_round_down():
    """By bits, in every type: signs as Python has them, one and the largest power that a type holds included."""
    function = function_from_source("def f(a):\n    return a % 8, a // 4, a % 1, a // 1, a % 64, a // 64\n")
    for dtype in (np.int8, np.int64, np.uint8):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        values = np.array([low, low + 1, 0, 1, 2, 7, 8, 9, high - 1, high, *([-1, -7, -8, -9] if low else [])], dtype)
        for mine, theirs in zip(weft.jit(fallback="error")(function)(values), function(values)):
            assert mine.dtype == theirs.dtype and np.array_equal(mine, theirs), dtype
    loop = ["def f(a):", "    s, t = 0, 0", "    for x in a:", "        s = (s * 31 + int(x)) % 65536"]
    running = function_from_source("\n".join([*loop, "        t = (t + int(x)) // 2", "    return s, t\n"]))
    compiled, values = weft.jit(fallback="error")(running), np.array([-9, 8, 3, -1, 2**31])
    assert compiled(values) == running(values) and "mod_" not in compiled.inspect("c")
