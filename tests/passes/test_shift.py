"""Shifted fusion: loops that differ by a few iterations share the others, for every size, and only where they may."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.lowering import assert_same, loops, program
from weft.ir.program import LoopKind, Program

SIZES = (0, 1, 2, 3, 4, 5, 6, 9)


def vectors(body: str) -> Program:
    return program({"a": ("f64", 1), "b": ("f64", 1), "c": ("f64", 1)}, body)


def arguments(n: int) -> dict[str, object]:
    rng = np.random.default_rng(n)
    return {"a": rng.random(n + 4), "b": rng.random(n + 4), "c": rng.random(n + 4)}


def parallel_loops(before: Program) -> int:
    after = None
    for n in SIZES:
        after = assert_same(before, arguments(n))
    assert after is not None
    return len(loops(after, LoopKind.PARALLEL))


@pytest.mark.parametrize(
    "one, two",
    [
        ("0 <= i < a_0", "0 <= k < a_0 - 1"),  # the second is shorter
        ("0 <= i < a_0 - 2", "0 <= k < a_0"),  # the first is shorter
        ("0 <= i < a_0", "2 <= k < a_0 - 1"),  # the second is inside the first
        ("1 <= i < a_0 - 3", "0 <= k < a_0"),  # the first is inside the second
        ("1 <= i < a_0", "0 <= k < a_0 - 1"),  # each has an end of its own
        ("0 <= i < a_0 - 4", "4 <= k < a_0"),  # they may have nothing in common
    ],
)
@pytest.mark.parametrize("read", ["b", "a"])
def test_the_iterations_of_both_are_shared(one: str, two: str, read: str) -> None:
    body = f"""
      b[i] = a[i] * 2.0_f64   for i: {one}
      c[k] = {read}[k] + 1.0_f64   for k: {two}
    """
    assert parallel_loops(vectors(body)) == 1


def test_updates_in_place_happen_once() -> None:
    body = """
      b[i] = b[i] + a[i]   for i: 0 <= i < a_0
      c[k] = c[k] + b[k]   for k: 1 <= k < a_0 - 1
    """
    assert parallel_loops(vectors(body)) == 1


def test_what_is_displaced_meets_its_element() -> None:
    """b[i + 1] and c[k]: the second loop runs one iteration behind the first."""
    body = """
      b[i + 1] = a[i] * 2.0_f64   for i: 0 <= i < a_0 - 1
      c[k] = b[k] + a[k]   for k: 1 <= k < a_0
    """
    assert parallel_loops(vectors(body)) == 1


@pytest.mark.parametrize(
    "body",
    [
        "b[i] = a[i] + 1.0_f64   for i: 1 <= i < a_0\nc[k] = b[k - 1]   for k: 1 <= k < a_0",
        "b[i] = a[i - 1]   for i: 1 <= i < a_0\na[k] = 0.0_f64   for k: 1 <= k < a_0",
    ],
)
def test_loops_of_one_length_may_be_displaced(body: str) -> None:
    assert parallel_loops(vectors(body)) == 1


@pytest.mark.parametrize(
    "second",
    [
        "c[k] = b[k] + b[k + 1]   for k: 0 <= k < a_0 - 1",  # two elements of the first loop
        "c[k] = b[a_0 - 1 - k]   for k: 1 <= k < a_0",  # from the other end
        "b[k] = c[k] + b[k - 1]   for k: 1 <= k < a_0",  # overwrites what others read
        "c[k] = b[2]   for k: 1 <= k < a_0 - 1",  # one element for all
        "c[k] = b[k]   for k: 0 <= k < a_0 // 2",  # of another length
        "c[k] = b[k]   for k: 0 <= k < a_0 - 9",  # too far apart
    ],
)
def test_stays_apart(second: str) -> None:
    before = vectors(f"b[i] = a[i] * 2.0_f64   for i: 0 <= i < a_0\n{second}")
    after = None
    for n in (5, 6, 9):
        after = assert_same(before, arguments(n))
    assert after is not None
    first = [loop for loop in loops(after) if "i" in loop.dim.var]
    other = [loop for loop in loops(after) if loop.dim.var.startswith("k")]
    assert first and other


def test_an_element_that_only_the_ends_touch_keeps_its_order() -> None:
    """Every b[i] is a[0]'s old value; the first iteration of the second loop then changes a[0]."""
    body = """
      b[i] = a[i] + a[0]   for i: 1 <= i < a_0
      a[k] = c[k] * 2.0_f64   for k: 0 <= k < a_0
    """
    for n in SIZES:
        assert_same(vectors(body), arguments(n))


def test_rows_of_matrices() -> None:
    before = program(
        {"a": ("f64", 2), "b": ("f64", 2), "c": ("f64", 2)},
        """
          b[i, j] = a[i, j] * 2.0_f64   for i: 0 <= i < a_0, j: 0 <= j < a_1
          c[k, l] = b[k, l] + a[k, l + 1] - a[k, l - 1]   for k: 1 <= k < a_0 - 1, l: 1 <= l < a_1 - 1
        """,
    )
    for n in SIZES:
        rng = np.random.default_rng(n)
        shape = (n, n + 2)
        after = assert_same(before, {"a": rng.random(shape), "b": rng.random(shape), "c": rng.random(shape)})
        assert len([loop for loop in loops(after, LoopKind.PARALLEL) if loop.dim.var in ("i", "k")]) == 1
