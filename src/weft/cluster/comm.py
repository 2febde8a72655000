"""Local views: messages between ranks, written by hand inside a function.  In: arrays, or slices of them with any
strides, and ranks; out: requests to wait for, blocks of a distributed array, neighbours in a grid.

    left, right = grid.shift(0)
    requests = [weft.comm.Isend(a[1], left), weft.comm.Irecv(a[-1], right), ...]
    weft.comm.Waitall(requests)
The same in plain Python and in a compiled function, where these statements stay Python between native ones.  A strided
slice is sent and received in place, by a derived datatype that is made once.  Neighbour -1 is nobody: such a message
is none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.cluster import mpi_world
from weft.cluster.mpi_boxes import slices
from weft.cluster.mpi_holdings import Message
from weft.cluster.mpi_layout import Distribution, block, near_square

Array = np.ndarray[Any, Any]
#: Who is beyond the edge of a grid.
NOBODY = -1


class Request:
    """A message on its way; it keeps its array alive."""

    def __init__(self, request: Any = None, array: Any = None) -> None:
        self._request = request
        self._array = array

    def wait(self) -> None:
        if self._request is not None:
            self._request.Wait()
        self._request = self._array = None


def rank() -> int:
    """The number of this rank."""
    return mpi_world.world().rank


def size() -> int:
    """The number of ranks."""
    return mpi_world.world().size


def _view(array: Any, writes: bool) -> Array:
    if not isinstance(array, np.ndarray):
        raise TypeError(f"a message is a NumPy array or a slice of one, not {type(array).__name__}")
    if writes and not array.flags.writeable:
        raise ValueError("a message cannot be received into a read-only array")
    return array


def _other(other: int) -> int:
    if not 0 <= other < size():
        raise ValueError(f"there is no rank {other}: there are {size()}, counted from 0")
    return int(other)


def Isend(array: Any, target: int, tag: int = 0) -> Request:
    """Start to send an array, or a slice of one in place, to a rank."""
    view = _view(array, False)
    if target == NOBODY or not view.size:
        return Request()
    comm = mpi_world.needs_mpi("comm.Isend")
    mpi_world.world().traffic.add(view.nbytes)
    return Request(comm.Isend(mpi_world.specification([view]), _other(target), _own(tag)), view)


def Irecv(array: Any, source: int, tag: int = 0) -> Request:
    """Start to receive into an array, or a slice of one in place, from a rank."""
    view = _view(array, True)
    if source == NOBODY or not view.size:
        return Request()
    comm = mpi_world.needs_mpi("comm.Irecv")
    return Request(comm.Irecv(mpi_world.specification([view]), _other(source), _own(tag)), view)


def Send(array: Any, target: int, tag: int = 0) -> None:
    """Send, and wait until the array may be changed."""
    Isend(array, target, tag).wait()


def Recv(array: Any, source: int, tag: int = 0) -> None:
    """Receive, and wait until it is there."""
    Irecv(array, source, tag).wait()


def Waitall(requests: Iterable[Request]) -> None:
    """Wait for all of the messages."""
    for request in requests:
        request.wait()


def Barrier() -> None:
    """Wait until every rank is here."""
    mpi_world.world().barrier()


def _own(tag: int) -> int:
    """Tags of users begin where those of weft's own messages end."""
    if not 0 <= tag < mpi_world.USER_TAGS:
        raise ValueError(f"a tag is a number from 0 to {mpi_world.USER_TAGS - 1}, not {tag}")
    return mpi_world.FIRST_USER_TAG + tag


@dataclass(frozen=True)
class Cart:
    """A grid of ranks, the last axis fastest.  Ranks beyond it have no place in it."""

    dims: tuple[int, ...]
    periodic: tuple[bool, ...]

    def __init__(self, dims: Sequence[int] | int, periodic: Sequence[bool] | bool = False) -> None:
        """`dims` as a number: the grid of so many axes that is as even as can be."""
        chosen = near_square(size(), (1 << 20,) * dims) if isinstance(dims, int) else tuple(dims)
        around = (periodic,) * len(chosen) if isinstance(periodic, bool) else tuple(periodic)
        if len(around) != len(chosen) or any(count < 1 for count in chosen) or math.prod(chosen) > size():
            raise ValueError(f"{size()} ranks form no grid {chosen}, periodic {around}")
        object.__setattr__(self, "dims", chosen)
        object.__setattr__(self, "periodic", around)

    @property
    def coordinates(self) -> tuple[int, ...] | None:
        """The place of this rank; None if it is beyond the grid."""
        return Distribution(self.dims, (1,) * len(self.dims), self.dims).coordinates(rank())

    def rank_at(self, coordinates: Sequence[int]) -> int:
        """The rank at a place; -1 beyond the edge of an axis that is not periodic."""
        place = []
        for at, count, around in zip(coordinates, self.dims, self.periodic):
            if not around and not 0 <= at < count:
                return NOBODY
            place.append(at % count)
        return Distribution(self.dims, (1,) * len(self.dims), self.dims).rank_at(place)

    def shift(self, axis: int, distance: int = 1) -> tuple[int, int]:
        """The neighbours of this rank along an axis: the one before it and the one after it, -1 for nobody."""
        here = self.coordinates
        if here is None:
            return NOBODY, NOBODY
        before, after = list(here), list(here)
        before[axis] -= distance
        after[axis] += distance
        return self.rank_at(before), self.rank_at(after)


def _layout(shape: Sequence[int], grid: Any) -> Distribution:
    dims = near_square(size(), shape) if grid is None else tuple(grid.dims if isinstance(grid, Cart) else grid)
    layout = block(shape, dims)
    if layout.ranks > size():
        raise ValueError(f"the grid {dims} has {layout.ranks} processes and there are {size()} ranks")
    return layout


def BlockScatter(array: Any, grid: Any = None, root: int = 0) -> Array:
    """This rank's block of the array of rank `root` (of the others only its shape and dtype count)."""
    whole = _view(array, False)
    layout = _layout(whole.shape, grid)
    mine = np.empty(layout.local_shape(rank()), whole.dtype)
    here = rank()
    work = []
    for other in range(size()):
        boxes = [box for box in layout.boxes(other) if math.prod(high - low for low, high in box)]
        if not boxes:
            continue
        if other == _other(root):
            if here == root:
                mine[...] = whole[slices(boxes[0])]
        elif other == here:
            work.append((mine, [Message(root, other, (tuple((0, n) for n in mine.shape),))]))
        else:
            work.append((whole, [Message(root, other, tuple(boxes))]))
    mpi_world.start(work).wait()
    return mine


def BlockGather(local: Any, shape: Sequence[int], grid: Any = None) -> Array:
    """The whole array of this shape on every rank, from the blocks that `BlockScatter` gives."""
    part = _view(local, False)
    layout = _layout(shape, grid)
    if part.shape != layout.local_shape(rank()):
        raise ValueError(f"the block of rank {rank()} is {layout.local_shape(rank())}, not {part.shape}")
    whole = np.empty(tuple(shape), part.dtype)
    for box in layout.boxes(rank()):
        whole[slices(box)] = part
    messages = [
        Message(source, target, tuple(layout.boxes(source)))
        for source in range(size())
        for target in range(size())
        if source != target and all(layout.local_shape(source))
    ]
    mpi_world.start([(whole, messages)]).wait()
    return whole
