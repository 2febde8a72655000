"""Arrays spread over ranks.  In: an array that every rank can make its part of; out: an object with the array's shape
and dtype of which each rank holds a part, and which becomes a plain array on every rank when Python touches it.

Each rank has memory of the array's full shape, of which the system provides only the pages that are used: the rank's
part and what it needs of its neighbours.  Indices are those of the whole array everywhere.  Touching an array is
collective, as the call that made it was: all ranks run the same script.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from weft.cluster import mpi_world
from weft.cluster.lazy import ClusterArray
from weft.cluster.mpi_boxes import Box, slices
from weft.cluster.mpi_holdings import Holdings, Message, between, replicated, spread
from weft.cluster.mpi_layout import Distribution, block, rows_first, tile_size

Array = np.ndarray[Any, Any]


class DistributedArray(ClusterArray):
    """An array of which this rank holds a part: of `frame`, the boxes that `holdings` names."""

    def __init__(self, frame: Array, holdings: Holdings, distribution: Distribution | None = None) -> None:
        self.frame = frame
        self.holdings = holdings
        self.distribution = distribution
        #: Whether Python has had the memory in its hands: then it must be whole after every call that writes it.
        self.touched = False

    # --- what is known without a message ---

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.frame.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.frame.dtype)

    @property
    def ndim(self) -> int:
        return self.frame.ndim

    @property
    def size(self) -> int:
        return self.frame.size

    @property
    def nbytes(self) -> int:
        return self.frame.nbytes

    @property
    def is_here(self) -> bool:
        return self.holdings.is_replicated

    @property
    def is_as_distributed(self) -> bool:
        """Whether each rank holds just its part of the distribution."""
        return self.distribution is not None and self.holdings is spread(self.distribution, self.holdings.ranks)

    @property
    def boxes(self) -> tuple[Box, ...]:
        """The boxes that this rank owns."""
        return self.holdings.owners[mpi_world.world().rank]

    @property
    def local(self) -> Array:
        """This rank's part, packed: a view of it if it is one block."""
        rank = mpi_world.world().rank
        boxes: Sequence[Box] = self.boxes if self.distribution is None else self.distribution.boxes(rank)
        if len(boxes) == 1:
            return self.frame[slices(boxes[0])]
        if self.distribution is None:
            if boxes:
                raise ValueError("this rank's part is no array: several blocks of no distribution")
            return np.empty((0,) * self.ndim, self.dtype)
        packed = np.empty(self.distribution.local_shape(rank), self.dtype)
        for box in boxes:
            at = self.distribution.local_index([low for low, _ in box])
            packed[tuple(slice(i, i + high - low) for i, (low, high) in zip(at, box))] = self.frame[slices(box)]
        return packed

    def __repr__(self) -> str:
        if self.is_here:
            return repr(self._read())
        return f"<array of {self.shape} {self.dtype} over {self.holdings.ranks} ranks>"

    def _blocks(self) -> list[tuple[int, Sequence[tuple[int, int]]]]:
        return [(rank, box) for rank, boxes in enumerate(self.holdings.owners) for box in boxes]

    # --- what brings the array together ---

    def gather(self) -> Array:
        """The whole array, on every rank (collective): memory that stays up to date."""
        if self.distribution is not None and self.is_as_distributed:
            mpi_world.start([(self.frame, between(self.distribution, None, self.holdings.ranks))]).wait()
            self.holdings = replicated(self.shape, self.holdings.ranks)
        else:
            bring([(self, self.holdings.everywhere())])
        self.touched = True
        return self.frame

    def _read(self) -> Array:
        view: Array = self.gather().view()
        view.flags.writeable = False
        return view

    def _writable(self) -> Array:
        whole = self.gather()
        # Every rank makes the same change, so that all copies stay equal.
        self.holdings = replicated(self.shape, self.holdings.ranks)
        return whole

    def _take(self, array: Array) -> None:
        self.frame[...] = array
        self.holdings = replicated(self.shape, self.holdings.ranks)


# --- moving -----------------------------------------------------------------------------------------------------------

Needs = Mapping[int, Sequence[Box]]


class Bringing:
    """What was asked for, on its way; `wait` before it is used."""

    def __init__(self, wanted: Iterable[tuple[DistributedArray, Needs]]) -> None:
        work: list[tuple[Array, list[Message]]] = []
        for array, needs in wanted:
            messages = array.holdings.messages(needs)
            array.holdings = array.holdings.after(messages)
            work.append((array.frame, messages))
        self.transfer = mpi_world.start(work)

    def wait(self) -> None:
        self.transfer.wait()


def bring(wanted: Iterable[tuple[DistributedArray, Needs]]) -> None:
    """Have for each array, on each rank, the boxes that the rank needs (collective)."""
    Bringing(wanted).wait()


def distribute(
    array: Any,
    blocks: Sequence[int] | int | None = None,
    grid: Sequence[int] | int | None = None,
) -> DistributedArray:
    """The array spread over the ranks: blocks of these sizes go round a grid of processes, axis by axis.

    Without `grid` the first axis is cut, as compiled functions do; without `blocks` each process gets one block, of
    whole tiles.  A distributed array is redistributed: every element goes straight to its new owner.
    """
    if not isinstance(array, DistributedArray):
        array = np.asarray(array)
        if array.dtype.hasobject:
            raise TypeError(f"an array of dtype {array.dtype} cannot be distributed")
    ranks, rank = mpi_world.world().size, mpi_world.world().rank
    shape = tuple(array.shape)
    chosen = rows_first(ranks, shape) if grid is None else _entries(grid, "grid")
    if blocks is not None:
        layout = Distribution(shape, _entries(blocks, "blocks"), chosen)
    else:
        layout = block(shape, chosen, [tile_size(extent) for extent in shape])
    target = spread(layout, ranks)
    frame = np.empty(shape, array.dtype)
    source = array
    if isinstance(array, DistributedArray):
        source = array.frame
        if array.is_as_distributed:
            assert array.distribution is not None
            mpi_world.start([(source, between(array.distribution, layout, ranks))]).wait()
        else:
            bring([(array, dict(enumerate(target.copies)))])
    for box in target.copies[rank]:
        frame[slices(box)] = source[slices(box)]
    return DistributedArray(frame, target, layout)


def _entries(given: Sequence[int] | int, name: str) -> tuple[int, ...]:
    values = (given,) if isinstance(given, int) else tuple(given)
    if not all(isinstance(value, (int, np.integer)) for value in values):
        raise TypeError(f"{name}={given!r} must be integers, one for each axis")
    return tuple(map(int, values))


def on_every_rank(array: Array) -> DistributedArray:
    """An array of which every rank has the same contents, as a distributed one."""
    return DistributedArray(array, replicated(array.shape, mpi_world.world().size))
