"""SciPy's sparse objects.  In: an argument of one of its classes; out: an object of the model of that class
(`models.sparse`), whose fields are hidden arguments; and the way back, for results.

    S @ x    -->    the loops of CSR.__matmul__ over S.indptr, S.indices, S.data
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays, indexing, masks
from weft.frontend.carried import PARTS, CarriedMatrices
from weft.frontend.models.formats import COO, CSC, CSR, Diagonal, Line, from_dense
from weft.frontend.models.further import BSR, DIA
from weft.frontend.models.solving import chosen_rows, masked_rows, on_top, side_by_side, solved
from weft.frontend.models.sparse import Matrix, Sparse
from weft.frontend.values import Array, Instance, Method, Object, Scalar, Slice, Struct, Tuple, Value
from weft.ir import index as ix
from weft.ir import walk
from weft.ir.expr import ONE, ZERO, Cast, Const, Expr, Op, boolean, integer
from weft.ir.program import MALFORMED, Check, ConstOut, Out, Role, TupleOut
from weft.ir.types import BOOL, INT, DType, ScalarType

#: Formats that results may have, and those of arguments.
MODELS: dict[str, type[Sparse]] = {"csr": CSR, "csc": CSC, "coo": COO}
_ARGUMENTS: dict[str, type[Sparse]] = {**MODELS, "bsr": BSR, "dia": DIA}
_FIELDS = {**PARTS, "bsr": PARTS["csr"], "dia": ("offsets", "data")}
#: The arrays that tell where entries are.
_PLACES = frozenset({"indptr", "indices", "row", "col"})
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
    if not (kind.__module__ or "").startswith("scipy.sparse") or getattr(value, "ndim", None) != 2:
        return False
    form = getattr(value, "format", None)
    return form in _ARGUMENTS and kind.__name__ in (f"{form}_array", f"{form}_matrix")


def is_model(kind: type) -> bool:
    return issubclass(kind, (Sparse, Matrix, Line))


#: Calls that make sparse objects: the format, and whether they are of the array interface.
_CONSTRUCTORS = {f"{form}_{kind}": (form, kind == "array") for form in MODELS for kind in ("array", "matrix")}
_DIAGONALS = {"diags": False, "diags_array": True, "eye": False, "eye_array": True, "identity": False}


@dataclass(frozen=True)
class Shared:
    """An array that a matrix has a copy of, where SciPy's would share its memory; `writes` to it before that."""

    copy: str
    source: str
    writes: int


_STACKS = {"vstack": on_top, "hstack": side_by_side}


class SparseObjects(CarriedMatrices):
    """Arguments and results that are sparse."""

    def modelled(self, base: Instance, node: ast.AST) -> Value:
        """The object of a model for an argument that has one; else what it was."""
        if not is_sparse(base.sample):
            return base
        form: str = base.sample.format
        fields: dict[str, Any] = {name: self.instance_attribute(base, name, node) for name in _FIELDS[form]}
        extents = Instance(base.argument, (*base.path, "shape"), base.sample.shape)
        for place, name in enumerate(("rows", "columns")):
            fields[name] = self.instance_attribute(extents, str(place), node)
        fields["is_array"] = Scalar(boolean(type(base.sample).__name__.endswith("_array")))
        fields["in_order"] = Scalar(boolean(False))
        self._hold_together(form, fields)
        self.sparse_arguments.append(fields)
        return Struct(_ARGUMENTS[form], fields, self.emitter.blocks[-1])

    #: The fields of those arguments.
    sparse_arguments: list[dict[str, Any]]

    def _is_argument(self, value: Struct) -> bool:
        return any(value.fields is fields for fields in self.sparse_arguments)

    def _hold_together(self, form: str, fields: dict[str, Any]) -> None:
        """The arrays have the lengths of a well-formed object; SciPy itself deals with others."""
        emitter = self.emitter
        first, data = fields[_FIELDS[form][0]], fields["data"]
        if form == "dia":
            emitter.same_size(first.shape[0], data.shape[0], "RuntimeError", "")
            return
        index = fields[_FIELDS[form][1]]
        emitter.same_size(index.shape[0], data.shape[0], "RuntimeError", "")
        if form == "coo":
            emitter.same_size(first.shape[0], data.shape[0], "RuntimeError", "")
            for array, size in ((first, "rows"), (index, "columns")):
                self._check_places(array, fields[size].expr)
            return
        major = fields["columns" if form == "csc" else "rows"].expr
        minor = fields["rows" if form == "csc" else "columns"].expr
        if form == "bsr":  # as many rows and columns of blocks
            major, minor = (self._blocks(size, extent) for size, extent in zip((major, minor), data.shape[1:]))
        emitter.same_size(first.shape[0], ix.add(major, ONE), "RuntimeError", "")
        start, end = (Cast(first.element((at,)), INT) for at in (ZERO, major))
        emitter.check(Op("eq", (start, ZERO), BOOL), MALFORMED, "index pointer should start with 0")
        # Arrays with room behind the last entry are fine, and rare.
        test = Op("ge", (end, data.shape[0]), BOOL)
        emitter.guards.append(Check((), test, "RuntimeError", "", (), emitter.span))
        message = "Last value of index pointer should be less than the size of index and data arrays"
        emitter.check(Op("le", (end, data.shape[0]), BOOL), MALFORMED, message)
        self.check_structure(first, index, major, minor)

    def _blocks(self, size: Expr, extent: Expr) -> Expr:
        """How many blocks of an extent there are in a size."""
        emitter = self.emitter
        count = emitter.derived(Op("floordiv", (size, extent), INT))
        whole = Op("eq", (Op("mul", (count, extent), INT), size), BOOL)
        emitter.guards.append(Check((), whole, "RuntimeError", "", (), emitter.span))
        return count

    def check_structure(self, pointer: Array, coordinate: Array, major: Expr, minor: Expr) -> None:
        """The pointer never goes down and coordinates are inside, or it is the error of SciPy's own full check."""
        emitter = self.emitter
        (row,), (i,) = emitter.domain((major,))
        rises = Op("le", (pointer.element((i,)), pointer.element((ix.add(i, ONE),))), BOOL)
        emitter.check(rises, MALFORMED, "index pointer values must form a non-decreasing sequence", (), (row,))
        self._check_places(coordinate, minor)
        self._known(pointer, coordinate, minor)

    def _check_places(self, coordinate: Array, size: Expr) -> None:
        """Coordinates are inside an extent, or it is the error of SciPy's own full check."""
        emitter = self.emitter
        (entry,), (p,) = emitter.domain((coordinate.shape[0],), "p")
        at = Cast(coordinate.element((p,)), INT)
        inside = Op("and", (Op("ge", (at, ZERO), BOOL), Op("lt", (at, size), BOOL)), BOOL)
        emitter.check(inside, MALFORMED, "index values must be >= 0 and < {0}", (size,), (entry,))
        self._known(None, coordinate, size)

    def out(self, value: Value, node: ast.AST) -> Out:
        if not (isinstance(value, Struct) and is_model(value.kind)):
            return super().out(value, node)
        if value.kind is Line:
            held = [self._own(self.field(value, name, node), name) for name in ("col", "data")]
            inner = (super(SparseObjects, self).out(item, node) for item in (*held, self.field(value, "size", node)))
            return TupleOut(tuple(inner), named="weft.runtime.containers:sparse_line")
        if value.kind is Matrix:
            dense = self._own(self.field(value, "A", node), "dense")
            return TupleOut((super().out(dense, node),), named="weft.runtime.containers:matrix_of")
        if value.kind not in MODELS.values():
            raise self.unsupported(node, f"the return of an object of type {value.kind.__name__.lower()}")
        if self._is_argument(value):
            raise self.unsupported(node, "the return of an argument that is a sparse matrix", "return a copy")
        if self._is_lent(value):
            raise self.unsupported(node, "the return of a sparse matrix made of arguments", "add .copy()")
        form = next(name for name, kind in MODELS.items() if kind is value.kind)
        is_array = value.fields["is_array"]
        assert isinstance(is_array, Scalar) and isinstance(is_array.expr, Const)
        title = f"{form}_{'array' if is_array.expr.value else 'matrix'}"
        parts = [self._own(self.field(value, name, node), name) for name in PARTS[form]]
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

    #: The arrays that were given to a constructor and the copies that were made of them, with how many statements
    #: write to each so far: SciPy's object would share the memory.
    shared: list[Shared]
    #: Objects (their fields) whose entries are in another order now.
    reordered: list[dict[str, Any]]

    #: The fields of matrices as constructors made them.
    constructed: list[dict[str, Any]]

    def _is_lent(self, value: Struct) -> bool:
        """Whether SciPy's object would share memory with an argument."""
        buffers = self.emitter.buffers
        copies = {one.copy for one in self.shared if buffers[one.source].role is Role.PARAM}
        is_new = any(value.fields is fields for fields in self.constructed)
        held = {name: array for name, array in value.fields.items() if isinstance(array, Array)}
        shown = {name: array.view.buffer for name, array in held.items() if array.view is not None}
        values = shown.get("data")
        is_argument = values is not None and (buffers[values].role is Role.PARAM or values in self.borrowed)
        return is_argument or (is_new and not copies.isdisjoint(shown.values()))

    def _share(self, copy: str, source: str) -> None:
        self.shared.append(Shared(copy, source, self._writes(source)))

    def _writes(self, buffer: str) -> int:
        nodes = (node for block in self.emitter.blocks for top in block for node in walk.walk((top,)))
        leaves = (node for node in nodes if not any(True for _ in walk.sub_blocks(node)))
        return sum(buffer in walk.buffers_written(node) for node in leaves)

    def settle_structures(self) -> None:
        """Places of entries are never written behind the back of the program that relies on them."""
        emitter = self.emitter
        for one in self.shared:
            if self._writes(one.source) != one.writes or emitter.buffers[one.source].role is Role.RESULT:
                reason = "an array that is written, or returned, and that a sparse matrix was made of"
                raise Unsupported(emitter.span, reason, "give the matrix a copy of it")
        relied = {name for name in emitter.contents if emitter.buffers[name].role is Role.PARAM}
        relied |= {one.source for one in self.shared if emitter.buffers[one.source].role is Role.PARAM}
        for name in self.written_by(emitter.blocks[0]):
            if emitter.buffers[name].role is Role.PARAM and emitter.buffers[name].rank:
                emitter.disjoint |= {(min(name, other), max(name, other)) for other in relied if other != name}

    def note_reordered(self, matrix: Struct) -> None:
        if matrix.block is not self.emitter.blocks[-1]:
            raise Unsupported(self.emitter.span, "a sparse matrix whose entries are put in order in a branch or loop")
        self.reordered.append(matrix.fields)

    def construct(self, kind: type, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        made = super().construct(kind, args, kwargs, node)
        if not isinstance(made, Struct) or not is_model(kind):
            return made
        fields = dict(made.fields)
        if kind in MODELS.values():  # one spelling of sizes that are equal by the way the object was made
            names = PARTS[kind.format]  # type: ignore[attr-defined]
            for name in names[2:] if kind is not COO else names[::2]:
                fields[name] = replace(fields[name], shape=fields[names[1]].shape)
            if kind is not COO:
                major = fields["rows" if kind is CSR else "columns"]
                fields[names[0]] = replace(fields[names[0]], shape=(ix.add(major.expr, ONE),))
        new = Struct(kind, fields, self.emitter.blocks[-1])
        self.known_places(new)
        return new

    def known_places(self, value: Struct) -> None:
        fields = value.fields
        if value.kind is COO:
            for name, size in (("row", "rows"), ("col", "columns")):
                self._known(None, fields[name], fields[size].expr)
        elif value.kind in MODELS.values():
            minor = fields["columns" if value.kind is CSR else "rows"]
            self._known(fields["indptr"], fields["indices"], minor.expr)

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

    def _replaced(self, base: Struct, name: str, node: ast.AST) -> Value:
        """base.name() that changes the object: new arrays for it, where nobody has branched since it was made."""
        if base.block is not self.emitter.blocks[-1] or self._is_argument(base):
            raise self.unsupported(node, f"{name}() of a sparse matrix here", "work on a copy")
        made = self.struct_method(base, _IN_PLACE[name], [], {}, node)
        assert isinstance(made, Struct)
        base.fields.update(made.fields)
        return Object(None)

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
            return self._replaced(base, name, node)
        return super().struct_method(base, name, args, kwargs, node)

    def field(self, base: Struct, name: str, node: ast.AST) -> Value:
        if issubclass(base.kind, Sparse) and (name in _KEEP_ZERO or name in _IN_PLACE):
            return Method(base, name)
        value = super().field(base, name, node)
        if self.scope.source.place is not None or not issubclass(base.kind, (Sparse, Line)):
            return value
        if any(base.fields is fields for fields in self.reordered) and name in base.fields:
            raise self.unsupported(node, f"{name} of a sparse matrix whose entries were put in order", "add .copy()")
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
        if (getattr(thing, "__module__", None) or "").startswith("scipy.sparse"):
            made = self._made(thing.__name__, args, kwargs, node)
            if made is not None:
                return made
        return super()._call_object(thing, args, kwargs, node)

    def _made(self, title: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value | None:
        """What a function of scipy.sparse makes; None if it has no model."""
        if title == "issparse" and len(args) == 1:
            return Scalar(boolean(isinstance(args[0], Struct) and issubclass(args[0].kind, (Sparse, Line))))
        if title in _DIAGONALS and len(args) == 1 and not kwargs.keys() - {"format"}:
            return self._diagonal(title, args[0], kwargs.get("format"), node)
        if title == "spsolve_triangular" and len(args) == 2 and not kwargs.keys() - {"lower"}:
            lower = kwargs.get("lower", Scalar(boolean(True)))
            return self._inline_function(solved, [*args, lower], {}, node)
        if title in _STACKS and len(args) == 1 and not kwargs and isinstance(args[0], Tuple) and args[0].items:
            return functools.reduce(
                lambda one, other: self._inline_function(_STACKS[title], [one, other], {}, node), args[0].items
            )
        if title not in _CONSTRUCTORS or len(args) != 1 or kwargs.keys() - {"shape"}:
            return None
        form, is_array = _CONSTRUCTORS[title]
        given, flag = args[0], Scalar(boolean(is_array))
        if isinstance(given, Array) and given.rank == 2 and not given.is_list and not kwargs:
            dense = self._inline_function(from_dense, [given, flag], {}, node)
            return self._in_format(dense, form, node)
        shape = kwargs.get("shape")
        sizes = [item for item in shape.items if isinstance(item, Scalar)] if isinstance(shape, Tuple) else []
        if len(sizes) != 2 or not isinstance(given, Tuple):
            return None
        data, *rest = given.items
        if len(rest) == 1 and isinstance(rest[0], Tuple) and len(rest[0].items) == 2:
            return self._in_format(self._triplets(rest[0].items, data, sizes, flag, node), form, node)
        if len(rest) == 2 and form in ("csr", "csc"):
            return self._compressed(form, rest, data, sizes, flag, node)
        return None

    def _values(self, value: Value, node: ast.AST) -> Array:
        """The values of a new matrix, which share the memory of the array they are."""
        if not isinstance(value, Array) or value.rank != 1 or value.is_list:
            raise self.unsupported(node, "a sparse matrix made of this", value=value)
        return self._settled_array(value, "data") if value.view is None else value

    def _places(self, given: Sequence[Value], sizes: Sequence[Scalar], is_array: bool, node: ast.AST) -> list[Array]:
        """Arrays that tell where the entries of a new matrix are, as it has them: of SciPy's index type."""
        found: list[Array] = []
        for value in given:
            if not isinstance(value, Array) or value.rank != 1 or value.is_list or not value.type.dtype.is_integer:
                raise self.unsupported(node, "a sparse matrix made of this", value=value)
            found.append(value)
        narrow = all(np.can_cast(array.type.dtype.numpy, np.int32) for array in found)
        if narrow or not is_array:  # the matrix interface looks at what is in wide arrays
            limit = integer(2**31 - 1)
            for extent in (*(size.expr for size in sizes), found[0].shape[0]):
                if not self.emitter.assure(ix.sub(limit, extent), "RuntimeError"):
                    self.emitter.hand_back(Op("le", (extent, limit), BOOL), "a sparse matrix of wide indices")
            narrow = True
        of = ScalarType(DType.I32 if narrow else DType.I64)
        return [self._place(array, of) for array in found]

    def _place(self, array: Array, of: ScalarType) -> Array:
        made = Array(array.shape, of, lambda at: arith.cast(array.element(at), of), cost=array.cost)
        copy = arrays.materialise(made, self.emitter, "places")
        source = array.view.buffer if array.view is not None else array.origin
        if source is not None and array.type.dtype is of.dtype:
            assert copy.view is not None
            self._share(copy.view.buffer, source)
        return copy

    def _compressed(
        self, form: str, rest: list[Value], data: Value, sizes: Sequence[Scalar], flag: Scalar, node: ast.AST
    ) -> Value:
        values = self._values(data, node)
        coordinate, pointer = self._places(rest, sizes, bool(flag.expr == boolean(True)), node)
        major, minor = sizes if form == "csr" else sizes[::-1]
        emitter = self.emitter
        emitter.same_size(coordinate.shape[0], values.shape[0], "RuntimeError", "")
        emitter.same_size(pointer.shape[0], ix.add(major.expr, ONE), "RuntimeError", "")
        start, end = (Cast(pointer.element((at,)), INT) for at in (ZERO, major.expr))
        whole = Op("and", (Op("eq", (start, ZERO), BOOL), Op("eq", (end, coordinate.shape[0]), BOOL)), BOOL)
        emitter.hand_back(whole, "arrays of a sparse matrix with room behind the last entry")
        self.check_structure(pointer, coordinate, major.expr, minor.expr)
        no = Scalar(boolean(False))
        return self._constructed(MODELS[form], [pointer, coordinate, values, *sizes, flag, no], node)

    def _constructed(self, kind: type[Sparse], fields: list[Value], node: ast.AST) -> Value:
        made = self.construct(kind, fields, {}, node)
        assert isinstance(made, Struct)
        self.constructed.append(made.fields)
        return made

    def _triplets(
        self, places: Sequence[Value], data: Value, sizes: Sequence[Scalar], flag: Scalar, node: ast.AST
    ) -> Value:
        values = self._values(data, node)
        parts = self._places(places, sizes, bool(flag.expr == boolean(True)), node)
        for part, size in zip(parts, sizes):
            message = "row, column, and data array must all be the same length"
            self.emitter.same_size(part.shape[0], values.shape[0], "ValueError", message)
            self._check_places(part, size.expr)
        no = Scalar(boolean(False))
        return self._constructed(COO, [*parts, values, *sizes, flag, no], node)

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

    def _comparison(self, op: ast.cmpop, left: Value, right: Value, node: ast.Compare) -> Value:
        name = _COMPARISONS.get(type(op))
        for base, other, mirrored in ((left, right, False), (right, left, True)):
            if name is not None and isinstance(base, Struct) and issubclass(base.kind, Sparse):
                self.at(node)
                return self.struct_method(base, "compared", [other, Object(name[mirrored])], {}, node)
        return super()._comparison(op, left, right, node)

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
            at: list[Value] = [self._inside(item, size, name) for item, size, name in zip(items, sizes, ("row", "column"))]  # type: ignore[arg-type]
            return self.struct_method(base, "element", at, {}, node)
        which = masks.settled(items[0], self.emitter)
        if isinstance(which, Array) and which.rank == 1 and not which.is_list and items[1] == Slice(None, None, None):
            rows = masked_rows if which.type.dtype is DType.BOOL else chosen_rows
            return self._inline_function(rows, [base, which], {}, node)
        if isinstance(which, Scalar) and items[1] == Slice(None, None, None) and not self._is_array(base):
            row = self._inside(which, sizes[0], "row")  # type: ignore[arg-type]
            return self.struct_method(base, "some_rows", [row, Scalar(ix.add(row.expr, ONE))], {}, node)
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

    def _is_array(self, base: Struct) -> bool:
        """Whether an object is of the array interface."""
        flag = base.fields["is_array"]
        return isinstance(flag, Scalar) and flag.expr == boolean(True)

    def _inside(self, item: Scalar, size: Scalar, name: str) -> Scalar:
        """A place counted from either end, or SciPy's error."""
        at = self._kept(arith.cast(item.expr, INT), "place")
        low = Op("ge", (ix.add(at, size.expr), ZERO), BOOL)
        test = Op("and", (low, Op("lt", (at, size.expr), BOOL)), BOOL)
        self.emitter.check(test, "IndexError", f"{name} index ({{0}}) out of range", (at,))
        return Scalar(indexing.wrap(at, size.expr))
