"""Functions of scipy.sparse over matrices that are there already: stacks, triangles, products, conversions between the
interfaces, triangular systems.  In: objects of models; out: objects of models, or arrays.

    sp.tril(S, -1, format="csr")    -->    triangle(S, -1, True).tocsr()
"""

from __future__ import annotations

import ast
import functools

from weft.frontend.building import Building
from weft.frontend.models.solving import found, kronecker, norm, on_top, side_by_side, solved, triangle
from weft.frontend.models.sparse import Sparse
from weft.frontend.models.tensors import Coordinates
from weft.frontend.sparse_making import CONSTRUCTORS, MODELS, in_format
from weft.frontend.values import Object, Scalar, Struct, Tuple, Value
from weft.ir.expr import ZERO, boolean

_STACKS = {"vstack": on_top, "hstack": side_by_side}
#: Functions that may be asked for a format, with the names of what comes before it.
_PARAMETERS = {
    "vstack": ("blocks", "format"), "hstack": ("blocks", "format"), "kron": ("A", "B", "format"),
    "tril": ("A", "k", "format"), "triu": ("A", "k", "format"), "find": ("A",), "norm": ("x",),
    "spsolve_triangular": ("A", "b", "lower"),
}  # fmt: skip


def _is_sparse(value: Value | None) -> bool:
    return isinstance(value, Struct) and issubclass(value.kind, Sparse)


class SparseFunctions(Building):
    """Calls of scipy.sparse's functions."""

    def _made(self, title: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value | None:
        if title == "issparse" and len(args) == 1:
            return Scalar(boolean(isinstance(args[0], Struct) and issubclass(args[0].kind, (Sparse, Coordinates))))
        if title in CONSTRUCTORS and len(args) == 1 and not kwargs and _is_sparse(args[0]):
            return _converted(self, args[0], *CONSTRUCTORS[title], node)
        if title not in _PARAMETERS:
            return super()._made(title, args, kwargs, node)
        names = _PARAMETERS[title]
        given = dict(zip(names, args)) | kwargs
        if len(args) > len(names) or given.keys() - set(names):
            return None
        form = given.pop("format", Object(None))
        made = _applied(self, title, given, node)
        if made is None or (isinstance(form, Object) and form.value is None):
            return made
        if not isinstance(form, Object) or form.value not in MODELS:
            return None
        return in_format(self, made, form.value, node)


def _applied(builder: Building, title: str, given: dict[str, Value], node: ast.AST) -> Value | None:
    if title in _STACKS:
        blocks = given.get("blocks")
        if not isinstance(blocks, Tuple) or len(blocks.items) < 2 or not all(map(_is_sparse, blocks.items)):
            return None
        return functools.reduce(
            lambda one, other: builder._inline_function(_STACKS[title], [one, other], {}, node), blocks.items
        )
    if title == "norm":
        return builder._inline_function(norm, [given["x"]], {}, node) if _is_sparse(given.get("x")) else None
    if not _is_sparse(given.get("A")):
        return None
    first = given["A"]
    if title == "spsolve_triangular" and "b" in given:
        lower = given.get("lower", Scalar(boolean(True)))
        return builder._inline_function(solved, [first, given["b"], lower], {}, node)
    second = given.get("B")
    if title == "kron":
        is_sparse = second is not None and _is_sparse(second)
        return builder._inline_function(kronecker, [first, second], {}, node) if is_sparse else None  # type: ignore[list-item]
    if title == "find":
        return builder._inline_function(found, [first], {}, node)
    offset = given.get("k", Scalar(ZERO))
    if title in ("tril", "triu") and isinstance(offset, Scalar) and offset.type.dtype.is_integer:
        return builder._inline_function(triangle, [first, offset, Scalar(boolean(title == "tril"))], {}, node)
    return None


def _converted(builder: Building, value: Value, form: str, is_array: bool, node: ast.AST) -> Value:
    """A matrix in another format, or of the other interface."""
    made = in_format(builder, value, form, node)
    assert isinstance(made, Struct)
    fields = {**made.fields, "is_array": Scalar(boolean(is_array))}
    return Struct(made.kind, fields, builder.emitter.blocks[-1])
