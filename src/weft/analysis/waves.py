"""Nests of two loops that both carry dependences.  In: a loop around a loop; out: how far their iterations depend on
each other, as the least skew that lets them run in another order, from which `passes.wavefront` cuts tiles.

Iterations are counted by *positions*: p = i for a loop that counts up and p = -i for one that counts down, so that a
later iteration has the larger position.  A dependence has a distance (dp, dq), dp > 0 or dp = 0 < dq.  With skew f,
s = q + f p, every distance becomes (dp, ds), ds = dq + f dp:
    ds >= 0 for all   tiles of p and s may run one after the other, and those on a diagonal at the same time;
    ds >= 1 for all   all iterations of equal s may run at the same time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from weft.analysis.effects import Access, accesses
from weft.ir import domain
from weft.ir.expr import Dim, Expr, Op
from weft.ir.index import Affine, affine
from weft.ir.program import Block, Loop, LoopKind
from weft.ir.walk import reads
from weft.records import dataclass

# A larger skew makes tiles that are hardly anything but margin.
MOST_SKEW = 4
# So many pairs of accesses are asked about; beyond, the nest stays as it is.
MOST_PAIRS = 64


@dataclass(frozen=True)
class Axis:
    """A loop by positions: from the largest of `lows` up to, not including, the least of `highs`; its variable is
    `sign` times the position."""

    var: str
    sign: int
    lows: tuple[Affine, ...]
    highs: tuple[Affine, ...]

    @property
    def lo(self) -> Affine:
        """One of the bounds, which all positions keep."""
        return self.lows[0]

    @property
    def hi(self) -> Affine:
        return self.highs[0]


@dataclass(frozen=True)
class Nest:
    """A loop around nothing but a loop; the bounds of `inner` may name the variable of `outer`."""

    loop: Loop
    outer: Dim
    inner: Dim
    body: Block

    @property
    def dims(self) -> tuple[Dim, Dim]:
        return self.outer, self.inner


def nest_of(loop: Loop) -> Nest | None:
    """The two loops, if both are sequential ones and nothing stands between them."""
    only = loop.body[0] if len(loop.body) == 1 else None
    if not isinstance(only, Loop) or not (loop.kind is only.kind is LoopKind.SEQUENTIAL):
        return None
    if not isinstance(loop.dim, Dim) or not isinstance(only.dim, Dim):
        return None
    return Nest(loop, loop.dim, only.dim, only.body)


def axis_of(dim: Dim) -> Axis | str:
    """A loop by positions, or why not; its bounds are forms of the variables of other loops as they are."""
    if abs(dim.step) != 1:
        return "a loop that does not count by ones"
    if any(True for bound in (dim.lo, dim.hi) for _ in reads(bound)):
        return "a bound that is read from memory"
    tighter = ("maximum", "minimum") if dim.step > 0 else ("minimum", "maximum")
    lows, highs = (_alternatives(bound, op) for bound, op in zip((dim.lo, dim.hi), tighter))
    if not lows or not highs:
        return "a bound that is no sum of sizes"
    lows, highs = (tuple(form.scaled(dim.step) for form in forms) for forms in (lows, highs))
    return Axis(dim.var, dim.step, lows, highs)


def _alternatives(bound: Expr, op: str) -> tuple[Affine, ...]:
    """The forms whose minimum (or maximum, as `op` says) a bound is; none if it is nothing of the kind."""
    form = affine(bound)
    if form is not None:
        return (form,)
    if not isinstance(bound, Op):
        return ()
    if bound.op == op:
        parts = [_alternatives(arg, op) for arg in bound.args]
        return tuple(form for part in parts for form in part) if all(parts) else ()
    if bound.op in ("add", "sub") and (more := affine(bound.args[1])) is not None:
        return tuple(part + more.scaled(1 if bound.op == "add" else -1) for part in _alternatives(bound.args[0], op))
    return ()


Distance = tuple[int, int]


@dataclass(frozen=True)
class Pair:
    """Two accesses to one buffer, one of them a write; `distance`: from `first` to `second` where it is constant."""

    first: Access
    second: Access
    distance: Distance | None


def pairs_of(nest: Nest, private: frozenset[str]) -> list[Pair] | str:
    """All pairs that may depend on each other in different iterations of the nest, or why there is no telling."""
    found = [accesses(node) for node in nest.body]
    writes = [a for a in dict.fromkeys(a for f in found for a in f.writes) if a.buffer not in private]
    written = {write.buffer for write in writes}
    others = [a for a in dict.fromkeys(a for f in found for a in f.reads) if a.buffer in written]
    pairs: list[Pair] = []
    for position, write in enumerate(writes):
        for other in dict.fromkeys((*writes[position:], *others)):
            if other.buffer != write.buffer:
                continue
            if not write.index:
                return f"`{write.buffer}` goes from one iteration to the next"
            distance = constant_distance(write, other, nest)
            if distance not in ("never", (0, 0)):
                assert not isinstance(distance, str)
                pairs.append(Pair(write, other, distance))
    return pairs if len(pairs) <= MOST_PAIRS else "too many accesses to tell apart"


def constant_distance(first: Access, second: Access, nest: Nest) -> Distance | Literal["never"] | None:
    """The distance in positions at which two accesses touch one element, if it is the same everywhere."""
    known: dict[str, int] = {}
    inner = {dim.var for dim in (*first.dims, *second.dims)}
    outer, own = nest.outer.var, nest.inner.var
    vague = False
    for left, right in zip(first.index, second.index):
        a, b = affine(left), affine(right)
        if a is None or b is None or (a.names | b.names) & inner or not (a - b).is_constant:
            vague = True
            continue
        delta = (a - b).constant
        moving = [name for name in (outer, own) if a.coefficient(name)]
        if len(moving) == 2:
            vague = True
        elif not moving:
            if delta:
                return "never"
        else:
            slope = a.coefficient(moving[0])
            if delta % slope or known.setdefault(moving[0], delta // slope) != delta // slope:
                return "never"
    if vague or len(known) != 2:
        return None
    return known[outer] * nest.outer.step, known[own] * nest.inner.step


def least_skew(nest: Nest, pairs: Sequence[Pair], least: int) -> int | None:
    """The least skew with which every dependence goes `least` or further along s; None if there is none."""
    skew = 0
    for pair in pairs:
        while not _far_enough(nest, pair, (skew, 1), least):
            skew += 1
            if skew > MOST_SKEW:
                return None
    return skew


def carries(nest: Nest, pairs: Sequence[Pair]) -> tuple[bool, bool]:
    """Whether the outer and whether the inner loop carry a dependence."""
    outer = any(not _far_enough(nest, pair, (-1, 0), 0) for pair in pairs)
    inner = any(not _far_enough(nest, pair, (1, 0), 1) for pair in pairs)
    return outer, inner


def _far_enough(nest: Nest, pair: Pair, weights: tuple[int, int], least: int) -> bool:
    """Whether no dependence between the two, whichever comes first, goes less far than that, distances weighted."""
    if pair.distance is not None:
        dp, dq = pair.distance if pair.distance > (0, 0) else (-pair.distance[0], -pair.distance[1])
        return weights[0] * dp + weights[1] * dq >= least
    one, other = (domain.Access((*nest.dims, *access.dims), access.index) for access in (pair.first, pair.second))
    if domain.nearer_than(one, other, weights, least):
        return False
    return pair.first == pair.second or not domain.nearer_than(other, one, weights, least)


def extreme(form: Affine, axis: Axis, largest: bool) -> Affine:
    """A form over positions at the end of an axis where it is largest (or least)."""
    slope = form.coefficient(axis.var)
    end = axis.hi - Affine((), 1) if (slope > 0) is largest else axis.lo
    return form.without(axis.var) + end.scaled(slope)


def by_position(form: Affine, signs: Mapping[str, int]) -> Affine:
    """A form of loop variables as one of positions, which keep the names (and back)."""
    return Affine.make({name: c * signs.get(name, 1) for name, c in form.terms}, form.constant)
