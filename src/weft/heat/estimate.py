"""How long a call would take in plain Python.  In: the syntax tree of a function and the arguments of a call; out:
seconds, roughly: trips of loops that can be told from the arguments, times the statements inside.  A loop that may end
early counts for little, since an estimate that is too high makes the program wait for nothing.

The nodes come from `_ast`: loading `ast` takes longer than an estimate.
"""

from __future__ import annotations

import _ast as ast
import operator

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

_STATEMENT = 60e-9  # seconds of the interpreter for each part of a simple statement
_UNKNOWN_TRIPS = 8.0
_DEEPEST = 40

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
}
_SIZED = (list, tuple, dict, set, str, bytes)
_FUNCTIONS: dict[str, Callable[..., Any]] = {"len": len, "min": min, "max": max, "int": int, "abs": abs}


class _Unknown(Exception):
    """A value that cannot be told without running the program."""


def seconds(tree: ast.FunctionDef, arguments: Mapping[str, Any], namespace: Mapping[str, Any]) -> float:
    """An estimate for one call; loops of unknown length count for little."""
    values = dict(arguments)
    _note_assignments(tree, values, namespace)
    return _of_body(tree.body, values, namespace)


def walk(tree: ast.AST) -> Iterator[ast.AST]:
    """The node and everything below it, as `ast.walk` but from top to bottom."""
    yield tree
    for name in tree._fields:
        value = getattr(tree, name, None)
        for child in value if isinstance(value, list) else (value,):
            if isinstance(child, ast.AST):
                yield from walk(child)


def _of_body(body: list[ast.stmt], values: dict[str, Any], namespace: Mapping[str, Any]) -> float:
    return sum(_of_statement(statement, values, namespace) for statement in body)


def _of_statement(statement: ast.stmt, values: dict[str, Any], namespace: Mapping[str, Any]) -> float:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        return _STATEMENT
    if isinstance(statement, ast.For):
        trips = _UNKNOWN_TRIPS if _may_end_early(statement) else _trips(statement.iter, values, namespace)
        return trips * (_STATEMENT + _of_body(statement.body, values, namespace))
    if isinstance(statement, ast.While):
        return _UNKNOWN_TRIPS * (_STATEMENT + _of_body(statement.body, values, namespace))
    if isinstance(statement, ast.If):
        sides = (_of_body(statement.body, values, namespace), _of_body(statement.orelse, values, namespace))
        return _STATEMENT + sum(sides) / 2
    nested = [child for field in ("body", "orelse", "finalbody") for child in getattr(statement, field, [])]
    if nested:
        return _of_body(nested, values, namespace)
    parts = sum(isinstance(node, (ast.BinOp, ast.Subscript, ast.Call, ast.Compare)) for node in walk(statement))
    return _STATEMENT * (1 + parts) + _whole_arrays(statement, values)


def _may_end_early(loop: ast.For) -> bool:
    """Whether the body leaves the loop on some condition: by `break`, or by `return` in it or further in."""

    def leaves(statements: list[Any], is_inner: bool) -> bool:
        for statement in statements:
            if isinstance(statement, ast.Return) or (isinstance(statement, ast.Break) and not is_inner):
                return True
            inner = is_inner or isinstance(statement, (ast.For, ast.While))
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                continue
            parts = [getattr(statement, field, []) for field in ("body", "orelse", "finalbody", "handlers", "cases")]
            if any(leaves(part, inner) for part in parts):
                return True
        return False

    return leaves(loop.body, False)


def _whole_arrays(statement: ast.stmt, values: Mapping[str, Any]) -> float:
    """Operations on whole arrays: a nanosecond an element of those named outside subscripts."""
    total = 0.0
    inside = {id(part) for node in walk(statement) if isinstance(node, ast.Subscript) for part in walk(node)}
    for node in walk(statement):
        if isinstance(node, ast.Name) and id(node) not in inside:
            size = getattr(values.get(node.id), "size", 0)
            total += 1e-9 * size if isinstance(size, int) else 0.0
    return total


def _trips(iterated: ast.expr, values: Mapping[str, Any], namespace: Mapping[str, Any]) -> float:
    try:
        if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name):
            if iterated.func.id in ("range", "prange"):
                return float(len(range(*(_value(argument, values, namespace) for argument in iterated.args))))
            if iterated.func.id in ("enumerate", "zip", "reversed", "sorted") and iterated.args:
                return _trips(iterated.args[0], values, namespace)
        return float(len(_value(iterated, values, namespace)))
    except (_Unknown, TypeError, ValueError, OverflowError, ArithmeticError):
        return _UNKNOWN_TRIPS


def _note_assignments(tree: ast.FunctionDef, values: dict[str, Any], namespace: Mapping[str, Any]) -> None:
    """Sizes that the function computes from its arguments; names that are set more than once are not known."""
    counts: dict[str, int] = {}
    for node in walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            counts[node.id] = counts.get(node.id, 0) + 1
    resolved: set[str] = set()
    for statement in tree.body:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target = statement.targets[0]
        targets = target.elts if isinstance(target, ast.Tuple) else [target]
        try:
            found = _value(statement.value, values, namespace)
            items = list(found) if isinstance(target, ast.Tuple) else [found]
        except (_Unknown, TypeError, ValueError, OverflowError, ArithmeticError):
            continue
        for place, item in zip(targets, items):
            if isinstance(place, ast.Name) and counts[place.id] == 1 and len(items) == len(targets):
                values[place.id] = item
                resolved.add(place.id)
    for name in counts.keys() - resolved:
        values.pop(name, None)


def _value(node: ast.expr, values: Mapping[str, Any], namespace: Mapping[str, Any], depth: int = 0) -> Any:
    """The value of an expression of sizes; nothing of the user's is called."""
    if depth > _DEEPEST:
        raise _Unknown
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        found = values.get(node.id, namespace.get(node.id))
        if found is None:
            raise _Unknown
        return found
    if isinstance(node, ast.Tuple):
        return tuple(_value(item, values, namespace, depth + 1) for item in node.elts)
    if isinstance(node, ast.Attribute) and node.attr in ("shape", "size", "ndim"):
        return _attribute(_value(node.value, values, namespace, depth + 1), node.attr)
    if isinstance(node, ast.Subscript):
        owner, index = (_value(part, values, namespace, depth + 1) for part in (node.value, node.slice))
        if isinstance(owner, tuple) and isinstance(index, int):
            return owner[index] if -len(owner) <= index < len(owner) else 0
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        sides = [_value(side, values, namespace, depth + 1) for side in (node.left, node.right)]
        if all(type(side) is int and abs(side) < 1 << 40 for side in sides) and abs(sides[1]) < 1 << 32:
            if not isinstance(node.op, ast.LShift) or 0 <= sides[1] < 40:
                return _OPERATORS[type(node.op)](*sides)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        function = _FUNCTIONS.get(node.func.id)
        inner = [_value(argument, values, namespace, depth + 1) for argument in node.args]
        sized = function is len and len(inner) == 1 and (type(inner[0]) in _SIZED or _is_array(inner[0]))
        if function is not None and (sized or (inner and all(type(item) is int for item in inner))):
            return function(*inner)
    raise _Unknown


def _is_array(value: object) -> bool:
    return type(value).__module__ == "numpy" and type(value).__name__ == "ndarray"


def _attribute(owner: Any, name: str) -> Any:
    if not _is_array(owner):
        raise _Unknown
    return getattr(owner, name)
