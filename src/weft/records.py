"""Data classes that are cheap to define.  In: a class with annotated fields; out: what `dataclasses.dataclass` makes of
it, its fields found when somebody asks, and its methods generated together when the first object is made.

The compiler has some hundreds of such classes; the standard decorator compiles up to seven functions for each, which
took most of the time of loading the compiler.  Fields, `replace`, `fields`, defaults and `__post_init__` are those of
the standard library, which also does all the work for classes with unusual options (slots, order) or fields (InitVar).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass

    _Kind = TypeVar("_Kind", bound=type)

    def hash_once(cls: _Kind) -> _Kind: ...

else:
    import dataclasses
    import types

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """The decorator, with the options of the standard one."""

        def wrap(cls: type) -> type:
            if "__init__" in cls.__dict__ or not set(options) <= {"frozen", "eq"} or _has_unusual_fields(cls):
                return dataclasses.dataclass(**options)(cls)
            return _record(cls, options.get("frozen", False), options.get("eq", True))

        return wrap if cls is None else wrap(cls)

    def hash_once(cls: type) -> type:
        """The hash of an object of an immutable class stays with it."""
        cls._weft_hash_once = True
        return cls

    _USUAL = {"init": True, "repr": True, "eq": True, "order": False, "unsafe_hash": False}
    #: What the standard library asks of a class above: whether it is frozen.
    _PARAMETERS = {frozen: types.SimpleNamespace(**_USUAL, frozen=frozen) for frozen in (False, True)}
    _UNUSUAL = ("InitVar", "dataclasses.", "typing.", "KW_ONLY", "_:")

    def _has_unusual_fields(cls: type) -> bool:
        return any(type(kind) is not str or kind.startswith(_UNUSUAL) for kind in cls.__annotations__.values())

    class _Fields:
        """The fields of a class, found when somebody asks: before its first object nobody does."""

        def __init__(self, given: dict[str, Any]) -> None:
            self.given = given

        def __get__(self, found: object, cls: type) -> dict[str, Any]:
            owner = next(above for above in cls.__mro__ if above.__dict__.get("__dataclass_fields__") is self)
            fields: dict[str, Any] = {}
            for base in owner.__mro__[-1:0:-1]:
                fields.update(getattr(base, "__dataclass_fields__", ()))
            for name, kind in owner.__annotations__.items():
                if not kind.startswith("ClassVar"):
                    fields[name] = _field(owner, name, kind, self.given)
            owner.__dataclass_fields__ = fields
            return fields

    def _field(cls: type, name: str, kind: str, given: dict[str, Any]) -> Any:
        made = given.get(name)
        if made is None:
            made = dataclasses.field(default=cls.__dict__.get(name, dataclasses.MISSING))
        made.name, made.type, made._field_type = name, kind, dataclasses._FIELD
        if made.kw_only is dataclasses.MISSING:
            made.kw_only = False
        if made.default is not dataclasses.MISSING and type(made.default).__hash__ is None:
            raise ValueError(f"the default of {name} can be changed: use default_factory")
        return made

    class _Positions:
        """What patterns match by position."""

        def __get__(self, found: object, cls: type) -> tuple[str, ...]:
            return tuple(field.name for field in dataclasses.fields(cls) if field.init and not field.kw_only)

    def _record(cls: type, frozen: bool, compared: bool) -> type:
        for base in cls.__mro__[1:]:
            above = base.__dict__.get("__dataclass_params__")
            if above is not None and above.frozen != frozen:
                kinds = ("non-frozen", "frozen") if above.frozen else ("frozen", "non-frozen")
                raise TypeError("cannot inherit {} dataclass from a {} one".format(*kinds))
        given = {name: value for name, value in cls.__dict__.items() if isinstance(value, dataclasses.Field)}
        for name, field in given.items():
            if field.default is dataclasses.MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, field.default)

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            _complete(cls, frozen, compared)
            cls.__init__(self, *args, **kwargs)

        cls.__dataclass_fields__, cls.__dataclass_params__ = _Fields(given), _PARAMETERS[frozen]
        cls.__match_args__ = _Positions()
        cls.__init__ = __init__
        if frozen:
            cls.__setattr__, cls.__delattr__ = _refused, _refused
        return cls

    def _complete(cls: type, frozen: bool, compared: bool) -> None:
        """Write the methods, `__init__` last: until then every first object comes here, from whichever thread."""
        scope: dict[str, Any] = {"_missing": dataclasses.MISSING}
        exec(_text(cls, dataclasses.fields(cls), scope), scope)
        own = {name for name in ("__repr__", "__eq__", "__hash__") if cls.__dict__.get(name) is not None}
        own |= set() if compared else {"__eq__", "__hash__"}
        for name in ("__repr__", "__eq__", "__hash__", "__init__"):
            method = scope[name]
            method.__qualname__, method.__module__ = f"{cls.__qualname__}.{name}", cls.__module__
            if name not in own:
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
            (_KEPT_HASH if "_weft_hash_once" in cls.__dict__ else "    return hash(({}))").format(hashed),
            "def __repr__(self):",
            f'    return f"{{self.__class__.__qualname__}}({shown})"',
        ]
        return "\n".join(lines)

    _KEPT_HASH = (
        "    _fields = self.__dict__\n"
        "    _known = _fields.get('_hash')\n"
        "    if _known is None:\n"
        "        _known = _fields['_hash'] = hash(({}))\n"
        "    return _known"
    )

    def _refused(self: object, name: str, value: object = None) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
