"""What the bodies of models say beyond Python (`models.primitives`), answered while they are compiled in."""

from __future__ import annotations

from weft.errors import Unsupported
from weft.frontend.knowledge import Bound, native
from weft.frontend.models import primitives
from weft.frontend.values import Array, Mask, Object, Scalar, Value
from weft.ir.expr import Const, boolean


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


@native(primitives.is_dense, parameters="value", name="is_dense")
def _is_dense(call: Bound) -> Value:
    value = call.need("value")
    return Scalar(boolean(isinstance(value, Mask) or (isinstance(value, Array) and value.rank > 0 and not value.is_list)))
