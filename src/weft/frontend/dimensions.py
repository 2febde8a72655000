"""Dimensions that a pragma names (`#pragma :M=>parallel :N=>reduction(sum:y)`).  In: the tree of a function; out: what
is asked of the loops of its statements, or an error if a statement has fewer dimensions than its pragma.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Mapping, Sequence

from weft.directives import Dimension, Shape
from weft.frontend.pragmas import DIMENSIONS, Named
from weft.ir.expr import Reduce
from weft.ir.program import Alloc, Check, If, Node, Stmt
from weft.ir.walk import subexpressions, walk

#: What a statement may become for its dimensions to be those of domains.
_COUNTED = (Stmt, Alloc, Check, If)


def check_dimensions(node: ast.stmt, made: Sequence[Node]) -> None:
    """PragmaError if a pragma names more dimensions than the statement has; `made`: what it has become."""
    note = getattr(node, DIMENSIONS, None)
    if not isinstance(note, Named):
        return
    inner = [*walk(tuple(made))]
    statements = [each for each in inner if isinstance(each, Stmt)]
    if not statements or not all(isinstance(each, _COUNTED) for each in inner):
        return  # nothing yet, or loops and calls, whose dimensions no domain tells
    values = (each for stmt in statements for each in subexpressions(stmt.value))
    summed = sum(len(each.dims) for each in values if isinstance(each, Reduce))
    most = max(len(stmt.domain) for stmt in statements) + summed
    if len(note.dimensions) > most:
        many = f"{most} dimension{'s' * (most != 1)}" if most else "no dimension"
        reason = f"the statement has {many}, the pragma names {len(note.dimensions)}: {' '.join(note.dimensions)}"
        raise note.pragma.problem(reason, "name each dimension once, also those that are summed, and no others")


def shapes(tree: ast.FunctionDef, numbers: Mapping[str, object]) -> tuple[Shape, ...]:
    """What the pragmas of a function say of dimensions; `numbers`: values of the names that stand for block sizes."""
    found: list[Shape] = []
    for node in ast.walk(tree):
        note = getattr(node, DIMENSIONS, None)
        if isinstance(note, Named) and isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            found.append(Shape(node.lineno, node.end_lineno or node.lineno, _dimensions(node, note, numbers)))
    return tuple(found)


def names(tree: ast.FunctionDef) -> set[str]:
    """The names that pragmas of a function use for numbers of elements."""
    notes = (getattr(node, DIMENSIONS, None) for node in ast.walk(tree))
    told = (each for note in notes if isinstance(note, Named) for row in note.properties for each in row)
    return {text for name, text in told if name in ("block", "le") and text.isidentifier()}


def _dimensions(
    node: ast.Assign | ast.AugAssign | ast.AnnAssign, note: Named, numbers: Mapping[str, object]
) -> tuple[Dimension, ...]:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    axes = _axes(target) if isinstance(target, ast.Subscript) else None
    found: list[Dimension] = []
    for name, properties in zip(note.dimensions, note.properties):
        told = dict(properties)
        reduced = "reduction" in told or "reduce" in told
        axis = None
        if axes is not None and not reduced:
            axis = _axis(name, axes, {dimension.axis for dimension in found})
        dimension = Dimension(
            name=name,
            axis=axis,
            reduced=reduced or (axes is not None and axis is None),
            parallel="parallel" in told,
            vector="simd" in told,
            block=_number(told.get("block"), numbers),
            most=_number(told.get("le"), numbers),
            single="single_block" in told,
            registers="in_reg" in told,
        )
        found.append(dimension)
    return tuple(found)


def _axes(target: ast.Subscript) -> list[tuple[int, str]]:
    """The axes of a target that are slices, with their text."""
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    return [(axis, _plain(ast.unparse(part))) for axis, part in enumerate(parts) if isinstance(part, ast.Slice)]


def _axis(name: str, axes: list[tuple[int, str]], taken: set[int | None]) -> int | None:
    """The axis of a dimension: that with its very text, else the next with its lower bound."""
    left = [(axis, text) for axis, text in axes if axis not in taken]
    same = (axis for axis, text in left if text == _plain(name))
    lower = _plain(name).partition(":")[0]
    near = (axis for axis, text in left if text.partition(":")[0] == lower and _is_open(text))
    return next(itertools.chain(same, near), None)


def _is_open(text: str) -> bool:
    """Whether a slice ends where its array does, or is counted from there, so that it may be any dimension."""
    end = text.partition(":")[2]
    return not end or end.startswith("-")


def _plain(text: str) -> str:
    text = text.replace(" ", "")
    return text[1:] if text.startswith("0:") else text


def _number(text: str | None, numbers: Mapping[str, object]) -> int:
    """A number of elements that is known when the function is compiled; 0 if there is none."""
    if text is None:
        return 0
    try:
        value = int(text)
    except ValueError:
        known = numbers.get(text)
        value = known if isinstance(known, int) and not isinstance(known, bool) else 0
    return value if 0 < value < 2**31 else 0
