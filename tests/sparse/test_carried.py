"""Sparse matrices that loops rebind and branches merge."""

from __future__ import annotations

import numpy as np
import pytest

import weft.errors
from tests.sparse.sparse_support import agree, compiled_source, random_sparse, same

SIZE = 20
PROGRAMS = {
    "powers": """
def f(S, n):
    M = S.copy()
    for _ in range(n):
        M = M @ S
    return M
""",
    "squares of an argument": """
def f(S, n):
    for _ in range(n):
        S = S @ S
    return S.sum(axis=0)
""",
    "scaled": """
def f(S, n):
    M = S
    k = 0
    while k < n:
        M = M.multiply(0.5)
        k += 1
    return M.sum(axis=0), M * 2
""",
    "one of two": """
def f(S, n):
    if n > 2:
        M = S * 2
    else:
        M = S + S.T
    return M @ np.ones(20)
""",
    "sometimes": """
def f(S, n):
    M = S * 1
    if n > 2:
        M = M + S
    return M
""",
    "flow": """
def f(S, n):
    M = abs(S)
    for _ in range(n):
        M = M @ M
        M = M.power(2)
        M = M.multiply(1 / (M.sum(axis=0) + 1e-9)).tocsr()
    return M.toarray()
""",
    "series": """
def f(S, n):
    T = S * 0.5
    A = S * 0.5
    for k in range(n):
        A = A + T
        T = T @ S * (1.0 / (k + 2))
    return A
""",
    "pruned": """
def f(S, n):
    M = S.copy()
    for k in range(n):
        M.data = M.data - 0.5
        M = M.maximum(0.0)
    return M
""",
    "values in place": """
def f(S, n):
    M = S.copy()
    for k in range(n):
        M = M @ S
        M.data = np.minimum(M.data, 1.0)
        M.eliminate_zeros()
    return M, M.nnz
""",
    "frontier": """
def f(S, n):
    seen = np.zeros(20)
    F = S.copy()
    for k in range(n):
        F = F @ S
        for i in range(20):
            for p in range(F.indptr[i], F.indptr[i + 1]):
                seen[F.indices[p]] += F.data[p]
    return seen
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    plain, compiled = compiled_source(PROGRAMS[name])
    for kind in ("csr_array", "csc_matrix") if name in ("scaled", "sometimes") else ("csr_array",):
        for steps in (3, 0, 1):
            agree(plain, compiled, random_sparse(kind, (SIZE, SIZE)), steps, tolerance=1e-9)


#: What Python runs, with the same answer: another format, size or type later; a matrix that may be the argument.
LEFT = {
    "another format": "def f(S, n):\n    for _ in range(n):\n        S = S.T\n    return S.toarray()\n",
    "another size": "def f(S, n):\n    for _ in range(n):\n        S = S[1:, 1:]\n    return S.toarray()\n",
    "another type": "def f(S, n):\n    M = S > 0\n    for _ in range(n):\n        M = M * 0.5\n    return M\n",
    "an argument": "def f(S, n):\n    M = S\n    for _ in range(n):\n        M = M * 2\n    return M\n",
    "made in the loop": "def f(S, n):\n    for k in range(n):\n        M = S * (k + 1.0)\n    return M.sum()\n",
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_to_python(name: str) -> None:
    plain, compiled = compiled_source(LEFT[name], fallback="silent")
    for steps in (2, 1):
        agree(plain, compiled, random_sparse("csr_array", (SIZE, SIZE)), steps)
    _, strict = compiled_source(LEFT[name])
    with pytest.raises(weft.errors.Unsupported):
        strict(random_sparse("csr_array", (SIZE, SIZE)), 2)


def test_another_name_keeps_the_matrix_from_before() -> None:
    loop = "    for _ in range(n):\n        T = M\n        M = M @ S\n"
    plain, compiled = compiled_source(
        f"def f(S, n):\n    M = S * 2\n{loop}    return (T + M).sum()\n", fallback="silent"
    )
    matrix = random_sparse("csr_array", (SIZE, SIZE))
    agree(plain, compiled, matrix, 3)


def test_the_order_of_a_carried_matrix_is_not_shown() -> None:
    loop = "    for _ in range(n):\n        M = M @ S\n        N = M > 1\n        total += N.sum() * M.indices[0]\n"
    plain, compiled = compiled_source(
        f"def f(S, n):\n    M = S.copy()\n    total = 0\n{loop}    return total\n", fallback="silent"
    )
    agree(plain, compiled, random_sparse("csr_array", (SIZE, SIZE)), 2)


def test_the_argument_itself_comes_back() -> None:
    _, compiled = compiled_source(LEFT["an argument"], fallback="silent")
    matrix = random_sparse("csr_array", (SIZE, SIZE))
    assert compiled(matrix, 0) is matrix
    same(compiled(matrix, 1), matrix * 2)
    assert np.array_equal(matrix.data, random_sparse("csr_array", (SIZE, SIZE)).data)
