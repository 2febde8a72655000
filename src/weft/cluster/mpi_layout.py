"""How an array is spread over ranks.  In: a shape, the sizes of blocks and a grid of processes; out: who owns which
element, how large each part is, and where an element lies in it.

Along each axis blocks of a fixed size go round the processes of that axis of the grid (block-cyclic, as in ScaLAPACK);
a block as large as the part of one process makes the plain block distribution.  Ranks are counted through the grid
with the last axis fastest; ranks beyond the grid own nothing, and so do those for which no block is left.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from weft.cluster.mpi_boxes import Box
from weft.records import dataclass


@dataclass(frozen=True)
class Distribution:
    """A block-cyclic distribution: an extent, the size of a block and a number of processes for each axis."""

    shape: tuple[int, ...]
    blocks: tuple[int, ...]
    grid: tuple[int, ...]

    def __post_init__(self) -> None:
        if not len(self.shape) == len(self.blocks) == len(self.grid):
            raise ValueError(
                f"blocks {self.blocks} and grid {self.grid} need one entry for each axis of the shape {self.shape}"
            )
        if any(block < 1 for block in self.blocks) or any(count < 1 for count in self.grid):
            raise ValueError(f"blocks {self.blocks} and grid {self.grid} must be positive")

    @property
    def ranks(self) -> int:
        """How many ranks the grid has."""
        return math.prod(self.grid)

    def coordinates(self, rank: int) -> tuple[int, ...] | None:
        """The place of a rank in the grid; None for a rank beyond it."""
        if rank >= self.ranks:
            return None
        found: list[int] = []
        for count in reversed(self.grid):
            rank, place = divmod(rank, count)
            found.append(place)
        return tuple(reversed(found))

    def rank_at(self, coordinates: Sequence[int]) -> int:
        rank = 0
        for count, place in zip(self.grid, coordinates):
            rank = rank * count + place
        return rank

    def owner(self, index: Sequence[int]) -> int:
        """The rank that owns an element."""
        self._within(index)
        return self.rank_at([i // block % count for i, block, count in zip(index, self.blocks, self.grid)])

    def local_index(self, index: Sequence[int]) -> tuple[int, ...]:
        """Where an element lies in the part of its owner."""
        self._within(index)
        return tuple(i // (b * count) * b + i % b for i, b, count in zip(index, self.blocks, self.grid))

    def global_index(self, rank: int, index: Sequence[int]) -> tuple[int, ...]:
        """Which element of the array is at a place of the part of `rank`."""
        place = self.coordinates(rank)
        if place is None or any(not 0 <= i < n for i, n in zip(index, self.local_shape(rank))):
            raise IndexError(f"rank {rank} has no element {tuple(index)}")
        axes = zip(index, self.blocks, self.grid, place)
        return tuple((i // block * count + at) * block + i % block for i, block, count, at in axes)

    def local_shape(self, rank: int) -> tuple[int, ...]:
        """The shape of the part of `rank`."""
        place = self.coordinates(rank)
        if place is None:
            return (0,) * len(self.shape)
        return tuple(sum(high - low for low, high in self._ranges(axis, at)) for axis, at in enumerate(place))

    def boxes(self, rank: int) -> list[Box]:
        """The blocks of `rank`, as boxes of the array, in the order of their places in its part."""
        place = self.coordinates(rank)
        if place is None:
            return []
        axes = [list(self._ranges(axis, at)) for axis, at in enumerate(place)]
        return list(itertools.product(*axes))

    def ranges(self, rank: int) -> list[list[tuple[int, int]]]:
        """What `rank` owns, as ranges along each axis, neighbouring blocks joined: it owns the product of them."""
        place = self.coordinates(rank)
        if place is None:
            return [[] for _ in self.shape]
        alone = [count == 1 and extent > 0 for count, extent in zip(self.grid, self.shape)]
        return [
            [(0, self.shape[axis])] if alone[axis] else list(self._ranges(axis, at)) for axis, at in enumerate(place)
        ]

    def _ranges(self, axis: int, place: int) -> Iterator[tuple[int, int]]:
        extent, block, count = self.shape[axis], self.blocks[axis], self.grid[axis]
        for start in range(place * block, extent, count * block):
            yield start, min(start + block, extent)

    def _within(self, index: Sequence[int]) -> None:
        if len(index) != len(self.shape) or any(not 0 <= i < n for i, n in zip(index, self.shape)):
            raise IndexError(f"{tuple(index)} is outside of the shape {self.shape}")


def block(shape: Sequence[int], grid: Sequence[int], tile: Sequence[int] | None = None) -> Distribution:
    """The block distribution: each process gets one block along each axis, of whole tiles if they have a size."""
    unit = tuple(tile) if tile is not None else (1,) * len(shape)
    parts = [max(-(-extent // (count * size)), 1) * size for extent, count, size in zip(shape, grid, unit)]
    return Distribution(tuple(shape), tuple(parts), tuple(grid))


def near_square(ranks: int, shape: Sequence[int]) -> tuple[int, ...]:
    """A grid of `ranks` processes for an array, as even as its axes and the divisors of the number allow.

    The sum of count/extent over the axes is what halos and panels cost, so the grid with the least is chosen; a tie
    goes to the one that cuts the first axis more, whose parts are contiguous.
    """
    rank = len(shape)
    if rank == 0:
        return ()
    best: tuple[float, tuple[int, ...]] | None = None
    for grid in _factorisations(ranks, rank):
        idle = sum(max(count - extent, 0) for count, extent in zip(grid, shape))
        cost = sum((count - 1) / max(extent, 1) for count, extent in zip(grid, shape)) + idle
        if best is None or cost < best[0] - 1e-12 or (abs(cost - best[0]) <= 1e-12 and grid > best[1]):
            best = cost, grid
    assert best is not None
    return best[1]


def _factorisations(number: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a number as a product of so many, in order."""
    if parts == 1:
        yield (number,)
        return
    for first in range(1, number + 1):
        if number % first == 0:
            yield from ((first, *rest) for rest in _factorisations(number // first, parts - 1))


#: Tiles along one axis: divisible by the usual numbers of ranks, and doubled where tiles would grow beyond a size.
TILES = 24
_LARGE = 512


def tile_size(extent: int) -> int:
    """How many elements a tile has along an axis.  It depends on the extent alone, so that results do not depend on the
    number of ranks; distributions and stages use the same tiles, so that they fit."""
    count = TILES
    while extent > count * _LARGE:
        count *= 2
    return max(-(-extent // count), 1)


def tile_bounds(extent: int, size: int | None = None) -> list[tuple[int, int]]:
    """The ranges of the tiles of an axis."""
    size = size or tile_size(extent)
    return [(start, min(start + size, extent)) for start in range(0, extent, size)]


def assigned(count: int, ranks: int) -> list[int]:
    """Which rank computes each of `count` tiles: neighbours together, as in a block distribution."""
    each = max(-(-count // ranks), 1)
    return [tile // each for tile in range(count)]


def rows_first(ranks: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The grid that cuts the first axis alone."""
    return (ranks, *[1] * (len(shape) - 1)) if shape else ()
