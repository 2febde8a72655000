"""A version of a function on its way.  In: what the front end and the passes made; out: one record, which a target
completes with code and `explain` shows.
"""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from weft.errors import Span
from weft.frontend import builder
from weft.frontend.source import Source
from weft.ir.program import Program
from weft.passes import Remark
from weft.records import dataclass
from weft.runtime import descriptor as D


@dataclass
class Compiled:
    """One version of a function and everything that can be said of it."""

    signature: str
    source: Source
    built: builder.Built
    program_built: Program
    program_optimised: Program
    program_lowered: Program
    c_source: str | None = None
    remarks: list[Remark] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    fallbacks: list[tuple[Span, str, str]] = field(default_factory=list)
    version: D.Version | None = None
    flags: tuple[str, ...] = ()
    library: Path | None = None
