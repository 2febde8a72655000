"""Order and counts: sort, argsort, searchsorted, unique, median, quantiles, bincount, histogram, digitize, isin.

Sorting is done by NumPy's own sorts, called line by line without the interpreter (`ir.routines`); lines of a few items
by insertion, as loops.  A NaN is larger than every number, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays, libraries, masks
from weft.frontend.constants import constant, constant_bool
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.reshaping import flattened
from weft.frontend.knowledge.selecting import axis_of, operand
from weft.frontend.knowledge.shaping import permuted
from weft.frontend.libraries import Request
from weft.frontend.searching import Order, places_of
from weft.frontend.values import Array, Index, Mask, Object, Tuple, Value
from weft.frontend.writing import (
    axis_index,
    both,
    counter,
    either,
    last,
    less,
    loop,
    nest,
    others,
    pick,
    repeat,
)
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Cast, Const, Expr, Op, Read, Reduce, integer
from weft.ir.program import Stmt
from weft.ir.routines import SORTS, types_of
from weft.ir.types import BOOL, I64, INT, ScalarType, promote

_BLOCK = 512  # elements that are looked up one after the other
_FEW = 8  # lines of a known length up to this are sorted by insertion


def precedes(left: Expr, right: Expr) -> Expr:
    """left < right in NumPy's order: NaN comes last."""
    if left.type.dtype.is_complex:
        return _precedes_complex(left, right)
    if not left.type.dtype.is_float:
        return Op("lt", (left, right), BOOL)
    not_after = Op("not", (Op("ge", (left, right), BOOL),), BOOL)
    return Op("and", (not_after, Op("eq", (left, left), BOOL)), BOOL)


def _precedes_complex(left: Expr, right: Expr) -> Expr:
    """By real parts, then by imaginary parts; after all numbers those with a NaN in one part, then in the other."""
    real = ScalarType(left.type.dtype.real)
    (a, b), (c, d) = ((Op("real", (z,), real), Op("imag", (z,), real)) for z in (left, right))
    missing = [Op("isnan", (part,), BOOL) for part in (a, b, c, d)]
    present = [Op("not", (test,), BOOL) for test in missing]
    level = either(Op("eq", (a, c), BOOL), both(missing[0], missing[2]))
    second = either(Op("lt", (b, d), BOOL), both(missing[3], present[1]))
    below = both(Op("lt", (a, c), BOOL), either(present[1], missing[3]))
    above = both(Op("gt", (a, c), BOOL), missing[3], present[1])
    first = either(below, above, both(missing[2], present[0]))
    return pick(level, second, first)


def _refuse_complex(array: Array, call: Bound) -> Array:
    if array.type.dtype.is_complex:
        raise Unsupported(call.builder.emitter.span, f"{call.name}() of complex numbers")
    return array


# --- lines in order -------------------------------------------------------------------------------------------------


def _insertion(array: Array, axis: int, emitter: Emitter) -> None:
    """Lines of a few items in memory, put in order by insertion: loops like any others, which threads share."""
    assert array.view is not None
    buffer, of = array.view.buffer, array.type
    with nest(emitter, others(array.shape, axis)) as outer:

        def line(position: Expr) -> Index:
            return axis_index(outer, axis, position)

        with loop(emitter, ONE, array.shape[axis], "k") as k:
            item = emitter.declare("item", of)
            emitter.assign((), item.name, (), Read(buffer, line(k), of))
            held = Read(item.name, (), of)
            hole = counter(emitter, "hole", k)
            before = Read(buffer, line(Cast(Op("sub", (hole.value, Const(1, I64)), I64), INT)), of)
            room = Op("gt", (hole.value, Const(0, I64)), BOOL)
            with repeat(emitter, pick(room, precedes(held, before), Const(False, BOOL))):
                emitter.emit(Stmt((), buffer, line(hole.index), before, None, emitter.span))
                hole.advance(-1)
            emitter.emit(Stmt((), buffer, line(hole.index), held, None, emitter.span))


def _in_order(routine: str, array: Array, into: Array, axis: int, emitter: Emitter) -> None:
    """Lines along an axis given to a routine of NumPy's."""
    axes = (*(other for other in range(array.rank) if other != axis), axis)
    lines, target = permuted(array, axes), permuted(into, axes)
    types = types_of([array.type.dtype], [into.type.dtype])
    core = lines.shape[-1:]
    libraries.call(Request(routine, types, lines.shape[:-1], (lines,), (("ordered", core),), into=target), emitter)


def sorted_copy(array: Array, axis: int, emitter: Emitter, kind: str = "quicksort") -> Array:
    """The elements in ascending order along an axis, in memory of their own."""
    array = replace(array, is_list=False)
    extent = array.shape[axis]
    few = isinstance(extent, Const) and isinstance(extent.value, int) and extent.value <= _FEW
    if few or not libraries.is_strided(array) or array.type.weak:
        result = arrays.materialise(array, emitter, "sorted")
        array = result
    else:
        result = arrays.of_buffer(emitter.allocate("sorted", array.type, array.shape))
    if few:
        _insertion(result, axis, emitter)
    else:
        _in_order(f"sort_{kind}", array, result, axis, emitter)
    return result


def sorting_order(array: Array, axis: int, emitter: Emitter, kind: str = "stable") -> Array:
    """The indices that put the elements in ascending order along an axis."""
    result = arrays.of_buffer(emitter.allocate("order", I64, array.shape))
    _in_order(f"argsort_{kind}", arrays.evaluated(replace(array, is_list=False), emitter), result, axis, emitter)
    return result


def _lines_of(call: Bound) -> tuple[Array, int]:
    array = operand(call, "a")
    if not array.rank:
        raise Unsupported(call.builder.emitter.span, f"AxisError: {call.name}() of a number")
    axis = axis_of(call, array.rank, default=-1)
    return (flattened(array, call.builder.emitter), 0) if axis is None else (array, axis)


@native(np.sort, parameters="a axis kind order stable")
def _sort(call: Bound) -> Value:
    return sorted_copy(*_lines_of(call), call.builder.emitter, _kind(call))


@native(parameters="a axis kind order stable", method="sort")
def _sort_in_place(call: Bound) -> Value:
    emitter = call.builder.emitter
    kind = _kind(call)
    target = call.need("a")
    if not isinstance(target, Array) or target.view is None:
        raise Unsupported(emitter.span, "sort() of something that is not an array in memory")
    arrays.store(target, sorted_copy(*_lines_of(call), emitter, kind), emitter)
    return Object(None)


@native(np.argsort, parameters="a axis kind order stable", method="argsort")
def _argsort(call: Bound) -> Value:
    return sorting_order(*_lines_of(call), call.builder.emitter, _kind(call))


@native(np.lexsort, parameters="keys axis", ranks=(1,))
def _lexsort(call: Bound) -> Value:
    """Sorted by the last key, among equals by the one before it: by the first key first, each sort keeps the order."""
    emitter = call.builder.emitter
    given = call.need("keys")
    if not isinstance(given, Tuple) or not given.items:
        raise Unsupported(emitter.span, "np.lexsort of keys that are not a tuple or list of arrays")
    keys = [arrays.as_array(item, emitter) for item in given.items]
    if any(key.rank != 1 for key in keys):
        raise Unsupported(emitter.span, "np.lexsort of keys that are not vectors")
    axis_of(call, 1, default=-1)
    for key in keys[1:]:
        emitter.same_size(keys[0].shape[0], key.shape[0], "ValueError", "all keys need to be the same shape")
    order = sorting_order(keys[0], 0, emitter)
    for key in keys[1:]:
        turned = _taken(arrays.evaluated(key, emitter), order)
        order = arrays.materialise(_taken(order, sorting_order(turned, 0, emitter)), emitter, "order")
    return order


def _taken(array: Array, order: Array) -> Array:
    """array[order]"""
    return Array(
        order.shape, array.type, lambda at: array.element((Cast(order.element(at), INT),)), cost=array.cost + 1
    )


def _kind(call: Bound) -> str:
    """Which of NumPy's sorts is meant."""
    emitter = call.builder.emitter
    if call.get("kind") is not None and call.get("stable") is not None:
        raise Unsupported(emitter.span, "ValueError: `kind` and `stable` at the same time")
    if call.get("order") is not None:
        raise Unsupported(emitter.span, f"order= of {call.name}()", "leave it out")
    wanted = call.get("kind")
    if wanted is None:
        return "stable" if constant_bool(call.get("stable"), emitter) else "quicksort"
    given = constant(wanted, emitter)
    kind = "stable" if given == "mergesort" else given
    if kind not in SORTS:
        raise Unsupported(emitter.span, f"kind={given!r} of {call.name}()", "leave it out")
    return str(kind)


# --- searches -------------------------------------------------------------------------------------------------------


def _order(sequence: Callable[[Expr], Expr], right: bool) -> Order:
    """Where a value goes into a sorted sequence: before its equals, or after them."""

    def goes_before(k: Expr, value: Expr) -> Expr:
        held = arith.cast(sequence(k), value.type)
        return Op("not", (precedes(value, held),), BOOL) if right else precedes(held, value)

    return goes_before


def _side(call: Bound) -> bool:
    given = call.get("side")
    side = "left" if given is None else constant(given, call.builder.emitter)
    if side not in ("left", "right"):
        raise Unsupported(call.builder.emitter.span, f"ValueError: side={side!r} of searchsorted()")
    return bool(side == "right")


@native(np.searchsorted, parameters="a v side sorter", method="searchsorted", kinds="biuf")
def _searchsorted(call: Bound) -> Value:
    emitter = call.builder.emitter
    array, values = (_refuse_complex(operand(call, name), call) for name in ("a", "v"))
    if array.rank != 1:
        raise Unsupported(emitter.span, "ValueError: searchsorted in an array that is not of rank 1")
    array = arrays.evaluated(array, emitter)
    if call.get("sorter") is not None:
        array = _sorted_by(array, arrays.evaluated(operand(call, "sorter"), emitter), emitter)
    common, right = promote(array.type.strong, values.type.strong), _side(call)
    order = _order(lambda k: array.element((k,)), right)
    return places_of(
        values, I64, common, array.shape[0], order, lambda _, place: place, emitter, certain=values.rank == 1
    )


def _sorted_by(array: Array, order: Array, emitter: Emitter) -> Array:
    """The array as a permutation orders it."""
    if order.rank != 1 or not order.type.dtype.is_integer or order.type.dtype.size > 8:
        reason = "TypeError: a sorter of searchsorted() that is not a vector of integers"
        raise Unsupported(emitter.span, reason, "pass what np.argsort gives")
    emitter.same_size(array.shape[0], order.shape[0], "ValueError", "sorter.size must equal array.size")
    dims, at = emitter.domain(order.shape)
    place = arith.cast(order.element(at), INT)
    inside = both(Op("ge", (place, ZERO), BOOL), less(place, array.shape[0]))
    emitter.check(inside, "ValueError", "Sorter index out of range.", (), dims)
    return arrays.materialise(_taken(array, order), emitter, "sorted")


@native(np.digitize, parameters="x bins right")
def _digitize(call: Bound) -> Value:
    emitter = call.builder.emitter
    values, bins = (_refuse_complex(operand(call, name), call) for name in ("x", "bins"))
    if bins.rank != 1:
        raise Unsupported(emitter.span, "ValueError: np.digitize with bins that are not of rank 1")
    bins = arrays.evaluated(bins, emitter)
    n = bins.shape[0]
    if bins.type.dtype.is_float:
        dims, at = emitter.domain(bins.shape)
        number = bins.element(at)
        good = Reduce("and", dims, Op("eq", (number, number), BOOL), emitter.span)
        emitter.rarely_fails(emitter.snapshot(good, "good"), "np.digitize with NaN among the bins")
    common = promote(bins.type.strong, values.type.strong)
    rising = emitter.snapshot(_monotonic(bins, "gt", emitter), "rising")
    falling = emitter.snapshot(_monotonic(bins, "lt", emitter), "falling")
    emitter.check(either(rising, falling), "ValueError", "bins must be monotonically increasing or decreasing")
    after = not constant_bool(call.get("right"), emitter)
    order = _order(lambda k: bins.element((pick(rising, k, ix.sub(last(n), k)),)), after)
    return places_of(
        values, I64, common, n, order, lambda _, found: pick(rising, found, ix.sub(n, found)), emitter
    )


def _monotonic(array: Array, against: str, emitter: Emitter) -> Expr:
    """Whether no element stands in a relation to the next one."""
    extent = emitter.snapshot(Op("maximum", (last(array.shape[0]), ZERO), INT), "pairs")
    dims, at = emitter.domain((extent,))
    pair = array.element(at), array.element((ix.add(at[0], ONE),))
    return Reduce("and", dims, Op("not", (Op(against, pair, BOOL),), BOOL), emitter.span)


@native(np.isin, parameters="element test_elements assume_unique invert", kinds="biuf", boxes=True)
def _isin(call: Bound) -> Value:
    """Each element is looked for in the sorted test elements."""
    emitter = call.builder.emitter
    values, tests = (_refuse_complex(operand(call, name), call) for name in ("element", "test_elements"))
    common = promote(values.type.strong, tests.type.strong)
    flat = flattened(tests, emitter)
    ordered = sorted_copy(
        Array(flat.shape, common, lambda at: arith.cast(flat.element(at), common), cost=flat.cost + 1), 0, emitter
    )
    n = ordered.shape[0]
    invert = constant_bool(call.get("invert"), emitter)

    def found(value: Expr, place: Expr) -> Expr:
        equal = Op("eq", (ordered.element((place,)), value), BOOL)
        known = pick(less(place, n), equal, Const(False, BOOL))
        return Op("not", (known,), BOOL) if invert else known

    order = _order(lambda k: ordered.element((k,)), False)
    return places_of(values, BOOL, common, n, order, found, emitter)


# --- unique ---------------------------------------------------------------------------------------------------------


@native(np.unique, parameters="ar return_index return_inverse return_counts", kinds="biuf")
def _unique(call: Bound) -> Value:
    emitter = call.builder.emitter
    array = _refuse_complex(operand(call, "ar"), call)
    wanted = {name: constant_bool(call.get(f"return_{name}"), emitter) for name in ("index", "inverse", "counts")}
    flat = arrays.evaluated(flattened(array, emitter), emitter)
    order: Array | None = None
    if wanted["index"] or wanted["inverse"]:
        # As in NumPy: only the index of the first of equal elements needs a stable sort, which takes much longer.
        kind = "stable" if wanted["index"] else "quicksort"
        order = permutation = sorting_order(flat, 0, emitter, kind)
        ordered = arrays.materialise(
            arrays.remap(flat, flat.shape, lambda at: (Cast(permutation.element(at), INT),)), emitter, "sorted"
        )
    else:
        ordered = sorted_copy(flat, 0, emitter)
    fresh = arrays.materialise(_first_of_equals(ordered), emitter, "first")
    results: list[Value] = [masks.compacted(Mask(ordered, fresh), emitter, "unique")]
    if wanted["index"] and order is not None:
        results.append(masks.compacted(Mask(order, fresh), emitter, "index"))
    if wanted["inverse"] and not array.rank:
        raise Unsupported(emitter.span, "np.unique of a number with return_inverse")
    if wanted["inverse"] and order is not None:
        results.append(_inverse(array, order, fresh, emitter))
    if wanted["counts"]:
        results.append(_group_sizes(fresh, emitter))
    return results[0] if len(results) == 1 else Tuple(tuple(results))


def _first_of_equals(ordered: Array) -> Array:
    """Where a new value begins in a sorted array; all NaN are one value."""

    def element(at: Index) -> Expr:
        here, before = ordered.element(at), ordered.element((ix.sub(at[0], ONE),))
        new: Expr = Op("ne", (here, before), BOOL)
        if ordered.type.dtype.is_float:
            new = both(new, Op("not", (Op("isnan", (before,), BOOL),), BOOL))
        return pick(Op("eq", (at[0], ZERO), BOOL), Const(True, BOOL), new)

    return Array(ordered.shape, BOOL, element, cost=2)


def _inverse(array: Array, order: Array, fresh: Array, emitter: Emitter) -> Array:
    """For each element of the array the position of its value among the unique ones."""
    shape = array.shape
    buffer = emitter.allocate("inverse", I64, shape)
    rank = counter(emitter, "rank", integer(-1))
    with loop(emitter, ZERO, order.shape[0], "k") as k:
        rank.set(Op("add", (rank.value, arith.cast(fresh.element((k,)), I64)), I64))
        place = arrays.unravelled(Cast(order.element((k,)), INT), shape)
        emitter.assign((), buffer.name, place, rank.value)
    return arrays.of_buffer(buffer)


def _group_sizes(fresh: Array, emitter: Emitter) -> Array:
    starts = masks.positions(fresh, emitter)[0]
    count, total = starts.shape[0], fresh.shape[0]

    def element(at: Index) -> Expr:
        following = ix.add(at[0], ONE)
        end = pick(less(following, count), starts.element((following,)), arith.cast(total, I64))
        return Op("sub", (end, starts.element(at)), I64)

    return arrays.materialise(Array((count,), I64, element, cost=2), emitter, "counts")
