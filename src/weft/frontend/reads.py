"""What a build reads of the program around a function.  In: lookups of globals, builtins, attributes of modules and
classes, closure cells, code and defaults of functions; out: a `Read` for each, with what was found.

Whoever looks something up while a function is built does it here: what was found becomes a guard of the version, and
part of what the disk cache compares.  Outside a build nothing is noted.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import enum
import functools
import sys
import threading
import types
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from weft.records import dataclass
from weft.standins import original

Kind = Literal["entry", "lookup", "attribute", "code", "defaults", "keywords", "cell", "python"]


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Any = _Absent()
_HEAP_TYPE = 1 << 9


@dataclass(frozen=True)
class Read:
    """One lookup: `owner` has `value` under `name`, or nothing if it is not `present`.

    The kinds are: the entry of a dict; what a class and its bases have in their dicts; what `getattr` gives; the code,
    the defaults and the keyword defaults of a function; the contents of a cell; whether Python is at least
    of a version.
    """

    kind: Kind
    owner: Any
    name: Any  # a string, but of a dict that is no namespace
    value: Any
    present: bool = True


class Recorder:
    """The reads of one build, each once, in order."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int, Any], Read] = {}

    def note(self, read: Read) -> None:
        self._found.setdefault((read.kind, id(read.owner), read.name), read)

    @property
    def found(self) -> tuple[Read, ...]:
        return tuple(self._found.values())


_state = threading.local()


@contextlib.contextmanager
def recording() -> Iterator[Recorder]:
    """Note every read until the end of the block."""
    before = getattr(_state, "recorder", None)
    recorder = _state.recorder = Recorder()
    try:
        yield recorder
    finally:
        _state.recorder = before


def _note(kind: Kind, owner: Any, name: Any, value: Any) -> Any:
    recorder: Recorder | None = getattr(_state, "recorder", None)
    if recorder is not None:
        present = value is not ABSENT
        recorder.note(Read(kind, owner, name, value if present else None, present))
    return value


def is_python(major: int, minor: int) -> bool:
    """Whether this Python is of that version or newer. What depends on it is noted for code that may run under another
    one; in this process it holds."""
    return bool(_note("python", sys, f"{major}.{minor}", sys.version_info >= (major, minor)))


def _is_own(namespace: Mapping[str, Any]) -> bool:
    """Whether a namespace is that of a module of weft, which stays what it is."""
    return str(namespace.get("__name__", "")).partition(".")[0] == "weft"


def entry(namespace: dict[str, Any], name: str) -> Any:
    """namespace[name], or ABSENT"""
    value = namespace.get(name, ABSENT)
    return value if _is_own(namespace) else _note("entry", namespace, name, value)


def item(table: dict[Any, Any], key: Any) -> Any:
    """table[key] of a dict that is no namespace, or ABSENT"""
    return _note("entry", table, key, table.get(key, ABSENT))


def free_name(namespace: dict[str, Any], name: str) -> Any:
    """A global or a builtin, as a function with these globals finds it; ABSENT if there is none."""
    if name in namespace:
        return entry(namespace, name)
    return builtin(namespace, name)


def builtin(namespace: dict[str, Any], name: str) -> Any:
    """A builtin for which there is no global."""
    entry(namespace, name)
    found = namespace.get("__builtins__", builtins)
    inner = vars(found) if isinstance(found, types.ModuleType) else found
    return inner.get(name, ABSENT) if _is_own(namespace) else entry(inner, name)


def outside(home: Any, name: str) -> Any:
    """What a namespace has under a name, or a cell holds; ABSENT if nothing."""
    if isinstance(home, dict):
        return entry(home, name)
    try:
        return _note("cell", home, "", home.cell_contents)
    except ValueError:
        return ABSENT


def contents(cell: types.CellType) -> Any:
    """What a cell holds now, for a question on which no code depends; ABSENT if nothing."""
    try:
        return cell.cell_contents
    except ValueError:
        return ABSENT


def lookup(kind: type, name: str) -> Any:
    """What a class, or the first of its bases that has it, holds under a name, as it is; ABSENT if none has it."""
    found = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), ABSENT)
    if not kind.__flags__ & _HEAP_TYPE:
        return found  # a class of C that nobody can change
    return _note("lookup", kind, name, found)


def own(kind: type, name: str) -> Any:
    """What a class itself holds under a name; ABSENT if nothing."""
    lookup(kind, name)
    return vars(kind).get(name, ABSENT)


def attribute(owner: Any, name: str) -> Any:
    """owner.name, or ABSENT"""
    if isinstance(owner, types.ModuleType):
        is_there = hasattr(owner, name)  # it may be a module that is loaded now, and has an entry from then on
        found = entry(vars(owner), name)
        if found is not ABSENT or not is_there:
            return found
        return getattr(owner, name) if _is_own(vars(owner)) else _note("attribute", owner, name, getattr(owner, name))
    if isinstance(owner, type) and type(owner) is type:
        found = lookup(owner, name)
        if found is not ABSENT and not isinstance(type(owner).__dict__.get(name), types.GetSetDescriptorType):
            return getattr(owner, name, ABSENT) if hasattr(type(found), "__get__") else found
    if isinstance(owner, enum.EnumMeta):
        lookup(owner, name)  # members cannot be set anew
        return getattr(owner, name, ABSENT)
    found = getattr(owner, name, ABSENT)
    if isinstance(owner, enum.Enum) and name in ("name", "value", "_name_", "_value_"):
        return found
    of_c = not isinstance(owner, type) and not type(owner).__flags__ & _HEAP_TYPE
    if of_c or isinstance(found, types.MethodType):
        return found  # nobody can change it, or it is made anew at each look
    return _note("attribute", owner, name, found)


def function(made: Any) -> None:
    """The code and the default values of a function are used."""
    if _is_own(made.__globals__):
        return
    _note("code", made, "", original(made.__code__))
    _note("defaults", made, "", made.__defaults__)
    _note("keywords", made, "", made.__kwdefaults__)
    code = made.__code__
    for name in code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount] if made.__kwdefaults__ else ():
        entry(made.__kwdefaults__, name)


def partial(made: functools.partial[Any]) -> None:
    """The function and the arguments of a functools.partial are used; keywords can change."""
    code = getattr(made.func, "__code__", None)
    known = () if code is None else code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for name in dict.fromkeys((*known, *made.keywords)):
        entry(made.keywords, name)


def defaults(made: Any) -> dict[str, Any]:
    """The default values of a function's parameters, by name."""
    function(made)
    code = made.__code__
    names = code.co_varnames[: code.co_argcount]
    given = made.__defaults__ or ()
    return dict(zip(names[len(names) - len(given) :], given)) | (made.__kwdefaults__ or {})


def resolved(node: ast.expr, namespace: dict[str, Any]) -> Any:
    """What a name, or an attribute of one, denotes outside the function; None if it denotes nothing there."""
    found: Any = ABSENT
    if isinstance(node, ast.Name):
        found = free_name(namespace, node.id)
    elif isinstance(node, ast.Attribute):
        found = attribute(resolved(node.value, namespace), node.attr)
    return None if found is ABSENT else found


#: What a class holds and Python itself turns into a function.
_PLAIN = (types.FunctionType, staticmethod, classmethod)


def is_descriptor(found: Any) -> bool:
    """Whether what a class holds under a name decides by code of its own what a look at it gives."""
    kind = type(found)
    of_python = isinstance(found, property) or bool(kind.__flags__ & _HEAP_TYPE)
    return of_python and hasattr(kind, "__get__") and not isinstance(found, _PLAIN)


def takes_stores(found: Any) -> bool:
    """Whether what a class holds under a name sees to assignments to it; the place of a slot does not count."""
    kind = type(found)
    return (hasattr(kind, "__set__") or hasattr(kind, "__delete__")) and not isinstance(
        found, (types.MemberDescriptorType, types.GetSetDescriptorType)
    )
