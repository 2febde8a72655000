"""Chains of products and products under masks, as a whole: SciPy's answers, also where skipping would change one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.sparse.sparse_support import agree, compiled_source, operator, random_sparse, sp

RNG = np.random.default_rng(8)
SIZE = 30


def test_chains_in_either_order() -> None:
    plain, compiled = compiled_source(operator("A, S, B", "A @ S @ B"))
    matrix = random_sparse("csr_array", (SIZE, 20))
    for rows, columns in ((4, 9), (9, 4), (1, 1)):
        agree(plain, compiled, RNG.random((rows, SIZE)), matrix, RNG.random((20, columns)))
    plain, compiled = compiled_source(operator("S, A, x", "S @ A @ x"))
    agree(plain, compiled, matrix, RNG.random((20, 7)), RNG.random(7))
    with pytest.raises(ValueError):
        compiled(matrix, RNG.random((20, 7)), RNG.random(6))
    empty = sp.csr_array((0, 20))
    agree(plain, compiled, empty, RNG.random((20, 7)), RNG.random(7))


def _mask(kind: str) -> Any:
    mask = random_sparse("csr_array", (SIZE, SIZE), density=0.3, seed=3)
    if kind == "infinite":
        mask.data[4] = np.inf
    elif kind == "empty":
        mask = sp.csr_array((SIZE, SIZE))
    elif kind == "whole numbers":
        mask = mask.astype(np.int64)
    return mask


@pytest.fixture(scope="module")
def masked() -> Any:
    return compiled_source(operator("P, Q, M", "(P @ Q).multiply(M).sum()"))


@pytest.mark.parametrize("kind", ["plain", "infinite", "empty", "whole numbers"])
def test_sums_under_masks(masked: Any, kind: str) -> None:
    left, right = (random_sparse("csr_array", (SIZE, SIZE), seed=seed) for seed in (1, 2))
    agree(*masked, left, right, _mask(kind), tolerance=1e-9)


def test_infinite_elements_outside_of_the_mask(masked: Any) -> None:
    left, right = (random_sparse("csr_array", (SIZE, SIZE), seed=seed) for seed in (1, 2))
    left.data[3] = np.inf
    agree(*masked, left, right, _mask("plain"))
    left.data[3] = np.nan
    agree(*masked, left, right, _mask("plain"))


def test_products_of_sparse_matrices_have_scipys_order_of_entries() -> None:
    plain, compiled = compiled_source(operator("P, Q", "P @ Q"))
    for seed in range(3):
        left = random_sparse("csr_array", (SIZE, 20), seed=seed)
        right = random_sparse("csr_array", (20, 25), seed=seed + 5)
        one, other = compiled(left, right), plain(left, right)
        for name in ("indptr", "indices"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        np.testing.assert_allclose(one.data, other.data, rtol=1e-12)
