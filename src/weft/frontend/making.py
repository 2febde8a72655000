"""Python functions from syntax trees.  In: a definition that was made of another one; out: a function that Python runs,
with the globals, closure and defaults of the original.
"""

from __future__ import annotations

import ast
import copy
import sys
import types
from collections.abc import Callable
from typing import Any

from weft.frontend.source import Source


def function_from(
    tree: ast.FunctionDef, source: Source, like: Any, extra: dict[str, Any], home: str = ""
) -> Callable[..., Any]:
    """The function that a tree defines, with globals, closure and defaults of the original; `extra` are its regions.

    It is defined under another name: in its body its own name is what it was, a global or a cell of the original.
    Functions and classes defined inside it are named after the original, or after `home`.
    """
    names = sorted(extra)
    defined = copy.copy(tree)
    defined.name = "__weft_made"
    free = list(source.cells) if like is not None else []
    factory = ast.FunctionDef(
        name="__weft_make",
        args=ast.arguments(
            posonlyargs=[], args=[ast.arg(arg=n) for n in names + free], kwonlyargs=[], kw_defaults=[], defaults=[]
        ),
        body=[defined, ast.Return(value=ast.Name(id=defined.name, ctx=ast.Load()))],
        decorator_list=[],
    )
    if hasattr(factory, "type_params"):
        factory.type_params = []
    ast.copy_location(factory, tree)
    module = ast.fix_missing_locations(ast.Module(body=[factory], type_ignores=[]))
    namespace: dict[str, Any] = {}
    exec(compile(module, source.file, "exec"), source.namespace, namespace)
    function = namespace["__weft_make"](*(extra[n] for n in names), *(None for _ in free))
    made_as, named = function.__qualname__, home or getattr(like, "__qualname__", "")
    if named:
        function.__code__ = _renamed(function.__code__, f"{made_as}.<locals>.", f"{named}.<locals>.")
    function.__code__ = function.__code__.replace(co_name=tree.name)
    function.__name__, function.__qualname__ = tree.name, f"__weft_make.<locals>.{tree.name}"
    if like is None:
        return function  # type: ignore[no-any-return]
    cells = {name: types.CellType(extra[name]) for name in names} | source.cells
    closure = tuple(cells[name] for name in function.__code__.co_freevars)
    result = types.FunctionType(function.__code__, source.namespace, like.__name__, like.__defaults__, closure)
    result.__kwdefaults__, result.__qualname__ = like.__kwdefaults__, like.__qualname__
    return result


def _renamed(code: types.CodeType, before: str, after: str) -> types.CodeType:
    """Code in which the functions and classes inside have other qualified names: those that start with `before`.

    Up to Python 3.10 these names are constants beside the code of a function; those of classes always are.
    """

    def name(text: str) -> str:
        return after + text[len(before) :] if text.startswith(before) else text

    def constant(value: Any) -> Any:
        if isinstance(value, types.CodeType):
            return _renamed(value, before, after)
        return name(value) if isinstance(value, str) else value

    changes: dict[str, Any] = {"co_consts": tuple(map(constant, code.co_consts))}
    if sys.version_info >= (3, 11):
        changes["co_qualname"] = name(code.co_qualname)
    return code.replace(**changes)
