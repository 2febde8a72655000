"""Refusals in the disk cache.  In: why a function was not compiled for some kinds of arguments; out, in another
process: the same reason, without the analysis that led to it.

The key is that of the version, and everything that the analysis may have looked at: the code of all functions and
classes that are reachable by the names in the function's code, constants by their values, anything else by its type.
Too much is in it rather than too little: a refusal that is asked for again costs time, one that stays costs more.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable
from typing import Any

from weft.errors import LeftToLibrary, ParallelError, Span, Unsupported
from weft.naming import home_of
from weft.runtime import cache
from weft.runtime.fingerprints import fingerprint

_MOST = 400  # functions and classes
_PLAIN = (int, float, complex, str, bytes, bool, type(None))


def keep(key: str, function: Any, values: Iterable[Any], problem: Unsupported) -> None:
    """Write a refusal to the disk cache, if it is about what the user has written."""
    seen = _surroundings(function, values)
    if seen is None or problem.whole or isinstance(problem, (LeftToLibrary, ParallelError)):
        return
    span = problem.span
    place = [span.file, span.line, span.column, span.end_line, span.end_column]
    told = {"reason": problem.reason, "remedy": problem.remedy, "types": problem.types}
    metadata = {"place": place, **told, "by_plain": problem.by_plain, "apart": problem.apart}
    cache.default_cache().put(cache.digest("refused", key, seen), {"refused": b""}, metadata)


def restore(key: str, function: Any, values: Iterable[Any]) -> Unsupported | None:
    """The refusal that was kept for a key; None if there is none, or something has changed since."""
    seen = _surroundings(function, values)
    entry = None if seen is None else cache.default_cache().entry(cache.digest("refused", key, seen))
    if entry is None:
        return None
    data = entry.metadata
    problem = Unsupported(Span(*data["place"]), data["reason"], data["remedy"], data["types"])
    problem.by_plain, problem.apart = data["by_plain"], data["apart"]
    return problem


def _surroundings(function: Any, values: Iterable[Any]) -> list[Any] | None:
    """What a function can reach by name, as plain data; None if that is too much."""
    found: list[Any] = []
    waiting: list[Any] = [function, *(_class_of(value) for value in values)]
    met: set[int] = set()
    while waiting:
        item = waiting.pop(0)
        item = getattr(item, "py_func", item)
        if id(item) in met:
            continue
        met.add(id(item))
        if len(met) > _MOST:
            return None
        if isinstance(item, types.FunctionType):
            found.append([item.__module__, item.__qualname__, fingerprint(item.__code__), repr(item.__defaults__)])
            cells = zip(item.__code__.co_freevars, item.__closure__ or ())
            for name, value in [*_named(item.__code__, item.__globals__), *_contents(cells)]:
                found.append([name, _told(value)])
                waiting += _further(value)
        elif isinstance(item, type):
            found.append([item.__module__, item.__qualname__])
            for name, value in sorted(vars(item).items()):
                found.append([name, _told(value)])
                waiting += _further(getattr(value, "__func__", getattr(value, "fget", value)))
            waiting += [base for base in item.__mro__[1:] if _is_users(base)]
    return found


def _class_of(value: Any) -> Any:
    """The class of an argument, or of the first item in it, if that is the program's own."""
    for _ in range(3):
        # By the methods of the built-in classes: those of the program's own may do anything, or have no truth value.
        if isinstance(value, tuple) and tuple.__len__(value):
            value = tuple.__getitem__(value, 0)
        elif isinstance(value, list) and list.__len__(value):
            value = list.__getitem__(value, 0)
        elif isinstance(value, dict) and dict.__len__(value):
            value = next(iter(dict.values(value)))
    return type(value) if _is_users(type(value)) else None


def _named(code: types.CodeType, namespace: dict[str, Any]) -> list[tuple[str, Any]]:
    """What the names in some code stand for, also those inside modules."""
    codes, names = [code], set[str]()
    for each in codes:
        names.update(each.co_names)
        codes += [constant for constant in each.co_consts if isinstance(constant, types.CodeType)]
    found = [(name, namespace[name]) for name in sorted(names) if name in namespace]
    modules = [(name, value) for name, value in found if isinstance(value, types.ModuleType)]
    for home, module in modules:
        found += [(f"{home}.{name}", vars(module)[name]) for name in sorted(names & vars(module).keys())]
    return found


def _contents(cells: Iterable[tuple[str, types.CellType]]) -> list[tuple[str, Any]]:
    found = []
    for name, cell in cells:
        try:
            found.append((name, cell.cell_contents))
        except ValueError:  # nothing in it yet
            found.append((name, None))
    return found


def _told(value: Any) -> Any:
    if isinstance(value, _PLAIN):
        return [type(value).__name__, repr(value)]
    if isinstance(value, tuple):
        return ["tuple", *map(_told, value)]
    if isinstance(value, types.ModuleType):
        return ["module", value.__name__]
    kind = type(value)
    return [home_of(kind), kind.__qualname__, str(getattr(value, "dtype", "")), str(getattr(value, "ndim", ""))]


def _further(value: Any) -> list[Any]:
    """What else to look into."""
    value = getattr(value, "py_func", value)
    return [value] if isinstance(value, (types.FunctionType, type)) and _is_users(value) else []


def _is_users(value: Any) -> bool:
    """Whether a function or class may change between two runs, as those of Python and of installed packages do not."""
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    file = getattr(module, "__file__", None)
    if module is not None and file is None:
        return getattr(module, "__name__", "") == "__main__"
    return file is None or not ("site-packages" in file or file.startswith(sys.base_prefix))
