"""The oracle for Core: a function and its printed Core, run by CPython, must do the same.

`recompiled` makes a function from the printed Core of another one, in the same globals and closure; `outcome` runs a
function and records what it does: result or exception, output, arguments afterwards, and the log of `say`.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import functools
import io
import signal
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from weft.plain.core import core_class, core_function, print_core, verify

LOG: list[object] = []


def say(value: Any) -> Any:
    """Logs a value and gives it back: proves the order of evaluation."""
    LOG.append(value)
    return value


@functools.lru_cache(maxsize=None)
def _parsed(path: str) -> ast.Module:
    with open(path, encoding="utf-8") as file:
        return ast.parse(file.read())


def tree_of(function: types.FunctionType) -> ast.FunctionDef:
    """The function's own tree, found by its place in the file."""
    line = function.__code__.co_firstlineno
    for node in ast.walk(_parsed(function.__code__.co_filename)):
        if isinstance(node, ast.FunctionDef) and node.name == function.__code__.co_name:
            if min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) == line:
                return node
    raise LookupError(f"{function.__qualname__} is not in its file")


def shadowed_in(function: types.FunctionType) -> set[str]:
    names = {*function.__globals__, *function.__code__.co_freevars}
    return {name for name in names & set(dir(builtins)) if not name.startswith("__")}


def checked_core(tree: ast.FunctionDef | ast.Lambda, shadowed: set[str], fixed: set[str] = frozenset()) -> str:  # type: ignore[assignment]
    """Printed Core, verified, and the same when it is reduced again."""
    before = ast.dump(tree)
    core = core_function(tree, shadowed=shadowed, fixed=fixed)
    assert ast.dump(tree) == before, "the source's tree was changed"
    verify(core)
    text = print_core(core)
    again = core_function(ast.parse(text).body[0], shadowed=shadowed, fixed=fixed)  # type: ignore[arg-type]
    verify(again)
    assert print_core(again) == text, "Core of Core is something else"
    return text


def checked_class(tree: ast.ClassDef) -> str:
    core = core_class(tree)
    verify(core)
    text = print_core(core)
    assert print_core(core_class(ast.parse(text).body[0])) == text  # type: ignore[arg-type]
    return text


def recompiled(function: types.FunctionType, text: str | None = None) -> types.FunctionType:
    """A function from the printed Core of this one, with its globals, closure and defaults."""
    if text is None:
        text = checked_core(tree_of(function), shadowed_in(function))
    inner = _without_outside(text)
    free = function.__code__.co_freevars
    owner = _owner(function.__qualname__)
    given = ", ".join(name for name in free if name != "__class__")
    # Trees and not text are put together: indentation would change strings of several lines.
    tree = ast.parse(f"def _factory({given}):\n {f'class {owner}' if owner else 'if True'}:\n  pass")
    reduced = ast.parse(inner).body
    tree.body[0].body[0].body = reduced  # type: ignore[attr-defined]
    code = _code_named(compile(tree, f"<core of {function.__qualname__}>", "exec"), function.__name__)
    cells = dict(zip(free, function.__closure__ or ()))
    closure = tuple(cells.get(name) or types.CellType() for name in code.co_freevars)
    made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__doc__ = function.__doc__
    made.__qualname__ = function.__qualname__
    made.__dict__.update(function.__dict__)
    return made


def core_module(source: str, name: str, fixed: bool = False) -> ast.Module:
    """A module with all its functions and methods in Core; decorators and defaults, which run once, stay."""
    module = ast.parse(source)
    shadowed = {bound for bound in _bound_by(module) if hasattr(builtins, bound)}
    names = set(dir(builtins)) | set(_bound_by(module)) if fixed else set()
    for place, node in enumerate(module.body):
        if isinstance(node, ast.FunctionDef):
            made = ast.parse(checked_core(node, shadowed, names)).body[0]
            assert isinstance(made, ast.FunctionDef)
            made.decorator_list, made.args = node.decorator_list, node.args
            module.body[place] = made
        elif isinstance(node, ast.ClassDef):
            module.body[place] = ast.parse(checked_class(node)).body[0]
    return ast.fix_missing_locations(module)


def _bound_by(module: ast.Module) -> set[str]:
    found = {node.id for node in ast.walk(module) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    definitions = (ast.FunctionDef, ast.ClassDef)
    found |= {node.name for node in module.body if isinstance(node, definitions)}
    aliases = (node for node in ast.walk(module) if isinstance(node, ast.alias))
    return found | {(alias.asname or alias.name).split(".")[0] for alias in aliases}


def twins(source: str, name: str, fixed: bool = False) -> tuple[types.ModuleType, types.ModuleType]:
    """A module from its source, and one from its Core."""
    made = []
    for number, tree in enumerate((ast.parse(source), core_module(source, name, fixed))):
        module = types.ModuleType(name)
        module.__file__ = f"<{name} {number}>"
        sys.modules[name] = module  # dataclasses look their module up
        exec(compile(tree, module.__file__, "exec"), vars(module))
        made.append(module)
    return made[0], made[1]


def _owner(qualified: str) -> str:
    parts = qualified.split(".")
    return parts[-2] if len(parts) > 1 and parts[-2] != "<locals>" else ""


def _without_outside(text: str) -> str:
    """Default values and annotations belong to the scope around: they are not evaluated again."""
    module = ast.parse(text)
    tree = module.body[0]
    assert isinstance(tree, ast.FunctionDef)
    tree.args.defaults = [ast.Constant(None) for _ in tree.args.defaults]
    tree.args.kw_defaults = [default and ast.Constant(None) for default in tree.args.kw_defaults]
    tree.returns = None
    for argument in [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs, tree.args.vararg, tree.args.kwarg]:
        if argument is not None:
            argument.annotation = None
    return ast.unparse(ast.fix_missing_locations(module))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _code_named(code: types.CodeType, name: str) -> types.CodeType:
    return next(found for found in _codes(code) if found.co_name == name)


def canonical(value: Any, depth: int = 0) -> Any:
    """A value as plain data that compares by type and content, NaN equal to itself."""
    if depth > 12:
        return "..."
    if isinstance(value, np.ndarray) and value.dtype != object:
        return ("array", str(value.dtype), value.shape, value.tobytes())
    if isinstance(value, (list, tuple, deque, np.ndarray)):
        return (type(value).__name__, [canonical(entry, depth + 1) for entry in value])
    if isinstance(value, dict):
        pairs = [(canonical(key, depth + 1), canonical(entry, depth + 1)) for key, entry in value.items()]
        return (type(value).__name__, pairs)
    if isinstance(value, (set, frozenset)):
        return (type(value).__name__, sorted(repr(canonical(entry, depth + 1)) for entry in value))
    if isinstance(value, types.GeneratorType) or (isinstance(value, Iterator) and not isinstance(value, io.IOBase)):
        return ("iterator", [canonical(entry, depth + 1) for entry in _first(value)])
    if isinstance(value, BaseException):
        return (type(value).__name__, canonical(value.args, depth + 1))
    if isinstance(value, (types.FunctionType, types.ModuleType, type, types.MethodType)):
        return type(value).__name__
    if hasattr(value, "__dict__") and not isinstance(value, (str, int, float, complex)):
        return (type(value).__name__, canonical(vars(value), depth + 1))
    return (type(value).__name__, repr(value) if type(value).__repr__ is not object.__repr__ else "")


def _first(values: Iterator[Any]) -> Iterator[Any]:
    for _, value in zip(range(200), values):
        yield value


class TooLong(BaseException):
    """A random program does not end in time."""


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any] | None = None) -> Any:
    """Everything that can be seen of a call."""
    arguments, keywords = copy.deepcopy((arguments, keywords or {}))
    LOG.clear()
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            result = ("returned", canonical(function(*arguments, **keywords)))
        except Exception as error:
            result = ("raised", type(error).__name__, canonical(error.args))
    return result, output.getvalue(), canonical(arguments), canonical(keywords), canonical(list(LOG))
