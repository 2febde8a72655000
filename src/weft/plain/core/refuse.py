"""The refusal of what has no Core form: where it stands, what it is and what to do about it."""

from __future__ import annotations

import ast

from weft.errors import APART

#: What to do about `async`.
WAITLESS = "write it as a plain `def`, without `async`"


class NotCore(Exception):
    """A construct without a Core form: where it stands (line and column as in `ast`), what it is, a remedy."""

    def __init__(self, node: ast.AST, reason: str, remedy: str = APART) -> None:
        self.reason = reason
        self.remedy = remedy
        self.line: int = getattr(node, "lineno", 0)
        self.column: int = getattr(node, "col_offset", 0)
        self.end_line: int = getattr(node, "end_lineno", None) or self.line
        self.end_column: int = getattr(node, "end_col_offset", None) or self.column
        super().__init__(f"line {self.line}: {reason}")
