"""What a list will hold that is empty where it is made.  In: the name that it gets, and the statements of the function
from there; out: the type of the items that are appended to it.

    found = []
    for x in a:
        if x > 0:
            found.append(x * 2)          -->    found: items of float64

It is not said if the statements do not tell, or tell of a choice between types: then the first build finds it.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable

from weft.frontend.building import Building
from weft.frontend.foreseen import Elements, Known, Number, Several, Walk, denoted
from weft.frontend.items import merged
from weft.frontend.liveness import Liveness
from weft.frontend.values import ItemType
from weft.ir.types import ScalarType


def items_appended(builder: Building, name: str) -> ItemType | None:
    """The type of the items of a new list that gets this name."""
    body = builder.scope.body
    here = next((at for at, node in enumerate(body) if _holds(node, builder.statement)), None)
    if here is None:
        return None
    walk = _Appends(builder.scope.liveness, lambda other: denoted(builder, other))
    walk.block(body[here:])
    items = walk.items.get(name, [])
    return functools.reduce(merged, items) if items and None not in items else None


def _holds(node: ast.stmt, inner: ast.stmt) -> bool:
    return node is inner or any(part is inner for part in ast.walk(node))


class _Appends(Walk):
    """All that is appended to lists, by their names; None for what is not known."""

    def __init__(self, liveness: Liveness, outside: Callable[[str], Known]) -> None:
        super().__init__(liveness, outside)
        self.items: dict[str, list[ItemType | None]] = {}

    def statement(self, node: ast.stmt) -> None:
        call = node.value if isinstance(node, ast.Expr) else None
        method = call.func if isinstance(call, ast.Call) else None
        if isinstance(call, ast.Call) and isinstance(method, ast.Attribute) and isinstance(method.value, ast.Name):
            known = method.attr == "append" and len(call.args) == 1
            if known or method.attr in ("extend", "insert"):
                items = self.items.setdefault(method.value.id, [])
                items.append(_layout(self.value(call.args[0])) if known else None)
        super().statement(node)

    def known(self, name: str) -> Known:
        items = set(self.items.get(name, ()))
        if len(items) == 1 and isinstance(of := items.pop(), ScalarType) and super().known(name) is None:
            return Elements(of, 1, is_list=True)
        return None if name in self.several else super().known(name)

    def _ifexp(self, node: ast.IfExp) -> Known:
        same = self.value(node.body) == self.value(node.orelse)
        return super()._ifexp(node) if same else None

    def _call(self, node: ast.Call) -> Known:
        kinds = {part.type if isinstance(part, Number) else None for part in map(self.value, node.args)}
        chooses = isinstance(node.func, ast.Name) and node.func.id in ("max", "min", "sum")
        return None if chooses and len(kinds) > 1 else super()._call(node)


def _layout(value: Known) -> ItemType | None:
    if isinstance(value, Number):
        return value.type
    if not isinstance(value, Several) or not value.items:
        return None
    parts = tuple(map(_layout, value.items))
    return None if None in parts else parts  # type: ignore[return-value]
