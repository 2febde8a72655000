"""Points at equal distances, of numbers or of their logarithms: linspace, logspace, geomspace."""

from __future__ import annotations

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays
from weft.frontend.constants import constant_bool, constant_int
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.compose import composed
from weft.frontend.knowledge.creation import dtype_of, extent_of
from weft.frontend.knowledge.selecting import operand
from weft.frontend.knowledge.shaping import permuted
from weft.frontend.values import Array, Index, Scalar, Tuple, Value
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, Reduce, integer
from weft.ir.types import BOOL, F64, FLOAT, INT, ScalarType, promote


@native(np.linspace, parameters="start stop num endpoint retstep dtype axis", kinds="biuf")
def _linspace(call: Bound) -> Value:
    emitter = call.builder.emitter
    ends = [operand(call, name) for name in ("start", "stop")]
    if any(end.type.dtype.is_complex for end in ends):
        raise Unsupported(emitter.span, "np.linspace between complex numbers")
    shape = arrays.broadcast_shapes([end.shape for end in ends], emitter)
    num = Scalar(Const(50, INT)) if call.get("num") is None else call.need("num")
    length = extent_of(num, emitter)
    endpoint = constant_bool(call.get("endpoint"), emitter, True)
    axis = 0 if call.get("axis") is None else constant_int(call.need("axis"), emitter)
    axis = arrays.normalise_axes(axis, len(shape) + 1, emitter)[0]
    real = promote(ends[0].type, ends[1].type)
    real = F64 if real.weak or not real.dtype.is_float else real
    start, stop = (_fixed(arrays.broadcast_to(end, shape, emitter), real, emitter) for end in ends)
    parts = emitter.snapshot(arith.cast(ix.sub(length, ONE) if endpoint else length, real), "parts")
    points = _Points(start, stop, length, parts, endpoint, emitter)
    of = dtype_of(call, real)
    line = arrays.materialise(
        Array((length, *shape), of, lambda at: points.element(at, of), cost=3), emitter, "linspace"
    )
    result = permuted(line, (*range(1, axis + 1), 0, *range(axis + 1, line.rank)))
    if not constant_bool(call.get("retstep"), emitter):
        return result
    if isinstance(length, Const) and int(length.value.real) <= endpoint:
        return Tuple((result, Scalar(Const(float("nan"), FLOAT))))
    if not emitter.assure(ix.sub(length, integer(1 + endpoint)), "RuntimeError"):
        some = Op("gt", (parts, Const(0.0, real)), BOOL)
        emitter.rarely_fails(some, "np.linspace without a step, which NumPy gives as a float")
    step = Array(shape, real, points.step, cost=1)
    return Tuple((result, step if shape else Scalar(emitter.snapshot(step.element(()), "step"))))


def _fixed(end: Array, of: ScalarType, emitter: Emitter) -> Array:
    """An end as floats that stay what they are."""
    if end.rank:
        return arrays.evaluated(Array(end.shape, of, lambda at: arith.cast(end.element(at), of), cost=1), emitter)
    value = emitter.snapshot(arith.cast(end.element(()), of), "point")
    return Array((), of, lambda _: value)


class _Points:
    """start + k * step; where a step underflows to 0 NumPy divides last."""

    def __init__(
        self, start: Array, stop: Array, length: Expr, parts: Expr, endpoint: bool, emitter: Emitter
    ) -> None:
        self.start, self.stop, self.length, self.endpoint, self.type = start, stop, length, endpoint, parts.type
        self.parts = Op("maximum", (parts, Const(1.0, self.type)), self.type)
        self._width = self._step = None
        if not start.rank:
            self._width = emitter.snapshot(self.width(()), "width")
            self._step = emitter.snapshot(self.step(()), "step")
        dims, at = emitter.domain(start.shape)
        vanishes = Op("eq", (self.step(at), Const(0.0, self.type)), BOOL)
        self.vanishing = emitter.snapshot(Reduce("or", dims, vanishes, emitter.span) if dims else vanishes, "vanishing")

    _width: Expr | None
    _step: Expr | None

    def width(self, at: Index) -> Expr:
        return self._width or Op("sub", (self.stop.element(at), self.start.element(at)), self.type)

    def step(self, at: Index) -> Expr:
        return self._step or Op("truediv", (self.width(at), self.parts), self.type)

    def element(self, at: Index, of: ScalarType) -> Expr:
        place, rest = at[0], at[1:]
        number = arith.cast(place, self.type)
        divided = Op("mul", (Op("truediv", (number, self.parts), self.type), self.width(rest)), self.type)
        times = Op("select", (self.vanishing, divided, Op("mul", (number, self.step(rest)), self.type)), self.type)
        value: Expr = Op("add", (times, self.start.element(rest)), self.type)
        if self.endpoint:
            last = Op("and", (Op("eq", (place, ix.sub(self.length, ONE)), BOOL), Op("gt", (place, ZERO), BOOL)), BOOL)
            value = Op("select", (last, self.stop.element(rest), value), self.type)
        if of.dtype.is_integer:
            value = Op("floor", (value,), self.type)
        return arith.cast(value, of)


@composed(np.logspace)
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):  # type: ignore[no-untyped-def]
    exponents = np.linspace(start, stop, num=num, endpoint=endpoint, axis=axis)
    if dtype is None:
        return np.power(base, exponents)
    return np.power(base, exponents).astype(dtype, copy=False)


@composed(np.geomspace)
def geomspace(start, stop, num=50, endpoint=True):  # type: ignore[no-untyped-def]
    if start == 0 or stop == 0:
        raise ValueError("Geometric sequence cannot include zero")
    sign = np.sign(np.float64(start))
    first = start / sign
    last = stop / sign
    result = np.logspace(np.log10(first), np.log10(last), num, endpoint=endpoint, base=10.0)
    if num > 0:
        result[0] = first
        if num > 1 and endpoint:
            result[-1] = last
    return result * sign
