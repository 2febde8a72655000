"""Products: matmul, dot, inner, outer, vdot, tensordot, einsum, trace, cov.  All are sums of products over indices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays
from weft.frontend.constants import constant, constant_bool, constant_int
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.reductions import mean_value, sum_type
from weft.frontend.knowledge.shaping import diagonal, permuted
from weft.frontend.knowledge.ufuncs import MEANINGS, Meaning, as_plain, deliver, operation
from weft.frontend.values import Array, Index, Scalar, Tuple, Value
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Dim, Expr, Op, Reduce, integer
from weft.ir.program import Layout
from weft.ir.types import INT, DType, ScalarType, promote


def contract(
    operands: Sequence[Array], inputs: Sequence[str], output: str, emitter: Emitter, message: str = ""
) -> Value:
    """The sum of products in index notation: `contract([a, b], ["ik", "kj"], "ij")` is the matrix product."""
    parts = [arrays.evaluated(array, emitter) for array in operands]
    extents: dict[str, Expr] = {}
    for array, letters in zip(parts, inputs):
        for letter, extent in zip(letters, array.shape):
            known = extents.get(letter)
            if known is None or arrays.is_one(known):
                extents[letter] = extent
            elif not arrays.is_one(extent):
                extents[letter] = emitter.same_size(known, extent, "ValueError", message)
    of = parts[0].type.strong
    for array in parts[1:]:
        of = promote(of, array.type.strong)
    summed = [letter for letter in extents if letter not in output]
    outer, outer_at = emitter.domain(tuple(extents[letter] for letter in output))
    inner, inner_at = emitter.domain(tuple(extents[letter] for letter in summed), "klmnpqrs")
    place = dict(zip(output, outer_at)) | dict(zip(summed, inner_at))

    def factor(array: Array, letters: str) -> Expr:
        at = tuple(
            ZERO if arrays.is_one(own) and not arrays.is_one(extents[c]) else place[c]
            for c, own in zip(letters, array.shape)
        )
        return arith.cast(array.element(at), of)

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
    left, right = (arrays.as_array(as_plain(call.need(name)), call.builder.emitter) for name in names)
    return left, right


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
    return contract([left, right], [lead(left, first), lead(right, second)], output, emitter, MATMUL)


@native(np.matmul, parameters="x1 x2 out")
def _matmul(call: Bound) -> Value:
    return deliver(call, matmul(*_pair(call, "x1", "x2"), call.builder.emitter))


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
        return deliver(call, arrays.apply("mul", [as_plain(call.need("a")), as_plain(call.need("b"))], emitter))
    if right.rank <= 2 and left.rank <= 2:
        return deliver(call, matmul(left, right, emitter))
    first = "abcdefgh"[: left.rank - 1] + "k"
    second = "uvwxyz"[: right.rank - 2] + "kj" if right.rank > 1 else "k"
    output = first[:-1] + second.replace("k", "")
    return deliver(call, contract([left, right], [first, second], output, emitter, "shapes not aligned"))


@native(np.inner, parameters="a b")
def _inner(call: Bound) -> Value:
    left, right = _pair(call, "a", "b")
    if not left.rank or not right.rank:
        return arrays.apply("mul", [as_plain(call.need("a")), as_plain(call.need("b"))], call.builder.emitter)
    first, second = "abcdefgh"[: left.rank - 1] + "k", "uvwxyz"[: right.rank - 1] + "k"
    return contract(
        [left, right], [first, second], first[:-1] + second[:-1], call.builder.emitter, "shapes not aligned"
    )


@native(np.vdot, parameters="a b")
def _vdot(call: Bound) -> Value:
    left, right = _pair(call, "a", "b")
    if left.rank != 1 or right.rank != 1:
        raise Unsupported(call.builder.emitter.span, "np.vdot of matrices", "ravel them first")
    if left.type.dtype.is_complex:
        conjugate = arrays.apply("conj", [left], call.builder.emitter)
        assert isinstance(conjugate, Array)
        left = conjugate
    return contract([left, right], ["k", "k"], "", call.builder.emitter, "shapes not aligned")


@native(np.outer, parameters="a b out")
def _outer(call: Bound) -> Value:
    left, right = _pair(call, "a", "b")
    emitter = call.builder.emitter
    if left.rank != 1 or right.rank != 1:
        raise Unsupported(emitter.span, "np.outer of matrices", "ravel them first")
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


@native(np.trace, parameters="a", method="trace")
def _trace(call: Bound) -> Value:
    array = arrays.as_array(as_plain(call.need("a")), call.builder.emitter)
    if array.rank != 2:
        raise Unsupported(call.builder.emitter.span, "the trace of an array that is not a matrix")
    line = diagonal(array, call.builder.emitter)
    return arrays.reduce(line, "add", (0,), False, call.builder.emitter, "trace", sum_type(array.type))


@native(np.einsum, parameters="subscripts *operands")
def _einsum(call: Bound) -> Value:
    emitter = call.builder.emitter
    text = constant(call.need("subscripts"), emitter)
    if not isinstance(text, str) or "." in text:
        raise Unsupported(emitter.span, "np.einsum with an ellipsis or without a subscript string")
    text = text.replace(" ", "")
    source, arrow, output = text.partition("->")
    inputs = source.split(",")
    operands = [arrays.as_array(as_plain(value), emitter) for value in call.rest]
    if len(inputs) != len(operands) or any(len(s) != a.rank for s, a in zip(inputs, operands)):
        raise Unsupported(emitter.span, "ValueError: the subscripts of np.einsum do not fit its operands")
    if not arrow:
        letters = "".join(inputs)
        output = "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    return contract(operands, inputs, output, emitter, "operands could not be broadcast together")


@native(np.tensordot, parameters="a b axes")
def _tensordot(call: Bound) -> Value:
    emitter = call.builder.emitter
    left, right = _pair(call, "a", "b")
    given = 2 if call.get("axes") is None else constant(call.need("axes"), emitter)
    if isinstance(given, int):
        first, second = list(range(left.rank - given, left.rank)), list(range(given))
    else:
        first, second = ([a] if isinstance(a, int) else list(a) for a in given)
    letters_left = ["abcdefgh"[k] for k in range(left.rank)]
    letters_right = ["stuvwxyz"[k] for k in range(right.rank)]
    for a, b in zip(first, second):
        letters_right[b] = letters_left[a]
    summed = {letters_left[a] for a in first}
    output = "".join(c for c in letters_left + letters_right if c not in summed)
    return contract(
        [left, right], ["".join(letters_left), "".join(letters_right)], output, emitter, "shape-mismatch for sum"
    )


def as_pair(left: Value, right: Value, emitter: Emitter) -> tuple[Array, Array]:
    for value in (left, right):
        if isinstance(value, Tuple):
            raise Unsupported(emitter.span, "@ on a tuple or list", "make it a NumPy array")
    return arrays.as_array(as_plain(left), emitter), arrays.as_array(as_plain(right), emitter)


@native(np.cov, parameters="m y rowvar bias ddof")
def _cov(call: Bound) -> Value:
    """(X - mean) (X - mean)ᴴ / (observations - ddof), a variable a row (a column without rowvar)."""
    emitter = call.builder.emitter
    array = arrays.as_array(as_plain(call.need("m")), emitter)
    if call.get("y") is not None or array.rank != 2:
        raise Unsupported(emitter.span, "np.cov of anything but one matrix", "stack the variables into a matrix")
    if not constant_bool(call.get("rowvar"), emitter, True):
        array = permuted(array, (1, 0))
    variables, observations = array.shape
    if not emitter.assure(ix.sub(variables, integer(2)), "RuntimeError"):
        # NumPy drops axes of extent one from the result.
        raise Unsupported(
            emitter.span, "np.cov of one variable, or of a number known only inside the function", "use np.var"
        )
    of = ScalarType(DType.C128 if array.type.dtype.is_complex else DType.F64)
    values = Array(array.shape, of, lambda at: arith.cast(array.element(at), of), cost=array.cost + 1)
    mean = mean_value(call, values, (1,), True)
    centred = arrays.apply("sub", [values, mean], emitter)
    assert isinstance(centred, Array)
    centred = arrays.materialise(centred, emitter, "centred")
    other: Value = arrays.apply("conj", [centred], emitter) if of.dtype.is_complex else centred
    assert isinstance(other, Array)
    given = call.get("ddof")
    lost = (0 if constant_bool(call.get("bias"), emitter) else 1) if given is None else constant_int(given, emitter)
    freedom = arith.cast(Op("maximum", (ix.sub(observations, integer(lost)), ZERO), INT), ScalarType(DType.F64))
    factor = emitter.snapshot(
        Op("truediv", (Const(1.0, ScalarType(DType.F64)), freedom), ScalarType(DType.F64)), "factor"
    )
    return arrays.apply("mul", [contract([centred, other], ["ik", "jk"], "ij", emitter), Scalar(factor)], emitter)
