"""Results that hold lists inside containers.  In: such a value, or an argument with lists in it that has changed; out:
the result tree from which `weft.runtime.nested` makes the Python objects, each list once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from weft.frontend.blocks import packed_arrays
from weft.frontend.building import Building
from weft.frontend.growing import Cells
from weft.frontend.items import has_lists, has_names, has_objects, row_of
from weft.frontend.nested import packed
from weft.frontend.tables import Hashed
from weft.frontend.textpool import CODE
from weft.frontend.values import (
    Array,
    ArrayOf,
    ArraysOf,
    Dict,
    EitherType,
    HeapKind,
    ItemType,
    ListOf,
    Loaded,
    ObjectType,
    OptionOf,
    Records,
    Struct,
    TextType,
    Value,
)
from weft.ir.expr import ZERO, Expr, Read
from weft.ir.program import ArrayOut, ConstOut, Out, ScalarOut, TupleOut
from weft.ir.types import INT, DType

_LETTERS = {DType.I64: "i", DType.F64: "f", DType.BOOL: "b", DType.C128: "c"}
_LATER, _SETTLED = "weft.runtime.nested:later", "weft.runtime.nested:settled"


def lists_in(layout: ItemType | None) -> list[HeapKind]:
    """What the lists in an item hold, and the lists in those, and so on."""
    if isinstance(layout, tuple):
        return [kind for part in layout for kind in lists_in(part)]
    if isinstance(layout, ArrayOf):
        return [ArraysOf(layout)]
    if isinstance(layout, OptionOf):
        return lists_in(layout.item)
    if not isinstance(layout, ListOf) or layout.item is None:
        return []
    return [layout.item, *lists_in(layout.item)]


class Handover(Building):
    """Lists inside containers, on their way to the caller."""

    _shows_texts = False

    def is_nested(self, value: Value) -> bool:
        """Whether a value is a list, dict or set among others, or holds such."""
        if isinstance(value, Struct):
            return False
        if isinstance(value, Dict):
            return row_of(value) is not None or has_lists(value.item)
        return row_of(value) is not None or (isinstance(value, Records) and has_lists(value.item))


def spelled(builder: Building, layout: ItemType, node: ast.AST) -> str:
    """An item as weft.runtime.templates reads it; NumPy's numbers are "n"."""
    if isinstance(layout, ObjectType) or has_objects(layout) or has_names(layout):
        raise builder.unsupported(node, "the return of objects in lists inside containers", "return their attributes")
    if isinstance(layout, tuple):
        return "(" + "".join(spelled(builder, part, node) for part in layout) + ")"
    if isinstance(layout, ListOf):
        # An empty list of which nothing is known: whatever it could hold.
        return f"[{'i' if layout.item is None else spelled(builder, layout.item, node)}]"
    if isinstance(layout, OptionOf):
        return "N" if layout.item is None else f"?{spelled(builder, layout.item, node)}"
    if isinstance(layout, ArrayOf):
        return f"<{layout.type.dtype.numpy.num}:{layout.rank}:{int(layout.lent)}>"
    if isinstance(layout, TextType):
        builder._shows_texts = True
        return "s" if layout.kind == "str" else "y"
    if isinstance(layout, EitherType):
        raise builder.unsupported(node, "the return of numbers of two types in such containers", "convert them to one")
    return _LETTERS[layout.dtype] if layout.weak and layout.dtype in _LETTERS else "n"


def _kind_spelled(builder: Building, kind: HeapKind, node: ast.AST) -> str:
    return spelled(builder, kind.of if isinstance(kind, ArraysOf) else ListOf(kind), node)


def out_nested(builder: Building, value: Value, node: ast.AST) -> Out:
    """A part of a result that is made when all lists are known."""
    row = row_of(value)
    if row is not None:
        layout = builder.layout(value)
        assert isinstance(layout, (ListOf, ArrayOf))
        builder._shown_kinds += lists_in(layout)
        return _later(builder, "=" + spelled(builder, layout, node), [_number_out(builder, row)])
    layouts, template = _described(builder, value, node)
    for layout in layouts:
        builder._shown_kinds += lists_in(layout)
    return _later(builder, template, [builder.plain_out(column, node) for column in _outer_columns(builder, value)])


def _described(builder: Building, value: Value, node: ast.AST) -> tuple[list[ItemType | None], str]:
    """What a container holds, and its template."""
    if isinstance(value, Records):
        return [value.item], f"{'d' * value.is_deque}[{spelled(builder, value.item, node)}]"
    assert isinstance(value, Dict) and value.key is not None and value.item is not None
    return [value.item], f"{{{spelled(builder, value.key, node)}:{spelled(builder, value.item, node)}}}"


def _outer_columns(builder: Building, value: Value) -> list[Array]:
    if isinstance(value, Dict):
        assert value.table is not None
        hashed = Hashed(builder.emitter, value.table)
        hashed.compact()
        return builder.columns(hashed.entries, len(value.table.entries.data) - 1)
    assert isinstance(value, Records)
    return builder.columns(Cells(builder.emitter, value.growing), len(value.growing.data))


def _later(builder: Building, template: str, columns: Sequence[Out]) -> Out:
    return TupleOut((ConstOut(repr(template)), *columns), named=_LATER)


def _number_out(builder: Building, number: Expr) -> Out:
    buffer = builder.emitter.declare("number", INT)
    builder.emitter.assign((), buffer.name, (), number)
    return ScalarOut(buffer.name)


def with_own_lists(builder: Building, node: ast.AST) -> list[Loaded]:
    """Arguments that hold lists, also those that were empty at first."""
    found = list(builder.loaded)
    for name, (param, value) in builder.changed.items():
        if builder.is_nested(value) and all(name != given.name for given in found):
            layouts, template = _described(builder, value, node)
            kinds = tuple(kind for layout in layouts for kind in lists_in(layout))
            found.append(Loaded(name, param, template, kinds, {}))
    return found


def _packed_kind(builder: Building, kind: HeapKind) -> list[Array]:
    """All lists of a kind."""
    if isinstance(kind, ArraysOf):
        return packed_arrays(builder, builder.heap(kind))
    return packed(builder, builder.heap(kind))


def settle_lists(builder: Building, out: Out, node: ast.AST) -> Out:
    """A result with the lists that it, and arguments that have changed, refer to."""
    loaded = with_own_lists(builder, node)
    changing = [given for given in loaded if given.name in builder.changed]
    kinds = _once([*builder._shown_kinds, *(kind for given in changing for kind in given.kinds)])
    builder._shown_kinds = []
    if not kinds and not changing and not _has_later(out):
        return out
    given = [one for one in loaded if one in changing or set(one.kinds) & set(kinds)]
    # A list of an argument may hold lists of other kinds: all that can be reached from here.
    kinds = _once([*kinds, *(kind for one in given for kind in one.kinds)])
    pieces: list[Out] = []
    for kind in kinds:
        pieces += [builder.plain_out(column, node) for column in _packed_kind(builder, kind)]
    for one in given:
        pieces.append(ArrayOut(one.param))
        pieces += [_number_out(builder, one.first.get(kind, ZERO)) for kind in kinds]
        if one.name in builder.changed:
            value = builder.changed[one.name][1]
            pieces += [builder.plain_out(column, node) for column in _outer_columns(builder, value)]
    arrays = [(param, of, number) for param, (of, number) in builder.given_arrays.items() if ArraysOf(of) in kinds]
    for param, _, number in arrays:
        pieces += [ArrayOut(param), _number_out(builder, Read(number, (), INT))]
    plan = (
        tuple(_kind_spelled(builder, kind, node) for kind in kinds),
        tuple((one.template, one.name in builder.changed) for one in given),
        tuple(spelled(builder, of, node) for _, of, _ in arrays),
        builder._shows_texts,
    )
    if builder._shows_texts:
        builder._shows_texts = False
        codes = Array((builder.pool.cells.last(),), CODE, lambda at: Read(builder.pool.buffer, at, CODE))
        pieces.append(builder.plain_out(codes, node))
    return TupleOut((out, ConstOut(repr(plan)), *pieces), named=_SETTLED)


def _has_later(out: Out) -> bool:
    return isinstance(out, TupleOut) and (out.named == _LATER or any(map(_has_later, out.items)))


def _once(kinds: Iterable[HeapKind]) -> list[HeapKind]:
    return list(dict.fromkeys(kinds))
