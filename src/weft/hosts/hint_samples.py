"""Hints as samples.  In: the hint of a parameter or an attribute; out: values that have all the types it allows.

    list[int | None]   -->   [[1, None]]        float | None  -->  [1.5, None]        Point  -->  [Point with x, y]

The compiler of plain Python learns types from values; it never computes with these.
"""

from __future__ import annotations

import collections
import collections.abc
import enum
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np

from weft.frontend.hints import ArrayHint, DTypeHint
from weft.hosts import constructed

_SIMPLE: Final[Mapping[Any, Any]] = {
    int: 7, float: 1.5, bool: True, complex: 1.5j, str: "weft", bytes: b"weft", None: None, type(None): None,
}  # fmt: skip
_ONE: Final[Mapping[Any, Callable[[list[Any]], Any]]] = {
    list: list, set: set, frozenset: frozenset, collections.deque: collections.deque,
    collections.abc.Sequence: list, collections.abc.Iterable: list,
}  # fmt: skip
_TWO: Final = (dict, collections.OrderedDict, collections.abc.Mapping)
#: Classes whose `__init__` is being looked at.
_looked_at: Final[set[type]] = set()
#: A tuple of more items than this has any number of them.
_LONG_TUPLE: Final = 9


class NoSample(Exception):
    """A hint that says too little; its text is the reason."""


class Samples:
    """Samples by hints. `functions`: those of the module, one of which a parameter `Callable[...]` may be."""

    def __init__(self, functions: Mapping[str, Any]) -> None:
        self._functions = functions
        self._under_way: dict[type, Any] = {}  # objects whose attributes are looked for: they may hold themselves

    def of(self, hint: Any) -> list[Any]:
        """Values that have all the types of a hint."""
        if isinstance(hint, typing.Hashable) and hint in _SIMPLE:
            return [_SIMPLE[hint]]
        origin, inner = typing.get_origin(hint), typing.get_args(hint)
        if origin in (typing.Union, types.UnionType):
            return self._of_union(inner)
        if origin is typing.Annotated:
            return self.of(inner[0])
        if isinstance(hint, ArrayHint):
            return [np.zeros((2,) * len(hint.shape), hint.dtype.numpy)]
        if isinstance(hint, DTypeHint):
            return [hint.dtype.numpy.type(1)]
        if origin is collections.abc.Callable:
            return self._callables(inner)
        if origin is not None:
            try:
                return [self._container(origin, inner, hint)]
            except TypeError as problem:  # a key that cannot be hashed
                raise NoSample(f"the hint {hint!r}") from problem
        if isinstance(hint, type):
            return self._of_class(hint)
        raise NoSample(f"the hint {hint!r}")

    def _of_union(self, parts: tuple[Any, ...]) -> list[Any]:
        return [value for part in parts for value in self.of(part)]

    def _container(self, origin: Any, inner: tuple[Any, ...], hint: Any) -> Any:
        if origin in _ONE and len(inner) == 1:
            return _ONE[origin](self.of(inner[0]))
        if origin in _TWO and len(inner) == 2:
            keys, values = (self.of(part) for part in inner)
            kind = collections.OrderedDict if origin is collections.OrderedDict else dict
            return kind(_side_by_side([keys, values]))
        if origin is collections.Counter and len(inner) == 1:
            return collections.Counter(self.of(inner[0]))
        if origin is tuple and len(inner) == 2 and inner[1] is Ellipsis:
            items = self.of(inner[0])
            return tuple(items * _LONG_TUPLE)
        if origin is tuple and inner and Ellipsis not in inner:
            parts = [self.of(part) for part in inner]
            if any(len(part) > 1 for part in parts):
                raise NoSample(f"the hint {hint!r}")
            return tuple(part[0] for part in parts)
        raise NoSample(f"the hint {hint!r}")

    def _of_class(self, kind: Any) -> list[Any]:
        if kind is bytearray:
            return [bytearray(b"weft")]
        if issubclass(kind, enum.Enum):
            return list(kind)
        if issubclass(kind, np.generic):
            return [kind(1)]
        fields = attributes(kind)
        if issubclass(kind, tuple) and hasattr(kind, "_fields") and set(kind._fields) == set(fields):
            return [kind(*row) for row in _side_by_side([self.of(fields[name]) for name in kind._fields])]
        if issubclass(kind, (list, dict, set, tuple, str, int, float, np.ndarray)) or kind is object or not fields:
            raise NoSample(f"{kind.__name__} has no hints of its attributes")
        if kind in self._under_way:
            return [self._under_way[kind]]
        first = self._under_way[kind] = object.__new__(kind)
        try:
            columns = [self.of(hint) for hint in fields.values()]
        finally:
            del self._under_way[kind]
        rows = _side_by_side(columns)
        others = [object.__new__(kind) for _ in rows[1:]]
        return [_filled(made, fields, row) for made, row in zip((first, *others), rows)]

    def _callables(self, inner: tuple[Any, ...]) -> list[Any]:
        """Functions of the module whose hints say that they are such a function."""
        if len(inner) != 2 or not isinstance(inner[0], list):
            raise NoSample("a function without hints of its own parameters")
        known = [getattr(function, "py_func", function) for function in self._functions.values()]
        found = [plain for plain in known if _is_such(plain, inner[0], inner[1])]
        if not found:
            raise NoSample("a function, and no function of the module has such hints")
        return found


def attributes(kind: type) -> dict[str, Any]:
    """The hints of attributes, those of base classes first. Without any they are those that `__init__` sets, if its own
    parameters have hints."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if base is not object:
            home = vars(sys.modules[base.__module__])
            for name, hint in inspect.get_annotations(base, eval_str=True).items():
                # What a named tuple leaves of a hint in quotes.
                known = eval(hint.__forward_arg__, home) if isinstance(hint, typing.ForwardRef) else hint
                if _is_of_objects(known):
                    found[name] = known
    if found or kind in _looked_at:  # an object may be made of others of its class
        return found
    _looked_at.add(kind)
    try:
        return constructed.attributes(kind, Samples({}).of)
    except NoSample:
        return {}
    finally:
        _looked_at.discard(kind)


def _is_of_objects(hint: Any) -> bool:
    origin: Any = typing.get_origin(hint)
    return origin is not typing.ClassVar and hint is not typing.ClassVar


def _is_such(function: Any, parameters: list[Any], result: Any) -> bool:
    try:
        hints = inspect.get_annotations(function, eval_str=True)
    except Exception:
        return False
    names = list(inspect.signature(function).parameters)
    return [hints.get(name) for name in names] == parameters and bool(hints.get("return", result) == result)


def _filled(made: Any, names: Iterable[str], values: Iterable[Any]) -> Any:
    for name, value in zip(names, values):
        object.__setattr__(made, name, value)
    return made


def _side_by_side(columns: list[list[Any]]) -> list[tuple[Any, ...]]:
    """Rows in which every value of every column is found."""
    length = max(map(len, columns), default=1)
    return [tuple(column[min(at, len(column) - 1)] for column in columns) for at in range(length)]
