"""Elements chosen by a boolean mask.  In: a `Mask`; out: the chosen elements as an array, or an update in place.

A mask stays a mask as long as it can: `a[m] = b[m] * 2` is one statement over the whole of `a`, with a select.  Where
the chosen elements are wanted as an array of their own they are counted and then copied, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from weft.errors import Unsupported
from weft.frontend import arith, arrays
from weft.frontend.emit import Emitter
from weft.frontend.values import Array, Flat, Index, Mask, Scalar, Value
from weft.frontend.writing import Variable, axis_index, counter, less, may_share, nest, others, repeat, when
from weft.ir import index as ix
from weft.ir import walk
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, Reduce, Var, integer
from weft.ir.ops import REDUCTIONS
from weft.ir.types import BOOL, I64, INT, ScalarType


def settled(value: Value, emitter: Emitter) -> Value:
    """The value, a mask as the array of its elements."""
    if isinstance(value, Flat):
        return value.array
    return compacted(value, emitter) if isinstance(value, Mask) else value


def same_condition(left: Array, right: Array) -> bool:
    """Whether two masks surely choose the same positions."""
    if left.rank != right.rank:
        return False
    at = tuple(Var(f"?{axis}") for axis in range(left.rank))
    return left.element(at) == right.element(at)


def is_full(mask: Mask) -> bool:
    """Whether the mask chooses elements, not rows."""
    return mask.array.rank == mask.condition.rank


def common(operands: Sequence[Value]) -> Array | None:
    """The condition under which an element-wise operation of these operands may stay masked."""
    masks = [operand for operand in operands if isinstance(operand, Mask)]
    plain = [operand for operand in operands if not isinstance(operand, Mask)]
    if not all(isinstance(value, Scalar) or (isinstance(value, Array) and not value.rank) for value in plain):
        return None
    first = masks[0]
    fine = all(is_full(mask) and same_condition(mask.condition, first.condition) for mask in masks)
    return first.condition if fine else None


def elementwise(operands: Sequence[Value], combine: Callable[[Sequence[Value]], Value], emitter: Emitter) -> Value:
    """An element-wise operation with masks among its operands: masked if all choose the same, else on copies."""
    condition = common(operands)
    if condition is None:
        return combine([settled(operand, emitter) for operand in operands])
    result = combine([operand.array if isinstance(operand, Mask) else operand for operand in operands])
    assert isinstance(result, Array)
    return Mask(result, condition)


# --- copies ---------------------------------------------------------------------------------------------------------


def counted(condition: Array, emitter: Emitter) -> Expr:
    """How many elements of a boolean array are true; two questions in a row get one answer (and so one size)."""
    at = tuple(Var(f"?{axis}") for axis in range(condition.rank))
    key = (condition.element(at), condition.shape)
    known = emitter.counts.get(key)
    # A scalar that the condition reads may have changed since; a change of an array is counted.
    lasting = condition.view is not None and all(
        read.index or emitter.is_written_once(read.buffer) for read in walk.reads(key[0])
    )
    if known is not None and lasting and known.block is emitter.blocks[-1] and known.mutations == emitter.mutations:
        return known.count
    dims, place = emitter.domain(condition.shape)
    value = Reduce("add", dims, arith.cast(arith.condition(condition.element(place)), I64), emitter.span)
    count = emitter.snapshot(arith.cast(value, INT), "count")
    emitter.remember_count(key, count)
    return count


def each(condition: Array, emitter: Emitter, visit: Callable[[Index, Variable], None]) -> None:
    """Run through the true positions in order: `visit(position, rank among them)` emits what is done there."""
    rank = counter(emitter, "rank")
    with nest(emitter, condition.shape) as at, when(emitter, condition.element(at)):
        visit(at, rank)
        rank.advance()


def gathered(condition: Array, emitter: Emitter, visit: Callable[[Index, Variable], None]) -> None:
    """As `each`, for a visit that only writes to the place of its rank: along a vector without a branch.

    Every position writes, and the next one writes over it unless it was chosen.
    """
    if condition.rank != 1:
        each(condition, emitter, visit)
        return
    count = arith.cast(counted(condition, emitter), I64)
    rank, position = counter(emitter, "rank"), counter(emitter, "place")
    with repeat(emitter, less(rank.value, count)):
        at = (position.index,)
        visit(at, rank)
        chosen = arith.cast(arith.condition(condition.element(at)), I64)
        rank.set(Op("add", (rank.value, chosen), I64))
        position.advance()


def compacted(mask: Mask, emitter: Emitter, name: str = "chosen") -> Array:
    """The chosen elements (or rows) as a new array."""
    condition = arrays.evaluated(mask.condition, emitter, "mask")
    array = mask.array
    rest = array.shape[condition.rank :]
    buffer = emitter.allocate(name, array.type.strong, (counted(condition, emitter), *rest))

    def copy(at: Index, rank: Variable) -> None:
        dims, inner = emitter.domain(rest, "klmnpqrs")
        value = arith.cast(array.element((*at, *inner)), buffer.type)
        emitter.assign(dims, buffer.name, (rank.index, *inner), value)

    (each if rest else gathered)(condition, emitter, copy)
    return arrays.of_buffer(buffer)


def compressed(array: Array, condition: Array, axis: int, emitter: Emitter) -> Array:
    """The slices along one axis for which a condition of rank 1 holds, as a new array."""
    condition = arrays.evaluated(condition, emitter, "mask")
    rest = others(array.shape, axis)
    shape = axis_index(rest, axis, counted(condition, emitter))
    buffer = emitter.allocate("chosen", array.type.strong, shape)

    def copy(at: Index, rank: Variable) -> None:
        dims, inner = emitter.domain(rest, "klmnpqrs")
        value = arith.cast(array.element(axis_index(inner, axis, at[0])), buffer.type)
        emitter.assign(dims, buffer.name, axis_index(inner, axis, rank.index), value)

    (each if rest else gathered)(condition, emitter, copy)
    return arrays.of_buffer(buffer)


def truths(array: Array) -> Array:
    """The truth of each element."""
    if array.type == BOOL:
        return array
    return Array(array.shape, BOOL, lambda at: arith.condition(array.element(at)), cost=array.cost + 1)


def positions(array: Array, emitter: Emitter) -> tuple[Array, ...]:
    """The indices of the elements that are not zero, one array for each axis."""
    condition = arrays.evaluated(truths(array), emitter, "mask")
    count = counted(condition, emitter)
    buffers = [emitter.allocate("position", I64, (count,)) for _ in condition.shape]

    def note(at: Index, rank: Variable) -> None:
        for buffer, variable in zip(buffers, at):
            emitter.assign((), buffer.name, (rank.index,), arith.cast(variable, I64))

    gathered(condition, emitter, note)
    return tuple(arrays.of_buffer(buffer) for buffer in buffers)


def neutral(mask: Mask, op: str, of: ScalarType) -> Array:
    """The whole array, with the neutral element of a reduction where the mask chooses nothing."""
    array, condition = mask.array, mask.condition
    identity = Const(REDUCTIONS[op].identity(of), of)

    def element(at: Index) -> Expr:
        return Op("select", (arith.condition(condition.element(at)), arith.cast(array.element(at), of), identity), of)

    return Array(array.shape, of, element, cost=array.cost + condition.cost + 1)


# --- updates --------------------------------------------------------------------------------------------------------

_TOO_MANY = (
    "NumPy boolean array indexing assignment cannot assign {0} input values to the {1} output values "
    "where the mask is true"
)
_MISMATCH = "shape mismatch: value array could not be broadcast to indexing result"


def assign(place: Mask, value: Value, emitter: Emitter) -> None:
    """array[mask] = value"""
    array = place.array
    if isinstance(value, Mask) and is_full(place) and is_full(value) and common([place, value]) is not None:
        select(place, value.array, emitter)
        return
    source = arrays.assigned(value, array.type, emitter)
    if source.rank == 0:
        select(place, source, emitter)
        return
    if is_full(place) and source.rank > 1:
        raise Unsupported(emitter.span, "TypeError: elements chosen by a mask get a value of more than one dimension")
    while source.rank > 1 + array.rank - place.condition.rank and arrays.is_one(source.shape[0]):
        source = arrays.remap(source, source.shape[1:], lambda at: (ZERO, *at))
    if source.rank > 1 + array.rank - place.condition.rank:
        raise Unsupported(emitter.span, "ValueError: the value has more axes than the elements chosen by the mask")
    _scatter(place, source, emitter)


def select(place: Mask, source: Array, emitter: Emitter) -> None:
    """array[mask] = value --> array[i] = value[i] if mask[i] else array[i]"""
    array, condition = place.array, place.condition
    dims, at = emitter.domain(array.shape)
    new = arrays.storable(source.element(at if source.rank else ()), array.type, emitter)
    test = arith.condition(condition.element(at[: condition.rank]))
    chosen = Op("select", (test, new, array.element(at)), array.type)
    arrays.write(array, dims, at, chosen, emitter)
    emitter.mutations += 1


def _scatter(place: Mask, source: Array, emitter: Emitter) -> None:
    """Values one by one to the chosen positions."""
    array, condition = place.array, place.condition
    view = array.view or (array.part.view if array.part is not None else None)
    assert view is not None
    if condition.cost or may_share(condition, view.buffer, emitter):
        condition = arrays.materialise(condition, emitter, "mask")
    if may_share(source, view.buffer, emitter) and (source.view is not None or source.origin is not None):
        # NumPy reads such a part while it is being written.
        raise Unsupported(emitter.span, "a part of an array assigned to elements of the same array chosen by a mask")
    if source.cost:
        source = arrays.materialise(source, emitter)
    rest = array.shape[condition.rank :]
    leading = source.shape[0] if source.rank == 1 + len(rest) else ONE
    stretched = _check_length(condition, leading, is_full(place), emitter)
    fitted = arrays.fitted(source, (leading, *rest), emitter, _MISMATCH)

    def write(at: Index, rank: Variable) -> None:
        dims, inner = emitter.domain(rest, "klmnpqrs")
        first: Expr = ZERO if arrays.is_one(leading) else rank.index
        if stretched is not None:
            first = Op("select", (stretched, ZERO, first), INT)
        new = arrays.storable(fitted.element((first, *inner)), array.type, emitter)
        arrays.write(array, dims, (*at, *inner), new, emitter)

    each(condition, emitter, write)
    emitter.mutations += 1


def _check_length(condition: Array, leading: Expr, full: bool, emitter: Emitter) -> Expr | None:
    """As many values as places, or one for all: then the test for one, if it is not known now."""
    if arrays.is_one(leading):
        return None
    count = counted(condition, emitter)
    if ix.difference(count, leading) == 0:
        return None
    single = None if emitter.assure(ix.sub(leading, integer(2)), "RuntimeError") else Op("eq", (leading, ONE), BOOL)
    fits: Expr = Op("eq", (leading, count), BOOL)
    message = _TOO_MANY if full else _MISMATCH
    emitter.check(fits if single is None else Op("or", (single, fits), BOOL), "ValueError", message, (leading, count))
    return single


def update(place: Mask, op: str, value: Value, emitter: Emitter) -> None:
    """array[mask] OP= value"""
    simple = isinstance(value, Scalar) or (isinstance(value, Mask) and common([place, value]) is not None)
    if simple and is_full(place):
        masked = arrays.apply(op, [place, value], emitter)
        assert isinstance(masked, Mask)
        arrays.check_in_place(masked.array.type, place.array.type, emitter)
        select(place, masked.array, emitter)
        return
    held = replace(compacted(place, emitter))
    arrays.update(held, op, settled(value, emitter), emitter)
    assign(place, held, emitter)
