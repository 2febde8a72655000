"""What recursive functions give.  In: the result trees of a program; out: their `Template`: what the value of a
call is taken for before the function has been seen to its end, and what it is held to afterwards.

A string is where it begins in the pool that all functions share, and its length; a list or object is its number.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Union

from weft.errors import NOWHERE, Unsupported
from weft.frontend.held import Row
from weft.frontend.source import Source
from weft.frontend.values import ArrayOf, ItemType, ListOf, TextType
from weft.ir.program import NoneOut, Out, Program, ScalarOut, TupleOut
from weft.ir.types import FLOAT, INT, ScalarType
from weft.records import dataclass


@dataclass(frozen=True)
class Optional:
    """What a function gives that returns None on some paths."""

    held: Template


#: What a function gives: a number, None, a string, a list or object among those of its kind, or a tuple of these.
Template = Union[ScalarType, None, TextType, Row, Optional, tuple["Template", ...]]
GUESSES: tuple[Template, ...] = (INT, None, FLOAT)
LISTS: tuple[Template, ...] = (Row(ListOf(INT)), Row(ListOf(FLOAT)))
TEXTS: tuple[Template, ...] = (TextType("str"),)
#: The name of a result tree: whether there is a value, and the value.
MAYBE = "weft:maybe"
#: The names of results that are strings: where one begins in the pool, and its length.
TEXT_RESULTS = {"weft:str": TextType("str"), "weft:bytes": TextType("bytes")}


def parts_of(shape: Template) -> Iterator[Template]:
    """What a function gives, part by part."""
    if isinstance(shape, tuple):
        for part in shape:
            yield from parts_of(part)
    elif isinstance(shape, Optional):
        yield from parts_of(shape.held)
    else:
        yield shape


def returns_list(tree: ast.FunctionDef) -> bool:
    """Whether a list stands in what a function returns."""
    returns = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return) and node.value is not None]
    return any(isinstance(part, (ast.List, ast.ListComp)) for value in returns for part in ast.walk(value))


def returns_text(tree: ast.FunctionDef) -> bool:
    """Whether a string stands in what a function returns."""
    returns = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return) and node.value is not None]
    parts = [getattr(part, "value", part) for value in returns for part in ast.walk(value)]
    return any(isinstance(part, (ast.JoinedStr, str)) for part in parts)


def shapes_of(program: Program, rows: Mapping[str, ItemType]) -> list[Template]:
    """What a program gives on its paths."""
    return list(dict.fromkeys(shape_of(out, program.table, rows) for out in program.results))


def common(found: list[Template], assumed: Sequence[Template], source: Source) -> Template:
    """What a program gives, the same on every path; what it passes on from a call of itself counts last."""
    if len(found) == 2:
        found = [shape for shape in found if shape not in assumed] or found
    if len(found) != 1:
        reason = f"{source.name} returns values of different types"
        raise Unsupported(source.span(source.tree), reason, "return one type")
    return found[0]


def shape_of(out: Out, table: Mapping[str, Any], rows: Mapping[str, ItemType]) -> Template:
    if isinstance(out, NoneOut):
        return None
    if isinstance(out, ScalarOut) and out.buffer in rows:
        layout = rows[out.buffer]
        assert isinstance(layout, (ListOf, ArrayOf))
        return Row(layout)
    if isinstance(out, ScalarOut):
        of = table[out.buffer].type
        assert isinstance(of, ScalarType)
        return of
    if isinstance(out, TupleOut) and out.named == MAYBE:
        return Optional(shape_of(out.items[1], table, rows))
    if isinstance(out, TupleOut) and out.named in TEXT_RESULTS:
        return TEXT_RESULTS[out.named]
    if isinstance(out, TupleOut) and not out.as_list and not out.named:
        return tuple(shape_of(item, table, rows) for item in out.items)
    raise Unsupported(NOWHERE, "a recursive function that returns arrays or containers", "fill an array it is given")
