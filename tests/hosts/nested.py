"""Containers of containers of a library for a C host, from a test: Python's own in and out, by the accessors alone."""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tests.hosts.calling import OK, Error, Failed, Library
from weft.hosts.handles import Handle, Leaf, handle_of_hint

_ITEMS: dict[str, Any] = {
    "int": ctypes.c_int64,
    "float": ctypes.c_double,
    "bool": ctypes.c_bool,
    "byte": ctypes.c_uint8,
}
_NUMBERS = {int: "int", float: "float", bool: "bool"}


class Nested:
    """The accessors of a library."""

    def __init__(self, library: Library) -> None:
        self.library = library

    def call(self, function: str, hints: Sequence[Any], gives: Sequence[Any], arguments: list[Any]) -> Any:
        """The result of a call; `arguments` hold afterwards what handles hold then."""
        kinds = [None if hint in _NUMBERS else handle_of_hint(hint) for hint in hints]
        passed = [
            self.make(kind, value) if kind else _ITEMS[_NUMBERS[hint]](value)
            for kind, hint, value in zip(kinds, hints, arguments)
        ]
        places = [_ITEMS[_NUMBERS[hint]]() if hint in _NUMBERS else ctypes.c_void_p() for hint in gives]
        error = Error()
        try:
            code = self.library.function(function)(*passed, *map(ctypes.byref, places), ctypes.byref(error))
            assert code == error.code
            if code != OK:
                raise Failed(error)
        finally:
            for at, kind in enumerate(kinds):
                if kind is not None:
                    arguments[at] = self.value(kind, passed[at])
                    self.free(kind, passed[at])
        found = []
        for hint, place in zip(gives, places):
            kind = None if hint in _NUMBERS else handle_of_hint(hint)
            found.append(place.value if kind is None else self.value(kind, place))
            if kind is not None:
                self.free(kind, place)
        return found[0] if len(found) == 1 else tuple(found) if found else None

    def of_hints(self, plain: Callable[..., Any], gives: Sequence[Any], arguments: list[Any]) -> Any:
        """A call of a function whose parameters have hints."""
        hints = inspect.get_annotations(plain, eval_str=True)
        names = inspect.signature(plain).parameters
        return self.call(plain.__name__, [hints[name] for name in names], gives, arguments)

    def accessor(self, kind: Handle, name: str, returns: Any = ctypes.c_int) -> Any:
        function = self.library.function(f"{kind.name}_{name}")
        function.restype = returns
        return function

    # --- in ---

    def make(self, kind: Handle, value: Any) -> ctypes.c_void_p:
        new = self.accessor(kind, "new", ctypes.c_void_p)
        if kind.form in ("str", "bytes"):
            data = value.encode() if isinstance(value, str) else value
            return self._made(new(data, ctypes.c_int64(len(data))))
        if kind.form == "tuple":
            passed, held = self._all(kind.fields, value)
            made = self._made(new(*passed))
            self._drop(held)
            return made
        if kind.form == "list" and kind.item in _ITEMS:
            return self._made(new((_ITEMS[str(kind.item)] * len(value))(*value), ctypes.c_int64(len(value))))
        made = self._made(new())
        for item in value.items() if kind.form == "dict" else value:
            if kind.form == "rows":
                items = (_ITEMS[str(kind.item)] * len(item))(*item)
                assert self.accessor(kind, "append")(made, items, ctypes.c_int64(len(item))) == OK
                continue
            step = {"dict": "set", "set": "add"}.get(kind.form, "append")
            parts = item if kind.form in ("dict", "tuples") else (item,)
            passed, held = self._all(kind.leaves, parts)
            assert self.accessor(kind, step)(made, *passed) == OK
            self._drop(held)
        return made

    def _made(self, address: Any) -> ctypes.c_void_p:
        assert address
        return ctypes.c_void_p(address)

    def _all(self, leaves: Sequence[Leaf], values: Any) -> tuple[list[Any], list[tuple[Handle, ctypes.c_void_p]]]:
        passed: list[Any] = []
        held: list[tuple[Handle, ctypes.c_void_p]] = []
        for leaf, value in zip(leaves, values):
            if isinstance(leaf, Handle):
                held.append((leaf, self.make(leaf, value)))
                passed.append(held[-1][1])
            elif isinstance(leaf, tuple):
                passed += [_ITEMS[each](part) for each, part in zip(leaf, value)]
            else:
                passed.append(value.encode() if leaf == "str" else _ITEMS[leaf](value))
        return passed, held

    def _drop(self, held: list[tuple[Handle, ctypes.c_void_p]]) -> None:
        for kind, made in held:
            self.free(kind, made)

    # --- out ---

    def value(self, kind: Handle, made: ctypes.c_void_p) -> Any:
        """What a handle holds, as Python has it; rows of tuples are lists of tuples."""
        count = self.accessor(kind, "length", ctypes.c_int64)(made)
        assert count >= 0
        places = [ctypes.c_int64(at) for at in range(count)]
        if kind.form == "str":
            return self._read(kind, "get", "str", made)
        if kind.form == "tuple":
            return tuple(self._read(kind, f"get_{k}", leaf, made) for k, leaf in enumerate(kind.fields))
        if kind.form == "tuples":
            fields = list(enumerate(kind.fields))
            return [tuple(self._read(kind, f"get_{k}", leaf, made, at) for k, leaf in fields) for at in places]
        if kind.form == "rows":
            length = self.accessor(kind, "row_length", ctypes.c_int64)
            sizes = [(at, length(made, at)) for at in places]
            rows = [[(at, ctypes.c_int64(j)) for j in range(n)] for at, n in sizes]
            return [[self._read(kind, "get", kind.item, made, *place) for place in row] for row in rows]
        if kind.form == "dict":
            keys = [self._read(kind, "key_at", kind.item, made, at) for at in places]
            return dict(zip(keys, [self._read(kind, "value_at", kind.value, made, at) for at in places]))
        items = [self._read(kind, "get", kind.item, made, at) for at in places]
        return bytes(items) if kind.form == "bytes" else set(items) if kind.form == "set" else items

    def _read(self, kind: Handle, name: str, leaf: Leaf, made: Any, *at: Any) -> Any:
        if isinstance(leaf, Handle):
            return self.value(leaf, self._made(self.accessor(kind, name, ctypes.c_void_p)(made, *at)))
        if leaf == "str":
            read = self.accessor(kind, name, ctypes.c_int64)
            size = read(made, *at, None, ctypes.c_int64(0))
            assert size >= 0
            room = ctypes.create_string_buffer(size + 1)
            assert read(made, *at, room, ctypes.c_int64(size + 1)) == size
            return room.raw[:size].decode()
        places = [_ITEMS[each]() for each in (leaf if isinstance(leaf, tuple) else (leaf,))]
        assert self.accessor(kind, name)(made, *at, *map(ctypes.byref, places)) == OK
        return tuple(each.value for each in places) if isinstance(leaf, tuple) else places[0].value

    def free(self, kind: Handle, made: ctypes.c_void_p) -> None:
        self.accessor(kind, "free", None)(made)
