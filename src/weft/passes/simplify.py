"""Simplify: one rule set for the whole compiler.  In: any program; out: an equal, smaller one.

    i*2 + 1 - i  -->  i + 1            select(0 <= i, x, y)  -->  x      inside a domain with 0 <= i
    x * 1.0      -->  x                0.0 + sum(...)        -->  sum(...)
    for i in 0 .. 0: B  -->            for i in 3 .. 4: B    -->  B with i = 3

The expression rules are in `algebra`, removal of dead code in `deadcode`; this file walks the program and carries along
what is known at each place: bounds of dimensions, conditions of branches, checks that have passed.
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis.facts import Facts, entry_facts
from weft.ir.expr import Cast, Dim, Domain, Expr, Op, Read, is_const
from weft.ir.index import affine
from weft.ir.program import (
    REGIONS,
    Block,
    Break,
    Call,
    Check,
    Continue,
    If,
    Invoke,
    Library,
    Loop,
    Node,
    Program,
    Return,
    Stmt,
    While,
)
from weft.ir.walk import free_vars, has_exit, map_dim, map_node_exprs, substitute, walk
from weft.passes import Knows, PassContext, declared
from weft.passes.simplifying import deadcode
from weft.passes.simplifying.algebra import Algebra
from weft.passes.simplifying.recentre import recentred_stmt

#: Whether the first of two compared numbers is the larger one.
_LARGER = {"gt": True, "ge": True, "lt": False, "le": False}


@declared("simplify", after=("tasks",), optional=False, knows=Knows.CALLS | Knows.TASKS)
def run(program: Program, context: PassContext) -> Program:
    """Expressions, branches and loops simplified, then dead code removed."""
    algebra = Algebra(strict=context.options.fp == "strict")
    facts = entry_facts(replace(program, guards=()))
    guards: list[Check] = []
    for guard in program.guards:
        simple = simplify_check(guard, facts, algebra)
        if simple is not None and simple not in guards:
            guards.append(simple)
            if not simple.domain:
                facts = facts.with_condition(simple.condition)
    body = simplify_block(program.body, facts, algebra)
    single = _inlined_loops(program.body, body)
    buffers = tuple(
        replace(buffer, shape=tuple(algebra.simplify(_resolved(size, single), facts) for size in buffer.shape))
        for buffer in program.buffers
    )
    return deadcode.remove(replace(program, guards=tuple(guards), buffers=buffers, body=body))


#: After loops have become domains, and before the loops of a target are chosen.
AGAIN = run.again("simplify again", after=("raise",), knows=Knows.CALLS | Knows.TASKS)
TIDY = run.again("tidy", after=("forward", "hoist", "unread"), knows=Knows.BESIDE)


def _inlined_loops(before: Block, after: Block) -> dict[str, Expr]:
    """The values of the variables of loops that are gone: buffers allocated in a loop of one iteration may name it."""
    left = {node.dim.var for node in walk(after) if isinstance(node, Loop)}
    loops = [node.dim for node in walk(before) if isinstance(node, Loop)]
    return {dim.var: dim.lo for dim in loops if isinstance(dim, Dim) and dim.var not in left}


def _resolved(size: Expr, values: dict[str, Expr]) -> Expr:
    while free_vars(size) & values.keys():
        size = substitute(size, values)
    return size


def simplify_domain(domain: Domain, facts: Facts, algebra: Algebra) -> tuple[Domain, dict[str, Expr], Facts] | None:
    """(dims, values of one-point dims, facts inside); None if the domain is empty."""
    values: dict[str, Expr] = {}
    dims: Domain = ()
    for dim in domain:
        dim = map_dim(dim, lambda e, known=facts: algebra.simplify(substitute(e, values), known))  # type: ignore[misc]
        if isinstance(dim, Dim):
            if is_empty(dim, facts):
                return None
            if is_single(dim, facts):
                values[dim.var] = dim.lo
                continue
        dims += (dim,)
        facts = facts.with_dim(dim)
    return dims, values, facts


def is_empty(dim: Dim, facts: Facts) -> bool:
    lo, hi = facts.linear(dim.lo), facts.linear(dim.hi)
    return lo is not None and hi is not None and facts.prove(lo - hi if dim.step > 0 else hi - lo)


def is_single(dim: Dim, facts: Facts) -> bool:
    """Whether a dimension has exactly one point, whatever the symbols are."""
    lo, hi = facts.linear(dim.lo), facts.linear(dim.hi)
    if lo is None or hi is None:
        return False
    extent = (hi - lo) if dim.step > 0 else (lo - hi)
    return extent.is_constant and 1 <= extent.constant <= abs(dim.step)


def simplify_check(check: Check, facts: Facts, algebra: Algebra) -> Check | None:
    """None if the check always passes."""
    found = simplify_domain(check.domain, facts, algebra)
    if found is None:
        return None
    domain, values, inside = found
    condition = algebra.simplify(substitute(check.condition, values), inside)
    if is_const(condition, True):
        return None
    shown = tuple(algebra.simplify(substitute(value, values), inside) for value in check.values)
    return replace(check, domain=domain, condition=condition, values=shown)


def simplify_stmt(stmt: Stmt, facts: Facts, algebra: Algebra) -> Stmt | None:
    """None if the statement writes nothing, or only what is there already."""
    centred = recentred_stmt(stmt, facts.dims)
    found = simplify_domain(centred.domain, facts, algebra)
    if found is None:
        return None
    domain, values, inside = found
    index = tuple(algebra.simplify(substitute(part, values), inside) for part in centred.index)
    value = algebra.simplify(substitute(centred.value, values), inside)
    if stmt.reduce is None and isinstance(value, Read) and value.buffer == stmt.buffer and value.index == index:
        return None
    new = replace(stmt, domain=domain, index=index, value=value)
    return stmt if new == stmt else new


def simplify_block(block: Block, facts: Facts, algebra: Algebra) -> Block:
    """A block node by node; what a passed check or an exit that was not taken tells holds for the nodes behind it."""
    out: list[Node] = []
    for node in block:
        new = _simplify_node(node, facts, algebra)
        out += new
        for kept in new:
            if isinstance(kept, Check) and not kept.domain:
                facts = facts.with_condition(kept.condition)
            elif isinstance(kept, If) and _always_exits(kept.then) and not _always_exits(kept.orelse):
                facts = facts.with_condition(kept.condition, holds=False)
        if out and _always_exits(tuple(out[-1:])):
            break
    result = tuple(out)
    unchanged = len(result) == len(block) and all(a is b for a, b in zip(result, block))
    return block if unchanged else result


def _always_exits(block: Block) -> bool:
    if not block:
        return False
    last = block[-1]
    if isinstance(last, If):
        return _always_exits(last.then) and _always_exits(last.orelse)
    return isinstance(last, (Return, Break, Continue))


def _simplify_node(node: Node, facts: Facts, algebra: Algebra) -> Block:
    if isinstance(node, Stmt):
        stmt = simplify_stmt(node, facts, algebra)
        return () if stmt is None else (stmt,)
    if isinstance(node, Check):
        check = simplify_check(node, facts, algebra)
        return () if check is None else (check,)
    if isinstance(node, Loop):
        return _simplify_loop(node, facts, algebra)
    if isinstance(node, While):
        prelude = simplify_block(node.prelude, facts, algebra)
        condition = algebra.simplify(node.condition, facts)
        if is_const(condition, False):
            return prelude
        body = simplify_block(node.body, facts, algebra)
        return (replace(node, prelude=prelude, condition=condition, body=body),)
    if isinstance(node, If):
        return _simplify_if(node, facts, algebra)
    if isinstance(node, (Call, Library, Invoke)):
        return (map_node_exprs(node, lambda e: algebra.simplify(e, facts)),)
    return (node,)


def _simplify_loop(node: Loop, facts: Facts, algebra: Algebra) -> Block:
    dim = map_dim(node.dim, lambda e: algebra.simplify(e, facts))
    if isinstance(dim, Dim):
        if is_empty(dim, facts):
            return ()
        if is_single(dim, facts) and node.kind not in REGIONS and not has_exit(node.body):
            point = {dim.var: dim.lo}
            inlined = tuple(map_node_exprs(inner, lambda e: substitute(e, point)) for inner in node.body)
            return simplify_block(inlined, facts, algebra)
    body = simplify_block(node.body, facts.with_dim(dim), algebra)
    if not body:
        return ()
    return (node,) if dim is node.dim and body is node.body else (replace(node, dim=dim, body=body),)


def _simplify_if(node: If, facts: Facts, algebra: Algebra) -> Block:
    condition = algebra.simplify(node.condition, facts)
    known = facts.decide(condition)
    if known is not None:
        return simplify_block(node.then if known else node.orelse, facts, algebra)
    then = simplify_block(node.then, facts.with_condition(condition), algebra)
    orelse = simplify_block(node.orelse, facts.with_condition(condition, holds=False), algebra)
    if not then and not orelse:
        return ()
    if not orelse and (extreme := _extreme(condition, then)) is not None:
        return (extreme,)
    if condition is node.condition and then is node.then and orelse is node.orelse:
        return (node,)
    return (replace(node, condition=condition, then=then, orelse=orelse),)


def _extreme(condition: Expr, then: Block) -> Stmt | None:
    """if v > x: x = v   -->   x = maximum(x, v),  of integers: of other numbers some compare with nothing.

    Where a place is read from memory it stays a branch, which leaves the memory of most places alone.
    """
    stmt = then[0]
    while isinstance(condition, Cast):
        condition = condition.value
    if len(then) != 1 or not isinstance(stmt, Stmt) or stmt.domain or stmt.reduce is not None:
        return None
    if not isinstance(condition, Op) or condition.op not in _LARGER or not stmt.value.type.dtype.is_integer:
        return None
    own = Read(stmt.buffer, stmt.index, stmt.value.type)
    if set(condition.args) != {own, stmt.value} or any(affine(part) is None for part in stmt.index):
        return None
    larger = _LARGER[condition.op] == (condition.args[0] == stmt.value)
    return replace(stmt, value=Op("maximum" if larger else "minimum", (own, stmt.value), own.of, stmt.span))


__all__ = ["run", "simplify_block", "simplify_check", "simplify_stmt"]
