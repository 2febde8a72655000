"""What np.linalg makes of factorisations and products: pseudo-inverse, rank, condition, powers, chains; its aliases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays, libraries
from weft.frontend.constants import constant, constant_int
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, linalg, lookup, native
from weft.frontend.knowledge.linear import matmul
from weft.frontend.knowledge.shaping import permuted
from weft.frontend.values import Array, Index, Object, Scalar, Tuple, Value
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, Reduce, integer
from weft.ir.types import BOOL, F64, FLOAT, I64, INT, ScalarType, promote


def _other(call: Bound, function: Any, *arguments: Value, **named: Value) -> Value:
    """A call of another function of the knowledge base."""
    entry = lookup(function)
    if entry is None:
        raise Unsupported(call.builder.emitter.span, f"{call.name}()")
    return entry.call(call.builder, arguments, named)


def _array(value: Value) -> Array:
    assert isinstance(value, Array)
    return value


def _transposed(array: Array) -> Array:
    return permuted(array, (*range(array.rank - 2), array.rank - 1, array.rank - 2))


def _real(number: float, of: ScalarType) -> Expr:
    return arith.cast(Const(number, FLOAT), of)


# --- of singular values -----------------------------------------------------------------------------------------------


def _tolerance(call: Bound, name: str) -> Expr | None:
    """A tolerance that is one real number, as the array NumPy makes of it."""
    value = call.get(name)
    if value is None:
        return None
    if not isinstance(value, Scalar) or value.type.dtype.is_complex:
        raise Unsupported(
            call.builder.emitter.span, f"{name} of {call.name}() that is not a real number", "pass a float"
        )
    return arith.cast(value.expr, value.type.strong)


def _precision(a: Array, of: ScalarType) -> Expr:
    """The larger side times the precision of a type."""
    larger = arith.cast(Op("maximum", a.shape[-2:], INT), of)
    precision: Any = np.finfo(of.dtype.numpy.char)
    return Op("mul", (larger, _real(float(precision.eps), of)), of)


def _bound(s: Array, factor: Expr, emitter: Emitter) -> tuple[Array, ScalarType]:
    """The largest singular value of each matrix times a factor, with the type it is compared in."""
    of = promote(factor.type, s.type)
    axis = s.rank - 1
    top = arrays.reduce(s, "maximum", (axis,), True, emitter, "largest", nonempty=True)
    held = emitter.snapshot(arith.cast(factor, of), "factor")
    shape = _array(top).shape
    return Array(shape, of, lambda at: Op("mul", (held, arith.cast(_array(top).element(at), of)), of), cost=1), of


@native(
    np.linalg.pinv,
    parameters="a rcond hermitian rtol",
    category="library",
    name="pinv",
    only={"hermitian": ("False",), "a": "not empty"},
)
def _pinv(call: Bound) -> Value:
    emitter = call.builder.emitter
    a = linalg.matrix(call)
    linalg.refuse_hermitian(call)
    linalg.refuse_empty(call, *a.shape[-2:])
    factor = _rcond(call, a)
    source = _array(arrays.apply("conj", [a], emitter)) if a.type.dtype.is_complex else a
    u, s, vh = linalg.decomposition(source, False, emitter)
    cutoff, of = _bound(s, factor, emitter)

    def inverse(at: Index) -> Expr:
        value = s.element(at)
        large = Op("gt", (arith.cast(value, of), cutoff.element((*at[:-1], ZERO))), BOOL)
        return Op("select", (large, Op("truediv", (_real(1.0, s.type), value), s.type), _real(0.0, s.type)), s.type)

    weights = arrays.materialise(Array(s.shape, s.type, inverse, cost=20), emitter, "inverse")
    rows = arrays.remap(weights, (*s.shape, ONE), lambda at: at[:-1])
    return matmul(_transposed(vh), _array(arrays.apply("mul", [rows, _transposed(u)], emitter)), emitter)


def _rcond(call: Bound, a: Array) -> Expr:
    emitter = call.builder.emitter
    given = _tolerance(call, "rcond")
    if "rtol" not in call.given:
        return Const(1e-15, F64) if given is None else given
    if given is not None:
        raise Unsupported(emitter.span, "ValueError: `rtol` and `rcond` can't be both set.")
    relative = _tolerance(call, "rtol")
    if relative is None and not a.type.dtype.is_inexact:
        raise Unsupported(emitter.span, "ValueError: the precision of integers")
    return _precision(a, ScalarType(a.type.dtype.real)) if relative is None else relative


@native(
    np.linalg.matrix_rank,
    parameters="A tol hermitian rtol",
    category="library",
    name="matrix_rank",
    only={"hermitian": ("False",)},
)
def _matrix_rank(call: Bound) -> Value:
    emitter = call.builder.emitter
    a = linalg.matrix(call, "A", 0)
    linalg.refuse_hermitian(call)
    tolerance, relative = _tolerance(call, "tol"), _tolerance(call, "rtol")
    if tolerance is not None and relative is not None:
        raise Unsupported(emitter.span, "ValueError: `tol` and `rtol` can't be both set.")
    if a.rank < 2:
        dims, at = emitter.domain(a.shape)
        found = Reduce("or", dims, arith.condition(a.element(at)), emitter.span)
        return Scalar(arith.cast(emitter.snapshot(found, "some"), INT))
    linalg.refuse_empty(call, *a.shape[-2:])
    s = linalg.singular_values(a, emitter)
    if tolerance is None:
        cutoff, of = _bound(s, _precision(a, s.type) if relative is None else relative, emitter)
    else:
        of = promote(tolerance.type, s.type)
        held = emitter.snapshot(arith.cast(tolerance, of), "tolerance")
        cutoff = Array((*s.shape[:-1], ONE), of, lambda _: held)

    def counts(at: Index) -> Expr:
        return arith.cast(Op("gt", (arith.cast(s.element(at), of), cutoff.element((*at[:-1], ZERO))), BOOL), I64)

    return arrays.reduce(Array(s.shape, I64, counts, cost=2), "add", (s.rank - 1,), False, emitter, "rank")


@native(np.linalg.cond, parameters="x p", category="library", name="cond")
def _cond(call: Bound) -> Value:
    """A NaN of the quotient becomes infinite, unless the matrix has one itself."""
    emitter = call.builder.emitter
    x = linalg.matrix(call, "x")
    p = None if call.get("p") is None else constant(call.need("p"), emitter)
    linalg.refuse_empty(call, *x.shape[-2:])
    x = arrays.evaluated(x, emitter)
    ratio = _quotient(x, p == -2, emitter) if p is None or p in (2, -2) else _by_norms(call, x, p)
    if not x.type.dtype.is_inexact:
        return _infinite(ratio, None, emitter)
    matrix = (x.rank - 2, x.rank - 1)
    unknown = arrays.reduce(_array(arrays.apply("isnan", [x], emitter)), "or", matrix, False, emitter, "unknown")
    return _infinite(ratio, unknown, emitter)


def _infinite(ratio: Value, unknown: Value | None, emitter: Emitter) -> Value:
    def replaced(parts: tuple[Expr, ...]) -> Expr:
        bad: Expr = Op("isnan", (parts[0],), BOOL)
        if len(parts) > 1:
            bad = Op("and", (bad, Op("not", (parts[1],), BOOL)), BOOL)
        return Op("select", (bad, _real(float("inf"), parts[0].type), parts[0]), parts[0].type)

    result = arrays.elementwise([ratio] if unknown is None else [ratio, unknown], replaced, emitter)
    return arrays.materialise(result, emitter, "cond") if isinstance(result, Array) else result


def _quotient(x: Array, inverse: bool, emitter: Emitter) -> Value:
    """The largest singular value over the least, or the other way round."""
    s = linalg.singular_values(x, emitter)
    last = ix.sub(s.shape[-1], ONE)
    ends = [arrays.remap(s, s.shape[:-1], lambda at, k=k: (*at, k)) for k in (ZERO, last)]  # type: ignore[misc]
    values: list[Value] = [end if end.rank else Scalar(emitter.snapshot(end.element(()), "end")) for end in ends]
    return arrays.apply("truediv", values[::-1] if inverse else values, emitter)


def _by_norms(call: Bound, x: Array, p: object) -> Value:
    """norm(x) * norm(inverse of x), with NaN where there is no inverse."""
    emitter = call.builder.emitter
    n, of = linalg.square(x, emitter), linalg.result_type(x)
    request = libraries.Request("inv", linalg.loop(of, "d->d", "D->D"), x.shape[:-2], (x,), (("inverse", (n, n)),))
    (inverse,) = libraries.call(request, emitter)
    order: Value = Object(p) if isinstance(p, str) else Scalar(_constant(p, emitter))
    axes = Tuple((Scalar(integer(-2)), Scalar(integer(-1))))
    norms = [_other(call, np.linalg.norm, array, order, axes) for array in (x, inverse)]
    product = arrays.apply("mul", norms, emitter)
    real = linalg.real_type(of)
    return arrays.elementwise([product], lambda parts: arith.cast(parts[0], real), emitter)


def _constant(p: object, emitter: Emitter) -> Expr:
    if isinstance(p, bool) or not isinstance(p, (int, float)):
        raise Unsupported(emitter.span, f"a norm of order {p!r}")
    return integer(p) if isinstance(p, int) else Const(p, FLOAT)


# --- products ---------------------------------------------------------------------------------------------------------


@native(np.linalg.matrix_power, parameters="a n", name="matrix_power")
def _matrix_power(call: Bound) -> Value:
    """By squaring, in NumPy's order."""
    emitter = call.builder.emitter
    a = linalg.matrix(call)
    linalg.square(a, emitter)
    n = constant_int(call.need("n"), emitter)
    if n == 0:
        one, zero = (arith.cast(Const(number, INT), a.type.strong) for number in (1, 0))

        def identity(at: Index) -> Expr:
            return Op("select", (Op("eq", at[-2:], BOOL), one, zero), a.type.strong)

        return arrays.materialise(Array(a.shape, a.type.strong, identity, cost=1), emitter, "power")
    base: Value = a
    if n < 0:
        base, n = _other(call, np.linalg.inv, a), -n
    elif n > 1:
        base = arrays.evaluated(a, emitter)
    if n == 3:
        return matmul(_array(matmul(_array(base), _array(base), emitter)), _array(base), emitter)
    square, result = base, None
    while n:
        n, bit = divmod(n, 2)
        if bit:
            result = square if result is None else matmul(_array(result), _array(square), emitter)
        if n:
            square = matmul(_array(square), _array(square), emitter)
    assert result is not None
    return result


@native(np.linalg.multi_dot, parameters="arrays", name="multi_dot")
def _multi_dot(call: Bound) -> Value:
    """A chain of products in the cheapest order for the sizes at hand."""
    emitter = call.builder.emitter
    given = call.need("arrays")
    if not isinstance(given, Tuple) or len(given.items) < 2:
        raise Unsupported(
            emitter.span,
            "np.linalg.multi_dot of anything but a list of at least two arrays",
            "pass a list of two arrays or more",
        )
    if len(given.items) == 2:
        return _other(call, np.dot, *given.items)
    parts = [arrays.as_array(item, emitter) for item in given.items]
    first, last = parts[0].rank == 1, parts[-1].rank == 1
    if first:
        parts[0] = arrays.remap(parts[0], (ONE, *parts[0].shape), lambda at: at[1:])
    if last:
        parts[-1] = arrays.remap(parts[-1], (*parts[-1].shape, ONE), lambda at: at[:1])
    if any(part.rank != 2 for part in parts):
        raise Unsupported(emitter.span, "LinAlgError: np.linalg.multi_dot takes matrices")
    extents = (parts[0].shape[0], *(part.shape[1] for part in parts))
    sizes = [emitter.sample_value(emitter.resolve(extent)) or 1 for extent in extents]
    result = _chained(parts, _splits(sizes), 0, len(parts) - 1, emitter)
    rows, columns = result.shape
    if first and last:
        return Scalar(emitter.snapshot(result.element((ZERO, ZERO)), "product"))
    if first:
        return arrays.remap(result, (columns,), lambda at: (ZERO, *at))
    return arrays.remap(result, (rows,), lambda at: (*at, ZERO)) if last else result


def _splits(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """Where to cut each stretch i..j of a chain of matrices of sizes[i] x sizes[i + 1]."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    cut: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            total = {k: cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)}
            if count == 3 and length == 2:
                # NumPy takes the right product first if both ways cost the same.
                cut[i, j] = 1 if total[1] < total[0] else 0
            else:
                cut[i, j] = min(total, key=lambda k: (total[k], k))
            cost[i, j] = total[cut[i, j]]
    return cut


def _chained(parts: list[Array], cut: dict[tuple[int, int], int], i: int, j: int, emitter: Emitter) -> Array:
    if i == j:
        return parts[i]
    k = cut[i, j]
    return _array(matmul(_chained(parts, cut, i, k, emitter), _chained(parts, cut, k + 1, j, emitter), emitter))


# --- the names of the array API ---------------------------------------------------------------------------------------


def _alias(
    function: Any,
    target: Any,
    parameters: str,
    least: int = 0,
    most: int = 8,
    limits: dict[str, tuple[str, ...] | str] | None = None,
    borrows: bool = False,
    **fixed: Value,
) -> None:
    """A function that is another one, for arrays of certain ranks."""
    ranks = None if (least, most) == (0, 8) else tuple(range(least, most + 1))

    @native(function, parameters=parameters, ranks=ranks, only=limits, borrows=borrows)
    def build(call: Bound) -> Value:
        emitter = call.builder.emitter
        names = parameters.split()
        first = arrays.as_array(call.need(names[0]), emitter)
        places = [call.need(name) for name in names if name in ("x1", "x2", "x")]
        for operand in (first, *(arrays.as_array(place, emitter) for place in places[1:])):
            if not least <= operand.rank <= most:
                reason = f"np.linalg.{call.name} of an array of rank {operand.rank}"
                raise Unsupported(emitter.span, reason, "pass a matrix")
        named = {name: call.need(name) for name in names if name in call.given and name not in ("x1", "x2", "x")}
        return _other(call, target, *places, **{**fixed, **named})


_alias(np.linalg.matmul, np.matmul, "x1 x2", least=1)
_alias(np.linalg.outer, np.outer, "x1 x2", least=1, most=1)
_alias(np.linalg.tensordot, np.tensordot, "x1 x2 axes")
_alias(np.linalg.trace, np.trace, "x", least=2, most=2)
_alias(np.linalg.cross, np.cross, "x1 x2 axis", least=1)
_alias(np.linalg.vecdot, getattr(np, "vecdot", None), "x1 x2", least=1)
_alias(np.linalg.matrix_transpose, np.swapaxes, "x", 2, axis1=Scalar(integer(-1)), axis2=Scalar(integer(-2)))
_alias(np.linalg.diagonal, np.diagonal, "x", 2, borrows=True, axis1=Scalar(integer(-2)), axis2=Scalar(integer(-1)))
_alias(np.linalg.matrix_norm, np.linalg.norm, "x keepdims ord", 2, 2, {"keepdims": ("False",)}, ord=Object("fro"))


@native(
    np.linalg.vector_norm,
    parameters="x axis keepdims ord",
    name="vector_norm",
    ranks=(1,),
    only={"axis": "one axis"},
    note="of more axes with axis=",
)
def _vector_norm(call: Bound) -> Value:
    emitter = call.builder.emitter
    array = arrays.as_array(call.need("x"), emitter)
    axis = -1 if array.rank == 1 and call.get("axis") is None else constant_int(call.need("axis"), emitter)
    named = {name: call.need(name) for name in ("keepdims", "ord") if name in call.given}
    return _other(call, np.linalg.norm, array, axis=Scalar(integer(axis)), **{"ord": Scalar(integer(2)), **named})
