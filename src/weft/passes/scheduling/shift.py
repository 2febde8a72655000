"""Shifted fusion.  In: a group of atoms under one loop and an atom whose loop is a little longer, shorter or displaced;
out: the iterations that both have under one loop, and the few that only one of them has beside it.

    for i in 0 .. n: A(i);  for k in 1 .. n: B(k)   -->   for i in 0 .. 1: A(i);  for i in 1 .. n: A(i); B(i)

The displacement is the one that makes both touch an element in the same iteration, so that the shared loop runs in
parallel as before.  What is outside of it has no dependence on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from weft.analysis import cost
from weft.ir.expr import Dim, Expr, Op, Read, Var, integer
from weft.ir.index import add, affine, canonical, difference
from weft.ir.types import INT
from weft.ir.walk import free_vars, rewrite
from weft.passes.scheduling.fuse import Facts, Group, keeps_parallel, same_iteration
from weft.passes.scheduling.lower import Atom, renamed
from weft.records import dataclass

# Iterations beside the shared loop, at either end.
FARTHEST = 4
# Their code is written again for each atom: of small groups only.
MOST_ATOMS = 4
# A loop known to be shorter than this is not worth a second copy.
SHORT = 64


@dataclass(frozen=True)
class Shifted:
    """The group with the atom in it, and what runs before and after it."""

    before: tuple[Group, ...]
    group: Group
    after: tuple[Group, ...]


def shifted(group: Group, atom: Atom, new_var: Callable[[str], str], facts: Facts) -> Shifted | str:
    """The atom in the group's loop where both have iterations, or why not."""
    dim = atom.dims[0]
    why_not = _unfit(group, atom, dim)
    if why_not is not None:
        return why_not
    home = group.dim
    assert home is not None
    moved = _displacement(group, atom, facts)
    if moved is None:
        return "an iteration needs what another one computes"
    lo, hi = add(dim.lo, integer(-moved)), add(dim.hi, integer(-moved))
    early, late = difference(lo, home.lo), difference(hi, home.hi)
    if early is None or late is None or max(abs(early), abs(late)) > FARTHEST:
        return "the loops have different bounds"
    shared = Dim(home.var, lo if early > 0 else home.lo, hi if late < 0 else home.hi)
    mine = _tidy(renamed(replace(atom, dims=atom.dims[1:]), {dim.var: add(Var(home.var), integer(moved))}))
    here = replace(mine, dims=(Dim(home.var, lo, hi), *mine.dims))
    joined = _over(here, shared)
    whole = [_over(other, shared) for other in group.atoms]
    if not keeps_parallel(Group(shared, whole), joined, home.var):
        return "a loop that may run in parallel would have to wait for one that may not"
    if not all(same_iteration(other, here, home.var, facts) for other in group.atoms):
        return "an iteration needs what another one computes"
    before: list[Group] = []
    after: list[Group] = []
    for one in (*group.atoms, here):
        own = one.dims[0]
        if own.lo != shared.lo:
            before.append(_apart(one, own.lo, _least(shared.lo, own.hi), new_var))
        if own.hi != shared.hi:
            # Where the two loops have no iteration in common, what is before may reach behind the shared loop's end.
            done = own.lo if own.lo == shared.lo else _least(shared.lo, own.hi)
            after.append(_apart(one, _most(shared.hi, done), own.hi, new_var))
    return Shifted(tuple(before), Group(shared, [*whole, joined]), tuple(after))


def _unfit(group: Group, atom: Atom, dim: Dim) -> str | None:
    """What rules out a shared loop whatever is displaced."""
    assert group.dim is not None
    everyone = (*group.atoms, atom)
    if len(everyone) > MOST_ATOMS:
        return "too much code would be written twice"
    if any(one.ordered or one.lets or one.carries(one.dims[0].var) for one in everyone):
        return "a loop keeps its order"
    if any(one.dims[0].step != 1 for one in everyone):
        return "the loops have different bounds"
    for one in everyone:
        count = cost.constant_extent(one.dims[0])
        if count is not None and count < SHORT:
            return "the loops are short"
    inner = {d.var for one in everyone for d in one.dims}
    if any(free_vars(bound) & inner for bound in (dim.lo, dim.hi, group.dim.lo, group.dim.hi)):
        return "the bounds depend on another loop"
    return "another loop has the same name" if any(d.var == group.dim.var for d in atom.dims) else None


def _displacement(group: Group, atom: Atom, facts: Facts) -> int | None:
    """By how many iterations the atom is ahead of the group where they touch one element; None if it is not one number.

    Where one of them writes, there must be one answer; what both only read is best met at the same time.
    """
    assert group.dim is not None
    needed: set[int] = set()
    wished: Counter[int] = Counter()
    for other in group.atoms:
        for one in facts.accesses(other):
            for two in facts.accesses(atom):
                if one.buffer != two.buffer:
                    continue
                for left, right in zip(one.index, two.index):
                    delta = _ahead(left, group.dim.var, right, atom.dims[0].var)
                    if delta is not None and (one.writes or two.writes):
                        needed.add(delta)
                    elif delta is not None:
                        wished[delta] += 1
    if needed:
        return needed.pop() if len(needed) == 1 else None
    return min(wished, key=lambda delta: (-wished[delta], abs(delta))) if wished else None


def _ahead(left: Expr, one: str, right: Expr, other: str) -> int | None:
    """one + p at the left and other + q at the right: p - q."""
    a, b = affine(left), affine(right)
    if a is None or b is None or a.coefficient(one) != 1 or b.coefficient(other) != 1:
        return None
    rest = a.without(one) - b.without(other)
    return rest.constant if rest.is_constant else None


def _tidy(atom: Atom) -> Atom:
    """The atom with its indices in one form, so that equal ones are seen to be equal."""

    def visit(expr: Expr) -> Expr:
        return replace(expr, index=tuple(canonical(e) for e in expr.index)) if isinstance(expr, Read) else expr

    return replace(atom, index=tuple(canonical(e) for e in atom.index), value=rewrite(atom.value, visit))


def _over(atom: Atom, dim: Dim) -> Atom:
    return replace(atom, dims=(dim, *atom.dims[1:]))


def _apart(atom: Atom, lo: Expr, hi: Expr, new_var: Callable[[str], str]) -> Group:
    """A copy of the atom for a few iterations, one after the other."""
    names: dict[str, Expr] = {dim.var: Var(new_var(dim.var)) for dim in atom.dims}
    copy = renamed(atom, names)
    dims = tuple(replace(dim, var=_name(names[dim.var])) for dim in copy.dims)
    first = replace(dims[0], lo=lo, hi=hi)
    return Group(first, [replace(copy, dims=(first, *dims[1:]), ordered=frozenset((first.var,)))])


def _name(expr: Expr) -> str:
    assert isinstance(expr, Var)
    return expr.name


def _least(left: Expr, right: Expr) -> Expr:
    return Op("minimum", (left, right), INT)


def _most(left: Expr, right: Expr) -> Expr:
    return Op("maximum", (left, right), INT)


__all__ = ["Shifted", "shifted"]
