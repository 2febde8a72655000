"""Hoist: what does not change is computed once.  In: statements and loops; out: temporaries of lower rank.

    b[i, j] = exp(x[i]) * a[i, j]   for i, j    -->    t[i] = exp(x[i])  for i;   b[i, j] = t[i] * a[i, j]  for i, j
    for k: t = sum[i] x[i]; y[k] = t * k        -->    t = sum[i] x[i];  for k: y[k] = t * k
    while c: t = sum[i] x[i]; y = y * t         -->    t = sum[i] x[i];  while c: y = y * t
    for k: check c[i] for i; ...                -->    h = and[i] c[i];  for k: { if not h: check c[i] for i; ... }

Tests of parts of an array become tests of the whole of it (`wholes.py`).

A sub-expression is worth a temporary when it is dear (an elementary function, a reduction) and does not depend on all
dimensions around it.  It moves only where its reads are in bounds anyway, and never out of a branch of a selection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field, replace
from functools import partial

from weft.analysis.dependence import blocks_parallel
from weft.analysis.effects import Liveness, flops
from weft.analysis.facts import Facts, entry_facts, extreme
from weft.ir.expr import AnyDim, Const, Dim, Expr, Op, Read, Reduce, Var, dim_vars
from weft.ir.index import affine
from weft.ir.index import sub as minus
from weft.ir.program import HAND_BACK, Alloc, Block, Buffer, Check, If, Library, Loop, Node, Program, Role, Stmt, While
from weft.ir.types import BOOL, INT
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    children,
    dim_children,
    expr_buffers,
    free_vars,
    fresh,
    has_exit,
    kept,
    map_children,
    map_domain,
    map_sub_blocks,
    names_of,
    node_exprs,
    subexpressions,
)
from weft.passes import Knows, PassContext, declared
from weft.passes.rename import renamed
from weft.passes.wholes import Splitter
from weft.records import dataclass

_NAME = "hoist"
_DEAR = 15
_DEAR_IN_LOOPS = 10  # of what a loop around need not repeat: a root, not a division
_LARGEST_RANK = 2
# Stands for the variable of a loop that has none: no expression depends on it.
_AGAIN = "(again)"


@declared("hoist", after=("forward",), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Sub-expressions into temporaries, then whole statements and allocations out of loops, inner loops first."""
    hoister = _Hoister(program, context, names_of(program))
    body = hoister.block(program.body, entry_facts(program), frozenset(), frozenset())
    if body is program.body:
        return program
    return replace(program, body=body, buffers=program.buffers + tuple(hoister.made))


def is_movable(expr: Expr) -> bool:
    """Whether every read in it is at an affine place, so that the checks at entry cover it wherever it stands."""
    return kept(expr, "_movable", _is_movable)


def _is_movable(expr: Expr) -> bool:
    if isinstance(expr, Read) and any(affine(part) is None for part in expr.index):
        return False
    return all(map(is_movable, children(expr)))


def candidates(
    expr: Expr, around: tuple[AnyDim, ...], is_worth: Callable[[Expr, tuple[AnyDim, ...]], bool]
) -> Iterator[Expr]:
    """The largest sub-expressions worth a temporary; the branches of a selection are not entered."""
    if is_worth(expr, around):
        yield expr
    elif isinstance(expr, Reduce):
        yield from candidates(expr.value, around + expr.dims, is_worth)
    elif isinstance(expr, Op) and expr.op == "select":
        yield from candidates(expr.args[0], around, is_worth)
    else:
        # Index arithmetic is free, but not where a number is converted or divided.
        parts = [part for part in expr.index if affine(part) is None] if isinstance(expr, Read) else children(expr)
        for part in parts:
            yield from candidates(part, around, is_worth)


def used_dims(expr: Expr, around: tuple[AnyDim, ...]) -> tuple[AnyDim, ...]:
    """The dimensions an expression needs, with those that their bounds need in turn."""
    names = free_vars(expr)
    kept: list[AnyDim] = []
    for dim in reversed(around):
        if names & set(dim_vars((dim,))):
            kept.append(dim)
            bounds = (dim.lo, dim.hi) if isinstance(dim, Dim) else (dim.parent,)
            for bound in bounds:
                names |= free_vars(bound)
    return tuple(reversed(kept))


def blocks_hoisting(
    node: Stmt | Library, position: int, loop: Loop, live_after: frozenset[str], runs: bool, local: bool
) -> str | None:
    """Why a statement or routine of a loop's body cannot be executed once before the loop instead; None if it can."""
    if not local or (isinstance(node, Stmt) and node.reduce is not None):
        return "the caller sees every write"
    names = set(dim_vars((loop.dim,)))
    if any(names & free_vars(part) for part in node_exprs(node)):
        return "it depends on the loop's variable"
    targets = buffers_written(node)
    others = [other for place, other in enumerate(loop.body) if place != position]
    written = {name for other in others for name in buffers_written(other) if not isinstance(other, Alloc)}
    if targets & written or buffers_read(node) & (written | targets):
        return "the loop changes what it reads or writes"
    if any(isinstance(other, Alloc) and other.buffer in buffers_read(node) for other in others):
        return "it reads memory of one iteration"
    if any(targets & buffers_read(other) for other in loop.body[:position]):
        return "its target is read before it is written"
    movable = is_movable(node.value) if isinstance(node, Stmt) else True
    if not runs and (targets & live_after or not movable):
        return "the loop may not run at all"
    if not movable and any(isinstance(other, Check) for other in loop.body[:position]):
        return "a check before it guards its reads"
    if has_exit(loop.body[:position]):
        return "the loop may be left before it is reached"
    return None


def blocks_testing(check: Check, loop: Loop) -> str | None:
    """Why it cannot be tested before a loop whether a check at many points will hold; None if it can."""
    parts = [check.condition, *(bound for dim in check.domain for bound in dim_children(dim))]
    if any(set(dim_vars((loop.dim,))) & free_vars(part) for part in parts):
        return "it depends on the loop's variable"
    if any(expr_buffers(part) & buffers_written(loop) for part in parts):
        return "the loop changes what it reads"
    return None if all(map(is_movable, parts)) else "it reads where only another check tells that memory is"


@dataclass
class _Hoister:
    program: Program
    context: PassContext
    taken: set[str]
    made: list[Buffer] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.live = Liveness(self.program)
        self.locals = {b.name for b in self.program.buffers if b.role is Role.LOCAL}

    def block(self, block: Block, facts: Facts, loops: frozenset[str], changing: frozenset[str]) -> Block:
        """`loops` are the variables of enclosing loops, `changing` the buffers that they write."""
        out: list[Node] = []
        for node in block:
            if isinstance(node, Stmt):
                out += self.statement(node, facts, loops, changing)
            elif isinstance(node, Loop):
                inner = frozenset(dim_vars((node.dim,)))
                written = frozenset(buffers_written(node))
                body = self.block(node.body, facts.with_dim(node.dim), inner, written)
                out += self.loop(node, node if body is node.body else replace(node, body=body), facts)
            elif isinstance(node, While):
                written = frozenset(buffers_written(node))
                inside = partial(self.block, facts=facts, loops=frozenset((_AGAIN,)), changing=written)
                new = map_sub_blocks(node, inside)
                assert isinstance(new, While)
                out += self.repetition(node, new)
            else:
                inner_node = map_sub_blocks(node, lambda b: self.block(b, facts, frozenset(), frozenset()))
                out += self.choice(inner_node, changing) if isinstance(inner_node, If) and loops else (inner_node,)
        unchanged = len(out) == len(block) and all(a is b for a, b in zip(out, block))
        return block if unchanged else tuple(out)

    def choice(self, node: If, changing: frozenset[str]) -> Block:
        """A test of parts of an array that does not change: by that of the whole array, if it holds."""
        shapes = {b.name: b.shape for b in (*self.program.buffers, *self.made)}
        symbols = frozenset(symbol.name for symbol in self.program.symbols)
        found = Splitter(shapes.__getitem__, symbols, changing, self.taken).split(node.condition)
        if found is None:
            return (node,)
        tests = [self.flag("whole", whole, node) for whole in found.wholes]
        holds: Expr = Read(tests[0].buffer, (), BOOL)
        for test in tests[1:]:
            holds = Op("and", (holds, Read(test.buffer, (), BOOL)), BOOL)
        held = self.flag("held", found.rest, node)
        exact = replace(held, value=node.condition)
        self.context.done(_NAME, "tested of the whole array, once before the loop", node.span)
        chosen = If(holds, (held,), (exact,), node.span)
        return (*tests, chosen, replace(node, condition=Read(held.buffer, (), BOOL)))

    def flag(self, name: str, value: Expr, node: Node) -> Stmt:
        """A condition in a variable of its own."""
        made = Buffer(fresh(name, self.taken), BOOL, (), span=node.span)
        self.made.append(made)
        self.locals.add(made.name)
        return Stmt((), made.name, (), value, span=node.span)

    # --- sub-expressions ---

    def statement(self, stmt: Stmt, facts: Facts, loops: frozenset[str], changing: frozenset[str]) -> Block:
        """The statement behind the temporaries it now reads."""

        def is_worth(expr: Expr, around: tuple[AnyDim, ...]) -> bool:
            cost = flops(expr)
            if isinstance(expr, (Const, Var, Read)) or cost < _DEAR_IN_LOOPS or not is_movable(expr):
                return False
            used = used_dims(expr, around)
            dims = tuple(dim for dim in used if isinstance(dim, Dim) and dim.step == 1)
            if len(used) > _LARGEST_RANK or len(dims) < len(used) or not self._is_bounded(dims, facts):
                return False
            invariant = bool(loops) and not (free_vars(expr) & loops) and not (expr_buffers(expr) & changing)
            invariant = invariant and not any(free_vars(bound) & loops for dim in dims for bound in (dim.lo, dim.hi))
            return invariant or (cost >= _DEAR and len(used) < len(around))

        found = list(dict.fromkeys(candidates(stmt.value, stmt.domain, is_worth)))
        if not found:
            return (stmt,)
        out: list[Node] = []
        value = stmt.value
        for expr in found:
            if expr is stmt.value and (not loops or not any(free_vars(part) & loops for part in stmt.index)):
                return (stmt,)  # the statement is that temporary already
            alloc, write, read = self.temporary(expr, stmt, facts)
            # The temporary's own value may hold something of still lower rank.
            out += [*alloc, *self.statement(write, facts, loops, changing)]
            value = _replaced(value, expr, read)
        self.context.done(_NAME, "a value that does not change in all dimensions is computed beforehand", stmt.span)
        return (*out, replace(stmt, value=value))

    def temporary(self, expr: Expr, stmt: Stmt, facts: Facts) -> tuple[Block, Stmt, Read]:
        around = stmt.domain + tuple(dim for e in subexpressions(stmt.value) if isinstance(e, Reduce) for dim in e.dims)
        bound_inside = {name for e in subexpressions(expr) if isinstance(e, Reduce) for name in dim_vars(e.dims)}
        dims = tuple(d for d in used_dims(expr, around) if isinstance(d, Dim) and d.var not in bound_inside)
        name = fresh(f"{stmt.buffer}_part", self.taken)
        self.made.append(Buffer(name, expr.type, self._shape(dims, facts), span=stmt.span))
        self.locals.add(name)
        index = tuple(minus(Var(dim.var), _lowest(dim, dims, facts)) for dim in dims)
        write = Stmt(dims, name, index, expr, span=stmt.span)
        alloc: Block = (Alloc(name, span=stmt.span),) if dims else ()
        copied = renamed((write,), self.taken)[0]
        assert isinstance(copied, Stmt)
        return alloc, copied, Read(name, index, expr.type, stmt.span)

    def _shape(self, dims: tuple[Dim, ...], facts: Facts) -> tuple[Expr, ...]:
        """Room for all points of the dimensions."""
        shape: list[Expr] = []
        for dim in dims:
            shape.append(self._widest(dim, dims, facts))
            facts = facts.with_dim(dim)
        return tuple(shape)

    def _is_bounded(self, dims: tuple[Dim, ...], facts: Facts) -> bool:
        """Whether it is known before the dimensions how many points they have: rows may be of lengths from memory."""
        if not any(free_vars(bound) for dim in dims[1:] for bound in (dim.lo, dim.hi)):
            return True
        names = set(dim_vars(dims))
        return not any(names & free_vars(size) for size in self._shape(dims, facts))

    def _widest(self, dim: Dim, dims: tuple[Dim, ...], facts: Facts) -> Expr:
        hi = _bound(dim.hi, dims, facts, largest=True)
        extent = minus(hi, _lowest(dim, dims, facts))
        form = facts.linear(extent)
        if form is not None and facts.prove(form):
            return extent
        return Op("maximum", (extent, Const(0, INT)), INT)

    # --- statements ---

    def loop(self, original: Loop, loop: Loop, facts: Facts) -> Block:
        """Invariant statements before the loop, in their order."""
        before, loop = self.invariant(loop, self.live.live_after(original), _runs(loop, facts))
        if not loop.body:
            return tuple(before)
        tests, loop = self.tests(loop)
        return (*before, *tests, *self.allocations(loop, facts))

    def tests(self, loop: Loop) -> tuple[list[Node], Loop]:
        """for k: check c(i) for i; ...   -->   h = and[i] c(i);  for k: { if not h: check c(i) for i; ... }"""
        held: list[Node] = []
        body: list[Node] = []
        for node in loop.body:
            if isinstance(node, Check) and node.domain and blocks_testing(node, loop) is None:
                test = self.flag("held", Reduce("and", node.domain, node.condition), node)
                held += renamed((test,), self.taken)
                body.append(If(Op("not", (Read(test.buffer, (), BOOL),), BOOL), (node,), span=node.span))
                self.context.done(_NAME, "tested once before the loop", node.span)
            else:
                body.append(node)
        return held, replace(loop, body=tuple(body)) if held else loop

    def repetition(self, original: While, node: While) -> Block:
        """The same for a loop that goes on while a condition holds, which guards its body as a check would."""
        test = Check((), node.condition, HAND_BACK)
        view = Loop(Dim(_AGAIN, Const(0, INT), Const(1, INT)), (*node.prelude, test, *node.body), span=node.span)
        before, left = self.invariant(view, self.live.live_after(original), False)
        if not before:
            return (node,)
        at = next(place for place, inner in enumerate(left.body) if inner is test)
        return (*before, replace(node, prelude=left.body[:at], body=left.body[at + 1 :]))

    def invariant(self, loop: Loop, live_after: frozenset[str], runs: bool) -> tuple[list[Node], Loop]:
        """What need only be done once, and the loop without it."""
        before: list[Node] = []
        position = 0
        while position < len(loop.body):
            node = loop.body[position]
            if isinstance(node, (Stmt, Library)):
                local = buffers_written(node) <= self.locals
                why_not = blocks_hoisting(node, position, loop, live_after, runs, local)
                if why_not is None:
                    rest = loop.body[:position] + loop.body[position + 1 :]
                    own = tuple(n for n in rest if isinstance(n, Alloc) and n.buffer in buffers_written(node))
                    before += [*own, node]
                    loop = replace(loop, body=tuple(n for n in rest if n not in own))
                    which = "" if loop.dim.var == _AGAIN else f" over {loop.dim.var}"
                    self.context.done(_NAME, f"computed once before the loop{which}", node.span)
                    position = 0
                    continue
            position += 1
        return before, loop

    def allocations(self, loop: Loop, facts: Facts) -> Block:
        """Allocations of one size before a loop that stays sequential; one that may run in parallel keeps its own."""
        if self.context.apart:
            return (loop,)  # iterations may run in different processes, so each keeps memory of its own
        names = set(dim_vars((loop.dim,)))
        moved: list[Node] = []
        sizes = {b.name: b.shape for b in (*self.program.buffers, *self.made)}
        for node in loop.body:
            if isinstance(node, Alloc) and not node.zero and node.buffer in self.locals:
                shape = sizes[node.buffer]
                reads = any(expr_buffers(size) for size in shape)
                if not reads and not any(names & free_vars(size) for size in shape):
                    moved.append(node)
        if not moved or blocks_parallel(loop, facts, self._rank_zero()) is None:
            return (loop,)
        body = tuple(node for node in loop.body if node not in moved)
        return (*moved, replace(loop, body=body))

    def _rank_zero(self) -> frozenset[str]:
        scalars = [b.name for b in (*self.program.buffers, *self.made) if b.role is Role.LOCAL and b.rank == 0]
        return frozenset(scalars)


def _runs(loop: Loop, facts: Facts) -> bool:
    """Whether the loop certainly has an iteration."""
    if not isinstance(loop.dim, Dim):
        return False
    low, high = (loop.dim.lo, loop.dim.hi) if loop.dim.step > 0 else (loop.dim.hi, loop.dim.lo)
    return facts.decide(Op("lt", (low, high), Const(True, INT).type)) is True


def _lowest(dim: Dim, dims: tuple[Dim, ...], facts: Facts) -> Expr:
    return _bound(dim.lo, dims, facts, largest=False)


def _bound(expr: Expr, dims: tuple[Dim, ...], facts: Facts, largest: bool) -> Expr:
    """The extreme of a bound over the outer dimensions it uses."""

    form = facts.linear(expr)
    for dim in reversed(dims):
        if form is None:
            return expr
        form = extreme(form, dim, facts, largest)
    return expr if form is None else facts.atoms.expression(form)


def _replaced(expr: Expr, old: Expr, new: Expr) -> Expr:
    if expr == old:
        return new
    if isinstance(expr, Reduce):
        dims = map_domain(expr.dims, lambda e: _replaced(e, old, new))
        value = _replaced(expr.value, old, new)
        return expr if dims is expr.dims and value is expr.value else replace(expr, dims=dims, value=value)
    return map_children(expr, lambda e: _replaced(e, old, new))


__all__ = ["blocks_hoisting", "candidates", "run", "used_dims"]
