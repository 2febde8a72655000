"""Results with more entries than their operands' 32-bit indices count: counted without wrapping, before any memory is
asked for, and left to SciPy, which takes wider indices or has an error of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.sparse.sparse_support import agree, compiled_source, operator, random_sparse, sp
from weft.frontend.models import primitives


class Asked(Exception):
    """SciPy itself was asked."""


def test_more_than_two_to_the_31_entries_are_never_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long row, named so often that its copies have 2**31 + 2**16 entries."""
    _, compiled = compiled_source(operator("S, which", "S[which]"))
    length = 2**16
    indptr = np.array([0, length], np.int32)
    row = sp.csr_array((np.ones(length), np.arange(length, dtype=np.int32), indptr), shape=(1, length))
    assert compiled(row, np.zeros(3, np.int64)).nnz == 3 * length

    def asked(self: Any, *arguments: Any) -> Any:
        raise Asked

    monkeypatch.setattr(sp.csr_array, "_major_index_fancy", asked)
    with pytest.raises(Asked):
        compiled(row, np.zeros(2**15 + 1, np.int64))


@pytest.mark.parametrize("expression", ["S @ T", "T.T @ S.T", "sp.vstack([S, S])", "S + T.T"])
def test_a_limit_of_entries_is_kept(expression: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an index type that counts no further than 150, results of more entries come from SciPy, and are right."""
    monkeypatch.setattr(primitives, "most_entries", lambda dtype: 150)
    plain, compiled = compiled_source(operator("S, T", expression))
    few = random_sparse("csr_array", (20, 30), density=0.05)
    many = random_sparse("csr_array", (20, 30), density=0.4)
    for one in (few, many):
        agree(plain, compiled, one, random_sparse("csr_array", (30, 20), density=0.1, seed=1))
