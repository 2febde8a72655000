"""Library functions that are Python over other library functions: a call is replaced by the body of the definition, as
a call of a user's function is.  In: a Python function; out: an entry of the knowledge base.

Branches on what is known at compile time (a dtype, a rank, None) leave nothing behind.  Everything such a body emits
stands at the place of the user's call.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from weft.errors import Unsupported
from weft.frontend import arith
from weft.frontend.knowledge import Bound, native
from weft.frontend.source import SOUND
from weft.frontend.values import Object, Scalar, Value
from weft.ir import index as ix


def composed(
    *objects: Any, method: str | None = None, name: str | None = None, **coverage: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare that calls of `objects` (and the array method `method`) mean the body of the decorated function.

    `coverage` says what is not covered, as for `native`.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = " ".join(inspect.signature(function).parameters)

        @native(*objects, parameters=parameters, method=method, name=name or function.__name__, **coverage)
        def build(call: Bound) -> Value:
            return call.builder.expand(function, call.given)

        return function

    return register


def sound(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function of the knowledge base: whatever it is given, its indices into lists are in range, and its loops
    take few steps. Nothing is tested in it, and nobody looks for Ctrl-C."""
    assert isinstance(function, FunctionType)
    SOUND.add(function)
    return function


def at_least(value: int, least: int) -> None:
    """In a composed definition: it covers only calls for which value >= least is known, or can be a guard."""
    assert value >= least


def mostly(condition: bool, otherwise: str) -> None:
    """In a composed definition: what follows covers this case only; in the other, Python begins again."""
    assert condition, otherwise


@native(mostly, parameters="condition otherwise", name="mostly")
def _mostly(call: Bound) -> Value:
    condition, otherwise = call.need("condition"), call.need("otherwise")
    assert isinstance(condition, Scalar) and isinstance(otherwise, Object)
    call.builder.emitter.rarely_fails(arith.condition(condition.expr), str(otherwise.value))
    return Object(None)


@native(at_least, parameters="value least", name="at_least")
def _at_least(call: Bound) -> Value:
    emitter = call.builder.emitter
    value, least = call.need("value"), call.need("least")
    assert isinstance(value, Scalar) and isinstance(least, Scalar)
    if not emitter.assure(ix.sub(value.expr, least.expr), "RuntimeError"):
        raise Unsupported(
            emitter.span,
            "a size that is too small, or is computed inside the function",
            "compute the size before the call and pass it",
        )
    return Object(None)
