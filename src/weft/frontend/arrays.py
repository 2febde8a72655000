"""Whole arrays: broadcasting, element-wise maps, views, materialisation, stores.  In and out: `values.Array`.

An element-wise result stays lazy (a function of its index) until it is bound to a name, written or reduced; reductions
and anything costly that would be evaluated more than once go into a temporary at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from weft.errors import Unsupported
from weft.frontend import arith, reasons
from weft.frontend.emit import Emitter
from weft.frontend.specs import ArraySpec
from weft.frontend.values import (
    Array,
    ArrayOf,
    EitherType,
    Flat,
    Index,
    Mask,
    Part,
    Records,
    Scalar,
    Stack,
    Tuple,
    Value,
    View,
    describe,
)
from weft.ir import index as ix
from weft.ir import walk
from weft.ir.expr import ONE, ZERO, Cast, Const, Dim, Domain, Expr, Op, Read, Reduce, Var, integer
from weft.ir.ops import OPERATIONS
from weft.ir.program import Buffer, Role, Stmt
from weft.ir.types import BOOL, FLOAT, I64, INT, PYBOOL, DType, ScalarType, can_cast, promote

#: What to do where something else stands.
NUMERIC = "pass numbers or an array of numbers"
#: What becomes of each array before all are joined to one: the array as it is to be, and the axis to join along.
Plan = Callable[[Array], tuple[Array, int]]

EMPTY = "zero-size array to reduction operation {op} which has no identity"
MISMATCH = "operands could not be broadcast together with shapes"
MISFIT = "could not broadcast input array into the shape of the target"
MISFIT_OF_VECTORS = "could not broadcast input array from shape ({1},) into shape ({0},)"


def of_buffer(buffer: Buffer, is_list: bool = False) -> Array:
    """The array that is a whole buffer."""
    return view(buffer, buffer.shape, lambda index: index, is_list, whole=True)


def view(
    buffer: Buffer,
    shape: tuple[Expr, ...],
    index: Callable[[Index], Index],
    is_list: bool = False,
    whole: bool = False,
    argument: int | None = None,
) -> Array:
    return Array(
        shape,
        buffer.type,
        lambda at: Read(buffer.name, index(at), buffer.type),
        View(buffer.name, index, whole, argument),
        is_list,
    )


def single(emitter: Emitter, name: str, kind: ArraySpec, position: int) -> tuple[Array, str]:
    """The parameter for an array of rank 0: one of a single element, which is seen without its axis."""
    emitter.taken.discard(emitter.fresh(name))
    buffer = emitter.declare(name, ScalarType(kind.dtype), (ONE,), Role.PARAM)
    emitter.params.append(buffer.name)
    return view(buffer, (), lambda _: (ZERO,), argument=position if position >= 0 else None), buffer.name


def remap(array: Array, shape: tuple[Expr, ...], index: Callable[[Index], Index]) -> Array:
    """The array whose element `at` is element `index(at)` of `array`: a slice, a transpose, a broadcast."""
    inner, part = array.view, array.part
    new_view = None
    if inner is not None:
        base = inner
        new_view = View(base.buffer, lambda at: base.index(index(at)))
    if part is not None:
        whole = part.view
        part = replace(part, view=View(whole.buffer, lambda at: whole.index(index(at))))
    return Array(
        shape,
        array.type,
        lambda at: array.element(index(at)),
        new_view,
        array.is_list,
        array.cost,
        array.borrowed,
        origin=array.origin,
        part=part,
        turned=array.turned or (inner is None and len(shape) > 1 and _turns(index, len(shape))),
        fixed=array.fixed,
    )


def _turns(index: Callable[[Index], Index], rank: int) -> bool:
    """Whether a new index exchanges axes."""
    probes = {f"@{axis}": axis for axis in range(rank)}
    parts = index(tuple(map(Var, probes)))
    order = [min(found) for part in parts if (found := [probes[v] for v in walk.free_vars(part) if v in probes])]
    return order != sorted(order)


def read_only(array: Array) -> Array:
    """What NumPy gives as a view that must not be written: it reads the memory of the array anew each time."""
    origin = array.view.buffer if array.view is not None else array.origin
    return replace(array, view=None, part=None, borrowed=origin is not None, origin=origin, fixed=True)


def copied(array: Array) -> Array:
    """The same elements as a new array, not as a view."""
    return replace(array, view=None, part=None, borrowed=False, origin=None, cost=array.cost + 1, fixed=False)


def part_of(array: Array, name: str, emitter: Emitter) -> Array:
    """The real or imaginary parts of a complex array, a view of it."""
    part = apply(name, [replace(array, view=None, part=None, origin=None)], emitter)
    assert isinstance(part, Array)
    view = array.view
    if view is None:
        return replace(part, borrowed=array.borrowed, origin=array.origin)
    return replace(part, borrowed=True, origin=view.buffer, part=Part(view, array.type, name))


def write(target: Array, dims: Domain, at: Index, value: Expr, emitter: Emitter) -> None:
    """One element of the target at every point of a domain; a part of a complex number leaves the other as it is."""
    view, value = placed(target, at, value, emitter)
    emitter.assign(dims, view.buffer, view.index(at), value)


def placed(target: Array, at: Index, value: Expr, emitter: Emitter) -> tuple[View, Expr]:
    """Where an element of the target lies, and what is stored there."""
    if target.view is not None:
        return target.view, value
    part = target.part
    if part is None:
        raise Unsupported(emitter.span, "an assignment to the elements of a value that is not an array in memory")
    old = Read(part.view.buffer, part.view.index(at), part.type)
    other = arith.function("imag" if part.name == "real" else "real", (old,), emitter.span)
    pair = (value, other) if part.name == "real" else (other, value)
    return part.view, Op("complex", pair, part.type)


def as_array(value: Value, emitter: Emitter) -> Array:
    """A value as an array (a scalar has rank 0)."""
    if isinstance(value, Array):
        return value
    if isinstance(value, Scalar):
        if emitter.settle is not None:
            emitter.settle([value.expr], lambda kinds: kinds[0].dtype)
        return _of_number(value)
    if isinstance(value, Flat):
        return value.array
    if isinstance(value, Mask):
        from weft.frontend.masks import compacted

        return compacted(value, emitter)
    if isinstance(value, Tuple) and emitter.literal is not None:
        return emitter.literal(value)
    if isinstance(value, Records):
        return _table(value, emitter)
    if isinstance(value, Stack):
        return copied(value.array)
    raise Unsupported(emitter.span, f"{describe(value)} where numbers or an array are needed", NUMERIC)


def _of_number(value: Scalar) -> Array:
    return Array((), value.type, lambda _: value.expr)


def hold_items(shape: tuple[Expr, ...], emitter: Emitter) -> None:
    """No list of a nest is empty, or Python runs: np.array([]) is of float64 and has one axis."""
    reason = "an array of a list that may be empty, which is of float64 then"
    for extent in map(emitter.resolve, shape):
        if emitter.assure(ix.sub(extent, ONE), "RuntimeError"):
            continue
        if extent == ZERO or emitter.decisions.unrepeatable:
            raise Unsupported(emitter.span, reason, "say dtype=")
        emitter.rarely_fails(Op("gt", (extent, ZERO), BOOL), reason)


def numbers_in(value: Records, of: ScalarType, emitter: Emitter) -> Array:
    """The numbers of a list of such of two types, as if all were of one."""
    length = emitter.snapshot(value.growing.size, "rows")
    number = () if value.growing.row is None else (value.growing.row,)
    start = ZERO if value.growing.head is None else emitter.snapshot(Read(value.growing.head, number, INT), "start")
    held = emitter.buffers[value.growing.data[0]]

    def element(at: Index) -> Expr:
        return arith.cast(Read(held.name, (ix.add(start, at[0]),), held.type), of)

    return materialise(Array((length,), of, element, cost=1), emitter, "column")


def _table(value: Records, emitter: Emitter) -> Array:
    """A list of tuples of numbers as NumPy takes it: a row for each, or one dimension if there is none."""
    columns = value.growing.data
    if isinstance(value.item, ArrayOf) and emitter.stacked is not None:
        return emitter.stacked(value)
    if isinstance(value.item, EitherType) and value.item.one.dtype is value.item.other.dtype:
        numbers = numbers_in(value, value.item.other, emitter)
        emitter.hand_back(Op("gt", (numbers.shape[0], ZERO), BOOL), "an array of a list that may be empty")
        return numbers
    if not isinstance(value.item, tuple) or not all(isinstance(part, ScalarType) for part in value.item):
        raise Unsupported(emitter.span, f"{describe(value)} where numbers or an array are needed", NUMERIC)
    length = emitter.snapshot(value.growing.size, "rows")
    emitter.hand_back(Op("gt", (length, ZERO), BOOL), "an array of a list of tuples that may be empty")
    of = functools.reduce(promote, (emitter.buffers[name].type.strong for name in columns))
    buffer = emitter.allocate("table", of, (length, integer(len(columns))))
    number = () if value.growing.row is None else (value.growing.row,)
    start = ZERO if value.growing.head is None else emitter.snapshot(Read(value.growing.head, number, INT), "start")
    for place, name in enumerate(columns):
        dims, (row,) = emitter.domain((length,))
        item = Read(name, (ix.add(start, row),), emitter.buffers[name].type)
        emitter.assign(dims, buffer.name, (row, integer(place)), storable(item, of, emitter))
    return of_buffer(buffer)


def is_one(extent: Expr) -> bool:
    return isinstance(extent, Const) and extent.value == 1


def broadcast_shapes(shapes: Sequence[tuple[Expr, ...]], emitter: Emitter) -> tuple[Expr, ...]:
    """The common shape by NumPy's rule; extents that may differ become guards."""
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[Expr] = []
    for axis in range(rank):
        extent: Expr = ONE
        for shape in shapes:
            position = axis - (rank - len(shape))
            if position < 0 or is_one(shape[position]):
                continue
            other = shape[position]
            extent = other if is_one(extent) else _common_extent(extent, other, shapes, emitter)
        result.append(extent)
    return tuple(result)


def _common_extent(left: Expr, right: Expr, shapes: Sequence[tuple[Expr, ...]], emitter: Emitter) -> Expr:
    """One extent of two that must agree.  Sizes known only at run time may be 1 there, which NumPy would stretch."""
    message = MISMATCH
    if all(len(shape) == 1 for shape in shapes) and len(shapes) == 2 and not emitter.delivers:
        message += " ({0},) ({1},) "
    return _agreeing(left, right, (left, right), message, emitter)


def _agreeing(left: Expr, right: Expr, stretched: Sequence[Expr], message: str, emitter: Emitter) -> Expr:
    """One extent of two.  Where one of `stretched` is known only at run time and found to be 1 there, NumPy stretches
    the array: then Python begins again, or, if it cannot, elements are found by a test each.

    A message that lacks the shapes is not NumPy's: where it would be seen, Python raises.
    """
    whole = "{" in message
    left, right = emitter.resolve(left), emitter.resolve(right)
    guarded = emitter.known_at_entry(left) and emitter.known_at_entry(right)
    if guarded or ix.difference(left, right) is not None:
        return emitter.same_size(left, right, "ValueError", message, whole)
    late = [extent for extent in map(emitter.resolve, stretched) if not emitter.never_one(extent)]
    if not late:
        return emitter.same_size(left, right, "ValueError", message, whole)
    equal: Expr = Op("eq", (left, right), BOOL)
    fits = equal
    for extent in late:
        fits = Op("or", (fits, Op("eq", (extent, ONE), BOOL)), BOOL)
    told = whole or emitter.decisions.alone
    emitter.check(fits, "ValueError" if told else "RuntimeError", message, (left, right))
    if not emitter.decisions.unrepeatable:
        emitter.rarely_fails(equal, "an array found to have one element only at run time is stretched")
        return left
    emitter.stretching.update(late)
    if right not in late:
        return right
    longer = Op("select", (Op("eq", (left, ONE), BOOL), right, left), INT)
    return left if left not in late else emitter.snapshot(longer, "extent")


def broadcast_to(array: Array, shape: tuple[Expr, ...], emitter: Emitter) -> Array:
    """`array` read with the index of a larger shape (already known to be compatible)."""
    offset = len(shape) - array.rank
    if offset == 0 and all(a == b for a, b in zip(array.shape, shape)):
        return array
    stretched = tuple(is_one(own) and not is_one(shape[axis + offset]) for axis, own in enumerate(array.shape))
    resolve = emitter.resolve
    doubtful = {resolve(extent) for extent in emitter.stretching}
    late = {
        axis
        for axis, own in enumerate(array.shape)
        if resolve(own) in doubtful and resolve(own) != resolve(shape[axis + offset])
    }

    def place(axis: int, at: Expr) -> Expr:
        if axis in late:
            return Op("select", (Op("eq", (array.shape[axis], ONE), BOOL), ZERO, at), INT)
        return ZERO if stretched[axis] else at

    def index(at: Index) -> Index:
        return tuple(place(axis, at[axis + offset]) for axis in range(array.rank))

    return remap(array, shape, index)


def fitted(array: Array, shape: tuple[Expr, ...], emitter: Emitter, message: str = "", core: int = 0) -> Array:
    """`array` read with the index of a place of this shape, in which it is to be stored.

    The array is stretched along axes where it has one element, the place never is.  The last `core` axes must be equal.
    """
    message = message or (MISFIT_OF_VECTORS if array.rank == len(shape) == 1 else MISFIT)
    if array.rank > len(shape):
        raise Unsupported(emitter.span, f"ValueError: {message}: an array of rank {array.rank}, not {len(shape)}")
    agreed = list(shape)
    first = len(shape) - array.rank
    for axis, extent in enumerate(array.shape, first):
        if len(shape) - axis <= core:
            agreed[axis] = emitter.same_size(shape[axis], extent, "ValueError", message)
        elif not is_one(extent):
            agreed[axis] = _agreeing(shape[axis], extent, (extent,), message, emitter)
    return broadcast_to(array, tuple(agreed), emitter)


def elementwise(
    operands: Sequence[Value], combine: Callable[[tuple[Expr, ...]], Expr], emitter: Emitter, cost: int = 1
) -> Value:
    """`combine` applied element by element to broadcast operands; scalars alone give a scalar."""
    if any(isinstance(operand, Mask) for operand in operands):
        from weft.frontend import masks

        return masks.elementwise(operands, lambda plain: elementwise(plain, combine, emitter, cost), emitter)
    if all(isinstance(operand, Scalar) for operand in operands):
        return Scalar(combine(tuple(operand.expr for operand in operands if isinstance(operand, Scalar))))
    arrays = settled(operands, combine, emitter)
    shape = broadcast_shapes([array.shape for array in arrays], emitter)
    parts = [broadcast_to(array, shape, emitter) for array in arrays]
    # The type is that of one element; its index does not matter.
    probe = combine(tuple(part.element(tuple(ZERO for _ in shape)) for part in parts))
    total = cost + sum(array.cost for array in arrays)
    last: list[tuple[Index, Expr]] = []  # asked at one place by each operation around it: found once

    def element(at: Index) -> Expr:
        if not last or last[0][0] != at:
            last[:] = [(at, _strong(combine(tuple(part.element(at) for part in parts))))]
        return last[0][1]

    return Array(shape, probe.type.strong, element, cost=total, turned=any(array.turned for array in arrays))


def settled(
    operands: Sequence[Value], combine: Callable[[tuple[Expr, ...]], Expr], emitter: Emitter
) -> list[Array]:
    """The operands as arrays. For numbers among them that may be of two types the result has the same type with
    either, or this build ends."""
    arrays = [_of_number(each) if isinstance(each, Scalar) else as_array(each, emitter) for each in operands]
    numbers = [each.expr for each in operands if isinstance(each, Scalar)]

    def result(kinds: Sequence[ScalarType]) -> object:
        left = iter([BOOL if of == PYBOOL else of for of in kinds])  # what a ufunc makes of a bool
        parts = [
            arith.cast(integer(2), next(left)) if isinstance(each, Scalar) else array.element((ZERO,) * array.rank)
            for each, array in zip(operands, arrays)
        ]
        try:
            with emitter.capture():
                return combine(tuple(parts)).type.dtype
        except Unsupported as problem:
            return problem.reason

    if emitter.settle is not None:
        emitter.settle(numbers, result)
    return arrays


def of_operator(value: Value) -> Value:
    """What an operator gives: of arrays of rank 0 NumPy makes a number."""
    return Scalar(value.element(())) if isinstance(value, Array) and not value.rank else value


def _strong(expr: Expr) -> Expr:
    return arith.cast(expr, expr.type.strong)


_TWO = Scalar(Const(2, INT))


def powers(operands: Sequence[Value], emitter: Emitter) -> list[Value]:
    """The operands of a power, the exponents checked where NumPy refuses integers to negative powers."""
    base, exponent = operands
    if not all(isinstance(value, (Array, Scalar)) and value.type.dtype.kind in "biu" for value in operands):
        return list(operands)
    assert isinstance(base, (Array, Scalar)) and isinstance(exponent, (Array, Scalar))
    if (base.type.weak and exponent.type.weak) or exponent.type.dtype.kind != "i":
        return list(operands)
    if isinstance(exponent, Scalar) and arith.never_negative(exponent.expr):
        return list(operands)
    raised = evaluated(as_array(exponent, emitter), emitter)
    dims, at = emitter.domain(raised.shape)
    value = raised.element(at)
    fine = Op("ge", (value, arith.cast(ZERO, value.type)), BOOL)
    emitter.check(fine, "ValueError", "Integers to negative integer powers are not allowed.", (), dims)
    return [base, elementwise([exponent], lambda parts: Op("abs", parts, parts[0].type), emitter)]


def apply(op: str, operands: Sequence[Value], emitter: Emitter) -> Value:
    """An operation of the table, element by element."""
    span = emitter.span
    if op == "pow" and isinstance(operands[0], Array) and operands[0].type == BOOL and operands[1] == _TWO:
        small = arith.INT_OF_BOOL  # the operator is np.square there, and np.power is not
        return elementwise(operands[:1], lambda parts: Op("mul", (arith.cast(parts[0], small),) * 2, small), emitter, 1)
    if op == "pow":
        operands = powers(operands, emitter)
        return power(operands, lambda parts: arith.function(op, parts, span), emitter, OPERATIONS[op].cost)
    return elementwise(operands, lambda parts: arith.function(op, parts, span), emitter, OPERATIONS[op].cost)


def power(
    operands: Sequence[Value], combine: Callable[[tuple[Expr, ...]], Expr], emitter: Emitter, cost: int
) -> Value:
    """base ** exponent, whose `combine` gives the power of one element: NumPy looks at an exponent that is one number
    for the whole array."""
    exponent, span = operands[1], emitter.span
    if not isinstance(exponent, Scalar):
        return elementwise(operands, combine, emitter, cost)
    number = exponent.expr
    return elementwise(operands, lambda parts: arith.array_power(combine(parts), number, span), emitter, cost)


def keepable(array: Array, emitter: Emitter) -> None:
    """Refuse to keep a copy of what NumPy would give as a view."""
    if array.borrowed and array.origin is None:
        raise Unsupported(
            emitter.span,
            "a view that has no native form (a reshape of a part, a choice between arrays)",
            "add .copy()",
        )


def materialise(array: Array, emitter: Emitter, name: str = "t") -> Array:
    """The array in memory of its own, C order."""
    buffer = emitter.allocate(name, array.type, array.shape)
    if array.turned:
        emitter.order[buffer.name] = False
    store(of_buffer(buffer), array, emitter, fresh=True)
    return of_buffer(buffer, array.is_list)


def evaluated(array: Array, emitter: Emitter, name: str = "t") -> Array:
    """The array itself if reading an element is just a read, else materialised: for operands read many times."""
    return array if array.view is not None or array.cost == 0 else materialise(array, emitter, name)


def store(target: Array, value: Value, emitter: Emitter, fresh: bool = False) -> None:
    """target[...] = value, broadcast and cast as NumPy's assignment does."""
    if target.view is None and target.part is None:
        raise Unsupported(emitter.span, "an assignment to the elements of a value that is not an array in memory")
    if isinstance(value, Scalar) and not fresh:
        value = Scalar(element(value.expr, target.type, emitter))
    given = as_array(value, emitter) if fresh else assigned(value, target.type, emitter)
    source = fitted(without_leading_ones(given, target.rank), target.shape, emitter)
    source, target_of = _in_step(source, target, emitter)
    dims, at = emitter.domain(tuple(map(emitter.resolve, source.shape)))
    write(target, dims, target_of(at), storable(source.element(at), target.type, emitter, target.is_list), emitter)
    if not fresh:
        view = target.view or (target.part.view if target.part is not None else None)
        assert view is not None
        emitter.changed(view.buffer)


def _in_step(source: Array, target: Array, emitter: Emitter) -> tuple[Array, Callable[[Index], Index]]:
    """a[k] = b[k // n, k % n]   -->   a[i * n + j] = b[i, j]

    What to run over, and where each of its elements goes: a reshaped array is read by the axes it had before where
    that saves divisions.
    """
    before = source.before
    if before is None or source.rank != target.rank:
        return replace(source, shape=target.shape), lambda at: at
    here, there = (tuple(Var(f"axis{k}") for k in range(one.rank)) for one in (source, before.array))
    by_target = _divisions((source.element(here),))
    by_source = _divisions((before.array.element(there), *before.place(there)))
    if by_source < by_target:
        return before.array, before.place
    return replace(source, shape=target.shape), lambda at: at


def _divisions(parts: Iterable[Expr]) -> int:
    return sum(isinstance(e, Op) and e.op in ("floordiv", "mod") for part in parts for e in walk.subexpressions(part))


def without_leading_ones(array: Array, rank: int) -> Array:
    """An assigned array may have more axes than its target, if those in front have one element."""
    while array.rank > rank and is_one(array.shape[0]):
        array = remap(array, array.shape[1:], lambda at: (ZERO, *at))
    return array


def storable(expr: Expr, of: ScalarType, emitter: Emitter, is_list: bool = False) -> Expr:
    """An element as the target's type: NumPy casts, a list takes only its own element type."""
    if is_list and expr.type != of:
        raise Unsupported(emitter.span, f"a {expr.type} stored into a list of {of}", "keep one type in a list")
    if expr.type.dtype.is_complex and not of.dtype.is_complex:
        raise Unsupported(emitter.span, "a complex value stored into a real array", "take .real first")
    weak_int(expr, of, emitter)
    return arith.cast(expr, of)


def element(expr: Expr, of: ScalarType, emitter: Emitter) -> Expr:
    """A number that is assigned to elements as such: for signed integers, and for all integers if it is a Python float,
    NumPy makes a Python integer of it, which must exist and fit. Only what comes out of an array is cast.
    """
    given = expr.type.dtype
    if not of.dtype.is_integer or of.weak or given.kind in "bc" or given is of.dtype:
        return expr
    if of.dtype.kind == "u" and not expr.type.weak:
        return expr
    if given.kind == "f":
        return _python_integer(expr, of, emitter)
    if given is DType.U64:
        most = arith.cast(Const(2**63 - 1, INT), expr.type)
        emitter.check(Op("le", (expr, most), BOOL), "OverflowError", _TOO_LARGE)
    return arith.cast(expr, INT)


_NOT_A_NUMBER = "cannot convert float NaN to integer"
_INFINITE = "cannot convert float infinity to integer"
_TOO_LARGE = "Python int too large to convert to C long"


def _python_integer(expr: Expr, of: ScalarType, emitter: Emitter) -> Expr:
    """A float as the Python integer that is stored into elements of type `of`."""
    if isinstance(expr, Const):
        value = float(expr.value.real)
        if not -(2.0**63) <= value < 2.0**63:
            raise Unsupported(emitter.span, f"the float {value} stored into an array of {of}")
        return Const(int(value), INT)
    value_of = emitter.snapshot(arith.cast(expr, FLOAT), "number")
    if of.dtype is not DType.U64:
        finite = arith.negate(Op("isinf", (value_of,), BOOL))
        emitter.check(finite, "OverflowError", _INFINITE)
        return whole_number(Op("trunc", (value_of,), FLOAT), emitter, _TOO_LARGE)
    emitter.rarely_fails(_fits_integer(value_of), "a float that is no integer of 63 bits stored as uint64")
    return Cast(Op("trunc", (value_of,), FLOAT), INT)


def _fits_integer(value: Expr) -> Expr:
    """Whether the integer part of a float exists and has 64 bits; false of NaN."""
    lowest, limit = Const(-(2.0**63), FLOAT), Const(2.0**63, FLOAT)
    return arith.conjunction(Op("ge", (value, lowest), BOOL), Op("lt", (value, limit), BOOL))


def assigned(value: Value, of: ScalarType, emitter: Emitter) -> Array:
    """A value as an array whose elements may be cast to `of` where NumPy first makes an array of it: only Python's own
    numbers are then converted as Python does, which fails for floats that are no integers of the type."""
    source = as_array(value, emitter)
    given = source.type
    if not (given.weak and of.dtype.is_integer and not of.weak):
        return source
    if source.rank and given.dtype is DType.I64 and of.dtype is not DType.I64:
        _listed_integers(source, of, emitter)
        return _whole(source)
    if given.dtype.kind != "f":
        return source
    if not source.rank:
        number = element(source.element(()), of, emitter)
        return Array((), number.type, lambda _: number)
    source = evaluated(source, emitter)
    dims, at = emitter.domain(source.shape)
    fits = _fits_integer(arith.cast(source.element(at), FLOAT))
    reason = "a list of floats that are no integers of 64 bits stored into an array of integers"
    emitter.rarely_fails(fits, reason, dims)
    if of.dtype is not DType.I64:
        _listed_integers(_whole(source), of, emitter)
    return _whole(source)


def _whole(source: Array) -> Array:
    """Python's numbers as NumPy's integers."""
    return Array(source.shape, I64, lambda at: Cast(source.element(at), I64), cost=source.cost + 1)


def _listed_integers(source: Array, of: ScalarType, emitter: Emitter) -> None:
    """A list of integers becomes an array of this type only if each of them fits."""
    low, high = arith.limits(of.dtype)
    dims, at = emitter.domain(source.shape)
    number = source.element(at)
    inside = (Op("ge", (number, integer(low)), BOOL), Op("le", (number, integer(min(high, 2**63 - 1))), BOOL))
    reason = f"a list of numbers that are no integers of {of} stored into an array"
    emitter.rarely_fails(arith.conjunction(*inside), reason, dims)


def whole_number(expr: Expr, emitter: Emitter, message: str) -> Expr:
    """A float without a fraction as a Python int; `message` is that of one that 64 bits do not hold."""
    value = emitter.snapshot(arith.cast(expr, FLOAT), "whole")
    emitter.check(Op("eq", (value, value), BOOL), "ValueError", _NOT_A_NUMBER)
    emitter.check(_fits_integer(value), "OverflowError", message)
    return Cast(value, INT)


def weak_int(expr: Expr, of: ScalarType, emitter: Emitter) -> None:
    """NumPy refuses a Python integer that the dtype cannot hold."""
    if not (expr.type.weak and expr.type.dtype is DType.I64 and of.dtype.is_integer and not of.weak):
        return
    low, high = arith.limits(of.dtype)
    message = f"Python integer {{0}} out of bounds for {of.dtype.numpy.name}"
    if isinstance(expr, Const):
        if not low <= int(expr.value.real) <= high:
            raise Unsupported(emitter.span, f"OverflowError: {message.format(expr.value)}")
        return
    if of.dtype is DType.I64:
        return
    emitter.in_range(expr, low, min(high, 2**63 - 1), "OverflowError", message)


def update(target: Array, op: str, value: Value, emitter: Emitter) -> None:
    """target OP= value, in place, with NumPy's casting rule for in-place operators."""
    if isinstance(value, Array):
        value = fitted_operand(value, target.shape, emitter)
    result = apply(op, [target, value], emitter)
    assert isinstance(result, Array)
    if not target.is_list:
        check_in_place(result.type, target.type, emitter)
    store(target, result, emitter)


def fitted_operand(value: Array, shape: tuple[Expr, ...], emitter: Emitter) -> Array:
    """The operand of an operation in place, by NumPy's messages: only it is stretched, never the target."""
    if value.rank != 1 or len(shape) != 1:
        return fitted(value, shape, emitter, "non-broadcastable output operand")
    own, other = emitter.resolve(shape[0]), emitter.resolve(value.shape[0])
    message = MISMATCH + " ({0},) ({1},) ({0},) "
    unknown = not (emitter.known_at_entry(own) and emitter.known_at_entry(other))
    if unknown and ix.difference(own, other) is None and not emitter.never_one(own):
        fits: Expr = Op("eq", (own, other), BOOL)
        for extent in (own, other):
            fits = Op("or", (fits, Op("eq", (extent, ONE), BOOL)), BOOL)
        emitter.check(fits, "ValueError", message, (own, other))
        message = "non-broadcastable output operand with shape ({0},) doesn't match the broadcast shape ({1},)"
    return fitted(value, shape, emitter, message)


def check_in_place(result: ScalarType, target: ScalarType, emitter: Emitter) -> None:
    """NumPy's casting rule for operators in place."""
    if not can_cast(result, target.dtype):
        reason = f"NumPy refuses to store {result} into {target} in place"
        raise Unsupported(emitter.span, reason, reasons.out_of_place(emitter.span))


# --- reductions -----------------------------------------------------------------------------------------------------


def normalise_axes(axis: int | tuple[int, ...] | None, rank: int, emitter: Emitter) -> tuple[int, ...]:
    axes = tuple(range(rank)) if axis is None else (axis,) if isinstance(axis, int) else axis
    result = tuple(a + rank if a < 0 else a for a in axes)
    for given, found in zip(axes, result):
        if not 0 <= found < rank:
            raise Unsupported(emitter.span, f"AxisError: axis {given} is out of bounds for an array of rank {rank}")
    if len(set(result)) != len(result):
        raise Unsupported(emitter.span, f"ValueError: axis={axis} names one axis twice")
    return result


def reduce(
    array: Array,
    op: str,
    axes: tuple[int, ...],
    keepdims: bool,
    emitter: Emitter,
    name: str = "r",
    of: ScalarType | None = None,
    nonempty: bool = False,
) -> Value:
    """The reduction over `axes`, in a temporary (a scalar variable if nothing is left)."""
    if of is not None and of != array.type:
        source, target = array, of
        array = Array(array.shape, target, lambda at: arith.cast(source.element(at), target), cost=source.cost)
    kept = tuple(axis for axis in range(array.rank) if axis not in axes)
    if op in ("minimum", "maximum", "argmin", "argmax") and not nonempty:
        refuse_empty(array, axes, op, emitter)
    outer, outer_at = emitter.domain(tuple(array.shape[axis] for axis in kept))
    inner, inner_at = emitter.domain(tuple(array.shape[axis] for axis in axes), "klmnpqrs")
    place = dict(zip(kept, outer_at)) | dict(zip(axes, inner_at))
    value = Reduce(op, inner, array.element(tuple(place[axis] for axis in range(array.rank))), emitter.span)
    if not kept and not keepdims:
        return Scalar(emitter.snapshot(value, name))
    shape = tuple(dim.hi for dim in outer if isinstance(dim, Dim))
    buffer = emitter.allocate(name, value.type, shape)
    emitter.assign(outer, buffer.name, outer_at, value)
    result = of_buffer(buffer)
    if not keepdims:
        return result
    full = tuple(ONE if axis in axes else array.shape[axis] for axis in range(array.rank))
    return remap(result, full, lambda at: tuple(at[axis] for axis in kept))


def refuse_empty(array: Array, axes: tuple[int, ...], op: str, emitter: Emitter) -> None:
    """ValueError where a reduction that has no identity meets no element."""
    verb = (
        f"attempt to get {op} of an empty sequence"
        if op.startswith("arg")
        else EMPTY.format(op=op)
    )
    for axis in axes:
        extent = array.shape[axis]
        if not emitter.assure(ix.sub(extent, ONE), "ValueError", verb):
            emitter.check(Op("gt", (extent, ZERO), BOOL), "ValueError", verb)


def count(shape: Sequence[Expr]) -> Expr:
    """The number of elements of a shape, as an integer expression."""
    total: Expr = ONE
    for extent in shape:
        total = ix.mul(total, extent)
    return total


def constant_shape(shape: Sequence[Expr]) -> tuple[int, ...] | None:
    """The extents as numbers, if all are known."""
    values = [extent.value for extent in shape if isinstance(extent, Const) and isinstance(extent.value, int)]
    return tuple(int(v) for v in values) if len(values) == len(shape) else None


def flip(array: Array, axis: int) -> Array:
    extent = array.shape[axis]

    def index(at: Index) -> Index:
        return (*at[:axis], ix.sub(ix.sub(extent, integer(1)), at[axis]), *at[axis + 1 :])

    return remap(array, array.shape, index)


def boxed(value: Value, emitter: Emitter) -> Value:
    """A number that NumPy would give as an array of rank 0: good for computing, not for returning."""
    if not isinstance(value, Scalar):
        return value
    of = value.type.strong
    buffer = emitter.declare("number", of)
    emitter.assign((), buffer.name, (), arith.cast(value.expr, of))
    emitter.boxed.add(buffer.name)
    return Scalar(Read(buffer.name, (), of))


def unboxed(value: Scalar, emitter: Emitter) -> Scalar:
    """x[()]: the number in an array of rank 0; a number of NumPy's is its own."""
    if not emitter.is_boxed(value):
        return value
    buffer = emitter.declare("number", value.type)
    emitter.emit(Stmt((), buffer.name, (), value.expr, None, emitter.span))  # `assign` would box it, too
    return Scalar(Read(buffer.name, (), value.type))


def unravelled(flat: Expr, shape: tuple[Expr, ...]) -> Index:
    """A position in C order as an index into `shape`."""
    if not shape:
        return ()
    result: list[Expr] = []
    rest = flat
    for extent in reversed(shape[1:]):
        if is_one(extent):
            result.append(ZERO)
            continue
        result.append(Op("mod", (rest, extent), INT))
        rest = Op("floordiv", (rest, extent), INT)
    return (rest, *reversed(result))


def depends_on(expr: Expr, names: set[str]) -> bool:
    return bool(walk.free_vars(expr) & names)
