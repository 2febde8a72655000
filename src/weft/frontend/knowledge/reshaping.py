"""Reshape, ravel, flatten: a view where NumPy gives a view, a copy where it copies.  Where only the run time can tell,
a copy that is noted to stand for a view: the build refuses a program that could tell the two apart.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arrays, layouts
from weft.frontend.aliasing import Given
from weft.frontend.constants import constant
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.creation import extent_of
from weft.frontend.knowledge.ufuncs import as_plain
from weft.frontend.polynomials import poly
from weft.frontend.values import Array, Regrouped, Scalar, Tuple, Value, describe
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op
from weft.ir.types import BOOL, INT


def transposed(array: Array) -> Array:
    return arrays.remap(array, array.shape[::-1], lambda at: at[::-1])


def reshaped(array: Array, shape: tuple[Expr, ...], emitter: Emitter, kept: bool = True) -> Array:
    """The same elements in C order under another shape; `kept`: the result may be given a name."""
    if array.view is None and array.part is None and array.origin is None:
        return _rearranged(arrays.materialise(array, emitter, "reshape"), shape, emitter)
    _specialise(array.shape, shape, emitter)
    copied = layouts.is_copied(array, shape, emitter)
    if copied is False:
        return _rearranged(array, shape, emitter)
    return duplicate(array, shape, emitter, linked=copied is None and kept)


def _specialise(old: tuple[Expr, ...], new: tuple[Expr, ...], emitter: Emitter) -> None:
    """Sizes at both ends that are equal for the arguments at hand are taken to be equal, behind a guard."""
    for step in (1, -1):
        for mine, other in zip(old[::step], new[::step]):
            if not emitter.likely_equal(mine, other):
                break
            emitter.same_size(mine, other, "RuntimeError", "")


def duplicate(array: Array, shape: tuple[Expr, ...], emitter: Emitter, linked: bool) -> Array:
    """A copy of the new shape, so that its readers need no divisions: products of it are products of matrices.

    linked: NumPy may give a view of the same memory instead.
    """
    copy = arrays.materialise(replace(_rearranged(array, shape, emitter), turned=False), emitter, "reshape")
    source = array.view.buffer if array.view is not None else array.origin
    assert copy.view is not None
    if linked and source is not None:
        emitter.note_given(emitter.blocks[-1][-1], Given(copy.view.buffer, source))
    return copy


def _rearranged(array: Array, shape: tuple[Expr, ...], emitter: Emitter) -> Array:
    old = tuple(emitter.spelled(extent) for extent in array.shape)
    new = tuple(emitter.spelled(extent) for extent in shape)
    result = arrays.remap(array, shape, lambda at: layouts.redistributed(at, new, old))
    return replace(result, before=Regrouped(array, lambda at: layouts.redistributed(at, old, new)))


def wanted_shape(array: Array, value: Value, emitter: Emitter) -> tuple[Expr, ...]:
    """A shape argument, with -1 for what is left."""
    items = value.items if isinstance(value, Tuple) else (value,)
    unknown = [k for k, item in enumerate(items) if isinstance(item, Scalar) and item.expr == Const(-1, INT)]
    if len(unknown) > 1:
        raise Unsupported(emitter.span, "ValueError: can only specify one unknown dimension")
    known = [extent_of(item, emitter) for k, item in enumerate(items) if k not in unknown]
    total, product = (emitter.spelled(arrays.count(extents)) for extents in (array.shape, known))
    if not unknown:
        if poly(total) == poly(product):
            return tuple(known)
        emitter.same_size(total, product, "ValueError", "cannot reshape array into this shape", whole=False)
        return tuple(known)
    message = "cannot reshape array into this shape"
    # Of an empty array nothing tells what is left, not even where it would be a size of the array.
    if not emitter.assure(ix.sub(product, ONE), "ValueError", message):
        emitter.check(Op("gt", (product, ZERO), BOOL), "ValueError", message)
    remaining = _quotient(array.shape, known, emitter)
    if remaining is None:
        emitter.check(Op("eq", (Op("mod", (total, product), INT), ZERO), BOOL), "ValueError", message)
        remaining = emitter.snapshot(Op("floordiv", (total, product), INT), "n")
    known.insert(unknown[0], remaining)
    return tuple(known)


def _quotient(shape: tuple[Expr, ...], known: list[Expr], emitter: Emitter) -> Expr | None:
    """The product of the extents that are left when `known` are taken away; None if nothing tells it."""
    left = [emitter.spelled(extent) for extent in shape]
    others = []
    for extent in map(emitter.spelled, known):
        if extent in left:
            left.remove(extent)
        elif not arrays.is_one(extent):
            others.append(extent)
    if not others:
        return arrays.count(left)
    rest = poly(arrays.count(left)).quotient(poly(arrays.count(others)))  # a.reshape(n * m, -1)
    return None if rest is None else rest.expression()


def flattened(array: Array, emitter: Emitter) -> Array:
    """The elements in C order as an array of rank 1, for reading."""
    if array.rank == 1:
        return array
    if array.rank == 0:
        return arrays.remap(array, (ONE,), lambda at: ())
    return reshaped(array, (arrays.count(array.shape),), emitter, kept=False)


def _order(call: Bound, array: Array) -> str:
    """"C" or "F"."""
    given = call.get("order")
    order = "C" if given is None else constant(given, call.builder.emitter)
    if order in ("A", "K") and (array.rank < 2 or layouts.is_contiguous(array, call.builder.emitter)):
        return "C"
    if order not in ("C", "F"):
        raise Unsupported(
            call.builder.emitter.span,
            f"order={order!r} of {call.name}() for {describe(array)} with gaps between its elements",
            "pass a contiguous copy: np.ascontiguousarray(a)",
        )
    return str(order)


def _operand(call: Bound) -> Array:
    return arrays.as_array(as_plain(call.need("a")), call.builder.emitter)


def _reshape_as(call: Bound, array: Array, wanted: Value) -> Array:
    emitter = call.builder.emitter
    shape = wanted_shape(array, wanted, emitter)
    if _order(call, array) == "C":
        return reshaped(array, shape, emitter)
    return transposed(reshaped(transposed(array), shape[::-1], emitter))


@native(np.reshape, parameters="a shape order", only={"order": ("'C'", "'F'")}, borrows=True, boxes=True)
def _reshape(call: Bound) -> Value:
    return _reshape_as(call, _operand(call), call.need("shape"))


@native(parameters="a *shape order", method="reshape", only={"order": ("'C'", "'F'")}, borrows=True, boxes=True)
def _reshape_method(call: Bound) -> Value:
    return _reshape_as(call, _operand(call), call.rest[0] if len(call.rest) == 1 else Tuple(call.rest))


@native(np.ravel, parameters="a order", method="ravel", only={"order": ("'C'", "'F'")}, borrows=True)
def _ravel(call: Bound) -> Value:
    """A view of a contiguous array, a copy of any other."""
    emitter = call.builder.emitter
    array = _operand(call)
    if _order(call, array) == "F":
        array = transposed(array)
    shape = (arrays.count(array.shape),)
    if array.view is None and array.origin is None:
        return _rearranged(arrays.materialise(array, emitter, "flat"), shape, emitter)
    contiguous = layouts.is_contiguous(array, emitter)
    if contiguous:
        return _rearranged(array, shape, emitter)
    return duplicate(array, shape, emitter, linked=contiguous is None)


@native(parameters="a order", method="flatten", only={"order": ("'C'", "'F'")})
def _flatten(call: Bound) -> Value:
    array = _operand(call)
    if _order(call, array) == "F":
        array = transposed(array)
    array = arrays.materialise(array, call.builder.emitter, "flat")
    return _rearranged(array, (arrays.count(array.shape),), call.builder.emitter)
