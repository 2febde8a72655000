"""Ends: places along a line are tested where it begins and ends.  In: a lowered program; out: the same, in which loops
that go along an array by a step known only at run time test their places once.

    for q in 0 .. m: { k = i * i + i * q;  check 0 <= k and k < n;  a[k] = 0 }
        -->  first = i * i;  last = first + i * (m - 1)
             if 0 <= first < n and 0 <= last < n: for q in 0 .. m: { k = first + i * q;  a[k] = 0 }
             else: the loop as it was

Between two places of the array there are only places of the array, so that nothing in between can leave 64 bits either.
The numbers that the last place is computed from are small then, or the loop runs as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weft.analysis.cost import constant_extent
from weft.ir.expr import Cast, Const, Dim, Expr, Op, Read, Var, integer
from weft.ir.program import Block, Check, If, Loop, LoopKind, Node, Program, Stmt
from weft.ir.types import INT, PYBOOL, DType, ScalarType
from weft.ir.verify import Stage
from weft.ir.walk import (
    buffers_written,
    expr_buffers,
    free_vars,
    map_sub_blocks,
    rewrite,
    subexpressions,
    substitute,
    walk,
)
from weft.passes import Knows, PassContext, declared
from weft.passes.rename import renamed
from weft.passes.scheduling.lower import Workspace
from weft.passes.wrapped import unwrapped
from weft.records import dataclass

PASS = "ends"
#: Factors up to here have products that are far from leaving 64 bits.
_SMALL = 2**31
_WRAPPING = ScalarType(DType.I64)


@declared(PASS, takes=Stage.LOWERED, after=("store", "signs"), knows=Knows.BESIDE | Knows.TASKS | Knows.CALLS)
def run(program: Program, context: PassContext) -> Program:
    """Every innermost loop that goes along an array by a step which is no constant."""
    if not any(isinstance(node, Loop) and _may(node) for node in walk(program.body)):
        return program
    workspace = Workspace.of(program)

    def visit(node: Node) -> Block:
        node = map_sub_blocks(node, blocks)
        lines = list(_lines(node)) if isinstance(node, Loop) and _may(node) else []
        if not isinstance(node, Loop) or not any(_has_product(line.place) for line in lines):
            return (node,)
        context.done(PASS, "places along a line are tested where it begins and ends", node.span)
        return _Writer(node, lines, workspace).nodes()

    def blocks(block: Block) -> Block:
        new = tuple(made for node in block for made in visit(node))
        return block if len(new) == len(block) and all(a is b for a, b in zip(new, block)) else new

    body = blocks(program.body)
    return (
        program
        if body is program.body
        else replace(program, body=body, buffers=program.buffers + tuple(workspace.added))
    )


@dataclass(frozen=True)
class _Line:
    """`stmts` make an index of `place`, which is `place` at the first iteration plus `step` for each after it; `check`
    tests that it is one of an axis of `extent` elements."""

    stmts: tuple[Stmt, ...]
    check: Check
    place: Expr
    step: Expr
    extent: Expr


# --- what there is ---------------------------------------------------------------------------------------------------


def _may(loop: Loop) -> bool:
    dim = loop.dim
    if loop.kind is not LoopKind.SEQUENTIAL or not isinstance(dim, Dim) or dim.step != 1 or constant_extent(dim):
        return False
    return all(isinstance(node, (Stmt, Check, If)) for node in walk(loop.body)) and any(
        isinstance(node, Check) for node in walk(loop.body)
    )


def _lines(loop: Loop) -> Iterator[_Line]:
    """The tests of places along a line in a loop's body, branches aside."""
    written = buffers_written(loop)
    known: dict[str, Expr] = {}
    made: dict[str, Stmt] = {}

    def resolved(expr: Expr) -> Expr:
        return rewrite(expr, lambda part: known.get(part.buffer, part) if isinstance(part, Read) else part)

    previous: Node | None = None
    for node in loop.body:
        if isinstance(previous, Stmt) and isinstance(node, Check):
            kept = unwrapped(previous, node)
            place = None if kept is None else resolved(kept)
            step = None if place is None else step_of(place, loop.dim.var, written)
            if place is not None and step is not None and isinstance(node.condition, Op):
                high = node.condition.args[1]
                assert isinstance(high, Op)
                extent = high.args[1]
                if not (expr_buffers(extent) & written or loop.dim.var in free_vars(extent)):
                    source = made.get(kept.buffer) if isinstance(kept, Read) and kept.buffer in known else None
                    yield _Line((previous,) if source is None else (source, previous), node, place, step, extent)
        for name in buffers_written(node):
            known.pop(name, None)
        if isinstance(node, Stmt) and not (node.index or node.domain or node.reduce):
            value = resolved(node.value)
            if not expr_buffers(value) & written:
                known[node.buffer], made[node.buffer] = value, node
        previous = node


def step_of(place: Expr, name: str, written: set[str]) -> Expr | None:
    """By how much an integer grows with a variable: a constant, or a number that is there; None if it is neither, or if
    what else it is made of is written."""
    if expr_buffers(place) & written or place.type != INT:
        return None
    if name not in free_vars(place):
        return integer(0)
    if isinstance(place, Var):
        return integer(1)
    if not isinstance(place, Op) or place.op not in ("add", "sub", "mul"):
        return None
    left, right = place.args
    if place.op == "mul":
        factor, line = (left, right) if name in free_vars(right) else (right, left)
        step = step_of(line, name, written)
        if step != integer(1) or name in free_vars(factor):
            return None
        is_there = isinstance(factor, (Var, Const)) or (isinstance(factor, Read) and not factor.index)
        return factor if is_there and factor.type == INT else None
    steps = step_of(left, name, written), step_of(right, name, written)
    if steps[0] is None or steps[1] is None:
        return None
    if isinstance(steps[0], Const) and isinstance(steps[1], Const):
        second = int(steps[1].value.real)
        return integer(int(steps[0].value.real) + (second if place.op == "add" else -second))
    if steps[1] == integer(0):
        return steps[0]
    return steps[1] if steps[0] == integer(0) and place.op == "add" else None


def _has_product(place: Expr) -> bool:
    """Whether the place is computed by a product that may leave 64 bits."""
    return any(
        isinstance(part, Op) and part.op == "mul" and not any(isinstance(arg, Const) for arg in part.args)
        for part in subexpressions(place)
    )


# --- the rewrite -----------------------------------------------------------------------------------------------------


def _wrapping(expr: Expr) -> Expr:
    return Cast(expr, _WRAPPING)


def _compared(op: str, left: Expr, right: Expr) -> Expr:
    return Op(op, (left, right), PYBOOL)


@dataclass
class _Writer:
    loop: Loop
    lines: list[_Line]
    workspace: Workspace

    def nodes(self) -> Block:
        dim = self.loop.dim
        assert isinstance(dim, Dim)
        before: list[Node] = []
        lo, hi = self.value(before, "begin", dim.lo), self.value(before, "end", dim.hi)
        trips = Op("sub", (_wrapping(hi), _wrapping(lo)), _WRAPPING)
        span = Op("sub", (trips, Const(1, _WRAPPING)), _WRAPPING)
        conditions = [_compared("ge", lo, integer(0)), _compared("le", hi, integer(_SMALL))]
        inside: list[Node] = []
        values: dict[int, Stmt] = {}
        for line in self.lines:
            first = self.value(inside, "first", substitute(line.place, {dim.var: lo}))
            step = _wrapping(line.step)
            last = self.value(inside, "last", Cast(_stepped(first, step, span), INT))
            conditions += [
                *_within(line.step),
                *(_compared("ge", end, integer(0)) for end in (first, last)),
                *(_compared("lt", end, line.extent) for end in (first, last)),
            ]
            along = Op("sub", (_wrapping(Var(dim.var)), _wrapping(lo)), _WRAPPING)
            for stmt in line.stmts:
                values[id(stmt)] = replace(stmt, value=Cast(_stepped(first, step, along), INT))
        checks = {id(line.check) for line in self.lines}
        body = tuple(values.get(id(node), node) for node in self.loop.body if id(node) not in checks)
        fast = replace(self.loop, dim=replace(dim, lo=lo, hi=hi), body=body)
        holds = conditions[0]
        for condition in conditions[1:]:
            holds = Op("and", (holds, condition), PYBOOL)
        slow = renamed((self.loop,), self.workspace.taken)
        chosen = If(holds, (fast,), slow, span=self.loop.span)
        return (*before, If(_compared("lt", lo, hi), (*inside, chosen), span=self.loop.span))

    def value(self, block: list[Node], hint: str, expr: Expr) -> Expr:
        """A number that is computed once."""
        if isinstance(expr, (Const, Var)):
            return expr
        buffer = self.workspace.new_buffer(hint, INT)
        block.append(Stmt((), buffer.name, (), expr, span=self.loop.span))
        return Read(buffer.name, (), INT)


def _stepped(first: Expr, step: Expr, times: Expr) -> Expr:
    moved = Op("mul", (step, times), _WRAPPING)
    return Op("add", (_wrapping(first), moved), _WRAPPING)


def _within(step: Expr) -> list[Expr]:
    if isinstance(step, Const):
        return [] if abs(int(step.value.real)) <= _SMALL else [_compared("lt", integer(0), integer(0))]
    return [_compared("ge", step, integer(-_SMALL)), _compared("le", step, integer(_SMALL))]


__all__ = ["run", "step_of"]
