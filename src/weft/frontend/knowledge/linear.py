"""Products: matmul, dot, inner, outer, vdot, trace.  All are sums of products over indices (einsum: see `indices`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays
from weft.frontend.constants import constant_int
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.reductions import reduced_in, sum_type
from weft.frontend.knowledge.reshaping import flattened
from weft.frontend.knowledge.ufuncs import MEANINGS, Meaning, as_plain, deliver, destination, operation
from weft.frontend.values import Array, Index, Scalar, Tuple, Value
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Dim, Expr, Op, Reduce, integer
from weft.ir.program import Layout
from weft.ir.types import INT, DType, promote


def contract(
    operands: Sequence[Array],
    inputs: Sequence[str],
    output: str,
    emitter: Emitter,
    message: str = "",
    stretched: str = "",
) -> Value:
    """The sum of products in index notation: `contract([a, b], ["ik", "kj"], "ij")` is the matrix product.

    Only along the letters of `stretched` does an extent of one fit any other.
    """
    parts = [arrays.evaluated(array, emitter) for array in operands]
    extents: dict[str, Expr] = {}
    for array, letters in zip(parts, inputs):
        for letter, extent in zip(letters, array.shape):
            known = extents.get(letter)
            if known is None:
                extents[letter] = extent
            elif letter in stretched:
                (extents[letter],) = arrays.broadcast_shapes([(known,), (extent,)], emitter)
            else:
                extents[letter] = emitter.same_size(known, extent, "ValueError", message, whole=False)
    of = parts[0].type.strong
    for array in parts[1:]:
        of = promote(of, array.type.strong)
    summed = [letter for letter in extents if letter not in output]
    outer, outer_at = emitter.domain(tuple(extents[letter] for letter in output))
    inner, inner_at = emitter.domain(tuple(extents[letter] for letter in summed), "klmnpqrs")
    place = dict(zip(output, outer_at)) | dict(zip(summed, inner_at))

    def factor(array: Array, letters: str) -> Expr:
        whole = arrays.broadcast_to(array, tuple(extents[c] for c in letters), emitter)
        return arith.cast(whole.element(tuple(place[c] for c in letters)), of)

    is_bool = of.dtype is DType.BOOL
    value: Expr = factor(parts[0], inputs[0])
    for array, letters in zip(parts[1:], inputs[1:]):
        value = Op("and" if is_bool else "mul", (value, factor(array, letters)), of, emitter.span)
    if summed:
        value = Reduce("or" if is_bool else "add", inner, value, emitter.span)
    if not output:
        return Scalar(emitter.snapshot(value, "dot"))
    buffer = emitter.allocate("product", of, tuple(dim.hi for dim in outer if isinstance(dim, Dim)))
    emitter.assign(outer, buffer.name, outer_at, value)
    return arrays.of_buffer(buffer)


def _pair(call: Bound, *names: str) -> tuple[Array, Array]:
    left, right = (_strong(arrays.as_array(as_plain(call.need(name)), call.builder.emitter)) for name in names)
    return left, right


def _strong(array: Array) -> Array:
    """NumPy makes an array of a Python number here: it does not give way."""
    if not array.type.weak:
        return array
    of = array.type.strong
    return Array(array.shape, of, lambda at: arith.cast(array.element(at), of), cost=array.cost)


def _scaled(left: Array, right: Array, emitter: Emitter) -> Value:
    """The product with a number."""
    return arrays.apply("mul", [array if array.rank else Scalar(array.element(())) for array in (left, right)], emitter)


MATMUL = "matmul: Input operand 1 has a mismatch in its core dimension"


def matmul(left: Array, right: Array, emitter: Emitter) -> Value:
    """left @ right by NumPy's rule for ranks: vectors at either side, leading axes broadcast."""
    if not left.rank or not right.rank:
        raise Unsupported(emitter.span, "ValueError: matmul of a scalar", "use *")
    first = "k" if left.rank == 1 else "ik"
    second = "k" if right.rank == 1 else "kj"
    batch = max(left.rank - len(first), right.rank - len(second), 0)
    letters = "abcdefgh"[:batch]

    def lead(array: Array, core: str) -> str:
        return letters[batch - (array.rank - len(core)) :] + core

    output = letters + first[:-1] + second[1:]
    return contract([left, right], [lead(left, first), lead(right, second)], output, emitter, MATMUL, letters)


@native(np.matmul, parameters="x1 x2 out")
def _matmul(call: Bound) -> Value:
    left, right = _pair(call, "x1", "x2")
    core = (left.rank > 1) + (right.rank > 1)
    return deliver(call, matmul(left, right, call.builder.emitter), core=core)


@native(np.dot, parameters="a b out", method="dot")
def _dot(call: Bound) -> Value:
    left, right = _pair(call, "a", "b")
    emitter = call.builder.emitter
    out = call.get("out")
    if isinstance(out, Array):
        whole = out.view is not None and out.view.whole and emitter.buffers[out.view.buffer].layout is Layout.C
        if not whole or out.type != promote(left.type.strong, right.type.strong):
            raise Unsupported(emitter.span, "ValueError: output array is not acceptable")
    if not left.rank or not right.rank:
        return deliver(call, _scaled(left, right, emitter), exact=True)
    if right.rank <= 2 and left.rank <= 2:
        return deliver(call, matmul(left, right, emitter), exact=True)
    first = "abcdefgh"[: left.rank - 1] + "k"
    second = "uvwxyz"[: right.rank - 2] + "kj" if right.rank > 1 else "k"
    output = first[:-1] + second.replace("k", "")
    product = contract([left, right], [first, second], output, emitter, "shapes not aligned")
    return deliver(call, product, exact=True)


@native(np.inner, parameters="a b")
def _inner(call: Bound) -> Value:
    left, right = _pair(call, "a", "b")
    if not left.rank or not right.rank:
        return _scaled(left, right, call.builder.emitter)
    first, second = "abcdefgh"[: left.rank - 1] + "k", "uvwxyz"[: right.rank - 1] + "k"
    return contract(
        [left, right], [first, second], first[:-1] + second[:-1], call.builder.emitter, "shapes not aligned"
    )


@native(np.vdot, parameters="a b")
def _vdot(call: Bound) -> Value:
    """Over all elements in order; of two arrays of one rank they are taken to have one shape (else Python runs)."""
    emitter = call.builder.emitter
    left, right = _pair(call, "a", "b")
    if left.rank != right.rank:
        left, right = (flattened(array, emitter) for array in (left, right))
    letters = "abcdefgh"[: left.rank]
    return contract([_conjugate(left, emitter), right], [letters, letters], "", emitter, "shapes not aligned")


def _conjugate(array: Array, emitter: Emitter) -> Array:
    if not array.type.dtype.is_complex:
        return array
    result = arrays.apply("conj", [array], emitter)
    assert isinstance(result, Array)
    return result


def _batched(name: str, first: str, second: str, output: str, conjugate: bool) -> None:
    """A product of the last axes, over leading ones that are broadcast."""
    if not hasattr(np, name):
        return

    @native(getattr(np, name), parameters="x1 x2 out")
    def build(call: Bound) -> Value:
        emitter = call.builder.emitter
        left, right = _pair(call, "x1", "x2")
        if left.rank < len(first) or right.rank < len(second):
            raise Unsupported(emitter.span, f"ValueError: {name} of arrays with too few axes")
        batch = "abcdefgh"[: max(left.rank - len(first), right.rank - len(second))]
        inputs = [
            batch[len(batch) - (array.rank - len(core)) :] + core for array, core in ((left, first), (right, second))
        ]
        if conjugate:
            left = _conjugate(left, emitter)
        message = f"{name}: Input operand 1 has a mismatch in its core dimension"
        product = contract([left, right], inputs, batch + output, emitter, message, batch)
        (out,) = destination(call)
        if out is not None and out.rank > (product.rank if isinstance(product, Array) else 0):
            raise Unsupported(emitter.span, f"out= of np.{name}() with more axes than the result")
        return deliver(call, product, core=len(output))


_batched("vecdot", "k", "k", "", True)
_batched("matvec", "ik", "k", "i", False)
_batched("vecmat", "k", "kj", "j", True)


@native(np.outer, parameters="a b out")
def _outer(call: Bound) -> Value:
    left, right = _pair(call, "a", "b")
    emitter = call.builder.emitter
    left, right = (array if array.rank == 1 else flattened(array, emitter) for array in (left, right))
    return deliver(call, outer(operation("mul"), left, right, emitter))


def outer(meaning: Meaning, left: Array, right: Array, emitter: Emitter) -> Value:
    """A function of every pair of elements."""
    rank = left.rank

    def rows(at: Index) -> Index:
        return at[:rank]

    column = arrays.remap(left, left.shape + (ONE,) * right.rank, rows)
    pair = arrays.powers([column, right], emitter) if meaning is MEANINGS[np.power] else [column, right]
    span = emitter.span
    return arrays.elementwise(pair, lambda parts: meaning.combine(parts, span), emitter, meaning.cost)


@native(np.trace, parameters="a offset axis1 axis2 dtype out", method="trace")
def _trace(call: Bound) -> Value:
    emitter = call.builder.emitter
    array = arrays.as_array(as_plain(call.need("a")), emitter)
    if array.rank < 2:
        raise Unsupported(emitter.span, "ValueError: diag requires an array of at least two dimensions")
    offset, first, second = (
        default if call.get(name) is None else constant_int(call.need(name), emitter)
        for name, default in (("offset", 0), ("axis1", 0), ("axis2", 1))
    )
    first, second = arrays.normalise_axes((first, second), array.rank, emitter)
    line = _diagonal(array, offset, first, second, emitter)
    of = reduced_in(call, array.type.strong, sum_type(array.type))
    return deliver(call, arrays.reduce(line, "add", (line.rank - 1,), False, emitter, "trace", of), exact=True)


def _diagonal(array: Array, offset: int, first: int, second: int, emitter: Emitter) -> Array:
    """The diagonal over two axes as the last axis of the result."""
    starts = integer(max(0, -offset)), integer(max(0, offset))
    rows, columns = (ix.sub(array.shape[axis], start) for axis, start in zip((first, second), starts))
    length = rows
    if ix.difference(rows, columns) != 0:
        length = emitter.snapshot(Op("minimum", (rows, columns), INT), "n")
    if not emitter.assure(length, "RuntimeError"):
        length = emitter.snapshot(Op("maximum", (length, ZERO), INT), "n")
    kept = [axis for axis in range(array.rank) if axis not in (first, second)]

    def index(at: Index) -> Index:
        place = dict(zip(kept, at))
        place[first], place[second] = (ix.add(at[-1], start) for start in starts)
        return tuple(place[axis] for axis in range(array.rank))

    return arrays.remap(array, (*(array.shape[axis] for axis in kept), length), index)


def as_pair(left: Value, right: Value, emitter: Emitter) -> tuple[Array, Array]:
    for value in (left, right):
        if isinstance(value, Tuple):
            raise Unsupported(emitter.span, "@ on a tuple or list", "make it a NumPy array")
    return arrays.as_array(as_plain(left), emitter), arrays.as_array(as_plain(right), emitter)
