"""What runs where.  A `Plan` is a lowered program cut in two: kernels, which hold all statements on arrays, and a small
tree of host steps that launches them.

The device works on copies.  The caller's arrays change only when all kernels have ended without a complaint, so that a
check that fails on the device needs no exception there: it sets a flag, and the call runs on the CPU instead.
"""

from __future__ import annotations

import enum
import math
import os
from dataclasses import field
from typing import Union

from weft.errors import NOWHERE, Span
from weft.ir.expr import Dim, Expr, Read
from weft.ir.program import Call, Library, Program
from weft.records import dataclass

#: The environment variable with the bytes that weft may take of a device.
LIMIT = "WEFT_DEVICE_MEMORY"


class Refused(Exception):
    """Why a program has no form for a device."""


class NoRoom(Refused):
    """The device has too little memory for what a call needs at once."""


def most_bytes() -> float:
    """The bytes that all arrays on a device may take together, where somebody has set a limit."""
    text = os.environ.get(LIMIT, "")
    return int(text) if text.isdigit() else math.inf


class Mapping(enum.Enum):
    """How the iterations of a kernel are laid out on the device."""

    CHUNKS = "chunks"  # a processor: one work-item for a run of iterations, with all loops inside
    ITEMS = "items"  # one work-item for each point of a rectangle of loops
    GROUPS = "groups"  # one work-group for each iteration; vector loops run across its lanes
    BLOCKS = "blocks"  # one work-group for each block of a matrix product
    SINGLE = "single"  # one work-item: short sequential code whose data are on the device


class Source(enum.Enum):
    """Where an argument of a kernel comes from."""

    MEMORY = "memory"  # a buffer in device memory (of a scalar: one element)
    NUMBER = "number"  # a symbol, a loop variable or a scalar that the host knows, by value
    EXTENT = "extent"  # an extent that the host noted when it allocated the buffer
    SCRATCH = "scratch"  # memory for the temporaries of all work-items or groups
    CHUNK = "chunk"  # how many iterations of its loops a work-item takes
    FLAG = "flag"  # where a kernel complains


@dataclass(frozen=True)
class Argument:
    source: Source
    name: str  # of the buffer, symbol or variable in the program
    variable: str  # in the kernel
    type: str  # its type in the kernel: of the elements, for memory
    axis: int = 0


@dataclass(frozen=True)
class Kernel:
    """One kernel: `body` is its text without the head, `grid` the loops that became its launch, outermost first."""

    name: str
    mapping: Mapping
    grid: tuple[Dim, ...]
    arguments: tuple[Argument, ...]
    body: str
    #: Temporaries that each work-item or group has in global memory.
    scratch: tuple[str, ...] = ()
    local_bytes: int = 0
    #: Work-items of a group that shares the vector loops of one iteration.
    lanes: int = 1
    #: Points of the last two loops of the grid that one work-item takes.
    item: tuple[int, int] = (1, 1)
    #: The shape of a group that a comment asks for, innermost dimension first.
    group: tuple[int, ...] = ()
    #: Simple operations of a whole launch, as far as sizes tell.
    work: Expr | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Launch:
    kernel: Kernel


@dataclass(frozen=True)
class Allocate:
    buffer: str
    zero: bool


@dataclass(frozen=True)
class Exchange:
    targets: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Assign:
    """A scalar that the host computes."""

    buffer: str
    value: Expr


@dataclass(frozen=True)
class Repeat:
    dim: Dim
    steps: Steps


@dataclass(frozen=True)
class Again:
    """A while loop."""

    prelude: Steps
    condition: Expr
    steps: Steps


@dataclass(frozen=True)
class Choose:
    condition: Expr
    then: Steps
    orelse: Steps


@dataclass(frozen=True)
class Either:
    """One kernel in place of steps that do the same, where launches cost more than its work."""

    kernel: Kernel
    launches: Expr
    #: Operations that a launch is worth.
    worth: float
    steps: Steps


@dataclass(frozen=True)
class Routine:
    """A call of the device's library between launches.  Of a product: rows, columns and terms, and its two factors."""

    node: Union[Call, Library]
    batch: Dim | None = None
    dims: tuple[Dim, ...] = ()
    factors: tuple[Read, ...] = ()
    work: Expr | None = None


@dataclass(frozen=True)
class Jump:
    """break, continue"""

    kind: str


@dataclass(frozen=True)
class Leave:
    result: int


Step = Union[Launch, Allocate, Exchange, Assign, Repeat, Again, Choose, Either, Routine, Jump, Leave]
Steps = tuple[Step, ...]


@dataclass(frozen=True)
class Plan:
    """`host`: scalars that the host computes; `helpers`: text before the kernels."""

    program: Program
    steps: Steps
    kernels: tuple[Kernel, ...]
    helpers: str
    host: frozenset[str]
