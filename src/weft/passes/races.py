"""Races: loops that the user declares parallel and that certainly are not.  In: a program; out: the same program, or a
`ParallelError` that names the variable.

    prange i: a[i] = a[i - 1]        iteration i reads what iteration i - 1 writes
    prange i: s = s * 0.5 + a[i]     s comes from the iteration before

Only what is certain is held against a loop: where a branch depends on data, or an index is read from memory, the user
is believed.  Accumulations (s += a[i], h[k[i]] += 1) are no races.
"""

from __future__ import annotations

from collections.abc import Iterator

from weft.analysis.dependence import LoopContext, certainly_meet
from weft.analysis.effects import Access, node_write, reads_of
from weft.analysis.facts import Facts
from weft.errors import ParallelError, Span, assigned_name, source_line, spelt
from weft.ir.domain import Access as Points
from weft.ir.domain import surely_meet
from weft.ir.expr import Dim, Domain, Expr, Op, Read, Reduce, Var, integer
from weft.ir.program import Alloc, Block, Check, If, Loop, LoopKind, Node, Program, Role, Stmt, While
from weft.ir.text import show_expr
from weft.ir.types import PYBOOL
from weft.ir.walk import (
    buffers_written,
    children,
    dim_children,
    expr_buffers,
    node_exprs,
    sub_blocks,
    touched,
    walk,
)
from weft.passes import Knows, PassContext, declared
from weft.passes.raising.reductions import accumulation
from weft.records import dataclass

# A loop whose length is not known is taken to have so many iterations.
ENOUGH = 64
# Stands for the task and what is beside it, as two iterations.
_ANY = Dim("beside", integer(0), integer(2))


@declared("races", after=("simplify",), optional=False, knows=Knows.CALLS | Knows.TASKS)
def run(program: Program, context: PassContext) -> Program:
    """The program as it is, if none of its asserted loops, and no task, has a race that is certain."""
    for node in walk(program.body):
        if isinstance(node, Loop) and node.kind is LoopKind.ASSERTED:
            _scalars(node, program)
            _arrays(node, program)
        elif isinstance(node, Loop) and node.kind is LoopKind.FINISH:
            _tasks(node.body)
    return program


# --- scalars ---------------------------------------------------------------------------------------------------------


def _scalars(loop: Loop, program: Program) -> None:
    written = set().union(*(buffers_written(node) for node in loop.body))
    for name in sorted(written):
        if program.table[name].rank or program.table[name].role is Role.PARAM or _one_at_a_time(loop.body, name):
            continue
        if reads_first(loop.body, name) and reduction_of(loop.body, name) is None and not _is_compared(loop.body, name):
            place = next((n.span for n in walk(loop.body) if isinstance(n, Stmt) and n.buffer == name), loop.span)
            shown = spelt(name, place)
            if shown not in source_line(place):  # a part of a list or dict, which has no name in the source
                shown = assigned_name(place, shown)
            reason = f"each iteration over {loop.dim.var} uses the `{shown}` that the iteration before it has set"
            remedy = f"set `{shown}` at the start of each iteration, or loop over a range"
            raise ParallelError(_in_source(place, loop), spelt(reason, place, loop.span), remedy)


def _one_at_a_time(block: Block, name: str) -> bool:
    """Whether all that touches a scalar is inside isolated blocks."""
    for node in block:
        if isinstance(node, Loop) and node.kind is LoopKind.ISOLATED:
            continue
        if name in touched(node) or not all(_one_at_a_time(part, name) for part in sub_blocks(node)):
            return False
    return True


def reads_first(block: Block, name: str) -> bool:
    """Whether every execution of a block (inner loops run) reads a scalar before anything may write it."""
    for node in block:
        if any(name in _certain_buffers(expr) for expr in node_exprs(node)):
            return True
        if isinstance(node, Stmt) and node.reduce is not None and node.buffer == name:
            return True
        if isinstance(node, If):
            if reads_first(node.then, name) and reads_first(node.orelse, name):
                return True
        elif isinstance(node, While):
            if reads_first(node.prelude, name):
                return True
        elif isinstance(node, Loop) and reads_first(node.body, name):
            return True
        if name in buffers_written(node):
            return False
    return False


def _certain_buffers(expr: Expr) -> set[str]:
    """Buffers that every evaluation reads."""
    return {access.buffer for access in _certain_reads(expr, ())}


def reduction_of(block: Block, name: str) -> str | None:
    """The operation by which a block accumulates into a buffer, if it does nothing else with it."""
    ops: set[str] = set()
    for node in walk(block):
        if isinstance(node, Stmt) and node.buffer == name:
            found = accumulation(node) if node.reduce is None else None
            if node.reduce is None and found is None:
                return None
            ops.add(found.op if found is not None else node.reduce or "")
            used = [*node.index, *(bound for dim in node.domain for bound in dim_children(dim))]
            used.append(found.term if found is not None else node.value)
            if any(name in expr_buffers(expr) for expr in used):
                return None
        elif any(name in expr_buffers(expr) for expr in node_exprs(node)):
            return None
    return ops.pop() if len(ops) == 1 else None


def _is_compared(block: Block, name: str) -> bool:
    """if e < x: x = e, and nothing else is done with x: an extreme, which the raise pass knows better."""
    for node in walk(block):
        if not any(name in expr_buffers(expr) for expr in node_exprs(node)):
            continue
        guards = isinstance(node, If) and any(name in buffers_written(inner) for inner in node.then + node.orelse)
        if not guards and not (isinstance(node, Stmt) and node.buffer == name and _is_choice(node.value)):
            return False
    return True


def _is_choice(value: Expr) -> bool:
    return isinstance(value, Op) and value.op == "select"


# --- arrays ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Place:
    """An access that every iteration makes in which the conditions hold, and where it is in the source."""

    access: Access
    span: Span
    conditions: tuple[Expr, ...] = ()


def _arrays(loop: Loop, program: Program) -> None:
    own = {node.buffer for node in walk(loop.body) if isinstance(node, Alloc)}
    writes, reads = _certain(loop.body, ())
    context = LoopContext(loop.dim, Facts())
    for write in writes:
        name = write.access.buffer
        if not write.access.index or name in own or reduction_of(loop.body, name) is not None:
            continue
        for other in (*writes, *reads):
            if other.access.buffer == name and _meet(write, other, context):
                raise _race(write, other, other in reads, loop)


def _meet(write: _Place, other: _Place, loop: LoopContext) -> bool:
    """Whether two accesses certainly touch a common element in different iterations."""
    if not write.conditions and not other.conditions and certainly_meet(write.access, other.access, loop):
        return True
    if not isinstance(loop.dim, Dim):
        return False
    one, two = (Points((loop.dim, *each.access.dims), each.access.index, each.conditions) for each in (write, other))
    return surely_meet(one, two, loop.dim.var, ENOUGH)


def _race(write: _Place, other: _Place, is_read: bool, loop: Loop) -> ParallelError:
    name = assigned_name(write.span, write.access.buffer)
    place, again = (_element(name, each.access.index, loop.dim.var) for each in (write, other))
    line = f" (line {other.span.line})" if other.span.line not in (0, write.span.line) else ""
    if is_read:
        reason = f"`{place}` is written in one iteration over {loop.dim.var} and read in another, as `{again}`{line}"
        remedy = f"read from a copy of `{name}` made before the loop, or loop over a range"
    else:
        reason = f"iterations over {loop.dim.var} write the same element: `{place}`"
        reason += f" and `{again}`{line}" if again != place else ""
        remedy = f"make `{name}` inside the loop if each iteration uses one of its own, or loop over a range"
    span = _in_source(write.span, loop)
    return ParallelError(span, spelt(reason, write.span, other.span, loop.span), remedy)


def _element(name: str, index: tuple[Expr, ...], var: str) -> str:
    """An element as in the source; an axis of a slice, whose variable would be taken for that of the loop, is `:`."""

    def is_axis(part: Expr) -> bool:
        return isinstance(part, Var) and part.name.startswith(f"{var}_") and part.name[len(var) + 1 :].isdigit()

    return f"{name}[{', '.join(':' if is_axis(part) else show_expr(part) for part in index)}]"


# --- tasks -----------------------------------------------------------------------------------------------------------


def _tasks(block: Block) -> None:
    """What a task of a finish writes is touched by nothing beside it: by no task of another iteration, by nothing that
    follows in its block.  (Scalars are the front end's to check.)
    """
    for at, node in enumerate(block):
        if not isinstance(node, Loop) or node.kind is LoopKind.FINISH:
            continue
        if node.kind is LoopKind.TASK:
            _apart(node, block[at + 1 :], LoopContext(_ANY, Facts()))
        elif node.kind is LoopKind.SEQUENTIAL:
            for task in node.body:
                if isinstance(task, Loop) and task.kind is LoopKind.TASK:
                    _apart(task, node.body, LoopContext(node.dim, Facts()))
            _tasks(node.body)


def _apart(task: Loop, beside: Block, loop: LoopContext) -> None:
    own = {node.buffer for node in walk(beside) if isinstance(node, Alloc)}
    writes, _ = _certain(task.body, ())
    others, reads = _certain(beside, ())
    for write in writes:
        name = write.access.buffer
        if not write.access.index or name in own:
            continue
        for other in (*others, *reads):
            if other.access.buffer == name and _meet(write, other, loop):
                raise _beside(write, other, other in reads, task)


def _beside(write: _Place, other: _Place, is_read: bool, task: Loop) -> ParallelError:
    name = assigned_name(write.span, write.access.buffer)
    place, again = (f"{name}[{', '.join(map(show_expr, each.access.index))}]" for each in (write, other))
    line = f" (line {other.span.line})" if other.span.line not in (0, write.span.line) else ""
    reason = f"`{place}` is written by a task and {'read' if is_read else 'written'} beside it, as `{again}`{line}"
    remedy = "let tasks write to elements of their own, or do it in `with weft.isolated()`"
    return ParallelError(_in_source(write.span, task), spelt(reason, write.span, other.span, task.span), remedy)


def _in_source(span: Span, loop: Loop) -> Span:
    return span if span.line > 0 else loop.span


def _certain(block: Block, around: Domain, tests: tuple[Expr, ...] = ()) -> tuple[list[_Place], list[_Place]]:
    """The writes and reads of array elements that every execution of a block makes, if its inner loops run and the
    tests hold."""
    writes: list[_Place] = []
    reads: list[_Place] = []
    for node in block:
        if isinstance(node, Stmt):
            write = node_write(node)
            writes.append(_Place(Access(write.buffer, write.index, around + write.dims), node.span, tests))
        dims = around + (node.domain if isinstance(node, (Stmt, Check)) else ())
        for expr in node_exprs(node):
            reads += [_Place(access, node.span, tests) for access in _certain_reads(expr, dims) if access.index]
        for inner, outer, known in _inside(node, around, tests):
            found = _certain(inner, outer, known)
            writes += found[0]
            reads += found[1]
    return writes, reads


def _inside(node: Node, around: Domain, tests: tuple[Expr, ...]) -> Iterator[tuple[Block, Domain, tuple[Expr, ...]]]:
    """The blocks in a node with the dimensions and the tests around them."""
    if isinstance(node, Loop):
        if node.kind is not LoopKind.ISOLATED:  # one at a time is no race
            yield node.body, (*around, node.dim), tests
    elif isinstance(node, If):
        yield node.then, around, (*tests, node.condition)
        yield node.orelse, around, (*tests, Op("not", (node.condition,), PYBOOL))


def _certain_reads(expr: Expr, dims: Domain) -> Iterator[Access]:
    """Reads of every evaluation: not those in a branch of a select."""
    if isinstance(expr, Reduce):
        yield from reads_of(expr, dims)
        return
    if isinstance(expr, Read):
        yield Access(expr.buffer, expr.index, dims)
    parts = expr.args[:1] if isinstance(expr, Op) and expr.op == "select" else children(expr)
    for part in parts:
        yield from _certain_reads(part, dims)
