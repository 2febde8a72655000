"""`numba.extending`: ways to teach Numba something.  weft compiles Python functions as they are, so that there is
nothing to teach; what is only there for Numba's own code generator cannot be called.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Callable
from typing import Any

from weft import warned
from weft.compat.notes import noted
from weft.compat.numba.core.errors import TypingError, UnsupportedError
from weft.compat.numba.types import typeof
from weft.errors import attach_source

__all__ = ["intrinsic", "is_jitted", "overload", "overload_attribute", "overload_method", "register_jitable", "typeof"]


def register_jitable(*args: Any, **options: Any) -> Any:
    """The function itself: weft compiles what compiled functions call."""
    return args[0] if args and callable(args[0]) else lambda function: function


def overload(target: Any, /, **options: Any) -> Callable[[Any], Any]:
    """The function that is overloaded is Python, and weft compiles it, or leaves it to the interpreter.

    One that has no body of its own (`pass`, `raise NotImplementedError`) calls from now on what the overload gives for
    its arguments.
    """
    name = getattr(target, "__name__", repr(target))

    def decorate(factory: Any) -> Any:
        if isinstance(target, types.FunctionType) and _is_empty(target):
            _fill(target, factory)
        else:
            noted(f"overload of {name}", "the function itself is used, not what was written for Numba's compiler")
        return factory

    return decorate


def _is_empty(function: types.FunctionType) -> bool:
    """Whether a function does nothing, or only says that it does nothing: its body is for Numba's compiler alone."""
    made = {one.opname for one in dis.get_instructions(function)}
    if function.__closure__:
        return False
    if "RAISE_VARARGS" in made and function.__code__.co_names == ("NotImplementedError",):
        made -= {"RAISE_VARARGS", "LOAD_GLOBAL", "PUSH_NULL", "PRECALL", "CALL", "CALL_FUNCTION"}
    return made <= {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}


def _fill(target: types.FunctionType, factory: Any) -> None:
    """Let an empty function call what `factory` gives for the types of its arguments."""
    known: dict[Any, Any] = {}

    def implementation(*args: Any, **keys: Any) -> Any:
        kinds = (tuple(map(typeof, args)), tuple((name, typeof(value)) for name, value in keys.items()))
        if kinds not in known:
            known[kinds] = factory(*kinds[0], **dict(kinds[1]))
        if known[kinds] is None:
            raise TypingError(f"no implementation of {target.__name__} for {kinds[0]}")
        return known[kinds](*args, **keys)

    place = f"__weft_overload_{target.__name__}"
    target.__globals__[place] = implementation
    space: dict[str, Any] = {}
    text, file = f"def body(*args, **keys):\n    return {place}(*args, **keys)\n", f"<overload of {target.__name__}>"
    attach_source(file, text)
    warned.expect(file, range(3))
    exec(compile(text, file, "exec"), space)
    target.__code__ = space["body"].__code__.replace(co_name=target.__name__)
    target.__defaults__ = target.__kwdefaults__ = None


def overload_method(kind: Any, name: str, **options: Any) -> Callable[[Any], Any]:
    """As `overload`, for a method."""
    noted(f"overload_method {name}", "the method itself is used, not what was written for Numba's compiler")
    return lambda function: function


def overload_attribute(kind: Any, name: str, **options: Any) -> Callable[[Any], Any]:
    """As `overload`, for an attribute."""
    noted(f"overload_attribute {name}", "the attribute itself is used, not what was written for Numba's compiler")
    return lambda function: function


def intrinsic(*args: Any, **options: Any) -> Any:
    """A function that writes LLVM's code: it can be defined, and says what it is when it is called."""

    def decorate(function: Any) -> Any:
        name = function.__name__

        def refuse(*_: Any, **__: Any) -> Any:
            raise UnsupportedError(f"{name} is an intrinsic of Numba: it writes LLVM code, which weft does not run")

        return refuse

    return decorate(args[0]) if args and callable(args[0]) else decorate


def is_jitted(function: Any) -> bool:
    """Whether a function was decorated."""
    return hasattr(function, "py_func")
