"""Loops written by hand: what an algorithm that is not a statement over a domain (a scan, a sort, a compaction) is made
of.  In: an emitter; out: the nodes that the blocks below emit, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from weft.frontend import arith
from weft.frontend.emit import Emitter
from weft.frontend.values import Array, Index, View
from weft.ir import index as ix
from weft.ir import walk
from weft.ir.expr import ONE, ZERO, Cast, Const, Dim, Expr, Op, Read, Var
from weft.ir.program import Break, If, Loop, Role, Stmt, While
from weft.ir.types import BOOL, I64, INT, ScalarType
from weft.records import dataclass


@dataclass(frozen=True)
class Variable:
    """A scalar that an algorithm changes as it goes."""

    emitter: Emitter
    name: str
    of: ScalarType
    at: Index = ()  # one of many in an array

    @property
    def value(self) -> Expr:
        return Read(self.name, self.at, self.of)

    @property
    def index(self) -> Expr:
        """The value as an index."""
        return self.value if self.of == INT else Cast(self.value, INT)

    def set(self, value: Expr) -> None:
        self.emitter.assign((), self.name, self.at, arith.cast(value, self.of))

    def advance(self, by: int = 1) -> None:
        self.set(Op("add", (self.value, Const(by, self.of)), self.of))


def variable(emitter: Emitter, name: str, first: Expr, of: ScalarType | None = None) -> Variable:
    """A new variable with its first value."""
    made = Variable(emitter, emitter.declare(name, of or first.type).name, of or first.type)
    made.set(first)
    return made


def counter(emitter: Emitter, name: str, first: Expr = ZERO) -> Variable:
    """A position that stays within an array: 64 bits, without the overflow test of Python's integers."""
    return variable(emitter, name, arith.cast(first, I64))


@contextmanager
def loop(emitter: Emitter, lo: Expr, hi: Expr, name: str = "i", step: int = 1) -> Iterator[Var]:
    """for name in range(lo, hi, step)"""
    dim = Dim(emitter.fresh(name), emitter.stable(lo), emitter.stable(hi), step)
    with emitter.capture() as block, emitter.inside(dim):
        yield Var(dim.var)
    emitter.emit(Loop(dim, tuple(block), span=emitter.span))


@contextmanager
def nest(emitter: Emitter, shape: Sequence[Expr], names: str = "ijklmnpq") -> Iterator[Index]:
    """Loops over every index of a shape, the last axis innermost."""
    with ExitStack() as stack:
        yield tuple(stack.enter_context(loop(emitter, ZERO, extent, names[k % 8])) for k, extent in enumerate(shape))


@contextmanager
def when(emitter: Emitter, condition: Expr) -> Iterator[None]:
    """if condition:"""
    with emitter.capture(branch=True) as block:
        yield
    emitter.emit(If(arith.condition(condition), tuple(block), (), emitter.span))


@contextmanager
def repeat(emitter: Emitter, condition: Expr, brief: bool = False) -> Iterator[None]:
    """while condition:"""
    with emitter.capture() as block:
        yield
    emitter.emit(While((), arith.condition(condition), tuple(block), emitter.span, brief))


def choose(emitter: Emitter, condition: Expr, then: Sequence[Stmt], orelse: Sequence[Stmt]) -> None:
    """if condition: then else: orelse"""
    emitter.emit(If(arith.condition(condition), tuple(then), tuple(orelse), emitter.span))


def leave(emitter: Emitter) -> None:
    """break"""
    emitter.emit(Break(emitter.span))


def small(op: str, left: Expr, right: Expr) -> Expr:
    """Arithmetic on places in memory: far from 64 bits, so without the overflow test of Python's integers."""
    return arith.cast(Op(op, (arith.cast(left, I64), arith.cast(right, I64)), I64), INT)


def less(left: Expr, right: Expr) -> Expr:
    return Op("lt", (left, right), BOOL)


def both(*tests: Expr) -> Expr:
    result = tests[0]
    for test in tests[1:]:
        result = Op("and", (result, test), BOOL)
    return result


def either(*tests: Expr) -> Expr:
    result = tests[0]
    for test in tests[1:]:
        result = Op("or", (result, test), BOOL)
    return result


def pick(test: Expr, then: Expr, orelse: Expr) -> Expr:
    """A select of two values of one type."""
    return Op("select", (test, then, orelse), then.type)


def may_share(array: Array, buffer: str, emitter: Emitter) -> bool:
    """Whether reading `array` reads the memory of `buffer`, which is about to change element by element.

    Two arguments of the caller's are taken to be apart: a guard, and Python runs if they are not.
    """
    read = walk.expr_buffers(array.element(tuple(Var(f"?{axis}") for axis in range(array.rank))))
    if _argument(buffer, emitter):
        for name in read:
            if name != buffer and name in emitter.buffers and _argument(name, emitter):
                emitter.disjoint.add((min(name, buffer), max(name, buffer)))
    return buffer in read


def tells_place(view: View, rank: int, emitter: Emitter) -> bool:
    """Whether the elements that a store goes to are told by the memory that it writes, as in `a[a[::-1]] = v`.

    Two arguments of the caller's are taken to be apart, as above.
    """
    at = tuple(Var(f"?{axis}") for axis in range(rank))
    places = [Array((), INT, lambda _, expr=expr: expr) for expr in view.index(at)]  # type: ignore[misc]
    shared = [may_share(place, view.buffer, emitter) for place in places]  # each adds its guards
    return any(shared)


def _argument(name: str, emitter: Emitter) -> bool:
    buffer = emitter.buffers[name]
    return buffer.role is Role.PARAM and buffer.rank > 0


def axis_index(outer: Index, axis: int, position: Expr) -> Index:
    """An index of the other axes with `position` put in at `axis`."""
    return (*outer[:axis], position, *outer[axis:])


def others(shape: Sequence[Expr], axis: int) -> tuple[Expr, ...]:
    """The extents of the other axes."""
    return (*shape[:axis], *shape[axis + 1 :])


def last(extent: Expr) -> Expr:
    return ix.sub(extent, Const(1, INT))


def bisect(emitter: Emitter, extent: Expr, goes_before: Callable[[Expr], Expr]) -> Expr:
    """The first position of a sequence at which `goes_before` no longer holds, by halving as NumPy halves: what it
    finds is NumPy's also in a sequence that is not sorted."""
    low, high = counter(emitter, "low"), counter(emitter, "high", extent)
    with repeat(emitter, less(low.value, high.value)):
        total = Op("add", (low.value, high.value), I64)
        middle = counter(emitter, "middle")
        middle.set(Op("shr", (total, Const(1, I64)), I64))
        after = Stmt((), low.name, (), Op("add", (middle.value, Const(1, I64)), I64), None, emitter.span)
        choose(emitter, goes_before(middle.index), [after], [Stmt((), high.name, (), middle.value, None, emitter.span)])
    return low.index


def bisect_sorted(emitter: Emitter, extent: Expr, goes_before: Callable[[Expr], Expr]) -> Expr:
    """The same in a sequence that is sorted, without branches that depend on data: as many steps for every value."""
    first, size = counter(emitter, "first"), counter(emitter, "size", extent)
    half = counter(emitter, "half")
    with halving(emitter, size, half):
        tried = small("sub", small("add", first.value, half.index), ONE)
        step = Op("mul", (arith.cast(arith.condition(goes_before(tried)), I64), half.value), I64)  # no branch
        first.set(Op("add", (first.value, step), I64))
    return first.index


@contextmanager
def halving(emitter: Emitter, size: Variable, half: Variable) -> Iterator[None]:
    """while size > 0: half = (size + 1) >> 1; size -= half; ..."""
    with repeat(emitter, less(Const(0, I64), size.value), brief=True):
        half.set(Op("shr", (Op("add", (size.value, Const(1, I64)), I64), Const(1, I64)), I64))
        size.set(Op("sub", (size.value, half.value), I64))
        yield


def at_least_one(extent: Expr, emitter: Emitter) -> Expr:
    """1, or 0 for an empty axis: how many first elements there are."""
    if emitter.assure(ix.sub(extent, Const(1, INT)), "RuntimeError"):
        return Const(1, INT)
    return emitter.snapshot(Op("minimum", (extent, Const(1, INT)), INT), "first")


def shortened(extent: Expr, by: int, emitter: Emitter) -> Expr:
    """extent - by, but not below 0."""
    rest = ix.sub(extent, Const(by, INT))
    if emitter.assure(rest, "RuntimeError"):
        return rest
    return emitter.snapshot(Op("maximum", (rest, ZERO), INT), "rest")
