"""Parts of sparse matrices.  In: an object and places along its axes; out: the entries that stand there.

An array may name a place several times: each time, there is another row or column of the result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.frontend.models.primitives import equal_sizes, or_python
from weft.frontend.models.tensors import Line


def inside(which: Any, size: int) -> Any:
    """Places that an array of integers names, which may count from the end."""
    or_python(((which >= -size) & (which < size)).all(), "an index out of range")
    return np.where(which < 0, which + size, which)


def true_places(mask: Any, size: int) -> Any:
    equal_sizes(size, mask.shape[0])
    return np.flatnonzero(mask)


def as_line(part: Any, by_row: bool) -> Any:
    """A matrix of one row (or column) as a sparse array of one dimension."""
    entries = part.tocoo()
    if by_row:
        return Line(entries.col, entries.data, part.columns)
    return Line(entries.row, entries.data, part.rows)
