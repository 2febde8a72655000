"""Updates of what a loop does not look at yet, in blocks.  In: a sequential loop that subtracts, in each iteration, a
product from a part of an array that shrinks; out: blocks of iterations that update only what they need themselves, and
after each block the rest, as one sum of products.

    for k in 0 .. n:   a[i, k] = a[i, k] / a[k, k]              for i: k + 1 <= i < n
                       a[i, j] = a[i, j] - a[i, k] * a[k, j]    for i: k + 1 <= i < n, j: k + 1 <= j < n
      -->  for k0 in 0 .. n - 63 step 64:   the loop for k in k0 .. k0 + 64,  where i < k0 + 64 or j < k0 + 64
                       a[i, j] = a[i, j] - (sum[k: k0 <= k < k0 + 64] a[i, k] * a[k, j])   for other i and j
           the loop for the iterations that are left

What is put off is an update that nobody in the block reads or overwrites, of operands that the block does not change
any more.  Integer sets decide both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from weft.analysis.effects import Access, domain_reads, reads_of
from weft.ir.domain import is_empty
from weft.ir.expr import Dim, Domain, Expr, Op, Read, Reduce, Var, integer
from weft.ir.index import add as plus
from weft.ir.index import affine, difference
from weft.ir.index import sub as minus
from weft.ir.program import Loop, Stmt
from weft.ir.types import INT, PYBOOL
from weft.ir.walk import dim_children, expr_buffers, free_vars, reads, subexpressions, substitute
from weft.passes.scheduling.rewrite_dims import renamed_domain
from weft.records import dataclass

# Iterations of a block: enough terms for the library to be fast, few enough that the rest of the block stays small.
ROWS = 64
# Statements of a loop, beyond which the number of questions is too large.
MOST = 8


@dataclass(frozen=True)
class Deferred:
    """The loop over blocks, the iterations of one with what they need, and the updates after them; the iterations that
    make no whole block; `whole`: the points of an update in one iteration as it was."""

    block: Dim
    inner: Loop
    updates: tuple[Stmt, ...]
    rest: Loop
    whole: Domain


@dataclass(frozen=True)
class _Update:
    """An update that may wait: its points in an iteration of a block (`near`: as statements) and those put off."""

    stmt: Stmt
    near: tuple[Stmt, ...]
    far: Domain
    term: Expr


def deferred(loop: Loop, new_var: Callable[[str], str]) -> Deferred | str:
    """The loop in blocks, or why it has none."""
    dim = loop.dim
    if not isinstance(dim, Dim) or dim.step != 1 or len(loop.body) > MOST:
        return "not a short loop that counts by one"
    stmts = [node for node in loop.body if isinstance(node, Stmt) and node.reduce is None]
    if len(stmts) != len(loop.body) or any(affine(bound) is None for bound in (dim.lo, dim.hi)):
        return "not a loop of statements with plain bounds"
    # Whole blocks alone: their bounds are affine.
    block = Dim(new_var(dim.var), dim.lo, minus(dim.hi, integer(ROWS - 1)), ROWS)
    end = plus(Var(block.var), integer(ROWS))
    own = replace(dim, lo=Var(block.var), hi=end)
    found = {id(stmt): made for stmt in stmts if (made := _update(stmt, own)) is not None}
    if not any(len(made.far) > 1 for made in found.values()):
        return "no update of a part that shrinks"
    nodes: list[tuple[int, Stmt]] = []
    for position, stmt in enumerate(stmts):
        nodes += [(position, node) for node in (found[id(stmt)].near if id(stmt) in found else (stmt,))]
    for position, stmt in enumerate(stmts):
        if id(stmt) in found:
            others = [made for made in found.values() if made.stmt is not stmt]
            reason = _why_not_later(found[id(stmt)], position, own, nodes, others)
            if reason is not None:
                return reason
    updates = tuple(_after(made, own) for made in found.values())
    whole = max((made.stmt.domain for made in found.values()), key=len)
    left = Op("mod", (minus(dim.hi, dim.lo), integer(ROWS)), INT)
    rest = replace(loop, dim=replace(dim, lo=Op("sub", (dim.hi, left), INT)))
    return Deferred(block, replace(loop, dim=own, body=tuple(node for _, node in nodes)), updates, rest, whole)


def _update(stmt: Stmt, own: Dim) -> _Update | None:
    """The statement as an update over a part that shrinks with k; None if it is none."""
    term, k = _added(stmt), own.var
    dims = [dim for dim in stmt.domain if isinstance(dim, Dim) and dim.step == 1]
    if term is None or len(dims) != len(stmt.domain) or not dims or k in _free(stmt.index):
        return None
    if k not in free_vars(term) or any(isinstance(part, Reduce) for part in subexpressions(stmt.value)):
        return None
    near: list[Stmt] = []
    far = list(dims)
    beyond: list[Dim] = []
    for position, dim in enumerate(dims):
        lo, hi = affine(dim.lo), affine(dim.hi)
        if lo is None or hi is None or any(expr_buffers(bound) for bound in dim_children(dim)):
            return None
        if k in hi.names or lo.coefficient(k) not in (0, 1):
            return None
        if lo.coefficient(k) == 1:
            inside = replace(dim, hi=Op("minimum", (dim.hi, own.hi), INT))
            near.append(replace(stmt, domain=(*beyond, inside, *dims[position + 1 :])))
            far[position] = replace(dim, lo=own.hi)
        beyond.append(far[position] if lo.coefficient(k) == 0 or _within(dim.lo, k) else _later(dim, own.hi))
    # Every iteration of the block has to have all of the far points.
    missing = [Op("lt", (Var(dim.var), dim.lo), PYBOOL) for dim in dims]
    if not near or not all(is_empty((own, *far), (test,)) for test in missing):
        return None
    return _Update(stmt, tuple(near), tuple(far), term)


def _within(bound: Expr, k: str) -> bool:
    """Whether a bound that moves with k stays within the end of the block: at most k + 1."""
    gap = difference(bound, plus(Var(k), integer(1)))
    return gap is not None and gap <= 0


def _later(dim: Dim, start: Expr) -> Dim:
    return replace(dim, lo=Op("maximum", (dim.lo, start), INT))


def _added(stmt: Stmt) -> Expr | None:
    """The term in target = target - term or target + term."""
    value = stmt.value
    target = Read(stmt.buffer, stmt.index, value.type)
    if not isinstance(value, Op) or value.op not in ("add", "sub") or not value.type.dtype.is_inexact:
        return None
    pairs = [value.args] if value.op == "sub" else [value.args, value.args[::-1]]
    for old, term in pairs:
        if old == target and not any(read.buffer == stmt.buffer and read.index == stmt.index for read in reads(term)):
            return term
    return None


def _after(update: _Update, own: Dim) -> Stmt:
    """The update of what was put off: all iterations of the block at once."""
    value = update.stmt.value
    assert isinstance(value, Op)
    total = Reduce("add", (own,), update.term)
    parts = tuple(total if part == update.term else part for part in value.args)
    return replace(update.stmt, domain=update.far, value=replace(value, args=parts))


# --- legality --------------------------------------------------------------------------------------------------------


def _why_not_later(
    update: _Update, place: int, own: Dim, nodes: list[tuple[int, Stmt]], others: list[_Update]
) -> str | None:
    """Why the far points of an update, the statement number `place`, may not wait for the end of a block.

    `nodes`: the numbered statements that the iterations of the block execute.
    """
    stmt = update.stmt
    target = Access(stmt.buffer, stmt.index, update.far)
    operands = list(reads_of(update.term, (own, *update.far)))
    seen = [*operands, *(access for _, node in nodes for access in _accesses(node, own))]
    for made in others:  # they wait too, and then find their operands
        seen += [Access(made.stmt.buffer, made.stmt.index, made.far), *reads_of(made.term, (own, *made.far))]
    itself = Access(stmt.buffer, stmt.index, (own, *stmt.domain))
    for access in reads_of(update.term, (own, *stmt.domain)):
        # Its points read the state before it, and will be several statements.
        if access.buffer == stmt.buffer and _meet(access, itself, own.var, "eq"):
            return f"an iteration reads what it updates of `{stmt.buffer}`"
    for access in seen:
        if access.buffer == stmt.buffer and _meet(target, access):
            return f"the block looks at what is to be updated of `{stmt.buffer}`"
    for operand in operands:
        for position, node in nodes:
            write = Access(node.buffer, node.index, (own, *node.domain))
            if write.buffer == operand.buffer and _meet(operand, write, own.var, "lt" if position < place else "le"):
                return f"the block changes an operand in `{operand.buffer}` later on"
    return None


def _accesses(node: Stmt, own: Dim) -> Iterator[Access]:
    around = (own, *node.domain)
    yield Access(node.buffer, node.index, around)
    yield from domain_reads(node.domain, (own,))
    for part in (*node.index, node.value):
        yield from reads_of(part, around)


def _meet(first: Access, second: Access, order: str = "", relation: str = "le") -> bool:
    """Whether two accesses of a block may touch one element; with `order`, in iterations of it so related."""
    dims, conditions = _both(first, second)
    if order:
        here, there = Var(order), Var(order + "'")
        conditions.append(Op(relation, (here, there), PYBOOL))
    return not is_empty(dims, tuple(conditions))


def _both(first: Access, second: Access) -> tuple[Domain, list[Expr]]:
    """The points of two accesses side by side, the second's under other names, and that their elements are equal."""
    copied, names = renamed_domain(second.dims, lambda name: name + "'")
    conditions: list[Expr] = []
    for left, right in zip(first.index, second.index):
        conditions.append(Op("eq", (left, substitute(right, names)), PYBOOL))
    return (*first.dims, *copied), conditions


def _free(exprs: tuple[Expr, ...]) -> set[str]:
    return {name for expr in exprs for name in free_vars(expr)}


__all__ = ["ROWS", "Deferred", "deferred"]
