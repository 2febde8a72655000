"""Small makers of nodes, each placed at the source it comes from, and templates: Python text with holes."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from functools import cache
from types import EllipsisType
from typing import TypeVar

from weft.frontend.source import parsed

Node = TypeVar("Node", bound=ast.AST)
# A hole of a template takes another name, an expression, or (a hole that stands alone as a statement) statements.
Filling = str | ast.expr | list[ast.stmt]


def place(node: Node, source: ast.AST) -> Node:
    """Give `node` and its new children the position of `source`; children that have one keep it."""
    if "lineno" in node._attributes:
        if hasattr(node, "lineno"):
            return node
        ast.copy_location(node, source)
    for child in ast.iter_child_nodes(node):
        place(child, source)
    return node


def load(name: str, source: ast.AST) -> ast.Name:
    return place(ast.Name(name, ast.Load()), source)


def store(name: str, source: ast.AST) -> ast.Name:
    return place(ast.Name(name, ast.Store()), source)


def constant(value: str | bytes | complex | EllipsisType | None, source: ast.AST) -> ast.Constant:
    return place(ast.Constant(value), source)


def assign(name: str, value: ast.expr, source: ast.AST) -> ast.Assign:
    return place(ast.Assign([store(name, source)], value), source)


def never_bound(name: str, source: ast.AST) -> ast.If:
    """if False: name = None  --- makes a name local and does nothing else."""
    return conditional(constant(False, source), [assign(name, constant(None, source), source)], [], source)


def negated(test: ast.expr) -> ast.expr:
    """The opposite of a truth value: not not t --> t, for a value that is only tested."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return place(ast.UnaryOp(ast.Not(), test), test)


def conditional(test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], source: ast.AST) -> ast.If:
    return place(ast.If(test, body, orelse), source)


def is_constant(node: ast.expr) -> bool:
    """A literal, or a number with a sign (which is an operation in `ast`)."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        return isinstance(node.operand, ast.Constant) and type(node.operand.value) in (int, float, complex)
    return isinstance(node, ast.Constant)


def is_atom(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or is_constant(node)


def again(atom: ast.expr) -> ast.expr:
    """A second use of an atom: a node of its own, to be read."""
    return load(atom.id, atom) if isinstance(atom, ast.Name) else copy.deepcopy(atom)


def function(name: str, arguments: ast.arguments, body: list[ast.stmt], source: ast.AST) -> ast.FunctionDef:
    made = copy.deepcopy(_parsed("def NAME(): pass")[0])
    assert isinstance(made, ast.FunctionDef)
    made.name, made.args, made.body = name, arguments, body
    return ast.copy_location(made, source)


def arguments(names: list[str], source: ast.AST) -> ast.arguments:
    made = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    return place(made, source)


_parsed = cache(parsed)


def fill(text: str, holes: Mapping[str, Filling], source: ast.AST) -> list[ast.stmt]:
    """The statements of a template with its holes filled: fill("X = F(Y)", {"X": "_t1", ...}, node)."""
    statements = copy.deepcopy(_parsed(text))
    for statement in statements:
        for node in ast.walk(statement):
            if "lineno" in node._attributes:
                ast.copy_location(node, source)
    filler = _Filler(holes)
    return [made for statement in statements for made in filler.statements(statement)]


class _Filler(ast.NodeTransformer):
    def __init__(self, holes: Mapping[str, Filling]) -> None:
        self.holes = holes

    def statements(self, statement: ast.stmt) -> list[ast.stmt]:
        made = self.visit(statement)
        return made if isinstance(made, list) else [made]

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | list[ast.stmt]:
        if isinstance(node.value, ast.Name):
            filling = self.holes.get(node.value.id)
            if isinstance(filling, list):
                return filling
        node.value = self.visit(node.value)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        filling = self.holes.get(node.id)
        if isinstance(filling, str):
            node.id = filling
        elif isinstance(filling, ast.expr):
            return again(filling) if is_atom(filling) and isinstance(node.ctx, ast.Load) else filling
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        name = self.holes.get(node.name or "")
        if isinstance(name, str):
            node.name = name
        self.generic_visit(node)
        return node

    def visit_alias(self, node: ast.alias) -> ast.alias:
        name = self.holes.get(node.asname or "")
        if isinstance(name, str):
            node.asname = name
        return node
