"""Python's own `**`.  In: two numbers of Python's; out: their power, with the checks that keep to Python's answer where
the kind of the result, or an exception, depends on the values."""

from __future__ import annotations

from weft.errors import Unsupported
from weft.frontend import arith
from weft.frontend.emit import Emitter
from weft.ir.expr import ZERO, Const, Expr, Op
from weft.ir.types import BOOL, FLOAT, INT

# Up to here CPython multiplies complex numbers, as generated code does; beyond, it goes by logarithms.
_MOST_FACTORS = 100


def power(a: Expr, b: Expr, emitter: Emitter) -> Expr:
    """a ** b; the usual kind of result is checked for."""
    if a.type.dtype.is_complex or b.type.dtype.is_complex:
        return _complex(a, b, emitter)
    a, b = emitter.snapshot(a, "base"), emitter.snapshot(b, "exponent")
    if a.type.dtype.kind in "bi" and b.type.dtype.kind in "bi":
        if not (isinstance(b, Const) and int(b.value.real) >= 0) and not isinstance(b, Const):
            b = arith.cast(b, INT)
            if not emitter.assure(b, "RuntimeError"):
                emitter.check(Op("ge", (b, ZERO), BOOL), "RuntimeError", "a negative integer power")
        return arith.binary("pow", arith.cast(a, INT), arith.cast(b, INT), emitter.span)
    x, y = arith.cast(a, FLOAT), arith.cast(b, FLOAT)
    result = Op("pow", (x, y), FLOAT, emitter.span)
    check_kind(x, y, emitter)
    value = emitter.snapshot(result, "power")
    finite = Op("isfinite", (value,), BOOL)
    unusual = Op("and", (Op("isfinite", (x,), BOOL), Op("isfinite", (y,), BOOL)), BOOL)
    emitter.check(
        Op("or", (finite, Op("not", (unusual,), BOOL)), BOOL),
        "OverflowError",
        "(34, 'Numerical result out of range')",
    )
    return value


def check_kind(a: Expr, b: Expr, emitter: Emitter) -> None:
    """Python's answer to a ** b is a float: neither a complex number nor ZeroDivisionError."""
    x, y, zero = arith.cast(a, FLOAT), arith.cast(b, FLOAT), Const(0.0, FLOAT)
    if isinstance(y, Const) and float(y.value.real).is_integer() and y.value.real >= 0:
        return
    whole = Op("eq", (Op("floor", (y,), FLOAT), y), BOOL)
    real = Op("or", (Op("gt", (x, zero), BOOL), Op("and", (whole, Op("ne", (x, zero), BOOL)), BOOL)), BOOL)
    usual = Op("or", (real, Op("and", (Op("eq", (x, zero), BOOL), Op("ge", (y, zero), BOOL)), BOOL)), BOOL)
    emitter.check(usual, "RuntimeError", "a power that Python computes as a complex number or refuses")


def _complex(a: Expr, b: Expr, emitter: Emitter) -> Expr:
    """A complex number to a small whole power: products, of which none may leave the range of floats."""
    whole = isinstance(b, Const) and b.value.imag == 0 and b.value.real in range(_MOST_FACTORS + 1)
    if not whole:
        reason = "a power of Python's complex numbers whose exponent is not a small whole number"
        raise Unsupported(emitter.span, reason, "use np.complex128 or an array")
    value = emitter.snapshot(arith.binary("pow", a, b, emitter.span), "power")
    inside = [Op("not", (Op("isinf", (Op(part, (value,), FLOAT),), BOOL),), BOOL) for part in ("real", "imag")]
    emitter.check(arith.conjunction(*inside), "OverflowError", "complex exponentiation")
    return value
