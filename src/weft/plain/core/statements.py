"""Statements to Core, one handler for each kind."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from weft.plain.core import places
from weft.plain.core.assignments import assign_to, reduce_assign, reduce_augmented
from weft.plain.core.build import assign, conditional, constant, load, negated, never_bound, place, store
from weft.plain.core.expressions import operand, ordered, reduce, reduce_defaults, reduce_yield, test
from weft.plain.core.frame import Frame, is_silent, meet
from weft.plain.core.loops import without_else
from weft.plain.core.matching import reduce_match
from weft.plain.core.refuse import NotCore

Statements = list[ast.stmt]


def reduce_block(frame: Frame, statements: Statements) -> Statements:
    """The Core of a body: never empty."""
    out: Statements = []
    for statement in statements:
        handler = _HANDLERS.get(type(statement))
        if handler is None:
            kind = type(statement).__name__
            raise NotCore(statement, _NAMES.get(kind, kind))
        handler(frame, statement, out)
    if not out and statements:
        out.append(place(ast.Pass(), statements[0]))
    return out


def _branch(frame: Frame, statements: Statements, bound: set[str] | None) -> tuple[Statements, set[str] | None]:
    """A body that starts with `bound` names, and what is bound at its end."""
    frame.bound = None if bound is None else set(bound)
    return (reduce_block(frame, statements) if statements else []), frame.bound


def _joined(first: Statements, body: Statements) -> Statements:
    """A body with statements before it: an empty one needs no `pass` then."""
    return first if first and isinstance(body[0], ast.Pass) else first + body


def _same(frame: Frame, node: ast.stmt, out: Statements) -> None:
    out.append(node)


def _pass(frame: Frame, node: ast.stmt, out: Statements) -> None:
    """An empty body gets its `pass` from the block."""


def _jump(frame: Frame, node: ast.stmt, out: Statements) -> None:
    out.append(node)
    frame.bound = None


def _expression(frame: Frame, node: ast.Expr, out: Statements) -> None:
    if isinstance(node.value, (ast.Yield, ast.YieldFrom)):
        node.value = reduce_yield(frame, node.value, out)
        out.append(node)
        return
    if isinstance(node.value, ast.Constant):
        return
    node.value = reduce(frame, node.value, out)
    if not (isinstance(node.value, ast.Name) and node.value.id in frame.names.temporaries):
        out.append(node)


def _return(frame: Frame, node: ast.Return, out: Statements) -> None:
    node.value = constant(None, node) if node.value is None else reduce(frame, node.value, out)
    _jump(frame, node, out)


def _raise(frame: Frame, node: ast.Raise, out: Statements) -> None:
    given = ordered(frame, [part for part in (node.exc, node.cause) if part is not None], out)
    if given:
        node.exc = given[0]
    if len(given) == 2:
        node.cause = given[1]
    _jump(frame, node, out)


def _annotated(frame: Frame, node: ast.AnnAssign, out: Statements) -> None:
    """Annotations in functions are not evaluated; what is left of `x: int` is that x is local."""
    if node.value is not None:
        assign_to(frame, [node.target], node.value, node, out)
    elif isinstance(node.target, ast.Name):
        if node.target.id in frame.scope.annotated:
            out.append(never_bound(node.target.id, node))
    else:
        for part in ordered(frame, places.parts(node.target), out):
            out.append(place(ast.Expr(part), part))


def _delete(frame: Frame, node: ast.Delete, out: Statements) -> None:
    for target in node.targets:
        if isinstance(target, (ast.Tuple, ast.List)):
            _delete(frame, place(ast.Delete(target.elts), target), out)
            continue
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            places.with_parts(target, ordered(frame, places.parts(target), out, atoms=True))
        out.append(place(ast.Delete([target]), target))


def _if(frame: Frame, node: ast.If, out: Statements) -> None:
    node.test = test(frame, node.test, out)
    before = frame.bound
    node.body, then = _branch(frame, node.body, before)
    node.orelse, otherwise = _branch(frame, node.orelse, before)
    frame.bound = meet(then, otherwise)
    out.append(node)


def _while(frame: Frame, node: ast.While, out: Statements) -> None:
    if node.orelse:
        out.extend(reduce_block(frame, without_else(frame, node)))
        return
    before: Statements = []
    node.test = test(frame, node.test, before)
    entry = frame.bound
    body, _ = _branch(frame, node.body, entry)
    if before:
        leave = conditional(negated(node.test), [place(ast.Break(), node.test)], [], node.test)
        node.test, body = constant(True, node.test), _joined([*before, leave], body)
    node.body = body
    frame.bound = entry
    out.append(node)


def _for(frame: Frame, node: ast.For, out: Statements) -> None:
    if node.orelse:
        out.extend(reduce_block(frame, without_else(frame, node)))
        return
    node.iter = reduce(frame, node.iter, out)
    entry = frame.bound
    frame.bound = None if entry is None else set(entry)
    first: Statements = []
    if not isinstance(node.target, ast.Name):
        name = frame.temporary()
        assign_to(frame, [node.target], load(name, node.target), node.target, first)
        node.target = store(name, node.target)
    else:
        frame.bind(node.target.id)
    node.body = _joined(first, reduce_block(frame, node.body))
    frame.bound = entry
    out.append(node)


def _try(frame: Frame, node: ast.Try, out: Statements) -> None:
    before = frame.bound
    for handler in node.handlers:
        if handler.type is not None:
            made: Statements = []
            handler.type = reduce(frame, handler.type, made)
            if not is_silent(made):
                raise NotCore(handler, "an except clause whose class needs statements (a comprehension, :=, a chain)")
            out.extend(made)
    node.body, after = _branch(frame, node.body, before)
    if node.orelse:
        node.orelse, after = _branch(frame, node.orelse, after)
    for handler in node.handlers:
        handler.body, handled = _branch(frame, handler.body, before)
        after = meet(after, handled)
    if node.finalbody:
        node.finalbody, last = _branch(frame, node.finalbody, before)
        after = None if after is None or last is None else after | last
    frame.bound = after
    out.append(node)


def _with(frame: Frame, node: ast.With, out: Statements) -> None:
    """The expansion of the language reference, one manager at a time."""
    item, rest = node.items[0], node.items[1:]
    body: Statements = [place(ast.With(rest, node.body), node)] if rest else node.body
    source = item.context_expr
    manager = reduce(frame, source, out)
    value, hit, raised = frame.temporary(), frame.temporary(), frame.temporary()
    target: Statements = []
    if item.optional_vars is not None:
        target.append(place(ast.Assign([item.optional_vars], load(value, source)), source))
    if not frame.is_stable(manager, [*target, *body]):
        manager = frame.keep(manager, out)
    made = frame.template(
        _WITH,
        source,
        "type BaseException",
        M=manager,
        ENTER=frame.temporary(),
        EXIT=frame.temporary(),
        VALUE=value,
        HIT=hit,
        ERROR=raised,
        TARGET=target,
        BODY=body,
    )
    out.extend(reduce_block(frame, made))


_WITH = """\
ENTER = type(M).__enter__
EXIT = type(M).__exit__
VALUE = ENTER(M)
HIT = False
try:
    TARGET
    BODY
except BaseException as ERROR:
    HIT = True
    if not EXIT(M, type(ERROR), ERROR, ERROR.__traceback__):
        raise
finally:
    if not HIT:
        EXIT(M, None, None, None)
"""


def _assert(frame: Frame, node: ast.Assert, out: Statements) -> None:
    if not __debug__:
        return
    text = "if not TEST:\n    raise AssertionError" + ("(MESSAGE)" if node.msg is not None else "")
    holes = {"TEST": node.test} if node.msg is None else {"TEST": node.test, "MESSAGE": node.msg}
    out.extend(reduce_block(frame, frame.template(text, node, "AssertionError", **holes)))


def _function(frame: Frame, node: ast.FunctionDef, out: Statements) -> None:
    """@a @b def f  -->  evaluate a, b and the defaults; def f; f = b(f); f = a(f)."""
    decorators = [operand(frame, decorator) for decorator in node.decorator_list]
    node.decorator_list = []
    made: Statements = []
    reduce_defaults(frame, node.args, made)
    define: Statements = [*made, frame.function(frame.names, node), assign(node.name, constant(None, node), node)]
    for number, decorator in enumerate(decorators):
        later = [statement for other in decorators[number + 1 :] for statement in other.out]
        out.extend(decorator.out)
        # Nothing runs between the innermost decorator and its call but the `def`.
        direct = number + 1 == len(decorators) and is_silent(made) and isinstance(decorator.value, ast.Name)
        if not (direct and getattr(decorator.value, "id", "") != node.name):
            if not frame.is_stable(decorator.value, [*later, *define]):
                decorator.value = frame.keep(decorator.value, out)
    out.extend([*made, node])
    frame.bind(node.name)
    for decorator in reversed(decorators):
        call = place(ast.Call(decorator.value, [load(node.name, node)], []), decorator.value)
        out.append(assign(node.name, call, decorator.value))


def _class(frame: Frame, node: ast.ClassDef, out: Statements) -> None:
    frame.class_body(frame.names, node)
    frame.bind(node.name)
    out.append(node)


def _import(frame: Frame, node: ast.Import | ast.ImportFrom, out: Statements) -> None:
    for alias in node.names:
        frame.bind(alias.asname or alias.name.split(".")[0])
    out.append(node)


def _match(frame: Frame, node: ast.Match, out: Statements) -> None:
    subject = reduce(frame, node.subject, out)
    out.extend(reduce_block(frame, reduce_match(frame, node, subject, out)))


_NAMES = {
    "AsyncFunctionDef": "an async function",
    "AsyncFor": "async for",
    "AsyncWith": "async with",
    "TryStar": "except*",
    "TypeAlias": "a type alias statement",
}
_HANDLERS: dict[type[ast.stmt], Callable[[Frame, Any, Statements], None]] = {
    ast.Assign: reduce_assign,
    ast.AugAssign: reduce_augmented,
    ast.AnnAssign: _annotated,
    ast.Expr: _expression,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Break: _jump,
    ast.Continue: _jump,
    ast.Pass: _pass,
    ast.Global: _same,
    ast.Nonlocal: _same,
    ast.Delete: _delete,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.Try: _try,
    ast.With: _with,
    ast.Assert: _assert,
    ast.FunctionDef: _function,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.Match: _match,
}
