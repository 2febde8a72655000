"""An index out of bounds is an IndexError with NumPy's or Python's message, and memory around the array stays as it
was.
"""

from __future__ import annotations

import numpy as np
import pytest

import weft
from tests.support import compare, differential_source, function_from_source, lines, made, outcome

GUARD = -12345.0


def _guarded(n: int) -> tuple[np.ndarray, np.ndarray]:
    """A small array in the middle of a larger one whose rest must never change."""
    whole = np.full(n + 64, GUARD)
    inside = whole[32 : 32 + n]
    inside[:] = np.arange(n)
    return whole, inside


WRITES = (
    ("for i in range(len(a) + 1):", "    a[i] = 1.0"),
    ("for i in range(2 * len(a)):", "    a[i] += 1.0"),
    ("for i in range(-len(a) - 1, 0):", "    a[i] = 2.0"),
    ("for i in range(len(a)):", "    a[i + 1] = a[i]"),
    ("for i in range(len(a)):", "    a[2 * i] = 1.0"),
    ("for i in range(n):", "    a[i] = i"),
    ("i = 0", "while i <= len(a):", "    a[i] = 3.0", "    i += 1"),
    ("a[n] = 1.0",),
    ("a[-n] = 1.0",),
    ("for i in range(len(a)):", "    for j in range(i + 2):", "        a[j] += 1.0"),
    ("for i in range(3):", "    a[a.shape[0] - 1 + i] = 5.0"),
)


@pytest.mark.parametrize("body", WRITES, ids=lambda body: " ".join(part.strip() for part in body))
def test_write_out_of_bounds(body: tuple[str, ...]) -> None:
    function = function_from_source(lines("a, n", *body))
    compiled = weft.jit(fallback="silent")(function)
    for n in (9, 8):  # one beyond the array: 9 fails everywhere; and again, from the cache
        whole_plain, inside_plain = _guarded(8)
        whole, inside = _guarded(8)
        expected = outcome(function, (inside_plain, n))
        actual = outcome(compiled, (inside, n))
        assert compare(actual, expected) is None
        assert isinstance(expected.error, IndexError) or "range(n)" in body[0] or len(body) == 1
        np.testing.assert_array_equal(whole, whole_plain)


READS = (
    "a[i]", "a[i + 1]", "a[-i - 1]", "a[2 * i]", "a[i // 2 + 5]", "a[k[i]]", "a[len(a) - i]",
)  # fmt: skip


@pytest.mark.parametrize("text", READS)
def test_read_out_of_bounds(text: str) -> None:
    source = lines("a, k, n", "total = 0.0", "for i in range(n):", f"    total += {text}", "return total")
    for n in (0, 1, 3, 20):
        make = made(np.arange(6.0), np.array([0, 5, -6, 6, 1, 2, 3]), n)
        differential_source(source, make, native=False, tolerance=1e-14)


@pytest.mark.parametrize("index", [5, -6, 100, 2**40, -(2**62)])
def test_message_names_index_axis_and_size(index: int) -> None:
    differential_source(lines("a, i", "return a[i]"), made(np.zeros(5), index), native=False)
    differential_source(lines("a, i", "return a[0, i]"), made(np.zeros((2, 5)), index), native=False)
    differential_source(lines("a, i", "return a[i, 0]"), made(np.zeros((5, 2)), index), native=False)
    differential_source(lines("a, i", "a[i] = 1"), made([1, 2, 3], index), native=False)


def test_index_array_out_of_bounds() -> None:
    source = lines("a, k", "for i in range(len(k)):", "    a[k[i]] = i")
    differential_source(source, made(np.zeros(4), np.array([0, 1, 7, 2])), native=False)


def test_columns_of_a_csr_matrix_out_of_bounds() -> None:
    from tests.apps.kernels.discrete import csr_matvec_loops

    arguments = (np.array([0, 2, 3]), np.array([0, 9, 1]), np.ones(3), np.ones(2))
    compiled = weft.jit(csr_matvec_loops)
    assert compare(outcome(compiled, arguments), outcome(csr_matvec_loops, arguments)) is None


def test_list_index_out_of_range() -> None:
    differential_source(lines("a, i", "return a[i]"), made([1.0, 2.0], 2), native=False)
    differential_source(lines("a", "for i in range(3):", "    a[i] = 0.0"), made([1.0, 2.0]), native=False)


def test_guard_of_a_hoisted_check_runs_the_effects_before_the_error() -> None:
    """Elements before the bad index have been written when the exception arrives, as in Python."""
    source = lines("a, b", "for i in range(10):", "    a[i] = b[i] + 1")
    differential_source(source, made(np.zeros(20), np.arange(7.0)), native=False)


def test_slices_are_never_out_of_bounds() -> None:
    source = lines("a, i, j", "return a[i:j].sum(), a[i:].copy()")
    compiled = differential_source(source, made(np.arange(5.0), 1, 3))
    plain = function_from_source(source)
    for i in (-100, -3, 0, 4, 5, 100):
        for j in (-100, -1, 0, 3, 100):
            arguments = (np.arange(5.0), i, j)
            assert compare(outcome(compiled, arguments), outcome(plain, arguments)) is None


MISMATCHES = (
    ("return a + b", (3,), (4,)), ("a += b", (3,), (4,)), ("a[:] = b", (3,), (4,)), ("a[1:] = b", (4,), (4,)),
    ("return a @ b", (2, 3), (2, 3)),
    ("return np.where(a > 0, a, b)", (2, 3), (2, 4)), ("return np.maximum(a, b)", (2,), (3,)), ("a[0] = b", (3, 2),
    (3,)),
    ("a += b", (3,), (2, 3)), ("return np.dot(a, b)", (3,), (4,)), ("a[:, 0] = b", (3, 2), (2,)),
    ("return (a * b).sum()", (5,), (3,)),
)  # fmt: skip


@pytest.mark.parametrize(("text", "one", "other"), MISMATCHES, ids=str)
def test_mismatched_shapes(text: str, one: tuple[int, ...], other: tuple[int, ...]) -> None:
    make = made(np.ones(one), np.ones(other))
    differential_source(lines("a, b", text), make, native=False)


def test_mismatch_after_a_good_call() -> None:
    compiled = differential_source(lines("a, b", "c = a * 2", "return c + b"), made(np.ones(3), np.ones(3)))
    with pytest.raises(ValueError, match="could not be broadcast together"):
        compiled(np.ones(3), np.ones(4))
    np.testing.assert_array_equal(compiled(np.ones(1), np.ones(4)), np.full(4, 3.0))


def test_wrong_rank_and_type_after_compilation() -> None:
    source = lines("a, i", "return a[i] + 1")
    compiled = differential_source(source, made(np.arange(4.0), 2), native=False)
    plain = function_from_source(source)
    for arguments in (
        (np.ones((3, 4)), 1), (np.arange(4), 1), ([1, 2, 3], 1), ((1.5, 2.5), 0), (np.arange(4.0), 1.5),
        (3.0, 0), ({1: 2}, 1),
        (np.arange(4.0), "x"), (np.arange(4.0), None), (np.arange(4.0), slice(1, 3)),
        (np.zeros((2, 2, 2, 2)), (0, 1)), ("text", 1),
    ):  # fmt: skip
        why = compare(outcome(compiled, arguments), outcome(plain, arguments))
        assert why is None, f"{arguments}: {why}"
