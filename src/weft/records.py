"""Data classes that are cheap to define.  In: a class with annotated fields; out: what `dataclasses.dataclass` makes of
it, its methods generated together and only when the first object is made.

The compiler has some hundreds of such classes; the standard decorator compiles up to seven functions for each, which
took most of the time of loading the compiler.  Fields, `replace`, `fields`, defaults and `__post_init__` are those of
the standard library, which also does all the work for classes with unusual options (slots, order).
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
            unusual = not set(options) <= {"frozen"} or any(name in cls.__dict__ for name in _METHODS)
            return dataclasses.dataclass(**options)(cls) if unusual else _record(cls, options.get("frozen", False))

        return wrap if cls is None else wrap(cls)

    _METHODS = ("__init__", "__repr__", "__eq__", "__hash__")

    def _record(cls: type, frozen: bool) -> type:
        # The library compares what is frozen with the classes above; here that is settled below, without its methods.
        above = [base.__dict__.get("__dataclass_params__") for base in cls.__mro__]
        above = [parameters for parameters in above if parameters is not None and parameters.frozen]
        if above and not frozen:
            raise TypeError("cannot inherit non-frozen dataclass from a frozen one")
        for parameters in above:
            parameters.frozen = False
        try:
            dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
        finally:
            for parameters in above:
                parameters.frozen = True

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            _complete(cls, frozen)
            cls.__init__(self, *args, **kwargs)

        cls.__init__ = __init__
        if frozen:
            cls.__dataclass_params__.frozen = True  # what a subclass asks
            cls.__setattr__, cls.__delattr__ = _refused, _refused
        return cls

    def _complete(cls: type, frozen: bool) -> None:
        """Write the methods, `__init__` last: until then every first object comes here, from whichever thread."""
        scope: dict[str, Any] = {"_missing": dataclasses.MISSING}
        exec(_text(cls, dataclasses.fields(cls), scope), scope)
        for name in ("__repr__", "__eq__", "__hash__", "__init__"):
            method = scope[name]
            method.__qualname__, method.__module__ = f"{cls.__qualname__}.{name}", cls.__module__
            setattr(cls, name, method if frozen or name != "__hash__" else None)

    def _text(cls: type, fields: tuple[Any, ...], scope: dict[str, Any]) -> str:
        """The four methods.  Fields are set in the object's dictionary: a frozen class has no other way."""
        head, body = [], []
        for field in sorted(fields, key=lambda field: field.kw_only):
            name = field.name
            head += ["*"] if field.kw_only and "*" not in head else []
            value = None
            if field.default is not dataclasses.MISSING:
                scope[f"_default_{name}"] = field.default
                value = f"_default_{name}"
            elif field.default_factory is not dataclasses.MISSING:
                scope[f"_make_{name}"] = field.default_factory
                value = f"_make_{name}()"
            if not field.init:
                body += [] if value is None else [f"_fields[{name!r}] = {value}"]  # else __post_init__ sets it
            elif value is None or value.startswith("_default_"):
                head.append(name if value is None else f"{name}={value}")
                body.append(f"_fields[{name!r}] = {name}")
            else:
                head.append(f"{name}=_missing")
                body.append(f"_fields[{name!r}] = {value} if {name} is _missing else {name}")
        body += ["self.__post_init__()"] if hasattr(cls, "__post_init__") else []
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
            f'    return f"{{self.__class__.__qualname__}}({shown})"',
        ]
        return "\n".join(lines)

    def _refused(self: object, name: str, value: object = None) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
