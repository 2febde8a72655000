"""`weft.prange` and `weft.map`: ranges whose iterations the user declares independent."""

from __future__ import annotations

from dataclasses import replace

from weft.errors import Unsupported
from weft.frontend import arith
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.python import range_of
from weft.frontend.values import Grid, Range, Scalar, Slice, Tuple, Value, describe
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr
from weft.ir.types import INT
from weft.parallel import map as parallel_map
from weft.parallel import prange


@native(prange, parameters="a b c", name="weft.prange")
def _prange(call: Bound) -> Value:
    return replace(range_of(call), parallel=call.builder.emitter.decisions.tasks.declared)


@native(parallel_map, parameters="key", name="weft.map")
def _map(call: Bound) -> Value:
    key = call.need("key")
    if isinstance(key, Slice):
        return _bounds(key, call)
    parts = key.items if isinstance(key, Tuple) else (key,)
    return Grid(tuple(_bounds(part, call) for part in parts))


def _bounds(part: Value, call: Bound) -> Range:
    if not isinstance(part, Slice) or part.hi is None:
        reason = "TypeError: weft.map takes slices with an end, such as weft.map[0:n, 0:m]"
        raise Unsupported(call.builder.emitter.span, reason)
    lo, hi, step = (_whole(bound, call) for bound in (part.lo, part.hi, part.step))
    if isinstance(step, Const) and step.value == 0:
        raise Unsupported(call.builder.emitter.span, "ValueError: range() arg 3 must not be zero")
    return Range(lo or ZERO, hi or ZERO, step or ONE, parallel=True)


def _whole(bound: Value | None, call: Bound) -> Expr | None:
    if bound is None:
        return None
    if not isinstance(bound, Scalar) or not bound.type.dtype.is_integer:
        raise Unsupported(call.builder.emitter.span, f"TypeError: a bound of weft.map that is {describe(bound)}")
    return ix.canonical(arith.cast(bound.expr, INT))
