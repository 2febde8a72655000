"""Passes: a Program comes in, an equivalent Program goes out.  Each is `run(program, context)`; what it did, and what
it would not do and why, it writes into `context.log`, from which `explain` speaks to the user.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from weft.directives import NONE, Directives
from weft.errors import NOWHERE, Span
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
    """What every pass gets besides the program."""

    options: Options = field(default_factory=Options)
    log: list[Remark] = field(default_factory=list)
    directives: Directives = NONE

    def done(self, pass_name: str, message: str, span: Span = NOWHERE) -> None:
        self.log.append(Remark(span, pass_name, message))

    def missed(self, pass_name: str, message: str, span: Span = NOWHERE, remedy: str = "") -> None:
        self.log.append(Remark(span, pass_name, message, "missed", remedy))
