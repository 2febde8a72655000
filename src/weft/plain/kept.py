"""Versions of plain Python in the disk cache.  In: a compiled version and all that it was made from; out, in another
process: the same version, without inference, C compiler, or any module of the compiler.

The key holds what is known before compiling: the code of the function and where it is from, an outline of the types of
the arguments, weft, Python and the tool chain.  What is only known afterwards is kept with the entry and compared when
it is read: every fact (`runtime/facts.py`) and every class whose objects are native, method by method.  Types of
arguments need no comparison: the native code tests all of them at each call, whoever has compiled it.  So several
versions may have one key: each has a number.

What belongs to one process is found again by reference: the objects that the code names by address, and those that come
as further arguments. What cannot be found is not kept.
"""

from __future__ import annotations

import collections
import enum
import importlib
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from weft import steps
from weft.errors import Span
from weft.naming import home_of
from weft.options import wants_lines
from weft.plain.told import TypeRemark
from weft.records import dataclass
from weft.runtime import cache, facts, toolchain
from weft.runtime.facts import Found, NotPortable, described, reached
from weft.runtime.fingerprints import fingerprint
from weft.runtime.stamps import weft_stamp

if TYPE_CHECKING:
    from weft.plain.function import PlainVersion
    from weft.runtime.descriptor import Fact

_FORMAT: Final = 1
_LIBRARY: Final = "plain.so"
_C: Final = "plain.c"
_HEAP_TYPE: Final = 1 << 9
#: Versions with one key.
_MOST: Final = 8
#: Classes that their own module does not name.
UNNAMED: Final = {
    getattr(types, name): name
    for name in ("ModuleType", "CellType", "FunctionType", "NoneType", "NotImplementedType", "EllipsisType")
}
_CONTAINERS: Final[tuple[type, ...]] = (
    *(tuple, list, set, frozenset, dict),
    *(collections.deque, collections.Counter, collections.defaultdict, collections.OrderedDict),
)
_CONSTANTS: Final = (int, str, bytes, float, complex, bool, type(None))
#: How far an outline looks into containers.
_DEPTH: Final = 4
#: Modules whose loading has no effect that anybody could see: a function may import them.
QUIET: Final = ("bisect", "collections", "functools", "heapq", "itertools", "math", "operator", "random", "string")


@dataclass(frozen=True)
class Made:
    """A version's code, and what it was made from and needs."""

    library: Path
    objects: tuple[Any, ...]  # that the code names, by number
    hidden: tuple[Any, ...]  # that come behind the arguments
    facts: tuple[Fact, ...]
    classes: tuple[type, ...]  # whose objects the code makes, or takes apart
    uses_numpy: bool


# --- keys -----------------------------------------------------------------------------------------------------------


def key_for(function: Any, arguments: tuple[Any, ...] | None, *more: object) -> str | None:
    """The key of the versions for such arguments, or for all, and `more` that decides; None without a compiler."""
    chain = toolchain.find()
    if chain is None:
        return None
    place = (function.__module__, function.__qualname__, function.__code__.co_filename)
    numpy = getattr(sys.modules.get("numpy"), "__version__", "")
    system = (sys.version, numpy, wants_lines())
    outline = None if arguments is None else [_outline(value, 0) for value in arguments]
    code = fingerprint(function.__code__)
    return cache.digest("plain", _FORMAT, weft_stamp(), code, place, outline, more, chain, system)


def _outline(value: Any, depth: int) -> Any:
    """The type of a value, and of the first thing that it holds: nothing but a hint at the version to look for."""
    kind = type(value)
    told: list[Any] = [home_of(kind), kind.__qualname__]
    if kind is int:
        told.append(-(1 << 63) <= value < 1 << 63)
    elif isinstance(value, types.FunctionType):
        told.append(fingerprint(value.__code__))
    elif depth < _DEPTH and kind in _CONTAINERS:  # of no others: iterating may run code of the program
        many = kind is tuple and len(value) <= 8
        items = list(value) if many else [first for first, _ in zip(value, range(1))]
        told += [_outline(item, depth + 1) for item in items]
        if isinstance(value, dict) and items:
            told.append(_outline(value[items[0]], depth + 1))
    elif kind.__module__ == "numpy":
        told += [str(getattr(value, "dtype", "")), getattr(value, "ndim", 0)]
    return told


# --- objects --------------------------------------------------------------------------------------------------------


def _reference(value: Any, found: Found) -> list[Any]:
    """How another process comes to an object; NotPortable if it cannot."""
    if type(value) in _CONSTANTS:
        return ["constant", *_constant(value)]
    if isinstance(value, types.ModuleType):
        if sys.modules.get(value.__name__) is value:
            return ["loaded", value.__name__]
        raise NotPortable
    if id(value) in found.places:
        return found.places[id(value)]
    if isinstance(value, enum.Enum):
        return ["member", _reference(type(value), found), value.name]
    home = getattr(value, "__objclass__", None)
    name = getattr(value, "__name__", None)
    if isinstance(home, type) and isinstance(name, str) and vars(home).get(name) is value:
        return ["held", _reference(home, found), name]
    if isinstance(value, type) and value in UNNAMED:
        return ["by name", "types", UNNAMED[value]]
    module, title = getattr(value, "__module__", None) or "builtins", getattr(value, "__qualname__", name)
    if isinstance(value, types.BuiltinFunctionType) and isinstance(value.__self__, types.ModuleType):
        module, title = value.__self__.__name__, value.__name__
    if not isinstance(module, str) or not isinstance(title, str) or _named(module, title) is not value:
        raise NotPortable
    return ["by name", module, title]


def _constant(value: Any) -> list[Any]:
    if isinstance(value, (str, type(None), bool)):
        return ["plain", value]
    if isinstance(value, int):
        return ["int", hex(value)]
    if isinstance(value, bytes):
        return ["bytes", value.hex()]
    raise NotPortable


def _named(module: str, title: str) -> Any:
    found: Any = sys.modules.get(module)
    if found is None and module.partition(".")[0] == "weft":
        found = importlib.import_module(module)  # a model, or a function that Python runs for the code
    for part in title.split("."):
        found = getattr(found, part, None)
    return found


def _found_again(reference: list[Any], known: tuple[Fact, ...], function: Any, arguments: tuple[Any, ...]) -> Any:
    """The object of `_reference` in this process; LookupError or AttributeError if there is none."""
    kind, *rest = reference
    if kind == "constant":
        how, value = rest
        if how == "plain":
            return sys.intern(value) if isinstance(value, str) else value
        return int(value, 16) if how == "int" else bytes.fromhex(value)
    if kind == "loaded":
        return sys.modules[rest[0]]
    if kind == "member":
        return _found_again(rest[0], known, function, arguments)[rest[1]]
    if kind == "held":
        return vars(_found_again(rest[0], known, function, arguments))[rest[1]]
    if kind == "by name":
        found = _named(*rest)
        if found is None:
            raise LookupError(rest)
        return found
    return reached(reference, known, function, arguments)


# --- classes --------------------------------------------------------------------------------------------------------

#: What a class holds and no code depends on.
_IGNORED: Final = {
    *("__doc__", "__dict__", "__weakref__", "__module__", "__annotations__", "__firstlineno__", "_abc_impl"),
    *("__static_attributes__", "__annotate__", "__annotate_func__", "__annotations_cache__", "__parameters__"),
    "__slotnames__",  # left there by copy and pickle
}
#: What a class holds and is looked at, item by item.
_LOOKED_INTO: Final = ("__slots__", "__match_args__", "_fields", "__dataclass_fields__", "__dataclass_params__")


def is_own(cls: Any) -> bool:
    """Whether a class is made by Python code that is not Python's own (which the key knows by its version)."""
    return bool(cls.__flags__ & _HEAP_TYPE) and home_of(cls).partition(".")[0] not in sys.stdlib_module_names


def _class(cls: Any, home: str | None) -> list[Any]:
    """A class as the compiler may have seen it: its bases and, of those made by Python code, what each holds: code of
    functions, values by their types (those that were read are facts)."""
    found = []
    for base in cls.__mro__:
        held = []
        if is_own(base):
            held = [[name, _held(name, vars(base)[name])] for name in sorted(vars(base)) if name not in _IGNORED]
        found.append([_title(type(base)), _title(base), held])
    told: list[Any] = facts.at_home(found, home)
    return told


def _held(name: str, value: Any) -> Any:
    if name in _LOOKED_INTO:
        return described(value)
    if isinstance(value, types.FunctionType):
        return ["function", fingerprint(value.__code__)]
    if isinstance(value, (staticmethod, classmethod)):
        return [type(value).__name__, _held("", value.__func__)]
    if isinstance(value, property):
        return [type(value).__name__, *(_held("", part) for part in (value.fget, value.fset, value.fdel))]
    return _title(value if isinstance(value, type) else type(value))


def _title(cls: type) -> list[str]:
    return ["class", home_of(cls), cls.__qualname__]


def _subclasses(classes: tuple[type, ...], known: tuple[Fact, ...]) -> list[bool]:
    """Which classes are subclasses of those that decide so by code of their own: anybody may register with them."""
    deciding = [fact.value for fact in known if isinstance(fact.value, type) and type(fact.value) is not type]
    return [issubclass(cls, other) for cls in classes for other in deciding]


# --- entries --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kept:
    """An entry that holds here: what its code needs, and what is told of it."""

    made: Made
    signature: str
    types: str
    lines: frozenset[int]
    remarks: tuple[TypeRemark, ...]
    seconds: float


class Texts(dict[str, str]):
    """What is told of a version by name; its C is read when somebody asks for it."""

    def __init__(self, entry: Kept) -> None:
        super().__init__(types=entry.types, signature=entry.signature)
        self._place = entry.made.library.parent / _C

    def __missing__(self, name: str) -> str:
        if name != "c":
            raise KeyError(name)
        return self._place.read_text(encoding="utf-8")


class Store:
    """The versions of one function on disk. `way`: what leads to them; `trouble` is told of errors inside weft, after
    which the disk is not asked any more. `by_types`: the first items of containers are part of the key; without, one
    version may be found for all that its native code takes."""

    def __init__(self, function: Any, way: str, trouble: Callable[[Exception], None], by_types: bool = True) -> None:
        self.function = function
        self._by_types = by_types
        self._way, self._trouble = way, trouble
        self._is_broken = False
        self._used: set[str] = set()  # keys of versions that this process has

    @property
    def is_used(self) -> bool:
        """Whether a version of this process is on disk."""
        return bool(self._used)

    def next(self, arguments: tuple[Any, ...], wide: frozenset[int]) -> Kept | None:
        """A version for such arguments that this process has not yet; None if there is none."""
        try:
            steps.enter("restore")
            for key, entry in self._entries(arguments, wide):
                found = None if entry is None or key in self._used else restored(entry, self.function, arguments)
                if found is not None:
                    self._used.add(key)
                    return found
        except steps.OutOfTime:
            raise
        except Exception as trouble:
            self._broken(trouble)
        return None

    def keep(self, version: PlainVersion, made: Made, arguments: tuple[Any, ...], wide: frozenset[int]) -> None:
        """Keep a version for other processes: in a free place, or in that of one which is of no use here."""
        try:
            steps.enter("keep")
            data = portable(version, made, self.function, arguments)
            places = [] if data is None else [*self._entries(arguments, wide)]
            free = [key for key, entry in places if entry is None] or [k for k, _ in places if k not in self._used]
            if data is not None and free:
                files: dict[str, bytes | Path] = {_LIBRARY: made.library, _C: version.c_source.encode()}
                cache.default_cache().put(free[0], files, data, renew=True)
                self._used.add(free[0])
        except steps.OutOfTime:
            raise
        except Exception as trouble:
            self._broken(trouble)

    def _broken(self, trouble: Exception) -> None:
        self._is_broken = True
        self._trouble(trouble)

    def _entries(self, arguments: tuple[Any, ...], wide: frozenset[int]) -> Iterator[tuple[str, cache.Entry | None]]:
        """The keys of versions for such arguments, with what is there; behind them one that is free."""
        seen = arguments if self._by_types else None
        base = None if self._is_broken else key_for(self.function, seen, self._way, sorted(wide))
        for number in range(_MOST if base is not None else 0):
            key = cache.digest(base, number)
            entry = cache.default_cache().entry(key)
            yield key, entry
            if entry is None:
                return


def portable(version: PlainVersion, made: Made, function: Any, arguments: tuple[Any, ...]) -> dict[str, Any] | None:
    """A version as JSON data without its code; None if it has no form that outlives the process."""
    found, home = Found(function, arguments), function.__module__
    try:
        return {
            "facts": facts.portable(made.facts, function, found, {id(held) for held in made.hidden}),
            "objects": [_reference(held, found) for held in made.objects],
            "hidden": [_reference(held, found) for held in made.hidden],
            "classes": [[_reference(cls, found), _class(cls, home)] for cls in made.classes],
            "subclasses": _subclasses(made.classes, made.facts),
            "uses_numpy": made.uses_numpy,
            "modules": [name for name in QUIET if _is_read(name, made.facts)],
            "types": version.text["types"],
            "signature": version.signature,
            "lines": sorted(version.native_lines),
            "remarks": [
                [r.span.file, r.span.line, r.span.column, r.span.end_line, r.span.end_column, r.message]
                for r in version.remarks
            ],
        }
    except (NotPortable, RecursionError):
        return None


def _is_read(module: str, known: tuple[Fact, ...]) -> bool:
    loaded = sys.modules.get(module)
    return loaded is not None and any(fact.owner is vars(loaded) for fact in known)


def restored(entry: cache.Entry, function: Any, arguments: tuple[Any, ...]) -> Kept | None:
    """The version of an entry; None if something that it was made from is not what it was."""
    start = perf_counter()
    data, home = entry.metadata, function.__module__

    def found(reference: list[Any]) -> Any:
        return _found_again(reference, known, function, arguments)

    for name in data["modules"]:
        importlib.import_module(name)
    try:
        known = facts.restored(data["facts"], function, arguments)
        classes = tuple(found(reference) for reference, _ in data["classes"])
        if any(_class(cls, home) != seen for cls, (_, seen) in zip(classes, data["classes"])):
            return None
        if _subclasses(classes, known) != data["subclasses"]:
            return None
        objects, hidden = (tuple(map(found, data[name])) for name in ("objects", "hidden"))
    except (LookupError, AttributeError, NotPortable):
        return None
    made = Made(entry.path / _LIBRARY, objects, hidden, known, classes, data["uses_numpy"])
    remarks = tuple(TypeRemark(Span(*place), message) for *place, message in data["remarks"])
    return Kept(made, data["signature"], data["types"], frozenset(data["lines"]), remarks, perf_counter() - start)
