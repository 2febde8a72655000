"""Compiled functions that are pickled.  In: a function; out: how to find it again by name, or, of a function of
`__main__` or inside another one, everything it is made of: code, source, defaults, closure and the globals it uses.

Functions that such a function uses come along, each once, so that they may use each other; cells and globals that two
of them share are shared again.  Where a process has the very function under its name, it is that one.
"""

from __future__ import annotations

import importlib
import linecache
import marshal
import os
import pickle
import sys
import types
from collections.abc import Iterator
from typing import Any

from weft.records import dataclass
from weft.runtime.fingerprints import fingerprint


@dataclass(frozen=True)
class Reference:
    """What is found again in the receiving process: the function of a number, or a module by its name."""

    kind: str
    key: Any


def _by_name(function: Any) -> bool:
    """Whether another process finds a function where its name says."""
    return function.__module__ != "__main__" and "<locals>" not in function.__qualname__


def _found(module: str, name: str) -> Any:
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


class _Packed:
    """The functions that one uses, as plain data."""

    def __init__(self, function: types.FunctionType) -> None:
        self.records: list[dict[str, Any]] = []
        self.cells: list[Any] = []
        self.spaces: list[dict[str, Any]] = []
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []
        self._texts: dict[str, str] = {}
        self.number(function)

    def _numbered(self, thing: Any, into: list[Any], entry: Any) -> tuple[int, bool]:
        """The number of a thing, and whether it is new."""
        if id(thing) in self._numbers:
            return self._numbers[id(thing)], False
        self._kept.append(thing)
        self._numbers[id(thing)] = len(into)
        into.append(entry)
        return len(into) - 1, True

    def number(self, function: types.FunctionType) -> int:
        code = function.__code__
        file = code.co_filename
        if file not in self._texts:
            self._texts[file] = "".join(linecache.getlines(file, function.__globals__))
        record: dict[str, Any] = {
            "name": (function.__module__, function.__qualname__, function.__name__),
            "code": (sys.implementation.cache_tag, marshal.dumps(code), fingerprint(code)),
            "source": (file, self._texts[file]),
        }
        number, new = self._numbered(function, self.records, record)
        if not new:
            return number
        space, fresh = self._numbered(function.__globals__, self.spaces, {})
        if fresh:
            self.spaces[space]["__name__"] = function.__module__
        for name in _names(code):
            if name in function.__globals__ and name not in self.spaces[space]:
                self.spaces[space][name] = None  # it may use itself
                self.spaces[space][name] = self.packed(function.__globals__[name])
        cells = [self._cell(cell) for cell in function.__closure__ or ()]
        named = function.__kwdefaults__
        record["parts"] = (
            space,
            cells,
            None if function.__defaults__ is None else [self.packed(value) for value in function.__defaults__],
            None if named is None else {name: self.packed(value) for name, value in named.items()},
        )
        return number

    def _cell(self, cell: types.CellType) -> int:
        number, new = self._numbered(cell, self.cells, Reference("unset", None))
        if new and cell != types.CellType():
            self.cells[number] = self.packed(cell.cell_contents)
        return number

    def packed(self, value: Any) -> Any:
        if isinstance(value, types.ModuleType):
            return Reference("module", value.__name__)
        plain = getattr(value, "py_func", value)
        if not isinstance(plain, types.FunctionType) or _by_name(plain):
            return value
        options = None if plain is value else (type(value), getattr(value, "options", None))
        return Reference("function", (self.number(plain), options))


def reduced(made: Any) -> tuple[Any, ...]:
    """What `__reduce__` of a compiled function gives."""
    function = made.py_func
    name = (function.__module__, function.__qualname__)
    if not isinstance(function, types.FunctionType) or _by_name(function):
        return by_name, (*name, type(made), made.options)
    packed = _Packed(function)
    return rebuilt, (packed.records, packed.spaces, packed.cells, type(made), made.options)


def by_name(module: str, name: str, kind: Any, options: Any) -> Any:
    """A function that can be imported."""
    importlib.import_module(module)
    found = _found(module, name)
    if found is None:
        raise pickle.UnpicklingError(f"there is no {name} in {module}")
    return found if isinstance(found, kind) else kind(getattr(found, "py_func", found), options)


def rebuilt(records: list[Any], spaces: list[dict[str, Any]], cells: list[Any], kind: Any, options: Any) -> Any:
    """A function from all that it is made of, or the one that this process has under its name."""
    module, qualified, _ = records[0]["name"]
    here = _found(module, qualified)
    plain = getattr(here, "py_func", None)
    known = fingerprint(plain.__code__) if isinstance(plain, types.FunctionType) else ""
    if isinstance(here, kind) and known == records[0]["code"][2]:
        return here
    made_spaces: list[dict[str, Any]] = [{} for _ in spaces]
    made_cells = [types.CellType() for _ in cells]
    functions: list[Any] = []
    compiled: dict[int, Any] = {}
    for record in records:
        space, own, _, _ = record["parts"]
        module, qualified, name = record["name"]
        closure = tuple(made_cells[number] for number in own)
        function = types.FunctionType(_code(record), made_spaces[space], name, None, closure)
        function.__qualname__, function.__module__ = qualified, module
        functions.append(function)

    def opened(value: Any) -> Any:
        if not isinstance(value, Reference):
            return value
        if value.kind == "module":
            return importlib.import_module(value.key)
        number, around = value.key
        if around is not None and number not in compiled:
            compiled[number] = around[0](functions[number], around[1])
        return functions[number] if around is None else compiled[number]

    for function, record in zip(functions, records):
        _, _, given, named = record["parts"]
        function.__defaults__ = None if given is None else tuple(map(opened, given))
        function.__kwdefaults__ = None if named is None else {name: opened(value) for name, value in named.items()}
    for target, packed in zip(made_spaces, spaces):
        target.update({name: opened(value) for name, value in packed.items()})
    for cell, value in zip(made_cells, cells):
        if not isinstance(value, Reference) or value.kind != "unset":
            cell.cell_contents = opened(value)
    return opened(Reference("function", (0, (kind, options))))


def _code(record: dict[str, Any]) -> types.CodeType:
    """The code of a function, under the name of a file that has its text."""
    tag, data, _ = record["code"]
    file, text = record["source"]
    if tag != sys.implementation.cache_tag:
        here = sys.implementation.cache_tag
        raise pickle.UnpicklingError(f"{record['name'][1]} was pickled by {tag}, this is {here}")
    code: types.CodeType = marshal.loads(data)
    title = f"<weft pickle of {record['name'][1]} from {os.path.basename(file)}>"
    linecache.cache[title] = (len(text), None, [f"{line}\n" for line in text.split("\n")], title)
    return _renamed(code, title)


def _renamed(code: types.CodeType, file: str) -> types.CodeType:
    inner = tuple(_renamed(c, file) if isinstance(c, types.CodeType) else c for c in code.co_consts)
    return code.replace(co_filename=file, co_consts=inner)
