"""Whole programs over sparse and dense operands: native, right, and without the dense intermediates of their one-line
forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from tests.sparse.sparse_support import agree, compiled_source, operator, random_sparse, sp

programs = pytest.importorskip("benchmarks.sparse.programs")

RNG = np.random.default_rng(5)
SIZE = 40


def _graph() -> Any:
    one = random_sparse("csr_array", (SIZE, SIZE), density=0.15)
    both = sp.csr_array(one + one.T)
    both.data[:] = 1.0
    return both


def _definite() -> Any:
    return sp.csr_array(_graph() + sp.eye_array(SIZE) * SIZE)


#: Functions of the benchmark, and source texts of `f`.
PROGRAMS: dict[str, tuple[Callable[..., Any] | str, tuple[Any, ...]]] = {
    "word mover's distance": (
        programs.sinkhorn,
        (
            RNG.random((7, SIZE)) + 0.1, RNG.random((7, SIZE)), RNG.random((7, 1)) + 0.1,
            abs(random_sparse("csr_array", (SIZE, 9), density=0.3)), np.ones((7, 9)) / 7, 5,
        ),
    ),
    "page rank": (
        programs.page_rank,
        (_graph(), 0.85, 10),
    ),
    "conjugate gradients": (
        programs.conjugate_gradient,
        (_definite(), RNG.random(SIZE), 1e-18, 50),
    ),
    "softmax by rows": (
        """
def f(S):
    top = np.zeros(S.shape[0])
    for i in range(S.shape[0]):
        m = -np.inf
        for p in range(S.indptr[i], S.indptr[i + 1]):
            m = max(m, S.data[p])
        top[i] = m
    E = S.copy()
    E.data = np.exp(S.data - np.repeat(top, np.diff(S.indptr)))
    return E.multiply(1 / E.sum(axis=1)[:, None])
""",
        (random_sparse("csr_array", (SIZE, SIZE), density=0.3),),
    ),
    "graph convolution": (
        programs.graph_convolution,
        (sp.csr_array(_graph() + sp.eye_array(SIZE)), RNG.random((SIZE, 5)), RNG.random((5, 4))),
    ),
    "triangles": (programs.triangles, (sp.csr_array(sp.tril(_graph(), -1)),)),
    "label propagation": (
        programs.label_propagation,
        (sp.csr_array(_graph() + sp.eye_array(SIZE)), RNG.random((SIZE, 3)), 0.9, 5),
    ),
    "Khatri-Rao product of a tensor": (
        """
def f(i, j, k, v, B, C, n):
    out = np.zeros((n, B.shape[1]))
    for p in range(len(v)):
        out[i[p]] += v[p] * B[j[p]] * C[k[p]]
    return out
""",
        (
            RNG.integers(0, 5, 40), RNG.integers(0, 6, 40), RNG.integers(0, 7, 40), RNG.random(40), RNG.random((6, 3)),
            RNG.random((7, 3)), 5,
        ),
    ),
    "Laplacian": ("def f(A):\n    return sp.diags_array(A.sum(axis=1)) - A\n", (_graph(),)),
    "soft thresholding": (
        """
def f(A, b, weight, step, steps):
    x = np.zeros(A.shape[1])
    for _ in range(steps):
        z = x - step * (A.T @ (A @ x - b))
        x = np.sign(z) * np.maximum(np.abs(z) - weight * step, 0)
    return x
""",
        (_graph(), RNG.random(SIZE), 0.1, 0.01, 5),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    program, arguments = PROGRAMS[name]
    if isinstance(program, str):
        plain, compiled = compiled_source(program)
    else:
        plain, compiled = program, weft.jit(fallback="error")(program)
    agree(plain, compiled, *arguments, tolerance=1e-9)


def test_the_dense_product_is_formed_only_where_entries_are() -> None:
    plain, compiled = compiled_source(operator("S, A, B", "S.multiply(A @ B)"))
    matrix = random_sparse("csr_array", (SIZE, SIZE))
    agree(plain, compiled, matrix, RNG.random((SIZE, 6)), RNG.random((6, SIZE)))
    assert "product" not in compiled.inspect("ir")


def test_scaled_rows_need_no_copy_of_the_places() -> None:
    _, compiled = compiled_source(operator("S, y, x", "(sp.diags_array(y) @ S) @ x"))
    compiled(random_sparse("csr_array", (SIZE, SIZE)), np.ones(SIZE), np.ones(SIZE))
    assert "copy" not in compiled.inspect("ir") and "entries" not in compiled.inspect("ir")
