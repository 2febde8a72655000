"""Library functions that are Python over other library functions: a call is replaced by the body of the definition, as
a call of a user's function is.  In: a Python function; out: an entry of the knowledge base.

Branches on what is known at compile time (a dtype, a rank, None) leave nothing behind.  Everything such a body emits
stands at the place of the user's call.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from weft.frontend.knowledge import Bound, native
from weft.frontend.values import Value


def composed(
    *objects: Any, method: str | None = None, name: str | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare that calls of `objects` (and the array method `method`) mean the body of the decorated function."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = " ".join(inspect.signature(function).parameters)

        @native(*objects, parameters=parameters, method=method, name=name or function.__name__)
        def build(call: Bound) -> Value:
            return call.builder.expand(function, call.given)

        return function

    return register
