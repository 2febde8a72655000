"""Races: loops that the user declares parallel and that certainly are not.  In: a program; out: the same program, or a
`ParallelError` that names the variable.

    prange i: a[i] = a[i - 1]        iteration i reads what iteration i - 1 writes
    prange i: s = s * 0.5 + a[i]     s comes from the iteration before

Only what happens in every iteration is held against a loop: what a branch does, or an index that is read from memory,
is the user's word.  Accumulations (s += a[i], h[k[i]] += 1) are no races.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from weft.analysis.dependence import LoopContext, certainly_meet
from weft.analysis.effects import Access, node_write, reads_of
from weft.analysis.facts import Facts
from weft.errors import ParallelError, Span, assigned_name, spelt
from weft.ir.expr import Domain, Expr, Op, Read, Reduce
from weft.ir.program import Alloc, Block, Check, If, Loop, LoopKind, Node, Program, Role, Stmt, While
from weft.ir.text import show_expr
from weft.ir.walk import buffers_written, children, dim_children, expr_buffers, node_exprs, sub_blocks, walk
from weft.passes import PassContext
from weft.passes.reductions import accumulation


def run(program: Program, context: PassContext) -> Program:
    """The program as it is, if none of its asserted loops has a race that is certain."""
    for node in walk(program.body):
        if isinstance(node, Loop) and node.kind is LoopKind.ASSERTED:
            _scalars(node, program)
            _arrays(node, program)
    return program


# --- scalars ---------------------------------------------------------------------------------------------------------


def _scalars(loop: Loop, program: Program) -> None:
    written = set().union(*(buffers_written(node) for node in loop.body))
    for name in sorted(written):
        if program.table[name].rank or program.table[name].role is Role.PARAM:
            continue
        if reads_first(loop.body, name) and reduction_of(loop.body, name) is None and not _is_compared(loop.body, name):
            place = next((n.span for n in walk(loop.body) if isinstance(n, Stmt) and n.buffer == name), loop.span)
            reason = f"each iteration over {loop.dim.var} uses the `{name}` that the iteration before it has set"
            remedy = f"set `{name}` at the start of each iteration, or loop over a range"
            names = (place, loop.span)
            raise ParallelError(_in_source(place, loop), spelt(reason, *names), spelt(remedy, *names))


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
    """An access that every iteration makes, and the statement it belongs to."""

    access: Access
    stmt: Stmt | None
    span: Span


def _arrays(loop: Loop, program: Program) -> None:
    own = {node.buffer for node in walk(loop.body) if isinstance(node, Alloc)}
    writes, reads = _certain(loop.body, ())
    context = LoopContext(loop.dim, Facts())
    for write in writes:
        name = write.access.buffer
        if not write.access.index or name in own or reduction_of(loop.body, name) is not None:
            continue
        for other in (*writes, *reads):
            if other.access.buffer == name and certainly_meet(write.access, other.access, context):
                raise _race(write, other, other in reads, loop)


def _race(write: _Place, other: _Place, is_read: bool, loop: Loop) -> ParallelError:
    name = assigned_name(write.span, write.access.buffer)
    place, again = (f"{name}[{', '.join(map(show_expr, each.access.index))}]" for each in (write, other))
    line = f" (line {other.span.line})" if other.span.line not in (0, write.span.line) else ""
    if is_read:
        reason = f"`{place}` is written in one iteration over {loop.dim.var} and read in another, as `{again}`{line}"
        remedy = f"read from a copy of `{name}` made before the loop, or loop over a range"
    else:
        reason = f"iterations over {loop.dim.var} write the same element: `{place}`"
        reason += f" and `{again}`{line}" if again != place else ""
        remedy = "let each iteration write elements of its own, or loop over a range"
    span = _in_source(write.span, loop)
    return ParallelError(span, spelt(reason, write.span, other.span, loop.span), remedy)


def _in_source(span: Span, loop: Loop) -> Span:
    return span if span.line > 0 else loop.span


def _certain(block: Block, around: Domain) -> tuple[list[_Place], list[_Place]]:
    """The writes and reads of array elements that every execution of a block makes, if its inner loops run."""
    writes: list[_Place] = []
    reads: list[_Place] = []
    for node in block:
        writes += _own_writes(node, around)
        stmt = node if isinstance(node, Stmt) else None
        dims = around + (node.domain if isinstance(node, (Stmt, Check)) else ())
        for expr in node_exprs(node):
            reads += [_Place(access, stmt, node.span) for access in _certain_reads(expr, dims) if access.index]
        if isinstance(node, Loop):
            inner = _certain(sub_blocks(node)[0], (*around, node.dim))
            writes += inner[0]
            reads += inner[1]
    return writes, reads


def _own_writes(node: Node, around: Domain) -> Iterator[_Place]:
    if isinstance(node, Stmt):
        write = node_write(node)
        yield _Place(Access(write.buffer, write.index, around + write.dims), node, node.span)


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
