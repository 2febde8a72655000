"""Other code behind the same function.  In: a function and what shall be called in its place; out: nothing new: the
function itself, whose `__code__` now passes its arguments on.

Identity, name, defaults, closure, decorators and everybody who holds the function stay as they are, and a call that
is under way goes on in the code it began with: the change is seen by the next call.
"""

from __future__ import annotations

import os
import sys
import types

from weft.standins import note

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_TARGET, _TRIM, _DOC = "__weft_target", "__weft_trim", "__weft_doc"
_ONLY_TREE = 0x400  # as ast.PyCF_ONLY_AST
_HAS_DOC = 0x4000000  # from Python 3.14 on
_backward: set[int] = set()  # codes of jumps
_templates: dict[tuple[int, int, int, int], types.CodeType] = {}
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


def has_loop(code: types.CodeType) -> bool:
    """Whether the code, or a comprehension in it, jumps back."""
    if not _backward:
        from opcode import opmap

        _backward.update(number for name, number in opmap.items() if "JUMP_BACKWARD" in name or name == "JUMP_ABSOLUTE")
    if not _backward.isdisjoint(code.co_code[::2]):
        return True
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return any(item.co_name.startswith("<") and has_loop(item) for item in inner)


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
    positional, keywords = code.co_argcount, code.co_kwonlyargcount
    count = positional + keywords
    made = _template(positional, code.co_posonlyargcount, keywords, len(code.co_freevars))
    taken = {*code.co_varnames, *code.co_freevars}
    first = code.co_consts[0] if code.co_consts else None
    values: dict[Any, Any] = {
        _TARGET: target,
        _TRIM: trim,
        _DOC: first if isinstance(first, str) else None,  # a function takes its docstring from its code's constants
        made.co_varnames[positional:count]: code.co_varnames[positional:count],  # the names of keywords in the call
    }
    changes: dict[str, Any] = {
        "co_consts": tuple(values.get(c, c) if isinstance(c, (str, tuple)) else c for c in made.co_consts),
        "co_varnames": (*code.co_varnames[:count], *(_fresh(name, taken) for name in made.co_varnames[count:])),
        "co_freevars": code.co_freevars,
        "co_flags": made.co_flags & ~_HAS_DOC | code.co_flags & _HAS_DOC,
        "co_filename": code.co_filename,
        "co_firstlineno": code.co_firstlineno,
        "co_name": code.co_name,
    }
    if sys.version_info >= (3, 11):
        changes["co_qualname"] = code.co_qualname
    return note(made.replace(**changes), code)


def _template(positional: int, only: int, keywords: int, free: int) -> types.CodeType:
    """Code that passes so many arguments on; names, constants and place are put in by `passing_on`."""
    shape = (positional, only, keywords, free)
    if shape in _templates:
        return _templates[shape]
    names = [f"__weft_{k}" for k in range(positional + keywords)]
    closed = [f"__weft_free_{k}" for k in range(free)]
    head = [*names[:only], *(["/"] if only else []), *names[only:positional]]
    head += ["*", *names[positional:]] if keywords else []
    passed = ", ".join([*names[:positional], *(f"{name}={name}" for name in names[positional:])])
    # The branch that never runs makes the free variables those of the original, which a function insists on.
    text = f"""
def __weft_outer({", ".join(closed)}):
    def __weft_inner({", ".join(head)}):
        {_DOC!r}
        if False:
            ({", ".join([*closed, "None"])})
        {_TARGET} = {_TARGET!r}
        {_TRIM} = {_TRIM!r}
        try:
            return {_TARGET}({passed})
        except BaseException as __weft_problem:
            {_TRIM}(__weft_problem)
            raise
"""
    # The tree without the module ast, which takes longer to load than all of this.
    tree: Any = compile(text, "<weft>", "exec", _ONLY_TREE, dont_inherit=True)
    _on_one_line(tree)
    made = _templates[shape] = _inner(_inner(compile(tree, "<weft>", "exec", dont_inherit=True)))
    return made


def _on_one_line(node: Any) -> None:
    if hasattr(node, "lineno"):
        node.lineno = node.end_lineno = 1
        node.col_offset = node.end_col_offset = 0
    for name in node._fields:
        value = getattr(node, name, None)
        for child in value if isinstance(value, list) else [value]:
            if hasattr(child, "_fields"):
                _on_one_line(child)


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


def find_function(code: types.CodeType, namespace: dict[str, Any]) -> types.FunctionType | None:
    """The function object of a code object: by its name, or else among all objects; None if there are several."""
    parts = str(getattr(code, "co_qualname", code.co_name)).split(".")
    found: Any = namespace.get(parts[0])
    for part in parts[1:]:
        found = vars(found).get(part) if isinstance(found, type) else None
    plain = unwrapped(found)
    if isinstance(plain, types.FunctionType) and plain.__code__ is code:
        return plain
    import gc

    users = [item for item in gc.get_referrers(code) if isinstance(item, types.FunctionType) and item.__code__ is code]
    return users[0] if len(users) == 1 else None


def unwrapped(found: Any) -> Any:
    """What a decorator, a property or a static method stands around."""
    for _ in range(10):
        if isinstance(found, types.FunctionType) and not hasattr(found, "__wrapped__"):
            return found
        found = getattr(found, "__wrapped__", None) or getattr(found, "__func__", None) or getattr(found, "fget", None)
    return found
