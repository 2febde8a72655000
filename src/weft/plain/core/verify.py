"""Checks that a tree is Core: the definition of Core, as code."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from weft.plain.core.build import is_atom


class BadCore(Exception):
    """A node that Core does not have."""

    def __init__(self, node: ast.AST, reason: str) -> None:
        text = ast.unparse(node) if isinstance(node, (ast.expr, ast.stmt)) else type(node).__name__
        super().__init__(f"line {getattr(node, 'lineno', '?')}: {reason}: {text[:200]}")


def verify(tree: ast.FunctionDef | ast.ClassDef) -> None:
    """Raise BadCore at the first node that is not Core, or that has no position."""
    if isinstance(tree, ast.ClassDef):
        _class(tree)
    else:
        _function(tree)
    for node in ast.walk(tree):
        if "lineno" in node._attributes and not hasattr(node, "lineno"):
            raise BadCore(node, "no position")


def _require(holds: bool, node: ast.AST, reason: str) -> None:
    if not holds:
        raise BadCore(node, reason)


def _function(node: ast.FunctionDef) -> None:
    _body(node.body)


def _nested(node: ast.FunctionDef) -> None:
    _require(not node.decorator_list, node, "decorators")
    for default in (*node.args.defaults, *node.args.kw_defaults):
        _require(default is None or is_atom(default), node, "a default that is no atom")
    _function(node)


def _class(node: ast.ClassDef) -> None:
    for child in node.body:
        if isinstance(child, ast.FunctionDef):
            _function(child)
        elif isinstance(child, ast.ClassDef):
            _class(child)


def _body(statements: list[ast.stmt]) -> None:
    for statement in statements:
        check = _STATEMENTS.get(type(statement))
        if check is None:
            raise BadCore(statement, "not a statement of Core")
        check(statement)


def _nothing(node: ast.AST) -> None:
    """Nothing inside to look at."""


def _assign(node: ast.Assign) -> None:
    _require(len(node.targets) == 1, node, "several targets")
    target = node.targets[0]
    if isinstance(target, ast.Tuple):
        inner = [entry.value if isinstance(entry, ast.Starred) else entry for entry in target.elts]
        _require(all(isinstance(entry, ast.Name) for entry in inner), node, "unpacking to what is no name")
        _require(is_atom(node.value), node, "unpacking of what is no atom")
        return
    _target(target)
    if isinstance(node.value, (ast.Yield, ast.YieldFrom)) and isinstance(target, ast.Name):
        if node.value.value is not None:
            _expression(node.value.value)
    else:
        _expression(node.value)


def _target(target: ast.expr) -> None:
    if isinstance(target, (ast.Attribute, ast.Subscript)):
        _require(is_atom(target.value), target, "a place in what is no atom")
        if isinstance(target, ast.Subscript):
            _atomic_index(target.slice)
    else:
        _require(isinstance(target, ast.Name), target, "not a target of Core")


def _atomic_index(index: ast.expr) -> None:
    if isinstance(index, ast.Tuple):
        for entry in index.elts:
            _atomic_index(entry)
    elif isinstance(index, ast.Slice):
        for bound in (index.lower, index.upper, index.step):
            _require(bound is None or is_atom(bound), index, "a bound that is no atom")
    else:
        _require(is_atom(index), index, "an index that is no atom")


def _augmented(node: ast.AugAssign) -> None:
    _require(isinstance(node.target, ast.Name), node, "augmented assignment to what is no name")
    _expression(node.value)


def _expr(node: ast.Expr) -> None:
    if isinstance(node.value, (ast.Yield, ast.YieldFrom)):
        if node.value.value is not None:
            _expression(node.value.value)
    else:
        _expression(node.value)


def _return(node: ast.Return) -> None:
    _require(node.value is not None, node, "return without a value")
    if node.value is not None:
        _expression(node.value)


def _raise(node: ast.Raise) -> None:
    for part in (node.exc, node.cause):
        if part is not None:
            _expression(part)


def _if(node: ast.If) -> None:
    _expression(node.test)
    _body(node.body)
    _body(node.orelse)


def _while(node: ast.While) -> None:
    _require(not node.orelse, node, "while with else")
    _expression(node.test)
    _body(node.body)


def _for(node: ast.For) -> None:
    _require(not node.orelse, node, "for with else")
    _require(isinstance(node.target, ast.Name), node, "a loop's target that is no name")
    _expression(node.iter)
    _body(node.body)


def _try(node: ast.Try) -> None:
    for handler in node.handlers:
        if handler.type is not None:
            _expression(handler.type)
        _body(handler.body)
    for body in (node.body, node.orelse, node.finalbody):
        _body(body)


def _delete(node: ast.Delete) -> None:
    _require(len(node.targets) == 1, node, "several targets")
    _target(node.targets[0])


def _expression(node: ast.expr) -> None:
    _require(isinstance(node, _EXPRESSIONS), node, "not an expression of Core")
    if isinstance(node, ast.Compare):
        _require(len(node.ops) == 1, node, "a chained comparison")
    if isinstance(node, ast.Dict):
        _require(None not in node.keys or len(node.keys) == 1, node, "** beside other items")
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.keyword):
            _expression(child.value)
        elif isinstance(child, ast.Starred):
            _require(isinstance(node, ast.Call), node, "a star in a display")
            _expression(child.value)
        elif isinstance(child, ast.expr):
            _require(not isinstance(child, ast.Slice) or isinstance(node, (ast.Subscript, ast.Tuple)), node, "a slice")
            _expression(child)


_EXPRESSIONS = (
    ast.Constant,
    ast.Name,
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.BoolOp,
    ast.IfExp,
    ast.Call,
    ast.Attribute,
    ast.Subscript,
    ast.Slice,
    ast.Tuple,
    ast.List,
    ast.Set,
    ast.Dict,
    ast.JoinedStr,
    ast.FormattedValue,
)
_STATEMENTS: dict[type[ast.stmt], Callable[[Any], None]] = {
    ast.Assign: _assign,
    ast.AugAssign: _augmented,
    ast.Expr: _expr,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.Try: _try,
    ast.Delete: _delete,
    ast.FunctionDef: _nested,
    ast.ClassDef: _class,
    ast.Break: _nothing,
    ast.Continue: _nothing,
    ast.Pass: _nothing,
    ast.Global: _nothing,
    ast.Nonlocal: _nothing,
    ast.Import: _nothing,
    ast.ImportFrom: _nothing,
}
