"""Implied checks.  In: a program whose checks of values wait behind its loops (`late.py`); out: the same without those
that conversions to Python integers make themselves.

    for i: k = int(trunc(x[i])); ...                      for i: k = int(trunc(x[i])); ...
    check all[i] x[i] == x[i] else hand back         -->
    check all[i] -2**63 <= x[i] < 2**63 else hand back

A float that becomes a Python integer and is none of 64 bits is noticed where it is converted (`int_checked` in C), and
the call falls back to Python.  That holds for code that runs, so this comes after all that may take code away.

    if all[i] 0 <= int(x[i]) < n: y[i] = t[int(x[i])] for i    -->   the same, without looking for such floats again

What a test has found to be in range is converted as NumPy converts it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weft.ir.expr import Cast, Const, Dim, Domain, Expr, Op, Read, Reduce, Var
from weft.ir.program import HAND_BACK, Block, Check, If, Loop, Node, Program, Stmt
from weft.ir.types import INT, DType, ScalarType
from weft.ir.walk import (
    buffers_written,
    domain_buffers,
    expr_buffers,
    has_exit,
    map_dim,
    map_node_exprs,
    map_sub_blocks,
    rewrite,
    substitute,
)
from weft.passes import Knows, PassContext, declared
from weft.passes.raising.beforehand import in_order
from weft.records import dataclass

_LOW, _HIGH = -(2.0**63), 2.0**63


@dataclass(frozen=True)
class _Conversion:
    """A float that becomes a Python integer at every point of a domain, its variables numbered."""

    domain: Domain
    value: Expr

    @property
    def buffers(self) -> set[str]:
        return expr_buffers(self.value) | domain_buffers(self.domain)


@declared("implied", after=("tidy",), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Every block of the program without checks that conversions before them imply."""
    body = _block(program.body)
    return program if body is program.body else replace(program, body=body)


def _block(block: Block) -> Block:
    out: list[Node] = []
    made: set[_Conversion] = set()
    for node in block:
        inner = map_sub_blocks(node, _block)
        if isinstance(inner, If) and (ranged := _ranged(inner.condition)):
            inner = replace(inner, then=_without_tests(inner.then, ranged))
        tested = _tested(inner) if isinstance(inner, Check) else None
        if tested is not None and tested <= made:
            continue
        out.append(inner)
        made |= set(_conversions(inner))
        written = buffers_written(inner)
        made = {one for one in made if not one.buffers & written}
    unchanged = len(out) == len(block) and all(a is b for a, b in zip(out, block))
    return block if unchanged else tuple(out)


# --- what is converted for sure ---


def _conversions(node: Node, around: Domain = ()) -> Iterator[_Conversion]:
    """What a node converts whenever it comes to its end."""
    if isinstance(node, Stmt):
        for expr in (*node.index, node.value):
            yield from (_numbered((*around, *node.domain), value) for value in _sure(expr))
    elif isinstance(node, Loop) and isinstance(node.dim, Dim) and not has_exit(node.body):
        for inner in node.body:
            yield from _conversions(inner, (*around, node.dim))
    elif isinstance(node, If):
        yield from (_numbered(around, value) for value in _sure(node.condition))
        branches = [{one for inner in part for one in _conversions(inner, around)} for part in (node.then, node.orelse)]
        yield from branches[0] & branches[1]


def _sure(expr: Expr) -> Iterator[Expr]:
    """Floats that an expression makes integers of whatever its values are."""
    if isinstance(expr, Cast):
        if expr.of == INT and expr.value.type.dtype.is_float:
            yield _plain(expr.value)
        yield from _sure(expr.value)
    elif isinstance(expr, Read):
        for part in expr.index:
            yield from _sure(part)
    elif isinstance(expr, Op):
        if expr.op == "select":
            yield from set(_sure(expr.args[1])) & set(_sure(expr.args[2]))
        lazy = expr.op in ("select", "and", "or")
        for part in expr.args[:1] if lazy else expr.args:
            # A comparison may be one of floats, without a conversion.
            compared = expr.op in ("lt", "le", "gt", "ge", "eq", "ne") and isinstance(part, Cast)
            yield from _sure(part.value if compared and isinstance(part, Cast) else part)


def _plain(expr: Expr) -> Expr:
    """A float without what changes nothing about its integer part."""
    if isinstance(expr, Cast) and expr.of.dtype.is_float and expr.value.type.dtype in (expr.of.dtype, DType.F32):
        return _plain(expr.value)
    if isinstance(expr, Op) and expr.op == "trunc":
        return _plain(expr.args[0])
    return expr


def _numbered(domain: Domain, value: Expr) -> _Conversion:
    names: dict[str, Expr] = {}
    dims = []
    for position, dim in enumerate(domain):
        dim = map_dim(dim, lambda part: substitute(part, names))
        if isinstance(dim, Dim):
            fresh = f"#{position}"
            names[dim.var] = Var(fresh)
            dim = Dim(fresh, dim.lo, dim.hi, dim.step)
        dims.append(dim)
    return _Conversion(tuple(dims), substitute(value, names))


# --- what is tested ---


def _tested(check: Check) -> set[_Conversion] | None:
    """The conversions that a check is about; None if it is about anything else."""
    if check.exception != HAND_BACK or not all(isinstance(dim, Dim) for dim in check.domain):
        return None
    domain, condition = check.domain, check.condition
    while isinstance(condition, Reduce) and condition.op == "and":
        domain, condition = (*domain, *condition.dims), condition.value
    found: set[_Conversion] = set()
    for part in _conjuncts(condition):
        value = _is_test(part)
        if value is None:
            return None
        found.add(_numbered(domain, _plain(value)))
    return found


def _conjuncts(expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, Cast) and expr.of.dtype is expr.value.type.dtype is DType.BOOL:
        yield from _conjuncts(expr.value)
    elif isinstance(expr, Op) and expr.op == "and":
        for part in expr.args:
            yield from _conjuncts(part)
    else:
        yield expr


# --- what is in range ---


def _ranged(condition: Expr) -> set[_Conversion]:
    """The floats that a condition bounds from both sides as integers, at all points of a domain."""
    domain: Domain = ()
    while isinstance(condition, Reduce) and condition.op == "and":
        domain, condition = (*domain, *condition.dims), condition.value
    if not domain or not all(isinstance(dim, Dim) for dim in domain):
        return set()
    sides: dict[_Conversion, set[str]] = {}
    for part in in_order(condition):
        if isinstance(part, Op) and part.op in ("ge", "gt", "lt", "le") and part.args[0].type == INT:
            value = part.args[0]
            while isinstance(value, Op) and value.op in ("add", "sub") and isinstance(value.args[1], Const):
                value = value.args[0]
            if isinstance(value, Cast) and value.value.type.dtype.is_float:
                sides.setdefault(_numbered(domain, _plain(value.value)), set()).add(part.op[0])
    return {one for one, found in sides.items() if found == {"g", "l"}}


def _without_tests(block: Block, ranged: set[_Conversion]) -> Block:
    """The block with what is in range converted as it is, as long as nothing changes it."""
    out: list[Node] = []
    for node in block:
        out.append(_converted(node, ranged))
        written = buffers_written(node)
        ranged = {one for one in ranged if not one.buffers & written}
    return tuple(out)


def _converted(node: Node, ranged: set[_Conversion]) -> Node:
    """The node, its conversions of what is in range without a test."""
    if not isinstance(node, Stmt) or not all(isinstance(dim, Dim) for dim in node.domain):
        return node
    domain = node.domain

    def visit(expr: Expr) -> Expr:
        if isinstance(expr, Cast) and expr.of == INT and expr.value.type.dtype.is_float:
            value = _plain(expr.value)
            if _numbered(domain, value) in ranged:
                return Cast(Cast(value, ScalarType(DType.I64)), INT)
        return expr

    return map_node_exprs(node, lambda expr: rewrite(expr, visit))


def _is_test(expr: Expr) -> Expr | None:
    """x, of x == x, x >= -2**63 and x < 2**63."""
    if not isinstance(expr, Op) or len(expr.args) != 2 or not expr.args[0].type.dtype.is_float:
        return None
    value, limit = expr.args
    if expr.op == "eq":
        return value if value == limit else None
    wanted = {"ge": _LOW, "lt": _HIGH}.get(expr.op)
    return value if wanted is not None and isinstance(limit, Const) and limit.value == wanted else None


__all__ = ["run"]
