"""Dimensions that a pragma names (`#pragma :M=>parallel :N=>reduction(sum:y)`).  In: the node of a statement and what
the build has made of it; out: an error if the statement has fewer of them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from weft.frontend.pragmas import DIMENSIONS, Named
from weft.ir.expr import Reduce
from weft.ir.program import Alloc, Check, If, Node, Stmt
from weft.ir.walk import subexpressions, walk

#: What a statement may become for its dimensions to be those of domains.
_COUNTED = (Stmt, Alloc, Check, If)


def check_dimensions(node: ast.stmt, made: Sequence[Node]) -> None:
    """PragmaError if a pragma names more dimensions than the statement has; `made`: what it has become."""
    note = getattr(node, DIMENSIONS, None)
    if not isinstance(note, Named):
        return
    inner = [*walk(tuple(made))]
    statements = [each for each in inner if isinstance(each, Stmt)]
    if not statements or not all(isinstance(each, _COUNTED) for each in inner):
        return  # nothing yet, or loops and calls, whose dimensions no domain tells
    values = (each for stmt in statements for each in subexpressions(stmt.value))
    summed = sum(len(each.dims) for each in values if isinstance(each, Reduce))
    most = max(len(stmt.domain) for stmt in statements) + summed
    if len(note.dimensions) > most:
        many = f"{most} dimension{'s' * (most != 1)}" if most else "no dimension"
        reason = f"the statement has {many}, the pragma names {len(note.dimensions)}: {' '.join(note.dimensions)}"
        raise note.pragma.problem(reason, "name each dimension once, also those that are summed, and no others")
