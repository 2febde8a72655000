"""Rows in pieces of equal work: the same bits for any number of threads, whatever the pattern; bad offsets are safe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft
from tests.sparse.sparse_support import agree, compiled_source, operator, sp

ROWS, COLUMNS = 3000, 400
RNG = np.random.default_rng(9)
X, Y, W = RNG.random(COLUMNS), RNG.random((COLUMNS, 5)), RNG.random(ROWS)


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    before = weft.get_num_threads()
    yield
    weft.set_num_threads(before)


def _pattern(name: str) -> Any:
    lengths = np.full(ROWS, 6)
    if name == "power-law":
        lengths = np.minimum(COLUMNS, 400 // np.arange(1, ROWS + 1) ** 0.7).astype(int)
    elif name == "one long row":
        lengths[:] = 0
        lengths[ROWS - 1] = COLUMNS
    elif name == "empty":
        lengths[:] = 0
    indices = np.concatenate([np.sort(RNG.permutation(COLUMNS)[:count]) for count in lengths] or [[]])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    data = RNG.random(len(indices))
    return sp.csr_array((data, indices.astype(np.int32), indptr.astype(np.int32)), shape=(ROWS, COLUMNS))


PATTERNS = {name: _pattern(name) for name in ("even", "power-law", "one long row", "empty")}
EXPRESSIONS = {
    "S @ x": (X,), "S @ Y": (Y,), "S.T @ w": (W,), "S.tocsc() @ x": (X,), "S.tocoo() @ x": (X,),
    "S.multiply(1 / (1 + S.sum(1)[:, None]))": (), "S.T @ S": (), "(S.T @ S).multiply(S.T @ S).sum()": (),
    "S.multiply(w[:, None])": (W,),
}  # fmt: skip


def _bits(value: Any) -> bytes:
    if sp.issparse(value):
        entries = value.tocsr()
        return entries.indptr.tobytes() + entries.indices.tobytes() + entries.data.tobytes()
    return np.asarray(value).tobytes()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_same_bits_for_any_number_of_threads(expression: str) -> None:
    others = EXPRESSIONS[expression]
    names = ["S", *(name for name in ("x", "Y", "w") if name in expression)]
    plain, compiled = compiled_source(operator(", ".join(names), expression))
    for matrix in PATTERNS.values():
        found = []
        for threads in (1, 2, 3):
            weft.set_num_threads(threads)
            found.append(_bits(compiled(matrix, *others)))
        assert found[0] == found[1] == found[2]
        agree(plain, compiled, matrix, *others, tolerance=1e-9)


def test_additions_at_places_that_entries_tell_are_shared_out() -> None:
    rng = np.random.default_rng(2)
    rows, columns, each = 4000, 2500, 12
    place = np.repeat(np.arange(rows), each), rng.integers(0, columns, rows * each)
    matrix = sp.coo_array((rng.random(rows * each) - 0.5, place), shape=(rows, columns)).tocsr()
    plain, compiled = compiled_source(operator("S, w", "S.T @ w"))
    weights, found = rng.random(rows), []
    for threads in (1, 2, 3):
        weft.set_num_threads(threads)
        found.append(compiled(matrix, weights).tobytes())
    assert found[0] == found[1] == found[2]
    agree(plain, compiled, matrix, weights, tolerance=1e-9)
    few = matrix[: rows // 8]  # too few additions to pay for more arrays
    agree(plain, compiled, few, weights[: rows // 8], tolerance=1e-9)
    assert "sums_parts" in compiled.inspect("c")
    _, strict = compiled_source(operator("S, w", "S.T @ w"), fp="strict")
    np.testing.assert_array_equal(strict(matrix, weights), plain(matrix, weights))
    assert "sums_parts" not in strict.inspect("c")


def test_rows_are_cut_by_their_entries() -> None:
    _, compiled = compiled_source(operator("S, x", "S @ x"))
    compiled(PATTERNS["even"], X)
    assert "k_balance_i32" in compiled.inspect("c")


LOOPS = """
def f(indptr, data):
    out = np.zeros(len(indptr) - 1)
    for i in range(len(indptr) - 1):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p]
        out[i] = total
    return out
"""


@pytest.mark.parametrize("order", ["rising", "falling", "mixed"])
def test_offsets_of_any_kind_cover_every_row_once(order: str) -> None:
    plain, compiled = compiled_source(LOOPS)
    offsets = np.sort(RNG.integers(0, 50, 4001))
    if order == "falling":
        offsets = offsets[::-1].copy()
    elif order == "mixed":
        offsets = RNG.permutation(offsets)
    for threads in (1, 2, 3):
        weft.set_num_threads(threads)
        agree(plain, compiled, offsets, RNG.random(50))
