"""Memory of results.  In: shapes and dtypes of new arrays; out: arrays without values, in memory that earlier ones have
left where there is any: fresh pages cost a fault each, which can exceed the arithmetic on them.

Memory is free again when nothing but this list knows it: no array, no view of one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

#: Bytes below which the system is as fast, and how many blocks of how many bytes together are remembered.
_LEAST, _MOST_BYTES, _MOST_BLOCKS = 1 << 20, 1 << 29, 16

_blocks: list[Array] = []


def _is_free(place: int) -> bool:
    # The list and the argument of the question itself.
    return sys.getrefcount(_blocks[place]) == 2


def empty(shape: Sequence[int], dtype: Any) -> Array:
    """An array whose elements have no values yet."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size < _LEAST:
        return np.empty(tuple(shape), dtype)
    for place in range(len(_blocks)):
        if _blocks[place].nbytes == size and _is_free(place):
            block = _blocks.pop(place)
            _blocks.append(block)
            return _shaped(block, shape, dtype)
    block = np.empty(size, np.uint8)
    _blocks.append(block)
    _forget()
    return _shaped(block, shape, dtype)


def _shaped(block: Array, shape: Sequence[int], dtype: Any) -> Array:
    array: Array = block.view(dtype).reshape(tuple(shape))
    return array


def _forget() -> None:
    """Remember no more than the limits: what is free goes first, what is in use is left to its users."""
    for only_free in (True, False):
        place = 0
        while place < len(_blocks) and (
            len(_blocks) > _MOST_BLOCKS or sum(block.nbytes for block in _blocks) > _MOST_BYTES
        ):
            if _is_free(place) or not only_free:
                del _blocks[place]
            else:
                place += 1
