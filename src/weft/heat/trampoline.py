"""Other code behind the same function.  In: a function and what shall be called in its place; out: nothing new: the
function itself, whose `__code__` now passes its arguments on.

Identity, name, defaults, closure, decorators and everybody who holds the function stay as they are, and a call that
is under way goes on in the code it began with: the change is seen by the next call.
"""

from __future__ import annotations

import os
import sys
import types

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_TARGET, _TRIM = "__weft_target", "__weft_trim"
_VARIADIC = 0x04 | 0x08  # as inspect.CO_VARARGS and its like, which take longer to load than to write
_UNFIT = 0x20 | 0x80 | 0x100 | 0x200
#: Names of what looks at its callers: it would see one frame more.
_LOOKS_UP = {"_getframe", "currentframe", "warn", "print_stack", "extract_stack", "format_stack", "walk_stack"}


def unfit(code: types.CodeType) -> str | None:
    """Why calls of this code cannot be passed on; None if they can."""
    if code.co_flags & _UNFIT:
        return "a generator or coroutine"
    if code.co_flags & _VARIADIC:
        return "it takes *args or **kwargs"
    if not code.co_name.isidentifier():
        return "it has no name"
    names = set(code.co_names)
    if names & _LOOKS_UP or {"inspect", "stack"} <= names:
        return "it looks at its callers"
    return None


def twin(function: types.FunctionType, code: types.CodeType | None = None) -> types.FunctionType:
    """A function that is like this one, with its present code (or `code`) for good."""
    return like(function, code or function.__code__, function.__globals__)


def like(function: types.FunctionType | None, code: types.CodeType, namespace: dict[str, Any]) -> types.FunctionType:
    """A function of `code` in a namespace, with what else belongs to `function` if there is one."""
    defaults, closure = (None, None) if function is None else (function.__defaults__, function.__closure__)
    made = types.FunctionType(code, namespace, code.co_name, defaults, closure)
    made.__module__ = namespace.get("__name__", "__main__")
    if function is not None:
        made.__kwdefaults__ = function.__kwdefaults__
        made.__annotations__ = function.__annotations__
        made.__qualname__, made.__module__, made.__doc__ = function.__qualname__, function.__module__, function.__doc__
        made.__name__ = function.__name__
    return made


def passing_on(code: types.CodeType, target: Callable[..., Any]) -> types.CodeType:
    """Code with the parameters, free variables, name and place of `code` that calls `target` with its arguments."""
    import ast

    names = code.co_varnames
    count, hidden = code.co_argcount, code.co_kwonlyargcount
    taken = set(names) | set(code.co_freevars)
    target_name, trim_name, problem = (_fresh(name, taken) for name in (_TARGET, _TRIM, "__weft_problem"))
    positional, keywords = names[:count], names[count : count + hidden]
    passed = ", ".join([*positional, *(f"{name}={name}" for name in keywords)])
    only = code.co_posonlyargcount
    head = [*positional[:only], *(["/"] if only else []), *positional[only:], *(["*", *keywords] if hidden else [])]
    free = "".join(f"{name}, " for name in code.co_freevars)
    # A function takes its docstring from its code's first constant. The branch that never runs makes the free variables
    # those of the original, which a function insists on.
    first = code.co_consts[0] if code.co_consts else None
    text = f"""
def __weft_outer({", ".join(code.co_freevars)}):
    def {code.co_name}({", ".join(head)}):
        {ascii(first) if isinstance(first, str) else None}
        if False:
            ({free or "None"})
        {target_name} = {_TARGET!r}
        {trim_name} = {_TRIM!r}
        try:
            return {target_name}({passed})
        except BaseException as {problem}:
            {trim_name}({problem})
            raise
"""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            place: Any = node
            place.lineno = place.end_lineno = code.co_firstlineno
            place.col_offset = place.end_col_offset = 0
    made = _inner(_inner(compile(tree, code.co_filename, "exec", dont_inherit=True)))
    constants = {_TARGET: target, _TRIM: trim}
    values = tuple(constants.get(c, c) if isinstance(c, str) else c for c in made.co_consts)
    changes: dict[str, Any] = {"co_consts": values, "co_firstlineno": code.co_firstlineno}
    if sys.version_info >= (3, 11):
        changes["co_qualname"] = code.co_qualname
    return made.replace(**changes)


def is_passing_on(code: types.CodeType) -> bool:
    """Whether `passing_on` has made this code."""
    return any(constant is trim for constant in code.co_consts)


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _inner(code: types.CodeType) -> types.CodeType:
    return next(constant for constant in code.co_consts if isinstance(constant, types.CodeType))


def trim(problem: BaseException) -> None:
    """Drop the frames of weft before the user's own from a traceback; what raises again in a handler adds no frame."""
    first = problem.__traceback__
    rest = None if first is None else first.tb_next
    while rest is not None and rest.tb_frame.f_code.co_filename.startswith(_OWN):
        rest = rest.tb_next
    if rest is not None:
        problem.__traceback__ = rest
