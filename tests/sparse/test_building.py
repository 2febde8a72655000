"""Matrices built in loops, entry by entry, and what has no native form: changes of elements, other formats as
arguments, random matrices. The latter run in SciPy, with its answer and effects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.sparse.sparse_support import agree, compiled_source, operator, random_sparse, same, sp

BUILT = """
def f(n):
    rows, columns, values = [], [], []
    for i in range(n):
        for j in range(max(0, i - 1), min(n, i + 2)):
            rows.append(i)
            columns.append(j)
            values.append(2.0 if i == j else -1.0)
            if i == j and i % 3 == 0:
                rows.append(i)
                columns.append(j)
                values.append(0.5)
    return MADE
"""


@pytest.mark.parametrize(
    "made",
    ["sp.coo_matrix((values, (rows, columns))).tocsr()", "sp.csc_array((values, (rows, columns)), shape=(n, n + 1))"],
)
def test_entries_appended_in_loops(made: str) -> None:
    plain, compiled = compiled_source(BUILT.replace("MADE", made))
    agree(plain, compiled, 12)


CHANGES = {
    "an element": "    S[1, 2] = 7.5\n",
    "elements": "    S[1:3, 2] = 0.5\n",
    "a diagonal": "    S.setdiag(3.0)\n",
    "a shape": "    S.resize((5, 6))\n",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("kind", ["csr_array", "lil_matrix", "dok_array"])
def test_changes_of_elements_are_done_once_and_seen_by_the_caller(kind: str, change: str) -> None:
    plain, compiled = compiled_source(f"def f(S, x):\n{change}    return S.sum() + x.sum()\n", fallback="silent")
    one, other = (random_sparse(kind, (30, 20)) for _ in range(2))
    x = np.arange(4.0)
    assert compiled(one, x) == pytest.approx(plain(other, x))
    same(one.tocsr(), other.tocsr())


ELSEWHERE = {
    "random": "sp.random(6, 5, density=0.5, random_state=3) @ np.ones(5)",
    "identity": "sp.identity(4).tocsr() @ sp.eye(4).tocsr()",
    "blocks": "sp.block_diag([S, S]).tocsr()",
    "list of lists": "S.tolil().tocsr() * 2",
    "keys": "S.todok().tocsr() * 2",
    "reshaped": "S.reshape((20, 30)).tocsr() * 1",
    "argmax": "S.argmax(axis=1)",
    "one row": "sp.csr_array(S.toarray()[0])",
}


@pytest.mark.parametrize("expression", ELSEWHERE.values(), ids=ELSEWHERE)
def test_what_has_no_native_form_is_scipys(expression: str) -> None:
    plain, compiled = compiled_source(operator("S", expression), fallback="silent")
    agree(plain, compiled, random_sparse("csr_array", (30, 20)))


@pytest.mark.parametrize("kind", ["lil_array", "dok_matrix", "csr_array"])
def test_other_formats_as_arguments(kind: str) -> None:
    """Of one dimension, too: sparse arrays in rows, or keys."""
    plain, compiled = compiled_source("def f(S, x):\n    y = S @ x\n    return y * 2 + 1\n", fallback="silent")
    matrix: Any = random_sparse(kind, (30, 20))
    agree(plain, compiled, matrix, np.arange(20.0))
    if kind == "csr_array":
        agree(plain, compiled, sp.csr_array(np.arange(20.0) % 3), np.arange(20.0))
