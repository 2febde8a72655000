"""Results that hold lists inside containers.  In: such a value, or an argument with lists in it that has changed; out:
the result tree from which `weft.runtime.nested` makes the Python objects, each list once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from weft.frontend.expressions import Expressions
from weft.frontend.growing import Cells
from weft.frontend.items import has_lists, has_names, has_objects, row_of
from weft.frontend.tables import Hashed
from weft.frontend.textpool import CODE
from weft.frontend.values import (
    Array,
    Dict,
    EitherType,
    ItemType,
    ListOf,
    Loaded,
    MemberType,
    ObjectType,
    Records,
    Struct,
    TextType,
    Tuple,
    Value,
)
from weft.ir.expr import ZERO, Expr, Read
from weft.ir.program import ArrayOut, ConstOut, Out, ScalarOut, TupleOut
from weft.ir.types import INT, DType

_LETTERS = {DType.I64: "i", DType.F64: "f", DType.BOOL: "b", DType.C128: "c"}
_LATER, _SETTLED = "weft.runtime.nested:later", "weft.runtime.nested:settled"


def lists_in(layout: ItemType | None) -> list[ItemType]:
    """What the lists in an item hold, and the lists in those, and so on."""
    if isinstance(layout, tuple):
        return [kind for part in layout for kind in lists_in(part)]
    if not isinstance(layout, ListOf) or layout.item is None:
        return []
    return [layout.item, *lists_in(layout.item)]


class Handover(Expressions):
    """Lists inside containers, on their way to the caller."""

    #: Arguments whose lists are among those of their kind.
    loaded: list[Loaded]
    #: What lists hold that the result being built refers to.
    _shown_kinds: list[ItemType]
    _shows_texts = False

    def spelled(self, layout: ItemType, node: ast.AST) -> str:
        """An item as weft.runtime.templates reads it; NumPy's numbers are "n"."""
        if isinstance(layout, ObjectType) or has_objects(layout) or has_names(layout):
            raise self.unsupported(node, "the return of objects in lists inside containers", "return their attributes")
        if isinstance(layout, tuple):
            return "(" + "".join(self.spelled(part, node) for part in layout) + ")"
        if isinstance(layout, ListOf):
            # An empty list of which nothing is known: whatever it could hold.
            return f"[{'i' if layout.item is None else self.spelled(layout.item, node)}]"
        if isinstance(layout, TextType):
            self._shows_texts = True
            return "s" if layout.kind == "str" else "y"
        if isinstance(layout, MemberType):
            raise self.unsupported(node, "the return of members in lists inside containers", "return their values")
        if isinstance(layout, EitherType):
            raise self.unsupported(node, "the return of numbers of two types in such containers", "convert them to one")
        return _LETTERS[layout.dtype] if layout.weak and layout.dtype in _LETTERS else "n"

    def is_nested(self, value: Value) -> bool:
        """Whether a value is a list among others, or holds such lists."""
        if isinstance(value, Dict):
            return has_lists(value.item)
        if isinstance(value, Struct):
            return False
        return row_of(value) is not None or (isinstance(value, Records) and has_lists(value.item))

    def out_nested(self, value: Value, node: ast.AST) -> Out:
        """A part of a result that is made when all lists are known."""
        row = row_of(value)
        if row is not None:
            layout = self.layout(value)
            assert isinstance(layout, ListOf) and layout.item is not None
            self._shown_kinds += lists_in(layout)
            return self._later("=" + self.spelled(layout.item, node), [self._number_out(row)])
        layouts, template = self._described(value, node)
        for layout in layouts:
            self._shown_kinds += lists_in(layout)
        return self._later(template, [self.plain_out(column, node) for column in self._outer_columns(value)])

    def _described(self, value: Value, node: ast.AST) -> tuple[list[ItemType | None], str]:
        """What a container holds, and its template."""
        if isinstance(value, Records):
            return [value.item], f"{'d' * value.is_deque}[{self.spelled(value.item, node)}]"
        assert isinstance(value, Dict) and value.key is not None and value.item is not None
        kind = "Dl" if isinstance(value.default, Tuple) else ""
        return [value.item], f"{kind}{{{self.spelled(value.key, node)}:{self.spelled(value.item, node)}}}"

    def _outer_columns(self, value: Value) -> list[Array]:
        if isinstance(value, Dict):
            assert value.table is not None
            hashed = Hashed(self.emitter, value.table)
            hashed.compact()
            return self.columns(hashed.entries, len(value.table.entries.data) - 1)
        assert isinstance(value, Records)
        return self.columns(Cells(self.emitter, value.growing), len(value.growing.data))

    def plain_out(self, column: Array, node: ast.AST) -> Out:
        raise NotImplementedError

    def _later(self, template: str, columns: Sequence[Out]) -> Out:
        return TupleOut((ConstOut(repr(template)), *columns), named=_LATER)

    def _number_out(self, number: Expr) -> Out:
        buffer = self.emitter.declare("number", INT)
        self.emitter.assign((), buffer.name, (), number)
        return ScalarOut(buffer.name)

    def with_own_lists(self, node: ast.AST) -> list[Loaded]:
        """Arguments that hold lists, also those that were empty at first."""
        found = list(self.loaded)
        for name, (param, value) in self.changed.items():
            if self.is_nested(value) and all(name != given.name for given in found):
                layouts, template = self._described(value, node)
                kinds = tuple(kind for layout in layouts for kind in lists_in(layout))
                found.append(Loaded(name, param, template, kinds, {}))
        return found

    def settle_lists(self, out: Out, node: ast.AST) -> Out:
        """A result with the lists that it, and arguments that have changed, refer to."""
        loaded = self.with_own_lists(node)
        changing = [given for given in loaded if given.name in self.changed]
        kinds = _once([*self._shown_kinds, *(kind for given in changing for kind in given.kinds)])
        self._shown_kinds = []
        if not kinds and not _has_later(out):
            return out
        given = [one for one in loaded if set(one.kinds) & set(kinds)]
        # A list of an argument may hold lists of other kinds: all that can be reached from here.
        kinds = _once([*kinds, *(kind for one in given for kind in one.kinds)])
        pieces: list[Out] = []
        for kind in kinds:
            pieces += [self.plain_out(column, node) for column in self.packed(self.heap(kind))]
        for one in given:
            pieces.append(ArrayOut(one.param))
            pieces += [self._number_out(one.first.get(kind, ZERO)) for kind in kinds]
            if one.name in self.changed:
                value = self.changed[one.name][1]
                pieces += [self.plain_out(column, node) for column in self._outer_columns(value)]
        plan = (
            tuple(self.spelled(kind, node) for kind in kinds),
            tuple((one.template, one.name in self.changed) for one in given),
            self._shows_texts,
        )
        if self._shows_texts:
            self._shows_texts = False
            codes = Array((self.pool.cells.last(),), CODE, lambda at: Read(self.pool.buffer, at, CODE))
            pieces.append(self.plain_out(codes, node))
        return TupleOut((out, ConstOut(repr(plan)), *pieces), named=_SETTLED)


def _has_later(out: Out) -> bool:
    return isinstance(out, TupleOut) and (out.named == _LATER or any(map(_has_later, out.items)))


def _once(kinds: Iterable[ItemType]) -> list[ItemType]:
    return list(dict.fromkeys(kinds))
