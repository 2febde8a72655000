"""What the compiler of plain Python tells: refusals, and remarks on types."""

from __future__ import annotations

from weft.errors import Span, Unsupported
from weft.records import dataclass


class Refusal(Unsupported):
    """What plain Python has no native form for: a place, a reason that names the thing, a remedy."""


@dataclass(frozen=True)
class TypeRemark:
    """The type of a variable, told at the line that first gives it a value."""

    span: Span
    message: str
    pass_name: str = "types"
    kind: str = "done"
    remedy: str = ""
