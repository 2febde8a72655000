"""Searches of many values in one sorted sequence.  In: a vector of values, an order; out: loops that find the place of
each of them and use it.

    for each block of values:
        first, size = the part of the sequence between the places of the least and the greatest of them
        if size is small: place[k] += goes_before(first + j, value[k]) for j, k
        else: while size > 0: half = (size + 1) >> 1; size -= half
                  for k in block: place[k] += half * goes_before(place[k] + half - 1, value[k])

All values of a block take the same steps, so that they run in vectors and no branch depends on data.  Values that come
in order have little between the least and the greatest of a block, and few steps to take.
"""

from __future__ import annotations

from collections.abc import Callable

from weft.frontend import arith, arrays
from weft.frontend.emit import Emitter
from weft.frontend.values import Array, Scalar, Value
from weft.frontend.writing import (
    Variable,
    bisect,
    bisect_sorted,
    both,
    counter,
    halving,
    less,
    loop,
    nest,
    pick,
    small,
    when,
)
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, Reduce
from weft.ir.types import BOOL, I64, INT, ScalarType

_BLOCK = 512
_MANY = 16  # so many values are worth two searches more, that of the least and that of the greatest

_FEW = 64  # so few elements are compared with all values, which needs no gathering

#: Whether the element at a place goes before a value.
Order = Callable[[Expr, Expr], Expr]


def places_of(
    values: Array,
    of: ScalarType,
    common: ScalarType,
    extent: Expr,
    goes_before: Order,
    result: Callable[[Expr, Expr], Expr],
    emitter: Emitter,
    name: str = "found",
    certain: bool = True,
) -> Value:
    """What `result` makes of each value (in the common type) and its place.  Not `certain`: who searches for single
    values gets NumPy's answer also in a sequence that is not sorted."""
    if values.rank == 1:
        buffer = emitter.allocate(name, of, values.shape)

        def use(at: Expr, value: Expr, place: Expr) -> None:
            emitter.assign((), buffer.name, (at,), arith.cast(result(value, place), of))

        search_each(values, common, extent, goes_before, use, emitter)
        return arrays.of_buffer(buffer)
    search = bisect_sorted if certain else bisect

    def find(value: Expr) -> Expr:
        held = emitter.snapshot(arith.cast(value, common), "value")
        place = search(emitter, extent, lambda k: goes_before(k, held))
        return result(held, emitter.snapshot(place, "place"))

    return each_element(values, of, emitter, find, name)


def each_element(
    array: Array, of: ScalarType, emitter: Emitter, find: Callable[[Expr], Expr], name: str = "found"
) -> Value:
    """A result computed element by element with statements of its own: `find` emits them and gives the value."""
    if not array.rank:
        return Scalar(emitter.snapshot(arith.cast(find(array.element(())), of), name))
    buffer = emitter.allocate(name, of, array.shape)
    with nest(emitter, array.shape) as at:
        emitter.assign((), buffer.name, at, arith.cast(find(array.element(at)), of))
    return arrays.of_buffer(buffer)


def search_each(
    values: Array,
    common: ScalarType,
    extent: Expr,
    goes_before: Order,
    use: Callable[[Expr, Expr, Expr], None],
    emitter: Emitter,
) -> None:
    """Calls `use` in a loop over the values, with an index, the value there (in the common type) and its place."""
    values = arrays.evaluated(values, emitter)
    whole, length_of_block = emitter.resolve(values.shape[0]), Const(_BLOCK, INT)
    blocks = Op("floordiv", (ix.add(whole, Const(_BLOCK - 1, INT)), length_of_block), INT)
    extent = emitter.stable(extent)
    with loop(emitter, ZERO, emitter.snapshot(blocks, "blocks"), "block") as block:
        begin = ix.mul(block, length_of_block)
        length = Op("minimum", (length_of_block, ix.sub(whole, begin)), INT)

        def value(k: Expr) -> Expr:
            return arith.cast(values.element((ix.add(begin, k),)), common)

        first, size = counter(emitter, "first"), counter(emitter, "size", extent)
        _narrow(value, length, extent, goes_before, (first, size), emitter)
        places = emitter.allocate("place", I64, (length_of_block,))
        held = arrays.of_buffer(places)
        with loop(emitter, ZERO, length, "k") as k:
            emitter.assign((), places.name, (k,), first.value)
        few = emitter.snapshot(pick(less(size.index, Const(_FEW, INT)), size.index, ZERO), "few")
        with loop(emitter, ZERO, few, "j") as j, loop(emitter, ZERO, length, "k") as k:
            passed = arith.cast(arith.condition(goes_before(small("add", first.index, j), value(k))), I64)
            emitter.assign((), places.name, (k,), Op("add", (held.element((k,)), passed), I64))
        size.set(Op("sub", (size.value, arith.cast(few, I64)), I64))
        half = counter(emitter, "half")
        with halving(emitter, size, half), loop(emitter, ZERO, length, "k") as k:
            one = value(k)
            here = held.element((k,))
            tried = small("sub", small("add", here, half.index), ONE)
            step = pick(arith.condition(goes_before(tried, one)), half.value, Const(0, I64))
            emitter.assign((), places.name, (k,), Op("add", (here, step), I64))
        with loop(emitter, ZERO, length, "k") as k:
            use(ix.add(begin, k), value(k), arith.cast(held.element((k,)), INT))


def _narrow(
    value: Callable[[Expr], Expr],
    length: Expr,
    extent: Expr,
    goes_before: Order,
    part: tuple[Variable, Variable],
    emitter: Emitter,
) -> None:
    first, size = part
    ends = []
    for op in ("minimum", "maximum"):
        dims, (k,) = emitter.domain((length,))
        ends.append(emitter.snapshot(Reduce(op, dims, value(k), emitter.span), "end"))
    many, numbers = less(Const(_MANY, INT), length), Op("eq", (ends[0], ends[0]), BOOL)  # no NaN among them
    with when(emitter, both(many, numbers)):
        low, high = (
            emitter.snapshot(bisect_sorted(emitter, extent, lambda k, end=end: goes_before(k, end)), "bound")  # type: ignore[misc]
            for end in ends
        )
        first.set(low)
        size.set(Op("sub", (arith.cast(high, I64), first.value), I64))
