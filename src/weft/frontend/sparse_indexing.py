"""Indices into sparse matrices and arrays.  In: an object of a model and what stands between the brackets; out: the
part of it that SciPy would give: an element, a matrix, or in the array interface a sparse array of one dimension.

    S[2:9, columns]    -->    S.some_rows(2, 9).chosen_columns(columns)
"""

from __future__ import annotations

import ast
from dataclasses import replace

from weft.frontend import arith, arrays, indexing, masks
from weft.frontend.building import Building
from weft.frontend.models import slicing
from weft.frontend.models.formats import COO, CSR, Compressed
from weft.frontend.models.sparse import Sparse
from weft.frontend.models.tensors import Line, Tensor
from weft.frontend.values import Array, Object, Scalar, Slice, Struct, Tuple, Value
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, boolean
from weft.ir.types import BOOL, INT, DType
from weft.records import dataclass

_EVERYTHING = Slice(None, None, None)
#: What each axis is called: its size, a part of it from one place to another, places of it that an array names.
_AXES = (("rows", "some_rows", "chosen_rows"), ("columns", "some_columns", "chosen_columns"))


@dataclass(frozen=True)
class Chosen:
    """Places along an axis that an array names, or a slice. `rises`: each is beyond the one before."""

    places: Array
    rises: bool
    is_slice: bool = False


class SparseIndices(Building):
    """Subscripts whose base is sparse."""

    def subscript(self, base: Value, key: Value, node: ast.AST | None, store: bool = False) -> Value:
        if not (isinstance(base, Struct) and issubclass(base.kind, (Sparse, Line, Tensor))) or node is None:
            return super().subscript(base, key, node, store)
        if store:
            raise self.unsupported(node, "an assignment to elements of a sparse matrix", "build it from its entries")
        given = list(key.items) if isinstance(key, Tuple) and not key.is_list else [key]
        if len(given) == 1 and isinstance(given[0], Object) and given[0].value is Ellipsis:
            given = []
        if base.kind is Line:
            return _of_line(self, base, given, node)
        has_indices = issubclass(base.kind, Compressed) or (base.kind is COO and _is_array(self, base))
        if not has_indices or len(given) > 2:
            raise self.unsupported(node, "an index into a sparse matrix of this format")
        given += [_EVERYTHING] * (2 - len(given))
        sizes = [self.field(base, names[0], node) for names in _AXES]
        assert all(isinstance(size, Scalar) for size in sizes)
        items = [_axis_item(self, item, size, node) for item, size in zip(given, sizes)]  # type: ignore[arg-type]
        named = [item for item in items if isinstance(item, Chosen)]
        if len(named) == 2 and not any(item.is_slice for item in named):
            return _both(self, base, named, node)
        if base.kind is CSR and len(named) == 2 and named[1].is_slice and not named[0].is_slice:
            raise self.unsupported(node, "an array and a slice with a step as indices")  # SciPy pairs their places
        if all(isinstance(item, Scalar) for item in items):
            return self.struct_method(base, "element", items, {}, node)  # type: ignore[arg-type]
        if items == [None, None]:
            return self.struct_method(base, "copy", [], {}, node)
        part = base
        for item, names in zip(items, _AXES):
            part = self._along(part, item, names, node)
        single = next((at for at, item in enumerate(items) if isinstance(item, Scalar)), None)
        if single is None or not _is_array(self, base):
            return part
        return self._inline_function(slicing.as_line, [part, Scalar(boolean(single == 0))], {}, node)

    def _along(
        self, part: Struct, item: Scalar | tuple[Expr, Expr] | Chosen | None, names: tuple[str, str, str], node: ast.AST
    ) -> Struct:
        """The part of a matrix that is asked of one axis."""
        if item is None:
            return part
        if isinstance(item, Chosen):
            if item.places.rank != 1:
                raise self.unsupported(node, "an index of more than one dimension into a sparse matrix")
            flags: list[Value] = [Scalar(boolean(flag)) for flag in (item.rises, item.is_slice)]
            made = self.struct_method(part, names[2], [item.places, *flags], {}, node)
        else:
            low, high = (item.expr, ix.add(item.expr, ONE)) if isinstance(item, Scalar) else item
            made = self.struct_method(part, names[1], [Scalar(low), Scalar(high)], {}, node)
        assert isinstance(made, Struct)
        return made


def _of_line(builder: Building, base: Struct, given: list[Value], node: ast.AST) -> Value:
    """Of one dimension: an element, or a part of it."""
    size = builder.field(base, "extent", node)
    if len(given) != 1 or not isinstance(size, Scalar):
        raise builder.unsupported(node, "an index into a sparse array of one dimension")
    item = _axis_item(builder, given[0], size, node)
    if isinstance(item, Scalar):
        return builder.struct_method(base, "element", [item], {}, node)
    if item is None:
        return builder.struct_method(base, "copy", [], {}, node)
    return builder._along(base, item, ("extent", "some", "chosen"), node)


def _axis_item(
    builder: Building, item: Value, size: Scalar, node: ast.AST
) -> Scalar | tuple[Expr, Expr] | Chosen | None:
    """What is asked of an axis: one place, the places from one to another, those of an array, or all (None)."""
    if isinstance(item, Tuple) and item.is_list:
        item = builder.array_of(item, node)
    item = masks.settled(item, builder.emitter)
    if item == _EVERYTHING:
        return None
    if isinstance(item, Scalar) and item.type.dtype.is_integer:
        return _inside(builder, item, size)
    if isinstance(item, Slice):
        chosen = indexing.subscript(Array((size.expr,), INT, lambda at: at[0]), item, builder.emitter)
        assert isinstance(chosen, Array)
        low = chosen.element((ZERO,))
        step = arith.cast(item.step.expr, INT) if isinstance(item.step, Scalar) else ONE
        if step == ONE:
            return low, ix.add(low, chosen.shape[0])
        rises = isinstance(step, Const) and isinstance(step.value, int) and step.value > 0
        return Chosen(arrays.materialise(chosen, builder.emitter, "chosen"), rises, True)
    if isinstance(item, Array) and item.rank in (1, 2) and not item.is_list:
        if item.type.dtype is DType.BOOL and item.rank == 1:
            found = builder._inline_function(slicing.true_places, [item, size], {}, node)
            assert isinstance(found, Array)
            return Chosen(found, True)
        if item.type.dtype.is_integer:
            found = builder._inline_function(slicing.inside, [item, size], {}, node)
            assert isinstance(found, Array)
            return Chosen(found, False)
    raise builder.unsupported(node, "this index into a sparse matrix", "use integers or slices", value=item)


def _both(builder: Building, base: Struct, items: list[Chosen], node: ast.AST) -> Value:
    """Arrays for rows and columns: element by element, or, of a column and a row of places, all combinations."""
    rows, columns = (item.places for item in items)
    if rows.rank == 1 and columns.rank == 1:
        return builder.struct_method(base, "elements", [rows, columns], {}, node)
    outer = rows.rank == 2 and arrays.is_one(rows.shape[1])
    if not outer or not (columns.rank == 1 or arrays.is_one(columns.shape[0])):
        raise builder.unsupported(node, "indices of these shapes into a sparse matrix")
    flat = Array(rows.shape[:1], rows.type, lambda at: rows.element((at[0], ZERO)), cost=rows.cost)
    if columns.rank == 2:
        columns = Array(columns.shape[1:], columns.type, lambda at: items[1].places.element((ZERO, at[0])))
    part = base
    for item, places, names in zip(items, (flat, columns), _AXES):
        kept = replace(item, places=arrays.materialise(places, builder.emitter, "chosen"))
        part = builder._along(part, kept, names, node)
    return part


def _is_array(builder: Building, base: Struct) -> bool:
    """Whether an object is of the array interface."""
    flag = base.fields["is_array"]
    return isinstance(flag, Scalar) and flag.expr == boolean(True)


def _inside(builder: Building, item: Scalar, size: Scalar) -> Scalar:
    """A place counted from either end, or SciPy's error."""
    at = builder._kept(arith.cast(item.expr, INT), "place")
    low = Op("ge", (ix.add(at, size.expr), ZERO), BOOL)
    test = Op("and", (low, Op("lt", (at, size.expr), BOOL)), BOOL)
    builder.emitter.check(test, "IndexError", "index ({0}) out of range", (at,))
    return Scalar(indexing.wrap(at, size.expr))
