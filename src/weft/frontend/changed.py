"""What a function does with its arguments that are lists, dicts and sets, as its statements tell before it is built.
In: the statements and a parameter; out: whether it gets or loses items, whether keys are looked for in it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from weft.frontend.liveness import bound_anew

#: Methods that change a list, dict or set.
_OF_LISTS = ("append", "extend", "insert", "pop", "remove", "clear", "appendleft", "popleft", "extendleft", "rotate")
_CHANGES = frozenset((*_OF_LISTS, "add", "discard", "update", "setdefault", "popitem"))
#: Uses of a dict or set that look at its entries one after the other.
_RUNS = frozenset(("keys", "values", "items"))
_WHOLE = frozenset(("len", "list", "sorted", "sum", "min", "max", "enumerate"))


def is_changed(body: Sequence[ast.stmt], name: str, is_table: bool) -> bool:
    """Whether an argument surely gets or loses items under its name, if these statements run; of a dict or set
    (`is_table`), whether something is stored in it."""
    if name in bound_anew(body):
        return False
    return any(_changes(node, name, is_table) for statement in body for node in ast.walk(statement))


def _changes(node: ast.AST, name: str, is_table: bool) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _CHANGES and _is_name(node.func.value, name)
    if not isinstance(node, ast.Subscript) or not _is_name(node.value, name):
        return False
    return isinstance(node.ctx, ast.Del) or (is_table and isinstance(node.ctx, ast.Store))


def is_searched(body: Sequence[ast.stmt], name: str) -> bool:
    """Whether keys may be looked for in a dict or set: it is not only run through."""
    return sum(_names(body, name)) > sum(_only_run_through(node, name) for top in body for node in ast.walk(top))


def _names(body: Sequence[ast.stmt], name: str) -> Iterator[bool]:
    return (_is_name(node, name) for statement in body for node in ast.walk(statement))


def _only_run_through(node: ast.AST, name: str) -> bool:
    if isinstance(node, (ast.For, ast.comprehension)):
        return _is_name(node.iter, name)
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute):
        return node.func.attr in _RUNS and _is_name(node.func.value, name)
    whole = isinstance(node.func, ast.Name) and node.func.id in _WHOLE and len(node.args) == 1
    return whole and _is_name(node.args[0], name)


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
