"""Arguments and parameters.  In: what a function, data class or named tuple takes, and the arguments of a call; out: a
value for each parameter.

How many arguments a list behind `*` holds, and which names a dict behind `**` has, is not known while compiling: an
argument is the item if it is there and the default otherwise. Where Python would raise TypeError, it makes the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from weft.plain.frame import Frame, Value
from weft.plain.types import representation
from weft.records import dataclass

#: Among keyword arguments: the dict behind `**`.
NAMES: Final = "**"

Keywords = dict[str, Value]


class Star:
    """An argument `*values`."""

    def __init__(self, value: Value) -> None:
        self.value = value


@dataclass(frozen=True)
class Parameters:
    """What a callable takes; `has` and `default` are asked by the name of a parameter."""

    owner: str
    positional: tuple[str, ...]
    has: Callable[[str], bool]
    default: Callable[[str], Value | None]
    keyword_only: tuple[str, ...] = ()
    only_by_place: frozenset[str] = frozenset()
    vararg: str | None = None
    kwarg: str | None = None


def without_names(cx: Frame, keywords: Keywords) -> Keywords:
    """The keyword arguments of what takes no `**held`: it must be empty, else Python makes the call."""
    if NAMES not in keywords:
        return keywords
    with cx.block(f"if (wp_dict_length({keywords[NAMES].code}) != 0)"):
        cx.deoptimise("a call with `**` arguments")
    return {name: held for name, held in keywords.items() if name != NAMES}


def bound(cx: Frame, parameters: Parameters, arguments: list[Any], keywords: Keywords) -> dict[str, Value]:
    """The values of all parameters: given ones, and defaults."""
    from weft.plain.operators import make_tuple
    from weft.plain.values import dicts, sequences

    owner, positional = parameters.owner, parameters.positional
    found: dict[str, Value] = {}
    extra: list[Any] = []
    for place, held in enumerate(arguments):
        if place < len(positional) and not extra and isinstance(held, Value):
            found[positional[place]] = held
        else:
            extra.append(held)
    missing = [name for name in positional if name not in found and name not in keywords]
    if any(isinstance(held, Star) for held in extra) and (missing or parameters.vararg is None):
        whole = extra[0].value if len(extra) == 1 else sequences.tuple_from(cx, extra)
        spread, extra = _spread(cx, parameters, whole, missing)
        found |= spread
    if extra and parameters.vararg is None:
        raise cx.refuse(f"a call of `{owner}` with too many arguments")
    rest = _by_name(cx, parameters, keywords, found)
    if parameters.vararg is not None:
        if any(isinstance(held, Star) for held in extra):
            found[parameters.vararg] = sequences.tuple_from(cx, extra)
        else:
            found[parameters.vararg] = make_tuple(cx, extra, ("args", owner))
    if parameters.kwarg is not None:
        found[parameters.kwarg] = dicts.from_names(cx, rest)
    if NAMES in keywords:
        if rest and list(keywords)[-1] != NAMES:
            raise cx.refuse("names of arguments after `**`", "write them before")
        _named(cx, parameters, keywords[NAMES], found, list(rest))
    for name in (*positional, *parameters.keyword_only):
        if name not in found:
            value = parameters.default(name)
            if value is None:
                raise cx.refuse(f"a call of `{owner}` without the argument `{name}`")
            found[name] = value
    return found


def _by_name(cx: Frame, parameters: Parameters, keywords: Keywords, found: dict[str, Value]) -> dict[str, Value]:
    """Keyword arguments go to their parameters; those that are for `**` of the function."""
    rest: dict[str, Value] = {}
    names = {*parameters.positional, *parameters.keyword_only} - parameters.only_by_place
    for name, held in keywords.items():
        if name == NAMES:
            continue
        if name in found or name not in names:
            if parameters.kwarg is None or name in found:
                raise cx.refuse(f"a call of `{parameters.owner}` with the argument `{name}`")
            rest[name] = held
        else:
            found[name] = held
    return rest


def _spread(cx: Frame, parameters: Parameters, held: Value, names: list[str]) -> tuple[dict[str, Value], list[Any]]:
    """The items of a list behind `*` for the parameters that are left, and what goes on to `*` of the function."""
    from weft.plain import calls
    from weft.plain.expressions import python_value
    from weft.plain.models.sequences import behind
    from weft.plain.values import sequences

    least = sum(not parameters.has(name) for name in names)
    if any(head.kind not in ("list", "vtuple") for head in held.node) or len(held.node) != 1:
        held = sequences.as_list(cx, held, "spread")
    length = f"((wp_list *){held.code})->length"
    too_many = f" || {length} > {len(names)}" if parameters.vararg is None else ""
    with cx.block(f"if ({length} < {least}{too_many})"):
        cx.deoptimise("a call with `*` and another number of arguments")
    found: dict[str, Value] = {}
    for place, name in enumerate(names):
        with cx.inside(("spread", name)):

            def item(place: int = place) -> Value:
                return sequences.item(cx, held, str(place))

            if parameters.has(name):
                found[name] = _either(cx, f"{length} > {place}", item, parameters, name)
            else:
                found[name] = item()
    if parameters.vararg is None:
        return found, []
    return found, [Star(calls.call_function(cx, behind, [held, python_value(cx, len(names))]))]


def _either(cx: Frame, test: str, given: Callable[[], Value], parameters: Parameters, name: str) -> Value:
    """An argument that is there if a test holds, and the default if not."""
    result = cx.site("either")
    target = cx.declared(representation(result)) if cx.emitting else "0"
    with cx.block(f"if ({test})"):
        held = given()
        cx.flow(held, result)
        cx.write(f"{target} = {cx.as_node(held, result)};")
    with cx.block("else"):
        default = parameters.default(name)
        assert default is not None
        cx.flow(default, result)
        cx.write(f"{target} = {cx.as_node(default, result)};")
    return Value(result, target)


def _named(cx: Frame, parameters: Parameters, names: Value, found: dict[str, Value], rest: list[str]) -> None:
    """The entries of a dict behind `**`: for the parameters that are left, and for `**` of the function."""
    from weft.plain.expressions import python_value
    from weft.plain.values import dicts

    part = names.head().part(1)
    taken = cx.temporary("i", "0")
    slots: dict[str, str] = {}
    for name in (*parameters.positional, *parameters.keyword_only):
        with cx.inside((NAMES, name)):
            if name in parameters.only_by_place:
                continue
            slot = dicts.find(cx, names, python_value(cx, name))
            if name in found:  # Python says that it is given twice
                with cx.block(f"if ({slot})"):
                    cx.deoptimise("an argument that is given twice")
                continue
            slots[name] = slot
            cx.write(f"{taken} += {slot} != 0;")

            def entry(slot: str = slot) -> Value:
                return cx.load(part, slot)

            if parameters.has(name):
                found[name] = _either(cx, slot, entry, parameters, name)
                continue
            with cx.block(f"if (!{slot})"):
                cx.deoptimise("a call without an argument")
            found[name] = entry()
    if parameters.kwarg is None:
        with cx.block(f"if (wp_dict_length({names.code}) != {taken})"):
            cx.deoptimise("a call with `**` and other names")
        return
    for name in rest:
        with cx.inside((NAMES, name)), cx.block(f"if ({dicts.find(cx, names, python_value(cx, name))})"):
            cx.deoptimise("an argument that is given twice")
    gathered = found[parameters.kwarg]
    dicts.update_from(cx, gathered, names)
    for name, slot in slots.items():
        with cx.inside((NAMES, name)), cx.block(f"if ({slot})"):
            dicts.delete(cx, gathered, python_value(cx, name))
