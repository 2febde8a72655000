"""Comparison of compiled functions over sparse operands with SciPy's own answers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support import function_from_source

sp = pytest.importorskip("scipy.sparse")


def compiled_source(source: str, **options: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The function `f` of a source text, plain and compiled; nothing may run in Python."""
    import weft

    plain = function_from_source(source, "f", {"np": np, "sp": sp})
    return plain, weft.jit(**{"fallback": "error", **options})(plain)


def operator(parameters: str, expression: str) -> str:
    return f"def f({parameters}):\n    return {expression}\n"


def agree(plain: Callable[..., Any], compiled: Callable[..., Any], *arguments: Any, tolerance: float = 1e-12) -> None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = plain(*arguments)
        actual = compiled(*arguments)
    same(actual, expected, tolerance)


def same(actual: Any, expected: Any, tolerance: float = 1e-12) -> None:
    """The same class, dtype, shape and index types, and the same matrix; the order of entries in a row is free."""
    assert type(actual) is type(expected), (type(actual), type(expected))
    if isinstance(expected, tuple):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected):
            same(one, other, tolerance)
        return
    if sp.issparse(expected):
        assert actual.shape == expected.shape and actual.dtype == expected.dtype and actual.nnz == expected.nnz
        names = {"coo": ("row", "col")[2 - expected.ndim :], "dia": ("offsets",)}
        for name in names.get(expected.format, ("indices", "indptr")):
            assert getattr(actual, name).dtype == getattr(expected, name).dtype, name
        actual.check_format() if hasattr(actual, "check_format") else None
        actual, expected = actual.toarray(), expected.toarray()
    one, other = np.asarray(actual), np.asarray(expected)
    assert one.shape == other.shape and one.dtype == other.dtype
    np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def random_sparse(
    kind: str, shape: tuple[int, int], density: float = 0.2, dtype: Any = np.float64, seed: int = 0
) -> Any:
    """Entries at random places, some rows empty, in SciPy's class `kind`."""
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random(shape) < density, rng.random(shape) * 8 - 3, 0)
    dense[::7] = 0
    return getattr(sp, kind)(dense.astype(dtype))
