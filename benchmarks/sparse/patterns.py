"""Where the entries are. In come a pattern's name, rows and entries a row; out comes a square matrix in CSR, float64,
canonical, the same for the same arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

SEED = 11


def _square(rows: int, row: Any, column: Any, random: np.random.Generator) -> Any:
    values = random.random(len(row)) + 0.1
    made = sp.coo_array((values, (row.astype(np.int32), column.astype(np.int32))), shape=(rows, rows)).tocsr()
    made.data[:] = random.random(made.nnz) + 0.1
    return made


def uniform(rows: int, each: int) -> Any:
    """Every place is as likely as any other."""
    random = np.random.default_rng(SEED)
    return _square(rows, random.integers(0, rows, rows * each), random.integers(0, rows, rows * each), random)


def power_law(rows: int, each: int) -> Any:
    """Row lengths and the popularity of columns fall as a power of the rank; ranks are shuffled."""
    random = np.random.default_rng(SEED)
    weight = 1.0 / np.arange(1, rows + 1) ** 0.7
    likely = weight / weight.sum()
    order = random.permutation(rows)
    row = order[random.choice(rows, rows * each, p=likely)]
    column = order[random.choice(rows, rows * each, p=likely)]
    return _square(rows, row, column, random)


def banded(rows: int, each: int) -> Any:
    """Columns close to the diagonal."""
    random = np.random.default_rng(SEED)
    row = np.repeat(np.arange(rows), each)
    column = np.clip(row + np.tile(np.arange(each) - each // 2, rows), 0, rows - 1)
    return _square(rows, row, column, random)


PATTERNS: dict[str, Callable[[int, int], Any]] = {"uniform": uniform, "power-law": power_law, "banded": banded}
