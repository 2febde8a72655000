"""What is written before it is read.  In: the body of one iteration of a loop and an array; out: whether every element
of the array that the iteration reads has been written by that iteration before.

Positions along one axis are sets of intervals with bounds that are sums of symbols; what is not of the form `symbol +
constant` or `loop variable + constant` is not covered.

    x[i, 0] = 1;  for j in 1 .. n: x[i, j] = f(x[i, j - 1]);  for j in n - 1 .. -1 step -1: y[i, j] = x[i, j]
"""

from __future__ import annotations

from dataclasses import field

from weft.ir.expr import Dim, Expr
from weft.ir.index import Affine, affine
from weft.ir.program import Block, Loop, Node, Stmt
from weft.ir.walk import buffers_read, buffers_written, node_exprs, reads, walk
from weft.records import dataclass

Interval = tuple[Affine, Affine]
_ONE = Affine((), 1)


def own_axis(body: Block, name: str, variable: str) -> int | None:
    """The one axis at which all accesses of an array are the same unit step of the loop's variable."""
    indices = {node.index for node in walk(body) if isinstance(node, Stmt) and node.buffer == name}
    indices |= {read.index for node in walk(body) for e in node_exprs(node) for read in reads(e) if read.buffer == name}
    found: int | None = None
    for axis in range(len(next(iter(indices)))):
        forms = {affine(index[axis]) for index in indices}
        form = forms.pop()
        if not forms and form is not None and form.coefficient(variable) == 1 and found is None:
            found = axis
        elif any(other is None or variable in other.names for other in (form, *forms)):
            return None
    return found


def is_covered(body: Block, name: str, axis: int) -> bool:
    """Whether an iteration reads along `axis` of an array only what it has written before."""
    covered = _Covered(name, axis)
    return all(covered.takes(node) for node in body)


@dataclass
class _Covered:
    """The intervals written so far."""

    name: str
    axis: int
    known: list[Interval] = field(default_factory=list)

    def takes(self, node: Node) -> bool:
        """Whether the node reads only what is known; what it writes is known afterwards."""
        if self.name not in buffers_read(node) | buffers_written(node):
            return True
        if isinstance(node, Stmt):
            return self._statement(node)
        return isinstance(node, Loop) and isinstance(node.dim, Dim) and self._loop(node, node.dim)

    def _statement(self, stmt: Stmt) -> bool:
        for place in self._read(stmt):
            if place is None or not self._holds((place, place + _ONE)):
                return False
        return self._written([(place, place + _ONE) for place in self._targets(stmt)])

    def _loop(self, loop: Loop, dim: Dim) -> bool:
        lo, hi = affine(dim.lo), affine(dim.hi)
        if lo is None or hi is None or abs(dim.step) != 1 or not all(isinstance(node, Stmt) for node in loop.body):
            return False
        if dim.step < 0:
            lo, hi = hi + _ONE, lo + _ONE
        stmts = [node for node in loop.body if isinstance(node, Stmt)]
        written: list[tuple[int, int]] = []
        for at, stmt in enumerate(stmts):
            for target in self._targets(stmt):
                offset = _offset(target, dim.var)
                if offset is None:
                    return False
                written.append((at, offset))
        for at, stmt in enumerate(stmts):
            for place in self._read(stmt):
                offset = None if place is None else _offset(place, dim.var)
                if offset is None or not self._seen(offset, at, written, (lo, hi), dim.step):
                    return False
        return self._written([(_plus(lo, offset), _plus(hi, offset)) for _, offset in written])

    def _seen(self, offset: int, at: int, written: list[tuple[int, int]], span: Interval, step: int) -> bool:
        """Whether what the statement `at` of a loop over `span` reads at variable + offset was written: before the
        loop, by an earlier iteration (the first ones find it from before), or by an earlier statement."""
        lo, hi = span
        if self._holds((_plus(lo, offset), _plus(hi, offset))):
            return True
        for other, target in written:
            ahead = (target - offset) * step
            if ahead == 0 and other < at:
                return True
            if ahead > 0:
                start = (_plus(lo, offset), _plus(lo, target)) if step > 0 else (_plus(hi, target), _plus(hi, offset))
                if self._holds(start):
                    return True
        return False

    def _read(self, stmt: Stmt) -> list[Affine | None]:
        found = [read for e in node_exprs(stmt) for read in reads(e) if read.buffer == self.name]
        return [self._place(read.index) for read in found]

    def _targets(self, stmt: Stmt) -> list[Affine]:
        place = self._place(stmt.index) if stmt.buffer == self.name else None
        return [] if place is None else [place]

    def _place(self, index: tuple[Expr, ...]) -> Affine | None:
        return affine(index[self.axis])

    def _holds(self, wanted: Interval) -> bool:
        return any(_at_least(wanted[0], lo) and _at_least(hi, wanted[1]) for lo, hi in self.known)

    def _written(self, new: list[Interval]) -> bool:
        """Add intervals; those that touch become one (if the second is empty, the first holds all of the new one)."""
        for interval in new:
            for lo, hi in list(self.known):
                if _at_least(hi, interval[0]):
                    self.known.append((lo, interval[1]))
                if _at_least(interval[1], lo):
                    self.known.append((interval[0], hi))
            self.known.append(interval)
        return len(self.known) < 64


def _plus(form: Affine, number: int) -> Affine:
    return form + Affine((), number)


def _offset(place: Affine, variable: str) -> int | None:
    """c, if a place is variable + c."""
    if place.coefficient(variable) != 1:
        return None
    rest = place.without(variable)
    return rest.constant if rest.is_constant else None


def _at_least(one: Affine, other: Affine) -> bool:
    """Whether one >= other is known."""
    distance = one - other
    return distance.is_constant and distance.constant >= 0
