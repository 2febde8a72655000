"""The refusal of what has no Core form: where it stands and what it is."""

from __future__ import annotations

import ast


class NotCore(Exception):
    """A construct without a Core form: where it stands (line and column as in `ast`) and what it is."""

    def __init__(self, node: ast.AST, reason: str) -> None:
        self.reason = reason
        self.line: int = getattr(node, "lineno", 0)
        self.column: int = getattr(node, "col_offset", 0)
        self.end_line: int = getattr(node, "end_lineno", None) or self.line
        self.end_column: int = getattr(node, "end_col_offset", None) or self.column
        super().__init__(f"line {self.line}: {reason}")
