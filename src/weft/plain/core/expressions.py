"""Expressions to Core: what needs statements gets them before, in Python's order of evaluation."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from weft.plain.core import places
from weft.plain.core.build import assign, function, load, place
from weft.plain.core.comprehensions import reduce_comprehension
from weft.plain.core.frame import Frame
from weft.plain.core.operands import Operand, in_order
from weft.plain.core.refuse import NotCore
from weft.plain.core.truth import Part, chain, choose, flag, flagged, hoist

Statements = list[ast.stmt]


def reduce(frame: Frame, node: ast.expr, out: Statements) -> ast.expr:
    """The Core of an expression; statements that must run before it are added to `out`."""
    handler = _HANDLERS.get(type(node))
    if handler is None:
        raise NotCore(node, _NAMES.get(type(node).__name__, type(node).__name__))
    return handler(frame, node, out)


def operand(frame: Frame, node: ast.expr) -> Operand:
    out: Statements = []
    return Operand(reduce(frame, node, out), out)


def ordered(frame: Frame, nodes: list[ast.expr], out: Statements, atoms: bool = False) -> list[ast.expr]:
    return in_order(frame, [operand(frame, node) for node in nodes], out, atoms)


def test(frame: Frame, node: ast.expr, out: Statements) -> ast.expr:
    """The Core of an expression of which only the truth matters. Each operand's truth is asked for once."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node.operand = test(frame, node.operand, out)
        return node
    if isinstance(node, ast.BoolOp):
        parts = _parts(frame, node.values, test)
        return _joined_by(node, parts) if hoist(parts, out) else flag(frame, node, parts, out)
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        made, parts = chain(frame, node, operand)
        return _joined_by(made, parts) if hoist(parts, out) else flag(frame, made, parts, out)
    if isinstance(node, ast.IfExp):
        asked = test(frame, node.test, out)
        branches = _branches(frame, node, test)
        if hoist(branches, out, first=False):
            node.test, node.body, node.orelse = asked, branches[0].value, branches[1].value
            return node
        return flagged(frame, asked, branches, node, out)
    return reduce(frame, node, out)


def _parts(frame: Frame, nodes: list[ast.expr], how: Callable[[Frame, ast.expr, Statements], ast.expr]) -> list[Part]:
    """The operands of `and` and `or`: the first always runs, the others perhaps."""
    first: Statements = []
    found = [Part(how(frame, nodes[0], first), first)]
    with frame.perhaps():
        for node in nodes[1:]:
            out: Statements = []
            found.append(Part(how(frame, node, out), out))
    return found


def _branches(frame: Frame, node: ast.IfExp, how: Callable[[Frame, ast.expr, Statements], ast.expr]) -> list[Part]:
    found = []
    for branch in (node.body, node.orelse):
        with frame.perhaps():
            out: Statements = []
            found.append(Part(how(frame, branch, out), out))
    return found


def _joined_by(node: ast.BoolOp, parts: list[Part]) -> ast.BoolOp:
    node.values = [part.value for part in parts]
    return node


def _same(frame: Frame, node: ast.expr, out: Statements) -> ast.expr:
    return node


def _unary(frame: Frame, node: ast.UnaryOp, out: Statements) -> ast.expr:
    node.operand = (test if isinstance(node.op, ast.Not) else reduce)(frame, node.operand, out)
    return node


def _binary(frame: Frame, node: ast.BinOp, out: Statements) -> ast.expr:
    node.left, node.right = ordered(frame, [node.left, node.right], out)
    return node


def _compare(frame: Frame, node: ast.Compare, out: Statements) -> ast.expr:
    if len(node.ops) == 1:
        node.left, node.comparators[0] = ordered(frame, [node.left, node.comparators[0]], out)
        return node
    made, parts = chain(frame, node, operand)
    return _joined_by(made, parts) if hoist(parts, out) else choose(frame, made, parts, out)


def _boolean(frame: Frame, node: ast.BoolOp, out: Statements) -> ast.expr:
    parts = _parts(frame, node.values, reduce)
    return _joined_by(node, parts) if hoist(parts, out) else choose(frame, node, parts, out)


def _if_expression(frame: Frame, node: ast.IfExp, out: Statements) -> ast.expr:
    asked = test(frame, node.test, out)
    branches = _branches(frame, node, reduce)
    if hoist(branches, out, first=False):
        node.test, node.body, node.orelse = asked, branches[0].value, branches[1].value
        return node
    name = frame.temporary()
    bodies = [[*branch.out, assign(name, branch.value, branch.value)] for branch in branches]
    out.append(place(ast.If(asked, bodies[0], bodies[1]), node))
    return load(name, node)


def _call(frame: Frame, node: ast.Call, out: Statements) -> ast.expr:
    only_star = len(node.args) == 1
    operands = [operand(frame, node.func)]
    for argument in node.args:
        starred = isinstance(argument, ast.Starred)
        operands.append(_starred(frame, argument, only_star) if starred else operand(frame, argument))
    for keyword in node.keywords:
        given = operand(frame, keyword.value)
        if keyword.arg is None:
            given.keep = _keeper(frame, "T = {**X}", lambda value: value)
        operands.append(given)
    found = in_order(frame, operands, out)
    count = len(node.args)
    node.func, node.args = found[0], found[1 : 1 + count]
    for keyword, value in zip(node.keywords, found[1 + count :]):
        keyword.value = value
    return node


def _starred(frame: Frame, node: ast.expr, alone: bool) -> Operand:
    """f(*xs, y): xs is run through before y is evaluated, but only by the call where it stands alone."""
    assert isinstance(node, ast.Starred)
    given = operand(frame, node.value)

    def keep(value: ast.expr, out: Statements) -> ast.expr:
        assert isinstance(value, ast.Starred)
        value.value = keep_value(value.value, out)
        return value

    keep_value = frame.keep if alone else _keeper(frame, "T = []\nT.extend(X)", lambda value: value)
    node.value = given.value
    return Operand(node, given.out, keep)


def _keeper(
    frame: Frame, text: str, wrap: Callable[[ast.expr], ast.expr]
) -> Callable[[ast.expr, Statements], ast.expr]:
    def keep(value: ast.expr, out: Statements) -> ast.expr:
        name = frame.temporary()
        out.extend(frame.template(text, value, T=name, X=value))
        return wrap(load(name, value))

    return keep


def _attribute(frame: Frame, node: ast.Attribute, out: Statements) -> ast.expr:
    node.value = reduce(frame, node.value, out)
    return node


def _subscript(frame: Frame, node: ast.Subscript, out: Statements) -> ast.expr:
    places.with_parts(node, ordered(frame, places.parts(node), out))
    return node


def _display(frame: Frame, node: ast.Tuple | ast.List | ast.Set, out: Statements) -> ast.expr:
    if not any(isinstance(entry, ast.Starred) for entry in node.elts):
        node.elts = ordered(frame, node.elts, out)
        return node
    return _starred_display(frame, node, out)


def _starred_display(frame: Frame, node: ast.Tuple | ast.List | ast.Set, out: Statements) -> ast.expr:
    """[a, *b, c]  -->  t = [a]; t.extend(b); t.append(c);  a set likewise, a tuple from a list."""
    name = frame.container()
    stars = [i for i, entry in enumerate(node.elts) if isinstance(entry, ast.Starred)]
    start: ast.expr = place(ast.List(ordered(frame, node.elts[: stars[0]], out), ast.Load()), node)
    one, many = "T.append(X)", "T.extend(X)"
    if isinstance(node, ast.Set):
        one, many = "T.add(X)", "T.update(X)"
        entries = start.elts if isinstance(start, ast.List) else []
        empty = place(ast.Call(frame.builtin("set", out, node), [], []), node)
        start = place(ast.Set(entries), node) if entries else empty
    out.append(assign(name, start, node))
    for entry in node.elts[stars[0] :]:
        text, value = (many, entry.value) if isinstance(entry, ast.Starred) else (one, entry)
        out.extend(frame.template(text, entry, T=name, X=reduce(frame, value, out)))
    if isinstance(node, ast.Tuple):
        return place(ast.Call(frame.builtin("tuple", out, node), [load(name, node)], []), node)
    return load(name, node)


def _dict(frame: Frame, node: ast.Dict, out: Statements) -> ast.expr:
    if None not in node.keys:
        pairs = [part for key, value in zip(node.keys, node.values) for part in (key, value) if part is not None]
        found = ordered(frame, pairs, out)
        node.keys, node.values = list(found[::2]), found[1::2]
        return node
    if node.keys == [None]:
        node.values = ordered(frame, node.values, out)
        return node
    name = frame.container()
    out.append(assign(name, place(ast.Dict([], []), node), node))
    for key, value in zip(node.keys, node.values):
        if key is None:
            mapping = reduce(frame, value, out)
            out.extend(frame.template("S = {**X}\nT.update(S)", value, T=name, S=frame.container(), X=mapping))
        else:
            out.extend(entry(frame, name, key, value, out))
    return load(name, node)


def entry(frame: Frame, name: str, key: ast.expr, value: ast.expr, out: Statements) -> Statements:
    """{key: value} into the dict `name`: the key is evaluated first, unlike in an assignment."""
    keyed, valued = operand(frame, key), operand(frame, value)
    out.extend(keyed.out)
    if not frame.is_stable(keyed.value, valued.out):
        keyed.value = frame.keep(keyed.value, out)
    out.extend(valued.out)
    return frame.template("T[K] = V", value, T=name, K=keyed.value, V=valued.value)


def _joined(frame: Frame, node: ast.JoinedStr, out: Statements) -> ast.expr:
    """Each value of an f-string is formatted before the next one is evaluated."""

    def keep(value: ast.expr, out: Statements) -> ast.expr:
        text = frame.keep(place(ast.JoinedStr([value]), value), out)
        return place(ast.FormattedValue(text, -1, None), value)

    operands = []
    for value in node.values:
        made: Statements = []
        operands.append(Operand(_formatted(frame, value, made), made, keep))
    node.values = in_order(frame, operands, out)
    return node


def _formatted(frame: Frame, node: ast.expr, out: Statements) -> ast.expr:
    if not isinstance(node, ast.FormattedValue):
        return node
    if node.format_spec is None:
        node.value = reduce(frame, node.value, out)
    else:
        node.value, node.format_spec = ordered(frame, [node.value, node.format_spec], out)
    return node


def _yield(frame: Frame, node: ast.Yield | ast.YieldFrom, out: Statements) -> ast.expr:
    return frame.keep(reduce_yield(frame, node, out), out)


def reduce_yield(frame: Frame, node: ast.Yield | ast.YieldFrom, out: Statements) -> ast.expr:
    if node.value is not None:
        node.value = reduce(frame, node.value, out)
    return node


def _named(frame: Frame, node: ast.NamedExpr, out: Statements) -> ast.expr:
    value = reduce(frame, node.value, out)
    out.append(assign(node.target.id, value, node))
    frame.bind(node.target.id)
    return load(node.target.id, node)


def _lambda(frame: Frame, node: ast.Lambda, out: Statements) -> ast.expr:
    name = frame.temporary()
    body: Statements = [place(ast.Return(node.body), node.body)]
    made = function(name, node.args, body, node)
    reduce_defaults(frame, made.args, out)
    out.append(frame.function(frame.names, made))
    return load(name, node)


def reduce_defaults(frame: Frame, arguments: ast.arguments, out: Statements) -> None:
    """Default values become names and constants, evaluated before the `def`."""
    keywords = [default for default in arguments.kw_defaults if default is not None]
    found = ordered(frame, [*arguments.defaults, *keywords], out, atoms=True)
    count = len(arguments.defaults)
    arguments.defaults, rest = found[:count], iter(found[count:])
    arguments.kw_defaults = [None if default is None else next(rest) for default in arguments.kw_defaults]


_NAMES = {"Await": "await", "Slice": "a slice beside a starred index", "Starred": "a starred expression here"}
_HANDLERS: dict[type[ast.expr], Callable[[Frame, Any, Statements], ast.expr]] = {
    ast.Constant: _same,
    ast.Name: _same,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.Compare: _compare,
    ast.BoolOp: _boolean,
    ast.IfExp: _if_expression,
    ast.Call: _call,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Tuple: _display,
    ast.List: _display,
    ast.Set: _display,
    ast.Dict: _dict,
    ast.JoinedStr: _joined,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    ast.NamedExpr: _named,
    ast.Lambda: _lambda,
    ast.ListComp: reduce_comprehension,
    ast.SetComp: reduce_comprehension,
    ast.DictComp: reduce_comprehension,
    ast.GeneratorExp: reduce_comprehension,
}
