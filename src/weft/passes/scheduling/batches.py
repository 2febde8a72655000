"""Batches of library routines shared out to threads.  In: a Library node over a batch; out: a loop over pieces of it.

    library fft {a[b, i]} gives {r[b, i]} for b < n   -->   parallel p: library fft ... for 16 p <= b < 16 p + 16

Every transform of a batch is by itself, so that pieces give the same bits.  A piece is large enough for the routine to
work on several lines at once in vectors.  Routines that can fail are left alone: LAPACK has threads of its own.
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis import cost
from weft.ir import index as ix
from weft.ir.expr import ZERO, Dim, Expr, Op, Var, integer, real
from weft.ir.program import Library, Loop, LoopKind
from weft.ir.routines import ROUTINES
from weft.ir.types import INT
from weft.passes.scheduling.lower import Workspace

#: Lines in a piece of a batch along one axis.
PIECE = 16
#: Cycles that a routine takes for one element of its input, roughly.
ROUTINE_CYCLES = 20.0


def why_not_split(node: Library) -> str | None:
    """Why the points of a batch stay in one call, None if they may be shared out."""
    if not node.domain or not isinstance(node.domain[0], Dim):
        return "there is one point only"
    if ROUTINES[node.routine].fails or node.status is not None:
        return "whether it failed is known for the whole batch only"
    if node.domain[0].lo != ZERO or node.domain[0].step != 1:
        return "the batch does not count from zero"
    return None


def split(node: Library, workspace: Workspace) -> Loop | None:
    """The batch in pieces along its first dimension; None if it stays whole."""
    if why_not_split(node) is not None:
        return None
    outer = node.domain[0]
    assert isinstance(outer, Dim)
    size = PIECE if len(node.domain) == 1 else 1
    piece = workspace.new_var("piece")
    start = ix.mul(integer(size), Var(piece))
    end: Expr = Op("minimum", (ix.add(start, integer(size)), outer.hi), INT)
    count = Op("floordiv", (ix.add(outer.hi, integer(size - 1)), integer(size)), INT) if size > 1 else outer.hi
    inner = replace(outer, lo=start, hi=end if size > 1 else ix.add(start, integer(1)))
    work = cost.times(cost.points((*node.domain, *node.inputs[0].dims)), real(ROUTINE_CYCLES))
    body = replace(node, domain=(inner, *node.domain[1:]))
    return Loop(Dim(piece, ZERO, count), (body,), LoopKind.PARALLEL, work=work, span=node.span)
