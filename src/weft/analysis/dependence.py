"""Dependences carried by one loop.  In: accesses of statements in the loop's body; out: in which directions of the loop
two of them may touch the same element.

Cheap tests come first: another buffer; an index position with the loop variable at equal coefficient, which gives the
distance; positions that never meet.  What they leave open is asked of the facts about both iterations, and only then of
the integer-set library.  An index that is read from memory may be anything.
"""

from __future__ import annotations

from typing import NamedTuple

from weft.analysis.effects import Access, accesses, depends_on, dim_depends_on
from weft.analysis.facts import Facts
from weft.analysis.first import first_access
from weft.ir import domain
from weft.ir.expr import ZERO, AnyDim, CompressedDim, Dim, Domain, Expr, Op, Var, dim_vars
from weft.ir.index import Affine, affine, expression
from weft.ir.program import Alloc, Loop
from weft.ir.types import PYBOOL
from weft.ir.walk import buffers_written, has_exit, map_domain, substitute
from weft.records import dataclass

_PRIME = "'"
_MOST_FACTS = 12
# A loop whose length is not known is taken to have more iterations than this.
_FEW = 64


class Directions(NamedTuple):
    """May two accesses meet with the first in an earlier, the same, or a later iteration than the second?"""

    earlier: bool
    same: bool
    later: bool

    @property
    def never(self) -> bool:
        return not (self.earlier or self.same or self.later)


NEVER = Directions(False, False, False)
ANYHOW = Directions(True, True, True)


@dataclass(frozen=True)
class LoopContext:
    """A loop under question: its dimension (of positive step) and the facts outside it.

    `asserted`: the user says that its iterations touch no common elements: they do only where that is certain.
    """

    dim: AnyDim
    facts: Facts
    asserted: bool = False


def directions(first: Access, second: Access, loop: LoopContext) -> Directions:
    """When `first` and `second` may touch the same element, by the order of their iterations of the loop."""
    found = _possible(first, second, loop)
    if loop.asserted and first.index and (found.earlier or found.later) and not certainly_meet(first, second, loop):
        return Directions(False, found.same, False)
    return found


def certainly_meet(first: Access, second: Access, loop: LoopContext) -> bool:
    """Whether two different iterations surely touch a common element, given that there are enough of them and that
    both accesses are executed in each: all positions are the same function of the loop's variable up to a constant."""
    variable = loop.dim.var
    steps: int | None = None
    for left, right in zip(first.index, second.index):
        a, b = affine(left), affine(right)
        if a is None or b is None or a.coefficient(variable) != b.coefficient(variable):
            return False
        delta, slope = a - b, a.coefficient(variable)
        # A variable of an inner loop that both indices use takes the same value in two iterations, too.
        if not delta.is_constant or (slope == 0 and delta.constant != 0) or (slope and delta.constant % slope):
            return False
        if slope:
            found = delta.constant // slope
            if steps is not None and steps != found:
                return False
            steps = found
    return _are_iterations(loop.dim, 1 if steps is None else abs(steps))


def _are_iterations(dim: AnyDim, distance: int) -> bool:
    """Whether a loop has iterations so far apart; one of unknown length has a few."""
    if not isinstance(dim, Dim) or distance == 0 or distance % dim.step or abs(distance // dim.step) > _FEW:
        return False
    lo, hi = affine(dim.lo), affine(dim.hi)
    extent = None if lo is None or hi is None else hi - lo
    return extent is None or not extent.is_constant or abs(extent.constant) > distance


def _possible(first: Access, second: Access, loop: LoopContext) -> Directions:
    if first.buffer != second.buffer:
        return NEVER
    if not first.index:
        return ANYHOW
    variable = loop.dim.var
    own = set(dim_vars(first.dims)) | set(dim_vars(second.dims)) | set(dim_vars((loop.dim,)))
    distance: int | None = None
    open_positions = False
    for left, right in zip(first.index, second.index):
        a, b = loop.facts.linear(left), loop.facts.linear(right)
        if a is None or b is None or _hides(a, own, loop.facts) or _hides(b, own, loop.facts):
            open_positions = True
            continue
        local = (a.names | b.names) & (own - {variable})
        if local:
            open_positions = True
            continue
        slope = a.coefficient(variable)
        if slope != b.coefficient(variable):
            open_positions = True
            continue
        delta = a - b  # free of the loop variable
        if slope == 0:
            if _never_zero(delta, loop.facts):
                return NEVER
            continue
        # slope * first + a0 == slope * second + b0, so second - first == delta / slope
        if not delta.is_constant:
            open_positions = True
            continue
        if delta.constant % slope != 0:
            return NEVER
        found = delta.constant // slope
        if distance is not None and distance != found:
            return NEVER
        distance = found
    if distance is not None:
        if distance == 0:
            return Directions(False, True, False)
        return Directions(distance > 0, False, distance < 0)
    return _by_facts(first, second, loop) if open_positions else ANYHOW


def _hides(form: Affine, names: set[str], facts: Facts) -> bool:
    """Whether an atom of the form is an expression over these variables."""
    if not any(name.startswith("@") for name in form.names):
        return False
    return depends_on(facts.atoms.expression(form), names - form.names)


def _never_zero(form: Affine, facts: Facts) -> bool:
    if form.is_constant:
        return form.constant != 0
    one = Affine((), 1)
    return facts.prove(form - one) or facts.prove(form.scaled(-1) - one)


def _primed(access: Access, loop: AnyDim) -> tuple[AnyDim, Access]:
    """The access in another iteration: every variable of its own, the loop's included, under another name."""
    values: dict[str, Expr] = {loop.var: Var(loop.var + _PRIME)}
    for name in dim_vars(access.dims):
        values[name] = Var(name + _PRIME)

    def rename(expr: Expr) -> Expr:
        return substitute(expr, values)

    def primed(dim: AnyDim) -> AnyDim:
        renamed = map_domain((dim,), rename)[0]
        if isinstance(renamed, CompressedDim):
            return CompressedDim(
                renamed.var + _PRIME, renamed.position + _PRIME, renamed.pointer, renamed.coordinate, renamed.parent
            )
        return Dim(renamed.var + _PRIME, renamed.lo, renamed.hi, renamed.step)

    other_loop = Dim(loop.var + _PRIME, loop.lo, loop.hi, loop.step) if isinstance(loop, Dim) else loop
    dims = tuple(primed(dim) for dim in access.dims)
    return other_loop, Access(access.buffer, tuple(rename(part) for part in access.index), dims)


def _by_facts(first: Access, second: Access, loop: LoopContext) -> Directions:
    """Assume both accesses meet and look for a contradiction with each direction."""
    variable = loop.dim.var
    other_dim, other = _primed(second, loop.dim)
    if other_dim is loop.dim:
        return ANYHOW  # a compressed loop: positions say nothing about coordinates of different parents
    facts = loop.facts.with_dim(loop.dim).with_domain(first.dims).with_dim(other_dim).with_domain(other.dims)
    equal: list[Affine] = []
    for left, right in zip(first.index, other.index):
        a, b = facts.linear(left), facts.linear(right)
        if a is None or b is None:
            continue
        if (a - b).is_constant and (a - b).constant != 0:
            return NEVER
        equal += [a - b, b - a]
    if not equal:
        return ANYHOW
    if any(_never_zero(form, facts) for form in equal[::2]):
        return NEVER
    facts = facts.with_forms(equal)
    ahead = Affine.make({variable: -1, variable + _PRIME: 1}, 0)  # how far the second iteration is ahead of the first
    one = Affine((), 1)
    not_earlier = facts.prove(ahead.scaled(-1))
    not_later = facts.prove(ahead)
    not_same = facts.prove(ahead - one) or facts.prove(ahead.scaled(-1) - one)
    found = Directions(not not_earlier, not not_same, not not_later)
    return _by_sets(first, second, loop, found) if _is_coupled(first, second, loop) else found


def _is_coupled(first: Access, second: Access, loop: LoopContext) -> bool:
    """Whether some position mixes variables or strides, or the loop goes in steps: there eliminating one variable after
    the other is weak."""
    own = {loop.dim.var, *dim_vars(first.dims), *dim_vars(second.dims)}
    coupled = isinstance(loop.dim, Dim) and abs(loop.dim.step) > 1
    for part in first.index + second.index:
        form = affine(part)
        if form is None:
            return False  # the integer-set library knows no more than we do
        mine = [coefficient for name, coefficient in form.terms if name in own]
        coupled = coupled or len(mine) > 1 or any(abs(coefficient) > 1 for coefficient in mine)
    return coupled


def _by_sets(first: Access, second: Access, loop: LoopContext, found: Directions) -> Directions:
    """The directions that the integer-set library leaves of those found."""
    one, other = (domain.Access((loop.dim, *access.dims), access.index) for access in (first, second))
    known = [form for form in loop.facts.forms if not any(name.startswith("@") for name in form.names)]
    context = tuple(Op("ge", (expression(form), ZERO), PYBOOL) for form in known[:_MOST_FACTS])
    name = loop.dim.var
    # Of one statement with itself: its own dimensions would be taken for loops around both, at the same iteration.
    apart = not set(dim_vars(first.dims)) & set(dim_vars(second.dims))
    return Directions(
        found.earlier and domain.depends(one, other, name, context),
        found.same and not (apart and not domain.depends(one, other, None, context)),
        found.later and domain.depends(other, one, name, context),
    )


def varies(access_index: tuple[Expr, ...], name: str) -> bool:
    """Whether an index uses the loop variable."""
    return any(depends_on(part, {name}) for part in access_index)


def domain_varies(domain: Domain, name: str) -> bool:
    """Whether the bounds of a domain use the loop variable."""
    return any(dim_depends_on(dim, {name}) for dim in domain)


def blocks_parallel(loop: Loop, facts: Facts, scalars: frozenset[str]) -> str | None:
    """Why the iterations of a loop, whatever is in its body, may not run at once; None if they may.

    `scalars` are the local rank-0 buffers: one that no iteration reads before setting it is its own; whoever runs the
    loop in parallel must see that none of them is needed afterwards.  Arrays allocated in the body are private too.
    """
    if not isinstance(loop.dim, Dim) or loop.dim.step <= 0:
        return "its variable does not count up"
    if has_exit(loop.body):
        return "it can be left early"
    private: set[str] = {node.buffer for node in loop.body if isinstance(node, Alloc)}
    private |= {name for name in scalars & buffers_written(loop) if first_access(loop.body, name) != "read"}
    context = LoopContext(loop.dim, facts)
    found = accesses(loop)
    writes = [_inner(a, loop) for a in found.writes if a.buffer not in private]
    reads = [_inner(a, loop) for a in found.reads if a.buffer not in private]
    for write in writes:
        for other in writes + reads:
            if write.buffer != other.buffer:
                continue
            if len(write.index) != len(other.index):
                return f"`{write.buffer}` is allocated in it"
            met = directions(write, other, context)
            if met.earlier or met.later:
                return f"iterations share elements of `{write.buffer}`"
    return None


def _inner(access: Access, loop: Loop) -> Access:
    """An access without the loop's own dimension around it."""
    return Access(access.buffer, access.index, tuple(dim for dim in access.dims if dim != loop.dim))
