"""Fusion.  In: the atoms of one stretch of straight-line code; out: groups of atoms that share their outermost loop.

    for i: A(i);  for i: B(i)   -->   for i: A(i); B(i),   if what B needs of A (or overwrites) is of the same i

The search is greedy in program order.  What it wants is said in one place, `benefit`: passes over memory saved, as long
as the loop touches no more arrays than the caches can stream and no more atoms than registers can serve; and a loop
that may run in parallel never comes to wait for one that may not (`keeps_parallel`).  Loops whose bounds differ by
a few iterations share the others (`shift.py`) where that saves at least a quarter of their traffic.  Fusing is repeated
inside each group, so that inner loops fuse too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace

from weft.analysis.intervals import Ranges, never_meet, ranges_of
from weft.ir.expr import Dim, Expr, Var
from weft.ir.index import affine
from weft.ir.walk import free_vars, reads
from weft.passes.scheduling.lower import Atom, renamed
from weft.records import dataclass

# Hardware prefetchers follow about this many streams.
MAX_ARRAYS = 14
MAX_ATOMS = 24
# Two loops that do not quite have the same iterations are joined for at least this part of their traffic.
LEAST_SHIFTED = 0.25


@dataclass(frozen=True)
class Access:
    buffer: str
    index: tuple[Expr, ...]
    writes: bool


@dataclass
class Group:
    """Atoms under one loop over `dim` (None: one atom without a loop)."""

    dim: Dim | None
    atoms: list[Atom] = field(default_factory=list)

    @property
    def parallel(self) -> bool:
        """Whether the iterations of the loop may run in any order, accumulation aside."""
        return self.dim is not None and all(self.dim.var not in atom.ordered for atom in self.atoms)

    @property
    def carried(self) -> list[Atom]:
        """The atoms whose reduction the loop carries."""
        return [] if self.dim is None else [atom for atom in self.atoms if atom.carries(self.dim.var)]


class Facts:
    """Accesses and ranges of atoms, computed once each; `strict`: sums of floats keep the order of their terms."""

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict
        self._accesses: dict[int, tuple[Atom, list[Access]]] = {}
        self._ranges: dict[int, tuple[Atom, Ranges]] = {}

    def accesses(self, atom: Atom) -> list[Access]:
        entry = self._accesses.get(id(atom))
        if entry is None:
            entry = (atom, _accesses(atom))
            self._accesses[id(atom)] = entry
        return entry[1]

    def ranges(self, atom: Atom) -> Ranges:
        entry = self._ranges.get(id(atom))
        if entry is None:
            entry = (atom, ranges_of(atom.dims))
            self._ranges[id(atom)] = entry
        return entry[1]

    def buffers(self, atom: Atom) -> set[str]:
        return {access.buffer for access in self.accesses(atom)}


def _accesses(atom: Atom) -> list[Access]:
    found = [Access(atom.buffer, atom.index, True)]
    own = {let.name for let in atom.lets}
    for expr in atom.exprs():
        found += [Access(read.buffer, read.index, False) for read in reads(expr) if read.buffer not in own]
    return list(dict.fromkeys(found))


def depends(first: Atom, second: Atom, facts: Facts) -> bool:
    """Whether the order of two atoms matters: one may write what the other touches."""
    for one in facts.accesses(first):
        for other in facts.accesses(second):
            if one.buffer != other.buffer or not (one.writes or other.writes):
                continue
            if not never_meet(one.index, facts.ranges(first), other.index, facts.ranges(second)):
                return True
    return False


def same_iteration(first: Atom, second: Atom, var: str, facts: Facts) -> bool:
    """Whether all that two atoms have in common (one of them writing) they touch in the same iteration of `var`."""
    inner = {dim.var for dim in first.dims + second.dims} - {var}
    for one in facts.accesses(first):
        for other in facts.accesses(second):
            if one.buffer != other.buffer or not (one.writes or other.writes):
                continue
            if _tied(one.index, other.index, var, inner):
                continue
            if one.writes and other.writes and commute(first, second, var, facts):
                continue
            if not never_meet(one.index, facts.ranges(first), other.index, facts.ranges(second)):
                return False
    return True


def commute(first: Atom, second: Atom, var: str, facts: Facts) -> bool:
    """Whether two atoms add to elements of one array at places that data tell: which of them adds first is no matter,
    and the loop over `var` carries both sums."""
    if first.reduce is None or first.reduce != second.reduce or (facts.strict and first.value.type.dtype.is_inexact):
        return False
    return all(atom.carries(var) and any(True for e in atom.index for _ in reads(e)) for atom in (first, second))


def _tied(one: tuple[Expr, ...], other: tuple[Expr, ...], var: str, inner: set[str]) -> bool:
    """Whether one element at two places implies one value of `var`: some position is the same function of it alone."""
    for left, right in zip(one, other):
        a, b = affine(left), affine(right)
        if a is None or a != b or a.coefficient(var) == 0:
            continue
        if inner.isdisjoint(a.names):
            return True
    return False


def blocks_fusion(group: Group, atom: Atom, dim: Dim, outermost: bool, facts: Facts) -> Atom | str:
    """The atom rewritten to share the group's loop through its own dimension `dim`, or the reason why it cannot."""
    assert group.dim is not None
    if (dim.lo, dim.hi, dim.step) != (group.dim.lo, group.dim.hi, group.dim.step):
        return "the loops have different bounds"
    if free_vars(dim.lo) & {d.var for d in atom.dims} or free_vars(dim.hi) & {d.var for d in atom.dims}:
        return "the bounds depend on another loop"
    if atom.ordered and dim is not atom.dims[0]:
        return "the loops must keep their order"
    moved = group.dim
    others = tuple(d for d in atom.dims if d is not dim)
    if any(other.var == moved.var for other in others):
        return "another loop of the statement has the same name"
    candidate = replace(atom, dims=others)
    if dim.var != moved.var:
        candidate = renamed(candidate, {dim.var: Var(moved.var)})
    ordered = frozenset(moved.var if name == dim.var else name for name in atom.ordered)
    candidate = replace(candidate, dims=(moved, *candidate.dims), ordered=ordered)
    if outermost and not keeps_parallel(group, candidate, moved.var):
        return "a loop that may run in parallel would have to wait for one that may not"
    for other in group.atoms:
        if not same_iteration(other, candidate, moved.var, facts):
            return "an iteration needs what another one computes"
    return candidate


def keeps_parallel(group: Group, candidate: Atom, var: str) -> bool:
    """A loop with a scalar accumulator still runs in parallel (in blocks); one that accumulates arrays does not."""

    def waits(atom: Atom) -> bool:
        return var in atom.ordered or (atom.carries(var) and bool(atom.index))

    return len({waits(atom) for atom in (*group.atoms, candidate)}) == 1


def _choices(atom: Atom) -> list[Dim]:
    """The atom's dimensions to try as the shared loop: its own first, never its inner one unless it is the only one."""
    return list(atom.dims[:1]) if len(atom.dims) == 1 else list(atom.dims[:-1])


def partition(
    atoms: Sequence[Atom], outermost: bool, facts: Facts, new_var: Callable[[str], str] | None = None
) -> list[Group]:
    """Atoms in program order as groups in execution order, each group under one loop; `new_var`: names for the copies
    of iterations that stay beside a shared loop (None: loops of other bounds stay apart)."""
    groups: list[Group] = []
    for atom in atoms:
        if not atom.dims and all(group.dim is None for group in groups):
            groups.append(Group(None, [atom]))  # as in the source: nobody has to promise that arguments are apart
            continue
        if not atom.dims:
            groups.insert(_earliest(groups, atom, facts), Group(None, [atom]))
            continue
        target = _place(groups, atom, outermost, facts)
        if target is not None:
            group, candidate = target
            group.atoms.append(candidate)
        elif new_var is None or not _shifted_place(groups, atom, new_var, facts):
            groups.append(Group(atom.dims[0], [atom]))
    return _merged(groups, outermost, facts)


def _earliest(groups: list[Group], atom: Atom, facts: Facts) -> int:
    """Where a single assignment may go: as early as it can, so that it does not stand between loops to fuse."""
    for at in reversed(range(len(groups))):
        if any(depends(other, atom, facts) for other in groups[at].atoms):
            return at + 1
    return 0


def _merged(groups: list[Group], outermost: bool, facts: Facts) -> list[Group]:
    """Whole groups joined to earlier ones: an accumulator's start has nothing to share, but its sum may have."""
    result: list[Group] = []
    for group in groups:
        home = None if group.dim is None else _host(result, group, outermost, facts)
        if home is None:
            result.append(group)
        else:
            at, merged = home
            result[at] = merged
    return result


def _host(groups: list[Group], group: Group, outermost: bool, facts: Facts) -> tuple[int, Group] | None:
    """The nearest earlier group that can take in all atoms of `group`, and what it becomes."""
    for at in reversed(range(len(groups))):
        host = groups[at]
        if host.dim is not None and any(worthwhile(host, atom, facts) for atom in group.atoms):
            trial = Group(host.dim, list(host.atoms))
            for atom in group.atoms:
                candidate = blocks_fusion(trial, atom, atom.dims[0], outermost, facts)
                if isinstance(candidate, str):
                    break
                trial.atoms.append(candidate)
            else:
                return at, trial
        if any(depends(other, atom, facts) for other in host.atoms for atom in group.atoms):
            return None
    return None


def _place(groups: list[Group], atom: Atom, outermost: bool, facts: Facts) -> tuple[Group, Atom] | None:
    """The nearest earlier group that the atom may join, past groups it does not depend on."""
    for group in reversed(groups):
        if group.dim is not None and worthwhile(group, atom, facts):
            for dim in _choices(atom):
                candidate = blocks_fusion(group, atom, dim, outermost, facts)
                if isinstance(candidate, Atom):
                    return group, candidate
        if any(depends(other, atom, facts) for other in group.atoms):
            return None
    return None


def _shifted_place(groups: list[Group], atom: Atom, new_var: Callable[[str], str], facts: Facts) -> bool:
    """Whether the atom has joined the nearest earlier group whose loop differs by a few iterations."""
    from weft.passes.scheduling.shift import shifted

    for at in reversed(range(len(groups))):
        group = groups[at]
        if group.dim is not None and benefit(group, atom, facts) >= LEAST_SHIFTED:
            found = shifted(group, atom, new_var, facts)
            if not isinstance(found, str):
                groups[at : at + 1] = [*found.before, found.group, *found.after]
                return True
        if any(depends(other, atom, facts) for other in group.atoms):
            return False
    return False


def benefit(group: Group, atom: Atom, facts: Facts) -> float:
    """The part of the memory traffic of a group and an atom that one loop instead of two saves, 0 if it should not be.

    Arrays that both touch pass through the caches once instead of twice; every other array costs what it did.  More
    arrays than the prefetchers follow, or more atoms than registers serve, would cost more than that.
    """
    if len(group.atoms) >= MAX_ATOMS:
        return 0.0
    held = set().union(*(facts.buffers(other) for other in group.atoms))
    new = facts.buffers(atom)
    if len(held | new) > MAX_ARRAYS:
        return 0.0
    return len(held & new) / (len(held) + len(new))


def worthwhile(group: Group, atom: Atom, facts: Facts) -> bool:
    """Fusing pays if an array (or an element of one) is then loaded once instead of twice."""
    return benefit(group, atom, facts) > 0.0
