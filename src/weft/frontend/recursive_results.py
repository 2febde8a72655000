"""What recursive functions give.  In: the result trees of a program; out: their `Template`: what the value of a
call is taken for before the function has been seen to its end, and what it is held to afterwards.

A string is where it begins in the pool that all functions share, and its length; a list or object is its number.
A number that is Python's on some paths and NumPy's on others comes with a tag that says which.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Union

from weft.errors import NOWHERE, Unsupported
from weft.frontend import arith
from weft.frontend.building import Building
from weft.frontend.held import Row
from weft.frontend.mixed import Mixed, note_mixed
from weft.frontend.source import Source
from weft.frontend.values import ArrayOf, ItemType, ListOf, ObjectType, Scalar, TextType
from weft.ir.expr import Const, Read
from weft.ir.program import NoneOut, Out, Program, ScalarOut, TupleOut
from weft.ir.types import BOOL, FLOAT, INT, ScalarType
from weft.records import dataclass


@dataclass(frozen=True)
class Optional:
    """What a function gives that returns None on some paths."""

    held: Template


@dataclass(frozen=True)
class Either:
    """A number of NumPy's type `of`, or of Python's beside it: `total = 0.0` to which nothing has been added."""

    of: ScalarType


#: What a function gives: a number, None, a string, a list or object among those of its kind, or a tuple of these.
Template = Union[ScalarType, None, TextType, Row, Either, Optional, tuple["Template", ...]]
GUESSES: tuple[Template, ...] = (INT, None, FLOAT)
LISTS: tuple[Template, ...] = (Row(ListOf(INT)), Row(ListOf(FLOAT)))
TEXTS: tuple[Template, ...] = (TextType("str"),)
#: The name of a result tree: whether there is a value, and the value.
MAYBE = "weft:maybe"
#: The name of a result tree: whether a number is Python's, and the number.
EITHER = "weft:either"
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


def number_of(template: ScalarType | Row | Either) -> ScalarType:
    """The type of the number that is or stands for a value."""
    return INT if isinstance(template, Row) else template.of if isinstance(template, Either) else template


def joined(shapes: Sequence[Template]) -> Template:
    """What covers all, where they differ in nothing but whose numbers they hold; else None."""
    found, *others = shapes
    for other in others:
        found = _joined(found, other)
    return found


def _joined(one: Template, other: Template) -> Template:
    if one == other:
        return one
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        parts = tuple(map(_joined, one, other))
        return None if any(p is None and q is not None for p, q in zip(parts, one)) else parts
    types = [part.of if isinstance(part, Either) else part for part in (one, other)]
    strong = {of.strong if isinstance(of, ScalarType) and of.dtype.is_inexact else None for of in types}
    of = strong.pop()
    return None if of is None or strong else Either(of)


def tagged_result(builder: Building, out: Out, template: Template) -> Out:
    """A result whose numbers have tags where the template says so."""
    if isinstance(template, tuple) and isinstance(out, TupleOut):
        return TupleOut(tuple(tagged_result(builder, item, part) for item, part in zip(out.items, template)))
    if not isinstance(template, Either) or not isinstance(out, ScalarOut):
        return out
    emitter = builder.emitter
    of = emitter.buffers[out.buffer].type
    assert isinstance(of, ScalarType)
    tag, number = emitter.declare("is_python", BOOL), emitter.declare("result", template.of)
    emitter.assign((), tag.name, (), Const(of.weak, BOOL))
    emitter.assign((), number.name, (), arith.cast(Read(out.buffer, (), of), template.of))
    return TupleOut((ScalarOut(tag.name), ScalarOut(number.name)), named=EITHER)


def received_number(builder: Building, template: Either, name: str, results: list[str]) -> Scalar:
    """The number that a call gives, in new variables: a choice by its tag."""
    tag, number = builder.emitter.declare(f"{name}_type", BOOL), builder.emitter.declare(name, template.of)
    results.extend((tag.name, number.name))
    held = Read(number.name, (), template.of)
    python = arith.cast(held, ScalarType(template.of.dtype, weak=True))
    note_mixed(builder, held, Mixed(Read(tag.name, (), BOOL), python, Read(number.name, (), template.of)))
    return Scalar(held)


def shape_of(out: Out, table: Mapping[str, Any], rows: Mapping[str, ItemType]) -> Template:
    if isinstance(out, NoneOut):
        return None
    if isinstance(out, ScalarOut) and out.buffer in rows:
        layout = rows[out.buffer]
        assert isinstance(layout, (ListOf, ArrayOf, ObjectType))
        return Row(layout)
    if isinstance(out, ScalarOut):
        of = table[out.buffer].type
        assert isinstance(of, ScalarType)
        return of
    if isinstance(out, TupleOut) and out.named == MAYBE:
        return Optional(shape_of(out.items[1], table, rows))
    if isinstance(out, TupleOut) and out.named == EITHER:
        of = shape_of(out.items[1], table, rows)
        assert isinstance(of, ScalarType)
        return Either(of)
    if isinstance(out, TupleOut) and out.named in TEXT_RESULTS:
        return TEXT_RESULTS[out.named]
    if isinstance(out, TupleOut) and not out.as_list and not out.named:
        return tuple(shape_of(item, table, rows) for item in out.items)
    raise Unsupported(NOWHERE, "a recursive function that returns arrays or containers", "fill an array it is given")
