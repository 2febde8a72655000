"""What the bodies of models say beyond Python (`models.primitives`), answered while they are compiled in."""

from __future__ import annotations

from weft.errors import Unsupported
from weft.frontend import arith, arrays
from weft.frontend.calls import applied
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.creation import dtype_of
from weft.frontend.models import primitives
from weft.frontend.models.sparse import Matrix
from weft.frontend.sparse_making import note_reordered
from weft.frontend.values import Array, Closure, Mask, Object, Scalar, Struct, Tuple, Value
from weft.ir import index as ix
from weft.ir.expr import (
    ONE,
    ZERO,
    AnyDim,
    Cast,
    CompressedDim,
    Const,
    Dim,
    Expr,
    Limit,
    Op,
    Reduce,
    Var,
    boolean,
    integer,
)
from weft.ir.index import affine
from weft.ir.types import BOOL, F64, FLOAT, I64, INT, ScalarType
from weft.ir.walk import free_vars


@native(primitives.equal_sizes, parameters="first second", name="equal_sizes")
def _equal_sizes(call: Bound) -> Value:
    first, second = call.need("first"), call.need("second")
    assert isinstance(first, Scalar) and isinstance(second, Scalar)
    call.builder.emitter.same_size(first.expr, second.expr, "ValueError", "dimension mismatch")
    return Object(None)


@native(primitives.covered, parameters="condition what", name="covered")
def _covered(call: Bound) -> Value:
    condition, what = call.need("condition"), call.need("what")
    assert isinstance(what, Object)
    known = condition.expr.value if isinstance(condition, Scalar) and isinstance(condition.expr, Const) else None
    if not known:
        raise Unsupported(call.builder.emitter.span, str(what.value), "call it outside the compiled function")
    return Object(None)


@native(primitives.is_number, parameters="value", name="is_number")
def _is_number(call: Bound) -> Value:
    value = call.need("value")
    return Scalar(boolean(isinstance(value, Scalar) or (isinstance(value, Array) and value.rank == 0)))


@native(primitives.holds, parameters="count dtype", name="holds")
def _holds(call: Bound) -> Value:
    count, emitter = call.need("count"), call.builder.emitter
    assert isinstance(count, Scalar)
    most = primitives.most_entries(dtype_of(call, F64).dtype.numpy)
    emitter.hand_back(
        Op("le", (count.expr, integer(most)), BOOL), "a sparse result with more entries than 32 bits count"
    )
    return count


@native(primitives.larger, parameters="size bound", name="larger")
def _larger(call: Bound) -> Value:
    size, bound, emitter = call.need("size"), call.need("bound"), call.builder.emitter
    assert isinstance(size, Scalar) and isinstance(bound, Scalar)
    above = ix.sub(ix.sub(emitter.resolve(arith.cast(size.expr, INT)), arith.cast(bound.expr, INT)), ONE)
    form = affine(above)
    known = form is not None and all(name in emitter.symbols for name in form.names)
    reason = "a sparse operator with an operand of so few rows or columns"
    if known and not emitter.assure(above, "RuntimeError"):
        raise Unsupported(emitter.span, reason)
    if not known:
        emitter.hand_back(Op("ge", (above, ZERO), BOOL), reason)
    return Object(None)


@native(primitives.axis_of, parameters="axis", name="axis_of")
def _axis_of(call: Bound) -> Value:
    axis = call.need("axis")
    value = axis.expr.value if isinstance(axis, Scalar) and isinstance(axis.expr, Const) else None
    if type(value) is not int or not -2 <= value < 2:
        raise Unsupported(call.builder.emitter.span, "a sparse operator along this axis", "use axis=0 or axis=1")
    return Scalar(integer(value % 2))


@native(primitives.or_python, parameters="condition what", name="or_python")
def _or_python(call: Bound) -> Value:
    condition, what, emitter = call.need("condition"), call.need("what"), call.builder.emitter
    assert isinstance(what, Object)
    test = call.builder.truth(condition, None)
    if test is False:
        raise Unsupported(emitter.span, str(what.value), "call it outside the compiled function")
    if isinstance(test, Scalar):
        emitter.hand_back(arith.cast(test.expr, BOOL), str(what.value))
    return Object(None)


@native(primitives.is_matrix, parameters="value", name="is_matrix")
def _is_matrix(call: Bound) -> Value:
    value = call.need("value")
    return Scalar(boolean(isinstance(value, Struct) and value.kind is Matrix))


@native(primitives.reordered, parameters="matrix", name="reordered")
def _reordered(call: Bound) -> Value:
    matrix = call.need("matrix")
    assert isinstance(matrix, Struct)
    note_reordered(call.builder, matrix)
    return Object(None)


@native(primitives.ordered, parameters="indptr indices", name="ordered")
def _ordered(call: Bound) -> Value:
    return Scalar(call.builder.emitter.snapshot(_rises(call), "ordered"))


@native(primitives.ordered_or_python, parameters="indptr indices", name="ordered_or_python")
def _ordered_or_python(call: Bound) -> Value:
    call.builder.emitter.hand_back(_rises(call), "entries of a sparse matrix out of order, or stored twice")
    return Object(None)


def _rises(call: Bound) -> Expr:
    """Whether the coordinates of each row rise: of all entries, only first ones of rows are not greater than the entry
    before them.  Counted over all entries at once, since rows are short."""
    emitter = call.builder.emitter
    pointer, coordinate = call.need("indptr"), call.need("indices")
    assert isinstance(pointer, Array) and isinstance(coordinate, Array)
    rows = ix.sub(pointer.shape[0], ONE)

    def falls(at: Expr) -> Expr:
        before, here = coordinate.element((ix.sub(at, ONE),)), coordinate.element((at,))
        return Cast(Op("ge", (before, here), BOOL), I64)

    row = Dim(emitter.fresh("i"), ZERO, rows)
    first, end, last = (
        arith.cast(pointer.element((at,)), INT) for at in (Var(row.var), ix.add(Var(row.var), ONE), rows)
    )
    entry = Dim(emitter.fresh("p"), ONE, last)
    begins = Op("and", (Op("gt", (first, ZERO), BOOL), Op("lt", (first, end), BOOL)), BOOL)
    between = Op("select", (begins, falls(first), Const(0, I64)), I64)
    counts = (((entry,), falls(Var(entry.var))), ((row,), between))
    return Op("eq", tuple(Reduce("add", dims, term, emitter.span) for dims, term in counts), BOOL)


@native(primitives.stretches, parameters="size", name="stretches")
def _stretches(call: Bound) -> Value:
    size = call.need("size")
    return Scalar(boolean(isinstance(size, Scalar) and arrays.is_one(size.expr)))


@native(primitives.dense_pays, parameters="work dense_work", name="dense_pays")
def _dense_pays(call: Bound) -> Value:
    emitter = call.builder.emitter
    if emitter.decisions.strict:
        return Scalar(boolean(False))
    work, dense = (_number(call.need(name), FLOAT) for name in ("work", "dense_work"))
    return Scalar(Op("gt", (Op("mul", (work, Limit("sparse")), FLOAT), dense), BOOL))


@native(primitives.is_dense, parameters="value", name="is_dense")
def _is_dense(call: Bound) -> Value:
    value = call.need("value")
    return Scalar(
        boolean(isinstance(value, Mask) or (isinstance(value, Array) and value.rank > 0 and not value.is_list))
    )


# --- entries of a compressed matrix ----------------------------------------------------------------------------------


class Entries:
    """The rows and entries of a call's matrix, as dimensions, and the closures of the call over them."""

    def __init__(self, call: Bound) -> None:
        self.call, self.emitter = call, call.builder.emitter
        pointer, coordinate, minor = (call.need(name) for name in ("indptr", "indices", "minor"))
        assert isinstance(pointer, Array) and isinstance(coordinate, Array) and isinstance(minor, Scalar)
        names = [
            array.view.buffer if array.view is not None and array.view.whole else None
            for array in (pointer, coordinate)
        ]
        if None in names:
            raise Unsupported(self.emitter.span, "a sparse matrix of arrays that are views", "add .copy()")
        self.count, self.minor = coordinate.shape[0], minor.expr
        self.row = Dim(self.emitter.fresh("i"), ZERO, ix.sub(pointer.shape[0], ONE))
        j, p = self.emitter.fresh("j"), self.emitter.fresh("p")
        self.entry = CompressedDim(j, p, names[0] or "", names[1] or "", Var(self.row.var))

    def given(self, name: str, *variables: str, inner: tuple[Dim, ...] = ()) -> Value:
        """What a closure of the call gives for these variables: expressions alone."""
        emitter = self.emitter
        known = (self.row, Dim(self.entry.position, ZERO, self.count), Dim(self.entry.var, ZERO, self.minor), *inner)
        emitter.dims.extend(known)
        try:
            with emitter.capture() as block:
                closure = self.call.need(name)
                assert isinstance(closure, Closure)
                result = applied(self.call.builder, closure, [Scalar(Var(variable)) for variable in variables])
        finally:
            del emitter.dims[-len(known) :]
        if block:
            raise Unsupported(emitter.span, "an operand of a sparse operator that is no plain expression")
        return result

    @property
    def variables(self) -> tuple[str, str, str]:
        return self.row.var, self.entry.var, self.entry.position

    def type_of(self) -> ScalarType:
        return dtype_of(self.call, F64)


def _number(value: Value, of: ScalarType) -> Expr:
    assert isinstance(value, Scalar)
    return arith.cast(value.expr, of)


@native(primitives.entry_values, parameters="indptr indices minor value dtype", name="entry_values")
def _entry_values(call: Bound) -> Value:
    entries = Entries(call)
    of = entries.type_of()
    value = _number(entries.given("value", *entries.variables), of)
    buffer = entries.emitter.allocate("entries", of, (entries.count,))
    entries.emitter.assign((entries.row, entries.entry), buffer.name, (Var(entries.entry.position),), value)
    return arrays.of_buffer(buffer)


@native(primitives.entry_sums, parameters="shape indptr indices minor place value dtype", name="entry_sums")
def _entry_sums(call: Bound) -> Value:
    entries = Entries(call)
    of = entries.type_of()
    place = entries.given("place", *entries.variables[:2])
    index = [item.expr for item in place.items if isinstance(item, Scalar)] if isinstance(place, Tuple) else []
    value = _number(entries.given("value", *entries.variables), of)
    return _summed(call, entries, of, index, value, ())


@native(primitives.entry_greatest, parameters="indptr indices minor value dtype", name="entry_greatest")
def _entry_greatest(call: Bound) -> Value:
    return _extremes(call, "maximum")


@native(primitives.entry_least, parameters="indptr indices minor value dtype", name="entry_least")
def _entry_least(call: Bound) -> Value:
    return _extremes(call, "minimum")


def _extremes(call: Bound, op: str) -> Value:
    entries = Entries(call)
    of = entries.type_of()
    value = _number(entries.given("value", *entries.variables), of)
    found = entries.emitter.allocate("extremes", of, (ix.sub(entries.row.hi, entries.row.lo),))
    extreme = Reduce(op, (entries.entry,), value, entries.emitter.span)
    entries.emitter.assign((entries.row,), found.name, (Var(entries.row.var),), extreme)
    return arrays.of_buffer(found)


@native(primitives.entry_row_sums, parameters="shape indptr indices minor place value dtype", name="entry_row_sums")
def _entry_row_sums(call: Bound) -> Value:
    entries = Entries(call)
    of = entries.type_of()
    shape = call.need("shape")
    assert isinstance(shape, Tuple) and isinstance(shape.items[1], Scalar)
    width = Dim(entries.emitter.fresh("k"), ZERO, shape.items[1].expr)
    place = entries.given("place", *entries.variables[:2])
    assert isinstance(place, Scalar)
    value = _number(entries.given("value", *entries.variables, width.var, inner=(width,)), of)
    return _summed(call, entries, of, [place.expr, Var(width.var)], value, (width,))


def _summed(
    call: Bound, entries: Entries, of: ScalarType, index: list[Expr], value: Expr, inner: tuple[Dim, ...]
) -> Value:
    """A sum over the entries of each row where the row tells the place; else additions in any order of rows."""
    emitter, shape = entries.emitter, call.need("shape")
    assert isinstance(shape, Tuple)
    extents = tuple(item.expr for item in shape.items if isinstance(item, Scalar))
    buffer = emitter.allocate("sums", of, extents)
    by_row = not any(free_vars(expr) & {entries.entry.var, entries.entry.position} for expr in index)
    if by_row:
        total = Reduce("add", (entries.entry,), value, emitter.span)
        emitter.assign((entries.row, *inner), buffer.name, tuple(index), total)
        return arrays.of_buffer(buffer)
    zeros, at = emitter.domain(extents)
    emitter.assign(zeros, buffer.name, at, Const(of.dtype.numpy.type(0).item(), of))
    domain: tuple[AnyDim, ...] = (entries.row, entries.entry, *inner)
    emitter.assign(domain, buffer.name, tuple(index), value, "add")
    return arrays.of_buffer(buffer)
