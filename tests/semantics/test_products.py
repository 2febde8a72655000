"""Matrix products at sizes that go to the library, in the forms that have a route of their own: a matrix with its own
transpose, triangles, batches, products finished in place; and loops that are cut where their iterations meet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import same_as_plain

RNG = np.random.default_rng(5)
SIZES = [(0, 3), (3, 0), (1, 1), (5, 3), (47, 50), (130, 41)]
DTYPES = [np.float64, np.float32, np.complex128]


def matrix(shape: tuple[int, ...], dtype: type, order: str = "C") -> np.ndarray:
    """An array of this memory order, the same at each call."""
    rng = np.random.default_rng(5)
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    if order == "sliced":
        wide = np.zeros(tuple(2 * n for n in shape), dtype)
        wide[tuple(slice(None, None, 2) for _ in shape)] = values
        return wide[tuple(slice(None, None, 2) for _ in shape)]
    if order == "reversed":
        return np.ascontiguousarray(values.astype(dtype))[::-1]
    return np.array(values, dtype, order="F" if order == "F" else "C")


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    return weft.jit(fallback="error")(function)


def tolerance(dtype: type) -> float:
    return 2e-4 if np.dtype(dtype).itemsize <= 8 and dtype is not np.float64 else 1e-11


# --- a matrix with its own transpose ---------------------------------------------------------------------------------


def rows_with_rows(a):
    return a @ a.T


def columns_with_columns(a):
    return a.T @ a


def scaled(a):
    return (a.T @ a) * 0.25 + 1.0


def part_of_it(a):
    return a[1:] @ a[1:].T


def two_parts(a):
    return a[1:] @ a[:-1].T


def added_to(a):
    out = np.ones((a.shape[0], a.shape[0]), a.dtype)
    out += a @ a.T
    return out


def by_loops(a):
    n, m = a.shape
    out = np.zeros((m, m))
    for i in range(m):
        for j in range(m):
            for k in range(n):
                out[i, j] += a[k, i] * a[k, j]
    return out


GRAM = [rows_with_rows, columns_with_columns, scaled, part_of_it, two_parts, added_to]


@pytest.mark.parametrize("order", ["C", "F", "sliced", "reversed"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", GRAM)
def test_a_matrix_with_its_own_transpose(function: Callable[..., Any], dtype: type, order: str) -> None:
    native = compiled(function)
    for size in SIZES[3:]:
        same_as_plain(native, function, lambda size=size: (matrix(size, dtype, order),), tolerance(dtype))


def test_the_product_with_its_own_transpose_is_symmetric() -> None:
    result = compiled(columns_with_columns)(RNG.standard_normal((90, 77)))
    assert np.array_equal(result, result.T)


def test_the_same_by_loops() -> None:
    native = compiled(by_loops)
    for size in SIZES:
        same_as_plain(native, by_loops, lambda size=size: (matrix(size, np.float64),), 1e-11)


# --- triangles -------------------------------------------------------------------------------------------------------


def upper(a):
    m = a.shape[1]
    out = np.zeros((m, m))
    for i in range(m):
        out[i, i:] = a[:, i] @ a[:, i:]
    return out


def strictly_upper_and_mirrored(a):
    n, m = a.shape
    out = np.eye(m)
    for i in range(m - 1):
        out[i + 1 : m, i] = out[i, i + 1 : m] = a[:, i] @ a[:, i + 1 : m] / n
    return out


def lower_by_loops(a):
    n, m = a.shape
    out = np.full((m, m), 7.0)
    for i in range(m):
        for j in range(i + 1):
            total = 0.0
            for k in range(n):
                total += a[k, i] * a[k, j]
            out[i, j] = 2.0 * out[i, j] - total
    return out


def against_the_diagonal(a):
    n, m = a.shape
    out = np.zeros((m, m))
    for i in range(m):
        for j in range(m - 1 - i, m):
            for k in range(n):
                out[i, j] += a[k, i] * a[k, j]
    return out


@pytest.mark.parametrize("order", ["C", "F", "sliced", "reversed"])
@pytest.mark.parametrize("function", [upper, strictly_upper_and_mirrored, lower_by_loops, against_the_diagonal])
def test_triangles_of_a_product(function: Callable[..., Any], order: str) -> None:
    native = compiled(function)
    for size in ((1, 1), (5, 3), (33, 70), (41, 130)):
        same_as_plain(native, function, lambda size=size: (matrix(size, np.float64, order),), 1e-11)


# --- batches, and products that end in place -------------------------------------------------------------------------


def batched(a, b):
    return a @ b


def batched_in_place(a, b):
    a[:] = a @ b[0]


def batched_by_loops(a, b):
    layers, n, m = a.shape
    row = np.zeros(m)
    for layer in range(layers):
        for i in range(n):
            for j in range(m):
                row[j] = 0.0
                for k in range(m):
                    row[j] += a[layer, i, k] * b[0, k, j]
            for j in range(m):
                a[layer, i, j] = row[j]


def row_is_used_later(a, b):
    layers, n, m = a.shape
    row = np.zeros(m)
    for layer in range(layers):
        for i in range(n):
            for j in range(m):
                row[j] = a[layer, i, j] * b[0, 0, j]
            for j in range(m):
                a[layer, i, j] = row[m - 1 - j]
    return row


def rectified(a, b):
    return np.maximum(a @ b + b[0, 0], 0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", [batched, batched_in_place, batched_by_loops, row_is_used_later, rectified])
def test_batches(function: Callable[..., Any], dtype: type) -> None:
    if dtype is np.float32 and function in (batched_by_loops, row_is_used_later):
        pytest.skip("sums of single precision in a row of doubles")
    native = compiled(function)
    for shape in ((1, 1, 1), (3, 4, 4), (40, 24, 24), (3, 70, 70)):
        same_as_plain(
            native, function, lambda shape=shape: (matrix(shape, dtype), matrix(shape, dtype) + 1), tolerance(dtype)
        )


def into_the_target(a, b, c, x):
    c[:] = np.exp((a @ b) * 0.01) + x


@pytest.mark.parametrize("order", ["C", "F", "sliced"])
def test_a_product_finished_in_the_target(order: str) -> None:
    native = compiled(into_the_target)
    for n in (1, 4, 40):

        def make(n: int = n) -> tuple[np.ndarray, ...]:
            return *(matrix((n, n), np.float64, order) for _ in range(3)), matrix((n,), np.float64)

        same_as_plain(native, into_the_target, make, 1e-11)


def test_the_target_may_be_an_operand_too() -> None:
    native = compiled(into_the_target)
    for n in (1, 4, 40):

        def make(n: int = n) -> tuple[np.ndarray, ...]:
            same = matrix((n, n), np.float64)
            return same, same, same, matrix((n,), np.float64)

        same_as_plain(native, into_the_target, make, 1e-11)


# --- loops cut where their iterations meet ---------------------------------------------------------------------------


def shortest_paths(path):
    n = len(path)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if path[i][k] + path[k][j] < path[i][j]:
                    path[i][j] = path[i][k] + path[k][j]


def eliminate(a):
    n, m = a.shape
    for k in range(n):
        for i in range(n):
            for j in range(m):
                a[i, j] = a[i, j] - a[i, k] * a[k, j] * 0.01


def by_one_element(x, p):
    for i in range(len(x)):
        x[i] = x[i] * 2 + x[p]


def part_by_one_element(x, p, q):
    for i in range(q, len(x)):
        x[i] += x[p]


@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.int8])
@pytest.mark.parametrize("order", ["C", "F", "sliced"])
def test_shortest_paths_also_with_negative_circles(dtype: type, order: str) -> None:
    native = compiled(shortest_paths)
    for n, least in ((1, -1), (2, -2), (9, 1), (9, -2), (20, 1)):

        def make(n: int = n, least: int = least) -> tuple[np.ndarray]:
            path = (matrix((n, n), np.float64, order) * 5 + 10 + least).astype(dtype, order="K")
            return (np.repeat(np.repeat(path, 2, 0), 2, 1)[::2, ::2] if order == "sliced" else path,)

        same_as_plain(native, shortest_paths, make)


def test_shortest_paths_of_lists() -> None:
    native = compiled(shortest_paths)
    for n in (1, 7):
        path = RNG.integers(-1, 30, (n, n)).tolist()
        same_as_plain(native, shortest_paths, lambda path=path: ([list(row) for row in path],))


def test_elimination_of_whole_rows() -> None:
    native = compiled(eliminate)
    for shape in ((1, 1), (3, 7), (8, 8)):
        same_as_plain(native, eliminate, lambda shape=shape: (matrix(shape, np.float64),), 1e-12)


@pytest.mark.parametrize("n", [1, 2, 9])
def test_the_element_may_be_anywhere(n: int) -> None:
    whole, part = compiled(by_one_element), compiled(part_by_one_element)
    for p in (*range(-n - 1, n + 1),):
        same_as_plain(whole, by_one_element, lambda p=p: (np.arange(1.0, n + 1), p))
        for q in (0, 1, 5):
            same_as_plain(part, part_by_one_element, lambda p=p, q=q: (np.arange(1.0, n + 1), p, q))
