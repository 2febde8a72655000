"""Loops that stay loops but whose iterations are independent.  In: a sequential Loop that could not become a domain (a
while loop inside, say); out: None if its iterations may run in any order, or the reason why not.

    for i: { n = 0; while f(i, n): n = n + 1; out[i] = n }   may run in parallel: n belongs to one iteration, out[i] too
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from weft.analysis.first import first_access
from weft.analysis.scopes import lasting_writes
from weft.ir.expr import AnyDim, Dim, Expr, Op, Reduce, dim_vars
from weft.ir.index import Affine, affine
from weft.ir.program import (
    HAND_BACK,
    Alloc,
    Block,
    Call,
    Check,
    Invoke,
    Library,
    Loop,
    LoopKind,
    Node,
    Out,
    Program,
    Rebind,
    Role,
    ScalarOut,
    Stmt,
    TupleOut,
)
from weft.ir.routines import ROUTINES
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    has_exit,
    map_block,
    map_sub_blocks,
    node_domain,
    node_exprs,
    operands_of,
    reads,
    sub_blocks,
    subexpressions,
    walk,
)
from weft.passes.raising.reductions import accumulation
from weft.records import dataclass

#: Routines of the BLAS library that are called only where one thread computes them.
_ON_ONE_THREAD = ("dot",)


def why_not_independent(
    loop: Loop, program: Program, outside: set[str], reduced: Collection[str] = (), processes: bool = False
) -> str | None:
    """Why the iterations of a loop must stay in order; `outside` names the buffers used elsewhere in the program,
    `reduced` the scalars that the caller will accumulate into by parts.  `processes`: iterations will run in processes
    of their own, where a library that has threads disturbs nobody.

    Of an ASSERTED loop the user says that its iterations store into elements of their own and use scalars of their own;
    accumulations into arrays, and what is left behind for the code after it, are no part of that.
    """
    asserted = loop.kind is LoopKind.ASSERTED
    if not isinstance(loop.dim, Dim) or has_exit(loop.body):
        return "the loop may be left early"
    own: set[str] = set()
    repeatable = not lasting_writes(program)
    for node in walk(loop.body):
        threaded = isinstance(node, Library) and ROUTINES[node.routine].threads and not processes
        threaded = threaded or (isinstance(node, Call) and node.routine not in _ON_ONE_THREAD)
        threaded = threaded or (isinstance(node, Invoke) and not (asserted and repeatable))
        if threaded or (isinstance(node, Check) and not repeatable):
            return "its order matters: it may raise, or calls what weft does not see into"
        moved = (*node.targets, *node.sources) if isinstance(node, Rebind) else _lent(node, program)
        if not all(is_born(loop.body, name) for name in moved):
            return "memory that an iteration makes is used by another one"
        if isinstance(node, Alloc):
            if program.table[node.buffer].role is not Role.LOCAL:
                return "an iteration makes a new array for the caller"
            own.add(node.buffer)
    if own & outside:
        return "an array is made anew in each iteration and used after the loop"
    written = set().union(*(buffers_written(node) for node in loop.body)) - own
    for name in sorted(written):
        buffer = program.table[name]
        if name in reduced:
            continue
        if buffer.rank == 0:
            if name in outside or (not asserted and first_access(loop.body, name) == "read"):
                return f"an iteration uses {name} of the one before, or it is used after the loop"
        elif not (asserted and not accumulates(loop.body, name)) and not _apart(loop, name):
            return f"iterations may touch the same elements of {name}"
    return None


def _lent(node: Node, program: Program) -> tuple[str, ...]:
    """Arrays that a call may give other memory."""
    operands = node.operands if isinstance(node, Invoke) else ()
    return tuple(o.buffer for o in operands if not o.index and program.table[o.buffer].rank)


def is_born(block: Block, name: str) -> bool:
    """Whether memory is made in a block, in every execution of it that uses the memory, before anything else is done
    with it.
    """
    using = [node for node in block if name in buffers_read(node) | buffers_written(node)]
    if not using or (isinstance(using[0], Alloc) and using[0].buffer == name):
        return True
    inner = sub_blocks(using[0])
    return len(using) == 1 and bool(inner) and all(is_born(one, name) for one in inner)


def accumulates(block: Block, name: str) -> bool:
    """Whether some statement adds (or the like) to what an array holds, other than one at a time."""
    for node in block:
        if isinstance(node, Loop) and node.kind is LoopKind.ISOLATED:
            continue
        if isinstance(node, Stmt) and node.buffer == name:
            if node.reduce is not None or accumulation(node) is not None:
                return True
        if any(accumulates(inner, name) for inner in sub_blocks(node)):
            return True
    return False


def handing_back(loop: Loop) -> Loop:
    """A loop whose checks hand the call back: whichever iteration fails first, plain Python finds the right one."""

    def visit(node: Node) -> Node:
        if isinstance(node, Check):
            return replace(node, exception=HAND_BACK, message="", values=())
        return map_sub_blocks(node, lambda block: map_block(block, visit))

    return replace(loop, body=map_block(loop.body, visit))


def outputs(program: Program) -> set[str]:
    """Scalars that are part of a result."""

    def visit(out: Out) -> Iterator[str]:
        if isinstance(out, ScalarOut):
            yield out.buffer
        elif isinstance(out, TupleOut):
            for item in out.items:
                yield from visit(item)

    return {name for out in program.results for name in visit(out)}


def _apart(loop: Loop, name: str) -> bool:
    """Whether different iterations touch different elements: one axis is the same function of the loop alone, or of a
    loop inside that counts less than a step of it (n * i + k, for k below n)."""
    var = loop.dim.var
    inner: set[str] = set()
    counted: dict[str, int] = {}
    starts: dict[str, Affine] = {}
    indices: list[tuple[Expr, ...]] = []
    for node in walk(loop.body):
        inner |= set(dim_vars(node_domain(node)))
        counted |= {dim.var: most for dim in node_domain(node) if (most := _most(dim)) is not None}
        starts |= {d.var: low for d in node_domain(node) if isinstance(d, Dim) and (low := affine(d.lo)) is not None}
        for expr in node_exprs(node):
            for part in subexpressions(expr):
                if isinstance(part, Reduce):
                    inner |= set(dim_vars(part.dims))
            indices += [read.index for read in reads(expr) if read.buffer == name]
        if isinstance(node, Stmt) and node.buffer == name:
            indices.append(node.index)
        elif isinstance(node, Library):
            indices += [operand.index for operand in operands_of(node) if operand.buffer == name]
    for axis in range(len(indices[0])):
        spans = [_span(affine(index[axis]), inner, counted, starts) for index in set(indices)]
        begins = {None if span is None else span.begin for span in spans}
        known = [span for span in spans if span is not None]
        if len(begins) != 1 or not known:
            continue
        reach = max(span.high for span in known) - min(span.low for span in known)
        if reach < abs(known[0].begin.coefficient(var)):
            return True
    return False


@dataclass(frozen=True)
class _Span:
    """Where an index is before the loops inside have begun to count, and how far below and above that they take it."""

    begin: Affine
    low: float
    high: float


def _span(form: Affine | None, inner: set[str], counted: dict[str, int], starts: dict[str, Affine]) -> _Span | None:
    if form is None:
        return None
    within = inner & set(form.names)
    counting = {k for k in within & counted.keys() if not inner & starts[k].names}
    low = high = 0.0
    for k in within:
        if k not in counting:
            return None
        factor = form.coefficient(k)
        low += min(factor * (counted[k] - 1), 0)
        high += max(factor * (counted[k] - 1), 0)
        form = form.without(k) + starts[k].scaled(factor)  # k counts from 0 from here on
    return _Span(form, low, high)


def _most(dim: AnyDim) -> int | None:
    """The most values that the variable of a dimension takes, each one more than the one before; None if not known."""
    if not isinstance(dim, Dim) or dim.step != 1 or (low := affine(dim.lo)) is None:
        return None
    lengths = [end - low for end in _ends(dim.hi)]
    found = [length.constant for length in lengths if not length.terms]
    return max(min(found), 1) if found else None


def _ends(hi: Expr) -> list[Affine]:
    """Sums none of which a bound is above: both of minimum(16, n - i) + i."""
    if isinstance(hi, Op) and hi.op == "minimum":
        return [end for part in hi.args for end in _ends(part)]
    if isinstance(hi, Op) and hi.op == "add" and (more := affine(hi.args[1])) is not None:
        return [end + more for end in _ends(hi.args[0])]
    form = affine(hi)
    return [] if form is None else [form]
