"""Operations on distributed arrays.  In: distributed arrays; out: distributed arrays, or a number that is the same on
every rank.

Work is cut into tiles whose number depends on sizes alone, and each tile is computed by the same calls on whichever
rank it falls: results have the same bits on any number of ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.cluster import mpi_scalapack, mpi_world
from weft.cluster.mpi_array import Array, Bringing, DistributedArray, bring, distribute
from weft.cluster.mpi_boxes import Box, slices, whole
from weft.cluster.mpi_holdings import nothing
from weft.cluster.mpi_layout import assigned, near_square, tile_bounds


def matmul(left: Any, right: Any) -> DistributedArray:
    """The product of two matrices, or of a matrix and a vector: SUMMA, in panels along the summed axis.

    Each process of a grid owns a block of the result and gets, panel by panel, the rows of the left and the columns of
    the right matrix for it; the next panel is on its way while one is multiplied.  Matrices that are dealt round a grid
    in several blocks each are left to ScaLAPACK, where the machine has it.
    """
    a, b = _distributed(left), _distributed(right)
    if a.ndim != 2 or b.ndim not in (1, 2) or a.shape[1] != b.shape[0]:
        raise ValueError(f"matmul: shapes {a.shape} and {b.shape} do not fit")
    if mpi_scalapack.why_not(a, b) is None:
        return mpi_scalapack.matmul(a, b)
    here = mpi_world.world()
    shape = (a.shape[0], *b.shape[1:])
    grid = near_square(here.size, shape)
    # Fewer and larger tiles than elsewhere: a product of small ones is slow.
    parts = (12, 4) if len(shape) == 2 else (24,)
    bounds = [tile_bounds(extent, -(-extent // count)) for extent, count in zip(shape, parts)]
    places = [assigned(len(axis), count) for axis, count in zip(bounds, grid)]
    tiles: dict[int, list[Box]] = {rank: [] for rank in range(here.size)}
    for index in np.ndindex(*map(len, bounds)):
        rank = 0
        for count, place, at in zip(grid, places, index):
            rank = rank * count + place[at]
        tiles[rank].append(tuple(axis[at] for axis, at in zip(bounds, index)))
    out = np.zeros(shape, np.result_type(a.dtype, b.dtype))
    terms = a.shape[1]
    panels = tile_bounds(terms, -(-terms // max(4, terms // 1024))) if len(shape) == 2 else [(0, terms)]

    def fetch(panel: tuple[int, int]) -> Bringing:
        rows = {rank: [(box[0], panel) for box in boxes] for rank, boxes in tiles.items()}
        columns = {rank: [(panel, *box[1:]) for box in boxes] for rank, boxes in tiles.items()}
        return Bringing([(a, rows), (b, columns)])

    coming = fetch(panels[0]) if panels else None
    for number, panel in enumerate(panels):
        assert coming is not None
        coming.wait()
        if number + 1 < len(panels):
            coming = fetch(panels[number + 1])
        for box in tiles[here.rank]:
            out[slices(box)] += a.frame[slices((box[0], panel))] @ b.frame[slices((panel, *box[1:]))]
    return DistributedArray(out, nothing(tuple(shape), here.size).written(tiles))


def _by_tiles(array: DistributedArray, axis: int, shape: Sequence[int], dtype: Any, order: Sequence[int],
              compute: Callable[[Array], Array]) -> DistributedArray:
    """Apply `compute` to tiles along `axis`, each whole along the other axes; `order` are the axes of the result."""
    here = mpi_world.world()
    bounds = tile_bounds(array.shape[axis])
    owners = assigned(len(bounds), here.size)
    everything = whole(array.shape)
    needs: dict[int, list[Box]] = {rank: [] for rank in range(here.size)}
    for limits, rank in zip(bounds, owners):
        needs[rank].append((*everything[:axis], limits, *everything[axis + 1 :]))
    bring([(array, needs)])
    out = np.empty(tuple(shape), dtype)
    made: dict[int, list[Box]] = {rank: [] for rank in range(here.size)}
    full = whole(shape)
    place = list(order).index(axis)
    for limits, rank in zip(bounds, owners):
        box = (*full[:place], limits, *full[place + 1 :])
        made[rank].append(box)
        if rank == here.rank:
            source = (*everything[:axis], limits, *everything[axis + 1 :])
            out[slices(box)] = compute(array.frame[slices(source)])
    return DistributedArray(out, nothing(tuple(shape), here.size).written(made))


def transpose(array: Any) -> DistributedArray:
    """The array with its axes reversed, spread along its first axis; each element goes to its new owner at once."""
    given = _distributed(array)
    order = tuple(reversed(range(given.ndim)))
    return _by_tiles(given, given.ndim - 1, given.shape[::-1], given.dtype, order, np.transpose)


def fft(array: Any, axis: int = -1) -> DistributedArray:
    """The discrete Fourier transform along an axis, distributed or not.

    The array is spread along another axis first (a transposition of the distribution), so that each rank transforms
    whole lines; the result stays so.
    """
    given = _distributed(array)
    axis = range(given.ndim)[axis]
    kind = np.fft.fft(np.zeros(1, given.dtype)).dtype
    if given.ndim == 1:
        whole_array = np.fft.fft(given.gather())
        return distribute(whole_array)
    across = 0 if axis != 0 else 1
    order = tuple(range(given.ndim))
    return _by_tiles(given, across, given.shape, kind, order, lambda part: np.fft.fft(part, axis=axis))


def total(array: Any, combine: Callable[[Any, Any], Any] = np.add, of: Callable[[Array], Any] = np.sum) -> Any:
    """The sum (or another reduction) of all elements: of tiles along the first axis, combined in a fixed tree."""
    given = _distributed(array)
    here = mpi_world.world()
    if given.size == 0 or given.ndim == 0:
        return of(given.gather())
    bounds = tile_bounds(given.shape[0])
    owners = assigned(len(bounds), here.size)
    rest = whole(given.shape)[1:]
    needs: dict[int, list[Box]] = {rank: [] for rank in range(here.size)}
    for limits, rank in zip(bounds, owners):
        needs[rank].append((limits, *rest))
    bring([(given, needs)])
    mine = {
        tile: of(given.frame[slices((limits, *rest))])
        for tile, (limits, rank) in enumerate(zip(bounds, owners))
        if rank == here.rank
    }
    partial: dict[int, Any] = {}
    for part in here.allgather(mine):
        partial.update(part)
    return tree([partial[tile] for tile in range(len(bounds))], combine)


def tree(values: Sequence[Any], combine: Callable[[Any, Any], Any]) -> Any:
    """The values combined in pairs, then the pairs, and so on: an order that depends on their number alone."""
    level = list(values)
    while len(level) > 1:
        pairs = [combine(first, second) for first, second in zip(level[::2], level[1::2])]
        level = pairs + level[len(pairs) * 2 :]
    return level[0]


def _distributed(array: Any) -> DistributedArray:
    return array if isinstance(array, DistributedArray) else distribute(array)
