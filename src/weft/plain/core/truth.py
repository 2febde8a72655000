"""Short circuits whose operands need statements: `and`, `or`, `if else` and chained comparisons.

x = a and [f(i) for i in n]   -->   t = a
                                    if t: <loop>; t = <list>
if a and [f(i) for i in n]:   -->   t = False
                                    if a: <loop>; if <list>: t = True
                                    if t: ...
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from weft.plain.core.build import again, assign, conditional, constant, load, negated, place
from weft.plain.core.frame import Frame, is_silent
from weft.plain.core.operands import Operand, in_order

Statements = list[ast.stmt]


@dataclass
class Part:
    """An operand that may not run: its statements, then its value."""

    value: ast.expr
    out: Statements


def hoist(parts: list[Part], out: Statements, first: bool = True) -> bool:
    """Whether no part needs statements of its own (the first one's may come before the whole); if so, emit them."""
    if not all(is_silent(part.out) for part in (parts[1:] if first else parts)):
        return False
    for part in parts:
        out.extend(part.out)
    return True


def _go_on(op: ast.boolop, value: ast.expr) -> ast.expr:
    return value if isinstance(op, ast.And) else negated(value)


def choose(frame: Frame, node: ast.BoolOp, parts: list[Part], out: Statements) -> ast.expr:
    """The value of `and` or `or`: that of the operand which decides."""
    name = frame.temporary()
    body = out
    for number, part in enumerate(parts):
        body.extend([*part.out, assign(name, part.value, part.value)])
        if number + 1 < len(parts):
            inner: Statements = []
            body.append(conditional(_go_on(node.op, load(name, node)), inner, [], node))
            body = inner
    return load(name, node)


def flag(frame: Frame, node: ast.BoolOp, parts: list[Part], out: Statements) -> ast.expr:
    """The truth of `and` or `or` as True or False."""
    name = frame.temporary()
    is_and = isinstance(node.op, ast.And)
    out.append(assign(name, constant(not is_and, node), node))
    body = out
    for part in parts:
        inner: Statements = []
        body.extend([*part.out, conditional(_go_on(node.op, part.value), inner, [], part.value)])
        body = inner
    body.append(assign(name, constant(is_and, node), node))
    return load(name, node)


def flagged(frame: Frame, asked: ast.expr, branches: list[Part], node: ast.IfExp, out: Statements) -> ast.expr:
    """The truth of `a if c else b`, where the branches need statements."""
    name = frame.temporary()
    bodies: list[Statements] = []
    for part in branches:
        if isinstance(part.value, (ast.BoolOp, ast.IfExp)):  # kept, its truth would be asked for twice
            yes, no = ([assign(name, constant(truth, node), node)] for truth in (True, False))
            bodies.append([*part.out, conditional(part.value, [*yes], [*no], part.value)])
        else:
            bodies.append([*part.out, assign(name, part.value, part.value)])
    out.append(conditional(asked, bodies[0], bodies[1], node))
    return load(name, node)


def chain(
    frame: Frame, node: ast.Compare, operand: Callable[[Frame, ast.expr], Operand]
) -> tuple[ast.BoolOp, list[Part]]:
    """a < b < c  -->  a < b, b < c  (joined by `and`); b is evaluated once."""
    first = [operand(frame, node.left), operand(frame, node.comparators[0])]
    with frame.perhaps():
        rest = [operand(frame, right) for right in node.comparators[1:]]
    out: Statements = []
    _fix_middle(frame, first, rest[0].out)
    left, middle = in_order(frame, first, out)
    parts = [Part(_compared(left, node.ops[0], middle, node), out)]
    for number, right in enumerate(rest):
        made = [right]
        if number + 1 < len(rest):
            _fix_middle(frame, made, rest[number + 1].out)
        parts.append(Part(_compared(again(middle), node.ops[number + 1], right.value, node), right.out))
        middle = right.value
    return place(ast.BoolOp(ast.And(), []), node), parts


def _fix_middle(frame: Frame, operands: list[Operand], later: Statements) -> None:
    """The last operand is used twice: it must be an atom that stays what it is."""
    last = operands[-1]
    if not frame.is_stable(last.value, later):
        last.value = frame.keep(last.value, last.out)


def _compared(left: ast.expr, op: ast.cmpop, right: ast.expr, node: ast.Compare) -> ast.expr:
    return place(ast.Compare(left, [op], [right]), node)
