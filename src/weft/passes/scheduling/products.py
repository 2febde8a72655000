"""Loops whose iterations call the BLAS library.  In: a sequential Loop with matrix products in it; out: None if its
iterations may run at once, each product on one thread, or the reason why not.

    for i0 in 0 .. n step 96: { t = the product of a panel; c[i, :] = t[i - i0, :] for the rows of the panel }

The panels of a triangle and the items of a batch are products of moderate size: threads that each compute some of them
meet once, and what is done with a product finds it in the cache of its thread.  Shared out within one product by the
library, threads would meet twice a product, and what is between the products would wait for one of them.
"""

from __future__ import annotations

from collections.abc import Collection

from weft.analysis.dependence import blocks_parallel
from weft.analysis.facts import Facts
from weft.ir.expr import Reduce
from weft.ir.program import Alloc, Call, Loop, LoopKind, Program, Role, Stmt
from weft.ir.walk import node_exprs, subexpressions, walk

#: Routines that compute so much for each element they touch that the threads do not wait for memory.
_ROUTINES = ("gemm", "syrk")
_NODES = (Alloc, Call, Stmt, Loop)


def calls_products(loop: Loop) -> bool:
    """Whether a loop of the source has products in its body."""
    return loop.kind is LoopKind.SEQUENTIAL and any(isinstance(node, Call) for node in loop.body)


def why_not_at_once(loop: Loop, program: Program, outside: Collection[str]) -> str | None:
    """Why the products of a loop stay in order; `outside` names the buffers used elsewhere in the program."""
    products = [node for node in walk(loop.body) if isinstance(node, Call)]
    if any(node.routine not in _ROUTINES for node in products):
        return "a routine of the library waits for memory rather than for threads"
    rank = min((len(node.stmt.domain) for node in products), default=0)
    for node in walk(loop.body):
        if not isinstance(node, _NODES):
            return "its order matters: it may raise, or calls what weft does not see into"
        if isinstance(node, Alloc) and (program.table[node.buffer].role is not Role.LOCAL or node.buffer in outside):
            return "an array is made anew in each iteration and used after the loop"
        sums = isinstance(node, Stmt) and any(
            isinstance(part, Reduce) for expr in node_exprs(node) for part in subexpressions(expr)
        )
        if isinstance(node, Loop) or sums or (isinstance(node, Stmt) and len(node.domain) > rank):
            return "what is beside the products may be as much work as they are"
    return blocks_parallel(loop, Facts(), frozenset())
