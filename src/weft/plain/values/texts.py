"""Strings and bytes.  In: method calls, operators and formats; out: calls of the run time, or of Python where that is
rare."""

from __future__ import annotations

import enum
import types
from typing import Any

from weft.frontend import reads
from weft.plain import operators
from weft.plain.frame import Frame, Value, c_string
from weft.plain.types import scalar_node
from weft.plain.values import as_int, exactly, given, left_out, register, sequences

_MOST = "9223372036854775807LL"


def binary(cx: Frame, op: str, a: Value, b: Value) -> Value | None:
    x, y = a.head().kind, b.head().kind
    if op == "Add" and x == y:
        return cx.scalar(x, f"wp_str_concat({a.code}, {b.code})")
    if op == "Mult" and y in ("int", "bool"):
        return cx.scalar(x, f"wp_str_repeat({a.code}, {b.code})")
    if op == "Mod" and x == "str":
        from weft.plain.values import formats

        return formats.by_percent(cx, a, b)
    if op == "Mod":
        raise cx.refuse("`%` of bytes")
    return None


def inside(value: Value) -> list[Any]:
    found = list(value.node)
    for head in list(found):
        for part in head.parts:
            found += list(part)
    return found


def by_python(cx: Frame, name: str, operands: list[Value], kind: str) -> Value:
    """A method without effect that Python itself runs, on copies."""
    spec = cx.writer.spec(scalar_node(kind)) if cx.writer else "0"
    values = ", ".join(cx.tagged(operand) for operand in operands)
    if cx.emitting:
        array = cx.name()
        cx.write(f"wp_val {array}[] = {{{values}}};")
        result = cx.temporary("v", f"wp_call_method({c_string(name)}, {array}, {len(operands)}, {spec}, {cx.line})")
        cx.check()
        whole = Value(scalar_node(kind, "int", "float"), result)
        letter = {"int": "i", "float": "d", "bool": "b"}.get(kind, "p")
        return cx.scalar(kind, cx.as_repr(whole, letter))
    return cx.literal(kind, "0")


def contains(cx: Frame, owner: Value, item: Value) -> Value | None:
    kind = owner.head().kind
    if kind != "str":
        from weft.plain.library import callbacks

        rule = callbacks.builtin_method(kind, "__contains__")
        return cx.cases([item], lambda x: rule(cx, owner, [x], {}), "part")

    def one(x: Value) -> Value | None:
        if x.head().kind != "str":
            return None
        return cx.scalar("bool", f"wp_str_find({owner.code}, {x.code}, 0, {_MOST}) >= 0")

    return cx.cases([item], one, "part")


def as_str(cx: Frame, held: Value) -> Value:
    """str(held)"""
    return cx.cases([held], lambda x: _str(cx, x, "__str__"), "str")


def as_repr(cx: Frame, held: Value) -> Value:
    return cx.cases([held], lambda x: _str(cx, x, "__repr__"), "repr")


def _str(cx: Frame, held: Value, name: str) -> Value:
    from weft.plain import attributes, calls, classes, generated

    head = held.head()
    kind = head.kind
    if kind == "str" and name == "__str__":
        return held
    if kind == "int":
        return cx.scalar("str", f"wp_str_of_i({held.code})")
    if kind == "float":
        return cx.scalar("str", f"wp_str_of_d({held.code})")
    if kind == "obj":
        if head.key[1].is_exception:
            return classes.text_of(cx, held, name)
        for method in (name, "__repr__"):
            made = generated.text(cx, held) if method == "__repr__" else None
            if made is not None:
                return made
            function = attributes.method_of(cx, head, method)
            if function is not None:
                return calls.call_special(cx, function, [held], "str")
        raise cx.refuse(f"the text of an object of class `{head.key[1].cls.__name__}`, which holds its address")
    if kind == "const" and isinstance(head.value, enum.Enum):
        return _member_text(cx, held, name)
    if kind == "const" and type(head.value) is type:
        from weft.plain.expressions import python_value

        return python_value(cx, repr(head.value))
    if kind in ("generator", "closure", "method", "const", "view"):
        raise cx.refuse(f"the text of a value of type {head!r}")
    if any(h.kind in ("obj", "generator", "closure", "const") for h in inside(held)):
        listed = _container_text(cx, held)
        if listed is not None:
            return listed
        raise cx.refuse(f"the text of a value of type {head!r}, which holds objects")
    function_name = "wp_to_str" if name == "__str__" else "wp_to_repr"
    return cx.scalar("str", f"{function_name}({cx.tagged(held)})")


def _member_text(cx: Frame, held: Value, name: str) -> Value:
    """str() or repr() of a member of an enumeration."""
    from weft.plain import calls
    from weft.plain.expressions import python_value

    member = held.head().value
    function = reads.lookup(type(member), name)
    if getattr(function, "__module__", "") != "enum":
        if isinstance(function, types.FunctionType):
            return calls.call_special(cx, function, [held], "str")
        raise cx.refuse(f"the text of a member of `{type(member).__name__}`")
    if name == "__repr__" and not isinstance(member.value, (int, float, str, bytes, tuple, type(None))):
        raise cx.refuse(f"the text of a member of `{type(member).__name__}`, which holds {member.value!r}")
    return python_value(cx, str(member) if name == "__str__" else repr(member))


def _container_text(cx: Frame, held: Value) -> Value | None:
    """repr() of a container that holds objects; None if it has no native form."""
    from weft.plain import calls
    from weft.plain.expressions import python_value
    from weft.plain.models import texts as models

    head = held.head()
    if head.kind == "tuple":
        names = [f"{field}=" for field in head.key[2]._fields] if head.key[2] else [""] * len(head.parts)
        whole = python_value(cx, f"{head.key[2].__name__ if head.key[2] else ''}(")
        for place, name in enumerate(names):
            with cx.inside(place):
                label = python_value(cx, ("" if place == 0 else ", ") + name)
                part = as_repr(cx, sequences.tuple_item(cx, held, place))
                whole = cx.scalar("str", f"wp_str_concat(wp_str_concat({whole.code}, {label.code}), {part.code})")
        end = python_value(cx, ",)" if len(names) == 1 and not head.key[2] else ")")
        return cx.scalar("str", f"wp_str_concat({whole.code}, {end.code})")
    model = {"list": models.list_text, "vtuple": models.tuple_text, "dict": models.dict_text, "set": models.set_text}
    return calls.call_function(cx, model[head.kind], [held]) if head.kind in model else None


# --- methods ----------------------------------------


def a_text(cx: Frame, value: Value, what: str) -> Value:
    if "str" not in value.kinds() and len(value.node):
        raise cx.refuse(f"`{what}` with a value of type {value.node!r}", "use a str")
    return cx.cases([value], lambda x: x if x.head().kind == "str" else None, ("text", what))


def _text_or_none(cx: Frame, value: Value | None, what: str) -> str:
    """The C of a text that may be left out, or None."""
    if value is not None and value.kinds() == {"str", "none"}:
        return value.code
    if value is None or left_out(cx, value, f"an argument of `{what}`"):
        return "0"
    return a_text(cx, value, what).code


def _bounds(cx: Frame, arguments: list[Any]) -> str:
    """start and stop of str.find and the like."""
    codes = ["0", _MOST]
    for place, held in enumerate(arguments):
        if left_out(cx, held, "a bound"):
            continue
        codes[place] = as_int(cx, held, "a bound").code
    return ", ".join(codes)


def _register_searches() -> None:
    for name, c_name in (("find", "find"), ("rfind", "rfind"), ("count", "count")):

        def search(
            cx: Frame,
            owner: Value,
            arguments: list[Any],
            keywords: dict[str, Value],
            name: str = name,
            c_name: str = c_name,
        ) -> Value:
            exactly(cx, f"str.{name}", arguments, keywords, 1, 3)
            part = a_text(cx, arguments[0], f"str.{name}")
            return cx.scalar("int", f"wp_str_{c_name}({owner.code}, {part.code}, {_bounds(cx, arguments[1:])})")

        register("str", name)(search)
    for name, c_name in (("index", "find"), ("rindex", "rfind")):

        def locate(
            cx: Frame,
            owner: Value,
            arguments: list[Any],
            keywords: dict[str, Value],
            name: str = name,
            c_name: str = c_name,
        ) -> Value:
            exactly(cx, f"str.{name}", arguments, keywords, 1, 3)
            part = a_text(cx, arguments[0], f"str.{name}")
            at = cx.temporary("i", f"wp_str_{c_name}({owner.code}, {part.code}, {_bounds(cx, arguments[1:])})")
            with cx.block(f"if (WP_UNLIKELY({at} < 0))"):
                cx.raises("WP_VALUE_ERROR", "substring not found")
            return cx.literal("int", at)

        register("str", name)(locate)
    for name, c_name in (("startswith", "starts"), ("endswith", "ends")):

        def begins(
            cx: Frame,
            owner: Value,
            arguments: list[Any],
            keywords: dict[str, Value],
            name: str = name,
            c_name: str = c_name,
        ) -> Value:
            exactly(cx, f"str.{name}", arguments, keywords, 1, 3)
            bounds = _bounds(cx, arguments[1:])

            def one(part: Value) -> Value | None:
                if part.head().kind == "str":
                    return cx.scalar("bool", f"wp_str_{c_name}({owner.code}, {part.code}, {bounds})")
                if part.head().kind == "tuple":
                    found = cx.declared("b")
                    for place in range(len(part.head().parts)):
                        item = a_text(cx, sequences.tuple_item(cx, part, place), f"str.{name}")
                        cx.write(f"{found} = {found} || wp_str_{c_name}({owner.code}, {item.code}, {bounds});")
                    return cx.literal("bool", found)
                return None

            return cx.cases([arguments[0]], one, name)

        register("str", name)(begins)


def _register_changes() -> None:
    for place, name in enumerate(_TESTS):

        def test(
            cx: Frame,
            owner: Value,
            arguments: list[Any],
            keywords: dict[str, Value],
            name: str = name,
            place: int = place,
        ) -> Value:
            exactly(cx, f"str.{name}", arguments, keywords, 0)
            return cx.scalar("bool", f"wp_str_test({owner.code}, {place})")

        register("str", name)(test)
    for sides, name in ((3, "strip"), (1, "lstrip"), (2, "rstrip")):

        def strip(
            cx: Frame,
            owner: Value,
            arguments: list[Any],
            keywords: dict[str, Value],
            name: str = name,
            sides: int = sides,
        ) -> Value:
            exactly(cx, f"str.{name}", arguments, keywords, 0, 1)
            chars = _text_or_none(cx, arguments[0] if arguments else None, f"str.{name}")
            return cx.scalar("str", f"wp_str_strip({owner.code}, {chars}, {sides})")

        register("str", name)(strip)
    for name in ("upper", "lower"):

        def change(
            cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value], name: str = name
        ) -> Value:
            exactly(cx, f"str.{name}", arguments, keywords, 0)
            return cx.scalar("str", f"wp_str_{name}({owner.code})")

        register("str", name)(change)
    for name in ("split", "rsplit"):

        def split(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value], name: str = name) -> Value:
            separator, most = given(cx, f"str.{name}", arguments, keywords, "sep maxsplit")
            separator_code = _text_or_none(cx, separator, f"str.{name}")
            most_code = "-1" if most is None else as_int(cx, most, "maxsplit").code
            return _list_of_texts(
                cx, f"wp_str_{name}({{type}}, {owner.code}, {separator_code}, {most_code}, {cx.line})"
            )

        register("str", name)(split)
    for name in _BY_PYTHON:

        def other(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value], name: str = name) -> Value:
            if name == "format":
                from weft.plain.values import formats

                return formats.by_fields(cx, owner, arguments, keywords)
            exactly(cx, f"str.{name}", arguments, keywords, 0, 4)
            for argument in arguments:
                if argument.kinds() - {"int", "str", "bool", "float", "none"}:
                    raise cx.refuse(f"`str.{name}` with a value of type {argument.node!r}")
            return by_python(cx, name, [owner, *arguments], "str")

        register("str", name)(other)


_TESTS = (
    "isalpha",
    "isdigit",
    "isalnum",
    "isspace",
    "isupper",
    "islower",
    "isdecimal",
    "isnumeric",
    "istitle",
    "isidentifier",
    "isprintable",
    "isascii",
)
_BY_PYTHON = (
    "center",
    "ljust",
    "rjust",
    "zfill",
    "title",
    "capitalize",
    "swapcase",
    "casefold",
    "expandtabs",
    "removeprefix",
    "removesuffix",
    "format",
)


def _list_of_texts(cx: Frame, code: str) -> Value:
    head = cx.new_head("texts", ("list",), 1)
    cx.flow(cx.literal("str", "0"), head.part())
    # The run time fills the list with strings: its items must be represented as such.
    if (
        cx.emitting
        and head.part().kinds() - {"str", "none"}
        and any(k in ("int", "float", "bool") for k in head.part().kinds())
    ):
        raise cx.refuse("a list of strings that gets numbers, too")
    return cx.heap(head, code.replace("{type}", cx.type_of(head)), check=True)


_register_searches()
_register_changes()


@register("str", "splitlines")
def splitlines(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    (keep,) = given(cx, "str.splitlines", arguments, keywords, "keepends")
    if keep is not None and not keep.kinds() <= {"int", "bool"}:
        raise cx.refuse(f"`str.splitlines` with a value of type {keep.node!r}", "use a bool")
    kept = "0" if keep is None else operators.truth(cx, keep)
    return _list_of_texts(cx, f"wp_str_splitlines({{type}}, {owner.code}, {kept})")


@register("str", "join")
def join(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import iteration

    exactly(cx, "str.join", arguments, keywords, 1)
    only = arguments[0].node.only()
    if only is not None and only.kind in ("list", "vtuple"):
        parts = arguments[0]
    else:
        parts = sequences.as_list(cx, arguments[0], "parts")
    items = parts.head().part()
    if items.kinds() - {"str"}:
        only_texts = sequences.new_list(cx, "texts")
        held = Value(only_texts.node, cx.held("void *", only_texts.code))
        with iteration.loop(cx, iteration.Items(parts)) as item:
            sequences.append(cx, held, a_text(cx, item, "str.join"))
        parts = held
    return cx.scalar("str", f"wp_str_join({owner.code}, {parts.code})")


@register("str", "replace")
def replace(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "str.replace", arguments, keywords, 2, 3)
    old, new = a_text(cx, arguments[0], "str.replace"), a_text(cx, arguments[1], "str.replace")
    most = as_int(cx, arguments[2], "count").code if len(arguments) > 2 else "-1"
    return cx.scalar("str", f"wp_str_replace({owner.code}, {old.code}, {new.code}, {most})")


@register("str", "partition")
def partition(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import calls
    from weft.plain.models import texts as models

    exactly(cx, "str.partition", arguments, keywords, 1)
    return calls.call_function(cx, models.partition, [owner, a_text(cx, arguments[0], "str.partition")])


@register("str", "rpartition")
def rpartition(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import calls
    from weft.plain.models import texts as models

    exactly(cx, "str.rpartition", arguments, keywords, 1)
    return calls.call_function(cx, models.rpartition, [owner, a_text(cx, arguments[0], "str.rpartition")])
