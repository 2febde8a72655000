"""Operations, casts and stores of the Python back end.  In: translated operands and their types; out: results.

A `Piece` is a Python expression and what is known of its value.  The invariant that keeps dtypes exact: a scalar of a
strong type is a NumPy scalar (or a literal that gives way to one beside it, as NEP 50 has it), a Python integer is a
Python `int` and so cannot overflow unseen.  Values are total in the IR, so Python operators that may raise stand only
where they cannot.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from weft.codegen import python_syntax as py
from weft.ir.foreign import FOREIGN
from weft.ir.ops import COMPARISONS
from weft.ir.types import INT, DType, ScalarType
from weft.records import dataclass

Kind = Literal["literal", "python", "numpy"]


class NotVector(Exception):
    """This expression has no array form: the statement becomes a Python loop."""


@dataclass(frozen=True)
class Piece:
    """A translated expression.

    `rank`: how many trailing axes of the frame its array has (0: a scalar); `dims`: those along which it varies;
    `kind` of a scalar: a literal, a Python scalar or a NumPy scalar; `view`: an array that is memory of a buffer.
    """

    node: ast.expr
    kind: Kind = "numpy"
    rank: int = 0
    dims: frozenset[str] = frozenset()
    view: bool = False


def combined(node: ast.expr, pieces: Iterable[Piece], kind: Kind = "numpy") -> Piece:
    """The piece of an element-wise operation on `pieces`."""
    pieces = tuple(pieces)
    rank = max(piece.rank for piece in pieces)
    return Piece(node, "numpy" if rank else kind, rank, frozenset().union(*(piece.dims for piece in pieces)))


_DEFAULT = frozenset({DType.BOOL, DType.I64, DType.F64, DType.C128})
_OPERATORS = frozenset(py.BINARY)
_RAISING = {"truediv": "np.divide", "floordiv": "np.floor_divide", "mod": "np.remainder", "pow": "np.power"}
_SUPPORT = frozenset(
    {"erf", "erfc", "gamma", "lgamma", "ldexp", "mantissa", "exponent", "remainder", "bitcount", "ratio"}
    | {"norm2", "norm3"}
)
_FUNCTIONS = {"complex": "make_complex", "abs": "np.abs", "conj": "np.conj"} | {name: name for name in _SUPPORT}
# What changes no integer.
_WHOLE = frozenset({"floor", "ceil", "trunc", "rint", "conj", "real"})
# Python-integer operations whose array form could leave 64 bits unseen.
GROWING = frozenset({"add", "sub", "mul", "pow", "neg", "abs", "shl", "gcd", "lcm"})


def _anchored(pieces: Sequence[Piece], operand: ScalarType) -> list[Piece]:
    """Operands of which at least one carries the dtype: literals alone would be computed as Python's."""
    done = list(pieces)
    if operand.weak or any(piece.kind == "numpy" for piece in done) or operand.dtype is DType.BOOL:
        return done
    done[0] = Piece(py.call(py.dtype_name(operand.dtype), done[0].node))
    return done


def operate(op: str, args: Sequence[Piece], operand: ScalarType, of: ScalarType) -> Piece:
    """An operation of the table (not `select`) on operands of type `operand` (weak only if all of them are)."""
    array = any(piece.rank for piece in args)
    if of == INT or (operand == INT and (op in COMPARISONS or op in ("and", "or", "not", "ratio"))):
        if not array:
            return _integer(op, [py.call("int", p.node) if p.kind == "numpy" else p.node for p in args])
        _check_integer_array(op, args)
    args = _anchored(args, operand)
    nodes = [piece.node for piece in args]
    if op in _WHOLE and operand.dtype.kind in "biu":
        return args[0]  # NumPy 2.0 would make floats of them
    if op in COMPARISONS:
        numpy = any(piece.kind == "numpy" for piece in args)
        return combined(py.compare(op, *nodes), args, "numpy" if numpy else "python")
    if op in ("and", "or", "not"):
        return _logical(op, args, operand, array)
    if operand.dtype is DType.BOOL and op in ("add", "mul", "invert"):
        # NumPy's + and * of bools are "or" and "and"; Python's would count.
        return _logical({"add": "or", "mul": "and", "invert": "not"}[op], args, operand, array)
    if op in _OPERATORS:
        return _operator(op, args)
    if op == "neg":
        return combined(py.minus(nodes[0]), args, _one_kind(args[0]))
    if op == "invert":
        return combined(py.flipped(nodes[0]), args)
    if op == "abs" and not array and operand.weak and not operand.dtype.is_complex:
        return combined(py.call("abs", nodes[0]), args, _one_kind(args[0]))
    if op in FOREIGN:
        return combined(py.call("foreign", ast.Constant(op), *nodes), args)
    result = combined(py.call(_FUNCTIONS.get(op, f"np.{op}"), *nodes), args)
    return replace(result, view=array) if op in ("real", "imag") else result  # NumPy gives these as views


def _one_kind(piece: Piece) -> Kind:
    return "python" if piece.kind == "literal" else piece.kind


def _operator(op: str, args: Sequence[Piece]) -> Piece:
    nodes = [piece.node for piece in args]
    if any(piece.kind == "numpy" for piece in args):
        return combined(py.binary(op, *nodes), args)
    safe = op == "truediv" and args[1].kind == "literal" and _literal_value(nodes[1]) not in (0, None)
    if op in _RAISING and not safe:
        return combined(py.call(_RAISING[op], *nodes), args)
    return combined(py.binary(op, *nodes), args, "python")


def _literal_value(node: ast.expr) -> object:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return node.value if isinstance(node, ast.Constant) else None


def _logical(op: str, args: Sequence[Piece], operand: ScalarType, array: bool) -> Piece:
    nodes = [piece.node for piece in args]
    is_bool = operand.dtype is DType.BOOL
    if not array:
        if op == "not":
            return Piece(py.negated(nodes[0]), "python")
        if not is_bool:
            nodes = [py.call("bool", node) for node in nodes]
        return Piece(py.both(op, *nodes), "python")
    if not is_bool:
        return combined(py.call(f"np.logical_{op}", *nodes), args)
    if op == "not":
        return combined(py.flipped(nodes[0]), args)
    return combined(py.binary("bitand" if op == "and" else "bitor", *nodes), args)


# --- Python integers ------------------------------------------------------------------------------------------------

_INTEGER_CALLS = {
    "abs": "abs",
    "minimum": "min",
    "maximum": "max",
    "fmin": "min",
    "fmax": "max",
    "gcd": "math.gcd",
    "lcm": "math.lcm",
    "fmod": "truncated_mod",
    "sign": "sign",
    "bitcount": "bitcount",
}


def _integer(op: str, nodes: list[ast.expr]) -> Piece:
    """Exact arithmetic of Python integers, total: what Python refuses is 0."""
    if op in COMPARISONS:
        return Piece(py.compare(op, *nodes), "python")
    if op in ("and", "or", "not"):
        pieces = [Piece(node, "python") for node in nodes]
        return _logical(op, pieces, INT, array=False)
    if op in _WHOLE:
        return Piece(nodes[0], "python")
    if op == "ratio":
        by_zero = py.call("float", py.call("np.divide", *nodes))
        return Piece(py.choose(nodes[1], py.binary("truediv", *nodes), by_zero), "python")
    if op == "imag":
        return Piece(py.number(0), "python")
    if op in _INTEGER_CALLS:
        return Piece(py.call(_INTEGER_CALLS[op], *nodes), "python")
    if op == "neg":
        return Piece(py.minus(nodes[0]), "python")
    if op == "invert":
        return Piece(py.flipped(nodes[0]), "python")
    if op not in _OPERATORS:
        raise AssertionError(f"no operation {op} on Python integers")
    result = py.binary(op, *nodes)
    if op in ("floordiv", "mod", "pow", "shl", "shr"):
        known = _literal_value(nodes[1])
        positive = known is not None and not isinstance(nodes[1], ast.UnaryOp)
        if op in ("floordiv", "mod"):
            test = None if known not in (None, 0) else nodes[1]
        else:
            test = None if positive else py.compare("ge", nodes[1], py.number(0))
        if test is not None:
            result = py.choose(test, result, py.number(0))
    return Piece(result, "python")


def _check_integer_array(op: str, args: Sequence[Piece]) -> None:
    """Array arithmetic on Python integers must not leave 64 bits; sums of index variables are let through before."""
    if op in GROWING:
        raise NotVector(f"{op} of Python integers could leave 64 bits")
    if op == "ratio":
        raise NotVector("a quotient of Python integers is rounded only once")
    if op in ("floordiv", "mod", "fmod", "shr"):
        known = _literal_value(args[1].node) if args[1].kind == "literal" else None
        negative = isinstance(args[1].node, ast.UnaryOp)
        if not isinstance(known, int) or negative or (op == "shr" and known > 63):
            raise NotVector(f"{op} of Python integers by a value that is not a positive literal")


# --- choices, casts, stores -----------------------------------------------------------------------------------------


def select(condition: Piece, then: Piece, orelse: Piece, of: ScalarType) -> Piece:
    """Lazy for scalars; for arrays both sides are computed, which the caller has found harmless."""
    if not (condition.rank or then.rank or orelse.rank):
        kind: Kind = "numpy" if then.kind == orelse.kind == "numpy" else "python"
        if not of.weak and kind != "numpy":
            then, orelse = (strong(piece, of.dtype) for piece in (then, orelse))
            kind = "numpy"
        return Piece(py.choose(condition.node, then.node, orelse.node), kind)
    if then.kind != "numpy" and orelse.kind != "numpy" and of.dtype not in _DEFAULT:
        then = strong(then, of.dtype)
    return combined(py.call("np.where", condition.node, then.node, orelse.node), (condition, then, orelse))


def strong(piece: Piece, dtype: DType) -> Piece:
    """A scalar as the NumPy scalar of a dtype it already has the value range of."""
    return piece if piece.kind == "numpy" else Piece(py.call(py.dtype_name(dtype), piece.node))


_PYTHON_NAMES = {DType.BOOL: "bool", DType.I64: "int", DType.F64: "float", DType.C128: "complex"}


def cast(piece: Piece, source: ScalarType, of: ScalarType) -> Piece:
    """Conversion as NumPy's `astype`."""
    if piece.rank:
        return _cast_array(piece, source, of)
    node = piece.node
    if source.dtype.is_complex and of.dtype.kind not in "cb":
        node = py.attribute(node, "real")
        source = ScalarType(source.dtype.real, source.weak)
    if of.weak:
        same = source.dtype is of.dtype and of.dtype is not DType.I64
        return piece if same and node is piece.node else Piece(py.call(_PYTHON_NAMES[of.dtype], node), "python")
    if piece.kind == "numpy":
        if source.dtype is of.dtype:
            return Piece(node)
        return Piece(py.method(node, "astype", py.name(py.dtype_name(of.dtype))))
    narrowing = of.dtype.is_integer and source.dtype not in (DType.BOOL, of.dtype)
    if not narrowing:
        return Piece(py.call(py.dtype_name(of.dtype), node))
    exact = py.call(py.dtype_name(source.dtype), node)
    return Piece(py.method(exact, "astype", py.name(py.dtype_name(of.dtype))))


def _cast_array(piece: Piece, source: ScalarType, of: ScalarType) -> Piece:
    if of == INT and (source.dtype.is_inexact or source.dtype is DType.U64):
        raise NotVector("a conversion to a Python integer that may not fit 64 bits")
    if source.dtype is of.dtype:
        return piece
    node = piece.node
    if source.dtype.is_complex and of.dtype.kind not in "cb":
        node = py.attribute(node, "real")
        if source.dtype.real is of.dtype:
            return replace(combined(node, (piece,)), view=True)
    return combined(py.method(node, "astype", py.name(py.dtype_name(of.dtype))), (piece,))


def stored(piece: Piece, of: ScalarType) -> ast.expr:
    """The value of a scalar variable: of a weak type a Python scalar, of a strong one a NumPy scalar."""
    if of.weak:
        if piece.kind != "numpy":
            return piece.node
        return py.call(_PYTHON_NAMES[of.dtype], piece.node)
    return strong(piece, of.dtype).node
