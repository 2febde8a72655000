"""Passes: a Program comes in, an equivalent Program goes out.  Each is `run(program, context)`; what it did, and what
it would not do and why, it writes into `context.log`, from which `explain` speaks to the user.

A pass declares itself where it is written; `order.py` says in which order passes run, `running.py` runs them:

    @declared("lanes", takes=Stage.LOWERED, after=("store",), reshapes=True)
    def run(program: Program, context: PassContext) -> Program: ...
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import field, replace
from typing import Literal

from weft.directives import NONE, Directives
from weft.errors import NOWHERE, Span
from weft.ir.program import Program
from weft.ir.verify import Stage
from weft.options import Options
from weft.records import dataclass

RemarkKind = Literal["done", "missed"]


@dataclass(frozen=True)
class Remark:
    """One thing a pass did, or did not do, at a place of the user's source; `remedy` is one thing the user may do."""

    span: Span
    pass_name: str
    message: str
    kind: RemarkKind = "done"
    remedy: str = ""


@dataclass(frozen=True)
class PassContext:
    """What every pass gets besides the program; `apart`: iterations may run where they see no common memory."""

    options: Options = field(default_factory=Options)
    log: list[Remark] = field(default_factory=list)
    directives: Directives = NONE
    apart: bool = False
    guarded: bool = True  # tests may become guards at entry, or wait: else each stays in its place, as Python has it
    alone: bool = False  # there is no Python to repeat a call: what raises does so itself, and first what comes first

    def done(self, pass_name: str, message: str, span: Span = NOWHERE) -> None:
        self.log.append(Remark(span, pass_name, message))

    def missed(self, pass_name: str, message: str, span: Span = NOWHERE, remedy: str = "") -> None:
        self.log.append(Remark(span, pass_name, message, "missed", remedy))


class Knows(enum.Flag):
    """What a pass can meet in a program besides plain statements, loops and branches."""

    NOTHING = 0
    CALLS = enum.auto()  # Invoke nodes: functions of the program
    TASKS = enum.auto()  # loops of the kinds in REGIONS
    BESIDE = enum.auto()  # others at work on the same arrays: it writes only elements that the program writes


@dataclass(frozen=True)
class Pass:
    """A step from a program to an equal one, and all that the pipeline has to know of it.

    It takes a program of one stage and gives one of the same or the next.  `after` names passes that it relies on:
    where a target has them, they run first.  `optional`: neither the meaning of a program nor its lowered form depends
    on it.
    `reshapes`: it gives whole nests another shape, which nobody wants who directs loops one by one.  `knows`: what it
    can meet in a program; it is given the parts of a program without the rest, unless it is only about `wholes`.
    """

    name: str
    run: Callable[[Program, PassContext], Program]
    takes: Stage
    gives: Stage
    after: tuple[str, ...] = ()
    optional: bool = True
    reshapes: bool = False
    knows: Knows = Knows.NOTHING
    wholes: bool = False

    def __call__(self, program: Program, context: PassContext) -> Program:
        return self.run(program, context)

    def again(self, name: str, after: tuple[str, ...], knows: Knows) -> Pass:
        """The same pass later in the pipeline, under another name; once it has run, it may be left out."""
        return replace(self, name=name, after=after, optional=True, knows=knows)


def declared(
    name: str,
    takes: Stage = Stage.OPTIMISED,
    gives: Stage | None = None,
    after: tuple[str, ...] = (),
    optional: bool = True,
    reshapes: bool = False,
    knows: Knows = Knows.NOTHING,
    wholes: bool = False,
) -> Callable[[Callable[[Program, PassContext], Program]], Pass]:
    """The decorator that makes a `Pass` of a function.  If nothing else is said, the stage stays (BUILT aside)."""
    given = gives or (Stage.OPTIMISED if takes is Stage.BUILT else takes)

    def made(run: Callable[[Program, PassContext], Program]) -> Pass:
        return Pass(name, run, takes, given, after, optional, reshapes, knows, wholes)

    return made
