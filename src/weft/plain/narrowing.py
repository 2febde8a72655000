"""What tests say of types.  In: a test; out: which heads a variable can have where the test holds, and where it does
not.

    if isinstance(x, list): ...      x is a list here
    if node is None: return          node is not None from here on

Only variables of the function itself that are not assigned in the part in question are narrowed.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator

from weft.plain import builtin
from weft.plain.frame import Frame
from weft.plain.types import Key

Narrowed = dict[str, frozenset[Key]]


def of_test(cx: Frame, e: ast.expr, holds: bool) -> Narrowed:
    """The variables that are narrowed where a test holds (or does not)."""
    if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.Not):
        return of_test(cx, e.operand, not holds)
    if isinstance(e, ast.BoolOp) and isinstance(e.op, ast.And) is holds:
        found: Narrowed = {}
        for part in e.values:
            found |= of_test(cx, part, holds)
        return found
    if isinstance(e, ast.Compare) and isinstance(e.ops[0], (ast.Is, ast.IsNot)):
        other = e.comparators[0]
        if isinstance(e.left, ast.Name) and isinstance(other, ast.Constant) and other.value is None:
            is_none = isinstance(e.ops[0], ast.Is) is holds
            return _kept(cx, e.left.id, lambda key: (key == ("none",)) is is_none)
    if isinstance(e, ast.Name) and holds:
        return _kept(cx, e.id, lambda key: key != ("none",))
    if isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id == "isinstance" and len(e.args) == 2:
        subject = e.args[0]
        if isinstance(subject, ast.Name) and cx.instance.variable("isinstance") is None:
            node = cx.instance.locals.get(subject.id)
            if node is not None:
                answers = {head.key: builtin.is_instance(cx, head, e.args[1]) for head in node}
                return _kept(cx, subject.id, lambda key: answers.get(key) is not (not holds))
    return {}


def _kept(cx: Frame, name: str, wanted: object) -> Narrowed:
    node = cx.instance.locals.get(name)
    if node is None or name in cx.info.captured:
        return {}
    return {name: frozenset(head.key for head in node if wanted(head.key))}  # type: ignore[operator]


def assigned_in(body: list[ast.stmt]) -> set[str]:
    """Names that statements give another value."""
    return set().union(*map(_assigned, body))


def _assigned(statement: ast.stmt) -> set[str]:
    known: set[str] | None = vars(statement).get("weft_assigned")  # Core does not change, and each pass asks again
    if known is not None:
        return known
    found: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef) or (isinstance(node, ast.ExceptHandler) and node.name):
            found.add(str(node.name))
    vars(statement)["weft_assigned"] = found
    return found


@contextlib.contextmanager
def within(cx: Frame, narrowed: Narrowed, body: list[ast.stmt]) -> Iterator[None]:
    """Statements for which variables are narrowed, except those that the statements assign."""
    before = cx.narrow
    changed = assigned_in(body)
    cx.narrow = {
        **before,
        **{name: keys & before.get(name, keys) for name, keys in narrowed.items() if name not in changed},
    }
    try:
        yield
    finally:
        cx.narrow = before
