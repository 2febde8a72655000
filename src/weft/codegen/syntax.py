"""C syntax as frozen nodes.  In: nodes built by the code generator; out: text, printed once, with only the parentheses
that precedence asks for.  Also the one query the generator needs of finished code: which names a body uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Union

from weft.records import dataclass

_INFIX_LEVEL = {
    **dict.fromkeys(("*", "/", "%"), 13),
    **dict.fromkeys(("+", "-"), 12),
    **dict.fromkeys(("<<", ">>"), 11),
    **dict.fromkeys(("<", "<=", ">", ">="), 10),
    **dict.fromkeys(("==", "!="), 9),
    "&": 8,
    "^": 7,
    "|": 6,
    "&&": 5,
    "||": 4,
}
_TERNARY_LEVEL = 3
_PREFIX_LEVEL = 14
_POSTFIX_LEVEL = 15
_ATOM_LEVEL = 16
# Operators for which (a op b) op c and a op (b op c) are different values: the right operand is always bracketed.
# Integer and floating sums are among them, since their order is part of the meaning.
_BITWISE = frozenset({"&", "|", "^"})


# --- expressions ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Name:
    """A variable (never a function: those are the text of an Invoke)."""

    text: str


@dataclass(frozen=True)
class Number:
    """A literal, or another text that stands like one."""

    text: str


@dataclass(frozen=True)
class Prefix:
    operator: str
    operand: CExpr


@dataclass(frozen=True)
class Infix:
    operator: str
    left: CExpr
    right: CExpr


@dataclass(frozen=True)
class Ternary:
    condition: CExpr
    then: CExpr
    otherwise: CExpr


@dataclass(frozen=True)
class Invoke:
    """A call of a function named by text."""

    function: str
    arguments: tuple[CExpr, ...]


@dataclass(frozen=True)
class InvokeThrough:
    """A call of a member of a structure: rt->poll()."""

    function: Arrow
    arguments: tuple[CExpr, ...]


@dataclass(frozen=True)
class Subscript:
    base: CExpr
    index: CExpr


@dataclass(frozen=True)
class Convert:
    """A cast."""

    type: str
    operand: CExpr


@dataclass(frozen=True)
class Arrow:
    """base->member"""

    base: CExpr
    member: str


@dataclass(frozen=True)
class Dot:
    """base.member"""

    base: CExpr
    member: str


CExpr = Union[Name, Number, Prefix, Infix, Ternary, Invoke, InvokeThrough, Subscript, Convert, Arrow, Dot]


# --- statements -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Declare:
    """`type name = value;`  `extent` makes it an array, `attribute` follows the declarator."""

    type: str
    name: str
    value: CExpr | None = None
    extent: int | None = None
    attribute: str = ""


@dataclass(frozen=True)
class Assign:
    target: CExpr
    value: CExpr
    operator: str = "="


@dataclass(frozen=True)
class Evaluate:
    value: CExpr


@dataclass(frozen=True)
class IfElse:
    condition: CExpr
    then: CBlock
    otherwise: CBlock = ()


@dataclass(frozen=True)
class For:
    """for (i64 variable = start; variable < bound; variable += step), counting down if step < 0."""

    variable: str
    start: CExpr
    bound: CExpr
    step: int
    body: CBlock
    pragmas: tuple[str, ...] = ()


@dataclass(frozen=True)
class Forever:
    """for (;;)"""

    body: CBlock


@dataclass(frozen=True)
class Scope:
    body: CBlock


@dataclass(frozen=True)
class Jump:
    """break, continue or goto."""

    text: str


@dataclass(frozen=True)
class Label:
    name: str


@dataclass(frozen=True)
class Leave:
    """return value;"""

    value: CExpr | None = None


@dataclass(frozen=True)
class Comment:
    text: str


@dataclass(frozen=True)
class Pragma:
    """A line of its own for the compiler, where a statement could stand."""

    text: str


CStmt = Union[Declare, Assign, Evaluate, IfElse, For, Forever, Scope, Jump, Label, Leave, Comment, Pragma]
CBlock = tuple[CStmt, ...]


# --- top level ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Text:
    """Hand-written C: a type definition or a helper function."""

    text: str


@dataclass(frozen=True)
class Structure:
    name: str
    members: tuple[Declare, ...]


@dataclass(frozen=True)
class Function:
    head: str
    body: CBlock


TopLevel = Union[Text, Structure, Function]


# --- small constructors ---------------------------------------------------------------------------------------------


def number(value: int) -> CExpr:
    """An integer literal; the most negative one has no literal of its own in C."""
    if value == -(2**63):
        return Number("(-9223372036854775807LL - 1)")
    suffix = "ULL" if value >= 2**63 else "LL" if abs(value) >= 2**31 else ""
    literal = Number(f"{abs(value)}{suffix}")
    return Prefix("-", literal) if value < 0 else literal


def call(function: str, *arguments: CExpr) -> Invoke:
    return Invoke(function, arguments)


def through(base: str, member: str, *arguments: CExpr) -> InvokeThrough:
    return InvokeThrough(Arrow(Name(base), member), arguments)


def plus(left: CExpr, right: CExpr) -> CExpr:
    """left + right without a zero."""
    if left == Number("0"):
        return right
    return left if right == Number("0") else Infix("+", left, right)


def times(left: CExpr, right: CExpr) -> CExpr:
    """left * right without a one."""
    if Number("0") in (left, right):
        return Number("0")
    if left == Number("1"):
        return right
    return left if right == Number("1") else Infix("*", left, right)


def all_of(conditions: Iterable[CExpr]) -> CExpr | None:
    """The conjunction, None of nothing."""
    result: CExpr | None = None
    for condition in conditions:
        result = condition if result is None else Infix("&&", result, condition)
    return result


# --- printing -------------------------------------------------------------------------------------------------------


def show(expr: CExpr, level: int = 0) -> str:
    """The text of an expression, bracketed if it binds weaker than `level`."""
    text, own = _text_and_level(expr)
    return f"({text})" if own < level else text


def _text_and_level(expr: CExpr) -> tuple[str, int]:
    if isinstance(expr, (Name, Number)):
        return expr.text, _ATOM_LEVEL
    if isinstance(expr, Infix):
        own = _INFIX_LEVEL[expr.operator]
        # gcc warns about & and | beside comparisons, and readers stumble over them: bracket both sides.
        floor = _PREFIX_LEVEL if expr.operator in _BITWISE or expr.operator in ("<<", ">>") else own
        left, right = show(expr.left, floor), show(expr.right, floor if floor != own else own + 1)
        return f"{left} {expr.operator} {right}", own
    if isinstance(expr, Prefix):
        operand = show(expr.operand, _PREFIX_LEVEL)
        space = " " if operand.startswith(expr.operator[-1]) else ""
        return f"{expr.operator}{space}{operand}", _PREFIX_LEVEL
    if isinstance(expr, Convert):
        return f"({expr.type}){show(expr.operand, _PREFIX_LEVEL)}", _PREFIX_LEVEL
    if isinstance(expr, Ternary):
        parts = (show(expr.condition, 4), show(expr.then, _TERNARY_LEVEL), show(expr.otherwise, _TERNARY_LEVEL))
        return "{} ? {} : {}".format(*parts), _TERNARY_LEVEL
    if isinstance(expr, Subscript):
        return f"{show(expr.base, _POSTFIX_LEVEL)}[{show(expr.index)}]", _POSTFIX_LEVEL
    if isinstance(expr, Arrow):
        return f"{show(expr.base, _POSTFIX_LEVEL)}->{expr.member}", _POSTFIX_LEVEL
    if isinstance(expr, Dot):
        return f"{show(expr.base, _POSTFIX_LEVEL)}.{expr.member}", _POSTFIX_LEVEL
    function = expr.function if isinstance(expr, Invoke) else show(expr.function)
    return f"{function}({', '.join(show(a) for a in expr.arguments)})", _POSTFIX_LEVEL


def _declarator(node: Declare) -> str:
    space = "" if node.type.endswith("*") else " "
    extent = "" if node.extent is None else f"[{node.extent}]"
    attribute = f" {node.attribute}" if node.attribute else ""
    value = "" if node.value is None else f" = {show(node.value)}"
    return f"{node.type}{space}{node.name}{extent}{attribute}{value};"


def _braced(head: str, body: CBlock, indent: str) -> Iterator[str]:
    yield f"{indent}{head} {{" if head else f"{indent}{{"
    yield from lines(body, indent + "  ")
    yield f"{indent}}}"


def _for_head(node: For) -> str:
    variable, sign = node.variable, "<" if node.step > 0 else ">"
    advance = {1: f"{variable}++", -1: f"{variable}--"}.get(node.step)
    if advance is None:
        advance = f"{variable} {'+' if node.step > 0 else '-'}= {abs(node.step)}"
    return f"for (i64 {variable} = {show(node.start)}; {variable} {sign} {show(node.bound, 11)}; {advance})"


def lines(block: CBlock, indent: str) -> Iterator[str]:
    """The text of a block, line by line."""
    for node in block:
        if isinstance(node, Declare):
            yield indent + _declarator(node)
        elif isinstance(node, Assign):
            yield f"{indent}{show(node.target)} {node.operator} {show(node.value)};"
        elif isinstance(node, Evaluate):
            yield f"{indent}{show(node.value)};"
        elif isinstance(node, IfElse):
            yield from _if_lines(node, indent)
        elif isinstance(node, For):
            yield from (indent + pragma for pragma in node.pragmas)
            yield from _braced(_for_head(node), node.body, indent)
        elif isinstance(node, Forever):
            yield from _braced("for (;;)", node.body, indent)
        elif isinstance(node, Scope):
            yield from _braced("", node.body, indent)
        elif isinstance(node, Jump):
            yield f"{indent}{node.text};"
        elif isinstance(node, Label):
            yield f"{node.name}:;"
        elif isinstance(node, Pragma):
            yield node.text
        elif isinstance(node, Leave):
            yield f"{indent}return;" if node.value is None else f"{indent}return {show(node.value)};"
        else:
            yield f"{indent}/* {node.text.replace('*/', '* /')} */"


def _if_lines(node: IfElse, indent: str) -> Iterator[str]:
    yield f"{indent}if ({show(node.condition)}) {{"
    yield from lines(node.then, indent + "  ")
    if node.otherwise:
        yield f"{indent}}} else {{"
        yield from lines(node.otherwise, indent + "  ")
    yield f"{indent}}}"


def print_unit(parts: Iterable[TopLevel]) -> str:
    """The text of a whole translation unit."""
    out: list[str] = []
    for part in parts:
        if isinstance(part, Text):
            out.append(part.text.strip("\n"))
        elif isinstance(part, Structure):
            out.append(f"struct {part.name} {{")
            out.extend("  " + _declarator(member) for member in part.members)
            out.append("};")
        else:
            out.extend(_braced(part.head, part.body, ""))
    return "\n".join(out) + "\n"


# --- queries --------------------------------------------------------------------------------------------------------


def _used(node: object) -> tuple[str, ...]:
    """The names in a piece of syntax, each once, in order of first use.  They stay with it: blocks are asked at every
    level of the loops around them."""
    if isinstance(node, Name):
        return (node.text,)
    if isinstance(node, tuple):
        return tuple(dict.fromkeys(name for item in node for name in _used(item)))
    if isinstance(node, (str, int)) or node is None:
        return ()
    known: tuple[str, ...] | None = node.__dict__.get("_names")
    if known is None:
        known = _used(tuple(getattr(node, part.name) for part in fields(node)))  # type: ignore[arg-type]
        node.__dict__["_names"] = known
    return known


def invoked_with(node: object, argument: CExpr) -> Iterator[str]:
    """The functions that are called with an argument somewhere in a piece of syntax."""
    if isinstance(node, Invoke) and argument in node.arguments:
        yield node.function
    inner = node if isinstance(node, tuple) else tuple(vars(node).values()) if hasattr(node, "__dict__") else ()
    for part in inner:
        yield from invoked_with(part, argument)


def _declared(block: CBlock) -> Iterator[str]:
    for node in block:
        if isinstance(node, Declare):
            yield node.name
        elif isinstance(node, For):
            yield node.variable
            yield from _declared(node.body)
        elif isinstance(node, (Forever, Scope)):
            yield from _declared(node.body)
        elif isinstance(node, IfElse):
            yield from _declared(node.then)
            yield from _declared(node.otherwise)


def free_names(block: CBlock) -> tuple[str, ...]:
    """The variables a block uses and does not declare, in order of first use.  (Names are unique within a unit.)"""
    declared = set(_declared(block))
    return tuple(dict.fromkeys(name for name in _used(block) if name not in declared))
