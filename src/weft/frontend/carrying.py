"""Names that a comprehension assigns to (`:=`) and that outlive the item they were assigned for.  In: the statements of
a function; out: the same, where such a comprehension is a loop of its own.

    return [s := s + x for x in xs]    -->    items = []
                                              for x_own in xs:
                                                  items.append(s := s + x_own)
                                              return items

Elsewhere (inside another expression, in a set, a dict or a generator) the assignment is marked, and refused when it is
met: the body of a comprehension is built as independent trips.  A name of one item only is left as it is.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Union

from weft.frontend.liveness import surely_named, target_names

_Comprehension = Union[ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp]
_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
_MARK, _ITEMS = "weft_carried", "__weft_items"


def is_carried(node: ast.NamedExpr) -> bool:
    """Whether an assignment in a comprehension is seen by other items, or after it."""
    return getattr(node, _MARK, False)


def with_carried(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements with comprehensions that carry names as loops, where they can be."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    naming = [node for node in nodes if isinstance(node, _COMPREHENSIONS) and any(_assignments(node))]
    if not naming:
        return body
    inside = {id(part) for node in naming for part in ast.walk(node)}
    outside = {node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in inside}
    outside |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    carrying = [node for node in naming if _carried(node, outside)]
    for node in carrying:
        names = _carried(node, outside)
        for part in _assignments(node):
            if part.target.id in names:
                setattr(part, _MARK, True)
    opener = _Opener({id(node) for node in carrying})
    return [new for statement in body for new in opener.opened(statement)]


def _assignments(node: ast.AST) -> Iterator[ast.NamedExpr]:
    return (part for part in ast.walk(node) if isinstance(part, ast.NamedExpr))


def _carried(node: _Comprehension, outside: set[str]) -> set[str]:
    """Names that have a meaning beyond one item: they occur elsewhere, or are read before they are surely set."""
    names = {part.target.id for part in _assignments(node)}
    known: set[str] = set()
    early: set[str] = set()
    tests = [test for generator in node.generators for test in (generator.iter, *generator.ifs)]
    items = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    for expression in (*tests, *items):
        early |= _read_early(expression, known, names)
        known |= surely_named(expression)
    return (names & outside) | early


def _read_early(expression: ast.expr, known: set[str], names: set[str]) -> set[str]:
    """Those of `names` that an expression may read before it has set them."""
    set_here, early = set(known), set[str]()

    def look(node: ast.AST) -> None:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names - set_here:
            early.add(node.id)
        if isinstance(node, ast.NamedExpr):
            look(node.value)
            return
        for child in ast.iter_child_nodes(node):
            look(child)
            if not isinstance(node, (ast.BoolOp, ast.IfExp)) or child is next(ast.iter_child_nodes(node)):
                set_here.update(surely_named(child))

    look(expression)
    return early


class _Opener(ast.NodeTransformer):
    """Statements whose whole value is a list that carries names, as loops."""

    def __init__(self, carrying: set[int]) -> None:
        self.carrying = carrying
        self.count = 0

    def opened(self, statement: ast.stmt) -> list[ast.stmt]:
        made = self.visit(statement)
        return made if isinstance(made, list) else [made]

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Parts are visited in a copy of the statement: the tree is the file's."""
        if not isinstance(node, ast.stmt):
            return node
        new = copy.copy(node)
        for field, old in ast.iter_fields(node):
            if isinstance(old, list) and old and isinstance(old[0], (ast.stmt, ast.ExceptHandler)):
                setattr(new, field, [part for each in old for part in self._parts(each)])
        return new

    def _parts(self, node: ast.AST) -> list[ast.AST]:
        if isinstance(node, ast.ExceptHandler):
            handler = copy.copy(node)
            handler.body = [part for each in node.body for part in self.opened(each)]
            return [handler]
        return list(self.opened(node)) if isinstance(node, ast.stmt) else [node]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node  # built as a function of its own

    def visit_Assign(self, node: ast.Assign) -> object:
        return self._whole(node)

    def visit_Return(self, node: ast.Return) -> object:
        return self._whole(node)

    def visit_Expr(self, node: ast.Expr) -> object:
        return self._whole(node)

    def _whole(self, node: ast.Assign | ast.Return | ast.Expr) -> object:
        value = node.value
        if not isinstance(value, ast.ListComp) or id(value) not in self.carrying:
            return node
        if any(generator.is_async for generator in value.generators):
            return node
        self.count += 1
        items = f"{_ITEMS}{self.count}"
        whole = _with_own_targets(value)
        method = ast.Attribute(ast.Name(items, ast.Load()), "append", ast.Load())
        inner: ast.stmt = ast.Expr(ast.Call(method, [whole.elt], []))
        for part in _assignments(inner):
            setattr(part, _MARK, False)
        for generator in reversed(whole.generators):
            for test in reversed(generator.ifs):
                inner = ast.If(test, [inner], [])
            inner = ast.For(generator.target, generator.iter, [inner], [])
        for part in _assignments(inner):
            setattr(part, _MARK, False)
        start = ast.Assign([ast.Name(items, ast.Store())], ast.List([], ast.Load()))
        end = copy.copy(node)
        end.value = ast.Name(items, ast.Load())
        return [ast.fix_missing_locations(ast.copy_location(new, value)) for new in (start, inner)] + [
            ast.fix_missing_locations(_placed(end, node))
        ]


def _placed(new: ast.stmt, old: ast.stmt) -> ast.stmt:
    value = getattr(new, "value", None)
    if isinstance(value, ast.AST):
        ast.copy_location(value, old)
    return new


def _with_own_targets(node: ast.ListComp) -> ast.ListComp:
    """A copy whose variables are not those of the function."""
    whole = copy.deepcopy(node)
    names = {name for generator in whole.generators for name in target_names(generator.target)}
    outside = {id(part) for part in ast.walk(whole.generators[0].iter)}
    for part in ast.walk(whole):
        if isinstance(part, ast.Name) and part.id in names and id(part) not in outside:
            part.id = f"{part.id}_own"
    return whole
