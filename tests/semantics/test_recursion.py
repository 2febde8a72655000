"""Functions that call themselves: natively the same answers, exceptions and changed arguments as in CPython."""

from __future__ import annotations

import math

import numpy as np
import pytest

import weft
from weft import pipeline
from weft.ir import interp, text
from weft.options import Options
from weft.runtime.toolchain import find

RNG = np.random.default_rng(0)


def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def ackermann(m, n):
    if m == 0:
        return n + 1
    return ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))


def divisor(a, b):
    return a if b == 0 else divisor(b, a % b)


def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


def power(x, n):
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half if n % 2 == 0 else half * half * x


def quick(a, lo, hi):
    if lo >= hi:
        return
    pivot = a[hi]
    i = lo
    for j in range(lo, hi):
        if a[j] < pivot:
            a[i], a[j] = a[j], a[i]
            i += 1
    a[i], a[hi] = a[hi], a[i]
    quick(a, lo, i - 1)
    quick(a, i + 1, hi)


def sorted_in_place(a):
    quick(a, 0, len(a) - 1)
    return a


def merge(a, spare, lo, hi):
    if hi - lo < 2:
        return
    middle = (lo + hi) // 2
    merge(a, spare, lo, middle)
    merge(a, spare, middle, hi)
    i, j = lo, middle
    for k in range(lo, hi):
        if i < middle and (j >= hi or a[i] <= a[j]):
            spare[k] = a[i]
            i += 1
        else:
            spare[k] = a[j]
            j += 1
    a[lo:hi] = spare[lo:hi]


def merged(a):
    merge(a, np.empty_like(a), 0, len(a))
    return a


def extremes(a, lo, hi):
    if lo == hi:
        return a[lo], a[lo]
    middle = (lo + hi) // 2
    low, high = extremes(a, lo, middle)
    lower, higher = extremes(a, middle + 1, hi)
    return min(low, lower), max(high, higher)


def both_ends(a):
    return extremes(a, 0, len(a) - 1)


def halves(a):
    n = len(a)
    if n == 1:
        return a[0]
    return halves(a[: n // 2]) + halves(a[n // 2 :])


def queens(n):
    def place(row, columns, up, down):
        if row == n:
            return 1
        count = 0
        for k in range(n):
            if not (columns >> k & 1 or up >> (row + k) & 1 or down >> (row - k + n) & 1):
                count += place(row + 1, columns | 1 << k, up | 1 << (row + k), down | 1 << (row - k + n))
        return count

    return place(0, 0, 0, 0)


def largest_field(grid):
    height, width = grid.shape

    def fill(y, x):
        if y < 0 or y >= height or x < 0 or x >= width or grid[y, x] != 1:
            return 0
        grid[y, x] = 2
        return 1 + fill(y + 1, x) + fill(y - 1, x) + fill(y, x + 1) + fill(y, x - 1)

    best = 0
    for y in range(height):
        for x in range(width):
            best = max(best, fill(y, x))
    return best, grid


def wave(x):
    return math.sin(x) / (x + 1)


def simpson(f, a, b, eps, whole):
    c = (a + b) / 2

    def rule(lo, hi):
        return (hi - lo) / 6 * (f(lo) + 4 * f((lo + hi) / 2) + f(hi))

    left, right = rule(a, c), rule(c, b)
    if abs(left + right - whole) <= 15 * eps:
        return left + right + (left + right - whole) / 15
    return simpson(f, a, c, eps / 2, left) + simpson(f, c, b, eps / 2, right)


def adaptive(a, b):
    return simpson(wave, a, b, 1e-9, (b - a) / 6 * (wave(a) + 4 * wave((a + b) / 2) + wave(b)))


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def parity(n):
    return is_even(n), is_odd(n)


CALLS = [
    (fibonacci, (15,)),
    (fibonacci, (0,)),
    (ackermann, (2, 3)),
    (divisor, (252, 105)),
    (factorial, (15,)),
    (factorial, (25,)),  # beyond 64 bits: Python takes over
    (power, (1.1, 21)),
    (power, (2, 5)),
    (sorted_in_place, (RNG.random(60),)),
    (sorted_in_place, (RNG.integers(0, 9, 40),)),
    (sorted_in_place, (RNG.random(60)[::-2],)),
    (sorted_in_place, (RNG.integers(0, 99, 40).tolist(),)),
    (sorted_in_place, (np.zeros(0),)),
    (merged, (RNG.random(33),)),
    (both_ends, (RNG.random(20),)),
    (halves, (RNG.random(33),)),
    (queens, (6,)),
    (largest_field, ((RNG.random((8, 9)) < 0.6).astype(int),)),
    (adaptive, (0.0, 3.0)),
    (parity, (11,)),
]


def copied(arguments):
    return tuple(a.copy() if isinstance(a, (np.ndarray, list)) else a for a in arguments)


def same(found, expected):
    if isinstance(expected, tuple):
        assert isinstance(found, tuple)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
        return
    assert type(found) is type(expected)
    if isinstance(expected, int):
        assert found == expected  # also beyond 64 bits
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(("function", "arguments"), CALLS, ids=lambda value: getattr(value, "__name__", None))
@pytest.mark.parametrize("backend", ["auto", "python"])
def test_same_as_python(function, arguments, backend):
    ours, theirs = copied(arguments), copied(arguments)
    expected = function(*theirs)
    same(weft.jit(fallback="error", backend=backend)(function)(*ours), expected)
    for one, other in zip(ours, theirs):
        if isinstance(other, (np.ndarray, list)):
            np.testing.assert_array_equal(one, other)


def changes_then_fails(a, i):
    a[0] += 1
    if i > 3:
        return a[100]
    return changes_then_fails(a, i + 1)


def fails(a, i):
    if i > 3:
        return a[100]
    return fails(a, i + 1)


@pytest.mark.parametrize("function", [changes_then_fails, fails])
def test_exceptions_come_through(function):
    ours, theirs = np.zeros(4), np.zeros(4)
    with pytest.raises(IndexError, match="index 100 is out of bounds for axis 0 with size 4"):
        function(theirs, 0)
    with pytest.raises(IndexError, match="index 100 is out of bounds for axis 0 with size 4"):
        weft.jit(fallback="error")(function)(ours, 0)
    np.testing.assert_array_equal(ours, theirs)


def endless(n):
    return endless(n + 1)


def endless_writer(a, n):
    a[n % 3] += 1
    return endless_writer(a, n + 1)


def test_too_deep_is_an_exception():
    with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
        weft.jit(fallback="error")(endless)(0)
    with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
        weft.jit(fallback="error")(endless_writer)(np.zeros(3), 0)


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


@pytest.mark.skipif(find() is None, reason="Python's own stack ends earlier")
def test_deeper_than_python_goes():
    assert weft.jit(fallback="error")(depth)(5000) == 5000


def changing_types(x, n):
    return x if n == 0 else changing_types(x * 0.5, n - 1)


def test_arguments_may_change_their_types():
    assert weft.jit(fallback="error")(changing_types)(8, 3) == changing_types(8, 3)


def two_views(a, b):
    if len(a) == 0:
        return 0.0
    a[0] += b[0]
    return a[0] + two_views(a[1:], a[:-1])


@pytest.mark.parametrize(("function", "arguments"), [(two_views, (np.arange(4.0), np.ones(4)))])
def test_views_of_one_array_are_native_as_plain_python(function, arguments):
    ours, theirs = copied(arguments), copied(arguments)
    assert weft.jit(fallback="error")(function)(*ours) == function(*theirs)
    for mine, other in zip(ours, theirs):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [(fibonacci, (8,)), (merged, (RNG.random(9),)), (both_ends, (RNG.random(9),)), (halves, (RNG.random(7),))],
)
def test_every_stage_means_the_same(function, arguments):
    """The interpreter runs each stage, and the text of each stage reads back as the same program."""
    expected = function(*copied(arguments))
    for name, program in pipeline.stages(function, arguments, Options()):
        assert text.parse(text.show(program)) == program, name
        found = interp.run(program, dict(zip(program.params, copied(arguments))))
        np.testing.assert_allclose(found, expected, err_msg=name)


# --- views of an array: the memory itself, wherever they begin -------------------------------------------------------


def filled(a, value):
    if len(a) == 0:
        return
    k = int(value) % len(a)
    a[k] += value
    filled(a[:k], value + 1)
    filled(a[k + 1 :], value + 2)


def fill_all(a):
    filled(a, 1.0)
    return a


def fill_rows(a, i):
    if i < a.shape[0]:
        filled(a[i], float(i))
        fill_rows(a, i + 1)


def fill_matrix(a):
    fill_rows(a, 0)
    return a


def of_new(a, n):
    if n > 0:
        a[0] += n
        of_new(a * 2.0, n - 1)  # a new array: nobody sees what is written


def of_news(a):
    of_new(a, 3)
    return a


@pytest.mark.parametrize(
    "function, make",
    [
        (fill_all, lambda: np.zeros(40)),
        (fill_all, lambda: np.zeros(81)[::2]),
        (fill_all, lambda: np.zeros(40)[::-1]),
        (fill_all, lambda: np.zeros(0)),
        (fill_matrix, lambda: np.zeros((5, 7))),
        (fill_matrix, lambda: np.zeros((7, 5)).T),
        (of_news, lambda: np.ones(3)),
    ],
)
def test_a_view_is_changed_in_place(function, make):
    expected = function(make())
    np.testing.assert_array_equal(weft.jit(fallback="error")(function)(make()), expected)


def product(a, b):
    n = len(a)
    if n == 1:
        return a[0] * b[0]
    return product(a[: n // 2], b[: n // 2]) + product(a[n // 2 :], b[n // 2 :])


def with_itself(a):
    return product(a, a[::-1]) + product(a[1:], a[:-1])


def test_two_views_of_an_array_that_is_only_read():
    a = RNG.random(37)
    np.testing.assert_allclose(weft.jit(fallback="error")(with_itself)(a), with_itself(a), rtol=1e-13)


def shifted(a, b):
    if len(a) > 0:
        a[0] = b[0] + 1.0
        shifted(a[1:], b[1:])


def shift_itself(a):
    shifted(a[1:], a[:-1])
    return a


def test_two_views_of_an_array_that_changes_are_left_to_python():
    np.testing.assert_array_equal(weft.jit(shift_itself)(np.zeros(9)), shift_itself(np.zeros(9)))
    with pytest.raises(weft.Unsupported, match="two views"):
        weft.jit(fallback="error")(shift_itself)(np.zeros(9))


def steps(n, k):
    """Small enough for copies inside copies; what fails may fail in any of them."""
    if n == 0:
        return 100 // k
    return steps(n - 1, k - 1) + 1


@pytest.mark.skipif(find() is None, reason="no C compiler")
def test_a_small_function_holds_copies_of_itself():
    compiled = weft.jit(fallback="error")(fibonacci)
    assert [compiled(n) for n in range(20)] == [fibonacci(n) for n in range(20)]
    source = compiled.inspect("c")
    assert source.count("always_inline") >= 2
    assert source.count("< k_own->floor") == 1, "the stack is looked at once for all copies"
    compiled = weft.jit(fallback="error")(steps)
    for n in range(12):
        assert compiled(n, n + 7) == steps(n, n + 7)
        with pytest.raises(ZeroDivisionError):
            compiled(n, n)
    with pytest.raises(RecursionError):
        compiled(10**7, 1)


@pytest.mark.skipif(find() is None, reason="no C compiler")
def test_overflow_in_a_copy_is_left_to_python():
    def doubled(n, x):
        return x if n == 0 else doubled(n - 1, x + x)

    compiled = weft.jit(doubled)
    assert [compiled(n, 1) for n in range(0, 70, 3)] == [1 << n for n in range(0, 70, 3)]
