"""`numba.experimental.structref`: structures as plain objects with the fields that `define_proxy` names."""

from __future__ import annotations

from typing import Any


def register(kind: Any) -> Any:
    """The type itself."""
    return kind


class StructRefProxy:
    """An object whose fields are its arguments, in the order that `define_proxy` was given."""

    _fields: tuple[str, ...] = ()

    def __new__(cls, *values: Any) -> Any:
        made = super().__new__(cls)
        if len(values) != len(cls._fields):
            raise TypeError(f"{cls.__name__} has {len(cls._fields)} fields, {len(values)} values were given")
        made.__dict__.update(zip(cls._fields, values))
        return made


def define_proxy(proxy: Any, struct_type: Any, fields: Any) -> None:
    """Say which fields a structure has; a property that only hands out its field gives way to it."""
    proxy._fields = tuple(fields)
    for name in proxy._fields:
        if isinstance(vars(proxy).get(name), property):
            delattr(proxy, name)


def define_constructor(proxy: Any, struct_type: Any, fields: Any) -> None:
    """As `define_proxy`."""
    define_proxy(proxy, struct_type, fields)


def define_attributes(struct_type: Any) -> None:
    """Nothing: the fields are attributes."""


define_boxing = define_proxy
