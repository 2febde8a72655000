"""SciPy's sparse objects.  In: an argument of one of its classes; out: an object of the model of that class
(`models.sparse`), whose fields are hidden arguments; and the way back, for results.

    S @ x    -->    the loops of CSR.__matmul__ over S.indptr, S.indices, S.data
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from weft.frontend import arrays
from weft.frontend.models.sparse import COO, CSC, CSR, Sparse
from weft.frontend.results import Results
from weft.frontend.values import Array, Instance, Scalar, Struct, Value
from weft.ir import index as ix
from weft.ir.expr import ONE, Const, Op, boolean, integer
from weft.ir.program import Check, ConstOut, Out, Role, TupleOut
from weft.ir.types import BOOL

MODELS: dict[str, type[Sparse]] = {"csr": CSR, "csc": CSC, "coo": COO}
#: The arrays that a format is made of, with SciPy's names for them.
_PARTS = {"csr": ("indptr", "indices", "data"), "csc": ("indptr", "indices", "data"), "coo": ("row", "col", "data")}
#: What is asked of an argument only when an operator depends on it.
_ASKED = "has_canonical_format"


def is_sparse(value: Any) -> bool:
    """Whether an object is one of SciPy's sparse matrices or arrays that has a model."""
    kind = type(value)
    if not (kind.__module__ or "").startswith("scipy.sparse") or getattr(value, "ndim", None) != 2:
        return False
    form = getattr(value, "format", None)
    return form in MODELS and kind.__name__ in (f"{form}_array", f"{form}_matrix")


def is_model(kind: type) -> bool:
    return issubclass(kind, Sparse)


class SparseObjects(Results):
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
        fields[_ASKED] = base
        self._hold_together(form, fields)
        return Struct(MODELS[form], fields, self.emitter.blocks[-1])

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
        for at, value in ((integer(0), integer(0)), (major, data.shape[0])):
            test = Op("eq", (first.element((at,)), value), BOOL)
            emitter.guards.append(Check((), test, "RuntimeError", "", (), emitter.span))

    def asked(self, base: Struct, name: str, node: ast.AST) -> Value:
        """A property that SciPy computes at most once, compiled in."""
        held = base.fields[name]
        assert isinstance(held, Instance)
        base.fields[name] = self.instance_attribute(held, name, node, constant=True)
        found: Value = base.fields[name]
        return found

    def out(self, value: Value, node: ast.AST) -> Out:
        if not (isinstance(value, Struct) and is_model(value.kind)):
            return super().out(value, node)
        if isinstance(value.fields.get(_ASKED), Instance):
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
        if view is not None and view.whole and self.emitter.buffers[view.buffer].role is not Role.PARAM:
            return value
        return arrays.materialise(replace(value, view=None), self.emitter, name)


