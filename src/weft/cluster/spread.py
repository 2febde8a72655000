"""Arrays in pieces.  In: an array of the caller's, or blocks of tasks; out: which objects hold which elements."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft.cluster.work import Held, Take

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Piece:
    """The elements first .. past along the axis, in the engine's object `handle`.

    `low` and `high`: handles of so many elements at its ends, on their own.
    """

    handle: Any
    first: int
    past: int
    low: tuple[int, Any] | None = None
    high: tuple[int, Any] | None = None

    def holder(self, first: int, past: int) -> tuple[Any, int]:
        """The smallest object that holds these elements, and the position of its first one."""
        if self.low is not None and past <= self.first + self.low[0]:
            return self.low[1], self.first
        if self.high is not None and first >= self.past - self.high[0]:
            return self.high[1], max(self.past - self.high[0], self.first)
        return self.handle, self.first


@dataclass
class Spread:
    """An array that is cut along `axis` (None: in one piece); or still an array of the caller's (`source`); or nothing
    but memory to come (`fresh`), zero or undefined.
    """

    shape: tuple[int, ...]
    dtype: Any
    axis: int | None = None
    pieces: tuple[Piece, ...] = ()
    source: Array | None = None
    zero: bool = False
    joined: Any = None
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def fresh(self) -> bool:
        return not self.pieces and self.source is None

    @property
    def nbytes(self) -> int:
        return int(math.prod(self.shape) * np.dtype(self.dtype).itemsize)

    def become(self, other: Spread) -> None:
        """From now on the contents of another one."""
        self.axis, self.pieces, self.source = other.axis, other.pieces, other.source
        self.zero, self.joined = other.zero, other.joined


class Objects:
    """The objects that one task takes, each once."""

    def __init__(self) -> None:
        self.handles: list[Any] = []
        self._numbers: dict[int, int] = {}

    def number(self, handle: Any) -> int:
        known = self._numbers.get(id(handle))
        if known is None:
            known = self._numbers[id(handle)] = len(self.handles)
            self.handles.append(handle)
        return known


def ranges(extent: int, block: int) -> list[tuple[int, int]]:
    """The blocks of an axis, at least one."""
    return [(first, min(first + block, extent)) for first in range(0, extent, block)] or [(0, 0)]


def take(
    spread: Spread, axis: int, first: int, past: int, objects: Objects, below: int, above: int, clipped: bool
) -> Take:
    """The slice first .. past of an array that is cut along the same axis, or lies in one piece."""
    size = spread.shape[axis]
    if spread.axis is None:
        whole = Held(objects.number(spread.pieces[0].handle), 0, 0, size)
        return Take(axis, (whole,), below, above, size, clipped)
    assert spread.axis == axis
    parts = []
    for piece in spread.pieces:
        low, high = max(first, piece.first), min(past, piece.past)
        if low < high:
            handle, start = piece.holder(low, high)
            parts.append(Held(objects.number(handle), start, low, high))
    if not parts:
        piece = spread.pieces[0]
        parts.append(Held(objects.number(piece.handle), piece.first, piece.first, piece.first))
    return Take(axis, tuple(parts), below, above, size, clipped)
