"""Loops, branches, jumps, assignments and returns."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import differential_source, function_from_source, lines, made

RANGES = (
    "range(n)", "range(1, n)", "range(0, n, 2)", "range(n, 0, -1)", "range(n - 1, -1, -2)", "range(n, n)",
    "range(5, 2)",
    "range(-3, n)", "range(0, n, 3)", "reversed(range(n))", "range(n)[::-1]", "range(0)",
)  # fmt: skip


@pytest.mark.parametrize("text", RANGES)
def test_for_over_ranges(text: str) -> None:
    source = lines("n", "total = 0", f"for i in {text}:", "    total = total * 3 + i", "return total")
    for n in (0, 1, 5):
        differential_source(source, made(n), native="[" not in text)


def test_range_with_a_step_known_at_run_time() -> None:
    source = lines("n, s", "total = 0", "for i in range(0, n, s):", "    total = total * 2 + i", "return total")
    compiled = differential_source(source, made(10, 3), native=False)
    plain = function_from_source(source)
    for step in (1, 4, -1, 100):
        assert compiled(10, step) == plain(10, step)
    with pytest.raises(ValueError, match="range"):
        compiled(10, 0)


def test_for_over_an_array() -> None:
    source = lines("a", "total = 0.0", "for x in a:", "    total += x * x", "return total")
    differential_source(source, made(np.arange(7.0)), tolerance=1e-14)


def test_for_over_rows() -> None:
    source = lines(
        "a", "out = np.zeros(a.shape[1])", "for row in a:", "    out += row", "    row[0] = 1.0", "return out"
    )
    differential_source(source, made(np.arange(12.0).reshape(3, 4)))


def test_enumerate() -> None:
    source = lines("a", "total = 0.0", "for i, x in enumerate(a):", "    total += i * x", "return total")
    differential_source(source, made(np.arange(7.0)), tolerance=1e-14)
    source = lines("a", "total = 0.0", "for i, x in enumerate(a, 3):", "    total += i * x", "return total")
    differential_source(source, made(np.arange(7.0)), tolerance=1e-14)


def test_zip() -> None:
    source = lines("a, b", "total = 0.0", "for x, y in zip(a, b):", "    total += x * y", "return total")
    differential_source(source, made(np.arange(7.0), np.arange(5.0)), tolerance=1e-14)


def test_enumerate_of_zip() -> None:
    source = lines("a, b, c", "for i, (x, y) in enumerate(zip(a, b)):", "    c[i] = x - y")
    differential_source(source, made(np.arange(7.0), np.ones(7), np.zeros(7)))


def test_reversed_array() -> None:
    source = lines("a", "total = 0.0", "for x in reversed(a):", "    total = total / 2 + x", "return total")
    differential_source(source, made(np.arange(7.0)))


def test_ndindex() -> None:
    source = lines("a", "for i, j in np.ndindex(a.shape):", "    a[i, j] = i * 10 + j")
    differential_source(source, made(np.zeros((3, 4))))
    source = lines("a", "for i, j in np.ndindex(2, 3):", "    a[i, j] += 1")
    differential_source(source, made(np.zeros((3, 4))))


def test_loop_variable_after_the_loop() -> None:
    source = lines("n", "i = -1", "for i in range(n):", "    pass", "return i")
    for n in (0, 1, 5):
        differential_source(source, made(n))


def test_loop_variable_reassigned_in_the_body() -> None:
    source = lines("n", "total = 0", "for i in range(n):", "    i = i * 2", "    total += i", "return total, i")
    differential_source(source, made(5))


def test_unbound_loop_variable_is_pythons_error() -> None:
    source = lines("n", "for i in range(n):", "    pass", "return i")
    compiled = differential_source(source, made(3))
    with pytest.raises(UnboundLocalError):
        compiled(0)


def test_range_bound_is_read_once() -> None:
    source = lines("n", "m = n", "count = 0", "for i in range(m):", "    m += 1", "    count += 1", "return count, m")
    differential_source(source, made(5))


def test_break_and_else() -> None:
    source = lines(
        "a, x", "for i in range(len(a)):", "    if a[i] == x:", "        break", "else:", "    return -1", "return i"
    )
    values = np.array([3, 1, 2])
    for wanted in (3, 2, 9):
        differential_source(source, made(values, wanted))


def test_continue() -> None:
    source = lines(
        "n",
        "total = 0",
        "for i in range(n):",
        "    if i % 3 == 0:",
        "        continue",
        "    total += i",
        "return total",
    )
    differential_source(source, made(10))


def test_break_out_of_the_inner_loop() -> None:
    source = lines(
        "a", "count = 0", "for i in range(a.shape[0]):", "    for j in range(a.shape[1]):", "        if a[i, j] < 0:",
        "            break", "        count += 1", "    else:", "        count += 100", "return count",
    )  # fmt: skip
    differential_source(source, made(np.array([[1, 2, 3], [1, -1, 2], [-1, 0, 0]])))


def test_while() -> None:
    source = lines(
        "n",
        "steps = 0",
        "while n > 1:",
        "    n = n // 2 if n % 2 == 0 else 3 * n + 1",
        "    steps += 1",
        "return steps",
    )
    for n in (0, 1, 27):
        differential_source(source, made(n))


def test_while_with_else_break_and_continue() -> None:
    source = lines(
        "n, stop", "i = 0", "total = 0", "while i < n:", "    i += 1", "    if i == stop:", "        break",
        "    if i % 2:",
        "        continue", "    total += i", "else:", "    total = -total", "return total, i",
    )  # fmt: skip
    for stop in (3, 100):
        differential_source(source, made(8, stop))


def test_while_true() -> None:
    source = lines("x", "n = 0", "while True:", "    x = x / 2", "    n += 1", "    if x < 1.0:", "        return n, x")
    differential_source(source, made(100.0))


def test_if_chain() -> None:
    source = lines(
        "x",
        "if x < 0:",
        "    y = -1",
        "elif x == 0:",
        "    y = 0",
        "elif x < 10:",
        "    y = 1",
        "else:",
        "    y = 2",
        "return y",
    )
    for x in (-3, 0, 4, 50):
        differential_source(source, made(x))


def test_variable_defined_in_one_branch_only() -> None:
    source = lines("x", "if x > 0:", "    y = 2.0", "return y")
    compiled = differential_source(source, made(1), native=False)
    with pytest.raises(UnboundLocalError):
        compiled(-1)


def test_variable_of_two_types() -> None:
    source = lines("x", "if x > 0:", "    y = 2.5", "else:", "    y = 1", "return y")
    for x in (1, -1):
        differential_source(source, made(x), native=False)


def test_returns_of_different_types() -> None:
    source = lines(
        "x",
        "if x == 0:",
        "    return None",
        "if x == 1:",
        "    return 2.5",
        "if x == 2:",
        "    return 3, x",
        "return x",
    )
    for x in (0, 1, 2, 3):
        differential_source(source, made(x))


def test_return_without_value_and_falling_off_the_end() -> None:
    differential_source(lines("a", "if a[0] > 0:", "    return", "a[0] = 1"), made(np.zeros(2)))
    differential_source(lines("a", "a[0] = 1"), made(np.zeros(2)))


def test_early_return_from_a_loop() -> None:
    source = lines("a", "for i in range(len(a)):", "    a[i] += 1", "    if a[i] > 3:", "        return i", "return -1")
    differential_source(source, made(np.arange(6.0)))
    differential_source(source, made(np.zeros(6)))


def test_tuples() -> None:
    source = lines("a, b", "a, b = b, a", "x, y = a + 1, b * 2", "(u, v), w = (x, y), 3", "return u, v, w, (a, b)")
    differential_source(source, made(1, 2.5))


def test_swap_of_arrays() -> None:
    source = lines("a, b, n", "for _ in range(n):", "    a, b = b, a", "    a[0] += 1", "return a, b")
    for n in (0, 1, 2, 3):
        differential_source(source, made(np.zeros(3), np.ones(3), n))


def test_chained_assignment() -> None:
    differential_source(lines("x", "a = b = x + 1", "a += 1", "return a, b"), made(3))
    differential_source(lines("n", "a = b = np.zeros(n)", "a += 1", "return a, b, a is b"), made(3), native=False)


def test_conditional_expression() -> None:
    source = lines(
        "a",
        "out = np.empty_like(a)",
        "for i in range(len(a)):",
        "    out[i] = a[i] if a[i] > 0 else -2 * a[i]",
        "return out",
    )
    differential_source(source, made(np.array([1.0, -2.0, 0.0])))


def test_conditional_expression_is_lazy() -> None:
    differential_source(lines("x", "return 1 / x if x != 0 else 0.0"), made(0), native=False)
    differential_source(lines("a, i", "return a[i] if i < len(a) else 0.0"), made(np.ones(2), 5), native=False)


def test_triangular_and_dependent_bounds() -> None:
    source = lines(
        "a", "n = a.shape[0]", "for i in range(n):", "    for j in range(i, n):",
        "        for k in range(j - i, j + 1):",
        "            a[i, j] += k",
    )  # fmt: skip
    differential_source(source, made(np.zeros((5, 5))))


def test_bounds_from_data() -> None:
    source = lines(
        "starts, out",
        "for i in range(len(starts) - 1):",
        "    for k in range(starts[i], starts[i + 1]):",
        "        out[k] = i",
    )
    differential_source(source, made(np.array([0, 2, 2, 5]), np.zeros(5)))


def test_loop_carried_scalar() -> None:
    source = lines(
        "a",
        "previous = a[0]",
        "for i in range(1, len(a)):",
        "    current = a[i]",
        "    a[i] = current - previous",
        "    previous = current",
    )
    differential_source(source, made(np.arange(9.0) ** 2))


def test_loop_reads_what_it_wrote() -> None:
    for body in ("a[i] = a[i - 1] + 1", "a[i] = a[i - 1] * a[i]", "a[i - 1] = a[i] + a[i - 1]", "a[i] += a[i - 2]"):
        differential_source(lines("a", "for i in range(2, len(a)):", f"    {body}"), made(np.arange(9.0)))


def test_assert() -> None:
    source = lines("x", "assert x > 0, 'positive please'", "return x * 2")
    differential_source(source, made(3))
    differential_source(source, made(-3), native=False)
    differential_source(lines("x", "assert x > 0", "return x"), made(-1), native=False)


@pytest.mark.parametrize(
    "statement", ["raise ValueError('no good')", "raise ValueError", "raise IndexError('x')", "raise RuntimeError()"]
)
def test_raise(statement: str) -> None:
    source = lines("x", "if x < 0:", f"    {statement}", "return x + 1")
    compiled = differential_source(source, made(3))
    plain = function_from_source(source)
    with pytest.raises(Exception) as seen:
        compiled(-1)
    with pytest.raises(Exception) as expected:
        plain(-1)
    assert type(seen.value) is type(expected.value) and seen.value.args == expected.value.args


def test_effects_before_an_exception_remain() -> None:
    source = lines("a", "for i in range(5):", "    a[i] = 7.0")
    differential_source(source, made(np.zeros(3)), native=False)


def test_delete_and_pass_and_docstring() -> None:
    source = 'def f(n):\n    """A docstring."""\n    pass\n    x = n + 1\n    "a string"\n    return x\n'
    differential_source(source, made(3))


def test_walrus_and_nested_conditions() -> None:
    source = lines("n", "total = 0", "while (step := n // 2) > 0:", "    total += step", "    n = step", "return total")
    differential_source(source, made(37), native=False)


def test_annotated_assignment() -> None:
    differential_source(
        lines("n: int, a: np.ndarray", "x: float = n * 1.5", "y: int", "y = 2", "return x + y"), made(3, np.zeros(2))
    )
