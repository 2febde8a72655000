"""Questions about types, answered at compile time: np.dtype, finfo, iinfo, result_type, can_cast, issubdtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.errors import Unsupported
from weft.frontend.constants import constant
from weft.frontend.expressions import constant_value
from weft.frontend.knowledge import Bound, native
from weft.frontend.values import Array, Object, Scalar, Tuple, Value, describe
from weft.ir.types import DType

_EXAMPLES: dict[DType, Any] = {DType.BOOL: False, DType.I64: 0, DType.F64: 0.0, DType.C128: 0j}


def _type_of(value: Value, call: Bound) -> Any:
    """What stands for an argument in a question about types: the dtype of an array, a Python number for one."""
    if isinstance(value, (Array, Scalar)):
        weak = isinstance(value, Scalar) and value.type.weak
        return _EXAMPLES[value.type.dtype] if weak else value.type.dtype.numpy
    if isinstance(value, (Object, Tuple)):
        return constant(value, call.builder.emitter)
    raise Unsupported(call.builder.emitter.span, f"{call.name}() of {describe(value)}")


def _known(call: Bound, function: Callable[..., Any], *args: Any, **keywords: Any) -> Value:
    """The answer as a constant."""
    try:
        found = function(*args, **keywords)
    except (TypeError, ValueError) as error:
        raise Unsupported(call.builder.emitter.span, f"{type(error).__name__}: {error}") from None
    return constant_value(found) or Object(found)


def _question(function: Callable[..., Any], parameters: str) -> None:
    """A function of types alone."""

    @native(function, parameters=parameters)
    def build(call: Bound) -> Value:
        wrong = [v for v in call.given.values() if not isinstance(v, (Object, Tuple))]
        if wrong or (function in (np.finfo, np.iinfo) and any(isinstance(v, Tuple) for v in call.given.values())):
            what = describe(wrong[0]) if wrong else "a tuple"
            raise Unsupported(
                call.builder.emitter.span,
                f"{call.name}() of {what}, which is not a type",
                "pass a dtype, such as np.float64",
            )
        keywords = {name: _type_of(value, call) for name, value in call.given.items() if name == "casting"}
        given = [value for name, value in call.given.items() if name not in keywords]
        return _known(call, function, *(_type_of(value, call) for value in (*given, *call.rest)), **keywords)


_question(np.dtype, "dtype")
_question(np.finfo, "dtype")
_question(np.iinfo, "int_type")
_question(np.result_type, "*arrays_and_dtypes")
_question(np.promote_types, "type1 type2")
_question(np.issubdtype, "arg1 arg2")
if hasattr(np, "isdtype"):
    _question(np.isdtype, "dtype kind")


@native(np.can_cast, parameters="from_ to casting")
def _can_cast(call: Bound) -> Value:
    source = call.need("from_")
    if isinstance(source, Scalar) and source.type.weak:
        raise Unsupported(
            call.builder.emitter.span, "TypeError: np.can_cast of a Python number", "pass a dtype, such as np.float64"
        )
    if not isinstance(call.need("to"), (Object, Tuple)):
        raise Unsupported(
            call.builder.emitter.span,
            f"np.can_cast to {describe(call.need('to'))}, which is not a type",
            "pass a dtype, such as np.float64",
        )
    rule = "safe" if call.get("casting") is None else constant(call.need("casting"), call.builder.emitter)
    return _known(call, np.can_cast, _type_of(source, call), _type_of(call.need("to"), call), rule)


@native(np.common_type, parameters="*arrays")
def _common_type(call: Bound) -> Value:
    if not all(isinstance(value, Array) for value in call.rest):
        raise Unsupported(call.builder.emitter.span, "np.common_type of something that is not an array", "pass arrays")
    return _known(call, np.common_type, *(np.empty(0, _type_of(value, call)) for value in call.rest))
