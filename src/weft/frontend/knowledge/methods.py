"""The methods of binary ufuncs: outer, reduce, accumulate, reduceat, at.  Each builds on the meaning of the ufunc."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays, indexing, masks
from weft.frontend.constants import constant_axis, constant_bool
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.linear import outer
from weft.frontend.knowledge.reductions import first_value, reduced, reduced_in, sum_type
from weft.frontend.knowledge.scans import scan
from weft.frontend.knowledge.selecting import axis_of, operand
from weft.frontend.knowledge.ufuncs import MEANINGS, UFUNCS, Meaning, as_plain, chosen_by, deliver, dtype_of, strong
from weft.frontend.values import Array, Object, Scalar, Tuple, Value, describe
from weft.frontend.writing import axis_index, loop, may_share, nest, others, variable
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, Read, integer
from weft.ir.ops import REDUCTIONS
from weft.ir.types import BOOL, INT, DType, ScalarType

_TRUTHS: dict[np.ufunc, str] = {np.logical_and: "and", np.logical_or: "or"}
_PARTIAL = {np.fmax: "maximum", np.fmin: "minimum"}  # the same without regard to NaN
_BINARY = tuple(ufunc for ufunc in MEANINGS if ufunc.nin == 2 and ufunc is not np.ldexp)
_COMPARING = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)


def fold_type(call: Bound, ufunc: np.ufunc, array: Array) -> ScalarType:
    """The type in which a ufunc reduces or accumulates an array: its operands and its result must be of it."""
    emitter = call.builder.emitter
    source = array.type.strong
    if ufunc in _TRUTHS or ufunc is np.logical_xor:
        if dtype_of(call) not in (None, BOOL):
            raise Unsupported(emitter.span, f"dtype= of {call.name}()")
        return BOOL
    if ufunc in _COMPARING and source.dtype is not DType.BOOL:
        raise Unsupported(emitter.span, f"{call.name}() of {source}")
    probe = Read("?fold", (), source)
    natural = MEANINGS[ufunc].combine((probe, probe), emitter.span).type.strong
    of = reduced_in(call, source, sum_type(source) if ufunc in (np.add, np.multiply) else natural)
    probe = Read("?fold", (), of)
    if MEANINGS[ufunc].combine((probe, _exponent(ufunc, probe)), emitter.span).type.strong != of:
        raise Unsupported(emitter.span, f"{call.name}() of {source}")
    return of


def _exponent(ufunc: np.ufunc, value: Expr) -> Expr:
    """A second operand; that of a power of integers is refused elsewhere."""
    return Const(1, value.type) if ufunc is np.power and value.type.dtype.kind == "i" else value


def _as_type(array: Array, of: ScalarType) -> Array:
    """The elements as the ufunc takes them: their truth for a logical one."""
    if of == array.type:
        return array
    if of == BOOL:
        return masks.truths(array)
    return Array(array.shape, of, lambda at: arith.cast(array.element(at), of), cost=array.cost)


# --- outer ----------------------------------------------------------------------------------------------------------


def _kinds(ufunc: np.ufunc) -> str:
    """NumPy computes fmod of booleans in int8, which has no native form."""
    return "iuf" if ufunc is np.fmod else "biufc"


def _register_outer(ufunc: np.ufunc, meaning: Meaning) -> None:
    @native(ufunc.outer, parameters="A B out", name=f"{ufunc.__name__}.outer")
    def build(call: Bound) -> Value:
        left, right = (_as_strong(operand(call, name)) for name in ("A", "B"))
        return deliver(call, strong(outer(meaning, left, right, call.builder.emitter)))


def _as_strong(array: Array) -> Array:
    """An operand as an array of NumPy's: `outer` makes one of a Python number first."""
    of = array.type.strong
    return array if of == array.type else _as_type(array, of)


# --- reduce ---------------------------------------------------------------------------------------------------------


def _register_reduce(ufunc: np.ufunc) -> None:
    @native(
        ufunc.reduce, parameters="array axis dtype out keepdims initial where", name=f"{ufunc.__name__}.reduce"
    )
    def build(call: Bound) -> Value:
        emitter = call.builder.emitter
        array = operand(call, "array")
        axis = constant_axis(call.given["axis"], emitter) if "axis" in call.given else 0
        axes = arrays.normalise_axes(axis, array.rank, emitter)
        of = fold_type(call, ufunc, array)
        keepdims = constant_bool(call.get("keepdims"), emitter)
        ready = _as_type(array, of)
        op = _TRUTHS.get(ufunc) or UFUNCS.get(ufunc, "")
        if of.dtype is DType.BOOL and op in ("bitand", "bitor", "minimum", "maximum"):
            if ufunc.identity is None and "initial" not in call.given:  # other than those that stand for it here
                if chosen_by(call) is not None:
                    raise Unsupported(emitter.span, f"ValueError: where= of {call.name}() needs initial=")
                arrays.refuse_empty(array, axes, op, emitter)
            op = "and" if op in ("bitand", "minimum") else "or"
        if op in REDUCTIONS and not (of.dtype is DType.BOOL and op == "bitxor"):
            return deliver(call, reduced(call, ready, op, of, axes, keepdims), exact=True)
        if ufunc in _PARTIAL:
            return deliver(call, _partial(call, ready, _PARTIAL[ufunc], axes, keepdims), exact=True)
        return deliver(call, _folded(call, ufunc, ready, axes, keepdims), exact=True)


def _partial(call: Bound, array: Array, op: str, axes: tuple[int, ...], keepdims: bool) -> Value:
    """The extreme of what is not NaN; NaN if nothing else is there."""
    of = array.type.strong
    if of.dtype.is_complex:
        raise Unsupported(call.builder.emitter.span, f"{call.name}() of complex numbers")
    if "initial" not in call.given:
        arrays.refuse_empty(array, axes, call.name.partition(".")[0], call.builder.emitter)
    if not of.dtype.is_float:
        return reduced(call, array, op, of, axes, keepdims)
    if chosen_by(call) is not None or "initial" in call.given:
        raise Unsupported(call.builder.emitter.span, f"where= or initial= of {call.name}()")
    array = arrays.evaluated(array, call.builder.emitter)
    neutral = Const(REDUCTIONS[op].identity(of), of)

    def present(at: tuple[Expr, ...]) -> Expr:
        value = array.element(at)
        return Op("select", (Op("isnan", (value,), BOOL), neutral, value), of)

    numbers = Array(array.shape, of, present, cost=array.cost + 2)
    best = reduced(call, numbers, op, of, axes, keepdims)
    missing = Array(array.shape, BOOL, lambda at: Op("isnan", (array.element(at),), BOOL), cost=1)
    nothing = arrays.reduce(missing, "and", axes, keepdims, call.builder.emitter, "missing", BOOL)
    return arrays.elementwise(
        [nothing, best], lambda parts: Op("select", (parts[0], Const(np.nan, of), parts[1]), of), call.builder.emitter
    )


def _folded(call: Bound, ufunc: np.ufunc, array: Array, axes: tuple[int, ...], keepdims: bool) -> Value:
    """One element after the other along one axis, from the first (or from the identity, if the ufunc has one)."""
    emitter = call.builder.emitter
    if len(axes) != 1 or chosen_by(call) is not None:
        raise Unsupported(emitter.span, f"{call.name}() over several axes or with where=")
    if ufunc is np.power and array.type.dtype.kind == "i":
        raise Unsupported(emitter.span, f"{call.name}() of integers")
    of, axis = array.type.strong, axes[0]
    array = arrays.evaluated(array, emitter)
    rest = others(array.shape, axis)
    first = first_value(call, of)
    start = first.expr if isinstance(first, Scalar) else None
    if start is None and ufunc.identity is not None:
        start = arith.cast(Const(ufunc.identity, INT if isinstance(ufunc.identity, int) else of), of)
    if start is None:
        arrays.refuse_empty(array, axes, ufunc.__name__, emitter)
    buffer = emitter.allocate("folded", of, rest) if rest else emitter.declare("folded", of)
    held = arrays.of_buffer(buffer)
    dims, at = emitter.domain(rest)
    emitter.assign(dims, buffer.name, at, array.element(axis_index(at, axis, ZERO)) if start is None else start)
    with loop(emitter, ZERO if start is not None else ONE, array.shape[axis], "k") as k:
        dims, at = emitter.domain(rest)
        value = MEANINGS[ufunc].combine((held.element(at), array.element(axis_index(at, axis, k))), emitter.span)
        emitter.assign(dims, buffer.name, at, arith.cast(value, of))
    if not keepdims:
        return held if rest else Scalar(emitter.snapshot(Read(buffer.name, (), of), "folded"))
    return arrays.remap(held, axis_index(rest, axis, ONE), lambda at: (*at[:axis], *at[axis + 1 :]))


# --- accumulate, reduceat -------------------------------------------------------------------------------------------


def _along(call: Bound, ufunc: np.ufunc) -> tuple[Array, int, ScalarType]:
    """The array in the type of the fold, and the axis."""
    emitter = call.builder.emitter
    array = operand(call, "array")
    if not array.rank or (ufunc is np.power and array.type.dtype.kind == "i"):
        raise Unsupported(emitter.span, f"{call.name}() of {describe(call.need('array'))}", "pass an array")
    axis = axis_of(call, array.rank, default=0)
    if axis is None:
        raise Unsupported(emitter.span, f"{call.name}() without an axis")
    of = fold_type(call, ufunc, array)
    return arrays.evaluated(_as_type(array, of), emitter), axis, of


def _register_accumulate(ufunc: np.ufunc, meaning: Meaning) -> None:
    name = f"{ufunc.__name__}.accumulate"

    @native(ufunc.accumulate, parameters="array axis dtype out", name=name, kinds=_kinds(ufunc))
    def build(call: Bound) -> Value:
        array, axis, of = _along(call, ufunc)
        return deliver(call, scan(array, meaning, axis, of, call.builder.emitter), exact=True)


def _register_reduceat(ufunc: np.ufunc, meaning: Meaning) -> None:
    name = f"{ufunc.__name__}.reduceat"

    @native(ufunc.reduceat, parameters="array indices axis dtype out", name=name, kinds=_kinds(ufunc))
    def build(call: Bound) -> Value:
        emitter = call.builder.emitter
        array, axis, of = _along(call, ufunc)
        places = arrays.evaluated(operand(call, "indices"), emitter)
        if places.rank != 1 or places.type.dtype.kind not in "iu" or places.type.dtype is DType.U64:
            raise Unsupported(emitter.span, f"the indices of {call.name}()", "pass a vector of integers")
        count, extent = places.shape[0], array.shape[axis]
        dims, at = emitter.domain((count,))
        place = arith.cast(places.element(at), INT)
        inside = arith.conjunction(Op("ge", (place, ZERO), BOOL), Op("lt", (place, extent), BOOL))
        message = f"index {{0}} out-of-bounds in {ufunc.__name__}.reduceat [0, {{1}})"
        emitter.check(inside, "IndexError", message, (place, extent), dims)
        rest = others(array.shape, axis)
        buffer = emitter.allocate("parts", of, axis_index(rest, axis, count))
        held = arrays.of_buffer(buffer)
        with loop(emitter, ZERO, count, "q") as q:
            start, stop = _piece(places, q, count, extent, emitter)
            dims, at = emitter.domain(rest)
            target = axis_index(at, axis, q)
            emitter.assign(dims, buffer.name, target, array.element(axis_index(at, axis, start)))
            with loop(emitter, ix.add(start, ONE), stop, "k") as k:
                dims, at = emitter.domain(rest)
                target = axis_index(at, axis, q)
                value = meaning.combine((held.element(target), array.element(axis_index(at, axis, k))), emitter.span)
                emitter.assign(dims, buffer.name, target, arith.cast(value, of))
        return deliver(call, held, exact=True)


def _piece(places: Array, q: Expr, count: Expr, extent: Expr, emitter: Emitter) -> tuple[Expr, Expr]:
    """From one index to the next, or to the end; the one element at the index if the next one is not larger."""
    start = emitter.snapshot(arith.cast(places.element((q,)), INT), "start")
    final = Op("eq", (q, ix.sub(count, integer(1))), BOOL)
    stop = variable(emitter, "stop", extent, INT)
    following = arith.cast(places.element((ix.add(q, ONE),)), INT)
    chosen = Op("select", (final, extent, following), INT)
    stop.set(chosen)
    return start, emitter.snapshot(Op("maximum", (stop.value, ix.add(start, ONE)), INT), "stop")


# --- at -------------------------------------------------------------------------------------------------------------


def _register_at(ufunc: np.ufunc, meaning: Meaning) -> None:
    parameters = "a indices b" if ufunc.nin == 2 else "a indices"

    limits = {parameters.split()[-1 if ufunc.nin == 2 else 0]: "no floats into integers"}

    @native(ufunc.at, parameters=parameters, name=f"{ufunc.__name__}.at", only=limits)
    def build(call: Bound) -> Value:
        emitter = call.builder.emitter
        target = call.need("a")
        if not isinstance(target, Array) or target.view is None:
            raise Unsupported(emitter.span, f"{call.name}() on something that is not an array in memory")
        key = _own(call.need("indices"), target, emitter)
        if isinstance(key, Array) and key.type.dtype is DType.BOOL:
            key = Tuple(masks.positions(indexing.fitting_mask(target, key, emitter), emitter))
        place = call.builder.subscript(target, key, None, store=True)
        if isinstance(place, Scalar):
            expr = place.expr
            assert isinstance(expr, Read)
            place = arrays.view(emitter.buffers[expr.buffer], (), lambda at: expr.index)
        assert isinstance(place, Array) and place.view is not None
        source = _values(call, target, place) if ufunc.nin == 2 else None
        with nest(emitter, place.shape) as at:
            parts = (place.element(at),) if source is None else (place.element(at), source.element(at))
            result = meaning.combine(parts, emitter.span)
            _check_stored(call, result.type, target.type)
            emitter.assign((), place.view.buffer, place.view.index(at), arith.cast(result, target.type))
        emitter.mutations += 1
        return Object(None)


def _check_stored(call: Bound, of: ScalarType, target: ScalarType) -> None:
    """NumPy stores whatever comes out, unsafe as the cast may be; those that depend on the processor are left to it."""
    narrowed = of.dtype.is_inexact and not target.dtype.is_inexact
    if narrowed or (of.dtype.is_complex and not target.dtype.is_complex):
        raise Unsupported(call.builder.emitter.span, f"{call.name}() of {of} into {target}")


def _values(call: Bound, target: Array, place: Array) -> Array:
    """The second operands, one for each index."""
    emitter = call.builder.emitter
    value = as_plain(call.need("b"))
    if isinstance(value, Tuple):
        value = call.builder.array_of(value, None)
    if isinstance(value, Scalar):
        value = Scalar(arith.cast(value.expr, value.type.strong))  # a Python number counts as int64 or float64 here
    source = _own(arrays.as_array(value, emitter), target, emitter)
    assert isinstance(source, Array)
    return arrays.fitted(source, place.shape, emitter, "array is not broadcastable to correct shape")


def _own(value: Value, target: Array, emitter: Emitter) -> Value:
    """The value, copied if writing to the target might change it."""
    if isinstance(value, Tuple):
        return replace(value, items=tuple(_own(item, target, emitter) for item in value.items))
    assert target.view is not None
    if isinstance(value, Array) and value.rank and (value.cost or may_share(value, target.view.buffer, emitter)):
        return arrays.materialise(value, emitter)
    return value


for _ufunc in _BINARY:
    _register_outer(_ufunc, MEANINGS[_ufunc])
    _register_accumulate(_ufunc, MEANINGS[_ufunc])
    if _ufunc not in (np.arctan2, np.power):  # NumPy loses elements here: its answer is its own
        _register_reduce(_ufunc)
        _register_reduceat(_ufunc, MEANINGS[_ufunc])
for _ufunc, _how in MEANINGS.items():
    _register_at(_ufunc, _how)
