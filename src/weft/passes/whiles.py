"""Loops that count.  In: while loops that end when a variable, to which every iteration adds a constant, reaches what
no iteration changes; out: loops over a range.

    k = 0; while k < n: { A(k);  k = k + 1;  B(k) }
      -->  k = 0; for i in k .. n: { A(i);  B(i + 1) };  k = maximum(k, n)

Nothing leaves such a loop but its condition, and the number of iterations is known before the first.
"""

from __future__ import annotations

from dataclasses import replace

from weft.ir.expr import Cast, Const, Dim, Expr, Op, Read, Var
from weft.ir.index import add as plus
from weft.ir.index import mul as product
from weft.ir.index import sub as minus
from weft.ir.program import Block, Loop, Node, Program, Role, Stmt, While
from weft.ir.types import INT
from weft.ir.walk import (
    buffers_written,
    expr_buffers,
    fresh,
    has_exit,
    map_node_exprs,
    map_sub_blocks,
    names_of,
    reads,
    walk,
)
from weft.passes import Knows, PassContext, declared
from weft.passes.counters import replaced, step_of, value_after
from weft.records import dataclass

PASS = "whiles"
# variable OP bound, by the side on which the variable stands
_TURNED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


@dataclass(frozen=True)
class Count:
    """The body's node at `position` adds `step` to the variable `name`; the loop runs while it is before `bound`."""

    name: str
    position: int
    step: int
    bound: Expr


@declared("whiles", after=("simplify", "continues"), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Every while loop of the program that counts."""
    if not any(isinstance(node, While) for node in walk(program.body)):
        return program
    taken = names_of(program)

    def block(nodes: Block) -> Block:
        out: list[Node] = []
        for node in nodes:
            node = map_sub_blocks(node, block)
            count = count_of(node, program) if isinstance(node, While) else None
            if isinstance(node, While) and isinstance(count, Count):
                context.done(PASS, f"a loop in which `{count.name}` counts the iterations", node.span)
                out.extend(_counted(node, count, fresh(count.name, taken), value_after(out, count.name)))
                continue
            if isinstance(node, While) and isinstance(count, str):
                context.missed(PASS, f"stays a while loop: {count}", node.span)
            out.append(node)
        return tuple(out)

    return replace(program, body=block(program.body))


def count_of(loop: While, program: Program) -> Count | str:
    """What a while loop counts, or why it does not."""
    test = loop.condition
    while isinstance(test, Cast):
        test = test.value
    if loop.prelude or not isinstance(test, Op) or test.op not in _TURNED:
        return "its condition is not a comparison with a counter"
    if has_exit(loop.body):
        return "it may be left in the middle"
    written = [name for node in walk(loop.body) for name in buffers_written(map_sub_blocks(node, lambda _: ()))]
    left, right = test.args
    for this, bound, op in ((left, right, test.op), (right, left, _TURNED[test.op])):
        if not isinstance(this, Read) or this.index or this.type != INT or bound.type != INT or has_array(bound):
            continue
        if expr_buffers(bound) & {*written, this.buffer} or written.count(this.buffer) != 1:
            continue
        if program.table[this.buffer].role is not Role.LOCAL or this.buffer in _in_shapes(program):
            continue
        for position, node in enumerate(loop.body):
            step = step_of(node)
            if step is not None and isinstance(node, Stmt) and node.buffer == this.buffer:
                if step == 0 or (step > 0) != (op in ("lt", "le")):
                    return "its counter runs away from the end"
                more = {"le": 1, "ge": -1}.get(op, 0)
                return Count(this.buffer, position, step, plus(bound, Const(more, INT)) if more else bound)
    return "no variable counts its iterations"


def has_array(expr: Expr) -> bool:
    """Whether an element of an array is read."""
    return any(read.index for read in reads(expr))


def _in_shapes(program: Program) -> set[str]:
    return {name for buffer in program.buffers for extent in buffer.shape for name in expr_buffers(extent)}


def _counted(loop: While, count: Count, variable: str, start: Expr | None) -> Block:
    first: Expr = Read(count.name, (), INT) if start is None else start
    step = Const(count.step, INT)
    here: Expr = Var(variable)
    body: list[Node] = []
    for position, node in enumerate(loop.body):
        if position == count.position:
            here = plus(here, step)
        else:
            body.append(map_node_exprs(node, lambda e, now=here: replaced(e, count.name, now)))  # type: ignore[misc]
    span = minus(count.bound, first) if count.step > 0 else minus(first, count.bound)
    if abs(count.step) > 1:
        size = Const(abs(count.step), INT)
        span = Op("floordiv", (plus(span, Const(abs(count.step) - 1, INT)), size), INT)
    trips = Op("maximum", (span, Const(0, INT)), INT)
    end = Stmt((), count.name, (), plus(first, product(step, trips)), span=loop.span)
    return Loop(Dim(variable, first, count.bound, count.step), tuple(body), span=loop.span), end
