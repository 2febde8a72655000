"""SciPy's sparse objects.  In: an argument of one of its classes; out: an object of the model of that class
(`models.sparse`), whose fields are hidden arguments; and the way back, for results.

    S @ x    -->    the loops of CSR.__matmul__ over S.indptr, S.indices, S.data
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import numpy as np

from weft.frontend import arrays
from weft.frontend.building import Building
from weft.frontend.carried import PARTS, change_carried
from weft.frontend.models.formats import Diagonal
from weft.frontend.models.further import BSR, DIA
from weft.frontend.models.given import Given, model_of, model_with
from weft.frontend.models.sparse import Matrix, Sparse
from weft.frontend.models.tensors import Coordinates, Line, Tensor
from weft.frontend.sparse_making import MODELS, check_places, check_structure, is_lent, is_model
from weft.frontend.structs import settled_array
from weft.frontend.values import Array, Instance, Method, Object, Scalar, Struct, Tuple, Value
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Cast, Const, Expr, Op, boolean
from weft.ir.program import MALFORMED, Check, ConstOut, Out, Role, TupleOut
from weft.ir.types import BOOL, INT
from weft.naming import home_of

#: Formats that arguments may have, and the arrays they are made of.
_ARGUMENTS: dict[str, type[Sparse]] = {**MODELS, "bsr": BSR, "dia": DIA}
_FIELDS = {**PARTS, "bsr": PARTS["csr"], "dia": ("offsets", "data")}
#: The arrays that tell where entries are.
_PLACES = frozenset({"indptr", "indices", "row", "col", "offsets", "first", "second", "third"})
#: Methods that change an object, and those that give the changed one.
_IN_PLACE = {"eliminate_zeros": "without_zeros", "sum_duplicates": "without_duplicates"}
#: Comparisons, and what they are with the operands exchanged.
_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("eq", "eq"), ast.NotEq: ("ne", "ne"), ast.Lt: ("lt", "gt"), ast.LtE: ("le", "ge"), ast.Gt: ("gt", "lt"),
    ast.GtE: ("ge", "le"),
}  # fmt: skip
#: Functions that keep zero, which SciPy has as methods and applies to the entries alone.
_KEEP_ZERO = frozenset(
    {"sin", "tan", "arcsin", "arctan", "sinh", "tanh", "arcsinh", "arctanh", "rint", "sign", "expm1", "log1p"}
    | {"deg2rad", "rad2deg", "floor", "ceil", "trunc", "sqrt"}
)


def is_sparse(value: Any) -> bool:
    """Whether an object is one of SciPy's sparse matrices or arrays that has a model."""
    kind = type(value)
    if not home_of(kind).startswith("scipy.sparse") or getattr(value, "ndim", None) not in (1, 2, 3):
        return False
    form = getattr(value, "format", None)
    if value.ndim != 2:
        return bool(kind.__name__ == "coo_array")
    return form in _ARGUMENTS and kind.__name__ in (f"{form}_array", f"{form}_matrix")


class SparseObjects(Building):
    """Arguments and results that are sparse."""

    def modelled(self, base: Instance, node: ast.AST) -> Value:
        """The object of a model for an argument that has one; else what it was."""
        given = model_of(base.sample)
        if given is not None:
            held: dict[str, Any] = {name: self.instance_attribute(base, name, node) for name in given.fields}
            return Struct(given.kind, held, self.emitter.blocks[-1])
        if not is_sparse(base.sample):
            return base
        if base.sample.ndim != 2:
            return _coordinates(self, base, node)
        form: str = base.sample.format
        fields: dict[str, Any] = {name: self.instance_attribute(base, name, node) for name in _FIELDS[form]}
        extents = Instance(base.argument, (*base.path, "shape"), base.sample.shape)
        for place, name in enumerate(("rows", "columns")):
            fields[name] = self.instance_attribute(extents, str(place), node)
        fields["is_array"] = Scalar(boolean(type(base.sample).__name__.endswith("_array")))
        fields["in_order"] = Scalar(boolean(False))
        if form == "coo":
            fields["begin"] = Object(None)
        _hold_together(self, form, fields)
        self.sparse_arguments.append(fields)
        return Struct(_ARGUMENTS[form], fields, self.emitter.blocks[-1])

    def out(self, value: Value, node: ast.AST) -> Out:
        given = model_with(value.kind) if isinstance(value, Struct) else None
        if given is not None:
            return self._out_given(value, given, node)  # type: ignore[arg-type]
        if not (isinstance(value, Struct) and is_model(value.kind)):
            return super().out(value, node)
        if value.kind is Diagonal:
            values = self._own(self.field(value, "data", node), "diagonal")
            inner = (super(SparseObjects, self).out(item, node) for item in (values, value.fields["is_array"]))
            return TupleOut(tuple(inner), named="weft.runtime.containers:sparse_diagonal")
        if value.kind is Matrix:
            dense = self._own(self.field(value, "A", node), "dense")
            return TupleOut((super().out(dense, node),), named="weft.runtime.containers:matrix_of")
        if _is_argument(self, value):
            raise self.unsupported(node, "the return of an argument that is a sparse matrix", "return a copy")
        if is_lent(self, value):
            raise self.unsupported(node, "the return of a sparse matrix made of arguments", "add .copy()")
        if issubclass(value.kind, Coordinates):
            return self._out_coordinates(value, node)
        form = next(name for name, kind in _ARGUMENTS.items() if kind is value.kind)
        is_array = value.fields["is_array"]
        assert isinstance(is_array, Scalar) and isinstance(is_array.expr, Const)
        title = f"{form}_{'array' if is_array.expr.value else 'matrix'}"
        parts = [self._own(super(SparseObjects, self).field(value, name, node), name) for name in _FIELDS[form]]
        sizes = [self.field(value, name, node) for name in ("rows", "columns")]
        items = (ConstOut(repr(title)), *(super(SparseObjects, self).out(item, node) for item in (*parts, *sizes)))
        return TupleOut(items, named=f"weft.runtime.containers:{'sparse_banded' if form == 'dia' else 'sparse_of'}")

    def _out_given(self, value: Struct, given: Given, node: ast.AST) -> Out:
        """An object of a user's model: the library's object is made of its fields."""
        if not given.maker:
            remedy = "give weft.model(make=...), or return its parts"
            raise self.unsupported(node, f"the return of a {given.kind.__name__}, which nothing makes", remedy)
        parts = [self.field(value, name, node) for name in given.fields]
        held = [self._own(part, name) if isinstance(part, Array) else part for part, name in zip(parts, given.fields)]
        return TupleOut(tuple(super(SparseObjects, self).out(item, node) for item in held), named=given.maker)

    def _out_coordinates(self, value: Struct, node: ast.AST) -> Out:
        names = ("col",) if value.kind is Line else ("first", "second", "third")
        held: list[Value] = [self._own(super(SparseObjects, self).field(value, name, node), "col") for name in names]
        held.append(self._own(super().field(value, "data", node), "data"))
        shape = self.field(value, "shape", node)
        assert isinstance(shape, Tuple)
        inner = (super(SparseObjects, self).out(item, node) for item in (*held, *shape.items))
        return TupleOut(tuple(inner), named="weft.runtime.containers:sparse_coordinates")

    #: Arrays of places that a result has.
    given: frozenset[str] = frozenset()

    def _own(self, value: Value, name: str) -> Array:
        """An array that only the result has."""
        assert isinstance(value, Array)
        view = value.view
        alone = name not in _PLACES or (view is not None and view.buffer not in self.given)
        if alone and view is not None and view.whole and self.emitter.buffers[view.buffer].role is Role.LOCAL:
            if name in _PLACES:
                self.given |= {view.buffer}  # other results may have the same places
            return value
        return arrays.materialise(replace(value, view=None), self.emitter, name)

    def store_attribute(self, base: Struct, name: str, value: Value, node: ast.AST) -> None:
        """E.data = values: new values for the same places, where nobody has branched since E was made."""
        held = base.fields.get(name)
        if not issubclass(base.kind, Sparse) or held is None or base.block is None:
            super().store_attribute(base, name, value, node)
            return
        if name != "data" or base.block is not self.emitter.blocks[-1] or _is_argument(self, base):
            raise self.unsupported(node, f"an assignment to {name} of a sparse matrix here", "build a new one")
        if not isinstance(value, Array) or value.rank != 1 or value.is_list or not isinstance(held, Array):
            raise self.unsupported(node, "these values for a sparse matrix", value=value)
        self.emitter.same_size(value.shape[0], held.shape[0], "RuntimeError", "")
        new = settled_array(self, value, name) if value.view is None else value
        if self.is_carried(base):
            change_carried(self, base, {name: new}, node)
        else:
            base.fields[name] = new

    # --- functions and indices ----------------------------------------------------------------------------------------

    def struct_method(
        self, base: Struct, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST
    ) -> Value:
        if issubclass(base.kind, Sparse) and name in _KEEP_ZERO and not args and not kwargs:
            kept = self.struct_method(base, "stored_once", [], {}, node)
            assert isinstance(kept, Struct)
            values = super()._call_object(getattr(np, name), [super().field(kept, "data", node)], {}, node)
            return self.struct_method(kept, "with_data", [values], {}, node)
        if issubclass(base.kind, Sparse) and name in _IN_PLACE and not args and not kwargs:
            return _replaced(self, base, name, node)
        return super().struct_method(base, name, args, kwargs, node)

    def field(self, base: Struct, name: str, node: ast.AST) -> Value:
        if issubclass(base.kind, Sparse) and (name in _KEEP_ZERO or name in _IN_PLACE):
            return Method(base, name)
        value = super().field(base, name, node)
        if self.scope.source.place is not None or not issubclass(base.kind, (Sparse, Coordinates)):
            return value
        if any(base.fields is fields for fields in self.reordered) and name in base.fields:
            raise self.unsupported(node, f"{name} of a sparse matrix whose entries were put in order", "add .copy()")
        self.looked = self.looked or (name in base.fields and self.is_carried(base))
        if name in _PLACES and isinstance(value, Array):
            # The user's code reads where entries are, and never writes there.
            return value if value.view is None else replace(value, view=None, origin=value.view.buffer)
        return value

    def _call_object(self, thing: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        first = args[0] if args else None
        if isinstance(first, Struct) and is_model(first.kind):
            if thing in (abs, np.absolute) and len(args) == 1 and not kwargs and issubclass(first.kind, Sparse):
                return self.struct_method(first, "__abs__", [], {}, node)
            if thing in (np.asarray, np.array) and first.kind is Matrix and len(args) == 1 and not kwargs:
                dense = self.field(first, "A", node)
                return dense if thing is np.asarray else super()._call_object(np.array, [dense], {}, node)
            keeps = isinstance(thing, np.ufunc) and thing.__name__ in _KEEP_ZERO and issubclass(first.kind, Sparse)
            if keeps and len(args) == 1 and not kwargs:
                return self.struct_method(first, thing.__name__, [], {}, node)
            if thing is np.sum:
                return self.struct_method(first, "sum", args[1:], kwargs, node)
        if (getattr(thing, "__module__", None) or "").startswith(("scipy.sparse", "scipy._lib._sparse")):
            made = self._made(thing.__name__, args, kwargs, node)
            if made is not None:
                return made
        return super()._call_object(thing, args, kwargs, node)

    def _comparison(self, op: ast.cmpop, left: Value, right: Value, node: ast.Compare) -> Value:
        name = _COMPARISONS.get(type(op))
        for base, other, mirrored in ((left, right, False), (right, left, True)):
            if name is not None and isinstance(base, Struct) and issubclass(base.kind, Sparse):
                self.at(node)
                return self.struct_method(base, "compared", [other, Object(name[mirrored])], {}, node)
        return super()._comparison(op, left, right, node)


def _coordinates(builder: Building, base: Instance, node: ast.AST) -> Value:
    """The object for an argument of one or three dimensions, whose coordinates are inside."""

    def parts(name: str, held: Any) -> list[Any]:
        whole = Instance(base.argument, (*base.path, name), held)
        return [builder.instance_attribute(whole, str(place), node) for place in range(base.sample.ndim)]

    places, sizes = parts("coords", base.sample.coords), parts("shape", base.sample.shape)
    data: Any = builder.instance_attribute(base, "data", node)
    for place, size in zip(places, sizes):
        builder.emitter.same_size(place.shape[0], data.shape[0], "RuntimeError", "")
        check_places(builder, place, size.expr)
    kind: type
    if base.sample.ndim == 1:
        kind, fields = Line, {"col": places[0], "data": data, "extent": sizes[0]}
    else:
        named = dict(zip(("first", "second", "third"), places))
        kind, fields = Tensor, {**named, "data": data, "extents": Tuple(tuple(sizes))}
    builder.sparse_arguments.append(fields)
    return Struct(kind, fields, builder.emitter.blocks[-1])


def _is_argument(builder: Building, value: Struct) -> bool:
    return any(value.fields is fields for fields in builder.sparse_arguments)


def _hold_together(builder: Building, form: str, fields: dict[str, Any]) -> None:
    """The arrays have the lengths of a well-formed object; SciPy itself deals with others."""
    emitter = builder.emitter
    first, data = fields[_FIELDS[form][0]], fields["data"]
    if form == "dia":
        emitter.same_size(first.shape[0], data.shape[0], "RuntimeError", "")
        return
    index = fields[_FIELDS[form][1]]
    emitter.same_size(index.shape[0], data.shape[0], "RuntimeError", "")
    if form == "coo":
        emitter.same_size(first.shape[0], data.shape[0], "RuntimeError", "")
        for array, size in ((first, "rows"), (index, "columns")):
            check_places(builder, array, fields[size].expr)
        return
    major = fields["columns" if form == "csc" else "rows"].expr
    minor = fields["rows" if form == "csc" else "columns"].expr
    if form == "bsr":  # as many rows and columns of blocks
        major, minor = (_blocks(builder, size, extent) for size, extent in zip((major, minor), data.shape[1:]))
    emitter.same_size(first.shape[0], ix.add(major, ONE), "RuntimeError", "")
    start, end = (Cast(first.element((at,)), INT) for at in (ZERO, major))
    emitter.check(Op("eq", (start, ZERO), BOOL), MALFORMED, "index pointer should start with 0")
    # Arrays with room behind the last entry are fine, and rare.
    test = Op("ge", (end, data.shape[0]), BOOL)
    emitter.guards.append(Check((), test, "RuntimeError", "", (), emitter.span))
    message = "Last value of index pointer should be less than the size of index and data arrays"
    emitter.check(Op("le", (end, data.shape[0]), BOOL), MALFORMED, message)
    check_structure(builder, first, index, major, minor)


def _blocks(builder: Building, size: Expr, extent: Expr) -> Expr:
    """How many blocks of an extent there are in a size."""
    emitter = builder.emitter
    count = emitter.derived(Op("floordiv", (size, extent), INT))
    whole = Op("eq", (Op("mul", (count, extent), INT), size), BOOL)
    emitter.guards.append(Check((), whole, "RuntimeError", "", (), emitter.span))
    return count


def _replaced(builder: Building, base: Struct, name: str, node: ast.AST) -> Value:
    """base.name() that changes the object: new arrays for it, where nobody has branched since it was made."""
    if base.block is not builder.emitter.blocks[-1] or _is_argument(builder, base):
        raise builder.unsupported(node, f"{name}() of a sparse matrix here", "work on a copy")
    made = builder.struct_method(base, _IN_PLACE[name], [], {}, node)
    assert isinstance(made, Struct)
    if builder.is_carried(base):
        change_carried(builder, base, made.fields, node)
    else:
        base.fields.update(made.fields)
    return Object(None)
