"""Versions that outlive a process.  In: a native `Version`; out: plain JSON data without its code, and back.

What belongs to one process is left out and supplied again at loading: the address of the kernel and the dictionary that
globals are read from.  A version that needs more of its process than that (a closure cell, the class of an object) has
no portable form, and `portable` says so by None.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from weft.runtime import descriptor as D

_PARAMS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (D.ArrayParam, D.ListParam, D.ScalarParam, D.SameAsParam, D.ConstParam)
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


def portable(version: D.Version) -> dict[str, Any] | None:
    """The version as JSON data, None if it has no such form."""
    try:
        return {
            "params": [_param(param) for param in version.params],
            "hidden": [_hidden(hidden) for hidden in version.hidden],
            "returns": [_result(result) for result in version.returns],
            "exceptions": [_exception(spec) for spec in version.exceptions],
            "words": version.words,
            "location": None if version.location is None else [version.location.file, version.location.function],
            "plain": {name: getattr(version, name) for name in _plain_fields()},
        }
    except _NotPortable:
        return None


def restored(
    data: Mapping[str, Any],
    function: int | Callable[..., object],
    namespace: dict[str, object],
    keepalive: object = None,
) -> D.Version:
    """The version of `portable`'s data with its code; globals are read from `namespace`."""
    location = data["location"]
    return D.Version(
        params=tuple(_read_param(item) for item in data["params"]),
        hidden=tuple(_read_hidden(item, namespace) for item in data["hidden"]),
        returns=tuple(_read_result(item) for item in data["returns"]),
        exceptions=tuple(_read_exception(item) for item in data["exceptions"]),
        words=data["words"],
        location=None if location is None else D.SourceLocation(*location),
        function=function,
        keepalive=keepalive,
        **data["plain"],
    )


def _plain_fields() -> list[str]:
    """Fields of a version that are numbers, whatever the run time adds to them."""
    handled = {"params", "hidden", "returns", "exceptions", "words", "location", "function", "keepalive"}
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
    raise _NotPortable


def _read_constant(data: Any) -> object:
    kind, *rest = data
    if kind == "float":
        return float.fromhex(rest[0])
    if kind == "complex":
        return complex(float.fromhex(rest[0]), float.fromhex(rest[1]))
    if kind == "tuple":
        return tuple(_read_constant(item) for item in rest[0])
    return rest[0]


# --- parameters -----------------------------------------------------------------------------------------------------


def _param(param: D.DirectParam) -> dict[str, Any]:
    kind = type(param).__name__
    if isinstance(param, D.ObjectParam):
        if param.type is not None:
            raise _NotPortable
        return {"kind": kind}
    if isinstance(param, D.ConstParam):
        return {"kind": kind, "value": _constant(param.value)}
    return {"kind": kind, "fields": dict(vars(param))}


def _read_param(data: Mapping[str, Any]) -> D.DirectParam:
    if data["kind"] == "ObjectParam":
        return D.ObjectParam()
    if data["kind"] == "ConstParam":
        return D.ConstParam(_read_constant(data["value"]))
    made: D.DirectParam = _PARAMS[data["kind"]](**data["fields"])
    return made


def _hidden(hidden: D.HiddenParam) -> dict[str, Any]:
    if isinstance(hidden, D.AttrParam):
        return {"kind": "attribute", "index": hidden.index, "name": hidden.name, "param": _param(hidden.param)}
    if isinstance(hidden, D.GlobalParam):
        return {"kind": "global", "name": hidden.name, "param": _param(hidden.param)}
    raise _NotPortable


def _read_hidden(data: Mapping[str, Any], namespace: dict[str, object]) -> D.HiddenParam:
    param = _read_param(data["param"])
    if data["kind"] == "attribute":
        return D.AttrParam(data["index"], data["name"], param)
    return D.GlobalParam(namespace, data["name"], param)


# --- results and exceptions -----------------------------------------------------------------------------------------


def _result(result: D.Result) -> dict[str, Any]:
    kind = type(result).__name__
    if isinstance(result, D.ConstResult):
        return {"kind": kind, "value": _constant(result.value)}
    if isinstance(result, D.ListResult):
        return {"kind": kind, "array": result.array.offset}
    if isinstance(result, (D.TupleResult, D.ListOfResult)):
        return {"kind": kind, "items": [_result(item) for item in result.items]}
    return {"kind": kind, "fields": dict(vars(result))}


def _read_result(data: Mapping[str, Any]) -> D.Result:
    kind = data["kind"]
    if kind == "ConstResult":
        return D.ConstResult(_read_constant(data["value"]))
    if kind == "ListResult":
        return D.ListResult(D.ArrayResult(data["array"]))
    if kind in ("TupleResult", "ListOfResult"):
        made: D.Result = _RESULTS[kind](tuple(_read_result(item) for item in data["items"]))
        return made
    plain: D.Result = _RESULTS[kind](**data["fields"])
    return plain


def _exception(spec: D.ExceptionSpec) -> list[Any]:
    if getattr(builtins, spec.type.__name__, None) is not spec.type:
        raise _NotPortable
    message = _constant(spec.message) if isinstance(spec.message, tuple) else spec.message
    return [spec.type.__name__, message]


def _read_exception(data: list[Any]) -> D.ExceptionSpec:
    name, message = data
    text = _read_constant(message) if isinstance(message, list) else message
    return D.ExceptionSpec(getattr(builtins, name), text)  # type: ignore[arg-type]
