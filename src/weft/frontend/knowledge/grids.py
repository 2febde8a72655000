"""Grids of indices and coordinates: meshgrid, mgrid, ogrid, indices, fromfunction, ix_, triangles as indices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays, knowledge, masks
from weft.frontend.constants import constant, constant_bool, constant_int
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.creation import dtype_of, extent_of, shape_of
from weft.frontend.knowledge.reshaping import flattened
from weft.frontend.knowledge.selecting import operand
from weft.frontend.values import Array, Index, Range, Scalar, Slice, Tuple, Value, describe
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, integer
from weft.ir.types import BOOL, F64, FLOAT, I64, INT, DType, ScalarType, promote


def spread(vector: Array, axis: int, shape: tuple[Expr, ...]) -> Array:
    """A vector along one axis, the same along the others."""
    return arrays.remap(vector, shape, lambda at: (at[axis],))


@native(np.meshgrid, parameters="*xi copy sparse indexing")
def _meshgrid(call: Bound) -> Value:
    emitter = call.builder.emitter
    given = call.get("indexing")
    indexing = "xy" if given is None else constant(given, emitter)
    if indexing not in ("xy", "ij"):
        raise Unsupported(emitter.span, "ValueError: Valid values for `indexing` are 'xy' and 'ij'.")
    copy = constant_bool(call.get("copy"), emitter, True)
    sparse = constant_bool(call.get("sparse"), emitter)
    vectors = [flattened(_plain(call, value), emitter) for value in call.rest]
    axes = list(range(len(vectors)))
    if indexing == "xy" and len(axes) > 1:
        axes[0], axes[1] = 1, 0
    extents: list[Expr] = [ZERO] * len(vectors)
    for vector, axis in zip(vectors, axes):
        extents[axis] = vector.shape[0]
    results = []
    for vector, axis in zip(vectors, axes):
        shape = tuple(extent if not sparse or k == axis else ONE for k, extent in enumerate(extents))
        mesh = spread(vector, axis, shape)
        results.append(arrays.materialise(mesh, emitter, "mesh") if copy else arrays.read_only(mesh))
    return Tuple(tuple(results))


def _plain(call: Bound, value: Value) -> Array:
    return operand(Bound(call.builder, call.name, {"value": value}), "value")


def index_grid(shape: tuple[Expr, ...], axis: int, of: ScalarType) -> Array:
    """At every point of a shape its index along one axis."""
    return Array(shape, of, lambda at: arith.cast(at[axis], of))


def _counting_type(call: Bound, default: ScalarType) -> ScalarType:
    """The dtype of a grid: NumPy counts to no more than two in booleans."""
    of = dtype_of(call, default)
    if of.dtype is DType.BOOL:
        raise Unsupported(call.builder.emitter.span, f"{call.name}() in booleans")
    return of


@native(np.indices, parameters="dimensions dtype sparse")
def _indices(call: Bound) -> Value:
    emitter = call.builder.emitter
    if not isinstance(call.need("dimensions"), Tuple):
        raise Unsupported(emitter.span, f"np.indices of {describe(call.need('dimensions'))}", "pass a tuple")
    shape = shape_of(call.need("dimensions"), emitter)
    of = _counting_type(call, I64)
    if constant_bool(call.get("sparse"), emitter):
        thin = [tuple(e if k == axis else ONE for k, e in enumerate(shape)) for axis in range(len(shape))]
        return Tuple(tuple(arrays.materialise(index_grid(s, k, of), emitter, "index") for k, s in enumerate(thin)))
    return stacked(shape, [index_grid(shape, axis, of) for axis in range(len(shape))], of, emitter)


def stacked(shape: tuple[Expr, ...], parts: list[Array], of: ScalarType, emitter: Emitter) -> Array:
    """Arrays of one shape, one after the other along a new first axis."""
    buffer = emitter.allocate("grid", of, (integer(len(parts)), *shape))
    for position, part in enumerate(parts):
        dims, at = emitter.domain(shape)
        emitter.assign(dims, buffer.name, (integer(position), *at), arith.cast(part.element(at), of))
    return arrays.of_buffer(buffer)


@native(np.fromfunction, parameters="function shape dtype")
def _fromfunction(call: Bound) -> Value:
    shape = shape_of(call.need("shape"), call.builder.emitter)
    of = _counting_type(call, F64)
    grids: list[Value] = [index_grid(shape, axis, of) for axis in range(len(shape))]
    return call.builder.call(call.need("function"), grids, {}, call.builder.scope.source.tree)


@native(np.ix_, parameters="*args")
def _ix(call: Bound) -> Value:
    emitter = call.builder.emitter
    results: list[Value] = []
    for axis, value in enumerate(call.rest):
        if isinstance(value, Tuple) and not value.items:
            raise Unsupported(emitter.span, "np.ix_() of an empty list or tuple")
        vector = _plain(call, value)
        if vector.rank != 1:
            raise Unsupported(emitter.span, "ValueError: Cross index must be 1 dimensional")
        if vector.type.dtype is DType.BOOL:
            vector = masks.positions(vector, emitter)[0]
        shape = tuple(vector.shape[0] if k == axis else ONE for k in range(len(call.rest)))
        results.append(spread(vector, axis, shape))
    return Tuple(tuple(results))


# --- slices as grids ------------------------------------------------------------------------------------------------


class _Points:
    """The points of one slice: how many, where they start, how far apart."""

    def __init__(self, call: Bound, item: Value, several: bool) -> None:
        emitter = call.builder.emitter
        if not isinstance(item, Slice) or item.hi is None:
            raise Unsupported(emitter.span, f"{call.name} of something that is not a slice with an end", "write 0:n")
        self.start, stop = (ZERO if part is None else _number(part, emitter) for part in (item.lo, item.hi))
        step = ONE if item.step is None else _number(item.step, emitter)
        if isinstance(step, Const) and isinstance(step.value, complex):
            count = int(abs(step.value))
            self.count: Expr = integer(count)
            self.type = promote(promote(promote(self.start.type, stop.type), FLOAT), INT)
            gap = arith.binary("sub", stop, self.start, emitter.span)
            divisor = Const(float(count - 1), FLOAT)
            self.step = gap if count == 1 else emitter.snapshot(arith.binary("truediv", gap, divisor, emitter.span))
            if count == 1:
                self.step = ONE
            return
        self.step = step
        self.type = promote(promote(promote(self.start.type, stop.type), step.type), INT)
        self.count = _length(call, self.start, stop, step, several)


def _number(value: Value, emitter: Emitter) -> Expr:
    if not isinstance(value, Scalar):
        raise Unsupported(emitter.span, "a grid whose bounds are not numbers")
    return value.expr


def _length(call: Bound, start: Expr, stop: Expr, step: Expr, several: bool) -> Expr:
    emitter = call.builder.emitter
    if all(e.type.dtype.is_integer for e in (start, stop, step)):
        if not isinstance(step, Const):
            raise Unsupported(emitter.span, "a grid whose step is an integer known only at run time")
        lo, hi = (arith.cast(e, INT) for e in (start, stop))
        gap = ix.sub(hi, lo) if int(step.value.real) > 0 else ix.sub(lo, hi)
        if several and not emitter.assure(gap, "ValueError", "negative dimensions are not allowed"):
            emitter.check(Op("ge", (gap, ZERO), BOOL), "ValueError", "negative dimensions are not allowed")
        return emitter.stable(call.builder.trips(Range(lo, hi, step)))
    lo, hi, by = (emitter.snapshot(arith.cast(e, FLOAT), "point") for e in (start, stop, step))
    steps = Op("ceil", (Op("truediv", (Op("sub", (hi, lo), FLOAT), by), FLOAT),), FLOAT)
    length = emitter.snapshot(arith.cast(steps, INT), "n")
    if several:
        emitter.check(Op("ge", (length, ZERO), BOOL), "ValueError", "negative dimensions are not allowed")
    return length


def _coordinate(points: _Points, at: Expr, of: ScalarType) -> Expr:
    scaled = Op("mul", (arith.cast(at, of), arith.cast(points.step, of)), of)
    return Op("add", (scaled, arith.cast(points.start, of)), of)


def _grid(thing: object, name: str, sparse: bool) -> None:
    @native(thing, parameters="key", name=name)
    def build(call: Bound) -> Value:
        emitter = call.builder.emitter
        key = call.need("key")
        if isinstance(key, Slice):
            return _single(call, key)
        items = key.items if isinstance(key, Tuple) else (key,)
        points = [_Points(call, item, True) for item in items]
        of = INT
        for each in points:
            of = promote(of, each.type)
        of = of.strong
        shape = tuple(each.count for each in points)

        def along(k: int) -> Callable[[Index], Expr]:
            return lambda at: _coordinate(points[k], at[k], of)

        if not sparse:
            return stacked(shape, [Array(shape, of, along(k), cost=2) for k in range(len(shape))], of, emitter)
        results = []
        for k in range(len(shape)):
            thin = tuple(extent if axis == k else ONE for axis, extent in enumerate(shape))
            results.append(arrays.materialise(Array(thin, of, along(k), cost=2), emitter, "grid"))
        return Tuple(tuple(results))


def _single(call: Bound, key: Slice) -> Value:
    """np.mgrid[a:b:c] --> np.arange(a, b, c), and with an imaginary step that many points."""
    step = key.step
    if isinstance(step, Scalar) and step.type.dtype.is_complex:
        points = _Points(call, key, False)
        of = points.type.strong
        line = Array((points.count,), of, lambda at: _coordinate(points, at[0], of), cost=2)
        return arrays.materialise(line, call.builder.emitter, "grid")
    entry = knowledge.lookup(np.arange)
    assert entry is not None and key.hi is not None
    return entry.call(call.builder, [key.lo or Scalar(ZERO), key.hi, key.step or Scalar(ONE)], {})


_grid(np.mgrid, "mgrid", False)
_grid(np.ogrid, "ogrid", True)


# --- triangles and diagonals as indices -----------------------------------------------------------------------------


def _triangle(call: Bound, rows: Expr, columns: Expr, upper: bool) -> Value:
    offset = call.get("k")
    shift = ZERO if offset is None else integer(constant_int(offset, call.builder.emitter))
    op = "ge" if upper else "le"
    inside = Array((rows, columns), BOOL, lambda at: Op(op, (at[1], ix.add(at[0], shift)), BOOL))
    return Tuple(masks.positions(inside, call.builder.emitter))


def _triangle_indices(function: object, upper: bool) -> None:
    @native(function, parameters="n k m")
    def build(call: Bound) -> Value:
        rows = extent_of(call.need("n"), call.builder.emitter)
        columns = rows if call.get("m") is None else extent_of(call.need("m"), call.builder.emitter)
        return _triangle(call, rows, columns, upper)


def _triangle_indices_from(function: object, upper: bool) -> None:
    @native(function, parameters="arr k")
    def build(call: Bound) -> Value:
        array = operand(call, "arr")
        if isinstance(call.need("arr"), Tuple) or array.rank != 2:
            raise Unsupported(call.builder.emitter.span, "ValueError: input array must be 2-d")
        return _triangle(call, array.shape[0], array.shape[1], upper)


_triangle_indices(np.triu_indices, True)
_triangle_indices(np.tril_indices, False)
_triangle_indices_from(np.triu_indices_from, True)
_triangle_indices_from(np.tril_indices_from, False)


@native(np.diag_indices, parameters="n ndim")
def _diag_indices(call: Bound) -> Value:
    emitter = call.builder.emitter
    extent = extent_of(call.need("n"), emitter)
    times = 2 if call.get("ndim") is None else constant_int(call.need("ndim"), emitter)
    return Tuple((arrays.materialise(index_grid((extent,), 0, I64), emitter, "index"),) * times)
