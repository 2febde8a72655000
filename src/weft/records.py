"""Data classes that are cheap to define.  In: a class with annotated fields; out: what `dataclasses.dataclass` makes of
it, by one piece of generated code instead of one for each method.

The compiler has some hundreds of such classes, and the standard decorator compiles five to seven functions for each,
which took most of the time of loading the compiler.  Fields, `replace`, `fields`, defaults and `__post_init__` are those
of the standard library; for anything unusual (slots, order, keyword-only fields, pseudo-fields) it does the work itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """The decorator, with the options of the standard one."""

        def wrap(cls: type) -> type:
            return _record(cls, options.get("frozen", False)) if set(options) <= {"frozen"} else _plain(cls)

        def _plain(cls: type) -> type:
            return dataclasses.dataclass(**options)(cls)

        return wrap if cls is None else wrap(cls)

    def _record(cls: type, frozen: bool) -> type:
        own = {name for name in ("__init__", "__repr__", "__eq__", "__hash__") if name in cls.__dict__}
        hashed = cls.__dict__.get("__hash__")
        cls = dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
        fields = [field for field in cls.__dataclass_fields__.values()]
        if any(field.kw_only is True or field._field_type is not dataclasses._FIELD for field in fields):
            raise TypeError(f"{cls.__name__} has fields that need dataclasses.dataclass itself")
        scope: dict[str, Any] = {"_missing": dataclasses.MISSING}
        exec(_text(cls, fields, scope), scope)
        for name in ("__init__", "__repr__", "__eq__"):
            if name not in own:
                method = scope[name]
                method.__qualname__ = f"{cls.__qualname__}.{name}"
                setattr(cls, name, method)
        if frozen:
            cls.__dataclass_params__.frozen = True  # what a subclass asks
            cls.__setattr__, cls.__delattr__ = _refused, _refused
        if "__hash__" not in own or (hashed is None and "__eq__" in own):
            cls.__hash__ = scope["__hash__"] if frozen else None
        return cls

    def _text(cls: type, fields: list[Any], scope: dict[str, Any]) -> str:
        """The four methods.  Fields are set in the object's dictionary: a frozen class has no other way."""
        head, body = [], []
        for field in fields:
            value = field.name
            if field.default is not dataclasses.MISSING:
                scope[f"_default_{field.name}"] = field.default
                value = f"_default_{field.name}"
            elif field.default_factory is not dataclasses.MISSING:
                scope[f"_make_{field.name}"] = field.default_factory
                value = "_missing" if field.init else f"_make_{field.name}()"
            if field.init:
                head.append(field.name if value == field.name else f"{field.name}={value}")
                made = f"_make_{field.name}() if {field.name} is _missing else {field.name}"
                value = made if value == "_missing" else field.name
            elif value == field.name:
                continue  # set by __post_init__
            body.append(f"_fields[{field.name!r}] = {value}")
        if hasattr(cls, "__post_init__"):
            body.append("self.__post_init__()")
        compared = [field.name for field in fields if field.compare]
        mine, others = (f"({''.join(f'{who}.{name}, ' for name in compared)})" for who in ("self", "other"))
        hashed = "".join(f"self.{f.name}, " for f in fields if (f.compare if f.hash is None else f.hash))
        shown = ", ".join(f"{field.name}={{self.{field.name}!r}}" for field in fields if field.repr)
        lines = [
            f"def __init__(self, {', '.join(head)}):",
            "    _fields = self.__dict__",
            *(f"    {line}" for line in body),
            "def __eq__(self, other):",
            "    if other.__class__ is not self.__class__:",
            "        return NotImplemented",
            f"    return {mine} == {others}",
            "def __hash__(self):",
            f"    return hash(({hashed}))",
            "def __repr__(self):",
            f"    return f\"{{self.__class__.__qualname__}}({shown})\"",
        ]
        return "\n".join(lines)

    def _refused(self: object, name: str, value: object = None) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
