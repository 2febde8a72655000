"""Sparse matrices that a function makes: by operators of the models, or by constructors of scipy.sparse.  In: arrays;
out: an object of a model, whose structure is well formed, or the error that SciPy's own full check has.

    sp.csr_array((d, j, p), shape=(m, n))    -->    check j, p; CSR(p, j, d, m, n, ...)
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays, masks
from weft.frontend.building import Building
from weft.frontend.carried import PARTS
from weft.frontend.core import written_by
from weft.frontend.models.formats import COO, CSC, CSR, Diagonal, from_dense
from weft.frontend.models.further import DIA
from weft.frontend.models.solving import extent, put
from weft.frontend.models.sparse import Matrix, Sparse
from weft.frontend.models.tensors import Coordinates
from weft.frontend.structs import settled_array
from weft.frontend.values import Array, Object, Scalar, Struct, Tuple, Value
from weft.ir import index as ix
from weft.ir import walk
from weft.ir.expr import ONE, ZERO, Cast, Const, Expr, Op, boolean, integer
from weft.ir.program import MALFORMED, Role
from weft.ir.types import BOOL, F64, INT, DType, ScalarType, promote
from weft.records import dataclass

#: Formats that results may have.
MODELS: dict[str, type[Sparse]] = {"csr": CSR, "csc": CSC, "coo": COO}
#: Calls that make sparse objects: the format, and whether they are of the array interface.
CONSTRUCTORS = {f"{form}_{kind}": (form, kind == "array") for form in MODELS for kind in ("array", "matrix")}
_DIAGONALS = {"diags": False, "diags_array": True, "eye": False, "eye_array": True, "identity": False}


def is_model(kind: type) -> bool:
    return issubclass(kind, (Sparse, Matrix, Coordinates))


@dataclass(frozen=True)
class Shared:
    """An array that a matrix has a copy of, where SciPy's would share its memory; `writes` to it before that."""

    copy: str
    source: str
    writes: int


class MadeMatrices(Building):
    """What makes sparse objects, and what is known of their memory."""

    #: Whether the user's code looks at arrays of a matrix that a loop carries; whether such a one is put in order.
    looked: bool = False
    ordered_again: bool = False

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
                _known(self, None, fields[name], fields[size].expr)
        elif value.kind in MODELS.values():
            minor = fields["columns" if value.kind is CSR else "rows"]
            _known(self, fields["indptr"], fields["indices"], minor.expr)

    def _made(self, title: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value | None:
        """What a function of scipy.sparse makes; None if it has no model."""
        if title in _DIAGONALS:
            return self._diagonals(title, args, kwargs, node)
        if title not in CONSTRUCTORS or len(args) != 1 or kwargs.keys() - {"shape"}:
            return None
        form, is_array = CONSTRUCTORS[title]
        given, flag = args[0], Scalar(boolean(is_array))
        if isinstance(given, Array) and given.rank == 2 and not given.is_list and not kwargs:
            dense = self._inline_function(from_dense, [given, flag], {}, node)
            return in_format(self, dense, form, node)
        shape = kwargs.get("shape")
        sizes = [item for item in shape.items if isinstance(item, Scalar)] if isinstance(shape, Tuple) else []
        if not isinstance(given, Tuple) or (len(sizes) != 2 and shape is not None):
            return None
        data, *rest = (self._from_lists(item, node) for item in given.items)
        if not sizes:
            sizes = _sizes(self, form, rest, node)
        if len(sizes) != 2:
            return None
        if len(rest) == 1 and isinstance(rest[0], Tuple) and len(rest[0].items) == 2:
            return in_format(self, _triplets(self, rest[0].items, data, sizes, flag, node), form, node)
        if len(rest) == 2 and form in ("csr", "csc"):
            return _compressed(self, form, rest, data, sizes, flag, node)
        return None

    def _from_lists(self, value: Value, node: ast.AST) -> Value:
        """Lists, as loops fill them, as the arrays that SciPy makes of them; in a tuple too."""
        if isinstance(value, Tuple) and not value.is_list:
            return replace(value, items=tuple(self._from_lists(item, node) for item in value.items))
        if isinstance(value, Array) and not value.is_list:
            return value
        return super()._call_object(np.array, [value], {}, node)

    def _values(self, value: Value, node: ast.AST) -> Array:
        """The values of a new matrix, which share the memory of the array they are."""
        if not isinstance(value, Array) or value.rank != 1 or value.is_list:
            raise self.unsupported(node, "a sparse matrix made of this", value=value)
        return settled_array(self, value, "data") if value.view is None else value

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
        return [_place(self, array, of) for array in found]

    def _diagonals(self, title: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value | None:
        """sp.diags(given, offsets, shape, format) and sp.eye(m, n, k, format=...)"""
        is_eye = not title.startswith("diags")
        given = dict(zip(("m", "n", "k") if is_eye else ("diagonals", "offsets", "shape"), args)) | kwargs
        form = given.pop("format", Object("dia"))
        if given.keys() - {"m", "n", "k", "diagonals", "offsets", "shape"} or not isinstance(form, Object):
            return None
        flag = Scalar(boolean(_DIAGONALS[title]))
        made: Value | None
        if given.keys() == {"m"} and isinstance(given["m"], Scalar):
            made = self.construct(Diagonal, [super()._call_object(np.ones, [given["m"]], {}, node), flag], {}, node)
        elif is_eye and {"m"} <= given.keys() <= {"m", "n", "k"}:
            sizes = (given["m"], given.get("n", given["m"]))
            one, offset = Tuple((Scalar(Const(1.0, F64)),)), given.get("k", Scalar(ZERO))
            made = _banded(self, one, Tuple((offset,)), Tuple(sizes), flag, node)
        elif not is_eye and given.keys() == {"diagonals"} and isinstance(given["diagonals"], Array):
            values = given["diagonals"]
            if values.rank != 1 or not (values.type.dtype.is_float or values.type.dtype.is_complex):
                return None
            made = self.construct(Diagonal, [values, flag], {}, node)
        elif not is_eye and "diagonals" in given:
            made = _banded(self, given["diagonals"], given.get("offsets"), given.get("shape"), flag, node)
        else:
            return None
        if made is None or form.value in (None, "dia"):
            return made
        return in_format(self, made, form.value, node) if form.value in MODELS else None


def is_lent(builder: Building, value: Struct) -> bool:
    """Whether SciPy's object would share memory with an argument."""
    buffers = builder.emitter.buffers
    copies = {one.copy for one in builder.shared if buffers[one.source].role is Role.PARAM}
    is_new = any(value.fields is fields for fields in builder.constructed)
    held = {name: array for name, array in value.fields.items() if isinstance(array, Array)}
    shown = {name: array.view.buffer for name, array in held.items() if array.view is not None}
    values = shown.get("data")
    is_argument = values is not None and (buffers[values].role is Role.PARAM or values in builder.borrowed)
    return is_argument or (is_new and not copies.isdisjoint(shown.values()))


def _share(builder: Building, copy: str, source: str) -> None:
    builder.shared.append(Shared(copy, source, _writes(builder, source)))


def _writes(builder: Building, buffer: str) -> int:
    nodes = (node for block in builder.emitter.blocks for top in block for node in walk.walk((top,)))
    leaves = (node for node in nodes if not any(True for _ in walk.sub_blocks(node)))
    return sum(buffer in walk.buffers_written(node) for node in leaves)


def settle_structures(builder: Building) -> None:
    """Places of entries are never written behind the back of the program that relies on them."""
    emitter = builder.emitter
    for one in builder.shared:
        if _writes(builder, one.source) != one.writes or emitter.buffers[one.source].role is Role.RESULT:
            reason = "an array that is written, or returned, and that a sparse matrix was made of"
            raise Unsupported(emitter.span, reason, "give the matrix a copy of it")
    if builder.looked and builder.ordered_again:
        raise Unsupported(emitter.span, "the arrays of a sparse matrix that a loop carries and puts in order")
    relied = {name for name in emitter.contents if emitter.buffers[name].role is Role.PARAM}
    relied |= {one.source for one in builder.shared if emitter.buffers[one.source].role is Role.PARAM}
    for name in written_by(builder, emitter.blocks[0]):
        if emitter.buffers[name].role is Role.PARAM and emitter.buffers[name].rank:
            emitter.disjoint |= {(min(name, other), max(name, other)) for other in relied if other != name}


def note_reordered(builder: Building, matrix: Struct) -> None:
    if matrix.block is not builder.emitter.blocks[-1]:
        raise Unsupported(builder.emitter.span, "a sparse matrix whose entries are put in order in a branch or loop")
    builder.reordered.append(matrix.fields)
    builder.ordered_again = builder.ordered_again or builder.is_carried(matrix)


def check_structure(builder: Building, pointer: Array, coordinate: Array, major: Expr, minor: Expr) -> None:
    """The pointer never goes down and coordinates are inside, or it is the error of SciPy's own full check."""
    emitter = builder.emitter
    (row,), (i,) = emitter.domain((major,))
    rises = Op("le", (pointer.element((i,)), pointer.element((ix.add(i, ONE),))), BOOL)
    emitter.check(rises, MALFORMED, "index pointer values must form a non-decreasing sequence", (), (row,))
    check_places(builder, coordinate, minor)
    _known(builder, pointer, coordinate, minor)


def check_places(builder: Building, coordinate: Array, size: Expr) -> None:
    """Coordinates are inside an extent, or it is the error of SciPy's own full check."""
    emitter = builder.emitter
    (entry,), (p,) = emitter.domain((coordinate.shape[0],), "p")
    at = Cast(coordinate.element((p,)), INT)
    inside = Op("and", (Op("ge", (at, ZERO), BOOL), Op("lt", (at, size), BOOL)), BOOL)
    emitter.check(inside, MALFORMED, "index values must be >= 0 and < {0}", (size,), (entry,))
    _known(builder, None, coordinate, size)


def _known(builder: Building, pointer: Array | None, coordinate: Array, minor: Expr) -> None:
    """What the arrays of a matrix hold, from now on: nobody writes to them (see `field`)."""
    if pointer is not None and pointer.view is not None:
        builder.emitter.contents[pointer.view.buffer] = coordinate.shape[0]
    if coordinate.view is not None:
        builder.emitter.contents[coordinate.view.buffer] = ix.sub(minor, ONE)


def _sizes(builder: Building, form: str, rest: Sequence[Value], node: ast.AST) -> list[Scalar]:
    """The size of a matrix whose shape is not given: as many rows and columns as there are places in use."""
    given = rest[0].items if len(rest) == 1 and isinstance(rest[0], Tuple) else rest[:1]
    if not all(isinstance(item, Array) and item.rank == 1 for item in given):
        return []
    found = [builder._inline_function(extent, [item], {}, node) for item in given]
    if len(rest) == 2 and isinstance(rest[1], Array) and form in ("csr", "csc"):
        major = Scalar(ix.sub(rest[1].shape[0], ONE))
        found = [major, *found] if form == "csr" else [*found, major]
    return [item for item in found if isinstance(item, Scalar)]


def _place(builder: Building, array: Array, of: ScalarType) -> Array:
    made = Array(array.shape, of, lambda at: arith.cast(array.element(at), of), cost=array.cost)
    copy = arrays.materialise(made, builder.emitter, "places")
    source = array.view.buffer if array.view is not None else array.origin
    if source is not None and array.type.dtype is of.dtype:
        assert copy.view is not None
        _share(builder, copy.view.buffer, source)
    return copy


def _compressed(
    builder: Building,
    form: str,
    rest: list[Value],
    data: Value,
    sizes: Sequence[Scalar],
    flag: Scalar,
    node: ast.AST,
) -> Value:
    values = builder._values(data, node)
    coordinate, pointer = builder._places(rest, sizes, bool(flag.expr == boolean(True)), node)
    major, minor = sizes if form == "csr" else sizes[::-1]
    emitter = builder.emitter
    emitter.same_size(coordinate.shape[0], values.shape[0], "RuntimeError", "")
    emitter.same_size(pointer.shape[0], ix.add(major.expr, ONE), "RuntimeError", "")
    start, end = (Cast(pointer.element((at,)), INT) for at in (ZERO, major.expr))
    whole = Op("and", (Op("eq", (start, ZERO), BOOL), Op("eq", (end, coordinate.shape[0]), BOOL)), BOOL)
    emitter.hand_back(whole, "arrays of a sparse matrix with room behind the last entry")
    check_structure(builder, pointer, coordinate, major.expr, minor.expr)
    no = Scalar(boolean(False))
    return _constructed(builder, MODELS[form], [pointer, coordinate, values, *sizes, flag, no], node)


def _constructed(builder: Building, kind: type[Sparse], fields: list[Value], node: ast.AST) -> Value:
    made = builder.construct(kind, fields, {}, node)
    assert isinstance(made, Struct)
    builder.constructed.append(made.fields)
    return made


def _triplets(
    builder: Building, places: Sequence[Value], data: Value, sizes: Sequence[Scalar], flag: Scalar, node: ast.AST
) -> Value:
    values = builder._values(data, node)
    parts = builder._places(places, sizes, bool(flag.expr == boolean(True)), node)
    for part, size in zip(parts, sizes):
        message = "row, column, and data array must all be the same length"
        builder.emitter.same_size(part.shape[0], values.shape[0], "ValueError", message)
        check_places(builder, part, size.expr)
    no = Scalar(boolean(False))
    return _constructed(builder, COO, [*parts, values, *sizes, flag, no], node)


def in_format(builder: Building, value: Value, form: str, node: ast.AST) -> Value:
    assert isinstance(value, Struct)
    return value if value.kind is MODELS[form] else builder.struct_method(value, f"to{form}", [], {}, node)


def _banded(
    builder: Building, diagonals: Value, offsets: Value | None, shape: Value | None, flag: Scalar, node: ast.AST
) -> Value | None:
    """A matrix of several diagonals, whose offsets are known."""
    if isinstance(diagonals, Array) and isinstance(offsets, Scalar):
        diagonals, offsets = Tuple((diagonals,)), Tuple((offsets,))
    if not isinstance(diagonals, Tuple) or not isinstance(offsets, Tuple):
        return None
    known = [at.expr.value for at in offsets.items if isinstance(at, Scalar) and isinstance(at.expr, Const)]
    places = [at for at in known if isinstance(at, int)]
    parts = [masks.settled(item, builder.emitter) for item in diagonals.items]
    plain = [part for part in parts if isinstance(part, Scalar) or (isinstance(part, Array) and part.rank == 1)]
    if not (len(plain) == len(set(places)) == len(offsets.items) == len(parts)) or not parts:
        return None
    of = functools.reduce(promote, (part.type.strong for part in plain))
    if not (of.dtype.is_float or of.dtype.is_complex):
        return None  # SciPy warns of the type that it will be some day
    if shape is None and isinstance(plain[0], Array):
        size = Scalar(ix.add(plain[0].shape[0], integer(abs(places[0]))))
        shape = Tuple((size, size))
    if not isinstance(shape, Tuple) or len(shape.items) != 2:
        return None
    rows, columns = shape.items
    assert isinstance(columns, Scalar)
    extents = (integer(len(parts)), arith.cast(columns.expr, INT))
    data = arrays.of_buffer(builder.emitter.allocate("diagonals", of, extents, zero=True))
    for number, (part, at) in enumerate(zip(plain, places)):
        where: list[Value] = [Scalar(integer(at)), rows, columns]
        builder._inline_function(put, [data, Scalar(integer(number)), part, *where], {}, node)
    numbers = builder.array_of(offsets, node, ScalarType(DType.I32))
    return builder.construct(DIA, [numbers, data, rows, columns, flag], {}, node)
