"""Unroll: small nests whose loops are known now are written out.  In: a program with loops; out: the same without those
in which a loop's bounds speak of another one's variable, and both are small constants.

    for t: for k in 0 .. 3: for i in k + 1 .. 3: a[t, i, k] = a[t, i, k] / a[t, k, k]
        -->  for t: { a[t, 1, 0] = a[t, 1, 0] / a[t, 0, 0];  a[t, 2, 0] = a[t, 2, 0] / a[t, 0, 0];
                      a[t, 2, 1] = a[t, 2, 1] / a[t, 1, 1] }

Factorizations and solves of many small matrices: what a loop of three iterations carries keeps everything around it
from being a vector, and each takes longer to begin than to run.  Written out, the matrices are all that is looped over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weft.analysis.cost import constant_extent
from weft.analysis.facts import Facts
from weft.ir.expr import Dim, Expr, integer
from weft.ir.index import add
from weft.ir.program import Block, Check, If, Loop, LoopKind, Node, Program, Stmt
from weft.ir.walk import (
    free_vars,
    has_exit,
    map_block,
    map_node_exprs,
    map_sub_blocks,
    names_of,
    substitute,
    walk,
)
from weft.passes import Knows, PassContext, declared
from weft.passes.rename import renamed, renamed_expr
from weft.passes.simplifying.algebra import Algebra
from weft.records import dataclass

PASS = "unroll"
#: Statements that a nest becomes, and iterations of any of its loops.
MOST_STATEMENTS, MOST_ITERATIONS = 128, 16


@declared(PASS, after=("checks",), reshapes=True, knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Every such nest below a loop that stays."""
    if not any(isinstance(node, Loop) and _varies(node) for node in walk(program.body)):
        return program
    writer = _Writer(Algebra(context.options.fp == "strict"), names_of(program))
    body = map_block(program.body, lambda node: map_sub_blocks(node, lambda block: writer.within(node, block)))
    if not writer.done:
        return program
    context.done(PASS, f"{writer.done} small nests of loops are written out", program.span)
    return replace(program, body=body)


def why_not(loop: Loop) -> str | None:
    """Why a nest stays a nest; None if it is written out."""
    if not _varies(loop):
        return "no loop's bounds change with another one's variable"
    if has_exit(loop.body) or not all(isinstance(node, (Stmt, Check, Loop, If)) for node in walk((loop,))):
        return "more in it than assignments and branches"
    try:
        count = sum(1 for _ in _statements((loop,), {}))
    except _Unknown:
        return "the number of its iterations is not known now"
    return None if 0 < count <= MOST_STATEMENTS else "it would become too long"


class _Unknown(Exception):
    """A loop whose iterations are not known, or are too many."""


def _varies(loop: Loop) -> bool:
    """Whether the bounds of a loop inside change with the variable of the loop, or of one between them."""
    own: set[str] = set()
    for node in walk((loop,)):
        if isinstance(node, Loop) and isinstance(node.dim, Dim):
            if (free_vars(node.dim.lo) | free_vars(node.dim.hi)) & own:
                return True
            own.add(node.dim.var)
    return False


def _iterations(loop: Loop, values: dict[str, Expr]) -> Iterator[dict[str, Expr]]:
    dim = loop.dim
    if not isinstance(dim, Dim) or loop.kind is not LoopKind.SEQUENTIAL:
        raise _Unknown
    here = replace(dim, lo=substitute(dim.lo, values), hi=substitute(dim.hi, values))
    extent = constant_extent(here)
    if extent is None or extent > MOST_ITERATIONS:
        raise _Unknown
    for number in range(extent):
        yield {**values, dim.var: add(here.lo, integer(number * dim.step))}


def _statements(block: Block, values: dict[str, Expr]) -> Iterator[Node]:
    """What a block would be made of, one by one, so that counting can end early."""
    for node in block:
        if isinstance(node, Loop):
            for inner in _iterations(node, values):
                yield from _statements(node.body, inner)
        elif isinstance(node, If):
            yield node
            yield from _statements(node.then, values)
            yield from _statements(node.orelse, values)
        else:
            yield node


@dataclass
class _Writer:
    algebra: Algebra
    taken: set[str]
    done: int = 0

    def within(self, node: Node, block: Block) -> Block:
        """A block inside `node`, the nests in it written out if that is a loop which stays."""
        out: list[Node] = []
        for inner in block:
            if isinstance(node, Loop) and isinstance(inner, Loop) and why_not(inner) is None:
                self.done += 1
                out += self.written((inner,), {})
            else:
                out.append(map_sub_blocks(inner, lambda b, around=inner: self.within(around, b)))  # type: ignore[misc]
        return block if len(out) == len(block) and all(a is b for a, b in zip(out, block)) else tuple(out)

    def written(self, block: Block, values: dict[str, Expr]) -> Block:
        out: list[Node] = []
        for node in block:
            if isinstance(node, Loop):
                for inner in _iterations(node, values):
                    out += self.written(node.body, inner)
            elif isinstance(node, If):
                then, orelse = self.written(node.then, values), self.written(node.orelse, values)
                condition = renamed_expr(self.value(node.condition, values), self.taken)
                out.append(replace(node, condition=condition, then=then, orelse=orelse))
            else:
                here = map_node_exprs(node, lambda e: self.value(e, values))
                out += renamed((here,), self.taken)
        return tuple(out)

    def value(self, expr: Expr, values: dict[str, Expr]) -> Expr:
        return self.algebra.simplify(substitute(expr, values), Facts())


__all__ = ["run", "why_not"]
