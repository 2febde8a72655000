"""From a spelling to the library: slices, generators, tensors, batches, triangles by a condition, substitution forward
and backward, convolutions.  Which routine each becomes, and the values of those that take a way of their own."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft.ir.program import Call, Library
from weft.ir.walk import walk
from weft.pipeline import stages

RNG = np.random.default_rng(8)
SIZE = 20
Function = Callable[..., Any]


def matrix(*shape: int, dtype: type = np.float64) -> Any:
    return (RNG.random(shape) + (1j * RNG.random(shape) if dtype is np.complex128 else 0)).astype(dtype)


A, B, C, X = matrix(SIZE, SIZE), matrix(SIZE, SIZE), matrix(SIZE, SIZE), matrix(SIZE)
LONG = matrix(400)
STACK = matrix(3, SIZE, SIZE)


# --- products --------------------------------------------------------------------------------------------------------


def in_order_kji(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for k in range(a.shape[1]):
        for j in range(b.shape[1]):
            for i in range(a.shape[0]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def downward(a, b):
    c = np.zeros((a.shape[0], b.shape[1]), dtype=a.dtype)
    for i in range(a.shape[0] - 1, -1, -1):
        for j in range(b.shape[1]):
            for k in range(a.shape[1] - 1, -1, -1):
                c[i, j] += a[i, k] * b[k, j]
    return c


def with_while(a, b):
    n = a.shape[0]
    c = np.zeros((n, n))
    i = 0
    while i < n:
        j = 0
        while j < n:
            total = 0.0
            for k in range(n):
                total += a[i, k] * b[k, j]
            c[i, j] = total
            j += 1
        i += 1
    return c


def of_lists(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(len(b))) for j in range(len(b[0]))] for i in range(len(a))]


def sums_of_slices(a, b):
    c = np.empty((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = np.sum(a[i] * b[:, j])
    return c


def shifted_blocks(a, b, c):
    for i in range(3, 17):
        for j in range(5, 20):
            for k in range(2, 18):
                c[i - 1, j - 2] -= a[i + 2, k - 1] * b[k + 1, j]


def weighted(a, x, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * x[k] * b[k, j]
    return c


def batch_by_loops(a, b):
    c = np.zeros((a.shape[0], a.shape[1], b.shape[2]))
    for q in range(a.shape[0]):
        for i in range(a.shape[1]):
            for j in range(b.shape[2]):
                for k in range(a.shape[2]):
                    c[q, i, j] += a[q, i, k] * b[q, k, j]
    return c


def by_columns(a, x):
    y = np.zeros(a.shape[0])
    for k in range(a.shape[1]):
        y += x[k] * a[:, k]
    return y


def of_rows(a, x):
    return [sum(p * q for p, q in zip(row, x)) for row in a]


def accumulated(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


# --- triangles -------------------------------------------------------------------------------------------------------


def gram_both_halves(a):
    n = a.shape[1]
    c = np.zeros((n, n))
    for i in range(n):
        for j in range(i, n):
            c[i, j] = c[j, i] = np.dot(a[:, i], a[:, j])
    return c


def gram_added(c, a):
    for i in range(a.shape[0]):
        for j in range(i + 1):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * a[j, k]


def gram_without_diagonal(a):
    n = a.shape[0]
    c = np.ones((n, n))
    for i in range(n):
        for j in range(i):
            c[i, j] = a[i] @ a[j] / n
    return c


def upper_of_gram(a):
    return np.triu(a.T @ a)


def lower_of_product(a, b):
    return np.tril(a @ b, -1)


def two_products_by_side(a, b):
    at = np.arange(a.shape[0])
    return np.where(at[:, None] >= at[None, :], a @ b, a.T @ b)


def symmetric_by_branch(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                if k <= i:
                    c[i, j] += a[i, k] * b[k, j]
                else:
                    c[i, j] += a[k, i] * b[k, j]
    return c


def triangular_by_branch(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[0]):
                if k <= i:
                    c[i, j] += a[i, k] * b[k, j]
    return c


def triangular_on_the_right(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(j, a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


# --- substitution with many right-hand sides ------------------------------------------------------------------------


def forward_into(a, b):
    x = np.zeros_like(b)
    for j in range(b.shape[1]):
        for i in range(b.shape[0]):
            total = 0.0
            for k in range(i):
                total += a[i, k] * x[k, j]
            x[i, j] = (b[i, j] - total) / a[i, i]
    return x


def forward_lists(a, b):
    n, m = len(a), len(b[0])
    x = [[0.0] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            x[i][j] = (b[i][j] - sum(a[i][k] * x[k][j] for k in range(i))) / a[i][i]
    return x


def backward(a, b):
    for i in range(b.shape[0] - 1, -1, -1):
        for j in range(b.shape[1]):
            total = b[i, j]
            for k in range(i + 1, b.shape[0]):
                total -= a[i, k] * b[k, j]
            b[i, j] = total / a[i, i]


def backward_slices(a, b):
    for i in range(b.shape[0] - 1, -1, -1):
        b[i] = (b[i] - a[i, i + 1 :] @ b[i + 1 :]) / a[i, i]


def backward_transposed(a, b):
    for i in range(b.shape[0] - 1, -1, -1):
        for j in range(b.shape[1]):
            for k in range(i + 1, b.shape[0]):
                b[i, j] -= a[k, i] * b[k, j]
            b[i, j] /= a[i, i]


def backward_eliminating(a, b):
    for k in range(b.shape[0] - 1, -1, -1):
        b[k] /= a[k, k]
        for i in range(k):
            b[i] -= a[i, k] * b[k]


# --- convolutions ---------------------------------------------------------------------------------------------------


def layer(x, w):
    n, height, width, _ = x.shape
    y = np.zeros((n, height - 2, width - 2, w.shape[3]))
    for i in range(height - 2):
        for j in range(width - 2):
            y[:, i, j, :] = np.tensordot(x[:, i : i + 3, j : j + 3, :], w, axes=([1, 2, 3], [0, 1, 2]))
    return y


F32, COMPLEX = np.float32, np.complex128
TABLE: list[tuple[str, Function, tuple[Any, ...]]] = [
    ("gemm", in_order_kji, (A, B)),
    ("gemm", downward, (A, B)),
    ("gemm", downward, (matrix(SIZE, SIZE, dtype=F32), matrix(SIZE, SIZE, dtype=F32))),
    ("gemm", downward, (matrix(SIZE, SIZE, dtype=COMPLEX), matrix(SIZE, SIZE, dtype=COMPLEX))),
    ("", downward, ((10 * A).astype(np.int64), (10 * B).astype(np.int64))),
    ("gemm", with_while, (A, B)),
    ("gemm", of_lists, (A.tolist(), B.tolist())),
    ("gemm", sums_of_slices, (A, B)),
    ("gemm", shifted_blocks, (A, B, C)),
    ("gemm", weighted, (A, X, B)),
    ("gemm", lambda a, b: np.inner(a, b), (A, B)),
    ("gemm", lambda a, b: np.tensordot(a, b, axes=([0], [1])), (A, B)),
    ("gemm", lambda a, x, b: np.einsum("ik,k,kj->ij", a, x, b), (A, X, B)),
    ("gemm", lambda a, b: a.conj().T @ b, (matrix(SIZE, SIZE, dtype=COMPLEX), matrix(SIZE, SIZE, dtype=COMPLEX))),
    ("gemm", lambda a, b: a[::-1] @ b[:, ::-2], (A, B)),
    ("gemm", lambda a, b, c: 2.0 * (a @ b) + 3.0 * c, (A, B, C)),
    ("gemm", lambda a, b, x: np.maximum(a @ b + x, 0.0), (A, B, X)),
    ("gemm", lambda a, b, c: np.linalg.multi_dot([a, b, c]), (A, B, C)),
    ("gemm", lambda a, b: np.einsum("abk,abl->kl", a, b), (STACK, STACK)),
    ("gemm", lambda a, b: a @ b, (STACK, STACK)),
    ("gemm", lambda a, b: a @ b, (STACK, B)),
    ("gemm", batch_by_loops, (STACK, STACK)),
    ("gemv", by_columns, (A, X)),
    ("gemv", of_rows, (A.tolist(), X.tolist())),
    ("gemv", lambda a, x: (a * x).sum(axis=1), (A, X)),
    ("gemv", lambda a, x: np.einsum("ij,i", a, x), (A, X)),
    ("dot", accumulated, (LONG, LONG + 1)),
    ("dot", lambda x, y: sum(p * q for p, q in zip(x, y)), (LONG, LONG + 1)),
    ("dot", lambda x, y: np.sum(x * y), (LONG, LONG + 1)),
    ("syrk", gram_both_halves, (A,)),
    ("syrk", gram_added, (C, A)),
    ("syrk", gram_without_diagonal, (A,)),
    ("syrk", upper_of_gram, (A,)),
    ("gemm", lower_of_product, (A, matrix(SIZE, SIZE - 5))),
    ("gemm", two_products_by_side, (A, B)),
    ("gemm", symmetric_by_branch, (A, B)),
    ("gemm", triangular_by_branch, (A, B)),
    ("gemm", triangular_on_the_right, (A, B)),
    ("gemm", lambda a, b: np.tril(a) @ b, (A, B)),
    ("gemm", forward_into, (A, B)),
    ("gemm", forward_lists, (A.tolist(), B.tolist())),
    ("gemm", backward, (A, B)),
    ("gemm", backward_slices, (A, B)),
    ("gemm", backward_transposed, (A, B)),
    ("gemm", backward_eliminating, (A, B)),
    ("gemm", layer, (matrix(2, 9, 9, 4), matrix(3, 3, 4, 6))),
    ("sort_quicksort", lambda x: np.sort(x), (LONG,)),
    ("fft", lambda a: np.fft.fft(a, axis=0), (A,)),
]


def _name(row: tuple[str, Function, tuple[Any, ...]]) -> str:
    kind = getattr(row[2][0], "dtype", type(row[2][0]).__name__)
    return f"{row[0] or 'loops'}-{row[1].__name__.strip('<>')}-{kind}"


@pytest.mark.parametrize(("routine", "function", "arguments"), TABLE, ids=[_name(row) for row in TABLE])
def test_the_routine_of_a_spelling(routine: str, function: Function, arguments: tuple[Any, ...]) -> None:
    program = dict(stages(function, copy.deepcopy(arguments)))["match"]
    found = {node.routine for node in walk(program.body) if isinstance(node, (Call, Library))}
    assert routine in found if routine else not found


# --- values ----------------------------------------------------------------------------------------------------------

SOLVERS = (forward_into, backward, backward_slices, backward_transposed, backward_eliminating)
OTHERS = (
    gram_both_halves, gram_added, gram_without_diagonal, upper_of_gram, two_products_by_side, symmetric_by_branch,
    triangular_by_branch,
)  # fmt: skip


def _values(size: int, function: Function) -> list[Any]:
    rng = np.random.default_rng(size)
    first = rng.random((size, size)) + (size * np.eye(size) if function in SOLVERS else 0.0)
    return [first, rng.random((size, size))][: function.__code__.co_argcount]


def _assert_equal(function: Function, compiled: Function, values: list[Any]) -> None:
    expected = copy.deepcopy(values)
    with np.errstate(all="ignore"):
        wanted = function(*expected)
    found = compiled(*values)
    for one, other in zip((wanted, *expected), (found, *values)):
        assert (one is None) == (other is None)
        if one is not None:
            assert one.dtype == other.dtype
            np.testing.assert_allclose(other, one, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("function", (*SOLVERS, *OTHERS), ids=lambda function: function.__name__)
def test_values_of_a_spelling(function: Function) -> None:
    compiled = weft.jit(fallback="error")(function)
    for size in (0, 1, 2, 5, 70):
        _assert_equal(function, compiled, _values(size, function))
    values = _values(100, function)
    values[-1][70, 9] = np.nan
    values[-1][80, 99] = np.inf
    _assert_equal(function, compiled, values)
    _assert_equal(function, compiled, [np.asfortranarray(value) for value in _values(66, function)])


def test_a_square_of_many_terms_without_its_diagonal() -> None:
    compiled = weft.jit(fallback="error")(gram_without_diagonal)
    for shape in ((300, 40), (3, 400), (80, 300)):
        _assert_equal(gram_without_diagonal, compiled, [np.random.default_rng(1).random(shape[::-1])])


@pytest.mark.parametrize("function", (backward, forward_into, gram_added), ids=lambda function: function.__name__)
def test_arrays_that_share_memory(function: Function) -> None:
    memory = np.random.default_rng(3).random((110, 100)) + 200 * np.eye(110, 100)
    expected = memory.copy()
    wanted = function(expected[:100], expected[5:105])
    found = weft.jit(function)(memory[:100], memory[5:105])
    np.testing.assert_allclose(memory, expected, rtol=1e-7)
    if wanted is not None:
        np.testing.assert_allclose(found, wanted, rtol=1e-7)


def test_singular_substitution_from_lists_raises_as_python_does() -> None:
    size = 80
    lower = (np.tril(np.random.default_rng(2).random((size, size))) + np.eye(size)).tolist()
    lower[70][70] = 0.0
    sides = np.random.default_rng(4).random((size, 6)).tolist()
    with pytest.raises(ZeroDivisionError):
        forward_lists(lower, sides)
    with pytest.raises(ZeroDivisionError):
        weft.jit(forward_lists)(lower, sides)
