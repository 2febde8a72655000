"""The order of attributes.  In: a unit whose types are settled; out: the slots of each class in the order in which its
objects get their attributes.

`vars(x)` shows that order. An object that gets its attributes in another one is marked (`attributes.set_slot`), and the
call deoptimises if a caller could see it; so the order here has to be the usual one, that of `__init__`.
"""

from __future__ import annotations

import ast
import types
from typing import Any

from weft.plain.unit import Unit

_DEEPEST = 6


def order_attributes(unit: Unit) -> None:
    """Sort the attributes of each class: those of `__init__` first, the others as they were found."""
    for info in unit.classes.values():
        found: dict[str, None] = {}
        _collect(unit, info.cls, info.cls.__mro__, "__init__", found, 0)
        first = [name for name in found if name in info.attributes]
        rest = [name for name in info.attributes if name not in found]
        info.attributes = {name: info.attributes[name] for name in (*first, *rest)}


def _collect(unit: Unit, cls: type, among: tuple[type, ...], method: str, found: dict[str, None], depth: int) -> None:
    """Note the attributes that a method sets, those of the methods it calls on the way."""
    place = next((k for k, base in enumerate(among) if method in vars(base)), None)
    if place is None or depth > _DEEPEST:
        return
    function: Any = vars(among[place])[method]
    fields = vars(among[place]).get("__dataclass_fields__", {})
    if method == "__init__" and fields and "__dataclass_params__" in vars(among[place]):
        found.update(dict.fromkeys(fields))
    if not isinstance(function, types.FunctionType):
        return
    info = unit.functions.get(id(function))
    if info is not None and info.parameters:
        _Stores(unit, cls, among[place + 1 :], info.parameters[0], found, depth).visit(info.tree)


class _Stores(ast.NodeVisitor):
    """Walks a method in the order of its text."""

    def __init__(
        self, unit: Unit, cls: type, above: tuple[type, ...], owner: str, found: dict[str, None], depth: int
    ) -> None:
        self.unit, self.cls, self.above = unit, cls, above
        self.owner, self.found, self.depth = owner, found, depth

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            if self._is_own(target):
                self.found.setdefault(target.attr)  # type: ignore[attr-defined]

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Attribute):
            return
        name = node.func.attr
        if name == "__init__":
            _collect(self.unit, self.cls, self.above, name, self.found, self.depth + 1)
        elif self._is_own(node.func):
            _collect(self.unit, self.cls, self.cls.__mro__, name, self.found, self.depth + 1)

    def _is_own(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == self.owner
