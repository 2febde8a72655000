"""Facts that outlive a process.  In: the facts of a version and its function; out: JSON that says how to come to each
owner again and what it had, and back: the facts of another process, if everything is there and the same.

An owner is reached from the function: its globals, cells, code and defaults, and from there along the values of facts
that come before.  Values are described: plain ones by themselves, functions by their code, classes by their names (what
was read of a class is a fact of its own).  What has no description, or cannot be reached, has no portable form.

Nothing here needs NumPy: what is of NumPy can only be met where it is loaded.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import sys
import types
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from weft.naming import home_of
from weft.runtime.descriptor import Fact
from weft.runtime.fingerprints import fingerprint
from weft.runtime.holding import ABSENT, now
from weft.standins import original

Reference = list[Any]
#: How one object leads to another: attributes of functions, of what stands around them, and of modules.
_PARTS = ("__globals__", "__kwdefaults__", "__func__", "__wrapped__", "py_func", "fget", "fset", "func", "keywords")
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented))
_BUILTIN = (
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.GetSetDescriptorType,
    types.MemberDescriptorType, types.ClassMethodDescriptorType, types.MethodWrapperType, types.DynamicClassAttribute,
)  # fmt: skip


_HEAP_TYPE = 1 << 9
_ITEMS = 32  # of a tuple, that are looked at


class NotPortable(Exception):
    """A fact is bound to its process."""


class Found:
    """What can be reached so far, by its identity: from a function and the arguments of a call."""

    def __init__(self, function: Any, arguments: tuple[Any, ...] = ()) -> None:
        self.places: dict[int, Reference] = {}
        self.kept: list[Any] = []
        self.add(function, ["function"])
        self.add(sys.modules, ["modules"])
        for place, value in enumerate(arguments):
            if callable(value):
                self.add(value, ["argument", place])
            if type(value).__flags__ & _HEAP_TYPE:
                self.add(type(value), ["class of", place])

    def add(self, value: Any, reference: Reference, depth: int = 0) -> None:
        if id(value) in self.places or isinstance(value, _PLAIN) or depth > 4:
            return
        self.places[id(value)] = reference
        self.kept.append(value)
        for name, part in _parts(value):
            self.add(part, ["part", reference, name], depth + 1)

    def reference(self, owner: Any) -> Reference:
        known = self.places.get(id(owner))
        if known is not None:
            return known
        name = owner.get("__name__") if type(owner) is dict else None
        if isinstance(name, str) and vars(sys.modules.get(name, sys)) is owner:
            return ["module", name]
        if isinstance(owner, (type, types.FunctionType)):
            title = [owner.__module__, owner.__qualname__]
            if _named(*title) is owner:
                return ["named", *title]
            if _named("types", owner.__name__) is owner:  # NoneType and its like, which builtins do not name
                return ["named", "types", owner.__name__]
        raise NotPortable


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """What belongs to an object so closely that it is the same in each process."""
    if isinstance(value, types.ModuleType):
        yield "__dict__", vars(value)
        return
    wraps = (types.FunctionType, types.MethodType, property, staticmethod, classmethod, functools.partial)
    if isinstance(value, (*wraps, functools._lru_cache_wrapper)) or _jitted(value):
        for name in _PARTS:
            part = getattr(value, name, None)
            if part is not None:
                yield name, part
    if type(value) is tuple:
        yield from ((f"item {place}", item) for place, item in enumerate(value[:_ITEMS]))
    if isinstance(value, types.FunctionType):
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or ()):
            yield f"cell {name}", cell


def _part(value: Any, name: str) -> Any:
    if name.startswith("cell "):
        return dict(zip(value.__code__.co_freevars, value.__closure__ or ()))[name.removeprefix("cell ")]
    if name.startswith("item "):
        return value[int(name.removeprefix("item "))]
    return getattr(value, name)


def _jitted(value: Any) -> bool:
    """Whether a value is a function that weft compiles."""
    return home_of(type(value)).partition(".")[0] == "weft" and hasattr(type(value), "_miss")


def _named(module: str, name: str) -> Any:
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def portable(
    facts: tuple[Fact, ...], function: Any, found: Found | None = None, passed: Collection[int] = ()
) -> list[Any]:
    """The facts as JSON data; NotPortable if one has no such form. `found` then knows the values, too. Of objects that
    come to the code as arguments (`passed`, by identity) only the class is compared: the code looks at the rest."""
    found, written, home = found or Found(function), [], getattr(function, "__module__", None)
    for place, fact in enumerate(facts):
        if not isinstance(fact.name, str):
            raise NotPortable
        value = at_home(_told(fact.value, passed) if fact.present else ["absent"], home)
        written.append([fact.kind, found.reference(fact.owner), fact.name, value])
        if fact.present:
            found.add(fact.value, ["value", place])
    return written


def restored(data: list[Any], function: Any, arguments: tuple[Any, ...] = ()) -> tuple[Fact, ...]:
    """The facts of `portable`'s data in this process; LookupError unless all of them hold here."""
    made: list[Fact] = []
    for kind, reference, name, known in data:
        owner = reached(reference, made, function, arguments)
        value = now(Fact(kind, owner, name, None))
        if kind == "code" and isinstance(value, types.CodeType):
            value = original(value)
        present = value is not ABSENT
        try:
            told = _told_like(known, value) if present else ["absent"]
            same = at_home(told, getattr(function, "__module__", None)) == known
        except NotPortable:
            same = False
        if not same:
            raise LookupError(f"{name or kind} is not what it was")
        made.append(Fact(kind, owner, name, value if present else None, present))
    return tuple(made)


def _told(value: Any, passed: Collection[int]) -> list[Any]:
    """The description of a fact's value, in which objects that come as arguments are told by their class."""
    if id(value) in passed:
        return ["passed", _title(type(value))]
    if type(value) is tuple and any(id(item) in passed for item in value):
        return ["items", [_told(item, passed) for item in value]]
    told: list[Any] = described(value)
    return told


def _told_like(known: list[Any], value: Any) -> list[Any]:
    """The same of another process's value, as `known` was told."""
    if known[0] == "passed":
        return _told(value, (id(value),))
    if known[0] == "items" and type(value) is tuple and len(value) == len(known[1]):
        return ["items", [_told_like(each, item) for each, item in zip(known[1], value)]]
    return _told(value, ())


def reached(reference: Reference, made: Sequence[Fact], function: Any, arguments: tuple[Any, ...] = ()) -> Any:
    """What a reference leads to in this process; LookupError or AttributeError if it leads nowhere."""
    kind, *rest = reference
    if kind == "function":
        return function
    if kind == "argument":
        return arguments[rest[0]]
    if kind == "class of":
        return type(arguments[rest[0]])
    if kind == "modules":
        return sys.modules
    if kind == "module":
        return vars(sys.modules[rest[0]])
    if kind == "value":
        return made[rest[0]].value
    if kind == "part":
        return _part(reached(rest[0], made, function, arguments), rest[1])
    found = _named(*rest)
    if found is None:
        raise LookupError(rest)
    return found


def at_home(told: Any, home: str | None) -> Any:
    """A description without the name of the function's own module, which may be run under another."""
    if isinstance(told, list) and len(told) == 3 and told[0] == "class":
        return ["class", "" if told[1] == home else told[1], told[2]]
    return [at_home(item, home) for item in told] if isinstance(told, list) else told


# --- descriptions ---------------------------------------------------------------------------------------------------


def described(value: Any, present: bool = True) -> Any:
    """A value as JSON that is the same in each process, and other for whatever a version could tell from it."""
    if not present:
        return ["absent"]
    if type(value) in _PLAIN:
        return [type(value).__name__, value.hex() if isinstance(value, float) else repr(value)]
    if _is_numpy(value, "generic"):
        return ["number", value.dtype.str, value.tobytes().hex()]
    if isinstance(value, (tuple, list)):
        return [_title(type(value)), [described(item) for item in value]]
    if isinstance(value, dict):
        return ["dict", [[described(key), described(item)] for key, item in value.items()]]
    return _of_code(value) or _of_class(value) or _by_name(value)


def _of_code(value: Any) -> Any:
    """What is, or stands around, a function of the user's."""
    if isinstance(value, types.CodeType):
        return ["code", fingerprint(value)]
    if isinstance(value, types.FunctionType):
        return ["function", value.__qualname__, fingerprint(value.__code__)]
    if isinstance(value, types.MethodType) and _named(value.__module__, value.__name__) is value:
        return ["named", value.__module__, value.__name__, described(value.__func__)]  # random.seed and its like
    if isinstance(value, (staticmethod, classmethod, types.MethodType)):
        owner = described(value.__self__) if isinstance(value, types.MethodType) else None
        return [type(value).__name__, described(value.__func__), owner]
    if type(value) is property:
        return ["property", *map(described, (value.fget, value.fset, value.fdel))]
    if isinstance(value, functools.partial):
        return ["partial", *map(described, (value.func, value.args, value.keywords))]
    if isinstance(value, functools._lru_cache_wrapper):
        return ["cached", described(value.__wrapped__), repr(value.cache_parameters())]
    return ["compiled", described(value.py_func)] if _jitted(value) else None


def _of_class(value: Any) -> Any:
    if isinstance(value, types.ModuleType):
        return ["module", value.__name__]
    if isinstance(value, enum.EnumMeta):
        named: dict[str, Any] = dict(value.__members__)
        members = [[name, described(member.value)] for name, member in named.items()]
        return [_title(value), members]
    if isinstance(value, type):
        return _title(value)
    if isinstance(value, enum.Enum):
        return ["member", _title(type(value)), value.name]
    if isinstance(value, dataclasses.Field):
        parts = [value.name, value.init, value.compare, getattr(value, "kw_only", False)]
        return ["field", repr(parts), described(value.default), described(value.default_factory)]
    if home_of(type(value)) == "dataclasses":  # MISSING, and the options of a dataclass
        return ["dataclasses", repr(value).partition(" object at ")[0]]
    return ["dtype", value.str, repr(value)] if _is_numpy(value, "dtype") else None


def _is_numpy(value: Any, name: str) -> bool:
    """Whether a value is of a class of NumPy, or of one derived from it."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, getattr(numpy, name))


def _title(kind: type) -> list[str]:
    return ["class", home_of(kind), kind.__qualname__]


def _by_name(value: Any) -> Any:
    """A function of C, or anything else that its module has under its name."""
    if isinstance(value, _BUILTIN):
        return ["builtin", type(value).__name__, str(getattr(value, "__qualname__", getattr(value, "__name__", "")))]
    module = getattr(value, "__module__", None) or ("numpy" if _is_numpy(value, "ufunc") else "builtins")
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if isinstance(module, str) and isinstance(name, str) and _named(module, name) is value:
        return ["named", module, name]
    if _is_numpy(value, "ufunc"):
        return ["ufunc", value.__name__]
    if home_of(type(value)).partition(".")[0] in ("numpy", "weft") and callable(getattr(value, "__getitem__", None)):
        return ["object", _title(type(value))]  # np.mgrid and its like
    raise NotPortable
