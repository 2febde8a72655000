"""Sums as soon as their terms are known.  In: a nest of loops whose statements sum over what earlier ones have
computed; out: one loop over the terms, in which everything that a new term belongs to is updated at once.

    for i in 0 .. n:
      for j in 0 .. i:   a[i, j] = (a[i, j] - (sum[k: 0 <= k < j] a[i, k] * a[j, k])) / a[j, j]
      a[i, i] = sqrt(a[i, i] - (sum[k: 0 <= k < i] a[i, k] * a[i, k]))
      -->  for t in 0 .. n:   a[t, t] = sqrt(a[t, t])
                              a[i, t] = a[i, t] / a[t, t]                for i: t + 1 <= i < n
                              a[i, j] = a[i, j] - a[i, t] * a[j, t]      for j: t + 1 <= j < n, i: j + 1 <= i < n
                              a[i, i] = a[i, i] - a[i, t] * a[i, t]      for i: t + 1 <= i < n

A statement whose sum ends before k = v is finished at time t = v, and takes its terms at their times.  That is right if
every element is written once and nobody reads one before it is finished, in the old order and in the new one.  The sums
of floats are reassociated.  The updates of the new form can wait (`deferred`), which makes matrix products of them.  A
sum that is added to something else than its own target (x[i, j] = (b[i, j] - (sum ...)) / a[i, i]) begins with that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from weft.analysis.effects import Access, reads_of
from weft.analysis.intervals import ranges_of
from weft.ir import domain as sets
from weft.ir.domain import holds, is_empty
from weft.ir.expr import Dim, Domain, Expr, Op, Read, Reduce, Var, boolean
from weft.ir.index import Affine, affine, canonical, difference, expression
from weft.ir.program import Buffer, Loop, Node, Stmt
from weft.ir.types import PYBOOL
from weft.ir.walk import expr_buffers, map_children, reads, subexpressions, substitute
from weft.passes.matching.bounds import bounded, inside, plain
from weft.passes.scheduling.rewrite_dims import renamed_domain
from weft.records import dataclass

_ONE = Affine((), 1)
# Statements of a nest, beyond which the number of questions is too large.
MOST = 4


@dataclass(frozen=True)
class _Sum:
    """A statement of the nest: `path` are the loops around it, then `stmt.domain`.

    It is target = finish(target +- sum[term] value), finished when the time is `time`, which moves with `moving`.
    """

    stmt: Stmt
    path: Domain
    term: Dim
    update: Expr
    finish: Expr
    time: Affine
    moving: str
    start: Expr | None = None  # what the target begins with, if that is not its own old value

    @property
    def domain(self) -> tuple[Dim, ...]:
        return tuple(dim for dim in (*self.path, *self.stmt.domain) if isinstance(dim, Dim))

    @property
    def target(self) -> Read:
        return Read(self.stmt.buffer, self.stmt.index, self.stmt.value.type)


@dataclass(frozen=True)
class Eager:
    """What the targets begin with, and the loop over the terms."""

    start: tuple[Stmt, ...]
    loop: Loop


def eager(loop: Loop, new_var: Callable[[str], str], table: Mapping[str, Buffer] | None = None) -> Eager | str:
    """The loop over the terms, or why there is none; `table` tells the types of the targets."""
    found = list(_statements(loop, ()))
    if not 1 <= len(found) <= MOST:
        return "not a short nest of statements"
    sums: list[_Sum] = []
    for stmt, path in found:
        taken = _sum(stmt, path, table or {}) if stmt is not None else None
        if taken is None:
            return "not every statement sums over what was computed before"
        sums.append(taken)
    if not any(len(one.domain) > 1 for one in sums):
        return "there is nothing to share"
    written = {one.stmt.buffer for one in sums}
    if any(one.start is not None and written & expr_buffers(one.start) for one in sums):
        return "what a sum begins with is computed beside it"
    first = sums[0].term.lo
    last = _last(sums)
    if last is None or any(one.term.lo != first for one in sums) or not all(_after(one, first) for one in sums):
        return "the sums do not begin together"
    order = _order(sums)
    if isinstance(order, str):
        return order
    time = Dim(new_var(sums[0].term.var), first, last)
    finishes = [made for one in order for made in (_finishing(one, time, new_var),) if made is not None]
    updates = [_updating(one, time, new_var) for one in sums]
    made_of = [made for made in (*finishes, *updates) if isinstance(made, Stmt)]
    if len(made_of) != len(finishes) + len(updates):
        return "a bound is of another form"
    body = (*made_of[: len(finishes)], *_merged(made_of[len(finishes) :], time))
    start = [_renamed(one.stmt, one.domain, one.start, {}, new_var) for one in sums if one.start is not None]
    return Eager(tuple(start), Loop(time, body, span=loop.span))


def _statements(node: Node, path: Domain) -> Iterator[tuple[Stmt | None, Domain]]:
    """The statements of a nest with the loops around them; None for anything else."""
    if isinstance(node, Stmt):
        yield node, path
    elif isinstance(node, Loop) and isinstance(node.dim, Dim) and node.dim.step == 1:
        for inner in node.body:
            yield from _statements(inner, (*path, node.dim))
    else:
        yield None, path


def _sum(stmt: Stmt, path: Domain, table: Mapping[str, Buffer]) -> _Sum | None:
    """A statement taken apart; None if it is of another form."""
    totals = [part for part in subexpressions(stmt.value) if isinstance(part, Reduce)]
    dims = (*path, *stmt.domain)
    if len(totals) != 1 or stmt.reduce is not None or not plain(dims) or not stmt.value.type.dtype.is_inexact:
        return None
    total = totals[0]
    term = total.dims[0] if len(total.dims) == 1 else None
    if total.op != "add" or not isinstance(term, Dim) or not plain((term,)):
        return None
    time = affine(term.hi)
    own = {dim.var for dim in dims}
    lo = affine(term.lo)
    if time is None or lo is None or lo.names & own:
        return None
    moving = sorted(time.names & own)
    target = Read(stmt.buffer, stmt.index, stmt.value.type)
    inner = _accumulation(stmt.value, target, total) or _begun(stmt, total, table)
    if len(moving) != 1 or time.coefficient(moving[0]) != 1 or inner is None:
        return None
    finish = _replaced(stmt.value, inner, target)
    if sum(read == target for read in reads(finish)) != 1 or not _certain(stmt.value, inner):
        return None
    begins = next(arg for arg in inner.args if arg != total)
    start = None if begins == target else begins
    update = replace(inner, args=tuple(total.value if arg == total else target for arg in inner.args))
    return _Sum(stmt, path, term, update, finish, time, moving[0], start)


def _accumulation(expr: Expr, target: Read, total: Reduce) -> Op | None:
    """The part `target + total` or `target - total` of a value."""
    for part in subexpressions(expr):
        if isinstance(part, Op) and part.op in ("add", "sub") and part.args[0] == target and part.args[1] == total:
            return part
        if isinstance(part, Op) and part.op == "add" and part.args[1] == target and part.args[0] == total:
            return part
    return None


def _begun(stmt: Stmt, total: Reduce, table: Mapping[str, Buffer]) -> Op | None:
    """The part `start + total` or `start - total` of a value that does not read its own target."""
    buffer = table.get(stmt.buffer)
    if buffer is None or buffer.type != stmt.value.type or stmt.buffer in _outside_sums(stmt.value):
        return None
    for part in subexpressions(stmt.value):
        if isinstance(part, Op) and part.op in ("add", "sub") and part.type == buffer.type:
            left, right = part.args
            start = left if right == total else right if left == total and part.op == "add" else None
            if start is not None and start.type == buffer.type and start != total:
                return part
    return None


def _outside_sums(expr: Expr) -> set[str]:
    """The arrays that a value reads besides its sums."""
    if isinstance(expr, Reduce):
        return set()
    found = {expr.buffer} if isinstance(expr, Read) else set()

    def visit(child: Expr) -> Expr:
        found.update(_outside_sums(child))
        return child

    map_children(expr, visit)
    return found


def _certain(expr: Expr, part: Expr) -> bool:
    """Whether every evaluation computes the part: it is in no branch of a select."""
    if expr is part:
        return True
    if isinstance(expr, Op) and expr.op == "select":
        return False
    found = False

    def visit(child: Expr) -> Expr:
        nonlocal found
        found = found or _certain(child, part)
        return child

    map_children(expr, visit)
    return found


def _replaced(expr: Expr, old: Expr, new: Expr) -> Expr:
    return new if expr == old else map_children(expr, lambda child: _replaced(child, old, new))


def _last(sums: list[_Sum]) -> Expr | None:
    """When all statements are finished: one more than the greatest time."""
    ends: list[Expr] = []
    for one in sums:
        interval = ranges_of(one.domain).of(one.time)
        if interval is not None:
            ends.append(expression(interval.greatest + _ONE))
    for end in ends:
        if all(holds(Op("lt", (expression(one.time), end), PYBOOL), one.domain) for one in sums):
            return end
    return None


def _after(one: _Sum, first: Expr) -> bool:
    """Whether a statement is never finished before the first term."""
    return holds(Op("ge", (expression(one.time), first), PYBOOL), one.domain)


# --- legality --------------------------------------------------------------------------------------------------------


def _order(sums: list[_Sum]) -> list[_Sum] | str:
    """The statements in an order in which those of one time may be finished, or why the nest must stay."""
    reason = _written_twice(sums)
    if reason is not None:
        return reason
    before: dict[int, set[int]] = {position: set() for position in range(len(sums))}
    for reading, reader in enumerate(sums):
        for access, at in _looks(reader):
            for writing, writer in enumerate(sums):
                if writer.stmt.buffer != access.buffer:
                    continue
                if not _written_before(sums, reading, writing, access):
                    return "a sum reads what is computed later"
                if at is None:
                    # A term: its elements must be finished when its time comes.
                    if _meet(access, writer, Var(reader.term.var), "gt"):
                        return "a term is not known when the sum could take it"
                elif _meet(access, writer, at, "gt"):
                    return "what finishes a sum is not known in time"
                elif _meet(access, writer, at, "eq"):
                    before[reading].add(writing)
    try:
        return [sums[position] for position in TopologicalSorter(before).static_order()]
    except CycleError:
        return "sums of one time wait for each other"


def _looks(one: _Sum) -> Iterator[tuple[Access, Expr | None]]:
    """What a statement reads besides its own element: of a term (None), or when it is finished (the time)."""
    for access in reads_of(one.update, (*one.domain, one.term)):
        if access.buffer != one.stmt.buffer or access.index != one.stmt.index:
            yield access, None
    for access in reads_of(one.finish, one.domain):
        if access.buffer != one.stmt.buffer or access.index != one.stmt.index:
            yield access, expression(one.time)


def _written_twice(sums: list[_Sum]) -> str | None:
    for position, one in enumerate(sums):
        if not sets.injective(sets.Access(one.domain, one.stmt.index)):
            return "an element is written twice"
        for other in sums[position + 1 :]:
            same = one.stmt.buffer == other.stmt.buffer
            if same and sets.overlaps(
                sets.Access(one.domain, one.stmt.index), sets.Access(other.domain, other.stmt.index)
            ):
                return "an element is written twice"
    return None


def _written_before(sums: list[_Sum], reading: int, writing: int, access: Access) -> bool:
    """Whether the nest, as it stands, never reads an element before it is written there."""
    reader, writer = sums[reading], sums[writing]
    copied, names = renamed_domain(writer.domain, lambda name: name + "'")
    same = [
        Op("eq", (left, substitute(right, names)), PYBOOL) for left, right in zip(access.index, writer.stmt.index)
    ]
    equal: list[Expr] = []
    for mine, theirs in zip(reader.path, writer.path):
        if mine.var != theirs.var:
            break
        there = substitute(Var(theirs.var), names)
        later = Op("lt", (Var(mine.var), there), PYBOOL)
        if not is_empty((*access.dims, *copied), (*same, *equal, later)):
            return False
        equal.append(Op("eq", (Var(mine.var), there), PYBOOL))
    # In the same iteration of all common loops the text decides; a statement's own points are simultaneous.
    return reading > writing or is_empty((*access.dims, *copied), (*same, *equal))


def _meet(access: Access, writer: _Sum, at: Expr, relation: str) -> bool:
    """Whether an element that is read at a time may be one that is finished later (gt) or then (eq)."""
    copied, names = renamed_domain(writer.domain, lambda name: name + "'")
    conditions: list[Expr] = [
        Op("eq", (left, substitute(right, names)), PYBOOL) for left, right in zip(access.index, writer.stmt.index)
    ]
    conditions.append(Op(relation, (substitute(expression(writer.time), names), at), PYBOOL))
    return not is_empty((*access.dims, *copied), tuple(conditions))


# --- the new statements ----------------------------------------------------------------------------------------------


def _finishing(one: _Sum, time: Dim, new_var: Callable[[str], str]) -> Stmt | str | None:
    """target = finish(target) over the points whose time it is; None if there is nothing to do."""
    if one.finish == one.target:
        return None
    value = Affine(((time.var, 1),), 0) - one.time.without(one.moving)
    rest = [dim.var for dim in one.domain if dim.var != one.moving]
    bounds = [form for dim in one.domain for form in inside(dim)]
    domain = bounded(rest, [_with(form, one.moving, value) for form in bounds], (time,))
    if domain is not None:
        return _renamed(one.stmt, domain, one.finish, {one.moving: expression(value)}, new_var)
    # A condition on the time alone: the moving dimension stays, with one point or none.
    here = Affine(((one.moving, 1),), 0) - value
    domain = bounded([one.moving, *rest], [*bounds, here, here.scaled(-1)], (time,))
    return "a bound is of another form" if domain is None else _renamed(one.stmt, domain, one.finish, {}, new_var)


def _updating(one: _Sum, time: Dim, new_var: Callable[[str], str]) -> Stmt | None:
    """target = target +- value at this time, over the points that still wait for it."""
    here = Affine(((time.var, 1),), 0)
    forms = [form for dim in one.domain for form in inside(dim)]
    forms.append(one.time - here - _ONE)
    domain = bounded([dim.var for dim in one.domain], forms, (time,))
    if domain is None:
        return None
    return _renamed(one.stmt, domain, one.update, {one.term.var: Var(time.var)}, new_var)


def _with(form: Affine, name: str, value: Affine) -> Affine:
    return form.without(name) + value.scaled(form.coefficient(name))


def _renamed(
    stmt: Stmt, domain: Domain, value: Expr, values: dict[str, Expr], new_var: Callable[[str], str]
) -> Stmt:
    """A statement over another domain, with names of its own."""
    dims, names = renamed_domain(domain, new_var)
    values = {**values, **names}

    def at(expr: Expr) -> Expr:
        def visit(part: Expr) -> Expr:
            part = map_children(part, visit)
            if isinstance(part, Read):
                return replace(part, index=tuple(canonical(position) for position in part.index))
            return part

        return visit(substitute(expr, values))

    index = tuple(canonical(substitute(part, values)) for part in stmt.index)
    return replace(stmt, domain=dims, index=index, value=at(value))


def _merged(updates: list[Stmt], time: Dim) -> list[Stmt]:
    """Updates by one formula whose domains together are a box, or a triangle with its diagonal, as one of them."""
    for position, one in enumerate(updates):
        for place, other in enumerate(updates):
            whole = _whole(one, other, time) or _with_diagonal(one, other, time) if place != position else None
            if whole is not None:
                rest = [made for number, made in enumerate(updates) if number not in (position, place)]
                return _merged([*rest, whole], time)
    return updates


def _whole(one: Stmt, other: Stmt, time: Dim) -> Stmt | None:
    """`one` over the box around its domain, if what is more of it is just what `other` does."""
    dims = [dim for dim in one.domain if isinstance(dim, Dim)]
    places = {part.name: axis for axis, part in enumerate(one.index) if isinstance(part, Var)}
    same = one.buffer == other.buffer and len(one.domain) == len(other.domain) and len(places) == len(dims) > 1
    if not same or any(not isinstance(other.index[axis], Var) for axis in places.values()):
        return None
    names = {other.index[axis].name: Var(name) for name, axis in places.items()}  # type: ignore[attr-defined]
    if set(names) != {dim.var for dim in other.domain} or substitute(other.value, names) != one.value:
        return None
    ranges = ranges_of(dims)
    box: list[Dim] = []
    for dim in dims:
        interval = ranges.of(Affine(((dim.var, 1),), 0))
        if interval is None:
            return None
        box.append(Dim(dim.var, expression(interval.least), expression(interval.greatest + _ONE)))
    theirs = [Dim(names[dim.var].name, dim.lo, dim.hi) for dim in other.domain if isinstance(dim, Dim)]
    theirs = [Dim(dim.var, substitute(dim.lo, names), substitute(dim.hi, names)) for dim in theirs]
    nothing_else = is_empty((time, *box), (_outside(dims), _outside(theirs)))
    return replace(one, domain=tuple(box)) if nothing_else and is_empty((time, *theirs), (_outside(box),)) else None


def _with_diagonal(one: Stmt, other: Stmt, time: Dim) -> Stmt | None:
    """`one`, over a triangle, with the diagonal beside it, if that is just what `other` does."""
    dims = [dim for dim in one.domain if isinstance(dim, Dim)]
    beside = [dim for dim in other.domain if isinstance(dim, Dim)]
    if one.buffer != other.buffer or len(dims) != 2 or len(beside) != 1:
        return None
    outer, inner = dims
    here: dict[str, Expr] = {outer.var: Var(beside[0].var), inner.var: Var(beside[0].var)}
    there = _renamed(one, (), one.value, here, lambda name: name)
    if (there.index, there.value) != (other.index, other.value):
        return None
    row = Var(outer.var)
    if difference(inner.lo, row) == 1:
        closed = replace(inner, lo=row)
    elif difference(inner.hi, row) == 0:
        closed = replace(inner, hi=expression(Affine(((outer.var, 1),), 1)))
    else:
        return None
    whole = [replace(outer, lo=beside[0].lo, hi=beside[0].hi), closed]
    off = Op("ne", (row, Var(inner.var)), PYBOOL)
    on = [replace(dim, lo=substitute(dim.lo, here), hi=substitute(dim.hi, here)) for dim in whole]
    on = [replace(dim, var=beside[0].var) for dim in on]
    fits = is_empty((time, *whole), (_outside(dims), off)) and is_empty((time, *dims), (_outside(whole),))
    return replace(one, domain=tuple(whole)) if fits and is_empty((time, *beside), (_outside(on),)) else None


def _outside(dims: list[Dim]) -> Expr:
    """That a point is none of a domain."""
    result: Expr = boolean(False)
    for dim in dims:
        for far in (Op("lt", (Var(dim.var), dim.lo), PYBOOL), Op("ge", (Var(dim.var), dim.hi), PYBOOL)):
            result = Op("or", (result, far), PYBOOL)
    return result


__all__ = ["Eager", "eager"]
