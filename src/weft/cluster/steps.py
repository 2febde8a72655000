"""The steps of a plan, as data.  `weft.cluster.plan` makes them and says what they mean; engines follow them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Union

from weft.cluster.slices import Slice
from weft.ir.expr import Dim, Expr, Op, Read
from weft.ir.program import Block, Check, Invoke, Library, Loop, Program, Stmt
from weft.ir.types import INT
from weft.ir.walk import node_exprs, subexpressions, walk
from weft.records import dataclass


class Refused(Exception):
    """A function that cannot be spread over machines; the text says why."""


@dataclass(frozen=True)
class Part:
    """A statement (or loop of independent iterations) of a stage: its dimension `var` is cut, and t = var + shift.

    Coordinates of the part run over lo <= t < hi.
    """

    node: Stmt | Library | Check | Loop
    var: str
    shift: int
    lo: Expr
    hi: Expr


@dataclass(frozen=True)
class Written:
    """An array of which a tile writes its own elements along `axis`.

    `box`: the range of each axis that is written, all of it, if that is known (along `axis` meant within the tile);
    None: some elements may keep what they held.
    """

    buffer: str
    axis: int
    box: tuple[tuple[Expr, Expr], ...] | None


@dataclass(frozen=True)
class Partial:
    """A tile's share of `buffer`: the results of all tiles combined by `op` are the array."""

    buffer: str
    op: str


@dataclass(frozen=True)
class Rows:
    """`arrays` hold the elements of rows one after the other: those of row i are pointer[i] .. pointer[i + 1].

    A tile takes the elements of its own rows, and a pointer that is counted from the first of them on.
    """

    pointer: str
    arrays: tuple[str, ...]


@dataclass(frozen=True)
class Stage:
    """Statements that run tile by tile; see the head of this module."""

    name: str
    parts: tuple[Part, ...]
    extent: Expr
    reads: tuple[Slice, ...]
    writes: tuple[Written, ...]
    partials: tuple[Partial, ...] = ()
    temporaries: tuple[str, ...] = ()
    alone: bool = False  # a product that an engine may cut along columns as well
    rows: tuple[Rows, ...] = ()

    @property
    def behind(self) -> frozenset[str]:
        """Arrays of which a tile takes what belongs to its rows."""
        return frozenset(name for rows in self.rows for name in rows.arrays)

    @property
    def nodes(self) -> Block:
        return tuple(part.node for part in self.parts)

    @property
    def across(self) -> Stage | None:
        """The same statements cut along a second dimension, if tiles are boxes."""
        return None

    @property
    def may_raise(self) -> bool:
        return may_raise(self.nodes)


@dataclass(frozen=True)
class Whole:
    """Nodes that run at one place; `reason` tells why they are not cut ("" for scalars)."""

    name: str
    nodes: Block
    reason: str = ""


@dataclass(frozen=True)
class Repeat:
    """A sequential loop around steps."""

    dim: Dim
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Swap:
    """Each target now names the array of its source."""

    targets: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Fresh:
    """A new array begins."""

    buffer: str
    zero: bool


@dataclass(frozen=True)
class Choice:
    """One of two ways, by a condition over symbols and numbers."""

    condition: Expr
    then: tuple[Step, ...]
    orelse: tuple[Step, ...]


@dataclass(frozen=True)
class Again:
    """`prelude`, a look at the condition, `body`, and again."""

    prelude: tuple[Step, ...]
    condition: Expr
    body: tuple[Step, ...]


@dataclass(frozen=True)
class Leave:
    """The end of the call ("return", with its result tree), or of an iteration or loop of steps."""

    kind: str
    result: int = -1


@dataclass(frozen=True)
class Plan:
    """The steps of a call, ended by the return of the result tree `result`; `notes` are for `explain`."""

    program: Program
    steps: tuple[Step, ...]
    result: int
    placed: Mapping[str, int]
    notes: tuple[str, ...] = ()


def may_raise(nodes: Block) -> bool:
    """Whether a task of these nodes may end without its results: by an exception, or an integer beyond 64 bits."""

    def overflows(expr: Expr) -> bool:
        return isinstance(expr, Op) and expr.type == INT and any(isinstance(e, Read) for e in subexpressions(expr))

    for node in walk(nodes):
        if isinstance(node, (Check, Invoke)):
            return True
        if any(overflows(part) for expr in node_exprs(node) for part in subexpressions(expr)):
            return True
    return False


Step = Union[Stage, Whole, Repeat, Swap, Fresh, Choice, Again, Leave]


def inner_steps(step: Step) -> tuple[tuple[Step, ...], ...]:
    """The blocks of steps inside a step."""
    if isinstance(step, Repeat):
        return (step.steps,)
    if isinstance(step, Choice):
        return (step.then, step.orelse)
    return (step.prelude, step.body) if isinstance(step, Again) else ()


def with_inner(step: Step, change: Callable[[tuple[Step, ...]], tuple[Step, ...]]) -> Step:
    """A step with its blocks changed."""
    if isinstance(step, Repeat):
        return replace(step, steps=change(step.steps))
    if isinstance(step, Choice):
        return replace(step, then=change(step.then), orelse=change(step.orelse))
    return replace(step, prelude=change(step.prelude), body=change(step.body)) if isinstance(step, Again) else step


def stages_of(steps: tuple[Step, ...]) -> Iterator[Stage]:
    """The stages of a plan, those of loops once."""
    for step in steps:
        if isinstance(step, Stage):
            yield step
        for block in inner_steps(step):
            yield from stages_of(block)
