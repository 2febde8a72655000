"""Local views: messages between ranks, written by hand inside a function.  In: arrays, or slices of them with any
strides, and ranks; out: requests to wait for, blocks of a distributed array, neighbours in a grid.

    left, right = grid.shift(0)
    requests = [weft.comm.Isend(a[1], left), weft.comm.Irecv(a[-1], right), ...]
    weft.comm.Waitall(requests)
The same in plain Python and in a compiled function, where messages are nodes between native statements (`comm_native`).
A strided slice is sent and received in place, by a derived datatype that is made once.  Neighbour -1 is nobody: such a
message is none.
"""

from __future__ import annotations

import itertools
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


#: What compiled code calls itself, by `comm_native`; the rest are calls from Python between native statements.
COMPILED = frozenset(
    """Isend Irecv Send Recv Waitall Bcast Allreduce Reduce Scatter Gather Request Requests requests rank size
    _send _receive _wait _wait_for_numbers _wait_for_each _bcast _combine _reduce _scatter _gather
    __init__ wait __setitem__ __getitem__ __len__""".split()  # noqa: SIM905
)
#: What every message reads and writes: compiled code keeps them in order, and never repeats a call that sends some.
_ORDER = np.zeros(1, np.int64)
#: Messages on their way by their numbers: what MPI knows of each, and its array, which must live as long.
_under_way: dict[int, tuple[Any, Array]] = {}
_numbers = itertools.count(1)


class Request:
    """A message on its way, by its number; 0 is none."""

    def __init__(self, number: int = 0) -> None:
        self.number = number

    def wait(self) -> None:
        _wait(self.number, _ORDER)
        self.number = 0


class Requests:
    """An array for requests: `req[i] = Isend(...)`, then `Waitall(req)`; places without one are passed over."""

    def __init__(self, numbers: Array) -> None:
        self.numbers = numbers

    def __setitem__(self, at: Any, request: Request) -> None:
        self.numbers[at] = request.number

    def __getitem__(self, at: Any) -> Request:
        return Request(int(self.numbers[at]))

    def __len__(self) -> int:
        return len(self.numbers)


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


def _started(request: Any, view: Array) -> int:
    number = next(_numbers)
    _under_way[number] = (request, view)
    return number


def _send(array: Any, target: int, tag: int, chain: Array) -> int:
    """Start to send; the number of the message."""
    view = _view(array, False)
    if target == NOBODY or not view.size:
        return 0
    comm = mpi_world.needs_mpi("comm.Isend")
    mpi_world.world().traffic.add(view.nbytes)
    return _started(comm.Isend(mpi_world.specification([view]), _other(target), _own(tag)), view)


def _receive(array: Any, source: int, tag: int, chain: Array) -> int:
    """Start to receive; the number of the message."""
    view = _view(array, True)
    if source == NOBODY or not view.size:
        return 0
    comm = mpi_world.needs_mpi("comm.Irecv")
    return _started(comm.Irecv(mpi_world.specification([view]), _other(source), _own(tag)), view)


def _wait(number: int, chain: Array) -> None:
    """Wait for the message of a number."""
    request, _ = _under_way.pop(int(number), (None, None))
    if request is not None:
        request.Wait()


def Isend(array: Any, target: int, tag: int = 0) -> Request:
    """Start to send an array, or a slice of one in place, to a rank."""
    return Request(_send(array, target, tag, _ORDER))


def Irecv(array: Any, source: int, tag: int = 0) -> Request:
    """Start to receive into an array, or a slice of one in place, from a rank."""
    return Request(_receive(array, source, tag, _ORDER))


def Send(array: Any, target: int, tag: int = 0) -> None:
    """Send, and wait until the array may be changed."""
    _wait(_send(array, target, tag, _ORDER), _ORDER)


def Recv(array: Any, source: int, tag: int = 0) -> None:
    """Receive, and wait until it is there."""
    _wait(_receive(array, source, tag, _ORDER), _ORDER)


def _wait_for_numbers(requests: Requests) -> None:
    numbers = requests.numbers.ravel()
    for i in range(len(numbers)):
        _wait(int(numbers[i]), _ORDER)
    requests.numbers[...] = 0


def _wait_for_each(requests: Iterable[Request]) -> None:
    for request in requests:
        request.wait()


def Waitall(requests: Iterable[Request] | Requests) -> None:
    """Wait for all of the messages."""
    if isinstance(requests, Requests):
        _wait_for_numbers(requests)
    else:
        _wait_for_each(requests)


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


# --- collective messages: every rank calls them ----------------------------------------------------------------------

_OPERATIONS = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}


def requests(*shape: int) -> Requests:
    """An array for requests, `req[i] = Isend(...)`, which `Waitall` takes; places without one are passed over."""
    return Requests(np.zeros(shape, np.int64))


def _operation(op: str, dtype: np.dtype[Any]) -> Any:
    """The operation of MPI by its name."""
    if op not in _OPERATIONS:
        raise ValueError(f"op={op!r}: ranks combine their arrays by one of {', '.join(_OPERATIONS)}")
    if op in ("min", "max") and dtype.kind == "c":
        raise TypeError("complex numbers have no order")
    from mpi4py import MPI

    return getattr(MPI, op.upper())


def _bcast(array: Any, root: int, chain: Array) -> None:
    view = _view(array, rank() != _other(root))
    if size() == 1 or not view.size:
        return
    whole = np.ascontiguousarray(view)
    mpi_world.needs_mpi("comm.Bcast").Bcast(whole, root)
    if rank() != root:
        view[...] = whole


def Bcast(array: Any, root: int = 0) -> None:
    """The array of rank `root` in the arrays of all; of any strides."""
    _bcast(array, root, _ORDER)


def _combine(array: Any, op: str, chain: Array) -> Array:
    part = np.ascontiguousarray(_view(array, False))
    meant = _operation(op, part.dtype)
    made: Array = part.copy()
    if size() > 1 and part.size:
        mpi_world.needs_mpi("comm.Allreduce").Allreduce(part, made, meant)
    return made


def Allreduce(array: Any, op: str = "sum") -> Array:
    """The arrays of all ranks, combined element by element: a new array, the same on each."""
    return _combine(array, op, _ORDER)


def _reduce(array: Any, op: str, root: int, chain: Array) -> Array | None:
    part = np.ascontiguousarray(_view(array, False))
    meant, here = _operation(op, part.dtype), rank() == _other(root)
    made = part.copy() if here else None
    if size() > 1 and part.size:
        mpi_world.needs_mpi("comm.Reduce").Reduce(part, made, meant, root)
    return made


def Reduce(array: Any, op: str = "sum", root: int = 0) -> Array | None:
    """The same on rank `root` alone; None on the others."""
    return _reduce(array, op, root, _ORDER)


def _scatter(array: Any, part: Any, root: int, chain: Array) -> None:
    target, given = _view(part, True), None
    if rank() == _other(root):
        given = np.ascontiguousarray(_view(array, False))
        if given.shape != (size(), *target.shape) or given.dtype != target.dtype:
            shape = (size(), *target.shape)
            raise ValueError(f"Scatter needs an array {shape} of {target.dtype}, not {given.shape} of {given.dtype}")
    if size() == 1:
        assert given is not None
        target[...] = given[0]
        return
    whole = np.empty(target.shape, target.dtype)
    mpi_world.needs_mpi("comm.Scatter").Scatter(given, whole, root)
    target[...] = whole


def Scatter(array: Any, part: Any, root: int = 0) -> None:
    """Rank k gets array[k] of rank `root` (the others may pass None) into its own array `part`."""
    _scatter(array, part, root, _ORDER)


def _gather(part: Any, root: int, chain: Array) -> Array | None:
    own = np.ascontiguousarray(_view(part, False))
    made = np.empty((size(), *own.shape), own.dtype) if rank() == _other(root) else None
    if size() == 1:
        assert made is not None
        made[0] = own
        return made
    mpi_world.needs_mpi("comm.Gather").Gather(own, made, root)
    return made


def Gather(part: Any, root: int = 0) -> Array | None:
    """The arrays of all ranks, of one shape, side by side along a new first axis, on rank `root`; None elsewhere."""
    return _gather(part, root, _ORDER)
