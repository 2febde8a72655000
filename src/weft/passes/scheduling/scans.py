"""Scans: loops whose iterations need nothing of each other but running values.  In: a loop that stays a loop; out: what
it runs, as variables with an operation and a term each, or the reason why it is no scan.

    for i: { s = s + x[i];  y[i] = s }             a running sum of x[i]; y gets it
    for i: { y[i] = y[i - 1] + x[i] }              the same, carried along in an array
    for i: { if x[i] > m: m = x[i];  y[i] = m }    a running maximum
    for i: { s = s + x[i];  m = max(m, s) }        a running sum, and a running maximum that needs it

It is told by meaning: the body is executed symbolically, so that each variable is known at the end of an iteration in
terms of what the iteration began with.  Everything else in the body may be whatever is independent between iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from weft.analysis.first import first_access
from weft.ir.expr import Cast, Dim, Expr, Op, Read, Var, integer
from weft.ir.index import add as plus
from weft.ir.index import canonical
from weft.ir.index import mul as times
from weft.ir.program import Alloc, Block, Buffer, Call, Check, If, Invoke, Library, Loop, LoopKind, Node, Program, Stmt
from weft.ir.types import I64, INT, DType, ScalarType
from weft.ir.walk import (
    buffers_written,
    expr_buffers,
    expr_size,
    free_vars,
    has_exit,
    is_repeatable,
    map_node_exprs,
    node_exprs,
    reads,
    rewrite,
    substitute,
    walk,
)
from weft.passes.raising.reductions import accumulation
from weft.passes.scheduling.independent import why_not_independent
from weft.passes.simplifying.algebra import as_type
from weft.records import dataclass

#: What a running value is called by its operation.
NAMES = {
    "add": "running sum",
    "mul": "running product",
    "minimum": "running minimum",
    "maximum": "running maximum",
    "and": "running and",
    "or": "running or",
    "bitand": "running bitwise and",
    "bitor": "running bitwise or",
    "bitxor": "running bitwise exclusive or",
}
#: Larger expressions would be evaluated twice for too little.
MOST_PARTS = 120
ROUNDED = "floats are rounded in the order of the terms"
_EXTREMES = frozenset({"minimum", "maximum"})

Combine = Callable[[Expr, Expr], Expr]


@dataclass(frozen=True)
class Running:
    """A variable that each iteration combines by `op` with `term` (which is subtracted, if so).

    `value` is what an iteration leaves, in terms of what variables held before it; `needs` the other running variables
    in it.  `combined` gives what follows from a value and the total of some terms.  `ordered`: totals that are zero or
    NaN depend on the order in which equal terms are met.
    """

    name: str
    of: ScalarType
    op: str
    term: Expr
    value: Expr
    needs: frozenset[str]
    combined: Combine
    ordered: bool = False

    @property
    def total(self) -> ScalarType:
        """The type of totals: Python integers as numbers of 64 bits that wrap around, since a total of some terms may
        be out of range although no running value is."""
        return I64 if self.of == INT else self.of


@dataclass(frozen=True)
class Scan:
    """A loop that counts up by one and carries nothing along but variables.

    `first` must run before it, if it has iterations; `running` are its variables, each behind those that it needs.
    """

    loop: Loop
    first: Block
    running: tuple[Running, ...]

    @property
    def text(self) -> str:
        """For people."""
        return f"scan over {self.loop.dim.var}: " + ", ".join(dict.fromkeys(NAMES[one.op] for one in self.running))


NewScalar = Callable[[str, ScalarType], Buffer]


def scan_of(loop: Loop, program: Program, outside: set[str], new_scalar: NewScalar) -> Scan | str:
    """The scan that a loop is, or why it is none; `outside` names buffers that are used elsewhere."""
    if not isinstance(loop.dim, Dim) or has_exit(loop.body):
        return "the loop may be left early"
    if loop.kind not in (LoopKind.SEQUENTIAL, LoopKind.ASSERTED):
        return "its iterations are shared out already"
    if any(isinstance(node, (Check, Call, Library, Invoke)) for node in walk(loop.body)):
        return "a test in it, or a call, must come before its terms"
    counted = counting_up(loop)
    made: list[Buffer] = []

    def scalar(name: str, of: ScalarType) -> Buffer:
        made.append(new_scalar(name, of))
        return made[-1]

    counted, first = _in_variables(counted, program, scalar)
    program = replace(program, buffers=(*program.buffers, *made)) if made else program
    written = set().union(*(buffers_written(node) for node in counted.body))
    scalars = sorted(name for name in written if not program.table[name].rank)
    carried = [name for name in scalars if first_access(counted.body, name) == "read"]
    if not carried:
        return "it carries no variable along"
    reason = why_not_independent(counted, program, outside, carried)
    if reason is not None:
        return reason
    sizes = {name for node in walk(counted.body) if isinstance(node, Alloc) for name in _shape_reads(node, program)}
    if sizes & written:
        return "sizes of arrays change while it runs"
    values = values_after(counted.body, program)
    found: list[Running] = []
    for name in carried:
        one = running(name, program.table[name].type, values.get(name), frozenset(carried))
        if isinstance(one, str):
            return one
        found.append(one)
    order = _by_need(found)
    return order if isinstance(order, str) else Scan(counted, first, order)


def _shape_reads(alloc: Alloc, program: Program) -> set[str]:
    return set().union(*(expr_buffers(size) for size in program.table[alloc.buffer].shape))


def counting_up(loop: Loop) -> Loop:
    """for i in lo .. hi step s  -->  for k in 0 .. ceil((hi - lo) / s), with lo + s * k for i."""
    dim = loop.dim
    assert isinstance(dim, Dim)
    if dim.step == 1:
        return loop
    size = abs(dim.step)
    distance = (dim.hi, dim.lo) if dim.step > 0 else (dim.lo, dim.hi)
    count: Expr = plus(distance[0], times(integer(-1), distance[1]))
    if size > 1:
        count = Op("floordiv", (plus(count, integer(size - 1)), integer(size)), INT)
    value = plus(dim.lo, times(integer(dim.step), Var(dim.var)))
    body = tuple(map_node_exprs(node, lambda e: substitute(e, {dim.var: value})) for node in loop.body)
    return replace(loop, dim=Dim(dim.var, integer(0), count), body=body)


# --- what is carried along in an array ------------------------------------------------------------------------------


def _in_variables(loop: Loop, program: Program, new: NewScalar) -> tuple[Loop, Block]:
    """for i: y[i] = f(y[i - 1])   -->   s = y[lo - 1];  for i: { s = f(s);  y[i] = s }, for every array that is so."""
    first: list[Node] = []
    for name in sorted(set().union(*(buffers_written(node) for node in loop.body))):
        previous = carried_in(loop, name) if program.table[name].rank else None
        if previous is None:
            continue
        of = program.table[name].type
        held = Read(new(name, of).name, (), of)
        dim = loop.dim
        assert isinstance(dim, Dim)
        start = tuple(canonical(substitute(e, {dim.var: dim.lo})) for e in previous)
        first.append(Stmt((), held.buffer, (), Read(name, start, of), None, loop.span))
        loop = replace(loop, body=held_instead(loop.body, name, previous, held))
    return loop, tuple(first)


def carried_in(loop: Loop, name: str) -> tuple[Expr, ...] | None:
    """Where the iteration before stored into an array, if a loop uses of it just that element and its own."""
    stmts = [node for node in walk(loop.body) if name in buffers_written(node)]
    stmt = stmts[0] if len(stmts) == 1 else None
    if not isinstance(stmt, Stmt) or stmt not in loop.body or stmt.domain or stmt.reduce is not None:
        return None
    var = loop.dim.var
    if any(expr_buffers(e) for e in stmt.index) or not any(var in free_vars(e) for e in stmt.index):
        return None
    previous = _place(tuple(substitute(e, {var: plus(Var(var), integer(-1))}) for e in stmt.index))
    places = places_of(loop.body, name)
    if previous not in places or not places <= {previous, _place(stmt.index)}:
        return None
    return None if previous in places_of(loop.body[loop.body.index(stmt) + 1 :], name) else previous


def held_instead(body: Block, name: str, previous: tuple[Expr, ...], held: Read) -> Block:
    """The body with a variable for the element that the iteration before stored."""

    def visit(expr: Expr) -> Expr:
        before = isinstance(expr, Read) and expr.buffer == name and _place(expr.index) == previous
        return held if before else expr

    nodes: list[Node] = []
    for old in body:
        node = map_node_exprs(old, lambda e: rewrite(e, visit))
        if isinstance(node, Stmt) and node.buffer == name:
            nodes += [replace(node, buffer=held.buffer, index=()), replace(node, value=held)]
        else:
            nodes.append(node)
    return tuple(nodes)


def _place(index: tuple[Expr, ...]) -> tuple[Expr, ...]:
    return tuple(canonical(e) for e in index)


def places_of(block: Block, name: str) -> set[tuple[Expr, ...]]:
    """Where a block reads an array."""
    found = (read for node in walk(block) for e in node_exprs(node) for read in reads(e))
    return {_place(read.index) for read in found if read.buffer == name}


# --- what an iteration makes of its variables -----------------------------------------------------------------------


def values_after(body: Block, program: Program) -> dict[str, Expr | None]:
    """What an iteration leaves in the variables that it sets, in terms of what it began with; None if that is not
    told."""
    values = _Values(program)
    values.block(body)
    return values.values


@dataclass
class _Values:
    """Variables in terms of what an iteration began with; None where that cannot be told.  `written`: arrays that the
    iteration has stored into so far."""

    program: Program
    values: dict[str, Expr | None] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)

    def block(self, block: Block) -> None:
        for node in block:
            if isinstance(node, If):
                self.branch(node)
            elif isinstance(node, Stmt) and not node.index and not node.domain and node.reduce is None:
                self.values[node.buffer] = self.resolved(node.value, self.program.table[node.buffer].type)
            else:
                for name in buffers_written(node):
                    if self.program.table[name].rank:
                        self.written.add(name)
                    else:
                        self.values[name] = None

    def branch(self, node: If) -> None:
        test = self.resolved(node.condition, node.condition.type)
        ways = [_Values(self.program, dict(self.values), set(self.written)) for _ in range(2)]
        ways[0].block(node.then)
        ways[1].block(node.orelse)
        self.written = ways[0].written | ways[1].written
        for name in ways[0].values.keys() | ways[1].values.keys():
            of = self.program.table[name].type
            then, orelse = (way.values.get(name, Read(name, (), of)) for way in ways)
            if then == orelse:
                self.values[name] = then
            elif test is None or then is None or orelse is None or _parts(test, then, orelse) > MOST_PARTS:
                self.values[name] = None
            else:
                self.values[name] = Op("select", (test, then, orelse), of, node.span)

    def resolved(self, expr: Expr, of: ScalarType) -> Expr | None:
        """An expression in terms of what the iteration began with."""
        used = expr_buffers(expr)
        if used & self.written or any(self.values.get(name, expr) is None for name in used):
            return None

        def visit(part: Expr) -> Expr:
            known = self.values.get(part.buffer) if isinstance(part, Read) else None
            return part if known is None else as_type(known, part.type)

        found = rewrite(expr, visit)
        return None if expr_size(found) > MOST_PARTS else as_type(found, of)


def _parts(*exprs: Expr) -> int:
    return sum(expr_size(expr) for expr in exprs)


# --- running values -------------------------------------------------------------------------------------------------


def running(name: str, of: ScalarType, value: Expr | None, carried: frozenset[str]) -> Running | str:
    """The variable as a running value, or why it is none."""
    if value is None:
        return f"what an iteration makes of `{name}` is not told by its variables"
    stmt = Stmt((), name, (), value)
    found = accumulation(stmt)
    if found is None or found.op not in NAMES:
        return f"`{name}` is not combined with a term by an operation that may be regrouped"
    if not is_repeatable(value):
        return f"computing a term of `{name}` twice may give two results"
    ordered = found.op in _EXTREMES and of.dtype.is_inexact
    if ordered:
        alike = _alike(value, Read(name, (), of))
        if alike is None or of.dtype.is_complex:
            return f"which of equal terms `{name}` takes is not plain"
        combined = alike
    else:
        combined = _plain(found.op if not found.subtracted else "sub", of)
    needs = frozenset(expr_buffers(value) & carried - {name})
    return Running(name, of, found.op, as_type(found.term, of), value, needs, combined, ordered)


def _plain(op: str, of: ScalarType) -> Combine:
    """Value and total combined, integers modulo 2**64: where no running value overflows the result is exact."""
    total = I64 if of == INT else of

    def combine(value: Expr, part: Expr) -> Expr:
        return as_type(Op(op, (as_type(value, total), part), total), of)

    return combine


def _alike(value: Expr, target: Read) -> Combine | None:
    """An extreme of floats taken in the way in which the source takes it: which of two zeros stays is part of that."""
    if not isinstance(value, Op):
        return None
    if value.op in _EXTREMES and (value.args[0] == target) != (value.args[1] == target):
        return _in_place_of(value, target, value.args[1] if value.args[0] == target else value.args[0])
    if value.op != "select":
        return None
    condition, then, orelse = value.args
    changed = then if orelse == target else orelse if then == target else None
    if changed is None:
        return None
    if isinstance(condition, Cast) and condition.of.dtype is DType.BOOL:
        condition = condition.value
    if isinstance(condition, Op) and {*condition.args} == {then, orelse}:
        return _in_place_of(value, target, changed)
    return _alike(changed, target)


def _in_place_of(value: Expr, target: Read, term: Expr) -> Combine | None:
    """The same expression of another value and another term."""
    if target.buffer in expr_buffers(term):
        return None

    def combine(other: Expr, part: Expr) -> Expr:
        def visit(expr: Expr) -> Expr:
            if expr == target:
                return other
            return part if expr == term else _mapped(expr, visit)

        return visit(value)

    return combine


def _mapped(expr: Expr, visit: Callable[[Expr], Expr]) -> Expr:
    if isinstance(expr, Op):
        return replace(expr, args=tuple(visit(part) for part in expr.args))
    return replace(expr, value=visit(expr.value)) if isinstance(expr, Cast) else expr


def _by_need(found: list[Running]) -> tuple[Running, ...] | str:
    """The variables, each behind those that its terms look at; what those need is then needed as well."""
    order: list[Running] = []
    needs: dict[str, frozenset[str]] = {}
    left = list(found)
    while left:
        ready = next((one for one in left if one.needs <= needs.keys()), None)
        if ready is None:
            return "running values need each other: " + ", ".join(f"`{one.name}`" for one in left)
        left.remove(ready)
        needs[ready.name] = ready.needs.union(*(needs[name] for name in ready.needs))
        order.append(replace(ready, needs=needs[ready.name]))
    return tuple(order)


def why_not_regrouped(scan: Scan, fast: bool) -> str | None:
    """Why the terms of a scan must be combined one after the other; `fast`: sums of floats may be regrouped."""
    for one in scan.running:
        if one.of.dtype.is_inexact and not one.ordered and not fast:
            return ROUNDED
    return None


__all__ = [
    "NAMES", "ROUNDED", "Running", "Scan", "carried_in", "counting_up", "held_instead", "places_of", "running",
    "scan_of", "values_after", "why_not_regrouped",
]  # fmt: skip
