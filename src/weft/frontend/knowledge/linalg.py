"""np.linalg on LAPACK: systems, inverses, determinants, factorisations, eigenvalues, and what NumPy makes of these.

The routines are NumPy's own (see `ir.routines`): they compute in double precision, on stacks of matrices with any
strides, and a failure is the LinAlgError that NumPy raises.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays, libraries
from weft.frontend.constants import constant, constant_bool
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, lookup, native
from weft.frontend.knowledge.ufuncs import as_plain
from weft.frontend.libraries import Request, Shape
from weft.frontend.values import Array, Index, Scalar, Tuple, Value
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, Reduce
from weft.ir.types import BOOL, F64, FLOAT, INT, DType, ScalarType

SINGULAR = "Singular matrix"
INDEFINITE = "Matrix is not positive definite"
UNCONVERGED = "Eigenvalues did not converge"
SQUARE = "Last 2 dimensions of the array must be square"
_SVD = "SVD did not converge"
_QR = "Incorrect argument found while performing QR factorization"
_LSTSQ = "SVD did not converge in Linear Least Squares"


def matrix(call: Bound, name: str = "a", least: int = 2) -> Array:
    """A stack of matrices, or with least=1 of vectors."""
    emitter = call.builder.emitter
    value = call.need(name)
    entry = lookup(np.array)
    if isinstance(value, Tuple) and entry is not None:
        value = entry.call(call.builder, [value], {})
    array = arrays.as_array(as_plain(value), emitter)
    if array.rank < least:
        raise Unsupported(emitter.span, f"LinAlgError: {array.rank}-dimensional array given to {call.name}()")
    return array


def square(array: Array, emitter: Emitter) -> Expr:
    """The order of square matrices; others are an error."""
    return emitter.same_size(array.shape[-2], array.shape[-1], "LinAlgError", SQUARE)


def result_type(*operands: Array) -> ScalarType:
    """NumPy computes in double precision, and rounds to single if all operands are that."""
    single = all(array.type.dtype in (DType.F32, DType.C64) for array in operands)
    composite = any(array.type.dtype.is_complex for array in operands)
    real = DType.F32 if single else DType.F64
    return ScalarType(real.complex if composite else real)


def real_type(of: ScalarType) -> ScalarType:
    return ScalarType(of.dtype.real)


def loop(of: ScalarType, real: str, composite: str) -> str:
    """The types of the loop that computes a result of type `of`."""
    return composite if of.dtype.is_complex else real


def delivered(value: Value, of: ScalarType, emitter: Emitter) -> Value:
    """A result in memory, as the type NumPy gives it."""
    if isinstance(value, Scalar):
        return Scalar(arith.cast(value.expr, of))
    assert isinstance(value, Array)
    result = libraries.cast(value, of)
    return arrays.materialise(result, emitter, "rounded") if result.view is None else result


def smaller(left: Expr, right: Expr, emitter: Emitter) -> Expr:
    """min(left, right) as an extent."""
    difference = ix.difference(left, right)
    if difference is not None:
        return left if difference <= 0 else right
    return emitter.snapshot(Op("minimum", (emitter.resolve(left), emitter.resolve(right)), INT), "least")


def refuse_empty(call: Bound, *extents: Expr) -> None:
    """What NumPy does with matrices without rows or columns is left to it."""
    for extent in extents:
        if not call.builder.emitter.assure(ix.sub(extent, ONE), "RuntimeError"):
            raise Unsupported(call.builder.emitter.span, f"{call.name}() of a matrix that may be empty")


# --- square matrices --------------------------------------------------------------------------------------------------


def _square_to_square(call: Bound, routine: str, error: str) -> Value:
    emitter = call.builder.emitter
    a = matrix(call)
    n, of = square(a, emitter), result_type(a)
    request = Request(routine, loop(of, "d->d", "D->D"), a.shape[:-2], (a,), ((call.name, (n, n)),), error)
    return delivered(libraries.call(request, emitter)[0], of, emitter)


@native(np.linalg.cholesky, parameters="a upper", category="library", name="cholesky")
def _cholesky(call: Bound) -> Value:
    upper = constant_bool(call.get("upper"), call.builder.emitter)
    return _square_to_square(call, "cholesky_up" if upper else "cholesky_lo", INDEFINITE)


@native(np.linalg.inv, parameters="a", category="library", name="inv")
def _inv(call: Bound) -> Value:
    return _square_to_square(call, "inv", SINGULAR)


@native(np.linalg.solve, parameters="a b", category="library", name="solve")
def _solve(call: Bound) -> Value:
    emitter = call.builder.emitter
    a, b = matrix(call), matrix(call, "b", 1)
    n, of = square(a, emitter), result_type(a, b)
    message = "solve: Input operand 1 has a mismatch in its core dimension 0"
    n = emitter.same_size(n, b.shape[-1 if b.rank == 1 else -2], "ValueError", message, whole=False)
    core: Shape = (n,) if b.rank == 1 else (n, b.shape[-1])
    batch = arrays.broadcast_shapes([a.shape[:-2], b.shape[: b.rank - len(core)]], emitter)
    routine = "solve1" if b.rank == 1 else "solve"
    request = Request(routine, loop(of, "dd->d", "DD->D"), batch, (a, b), (("solution", core),), SINGULAR)
    return delivered(libraries.call(request, emitter)[0], of, emitter)


@native(np.linalg.det, parameters="a", category="library", name="det")
def _det(call: Bound) -> Value:
    emitter = call.builder.emitter
    a = matrix(call)
    square(a, emitter)
    of = result_type(a)
    request = Request("det", loop(of, "d->d", "D->D"), a.shape[:-2], (a,), (("det", ()),))
    return delivered(libraries.call(request, emitter)[0], of, emitter)


@native(np.linalg.slogdet, parameters="a", category="library", name="slogdet")
def _slogdet(call: Bound) -> Value:
    emitter = call.builder.emitter
    a = matrix(call)
    square(a, emitter)
    of = result_type(a)
    request = Request("slogdet", loop(of, "d->dd", "D->Dd"), a.shape[:-2], (a,), (("sign", ()), ("logdet", ())))
    sign, logarithm = libraries.call(request, emitter)
    return _named(call, (delivered(sign, of, emitter), delivered(logarithm, real_type(of), emitter)))


def _named(call: Bound, items: tuple[Value, ...]) -> Tuple:
    """The named tuple that NumPy returns, found by what it returns."""
    kinds: dict[str, Any] = {
        "slogdet": lambda: np.linalg.slogdet(np.eye(1)),
        "qr": lambda: np.linalg.qr(np.eye(1)),
        "svd": lambda: np.linalg.svd(np.eye(1)),
        "eigh": lambda: np.linalg.eigh(np.eye(1)),
        "eig": lambda: np.linalg.eig(np.eye(1)),
    }
    found = type(kinds[call.name]())
    return Tuple(items, named=None if found is tuple else found)


# --- eigenvalues ------------------------------------------------------------------------------------------------------


def _triangle(call: Bound) -> str:
    """Which half of a Hermitian matrix is looked at, as the ending of the routine's name."""
    given = call.get("UPLO")
    word = "L" if given is None else constant(given, call.builder.emitter)
    if not isinstance(word, str) or word.upper() not in ("L", "U"):
        raise Unsupported(call.builder.emitter.span, "ValueError: UPLO argument must be 'L' or 'U'")
    return "lo" if word.upper() == "L" else "up"


@native(np.linalg.eigh, parameters="a UPLO", category="library", name="eigh")
def _eigh(call: Bound) -> Value:
    emitter = call.builder.emitter
    a, half = matrix(call), _triangle(call)
    n, of = square(a, emitter), result_type(a)
    outputs = (("eigenvalues", (n,)), ("eigenvectors", (n, n)))
    request = Request(f"eigh_{half}", loop(of, "d->dd", "D->dD"), a.shape[:-2], (a,), outputs, UNCONVERGED)
    values, vectors = libraries.call(request, emitter)
    return _named(call, (delivered(values, real_type(of), emitter), delivered(vectors, of, emitter)))


@native(np.linalg.eigvalsh, parameters="a UPLO", category="library", name="eigvalsh")
def _eigvalsh(call: Bound) -> Value:
    emitter = call.builder.emitter
    a, half = matrix(call), _triangle(call)
    n, of = square(a, emitter), result_type(a)
    outputs = (("eigenvalues", (n,)),)
    request = Request(f"eigvalsh_{half}", loop(of, "d->d", "D->d"), a.shape[:-2], (a,), outputs, UNCONVERGED)
    return delivered(libraries.call(request, emitter)[0], real_type(of), emitter)


def _general(call: Bound, routine: str) -> tuple[list[Value], ScalarType]:
    """Eigenvalues of matrices that are not Hermitian; of real ones NumPy's result is real or complex as they fall."""
    emitter = call.builder.emitter
    a = matrix(call)
    n, of = square(a, emitter), result_type(a)
    if not of.dtype.is_complex:
        reason = f"{call.name}() of a real matrix, whose result is real or complex depending on its values"
        raise Unsupported(emitter.span, reason, "convert the matrix to complex first, or use eigh if it is symmetric")
    a = arrays.evaluated(a, emitter)
    dims, at = emitter.domain(a.shape)
    finite = Reduce("and", dims, Op("isfinite", (a.element(at),), BOOL), emitter.span)
    emitter.check(emitter.snapshot(finite, "finite"), "LinAlgError", "Array must not contain infs or NaNs")
    outputs = (("eigenvalues", (n,)), ("eigenvectors", (n, n)))[: 2 if routine == "eig" else 1]
    types = "D->DD" if routine == "eig" else "D->D"
    return libraries.call(Request(routine, types, a.shape[:-2], (a,), outputs, UNCONVERGED), emitter), of


@native(np.linalg.eig, parameters="a", category="library", name="eig", kinds="c")
def _eig(call: Bound) -> Value:
    found, of = _general(call, "eig")
    return _named(call, tuple(delivered(value, of, call.builder.emitter) for value in found))


@native(np.linalg.eigvals, parameters="a", category="library", name="eigvals", kinds="c")
def _eigvals(call: Bound) -> Value:
    found, of = _general(call, "eigvals")
    return delivered(found[0], of, call.builder.emitter)


# --- rectangular matrices ---------------------------------------------------------------------------------------------


@native(
    np.linalg.qr, parameters="a mode", category="library", name="qr", only={"mode": ("'reduced'", "'complete'", "'r'")}
)
def _qr(call: Bound) -> Value:
    emitter = call.builder.emitter
    a = matrix(call)
    mode = "reduced" if call.get("mode") is None else constant(call.need("mode"), emitter)
    if mode not in ("reduced", "complete", "r"):
        raise Unsupported(emitter.span, f"mode={mode!r} of np.linalg.qr", "use 'reduced', 'complete' or 'r'")
    (m, n), batch, of = a.shape[-2:], a.shape[:-2], result_type(a)
    working = ScalarType(DType.C128 if of.dtype.is_complex else DType.F64)
    # The routine leaves R, and the reflections that make up Q, in the place of the matrix.
    factors = arrays.materialise(libraries.cast(a, working), emitter, "factors")
    least = smaller(m, n, emitter)
    one = loop(of, "d->d", "D->D")
    (reflections,) = libraries.call(Request("qr_r_raw", one, batch, (factors,), (("tau", (least,)),), _QR), emitter)
    assert isinstance(reflections, Array)
    columns, routine = least, "qr_reduced"
    if mode == "complete":
        columns = m
        if emitter.assure(ix.sub(ix.sub(m, n), ONE), "RuntimeError"):
            routine = "qr_complete"
        elif not emitter.assure(ix.sub(n, m), "RuntimeError"):
            raise Unsupported(emitter.span, "np.linalg.qr of a matrix whose larger side is not known")
    upper = delivered(_upper(factors, columns), of, emitter)
    if mode == "r":
        return upper
    two = loop(of, "dd->d", "DD->D")
    outputs = (("q", (m, columns)),)
    (q,) = libraries.call(Request(routine, two, batch, (factors, reflections), outputs, _QR), emitter)
    return _named(call, (delivered(q, of, emitter), upper))


def _upper(factors: Array, rows: Expr) -> Array:
    """The first rows with zeros below the diagonal."""
    zero = arith.cast(Const(0.0, FLOAT), factors.type)

    def element(at: Index) -> Expr:
        return Op("select", (Op("ge", (at[-1], at[-2]), BOOL), factors.element(at), zero), factors.type)

    return Array((*factors.shape[:-2], rows, factors.shape[-1]), factors.type, element, cost=1)


def singular_values(a: Array, emitter: Emitter) -> Array:
    of = result_type(a)
    least = smaller(a.shape[-2], a.shape[-1], emitter)
    request = Request("svd", loop(of, "d->d", "D->d"), a.shape[:-2], (a,), (("singular", (least,)),), _SVD)
    found = delivered(libraries.call(request, emitter)[0], real_type(of), emitter)
    assert isinstance(found, Array)
    return found


def decomposition(a: Array, full: bool, emitter: Emitter) -> tuple[Array, Array, Array]:
    """U, the singular values and V*, in the types NumPy gives them."""
    of, (m, n) = result_type(a), a.shape[-2:]
    least = smaller(m, n, emitter)
    outputs = (("u", (m, m if full else least)), ("singular", (least,)), ("vh", (n if full else least, n)))
    routine = "svd_f" if full else "svd_s"
    found = libraries.call(Request(routine, loop(of, "d->ddd", "D->DdD"), a.shape[:-2], (a,), outputs, _SVD), emitter)
    u, s, vh = (delivered(value, t, emitter) for value, t in zip(found, (of, real_type(of), of)))
    assert isinstance(u, Array) and isinstance(s, Array) and isinstance(vh, Array)
    return u, s, vh


def refuse_hermitian(call: Bound) -> None:
    if constant_bool(call.get("hermitian"), call.builder.emitter):
        raise Unsupported(call.builder.emitter.span, f"hermitian=True of {call.name}()", "use eigh")


@native(
    np.linalg.svd,
    parameters="a full_matrices compute_uv hermitian",
    category="library",
    name="svd",
    only={"hermitian": ("False",)},
)
def _svd(call: Bound) -> Value:
    emitter = call.builder.emitter
    a = matrix(call)
    refuse_hermitian(call)
    if not constant_bool(call.get("compute_uv"), emitter, True):
        return singular_values(a, emitter)
    return _named(call, decomposition(a, constant_bool(call.get("full_matrices"), emitter, True), emitter))


@native(np.linalg.svdvals, parameters="x", category="library", name="svdvals")
def _svdvals(call: Bound) -> Value:
    return singular_values(matrix(call, "x"), call.builder.emitter)


@native(np.linalg.lstsq, parameters="a b rcond", category="library", name="lstsq", ranks=(2,))
def _lstsq(call: Bound) -> Value:
    emitter = call.builder.emitter
    a, b = matrix(call), matrix(call, "b", 1)
    if a.rank != 2 or b.rank > 2:
        raise Unsupported(emitter.span, "LinAlgError: np.linalg.lstsq takes one matrix")
    (m, n), of = a.shape, result_type(a, b)
    m = emitter.same_size(m, b.shape[0], "LinAlgError", "Incompatible dimensions")
    sides = b if b.rank == 2 else arrays.remap(b, (m, ONE), lambda at: at[:1])
    count = sides.shape[1]
    refuse_empty(call, m, n, count)
    least = smaller(m, n, emitter)
    outputs = (("solution", (n, count)), ("residuals", (count,)), ("rank", ()), ("singular", (least,)))
    types = loop(of, "ddd->ddid", "DDd->Ddid")
    inputs = (a, sides, Array((), F64, lambda _: _cutoff(call, m, n)))
    solution, sums, rank, singular = libraries.call(Request("lstsq", types, (), inputs, outputs, _LSTSQ), emitter)
    assert isinstance(solution, Array) and isinstance(sums, Array) and isinstance(rank, Scalar)
    if b.rank == 1:
        solution = arrays.remap(solution, (n,), lambda at: (at[0], ZERO))
    # As documented: there are residuals only if the columns are independent and the rows are more.
    full = Op("eq", (arith.cast(rank.expr, INT), n), BOOL)
    kept = Op("and", (full, Op("gt", (m, n), BOOL)), BOOL)
    extent = emitter.snapshot(Op("select", (kept, count, ZERO), INT), "kept")
    residuals = libraries.cast(arrays.remap(sums, (extent,), lambda at: at), real_type(of))
    return Tuple(
        (
            arrays.materialise(libraries.cast(solution, of), emitter, "solution"),
            arrays.materialise(residuals, emitter, "residuals"),
            rank,
            delivered(singular, real_type(of), emitter),
        )
    )


def _cutoff(call: Bound, m: Expr, n: Expr) -> Expr:
    """rcond, by default the precision times the larger side."""
    given = call.get("rcond")
    if given is None:
        precision = Const(float(np.finfo(np.float64).eps), F64)
        return Op("mul", (precision, arith.cast(Op("maximum", (m, n), INT), F64)), F64)
    if not isinstance(given, Scalar) or given.type.dtype.is_complex:
        raise Unsupported(
            call.builder.emitter.span, f"rcond of {call.name}() that is not a real number", "pass a float"
        )
    return arith.cast(given.expr, F64)
