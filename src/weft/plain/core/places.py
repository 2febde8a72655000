"""Places that are read, stored to, updated or deleted: the parts of `o.a` and `x[i, j:k]` as operands."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from weft.plain.core.build import again
from weft.plain.core.operands import Operand

Place = ast.Attribute | ast.Subscript


def parts(place: Place) -> list[ast.expr]:
    """What is evaluated, in order, before the place itself is read or written."""
    if isinstance(place, ast.Attribute):
        return [place.value]
    return [place.value, *(part for part, _ in _index_parts(place))]


def with_parts(place: Place, operands: list[ast.expr]) -> None:
    """Put reduced parts back."""
    place.value = operands[0]
    if isinstance(place, ast.Subscript):
        for (_, put), part in zip(list(_index_parts(place)), operands[1:]):
            put(part)


def same_place(place: Place, context: ast.expr_context) -> Place:
    """A second use of a place whose parts are atoms."""
    if isinstance(place, ast.Attribute):
        return ast.copy_location(ast.Attribute(again(place.value), place.attr, context), place)
    return ast.copy_location(ast.Subscript(again(place.value), _same_index(place.slice), context), place)


def _same_index(index: ast.expr) -> ast.expr:
    if isinstance(index, ast.Slice):
        bounds = [None if bound is None else again(bound) for bound in (index.lower, index.upper, index.step)]
        return ast.copy_location(ast.Slice(*bounds), index)
    if isinstance(index, ast.Tuple):
        return ast.copy_location(ast.Tuple([_same_index(part) for part in index.elts], ast.Load()), index)
    return again(index)


def _index_parts(place: ast.Subscript) -> Iterator[tuple[ast.expr, Callable[[ast.expr], None]]]:
    """Each expression in an index and how to replace it: the bounds of slices, the entries of a tuple."""
    index = place.slice

    def put_index(value: ast.expr) -> None:
        place.slice = value

    if isinstance(index, ast.Slice):
        yield from _bounds(index)
    elif isinstance(index, ast.Tuple) and not any(isinstance(entry, ast.Starred) for entry in index.elts):
        for number, entry in enumerate(index.elts):
            if isinstance(entry, ast.Slice):
                yield from _bounds(entry)
            else:
                yield entry, _entry(index, number)
    else:
        yield index, put_index


def _entry(index: ast.Tuple, number: int) -> Callable[[ast.expr], None]:
    def put(value: ast.expr) -> None:
        index.elts[number] = value

    return put


def _bounds(index: ast.Slice) -> Iterator[tuple[ast.expr, Callable[[ast.expr], None]]]:
    for name in ("lower", "upper", "step"):
        bound = getattr(index, name)
        if bound is not None:
            yield bound, lambda value, name=name: setattr(index, name, value)  # type: ignore[misc]


def operands(place: Place, reduce: Callable[[ast.expr], Operand]) -> list[Operand]:
    return [reduce(part) for part in parts(place)]
