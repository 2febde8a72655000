"""Values of the iteration before.  In: a loop that takes a value along for the next iteration only; out: the first
iteration by itself, and a loop whose iterations compute that value anew and need nothing of each other.

    for i in 0 .. n: { a[i] = b[i] - p;  p = b[i] }
      -->   if 0 < n: { a[0] = b[0] - p;  p = b[0] };   for i in 1 .. n: { p = b[i - 1];  a[i] = b[i] - p;  p = b[i] }

What an iteration leaves in the variable must be told by what the loop does not change, and cost little.  A value that
is taken along twice (the last but one) takes another turn.
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis.effects import flops
from weft.analysis.first import first_access
from weft.ir.expr import Dim, Expr, Op, Var, integer
from weft.ir.index import add as plus
from weft.ir.program import Block, If, Loop, Node, Program, Role, Stmt
from weft.ir.types import PYBOOL
from weft.ir.walk import (
    buffers_written,
    expr_buffers,
    has_exit,
    is_repeatable,
    map_node_exprs,
    map_sub_blocks,
    names_of,
    substitute,
    walk,
)
from weft.passes import Knows, PassContext, declared
from weft.passes.raising.reductions import accumulation
from weft.passes.rename import renamed
from weft.passes.scheduling.scans import places_of, values_after

PASS = "previous"
#: The body is written twice.
MOST_STATEMENTS = 6
#: Cycles that computing a value once more may take.
MOST_CYCLES = 8
#: How far back values are looked for.
MOST_TURNS = 3


@declared("previous", after=("checks", "detach"), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Every loop that takes along nothing else, innermost first."""
    if not any(isinstance(node, Loop) for node in walk(program.body)):
        return program
    taken: set[str] = set()

    def visit(node: Node) -> Block:
        node = map_sub_blocks(node, lambda inner: tuple(new for n in inner for new in visit(n)))
        found = parted(node, program) if isinstance(node, Loop) else "no loop"
        if isinstance(found, str) or not isinstance(node, Loop):
            return (node,)
        taken.update(() if taken else names_of(program))
        *before, last = found
        context.done(PASS, f"the loop over {node.dim.var} computes anew what it took along", node.span)
        return (*renamed(tuple(before), taken), last)

    body: list[Node] = []
    for node in program.body:
        body += visit(node)
    unchanged = len(body) == len(program.body) and all(new is old for new, old in zip(body, program.body))
    return program if unchanged else replace(program, body=tuple(body))


def parted(loop: Loop, program: Program) -> Block | str:
    """The first iterations by themselves and the loop over the others, or why the loop must stay."""
    first: list[Node] = []
    for _ in range(MOST_TURNS):
        carried = _carried(loop, program)
        if isinstance(carried, str):
            return carried
        if not carried:
            return (*first, loop) if first else "it takes nothing along"
        values = values_after(loop.body, program)
        written = set().union(*(buffers_written(node) for node in loop.body))
        known = {name: value for name in carried if (value := values.get(name)) is not None}
        known = {name: value for name, value in known.items() if why_not_anew(value, written) is None}
        if not known:
            return "what it takes along depends on what it changes"
        single, loop = _without_first(loop, known)
        first.append(single)
    return "values of too many iterations before"


def _carried(loop: Loop, program: Program) -> list[str] | str:
    """The variables that an iteration takes along, sums aside; a reason if the loop is none that could be parted."""
    statements = [node for node in walk(loop.body) if not isinstance(node, If)]
    if not isinstance(loop.dim, Dim) or not all(isinstance(node, Stmt) for node in statements) or has_exit(loop.body):
        return "its body is more than statements"
    written = set().union(*(buffers_written(node) for node in loop.body))
    if len(statements) > MOST_STATEMENTS or expr_buffers(loop.dim.lo) & written or expr_buffers(loop.dim.hi) & written:
        return "its body is too long, or its bounds change"
    scalars = sorted(name for name in written if not program.table[name].rank)
    if any(program.table[name].role is not Role.LOCAL for name in scalars):
        return "it changes a variable that is not its own"
    for name in written - set(scalars):
        stored = {node.index for node in statements if isinstance(node, Stmt) and node.buffer == name}
        if len(stored | places_of(loop.body, name)) > 1:
            return "elements of an array may be taken along as well"
    sums = {node.buffer for node in statements if isinstance(node, Stmt) and accumulation(node) is not None}
    return [name for name in scalars if name not in sums and first_access(loop.body, name) == "read"]


def why_not_anew(value: Expr, written: set[str]) -> str | None:
    """Why the value that the iteration before left cannot be computed once more."""
    if expr_buffers(value) & written:
        return "it depends on what the loop changes"
    if not is_repeatable(value) or flops(value) > MOST_CYCLES:
        return "computing it twice costs too much, or may give two results"
    return None


def _without_first(loop: Loop, known: dict[str, Expr]) -> tuple[Node, Loop]:
    dim = loop.dim
    assert isinstance(dim, Dim)
    step = integer(dim.step)
    single = tuple(map_node_exprs(node, lambda e: substitute(e, {dim.var: dim.lo})) for node in loop.body)
    runs = Op("lt", (dim.lo, dim.hi) if dim.step > 0 else (dim.hi, dim.lo), PYBOOL)
    back = {dim.var: plus(Var(dim.var), integer(-dim.step))}
    anew = tuple(Stmt((), name, (), substitute(value, back), span=loop.span) for name, value in known.items())
    rest = replace(loop, dim=replace(dim, lo=plus(dim.lo, step)), body=(*anew, *loop.body))
    return If(runs, single, span=loop.span), rest


__all__ = ["parted", "run", "why_not_anew"]
