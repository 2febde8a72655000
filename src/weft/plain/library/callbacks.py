"""Calls back into Python, by the tables of `foreign.py`.  In: a call, operator or attribute; out: its value, converted
from Python's result."""

from __future__ import annotations

import ast
import functools
import re
from typing import Any

from weft.plain import foreign, iteration
from weft.plain.builtin import called_back
from weft.plain.called import all_matches
from weft.plain.frame import Frame, Value
from weft.plain.types import BYTEARRAY, SCALAR_HEADS, Head, Node
from weft.plain.wide import any_whole, may_be_wide

Keywords = dict[str, Value]

# --- types of results ----------------------------------------


def result_node(cx: Frame, text: str) -> Node:
    """The type that a table names; an integer is one of the machine until one was beyond 64 bits on this line."""
    if text == "whole" and not may_be_wide(cx):
        return cx.literal("int", "0").node
    return _node(cx, ast.parse(text, mode="eval").body, (text,))


def _node(cx: Frame, e: ast.expr, path: tuple[Any, ...]) -> Node:
    node = Node()
    if isinstance(e, ast.BinOp):
        for side, part in enumerate((e.left, e.right)):
            for head in _node(cx, part, (*path, side)):
                node.heads[head.key] = head
        return node
    if isinstance(e, ast.Constant):
        return cx.none.node
    if isinstance(e, ast.Name):
        if e.id == "bytearray":
            return cx.single(BYTEARRAY)
        if e.id == "whole":
            return any_whole()
        head = SCALAR_HEADS.get(e.id) or cx.unit.foreign_head(foreign.class_named(e.id))
        node.heads[head.key] = head
        return node
    assert isinstance(e, ast.Subscript) and isinstance(e.value, ast.Name)
    items = e.slice.elts if isinstance(e.slice, ast.Tuple) else [e.slice]
    key: tuple[Any, ...] = (e.value.id,)
    if e.value.id == "tuple":
        if isinstance(items[-1], ast.Constant) and items[-1].value is Ellipsis:
            key, items = ("vtuple",), items[:1]
        else:
            key = ("tuple", len(items), None)
    head = cx.new_head(("result", path), key, len(items))
    for place, item in enumerate(items):
        cx.flow(_node(cx, item, (*path, place)), head.parts[place])
    node.heads[head.key] = head
    return node


# --- calls ----------------------------------------


@functools.cache
def with_keywords(callee: Any, count: int, names: tuple[str, ...]) -> Any:
    """A function of positional arguments only: the last ones are keywords."""

    def call(*given: Any) -> Any:
        return callee(*given[:count], **dict(zip(names, given[count:])))

    return call


def call(cx: Frame, callee: Any, arguments: list[Any], keywords: Keywords, result: Node) -> Value:
    """callee(...), run by Python on copies."""
    values = [*arguments, *keywords.values()]
    for held in values:
        if not isinstance(held, Value):
            raise cx.refuse(f"a call of `{callee.__name__}` with `*`")
        _copied(cx, held.node, callee, set())
    if keywords:
        callee = with_keywords(callee, len(arguments), tuple(keywords))
    return called_back(cx, callee, values, result)


def _copied(cx: Frame, node: Node, callee: Any, seen: set[int]) -> None:
    """Refuse arguments that have no copy outside."""
    for head in node:
        if head.kind in ("closure", "generator", "method", "view", "obj", "ndarray"):
            raise cx.refuse(f"a call of `{callee.__name__}` with a value of type {head!r}, which Python runs")
        if id(head) not in seen:
            seen.add(id(head))
            for part in head.parts:
                _copied(cx, part, callee, seen)


def function_for(callee: Any) -> Any:
    """The rule of a library function that Python runs; None if it is none."""
    name = foreign.full_name(callee)
    if name is None:
        return None
    special = _SPECIAL.get(name)
    if special is not None:
        return special
    text = foreign.FUNCTIONS.get(name)
    if text is None:
        return None

    def rule(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
        if text == "first":
            return call(cx, callee, arguments, keywords, arguments[0].node)
        return call(cx, callee, arguments, keywords, result_node(cx, text))

    return rule


def class_method(cls: type, name: str) -> Any:
    """`int.from_bytes` and the like: a rule, or None."""
    text = foreign.OF_CLASS.get(f"{cls.__name__}.{name}")
    if text is None or (cls.__module__ != "builtins" and not foreign.is_carried(cls)):
        return None

    def rule(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
        return call(cx, getattr(cls, name), arguments, keywords, result_node(cx, text))

    return rule


def builtin_method(kind: str, name: str) -> Any:
    """The rule of a method of a builtin kind that Python runs; None if it has none."""
    text = foreign.METHODS.get(kind, {}).get(name)
    if text is None:
        return None
    cls = {"str": str, "bytes": bytes, "bytearray": bytearray, "int": int, "big": int, "float": float}[kind]

    def rule(cx: Frame, owner: Value, arguments: list[Any], keywords: Keywords) -> Value:
        return call(cx, getattr(cls, name), [owner, *arguments], keywords, result_node(cx, text))

    return rule


# --- objects that are carried ----------------------------------------


def _entry(head: Head, name: str) -> str | None:
    text = foreign.CLASSES[foreign.full_name(head.key[1]) or ""].get(name)
    return text and text.replace("same", head.key[1].__name__)


def has_method(head: Head, name: str) -> bool:
    return _entry(head, name) is not None or _own_rule(head, name) is not None


def _own_rule(head: Head, name: str) -> Any:
    if name in foreign.DRAWS:
        from weft.plain.library import numpy_random

        assert numpy_random  # it fills the table
    return METHODS.get((head.key[1].__name__, name))


def call_method(cx: Frame, owner: Value, name: str, arguments: list[Any], keywords: Keywords) -> Value:
    head = owner.head()
    special = _own_rule(head, name)
    if special is not None:
        return special(cx, owner, arguments, keywords)  # type: ignore[no-any-return]
    text = _entry(head, name)
    if text is None:
        raise cx.refuse(f"the attribute `{name}` of a value of type {head!r}")
    return call(cx, getattr(head.key[1], name), [owner, *arguments], keywords, result_node(cx, text))


def read_attribute(cx: Frame, owner: Value, name: str) -> Value | None:
    text = _entry(owner.head(), "." + name)
    if text is None:
        return None
    return called_back(cx, _getter(name), [owner], result_node(cx, text))


@functools.cache
def _getter(name: str) -> Any:
    import operator

    return operator.attrgetter(name)


def special_method(cx: Frame, owner: Value, name: str, arguments: list[Value] | None = None) -> Value | None:
    """What a builtin function asks of an object: `__abs__`, `__int__`, ...; None if it has no such method."""
    if _entry(owner.head(), name) is None:
        return None
    return call_method(cx, owner, name, arguments or [], {})


def rounded(cx: Frame, owner: Value, digits: Value | None) -> Value | None:
    if digits is None:
        return special_method(cx, owner, "__round__")
    return called_back(cx, round, [owner, digits], owner.node)


def binary(cx: Frame, op: str, a: Value, b: Value) -> Value | None:
    """An operator with an object of a library class."""
    from weft.plain.operators import SYMBOLS

    text = _operator_result(op, a.head(), b.head())
    if text is None:
        return None
    result = any_whole() if text == "whole" else result_node(cx, text)
    if cx.writer is None:
        return Value(result, "0")
    spec = cx.writer.spec(result)
    operands = f"{cx.tagged(a)}, {cx.tagged(b)}"
    found = cx.temporary("v", f"wp_binary_python({ord(SYMBOLS[op])}, {operands}, {spec}, {cx.line})")
    cx.check()
    return cx.make(result, cx.as_repr(Value(_any(result), found), Value(result, "").repr))


def _any(node: Node) -> Node:
    """A node that is represented with a tag, whatever it holds."""
    whole = any_whole()
    for head in node:
        whole.heads[head.key] = head
    return whole


def _operator_result(op: str, a: Head, b: Head) -> str | None:
    """The type of `a op b`."""
    names = {head.key[1].__name__ for head in (a, b) if head.kind == "py"}
    others = {head.kind for head in (a, b) if head.kind != "py"}
    if names <= {"Fraction", "Decimal"} and len(names) == 1:
        name = names.pop()
        if "float" in others and name == "Fraction":
            return "float" if op != "FloorDiv" else None
        if others <= {"int", "bool", "big"} and op in ("Add", "Sub", "Mult", "Div", "Mod", "FloorDiv", "Pow"):
            if op == "Pow" and name == "Fraction" and (b.kind == "py" or a.kind != "py"):
                return "Fraction | float | whole"
            return "whole" if op == "FloorDiv" and name == "Fraction" else name
        return None
    if names & {"date", "datetime", "timedelta"}:
        return _date_result(op, a, b, names, others)
    return None


def _date_result(op: str, a: Head, b: Head, names: set[str], others: set[str]) -> str | None:
    if names == {"timedelta"}:
        if not others:
            return {"Add": "timedelta", "Sub": "timedelta", "Div": "float", "FloorDiv": "int", "Mod": "timedelta"}.get(
                op
            )
        if others <= {"int", "float", "bool"} and op in ("Mult", "Div", "FloorDiv"):
            return "timedelta"
        return None
    if others or op not in ("Add", "Sub"):
        return None
    if "timedelta" in names:
        return (names - {"timedelta"}).pop()
    return "timedelta" if len(names) == 1 and op == "Sub" else None


# --- rules of their own ----------------------------------------


def _groups_of(cx: Frame, pattern: Value) -> int:
    """How many groups a regular expression has: what `findall` gives depends on it."""
    if pattern.text is not None:
        return re.compile(pattern.text).groups
    head = pattern.node.only()
    if head is None or head.kind != "py" or len(head.key) < 3:
        raise cx.refuse("a regular expression that is not known while compiling", "compile it at the top of the file")
    return head.key[2]  # type: ignore[no-any-return]


def _found(groups: int) -> str:
    return "str" if groups <= 1 else f"tuple[{', '.join(['str'] * groups)}]"


def _findall(callee: Any) -> Any:
    def rule(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
        groups = _groups_of(cx, arguments[0])
        return call(cx, callee, arguments, keywords, result_node(cx, f"list[{_found(groups)}]"))

    return rule


def _split(callee: Any) -> Any:
    def rule(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
        text = "list[str | None]" if _groups_of(cx, arguments[0]) else "list[str]"
        return call(cx, callee, arguments, keywords, result_node(cx, text))

    return rule


def _finditer(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
    found = call(cx, all_matches, arguments, keywords, result_node(cx, "list[Match]"))
    return iteration.through_generator(cx, found)


def _compile(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
    cls = foreign.class_named("Pattern")
    head = cx.unit.foreign_head(cls, _groups_of(cx, arguments[0]))
    return call(cx, re.compile, arguments, keywords, cx.single(head))


def _group(cx: Frame, owner: Value, arguments: list[Any], keywords: Keywords) -> Value:
    text = "str | None" if len(arguments) < 2 else f"tuple[{', '.join(['str | None'] * len(arguments))}]"
    return call(cx, re.Match.group, [owner, *arguments], keywords, result_node(cx, text))


def _of_pattern(rule: Any) -> Any:
    return lambda cx, owner, arguments, keywords: rule(cx, [owner, *arguments], keywords)


def _drawn(name: str) -> Any:
    """choice, shuffle, ... of a generator: models over its `random` and `getrandbits`."""

    def rule(cx: Frame, owner: Value, arguments: list[Any], keywords: Keywords) -> Value:
        from weft.plain.library import drawing

        return drawing.drawn(cx, name, owner, arguments, keywords)

    return rule


_SPECIAL = {
    "re.findall": _findall(re.findall),
    "re.split": _split(re.split),
    "re.finditer": _finditer,
    "re.compile": _compile,
}
METHODS = {
    ("Pattern", "findall"): _of_pattern(_findall(re.Pattern.findall)),
    ("Pattern", "split"): _of_pattern(_split(re.Pattern.split)),
    ("Pattern", "finditer"): _of_pattern(_finditer),
    ("Match", "group"): _group,
} | {("Random", name): _drawn(name) for name in ("choice", "shuffle", "sample", "choices", "randint", "randrange")}
