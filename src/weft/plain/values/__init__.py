"""Kinds of values and their methods.  A kind of value is one file; a method is one function in it.

    @method("list", "append")
    def append(cx, owner, arguments, keywords): ...

A method gets a frame, the owner (of this one kind), the arguments and the keywords; it gives the result. See frame.py
for how one function serves inference and code generation.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Final

from weft.plain.frame import Frame, Value
from weft.plain.types import NUMPY_SCALARS

Method = Callable[[Frame, Value, list[Any], dict[str, Value]], "Value | None"]

#: What counts as an index: an int, or a whole number of NumPy.
WHOLE_SCALARS: Final = frozenset(("int", *(kind for kind in NUMPY_SCALARS if "int" in kind)))

#: Kinds without `__index__`: Python raises TypeError for them.
_NEVER_WHOLE: Final = frozenset(("none", "str", "bytes", "float", "complex", "tuple", "vtuple", "list", "set", "dict"))

_METHODS: dict[tuple[str, str], Method] = {}
_HOMES = {
    "list": "lists",
    "vtuple": "sequences",
    "tuple": "sequences",
    "str": "texts",
    "bytes": "texts",
    "set": "sets",
    "frozenset": "sets",
    "dict": "dicts",
    "defaultdict": "dicts",
    "Counter": "dicts",
    "OrderedDict": "dicts",
    "deque": "deques",
    "int": "numbers",
    "big": "numbers",
    "bytearray": "bytearrays",
    "complex": "complexes",
    "float": "numbers",
    "bool": "numbers",
    "generator": "generators",
    "view": "dicts",
    "range": "sequences",
    "ndarray": "arrays",
}


def register(kinds: str, name: str) -> Callable[[Method], Method]:
    """Makes a function the method of these kinds (separated by blanks)."""

    def put(function: Method) -> Method:
        for kind in kinds.split():
            _METHODS[kind, name] = function
        return function

    return put


def method(kind: str, name: str) -> Method | None:
    """The method of a kind of value; None if it has none that is native."""
    home = _HOMES.get(kind)
    if home is not None:
        importlib.import_module(f"weft.plain.values.{home}")
    found = _METHODS.get((kind, name))
    if found is None:
        from weft.plain.library import callbacks

        return callbacks.builtin_method(kind, name)  # type: ignore[no-any-return]
    return found


def exactly(
    cx: Frame, what: str, arguments: list[Any], keywords: dict[str, Value], least: int, most: int | None = None
) -> None:
    """Refuse calls with other numbers of arguments."""
    most = least if most is None else most
    if keywords or not least <= len(arguments) <= most or any(not isinstance(a, Value) for a in arguments):
        raise cx.refuse(f"a call of `{what}` with these arguments")


def given(
    cx: Frame, what: str, arguments: list[Any], keywords: dict[str, Value], names: str, least: int = 0
) -> list[Value | None]:
    """Arguments by position or keyword in the order of `names`; None where one is missing, which the first ones, as
    many as `least`, must not be."""
    wanted = names.split()
    if len(arguments) > len(wanted) or set(keywords) - set(wanted) or any(not isinstance(a, Value) for a in arguments):
        raise cx.refuse(f"a call of `{what}` with these arguments")
    found: list[Value | None] = [*arguments, *([None] * (len(wanted) - len(arguments)))]
    for name, held in keywords.items():
        found[wanted.index(name)] = held
    if any(held is None for held in found[:least]):
        raise cx.refuse(f"a call of `{what}` with these arguments")
    return found


def left_out(cx: Frame, value: Value | None, what: str) -> bool:
    """Whether an argument is not given, or None, which means the same; refused where only the run time knows."""
    kinds = set() if value is None else value.kinds()
    if value is None or kinds == {"none"}:
        return True
    if "none" in kinds:
        raise cx.refuse(f"{what} of type {value.node!r}, which may be None", "test it for None before the call")
    return False


def as_int(cx: Frame, value: Value, what: str) -> Value:
    """A whole number as an int. What certainly is none raises TypeError; other kinds are refused."""
    if value.kinds() <= {"int", "bool"} and len(value.node) == 1:
        return Value(cx.literal("int", "0").node, value.code)
    if value.kinds() <= WHOLE_SCALARS and len(value.node):
        return cx.scalar("int", f"({value.code}).u.i")

    def one(x: Value) -> Value | None:
        if x.head().kind in WHOLE_SCALARS and x.head().kind != "int":
            return cx.scalar("int", f"({x.code}).u.i")
        return cx.scalar("int", x.code) if x.head().kind in ("int", "bool") else None

    if not value.kinds() & {"bool", "big", *WHOLE_SCALARS} and not value.kinds() <= _NEVER_WHOLE:
        raise cx.refuse(f"{what} of type {value.node!r}", "use an int")
    found = cx.cases([value], one, ("int", what))
    return cx.literal("int", "0") if value.kinds() <= _NEVER_WHOLE else cx.settled(found, "int")
