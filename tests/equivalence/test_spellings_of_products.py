"""Every spelling of a product reaches the library: which routine, and the values of NumPy, above and below the sizes at
which calls and blocks begin."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft.ir.program import Call
from weft.ir.walk import walk
from weft.pipeline import stages


def outer_products(c, a, b):
    for k in range(a.shape[1]):
        c += np.outer(a[:, k], b[k])


def rows_by_rows(c, a, b):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            c[i] += a[i, k] * b[k]


def dots(c, a, b):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] += a[i, :] @ b[:, j]


def einsum(c, a, b):
    c += np.einsum("ik,kj->ij", a, b)


def broadcast_sum(c, a, b):
    c += (a[:, :, None] * b[None, :, :]).sum(axis=1)


def scaled_terms(c, a, b):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] *= 1.2
            for k in range(a.shape[1]):
                c[i, j] += 1.5 * a[i, k] * b[k, j]


def loops_inside_out(c, a, b):
    for k in range(a.shape[1]):
        for j in range(b.shape[1]):
            for i in range(a.shape[0]):
                c[i, j] += a[i, k] * b[k, j]


def matrix_vector_by_rows(c, a, b):
    for i in range(a.shape[0]):
        c[0] += a[i] * b[0, i]


def syrk_loops(c, a, b):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[i, j] += 1.5 * a[i, k] * a[j, k]


def syrk_slices(c, a, b):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            c[i, : i + 1] += 1.5 * a[i, k] * a[: i + 1, k]


def syr2k_loops(c, a, b):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[i, j] += a[j, k] * 1.5 * b[i, k] + b[j, k] * 1.5 * a[i, k]


def symm_loops(c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = 0.0
            for k in range(i):
                c[k, j] += 1.5 * b[i, j] * a[i, k]
                total += b[k, j] * a[i, k]
            c[i, j] = 1.2 * c[i, j] + 1.5 * b[i, j] * a[i, i] + 1.5 * total


def trmm_loops(c, a, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            for k in range(i + 1, b.shape[0]):
                b[i, j] += a[k, i] * b[k, j]
            b[i, j] = 1.5 * b[i, j]


def trmm_slices(c, a, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    b *= 1.5


def covariance_loops(c, a, b):
    for i in range(a.shape[1]):
        for j in range(i, a.shape[1]):
            c[i, j] = 0.0
            for k in range(a.shape[0]):
                c[i, j] += a[k, i] * a[k, j]
            c[i, j] /= 3.0
            c[j, i] = c[i, j]


def cholesky_loops(c, a, b):
    for i in range(a.shape[0]):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = np.sqrt(a[i, i])


def cholesky_dots(c, a, b):
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, a.shape[0]):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])


def cholesky_right(c, a, b):
    n = a.shape[0]
    for k in range(n):
        a[k, k] = np.sqrt(a[k, k])
        a[k + 1 :, k] /= a[k, k]
        for j in range(k + 1, n):
            for i in range(j, n):
                a[i, j] -= a[i, k] * a[j, k]


def lu_loops(c, a, b):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]


def lu_slices(c, a, b):
    n = a.shape[0]
    for k in range(n):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])


def solve_many(c, a, b):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(i):
                b[i, j] -= a[i, k] * b[k, j]
            b[i, j] /= a[i, i]


TABLE: list[tuple[str, Callable[..., Any]]] = [
    ("gemm", outer_products),
    ("gemm", rows_by_rows),
    ("gemm", dots),
    ("gemm", einsum),
    ("gemm", broadcast_sum),
    ("gemm", scaled_terms),
    ("gemm", loops_inside_out),
    ("gemv", matrix_vector_by_rows),
    ("gemm", syrk_loops),
    ("gemm", syrk_slices),
    ("gemm", syr2k_loops),
    ("gemm", symm_loops),
    ("gemm", trmm_loops),
    ("gemm", trmm_slices),
    ("syrk", covariance_loops),
    ("syrk", cholesky_loops),
    ("syrk", cholesky_dots),
    ("syrk", cholesky_right),
    ("gemm", lu_loops),
    ("gemm", lu_slices),
    ("gemm", solve_many),
]


def arguments(size: int, dtype: type = np.float64) -> list[Any]:
    rng = np.random.default_rng(size)
    square = rng.random((size, size))
    definite = (square @ square.T / max(size, 1) + 2 * np.eye(size)).astype(dtype)
    return [rng.random((size, size)).astype(dtype), definite, rng.random((size, size)).astype(dtype)]


@pytest.mark.parametrize(("routine", "function"), TABLE, ids=[function.__name__ for _, function in TABLE])
def test_the_routine_of_a_spelling(routine: str, function: Callable[..., Any]) -> None:
    program = dict(stages(function, arguments(20)))["match"]
    assert routine in {node.routine for node in walk(program.body) if isinstance(node, Call)}


@pytest.mark.parametrize("function", [function for _, function in TABLE], ids=lambda function: function.__name__)
def test_values_of_a_spelling(function: Callable[..., Any]) -> None:
    compiled = weft.jit(fallback="error")(function)
    for size in (1, 5, 100):
        values = arguments(size)
        expected = copy.deepcopy(values)
        function(*expected)
        compiled(*values)
        for wanted, found in zip(expected, values):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


LAYOUTS = {
    "F": np.asfortranarray,
    "sliced": lambda a: np.repeat(np.repeat(a, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("function", [lu_loops, cholesky_right, trmm_loops, syr2k_loops], ids=lambda f: f.__name__)
def test_any_strides(function: Callable[..., Any], layout: str) -> None:
    values = [LAYOUTS[layout](value) for value in arguments(100)]
    expected = copy.deepcopy(values)
    function(*expected)
    weft.jit(fallback="error")(function)(*values)
    for wanted, found in zip(expected, values):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("function", [lu_loops, trmm_loops, symm_loops], ids=lambda f: f.__name__)
def test_arrays_that_share_memory(function: Callable[..., Any]) -> None:
    memory = np.random.default_rng(3).random((110, 100)) + 2 * np.eye(110, 100)
    expected = memory.copy()
    function(*[expected[first : first + 100] for first in (0, 5, 10)])
    weft.jit(function)(*[memory[first : first + 100] for first in (0, 5, 10)])
    np.testing.assert_allclose(memory, expected, rtol=1e-7)


@pytest.mark.parametrize("function", [trmm_loops, symm_loops, lu_loops, covariance_loops], ids=lambda f: f.__name__)
def test_what_is_not_finite_stays_where_it_belongs(function: Callable[..., Any]) -> None:
    values = arguments(100)
    values[2][50, 7] = np.nan
    values[1][80, 11] = np.inf
    expected = copy.deepcopy(values)
    with np.errstate(all="ignore"):
        function(*expected)
    weft.jit(fallback="error")(function)(*values)
    for wanted, found in zip(expected, values):
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-12)


def test_other_types() -> None:
    for dtype, tolerance in ((np.float32, 2e-3), (np.complex128, 1e-9)):
        for function in (outer_products, lu_slices, trmm_slices):
            values = arguments(100, dtype)
            expected = copy.deepcopy(values)
            function(*expected)
            weft.jit(fallback="error")(function)(*values)
            for wanted, found in zip(expected, values):
                assert found.dtype == dtype
                np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def test_integers_keep_their_loops() -> None:
    values = [(value * 100).astype(np.int64) for value in arguments(30)]
    assert not any(isinstance(node, Call) for node in walk(dict(stages(loops_inside_out, values))["match"].body))
