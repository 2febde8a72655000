"""Versions that outlive a process.  In: a native `Version`; out: plain JSON data without its code, and back.

What belongs to one process is left out and supplied again at loading: the address of the kernel, the dictionary that
globals are read from, the closure's cells.  Modules, classes and functions are written by name and looked up again.
What cannot be found again by name has no portable form, and `portable` says so by None.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from weft.errors import exception_type
from weft.runtime import containers, facts
from weft.runtime import descriptor as D

_PARAMS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (D.ArrayParam, D.ListParam, D.ContainerParam, D.ScalarParam, D.SameAsParam, D.ConstParam, D.MemoryParam)
}
_RESULTS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        D.NoneResult, D.ConstResult, D.ScalarResult, D.ArrayResult, D.ArgResult, D.ViewResult, D.ListResult,
        D.TupleResult, D.ListOfResult,
    )
}  # fmt: skip


class _NotPortable(Exception):
    """A part of a version is bound to its process."""


def portable(version: D.Version, cells: Mapping[str, object] = {}, owner: object = None) -> dict[str, Any] | None:
    """The version as JSON data, None if it has no such form; `cells` are the closure's, by name, of the function
    `owner`."""
    location = version.location
    try:
        return {
            "params": [_param(param) for param in version.params],
            "facts": facts.portable(version.facts, owner),
            "hidden": [_hidden(hidden, cells) for hidden in version.hidden],
            "returns": [_result(result) for result in version.returns],
            "exceptions": [_exception(spec) for spec in version.exceptions],
            "words": version.words,
            "location": None if location is None else [location.file, location.function, *location.others],
            "plain": {name: getattr(version, name) for name in _plain_fields()},
        }
    except (_NotPortable, facts.NotPortable):
        return None


def restored(
    data: Mapping[str, Any],
    function: int | Callable[..., object],
    namespace: dict[str, object],
    keepalive: object = None,
    cells: Mapping[str, Any] = {},
    owner: object = None,
) -> D.Version:
    """The version of `portable`'s data with its code; globals are read from `namespace` (or their own module's).

    Raises LookupError if something it names is not there any more.
    """
    location = data["location"]
    return D.Version(
        params=tuple(_read_param(item) for item in data["params"]),
        facts=facts.restored(data["facts"], owner),
        hidden=tuple(_read_hidden(item, namespace, cells) for item in data["hidden"]),
        returns=tuple(_read_result(item) for item in data["returns"]),
        exceptions=tuple(_read_exception(item) for item in data["exceptions"]),
        words=data["words"],
        location=None if location is None else D.SourceLocation(location[0], location[1], tuple(location[2:])),
        function=function,
        keepalive=keepalive,
        **data["plain"],
    )


def _plain_fields() -> list[str]:
    """Fields of a version that are numbers, whatever the run time adds to them."""
    handled = {"params", "hidden", "facts", "returns", "exceptions", "words", "location", "function", "keepalive"}
    return [field.name for field in fields(D.Version) if field.name not in handled]


# --- constants ------------------------------------------------------------------------------------------------------


def _constant(value: object) -> Any:
    """A constant with its exact type: JSON alone would take 1 for True and a tuple for a list."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return [kind.__name__, value]
    if kind is float:
        assert isinstance(value, float)
        return ["float", value.hex()]
    if kind is complex:
        assert isinstance(value, complex)
        return ["complex", value.real.hex(), value.imag.hex()]
    if kind is tuple:
        assert isinstance(value, tuple)
        return ["tuple", [_constant(item) for item in value]]
    if isinstance(value, types.ModuleType):
        return ["module", value.__name__]
    return ["named", *_named(value)]


def _named(value: object) -> tuple[str, str]:
    """Module and name under which an object can be found again."""
    module = getattr(value, "__module__", None) or ("numpy" if isinstance(value, np.ufunc) else "builtins")
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        raise _NotPortable
    try:
        if _find(module, name) is value:
            return module, name
    except LookupError:
        pass  # it says so by not being portable
    raise _NotPortable


def _find(module: str, name: str) -> object:
    found: object = sys.modules.get(module)
    if found is None and module == containers.__name__:
        found = containers
    if found is None:
        raise LookupError(module)
    for part in name.split("."):
        if not hasattr(found, part):
            raise LookupError(f"{module}.{name}")
        found = getattr(found, part)
    return found


def _read_constant(data: Any) -> object:
    kind, *rest = data
    if kind == "float":
        return float.fromhex(rest[0])
    if kind == "complex":
        return complex(float.fromhex(rest[0]), float.fromhex(rest[1]))
    if kind == "tuple":
        return tuple(_read_constant(item) for item in rest[0])
    if kind == "module":
        if rest[0] not in sys.modules:
            raise LookupError(rest[0])
        return sys.modules[rest[0]]
    if kind == "named":
        return _find(rest[0], rest[1])
    return rest[0]


# --- parameters -----------------------------------------------------------------------------------------------------


def _param(param: D.DirectParam) -> dict[str, Any]:
    kind = type(param).__name__
    if isinstance(param, D.ObjectParam):
        return {"kind": kind, "type": None if param.type is None else list(_named(param.type))}
    if isinstance(param, D.ConstParam):
        return {"kind": kind, "value": _constant(param.value)}
    return {"kind": kind, "fields": dict(vars(param))}


def _read_param(data: Mapping[str, Any]) -> D.DirectParam:
    if data["kind"] == "ObjectParam":
        found = None if data["type"] is None else _find(*data["type"])
        assert found is None or isinstance(found, type)
        return D.ObjectParam(found)
    if data["kind"] == "ConstParam":
        return D.ConstParam(_read_constant(data["value"]))
    made: D.DirectParam = _PARAMS[data["kind"]](**data["fields"])
    return made


def _hidden(hidden: D.HiddenParam, cells: Mapping[str, object]) -> dict[str, Any]:
    inner = _param(hidden.param)
    if isinstance(hidden, D.AttrParam):
        return {"kind": "attribute", "index": hidden.index, "name": hidden.name, "param": inner}
    if isinstance(hidden, D.GlobalParam):
        home = hidden.namespace.get("__name__")
        return {"kind": "global", "name": hidden.name, "home": home, "param": inner}
    for name, cell in cells.items():
        if cell is hidden.cell:
            return {"kind": "cell", "name": name, "param": inner}
    raise _NotPortable


def _read_hidden(data: Mapping[str, Any], namespace: dict[str, object], cells: Mapping[str, Any]) -> D.HiddenParam:
    param = _read_param(data["param"])
    if data["kind"] == "attribute":
        return D.AttrParam(data["index"], data["name"], param)
    if data["kind"] == "cell":
        return D.CellParam(cells[data["name"]], param)
    if data["home"] in (None, namespace.get("__name__")):
        return D.GlobalParam(namespace, data["name"], param)
    if data["home"] not in sys.modules:
        raise LookupError(data["home"])
    return D.GlobalParam(vars(sys.modules[data["home"]]), data["name"], param)


# --- results and exceptions -----------------------------------------------------------------------------------------


def _result(result: D.Result) -> dict[str, Any]:
    kind = type(result).__name__
    if isinstance(result, D.ConstResult):
        return {"kind": kind, "value": _constant(result.value)}
    if isinstance(result, D.ListResult):
        return {"kind": kind, "array": result.array.offset, "strong": result.strong}
    if isinstance(result, (D.TupleResult, D.ListOfResult)):
        items = [_result(item) for item in result.items]
        named = result.kind if isinstance(result, D.TupleResult) else None
        return {"kind": kind, "items": items} | ({} if named is None else {"named": list(_named(named))})
    return {"kind": kind, "fields": dict(vars(result))}


def _read_result(data: Mapping[str, Any]) -> D.Result:
    kind = data["kind"]
    if kind == "ConstResult":
        return D.ConstResult(_read_constant(data["value"]))
    if kind == "ListResult":
        return D.ListResult(D.ArrayResult(data["array"]), data["strong"])
    if "named" in data:
        found = _find(*data["named"])
        assert callable(found)
        return D.TupleResult(tuple(_read_result(item) for item in data["items"]), found)
    if kind in ("TupleResult", "ListOfResult"):
        made: D.Result = _RESULTS[kind](tuple(_read_result(item) for item in data["items"]))
        return made
    plain: D.Result = _RESULTS[kind](**data["fields"])
    return plain


def _exception(spec: D.ExceptionSpec) -> list[Any]:
    if exception_type(spec.type.__name__) is not spec.type:
        raise _NotPortable
    message = _constant(spec.message) if isinstance(spec.message, tuple) else spec.message
    return [spec.type.__name__, message]


def _read_exception(data: list[Any]) -> D.ExceptionSpec:
    name, message = data
    text = _read_constant(message) if isinstance(message, list) else message
    kind = exception_type(name)
    if kind is None:
        raise LookupError(name)
    return D.ExceptionSpec(kind, text)  # type: ignore[arg-type]
