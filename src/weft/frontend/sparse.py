"""SciPy's sparse objects.  In: an argument of one of its classes; out: an object of the model of that class
(`models.sparse`), whose fields are hidden arguments; and the way back, for results.

    S @ x    -->    the loops of CSR.__matmul__ over S.indptr, S.indices, S.data
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weft.frontend import arith, arrays, indexing
from weft.frontend.calls import Calls
from weft.frontend.models.formats import COO, CSC, CSR, Diagonal, from_dense
from weft.frontend.models.sparse import Matrix, Sparse
from weft.frontend.values import Array, Instance, Method, Object, Scalar, Slice, Struct, Tuple, Value
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Cast, Const, Expr, Op, boolean
from weft.ir.program import MALFORMED, Check, ConstOut, Out, Role, TupleOut
from weft.ir.types import BOOL, INT

MODELS: dict[str, type[Sparse]] = {"csr": CSR, "csc": CSC, "coo": COO}
#: The arrays that a format is made of, with SciPy's names for them.
_PARTS = {"csr": ("indptr", "indices", "data"), "csc": ("indptr", "indices", "data"), "coo": ("row", "col", "data")}
#: The arrays that tell where entries are.
_PLACES = frozenset({"indptr", "indices", "row", "col"})
#: Functions that keep zero, which SciPy has as methods and applies to the entries alone.
_KEEP_ZERO = frozenset(
    {"sin", "tan", "arcsin", "arctan", "sinh", "tanh", "arcsinh", "arctanh", "rint", "sign", "expm1", "log1p"}
    | {"deg2rad", "rad2deg", "floor", "ceil", "trunc", "sqrt"}
)


def is_sparse(value: Any) -> bool:
    """Whether an object is one of SciPy's sparse matrices or arrays that has a model."""
    kind = type(value)
    if not (kind.__module__ or "").startswith("scipy.sparse") or getattr(value, "ndim", None) != 2:
        return False
    form = getattr(value, "format", None)
    return form in MODELS and kind.__name__ in (f"{form}_array", f"{form}_matrix")


def is_model(kind: type) -> bool:
    return issubclass(kind, (Sparse, Matrix))


def _is_modelled(value: Value) -> bool:
    return isinstance(value, Struct) and is_model(value.kind)


#: Calls that make sparse objects: the format, and whether they are of the array interface.
_CONSTRUCTORS = {f"{form}_{kind}": (form, kind == "array") for form in MODELS for kind in ("array", "matrix")}
_DIAGONALS = {"diags": False, "diags_array": True, "eye": False, "eye_array": True, "identity": False}


class SparseObjects(Calls):
    """Arguments and results that are sparse."""

    def modelled(self, base: Instance, node: ast.AST) -> Value:
        """The object of a model for an argument that has one; else what it was."""
        if not is_sparse(base.sample):
            return base
        form: str = base.sample.format
        fields: dict[str, Any] = {name: self.instance_attribute(base, name, node) for name in _PARTS[form]}
        extents = Instance(base.argument, (*base.path, "shape"), base.sample.shape)
        for place, name in enumerate(("rows", "columns")):
            fields[name] = self.instance_attribute(extents, str(place), node)
        fields["is_array"] = Scalar(boolean(type(base.sample).__name__.endswith("_array")))
        fields["in_order"] = Scalar(boolean(False))
        self._hold_together(form, fields)
        self.sparse_arguments.append(fields)
        return Struct(MODELS[form], fields, self.emitter.blocks[-1])

    #: The fields of those arguments.
    sparse_arguments: list[dict[str, Any]]

    def _is_argument(self, value: Struct) -> bool:
        return any(value.fields is fields for fields in self.sparse_arguments)

    def _hold_together(self, form: str, fields: dict[str, Any]) -> None:
        """The arrays have the lengths of a well-formed object; SciPy itself deals with others."""
        emitter = self.emitter
        index, data = fields[_PARTS[form][1]], fields["data"]
        emitter.same_size(index.shape[0], data.shape[0], "RuntimeError", "")
        first = fields[_PARTS[form][0]]
        if form == "coo":
            emitter.same_size(first.shape[0], data.shape[0], "RuntimeError", "")
            return
        major = fields["rows" if form == "csr" else "columns"].expr
        emitter.same_size(first.shape[0], ix.add(major, ONE), "RuntimeError", "")
        start, end = (Cast(first.element((at,)), INT) for at in (ZERO, major))
        emitter.check(Op("eq", (start, ZERO), BOOL), MALFORMED, "index pointer should start with 0")
        # Arrays with room behind the last entry are fine, and rare.
        test = Op("ge", (end, data.shape[0]), BOOL)
        emitter.guards.append(Check((), test, "RuntimeError", "", (), emitter.span))
        message = "Last value of index pointer should be less than the size of index and data arrays"
        emitter.check(Op("le", (end, data.shape[0]), BOOL), MALFORMED, message)
        self.check_structure(first, index, major, fields["columns" if form == "csr" else "rows"].expr)

    def check_structure(self, pointer: Array, coordinate: Array, major: Expr, minor: Expr) -> None:
        """The pointer never goes down and coordinates are inside, or it is the error of SciPy's own full check."""
        emitter = self.emitter
        self._known(pointer, coordinate, minor)
        (row,), (i,) = emitter.domain((major,))
        rises = Op("le", (pointer.element((i,)), pointer.element((ix.add(i, ONE),))), BOOL)
        emitter.check(rises, MALFORMED, "index pointer values must form a non-decreasing sequence", (), (row,))
        (entry,), (p,) = emitter.domain((coordinate.shape[0],), "p")
        at = Cast(coordinate.element((p,)), INT)
        inside = Op("and", (Op("ge", (at, ZERO), BOOL), Op("lt", (at, minor), BOOL)), BOOL)
        emitter.check(inside, MALFORMED, "index values must be >= 0 and < {0}", (minor,), (entry,))

    def out(self, value: Value, node: ast.AST) -> Out:
        if not (isinstance(value, Struct) and is_model(value.kind)):
            return super().out(value, node)
        if value.kind not in MODELS.values():
            raise self.unsupported(node, f"the return of an object of type {value.kind.__name__.lower()}")
        if self._is_argument(value):
            raise self.unsupported(node, "the return of an argument that is a sparse matrix", "return a copy")
        form = next(name for name, kind in MODELS.items() if kind is value.kind)
        is_array = value.fields["is_array"]
        assert isinstance(is_array, Scalar) and isinstance(is_array.expr, Const)
        title = f"{form}_{'array' if is_array.expr.value else 'matrix'}"
        parts = [self._own(self.field(value, name, node), name) for name in _PARTS[form]]
        sizes = [self.field(value, name, node) for name in ("rows", "columns")]
        items = (ConstOut(repr(title)), *(super(SparseObjects, self).out(item, node) for item in (*parts, *sizes)))
        return TupleOut(items, named="weft.runtime.containers:sparse_of")

    def _own(self, value: Value, name: str) -> Array:
        """An array that only the result has."""
        assert isinstance(value, Array)
        view = value.view
        if view is not None and view.whole and self.emitter.buffers[view.buffer].role is Role.LOCAL:
            return value
        return arrays.materialise(replace(value, view=None), self.emitter, name)

    def construct(self, kind: type, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        made = super().construct(kind, args, kwargs, node)
        if not isinstance(made, Struct) or not is_model(kind):
            return made
        fields = dict(made.fields)
        if kind in MODELS.values():  # one spelling of sizes that are equal by the way the object was made
            names = _PARTS[kind.format]  # type: ignore[attr-defined]
            for name in names[2:] if kind is not COO else names[::2]:
                fields[name] = replace(fields[name], shape=fields[names[1]].shape)
            if kind is not COO:
                major = fields["rows" if kind is CSR else "columns"]
                fields[names[0]] = replace(fields[names[0]], shape=(ix.add(major.expr, ONE),))
                minor = fields["columns" if kind is CSR else "rows"]
                self._known(fields[names[0]], fields[names[1]], minor.expr)
            else:
                for name, size in zip(names, ("rows", "columns")):
                    self._known(None, fields[name], fields[size].expr)
        return Struct(kind, fields, self.emitter.blocks[-1])

    def _known(self, pointer: Array | None, coordinate: Array, minor: Expr) -> None:
        """What the arrays of a matrix hold, from now on: nobody writes to them (see `field`)."""
        if pointer is not None and pointer.view is not None:
            self.emitter.contents[pointer.view.buffer] = coordinate.shape[0]
        if coordinate.view is not None:
            self.emitter.contents[coordinate.view.buffer] = ix.sub(minor, ONE)

    def store_attribute(self, base: Struct, name: str, value: Value, node: ast.AST) -> None:
        """E.data = values: new values for the same places, where nobody has branched since E was made."""
        held = base.fields.get(name)
        if not issubclass(base.kind, Sparse) or held is None or base.block is None:
            super().store_attribute(base, name, value, node)
            return
        if name != "data" or base.block is not self.emitter.blocks[-1] or self._is_argument(base):
            raise self.unsupported(node, f"an assignment to {name} of a sparse matrix here", "build a new one")
        if not isinstance(value, Array) or value.rank != 1 or value.is_list or not isinstance(held, Array):
            raise self.unsupported(node, "these values for a sparse matrix", value=value)
        self.emitter.same_size(value.shape[0], held.shape[0], "RuntimeError", "")
        base.fields[name] = self._settled_array(value, name) if value.view is None else value

    # --- functions and indices ----------------------------------------------------------------------------------------

    def struct_method(
        self, base: Struct, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST
    ) -> Value:
        if is_model(base.kind) and name in _KEEP_ZERO and not args and not kwargs:
            stored = self.struct_method(base, "stored", [], {}, node)
            values = super()._call_object(getattr(np, name), [stored], {}, node)
            return self.struct_method(base, "with_data", [values], {}, node)
        return super().struct_method(base, name, args, kwargs, node)

    def field(self, base: Struct, name: str, node: ast.AST) -> Value:
        if is_model(base.kind) and name in _KEEP_ZERO:
            return Method(base, name)
        value = super().field(base, name, node)
        if name in _PLACES and issubclass(base.kind, Sparse) and self.scope.source.place is None:
            assert isinstance(value, Array)  # the user's code reads where entries are, and never writes there
            return value if value.view is None else replace(value, view=None, origin=value.view.buffer)
        return value

    def _call_object(self, thing: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        first = args[0] if args else None
        if isinstance(first, Struct) and is_model(first.kind):
            if thing is abs and len(args) == 1:
                return self.struct_method(first, "__abs__", [], {}, node)
            if thing in (np.asarray, np.array) and first.kind is Matrix and len(args) == 1 and not kwargs:
                dense = self.field(first, "A", node)
                return dense if thing is np.asarray else super()._call_object(np.array, [dense], {}, node)
            if isinstance(thing, np.ufunc) and thing.__name__ in _KEEP_ZERO and len(args) == 1 and not kwargs:
                return self.struct_method(first, thing.__name__, [], {}, node)
            if thing is np.sum:
                return self.struct_method(first, "sum", args[1:], kwargs, node)
        if (getattr(thing, "__module__", None) or "").startswith("scipy.sparse"):
            made = self._made(thing.__name__, args, kwargs, node)
            if made is not None:
                return made
        return super()._call_object(thing, args, kwargs, node)

    def _made(self, title: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value | None:
        """What a function of scipy.sparse makes; None if it has no model."""
        if title == "issparse" and len(args) == 1:
            return Scalar(boolean(_is_modelled(args[0])))
        if title in _DIAGONALS and len(args) == 1 and not kwargs.keys() - {"format"}:
            return self._diagonal(title, args[0], kwargs.get("format"), node)
        if title not in _CONSTRUCTORS or len(args) != 1 or kwargs.keys() - {"shape"}:
            return None
        form, is_array = _CONSTRUCTORS[title]
        given, flag = args[0], Scalar(boolean(is_array))
        if isinstance(given, Array) and given.rank == 2 and not given.is_list and not kwargs:
            dense = self.inlined_call(from_dense, [given, flag], node)
            return self._in_format(dense, form, node)
        shape = kwargs.get("shape")
        sizes = shape.items if isinstance(shape, Tuple) else ()
        if len(sizes) != 2 or not isinstance(given, Tuple):
            return None
        data, *rest = given.items
        if len(rest) == 1 and isinstance(rest[0], Tuple) and len(rest[0].items) == 2:
            return self._in_format(self._triplets(rest[0].items, data, sizes, flag, node), form, node)
        if len(rest) == 2 and form in ("csr", "csc"):
            return self._compressed(form, rest, data, sizes, flag, node)
        return None

    def _plain(self, value: Value, name: str, node: ast.AST) -> Array:
        """An array of its own memory: what SciPy would share with the caller's array is not told apart."""
        if not isinstance(value, Array) or value.rank != 1 or value.is_list or value.view is None:
            raise self.unsupported(node, "a sparse matrix made of this", value=value)
        if not value.view.whole or self.emitter.buffers[value.view.buffer].role is Role.PARAM:
            return arrays.materialise(replace(value, view=None), self.emitter, name)
        return value

    def _compressed(
        self, form: str, rest: list[Value], data: Value, sizes: Sequence[Value], flag: Scalar, node: ast.AST
    ) -> Value:
        values = self._plain(data, "data", node)
        coordinate, pointer = (self._plain(item, name, node) for item, name in zip(rest, ("indices", "indptr")))
        major, minor = sizes if form == "csr" else sizes[::-1]
        assert isinstance(major, Scalar) and isinstance(minor, Scalar)
        emitter = self.emitter
        emitter.same_size(coordinate.shape[0], values.shape[0], "RuntimeError", "")
        emitter.same_size(pointer.shape[0], ix.add(major.expr, ONE), "RuntimeError", "")
        start, end = (Cast(pointer.element((at,)), INT) for at in (ZERO, major.expr))
        whole = Op("and", (Op("eq", (start, ZERO), BOOL), Op("eq", (end, coordinate.shape[0]), BOOL)), BOOL)
        emitter.hand_back(whole, "arrays of a sparse matrix with room behind the last entry")
        self.check_structure(pointer, coordinate, major.expr, minor.expr)
        no = Scalar(boolean(False))
        return self.construct(MODELS[form], [pointer, coordinate, values, *sizes, flag, no], {}, node)

    def _triplets(
        self, places: Sequence[Value], data: Value, sizes: Sequence[Value], flag: Scalar, node: ast.AST
    ) -> Value:
        values = self._plain(data, "data", node)
        parts = [self._plain(item, name, node) for item, name in zip(places, ("row", "col"))]
        emitter = self.emitter
        for part, size in zip(parts, sizes):
            assert isinstance(size, Scalar)
            message = "row, column, and data array must all be the same length"
            emitter.same_size(part.shape[0], values.shape[0], "ValueError", message)
            (entry,), (p,) = emitter.domain((part.shape[0],), "p")
            at = Cast(part.element((p,)), INT)
            inside = Op("and", (Op("ge", (at, ZERO), BOOL), Op("lt", (at, size.expr), BOOL)), BOOL)
            emitter.check(inside, MALFORMED, "index values must be >= 0 and < {0}", (size.expr,), (entry,))
            self._known(None, part, size.expr)
        no = Scalar(boolean(False))
        return self.construct(COO, [*parts, values, *sizes, flag, no], {}, node)

    def _in_format(self, value: Value, form: str, node: ast.AST) -> Value:
        assert isinstance(value, Struct)
        return value if value.kind is MODELS[form] else self.struct_method(value, f"to{form}", [], {}, node)

    def _diagonal(self, title: str, given: Value, form: Value | None, node: ast.AST) -> Value | None:
        if isinstance(given, Scalar) and title in ("eye", "eye_array", "identity"):
            ones = super()._call_object(np.ones, [given], {}, node)
        elif isinstance(given, Array) and given.rank == 1 and title.startswith("diags"):
            ones = given
        else:
            return None
        assert isinstance(ones, Array)
        values = self._settled_array(ones, "diagonal") if ones.view is None else ones
        made = self.construct(Diagonal, [values, Scalar(boolean(_DIAGONALS[title]))], {}, node)
        if form is None or (isinstance(form, Object) and form.value == "dia"):
            return made
        if isinstance(form, Object) and form.value in MODELS:
            return self._in_format(made, form.value, node)
        return None

    def inlined_call(self, function: Any, args: list[Value], node: ast.AST) -> Value:
        return self._inline_function(function, args, {}, node)

    def subscript(self, base: Value, key: Value, node: ast.AST | None, store: bool = False) -> Value:
        if not (isinstance(base, Struct) and issubclass(base.kind, Sparse)) or node is None:
            return super().subscript(base, key, node, store)
        if store:
            raise self.unsupported(node, "an assignment to elements of a sparse matrix", "build it from its entries")
        items = key.items if isinstance(key, Tuple) else (key, Slice(None, None, None))
        if len(items) != 2:
            raise self.unsupported(node, "an index into a sparse matrix")
        sizes = [self.field(base, name, node) for name in ("rows", "columns")]
        if all(isinstance(item, Scalar) for item in items):
            at = [self._inside(item, size, name) for item, size, name in zip(items, sizes, ("row", "column"))]  # type: ignore[arg-type]
            return self.struct_method(base, "element", at, {}, node)
        if not all(isinstance(item, Slice) and item.step is None for item in items):
            raise self.unsupported(node, "an index of this kind into a sparse matrix")
        part: Value = base
        for item, size, name in zip(items, sizes, ("some_rows", "some_columns")):
            if item == Slice(None, None, None):
                continue
            assert isinstance(size, Scalar) and isinstance(part, Struct)
            chosen = indexing.subscript(Array((size.expr,), INT, lambda at: at[0]), item, self.emitter)
            assert isinstance(chosen, Array)
            low = chosen.element((ZERO,))
            part = self.struct_method(part, name, [Scalar(low), Scalar(ix.add(low, chosen.shape[0]))], {}, node)
        return part if part is not base else self.struct_method(base, "copy", [], {}, node)

    def _inside(self, item: Scalar, size: Scalar, name: str) -> Value:
        """A place counted from either end, or SciPy's error."""
        at = self._kept(arith.cast(item.expr, INT), "place")
        low = Op("ge", (ix.add(at, size.expr), ZERO), BOOL)
        test = Op("and", (low, Op("lt", (at, size.expr), BOOL)), BOOL)
        self.emitter.check(test, "IndexError", f"{name} index ({{0}}) out of range", (at,))
        return Scalar(indexing.wrap(at, size.expr))
