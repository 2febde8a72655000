"""Where a function works on arrays.  In: its tree, arguments, globals; out: the lines of expressions of whole arrays,
and of single elements, for all that is known before it is built.  The compiler of plain Python is not asked for these.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

from weft.frontend.foreseen import Elements, Known, Walk, is_of_numpy, of_python, outside_value
from weft.frontend.liveness import Liveness
from weft.frontend.values import Object
from weft.records import dataclass

#: Methods that look at all elements.
_METHODS = frozenset(("sum", "prod", "max", "min", "mean", "std", "var", "dot", "argmax", "argmin", "cumsum", "any"))


@dataclass
class ArrayWork:
    """Lines with expressions of whole arrays; lines with arrays at all."""

    vectors: set[int] = field(default_factory=set)
    elements: set[int] = field(default_factory=set)


class _Vectors(Walk):
    """All statements, and the expressions in them that work on whole arrays."""

    def __init__(self, liveness: Liveness, outside: Callable[[str], Known]) -> None:
        super().__init__(liveness, outside)
        self.work = ArrayWork()

    def is_late(self, test: ast.expr) -> bool:
        self.value(test)
        return True

    def statement(self, node: ast.stmt) -> None:
        super().statement(node)
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self.value(part)
        if not isinstance(node, (ast.For, ast.While, ast.If)):
            self.block([part for part in getattr(node, "body", []) if isinstance(part, ast.stmt)])

    def forget(self, nodes: Sequence[ast.stmt]) -> None:
        for node in nodes:
            if isinstance(node, (ast.For, ast.While)):
                self.block(node.body)
        super().forget(nodes)

    def value(self, node: ast.expr) -> Known:
        if isinstance(node, ast.Name) and _is_array(self.known(node.id)):
            self.work.elements.add(node.lineno)
        parts = [self.value(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        if any(map(_is_array, parts)) and self._is_of_arrays(node):
            self.work.vectors.add(node.lineno)
        if isinstance(node, ast.Attribute) and node.attr in _METHODS and _is_array(self.value(node.value)):
            self.work.vectors.add(node.lineno)
        return super().value(node)

    def _is_of_arrays(self, node: ast.expr) -> bool:
        """Whether an expression with arrays in it computes with all their elements."""
        if not isinstance(node, ast.Call):
            return isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare))
        function = self.value(node.func)
        return isinstance(function, Object) and is_of_numpy(function.value)


def array_work(tree: ast.FunctionDef, arguments: Sequence[Any], namespace: Any) -> ArrayWork:
    spec = tree.args
    names = [part.arg for part in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    given = {name: of_python(value) for name, value in zip(names, arguments)}
    walk = _Vectors(Liveness(tree.body), lambda name: given[name] if name in given else outside_value(namespace, name))
    walk.block(tree.body)
    return walk.work


def _is_array(value: Known) -> bool:
    return isinstance(value, Elements) and not value.is_list
