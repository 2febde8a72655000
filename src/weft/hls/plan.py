"""What becomes of a program on its way to a circuit: plain data.  A `Region` is a loop nest, or several that hand
elements on to each other: its stages run at the same time and speak through streams.
"""

from __future__ import annotations

from dataclasses import field

from weft.ir.expr import Dim, Expr
from weft.ir.program import Loop
from weft.ir.types import ScalarType
from weft.records import dataclass


@dataclass(frozen=True)
class Access:
    """Elements of an array that leave or enter memory in the order of `loops`, through a stream."""

    stream: str
    buffer: str
    of: ScalarType
    loops: tuple[Dim, ...]
    index: tuple[Expr, ...]


@dataclass
class Stage:
    """A nest; `pops`: variables that a statement takes from streams first; `pushes`: statements that write to one."""

    node: Loop
    place: int
    reads: list[Access] = field(default_factory=list)
    writes: list[Access] = field(default_factory=list)
    pops: dict[int, list[Access]] = field(default_factory=dict)
    pushes: dict[int, Access] = field(default_factory=dict)


@dataclass
class Region:
    """Stages that run at the same time; `handed`: streams from one of them to the next, by the stream that reads."""

    stages: list[Stage]
    handed: dict[str, Access] = field(default_factory=dict)


@dataclass(frozen=True)
class Argument:
    """What the host passes: "in", "out" or "scratch" memory, a "number", or the "status" of the call."""

    name: str
    kind: str
    type: str
    shape: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class Emitted:
    """Source for a tool chain, the name of its kernel, and its arguments in order."""

    name: str
    text: str
    arguments: tuple[Argument, ...]
    streams: int = 0


#: Float sums in parts: as many as an addition has stages, so that a new term can begin in every cycle.
PARTS = 8
