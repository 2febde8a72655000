"""New arrays: creation functions, copies, casts, shapes; which results are copies and which are views."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.samples import ALL, COMPLEX, LAYOUTS, ordinary
from tests.support import differential_source, lines, made

CREATION = (
    "np.zeros(n)", "np.zeros((n, 2))", "np.zeros((n, n), dtype=np.int32)", "np.zeros(n, np.bool_)", "np.ones((2, n))",
    "np.ones(n, dtype=np.complex128)", "np.full(n, 3)", "np.full((n, 2), 2.5)", "np.full(n, 7, dtype=np.uint8)",
    "np.full(n, x)", "np.arange(n)", "np.arange(1, n)", "np.arange(n, 0, -2)", "np.arange(0.0, 1.0, 0.25)",
    "np.arange(n, dtype=np.float32)", "np.arange(2.5)", "np.eye(n)", "np.eye(n, n + 1)", "np.eye(n, k=1)",
    "np.identity(n)", "np.eye(n, dtype=np.int64)", "np.zeros(0)", "np.zeros([n, 2])", "np.zeros(n, dtype=float)",
    "np.zeros(n, dtype=int)", "np.zeros(n, dtype='float32')",
)  # fmt: skip


@pytest.mark.parametrize("call", CREATION)
def test_creation(call: str) -> None:
    differential_source(lines("n, x", f"return {call}"), made(4, 1.5))


@pytest.mark.parametrize(
    "call", ["np.linspace(0.0, x, n)", "np.linspace(-1, 1, 5)", "np.linspace(x, 0.0, n, endpoint=False)"]
)
@pytest.mark.parametrize("n", [1, 2, 11])
def test_linspace(call: str, n: int) -> None:
    differential_source(lines("n, x", f"return {call}"), made(n, 1.7))


def test_empty_has_shape_and_dtype() -> None:
    source = lines(
        "n", "a = np.empty((n, 3), dtype=np.float32)", "a[:] = 2", "b = np.empty(n)", "b.fill(1.5)", "return a, b"
    )
    differential_source(source, made(4))


@pytest.mark.parametrize("dtype", ALL)
def test_like(dtype: str) -> None:
    source = lines(
        "a", "e = np.empty_like(a)", "e[:] = a", "return np.zeros_like(a), np.ones_like(a), np.full_like(a, 1), e"
    )
    differential_source(source, made(ordinary(dtype, (3, 4))))


def test_like_with_dtype() -> None:
    source = lines("a", "return np.zeros_like(a, dtype=np.int64), np.ones_like(a, dtype=np.float32)")
    differential_source(source, made(ordinary("float64", (3, 4))))


def test_negative_size_is_numpys_error() -> None:
    differential_source(lines("n", "return np.zeros(n)"), made(-1), native=False)


@pytest.mark.parametrize("target", ALL)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float32", "float64", "complex128"])
def test_astype(dtype: str, target: str) -> None:
    if dtype in COMPLEX and target not in COMPLEX + ("bool",):
        pytest.skip("NumPy warns and drops the imaginary part")
    # Values that the target can hold: a float beyond an integer's range is undefined in NumPy itself.
    values = np.abs(ordinary(dtype, 23)) if np.dtype(target).kind == "u" and dtype != "bool" else ordinary(dtype, 23)
    differential_source(lines("a", f"return a.astype(np.{np.dtype(target).name})"), made(values.astype(dtype)))


def test_narrowing_integers_wrap() -> None:
    make = made(np.array([300, -1, 2**40 + 5, -(2**33)]))
    differential_source(lines("a", "return a.astype(np.uint8), a.astype(np.int16), a.astype(np.uint64)"), make)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies(layout: str) -> None:
    place = LAYOUTS[layout]
    make = lambda: (place(ordinary("float64", (3, 5))),)
    source = lines(
        "a", "b = a.copy()", "b[0, 0] = 9.0", "c = np.copy(a)", "c += 1", "d = np.array(a)", "return b, c, d"
    )
    differential_source(source, make)


RESHAPES = (
    "a.reshape(6, 4)", "a.reshape((4, 6))", "a.reshape(-1)", "a.reshape(2, -1)", "a.reshape(2, 3, 4)",
    "np.reshape(a, (8, 3))",
    "a.ravel()", "a.flatten()", "a.reshape(24, 1)", "a.reshape(n, -1)",
)  # fmt: skip


@pytest.mark.parametrize("call", RESHAPES)
def test_reshape_of_a_contiguous_array(call: str) -> None:
    differential_source(lines("a, n", f"b = {call}", "return b * 2, b"), made(ordinary("float64", (4, 6)), 2))


@pytest.mark.parametrize("layout", ["fortran", "stepped", "reversed"])
def test_reshape_of_any_layout(layout: str) -> None:
    make = lambda: (LAYOUTS[layout](ordinary("float64", (4, 6))),)
    differential_source(lines("a", "return a.reshape(6, 4) + 1, a.ravel() * 2"), make, native=False)


def test_reshape_that_does_not_fit() -> None:
    differential_source(lines("a", "return a.reshape(5, 5)"), made(ordinary("float64", (4, 6))), native=False)


def test_writing_through_a_reshape() -> None:
    source = lines("a", "b = a.reshape(-1)", "b[3] = 9.0", "b += 1.0", "return b")
    differential_source(source, made(ordinary("float64", (4, 6))))


def test_attributes() -> None:
    source = lines("a", "return a.shape, a.ndim, a.size, len(a), a.shape[1], a.T.shape, a[0].shape")
    differential_source(source, made(ordinary("float64", (4, 6))))


@pytest.mark.parametrize(
    "call", ["np.array([1.0, 2.0, x])", "np.array([[1, 2], [3, 4]])", "np.array([n, 1])", "np.asarray([x, x])"]
)
def test_array_from_a_literal(call: str) -> None:
    differential_source(lines("n, x", f"return {call}"), made(4, 1.5), native=False)


@pytest.mark.parametrize(
    "call", ["np.concatenate((a, b))", "np.stack((a, b))", "np.hstack((a, b))", "np.vstack((a, b))", "np.tile(a, 2)"]
)
def test_joining(call: str) -> None:
    differential_source(lines("a, b", f"return {call}"), made(np.arange(3.0), np.ones(3)), native=False)


def test_views_returned_share_memory() -> None:
    source = lines("a", "return a, a[1:], a.T, a[::-1], a[:, 0], a[0], a[None], a[..., 1]")
    differential_source(source, made(ordinary("float64", (4, 6))))


def test_arguments_returned_are_the_same_objects() -> None:
    compiled = differential_source(lines("a, b", "a += 1", "return b, a"), made(np.zeros(3), np.ones(3)))
    one, other = np.zeros(3), np.ones(3)
    result = compiled(one, other)
    assert result[0] is other and result[1] is one
