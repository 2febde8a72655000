"""Calls of a library for a C host from a test.  In: NumPy arrays and numbers; out: what the C function gives back, by
way of ctypes, as a C program would call it.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

_POINTER = ctypes.c_void_p


class Error(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_int),
        ("line", ctypes.c_int),
        ("file", ctypes.c_char_p),
        ("function", ctypes.c_char_p),
        ("exception", ctypes.c_char_p),
        ("message", ctypes.c_char * 256),
    ]


OK, NULL, EXTENT, LAYOUT, GUARD, RAISED, MEMORY = range(7)


class Failed(Exception):
    """A call whose code is not 0."""

    def __init__(self, error: Error) -> None:
        self.code, self.line = error.code, error.line
        self.exception = (error.exception or b"").decode()
        self.message = error.message.decode()
        super().__init__(self.code, self.exception, self.message)


def structure(rank: int) -> type[ctypes.Structure]:
    class Array(ctypes.Structure):
        _fields_ = [
            ("data", _POINTER),
            ("extent", ctypes.c_int64 * rank),
            ("stride", ctypes.c_int64 * rank),
            ("memory", _POINTER),
        ]

    return Array


def over(array: np.ndarray[Any, Any]) -> Any:
    """The struct of an array."""
    strides = [stride // array.itemsize for stride in array.strides]
    kind: Any = structure(array.ndim)
    return kind(array.ctypes.data, tuple(array.shape), tuple(strides), None)


class Library:
    """A library that `weft build --host c` has written."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.library = ctypes.CDLL(str(folder / "lib" / f"lib{self.name}.so"))
        self.function("free").argtypes = [_POINTER]

    def function(self, name: str) -> Any:
        return getattr(self.library, f"{self.name}_{name}")

    def call(self, function: str, *arguments: Any, results: str = "") -> Any:
        """The results of a call: `results` spells their kinds, such as "f64 f64:2" for a number and a matrix."""
        passed: list[Any] = []
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                passed.append(ctypes.byref(over(argument)))
            elif isinstance(argument, bool):
                passed.append(ctypes.c_bool(argument))
            elif isinstance(argument, int):
                passed.append(ctypes.c_int64(argument))
            elif isinstance(argument, float):
                passed.append(ctypes.c_double(argument))
            else:
                passed.append(argument)
        places = [self._place(kind) for kind in results.split()]
        error = Error()
        code = self.function(function)(*passed, *(ctypes.byref(p) for p in places), ctypes.byref(error))
        if code != OK:
            assert code == error.code
            raise Failed(error)
        found = [self._value(kind, place) for kind, place in zip(results.split(), places)]
        return None if not found else found[0] if len(found) == 1 else tuple(found)

    def _place(self, kind: str) -> Any:
        dtype, _, rank = kind.partition(":")
        if rank:
            return structure(int(rank))()
        return (ctypes.c_char * np.dtype(_NUMPY[dtype]).itemsize)()

    def _value(self, kind: str, place: Any) -> Any:
        dtype, _, rank = kind.partition(":")
        numpy = np.dtype(_NUMPY[dtype])
        if not rank:
            return np.frombuffer(bytes(place), numpy)[0]
        shape, strides = tuple(place.extent), tuple(stride * numpy.itemsize for stride in place.stride)
        low = sum(min(0, (n - 1) * s) for n, s in zip(shape, strides)) if all(shape) else 0
        high = sum(max(0, (n - 1) * s) for n, s in zip(shape, strides)) + numpy.itemsize if all(shape) else 0
        held = ctypes.string_at(place.data + low, high - low) if all(shape) else b""
        array = np.ndarray(shape, numpy, held, -low, strides) if all(shape) else np.empty(shape, numpy)
        result = array.copy()
        self.function("free")(place.memory)
        return result


_NUMPY = {
    "bool": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8",
    "f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16",
}  # fmt: skip


# --- handles --------------------------------------------------------------------------------------------------------

_C_ITEMS: dict[str, Any] = {"int": ctypes.c_int64, "float": ctypes.c_double, "bool": ctypes.c_bool}


class Handles:
    """Lists, strings and dicts of a library: Python's own in and out, by its accessors alone."""

    def __init__(self, library: Library) -> None:
        self.library = library

    def accessor(self, kind: str, name: str, returns: Any = ctypes.c_int) -> Any:
        function = self.library.function(f"{kind}_{name}")
        function.restype = returns
        return function

    def make(self, kind: str, value: Any) -> ctypes.c_void_p:
        """A handle of this kind ("list_float", "dict_str_int", ...) with what a Python container holds."""
        form, _, item = kind.partition("_")
        new = self.accessor(kind, "new", _POINTER)
        if kind in ("str", "bytes"):
            data = value.encode() if isinstance(value, str) else value
            return ctypes.c_void_p(new(data, ctypes.c_int64(len(data))))
        if form == "list" and item != "str":
            return ctypes.c_void_p(new((_C_ITEMS[item] * len(value))(*value), ctypes.c_int64(len(value))))
        made = ctypes.c_void_p(new())
        if form == "rows":
            for row in value:
                items = (_C_ITEMS[item] * len(row))(*row)
                assert self.accessor(kind, "append")(made, items, ctypes.c_int64(len(row))) == OK
        elif form == "list":
            for text in value:
                assert self.accessor(kind, "append")(made, text.encode()) == OK
        else:
            of_key, of_value = item.split("_")
            for key, held in value.items():
                assert self.accessor(kind, "set")(made, _passed(of_key, key), _passed(of_value, held)) == OK
        return made

    def value(self, kind: str, made: ctypes.c_void_p) -> Any:
        """What a handle holds, as Python has it."""
        form, _, item = kind.partition("_")
        count = self.accessor(kind, "length", ctypes.c_int64)(made)
        assert count >= 0
        if kind == "str":
            return self._text(kind, "get", made)
        if kind == "bytes":
            return bytes(self._item(kind, "get", ctypes.c_uint8, made, at) for at in range(count))
        if form == "rows":
            length = self.accessor(kind, "row_length", ctypes.c_int64)
            lengths = [length(made, ctypes.c_int64(at)) for at in range(count)]
            of = _C_ITEMS[item]
            return [[self._item(kind, "get", of, made, i, j) for j in range(n)] for i, n in enumerate(lengths)]
        if form == "list":
            return [self._entry(kind, "get", item, made, at) for at in range(count)]
        of_key, of_value = item.split("_")
        keys = [self._entry(kind, "key_at", of_key, made, at) for at in range(count)]
        return dict(zip(keys, (self._entry(kind, "value_at", of_value, made, at) for at in range(count))))

    def free(self, kind: str, made: ctypes.c_void_p) -> None:
        self.accessor(kind, "free", None)(made)

    def _entry(self, kind: str, name: str, item: str, made: ctypes.c_void_p, at: int) -> Any:
        if item == "str":
            return self._text(kind, name, made, at)
        return self._item(kind, name, _C_ITEMS[item], made, at)

    def _item(self, kind: str, name: str, of: Any, made: ctypes.c_void_p, *at: int) -> Any:
        place = of()
        assert self.accessor(kind, name)(made, *map(ctypes.c_int64, at), ctypes.byref(place)) == OK
        return place.value

    def _text(self, kind: str, name: str, made: ctypes.c_void_p, *at: int) -> str:
        read = self.accessor(kind, name, ctypes.c_int64)
        places = [ctypes.c_int64(each) for each in at]
        size = read(made, *places, None, ctypes.c_int64(0))
        assert size >= 0
        room = ctypes.create_string_buffer(size + 1)
        assert read(made, *places, room, ctypes.c_int64(size + 1)) == size
        return room.raw[:size].decode()


def _passed(item: str, value: Any) -> Any:
    return value.encode() if item == "str" else _C_ITEMS[item](value)
