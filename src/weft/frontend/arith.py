"""The typing of operators on scalars and elements: which dtype they compute in, what they give.  In: typed expressions;
out: one typed expression with every cast explicit.  The rules are NumPy 2's (weak Python scalars give way) and, between
two Python scalars, Python's.  Nothing here emits statements: the checks that Python scalars need are `emit`'s.
"""

from __future__ import annotations

import math

import numpy as np

from weft.errors import Span, Unsupported
from weft.ir import index as affine_index
from weft.ir.expr import Cast, Const, Expr, Op
from weft.ir.ops import COMPARISONS, OPERATIONS
from weft.ir.types import BOOL, COMPLEX, F64, FLOAT, INT, PYBOOL, DType, ScalarType, promote

_COMPLEX_SIGN = bool(np.sign(2j) == 1j)  # z / |z| since NumPy 2, before that the sign of the real part
INT_OF_BOOL = ScalarType(DType.I8)  # NumPy computes //, %, ** and shifts of bools in int8
_BIT_OPS = frozenset({"bitand", "bitor", "bitxor"})
_SHIFTS = frozenset({"shl", "shr"})
_SIGNS = {"shl": "<<", "shr": ">>", "bitand": "&", "bitor": "|", "bitxor": "^"}
#: Elementary functions of one number, which NumPy has under the same names.
ELEMENTARY = (
    "sqrt",
    "cbrt",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
)
# Functions NumPy computes in floating point whatever it is given; small integers go to a small float it would pick.
_FLOATING = frozenset(ELEMENTARY) | frozenset(
    {"arctan2", "hypot", "copysign", "nextafter", "truediv", "rint", "erf", "erfc", "gamma", "lgamma"}
)
_ROUNDING = frozenset({"floor", "ceil", "trunc"})
_NO_COMPLEX = frozenset(
    [
        "floordiv",
        "mod",
        "fmod",
        "floor",
        "ceil",
        "trunc",
        "arctan2",
        "hypot",
        "copysign",
        "nextafter",
        "signbit",
        "cbrt",
        "erf",
        "erfc",
        "gamma",
        "lgamma",
        "gcd",
        "lcm",
    ]
)


def cast(expr: Expr, to: ScalarType) -> Expr:
    """`expr` as a value of type `to`; literals are converted at once, and a change of weakness alone costs nothing."""
    if expr.type == to:
        return expr
    if isinstance(expr, Const):
        folded = _fold(expr, to)
        if folded is not None:
            return folded
    return Cast(expr, to, expr.span)  # type: ignore[attr-defined]


def _fold(expr: Const, to: ScalarType) -> Const | None:
    value, kind = expr.value, to.dtype.kind
    if kind == "b":
        return Const(bool(value), to)
    if kind in "iu":
        if isinstance(value, (int, bool)) and fits(int(value), to.dtype):
            return Const(int(value), to)
        return None
    if kind == "f":
        if isinstance(value, complex) or (isinstance(value, int) and abs(value) > 2**53):
            return None
        return Const(float(to.dtype.numpy.type(value)), to)
    if isinstance(value, int) and abs(value) > 2**53:
        return None
    return Const(complex(to.dtype.numpy.type(value)), to)


def limits(dtype: DType) -> tuple[int, int]:
    """The least and the greatest value of an integer dtype."""
    bits = dtype.size * 8
    return (0, (1 << bits) - 1) if dtype.kind == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)


def fits(value: int, dtype: DType) -> bool:
    """Whether an integer is representable in an integer dtype."""
    low, high = limits(dtype)
    return low <= value <= high


def floating(of: ScalarType) -> ScalarType:
    """The type NumPy computes an elementary function of an `of` in."""
    if of.dtype.is_inexact:
        return of
    if of.weak:
        return FLOAT
    if of.dtype in (DType.BOOL, DType.I8, DType.U8):
        raise ValueError("float16")
    return ScalarType(DType.F32 if of.dtype in (DType.I16, DType.U16) else DType.F64)


def computed_in(of: ScalarType, span: Span) -> ScalarType:
    """As `floating`; Unsupported where NumPy would compute in float16."""
    try:
        return floating(of)
    except ValueError:
        raise _half("a function", of, span) from None


def truth(expr: Expr) -> Expr:
    """`bool(expr)` as an expression of type bool (weak as the operand)."""
    of = ScalarType(DType.BOOL, expr.type.weak)
    if expr.type.dtype is DType.BOOL:
        return expr
    return Op("ne", (expr, cast(Const(0, INT), expr.type)), of)


def condition(expr: Expr) -> Expr:
    """`expr` as a condition of type bool."""
    return cast(truth(expr), BOOL)


def negate(expr: Expr) -> Expr:
    inner = truth(expr)
    if isinstance(inner, Op) and inner.op == "not":
        return inner.args[0]
    return Op("not", (inner,), inner.type)


def conjunction(left: Expr, right: Expr) -> Expr:
    return Op("and", (condition(left), condition(right)), BOOL)


def select(test: Expr, then: Expr, orelse: Expr) -> Expr:
    of = promote(then.type, orelse.type)
    return Op("select", (condition(test), cast(then, of), cast(orelse, of)), of)


def unary(op: str, operand: Expr, span: Span) -> Expr:
    """-x, +x, ~x, abs(x)."""
    of = operand.type
    if of.dtype is DType.BOOL:
        if op == "invert" and not of.weak:
            return negate(operand)
        if not of.weak and op in ("neg", "pos"):
            raise Unsupported(
                span, f"NumPy has no {'-' if op == 'neg' else '+'} for booleans", "use ~ or np.logical_not"
            )
        if op == "abs" and not of.weak:
            return operand
        operand, of = cast(operand, INT), INT
    if op == "pos":
        return operand
    if op == "invert" and not of.dtype.is_integer:
        raise Unsupported(
            span, f"TypeError: ~ needs integers, not {of}", "convert it first, with int() or .astype(np.int64)"
        )
    if op == "neg":
        if isinstance(operand, Const) and of.weak:
            return Const(-operand.value, of)
        if of == INT and affine_index.affine(operand) is not None:
            return affine_index.canonical(Op("neg", (operand,), INT))
    if op == "abs" and of.dtype.kind == "u":
        return operand
    return Op(op, (operand,), OPERATIONS[op].result_type(of), span)


def compare(op: str, left: Expr, right: Expr, span: Span) -> Expr:
    """left OP right, a bool; Python integers are compared by value with integers of any width."""
    weak = left.type.weak and right.type.weak
    if {left.type.dtype.kind, right.type.dtype.kind} == {"i", "u"} and DType.U64 in (left.type.dtype, right.type.dtype):
        return _compare_unsigned(op, left, right, span)
    of = comparison_type(left, right, span)
    if of.dtype.is_complex and op not in ("eq", "ne") and weak:
        raise Unsupported(span, "TypeError: Python's complex numbers have no order")
    if weak and of == FLOAT and INT in (left.type, right.type):
        return _compare_exactly(op, left, right, span)
    result = PYBOOL if weak else BOOL
    return Op(op, (cast(left, of), cast(right, of)), result, span)


_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


def _compare_exactly(op: str, left: Expr, right: Expr, span: Span) -> Expr:
    """A Python integer against a float by value.  Rounding keeps the order, so that only an integer which is rounded to
    just that float needs to be looked at again, as an integer."""
    if left.type != INT:
        left, right, op = right, left, _MIRRORED[op]
    rounded = cast(left, FLOAT)
    plain = Op(op, (rounded, right), PYBOOL, span)
    if _is_exact(left) or (isinstance(right, Const) and not abs(right.value) > 2**53):
        return plain
    equal = Op("eq", (rounded, right), PYBOOL, span)
    beyond = Op("ge", (right, Const(2.0**63, FLOAT)), PYBOOL)
    signed = ScalarType(DType.I64)
    below = Op("not", (beyond,), PYBOOL)
    again = Op(op, (cast(left, signed), cast(right, signed)), PYBOOL)
    if op in ("eq", "ne"):
        same = Op("and", (equal, Op("and", (below, Op("eq", again.args, PYBOOL)), PYBOOL)), PYBOOL)
        return same if op == "eq" else Op("not", (same,), PYBOOL)
    tied = Op("or", (beyond, again), PYBOOL) if op in ("lt", "le") else Op("and", (below, again), PYBOOL)
    differ = Op("and", (Op("not", (equal,), PYBOOL), plain), PYBOOL)
    return Op("or", (differ, Op("and", (equal, tied), PYBOOL)), PYBOOL)


def _compare_unsigned(op: str, left: Expr, right: Expr, span: Span) -> Expr:
    """uint64 against signed integers by value: a negative number is below every unsigned one."""
    if left.type.dtype is not DType.U64:
        left, right, op = right, left, _MIRRORED[op]
    of = ScalarType(DType.U64)
    signed = cast(right, ScalarType(DType.I64))
    same = Op(op, (left, Cast(signed, of)), BOOL, span)
    negative = Op("lt", (signed, Const(0, signed.type)), BOOL)
    if op in ("gt", "ge", "ne"):
        return Op("or", (negative, same), BOOL)
    return Op("and", (Op("not", (negative,), BOOL), same), BOOL)


def comparison_type(left: Expr, right: Expr, span: Span) -> ScalarType:
    kinds = {left.type.dtype.kind, right.type.dtype.kind}
    if kinds <= {"i", "u", "b"} and (left.type.weak or right.type.weak) and "u" not in kinds:
        return INT if left.type.weak and right.type.weak else ScalarType(DType.I64)
    if kinds <= {"i", "u", "b"} and (left.type.weak or right.type.weak):
        return ScalarType(DType.I64)  # narrower unsigned values all fit
    return promote(left.type, right.type)


def _is_exact(expr: Expr) -> bool:
    """Whether a double holds a Python integer, whatever it is: sizes and positions are far from 53 bits."""
    if isinstance(expr, Const):
        return abs(expr.value) <= 2**53
    if isinstance(expr, Cast) and expr.value.type.dtype.size < 8:
        return True
    return affine_index.affine(expr) is not None


def numbers(left: Expr, right: Expr) -> tuple[Expr, Expr]:
    """Two numbers as an operator takes them: to the right of a Python complex number NumPy's float64 is a float, since
    `complex` is asked first and takes any float.
    """
    plain = left.type == COMPLEX and right.type == F64
    return (left, cast(right, FLOAT)) if plain else (left, right)


def binary(op: str, left: Expr, right: Expr, span: Span) -> Expr:
    """left OP right for an arithmetic, bit or comparison operation of the table."""
    if op in COMPARISONS:
        return compare(op, left, right, span)
    of = promote(left.type, right.type)
    if op == "truediv" and of == INT and not (_is_exact(left) and _is_exact(right)):
        return Op("ratio", (cast(left, INT), cast(right, INT)), FLOAT, span)
    if of.dtype.is_complex and op in _NO_COMPLEX:
        raise Unsupported(span, f"TypeError: {op} of complex numbers")
    if of.dtype is DType.BOOL:
        return _binary_bool(op, left, right, span)
    if op in _BIT_OPS or op in _SHIFTS or op in ("gcd", "lcm"):
        if not of.dtype.is_integer:
            sign = _SIGNS.get(op, op)
            reason = f"the bit operation {sign} needs integers, not {left.type} and {right.type}"
            raise Unsupported(span, reason, "convert them first, with int() or .astype(np.int64)")
    elif op in _FLOATING:
        try:
            of = (
                FLOAT
                if of == INT
                else ScalarType(DType.F64)
                if op == "truediv" and of.dtype.is_integer
                else _floating_pair(left.type, right.type, of)
            )
        except ValueError:
            raise _half(op, of, span) from None
    if op == "pow":
        return _power(left, right, of, span)
    _check_literal(left, of, span)
    _check_literal(right, of, span)
    result = Op(op, (cast(left, of), cast(right, of)), OPERATIONS[op].result_type(of), span)
    return affine_index.canonical(result) if of == INT and op in ("add", "sub", "mul") else result


def _floating_pair(left: ScalarType, right: ScalarType, of: ScalarType) -> ScalarType:
    """The type NumPy computes a floating function of two operands in: one that holds each of two kinds of integers."""
    if of.dtype.is_inexact or left.weak or right.weak:
        return floating(of)
    tiny = (DType.BOOL, DType.I8, DType.U8)
    larger = [floating(each) for each in (left, right) if each.dtype not in tiny]
    if not larger:
        raise ValueError("float16")
    return larger[0] if len(larger) == 1 else promote(*larger)


def _half(op: str, of: ScalarType, span: Span) -> Unsupported:
    return Unsupported(span, f"{op} of {of} is computed in float16 by NumPy", "convert to float32 or float64 first")


def _check_literal(expr: Expr, of: ScalarType, span: Span) -> None:
    """NumPy raises OverflowError for a Python integer that the array's dtype cannot hold."""
    if (
        isinstance(expr, Const)
        and of.dtype.is_integer
        and isinstance(expr.value, int)
        and not fits(expr.value, of.dtype)
    ):
        raise Unsupported(span, f"the Python integer {expr.value} is out of bounds for {of.dtype.value}")


def _binary_bool(op: str, left: Expr, right: Expr, span: Span) -> Expr:
    weak = left.type.weak and right.type.weak
    if op in _BIT_OPS:
        of = PYBOOL if weak else BOOL
        name = {"bitand": "and", "bitor": "or", "bitxor": "ne"}[op]
        return Op(name, (cast(left, of), cast(right, of)), of, span)
    if weak:
        return binary(op, cast(left, INT), cast(right, INT), span)
    if op in ("add", "mul", "minimum", "maximum", "fmin", "fmax"):
        name = "or" if op in ("add", "maximum", "fmax") else "and"
        return Op(name, (cast(left, BOOL), cast(right, BOOL)), BOOL, span)
    if op in ("floordiv", "mod", "pow") or op in _SHIFTS:
        return binary(op, cast(left, INT_OF_BOOL), cast(right, INT_OF_BOOL), span)
    if op == "truediv":
        f64 = ScalarType(DType.F64)
        return Op(op, (cast(left, f64), cast(right, f64)), f64, span)
    raise Unsupported(span, f"NumPy has no {op} for booleans", "use ^ or np.logical_xor")


def number_power(power: Expr, base: Expr, exponent: Expr, span: Span) -> Expr:
    """The power of one number.  A root is sqrt only for arrays: of one number it is pow, which has no NaN for minus
    infinity, and no sign for zero.
    """
    of = power.type
    if not isinstance(power, Op) or not of.dtype.is_float or of.weak or of.dtype.size < 4:
        return power
    value = cast(base, of)
    unsigned = Op("add", (value, Const(0.0, of)), of, span)
    lowest = Op("eq", (value, Const(-math.inf, of)), BOOL, span)
    root = Op("select", (lowest, Const(math.inf, of), Op("sqrt", (unsigned,), of, span)), of, span)
    if isinstance(exponent, Const):
        return root if exponent.value == 0.5 else power
    return _without_power(power, exponent, root, span)


def of_numbers(op: str, left: Expr, right: Expr, span: Span) -> Expr:
    """A binary operator on two numbers, which are no elements of whole arrays."""
    result = binary(op, left, right, span)
    return number_power(result, left, right, span) if op == "pow" else result


def array_power(power: Expr, exponent: Expr, span: Span) -> Expr:
    """An element of an array to the power of one number: NumPy has other loops for some exponents."""
    if not isinstance(power, Op) or not power.of.dtype.is_float or power.of.weak:
        return power
    return _without_power(power, exponent, Op("sqrt", (power.args[0],), power.of, span), span)


def never_negative(exponent: Expr) -> bool:
    """Whether an exponent is known not to be negative: a literal, unsigned, or an absolute value."""
    if isinstance(exponent, Const):
        return exponent.value.real >= 0
    return exponent.type.dtype.kind in "bu" or (isinstance(exponent, Op) and exponent.op == "abs")


def _power(base: Expr, exponent: Expr, of: ScalarType, span: Span) -> Expr:
    if of == INT:
        if isinstance(exponent, Const) and int(exponent.value.real) < 0:
            return Op("pow", (cast(base, FLOAT), cast(exponent, FLOAT)), FLOAT, span)
        return Op("pow", (cast(base, INT), cast(exponent, INT)), INT, span)
    if of.dtype.kind == "i" and not never_negative(exponent):
        raise Unsupported(
            span, "an integer power whose exponent may be negative", "make the base or the exponent a float"
        )
    _check_literal(exponent, of, span)
    return Op("pow", (cast(base, of), cast(exponent, of)), of, span)


def _without_power(power: Op, exponent: Expr, root: Expr, span: Span) -> Expr:
    """power  -->  exponent == 0.5 ? root : exponent == 2 ? base * base : exponent == -1 ? 1 / base : power"""
    base, of = power.args[0], power.of
    ways: dict[float, Expr] = {
        -1.0: Op("truediv", (cast(Const(1, INT), of), base), of, span),
        2.0: Op("mul", (base, base), of, span),
    }
    if exponent.type.dtype.is_float:
        ways[0.5] = root
    if isinstance(exponent, Const):  # squares are found later on, as all small powers
        return power if exponent.value == 2 else ways.get(exponent.value.real, power)
    chosen: Expr = power
    for number, other in ways.items():
        if (number < 0 and exponent.type.dtype.kind in "bu") or (number > 1 and exponent.type.dtype is DType.BOOL):
            continue
        literal = Const(number if exponent.type.dtype.is_float else int(number), exponent.type)
        chosen = Op("select", (Op("eq", (exponent, literal), PYBOOL, span), other, chosen), of, span)
    return chosen


def function(op: str, operands: tuple[Expr, ...], span: Span) -> Expr:
    """A ufunc of the table on elements: NumPy's result type."""
    if len(operands) == 2:
        return binary(op, operands[0], operands[1], span)
    operand = operands[0]
    of = operand.type
    if op in ("isnan", "isinf", "isfinite") and not of.dtype.is_inexact:
        return Const(op == "isfinite", BOOL)
    if op in _ROUNDING and not of.dtype.is_inexact:
        return operand
    if op == "conj" and of.dtype is DType.BOOL:
        return cast(operand, INT_OF_BOOL)
    if op in ("conj", "real") and not of.dtype.is_complex:
        return operand
    if op == "imag" and not of.dtype.is_complex:
        return cast(Const(0, INT), of)
    if of.dtype.is_complex and op in _NO_COMPLEX:
        raise Unsupported(span, f"TypeError: {op} of complex numbers")
    if op == "sign" and of.dtype.is_complex and not _COMPLEX_SIGN:
        raise Unsupported(span, "np.sign of complex numbers")
    if op in _FLOATING or (op == "signbit" and not of.dtype.is_inexact):
        try:
            of = floating(of)
        except ValueError:
            raise _half(op, of, span) from None
        operand = cast(operand, of)
    if op in ("neg", "abs", "invert"):
        return unary(op, operand, span)
    if op == "not":
        return negate(operand)
    if op == "sign" and of.dtype is DType.BOOL:
        raise Unsupported(span, "TypeError: NumPy has no sign for booleans")
    return Op(op, (operand,), OPERATIONS[op].result_type(of), span)
