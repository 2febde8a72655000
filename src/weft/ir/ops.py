"""The table of operations: one owner for what each operation means.  Folding, the interpreter and the printers read it.

An operation takes operands of one dtype (the table's exceptions: `select` has a bool first operand, shifts and `ldexp`
take what they take) and gives a result by its rule: the operands' dtype, bool, or the real part's dtype.
`evaluate` works on NumPy scalars or arrays already cast to the operand dtype.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.ir.types import I64, DType, ScalarType
from weft.records import dataclass

Evaluate = Callable[..., Any]


@dataclass(frozen=True)
class Operation:
    """One operation: its arity, meaning on NumPy values, result rule ("same" | "bool" | "real" | "complex" | "float")
    and rough cost in cycles.
    """

    name: str
    arity: int
    evaluate: Evaluate
    result: str = "same"
    symbol: str | None = None
    cost: int = 1

    def result_type(self, operand: ScalarType) -> ScalarType:
        if self.result == "bool":
            return ScalarType(DType.BOOL, operand.weak)
        if self.result == "real":
            return ScalarType(operand.dtype.real, operand.weak)
        if self.result == "complex":
            return ScalarType(operand.dtype.complex, operand.weak)
        if self.result == "float":
            return ScalarType(DType.F64, operand.weak)
        return operand


def _select(condition: Any, a: Any, b: Any) -> Any:
    return a if condition else b


def _quiet(function: Evaluate) -> Evaluate:
    def evaluate(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args)

    return evaluate


def _make_complex(re: Any, im: Any) -> Any:
    single = np.asarray(re).dtype == np.float32
    return (np.complex64 if single else np.complex128)(complex(re, im))


def _libm_pair(function: Callable[[float, float], float]) -> Evaluate:
    """As `_libm`, for two operands, scalars or arrays."""

    def total(left: Any, right: Any) -> float:
        try:
            return function(float(left), float(right))
        except ValueError:
            return math.nan

    elements = np.frompyfunc(total, 2, 1)
    return lambda left, right: np.asarray(elements(left, right)).astype(left.dtype)[()]


def _norm(count: int) -> Evaluate:
    """Python's own math.hypot of so many numbers, scalars or arrays."""
    elements = np.frompyfunc(lambda *values: math.hypot(*map(float, values)), count, 1)
    return lambda *values: np.asarray(elements(*values)).astype(values[0].dtype)[()]


def _libm(function: Callable[[float], float]) -> Evaluate:
    """A function that NumPy lacks, taken from `math`, total: where `math` raises, NaN or infinity."""

    def evaluate(value: Any) -> Any:
        try:
            return type(value)(function(float(value)))
        except ValueError:
            return type(value)(math.nan)
        except OverflowError:
            return type(value)(math.inf)

    return evaluate


def _ldexp(value: Any, exponent: Any) -> Any:
    """value * 2**exponent; the exponent is a whole number in the type of the value."""
    with np.errstate(all="ignore"):
        return np.ldexp(value, np.clip(exponent, -5000, 5000).astype(np.int32))


def _exponent(value: Any) -> Any:
    return np.frexp(value)[1].astype(value.dtype)


def _bitcount(value: Any) -> Any:
    """The ones in the binary form of |value|."""
    if np.asarray(value).dtype.kind not in "iu":
        raise TypeError("the bits of a number that is not an integer")
    wide = np.asarray(value).astype(object)
    counted = np.frompyfunc(lambda number: bin(abs(int(number))).count("1"), 1, 1)(wide)
    return np.asarray(counted).astype(value.dtype)[()]


def _ratio(left: Any, right: Any) -> Any:
    """left / right of Python's integers, rounded once; total: by zero it is what floats give."""
    if np.asarray(left).dtype.kind != "i":
        raise TypeError("the ratio of numbers that are not integers")
    divided = np.frompyfunc(lambda a, b: int(a) / int(b) if b else math.copysign(math.inf, a) if a else math.nan, 2, 1)
    return np.asarray(divided(left, right)).astype(np.float64)[()]


_TABLE: tuple[Operation, ...] = (
    Operation("add", 2, _quiet(np.add), symbol="+"),
    Operation("sub", 2, _quiet(np.subtract), symbol="-"),
    Operation("mul", 2, _quiet(np.multiply), symbol="*"),
    Operation("truediv", 2, _quiet(np.true_divide), symbol="/", cost=5),
    Operation("ratio", 2, _ratio, "float", cost=6),
    Operation("floordiv", 2, _quiet(np.floor_divide), symbol="//", cost=10),
    Operation("mod", 2, _quiet(np.remainder), symbol="%", cost=12),
    Operation("fmod", 2, _quiet(np.fmod), cost=12),
    Operation("pow", 2, _quiet(np.power), symbol="**", cost=25),
    Operation("neg", 1, _quiet(np.negative)),
    Operation("abs", 1, _quiet(np.absolute), "real"),
    Operation("eq", 2, np.equal, "bool", "=="),
    Operation("ne", 2, np.not_equal, "bool", "!="),
    Operation("lt", 2, np.less, "bool", "<"),
    Operation("le", 2, np.less_equal, "bool", "<="),
    Operation("gt", 2, np.greater, "bool", ">"),
    Operation("ge", 2, np.greater_equal, "bool", ">="),
    Operation("and", 2, np.logical_and, "bool", "and"),
    Operation("or", 2, np.logical_or, "bool", "or"),
    Operation("not", 1, np.logical_not, "bool"),
    Operation("bitand", 2, np.bitwise_and, symbol="&"),
    Operation("bitor", 2, np.bitwise_or, symbol="|"),
    Operation("bitxor", 2, np.bitwise_xor, symbol="^"),
    Operation("invert", 1, np.invert),
    Operation("shl", 2, np.left_shift, symbol="<<"),
    Operation("shr", 2, np.right_shift, symbol=">>"),
    Operation("select", 3, _select),
    Operation("minimum", 2, _quiet(np.minimum)),
    Operation("maximum", 2, _quiet(np.maximum)),
    Operation("fmin", 2, _quiet(np.fmin)),
    Operation("fmax", 2, _quiet(np.fmax)),
    Operation("sqrt", 1, _quiet(np.sqrt), cost=8),
    Operation("cbrt", 1, _quiet(np.cbrt), cost=20),
    Operation("exp", 1, _quiet(np.exp), cost=20),
    Operation("exp2", 1, _quiet(np.exp2), cost=20),
    Operation("expm1", 1, _quiet(np.expm1), cost=25),
    Operation("log", 1, _quiet(np.log), cost=20),
    Operation("log2", 1, _quiet(np.log2), cost=20),
    Operation("log10", 1, _quiet(np.log10), cost=20),
    Operation("log1p", 1, _quiet(np.log1p), cost=25),
    Operation("sin", 1, _quiet(np.sin), cost=25),
    Operation("cos", 1, _quiet(np.cos), cost=25),
    Operation("tan", 1, _quiet(np.tan), cost=30),
    Operation("arcsin", 1, _quiet(np.arcsin), cost=25),
    Operation("arccos", 1, _quiet(np.arccos), cost=25),
    Operation("arctan", 1, _quiet(np.arctan), cost=25),
    Operation("arctan2", 2, _quiet(np.arctan2), cost=30),
    Operation("sinh", 1, _quiet(np.sinh), cost=30),
    Operation("cosh", 1, _quiet(np.cosh), cost=30),
    Operation("tanh", 1, _quiet(np.tanh), cost=30),
    Operation("arcsinh", 1, _quiet(np.arcsinh), cost=30),
    Operation("arccosh", 1, _quiet(np.arccosh), cost=30),
    Operation("arctanh", 1, _quiet(np.arctanh), cost=30),
    Operation("erf", 1, _libm(math.erf), cost=30),
    Operation("erfc", 1, _libm(math.erfc), cost=30),
    Operation("gamma", 1, _libm(math.gamma), cost=60),
    Operation("lgamma", 1, _libm(math.lgamma), cost=60),
    Operation("floor", 1, np.floor),
    Operation("ceil", 1, np.ceil),
    Operation("trunc", 1, np.trunc),
    Operation("rint", 1, np.rint),
    Operation("hypot", 2, _quiet(np.hypot), cost=20),
    Operation("norm2", 2, _norm(2), cost=20),
    Operation("norm3", 3, _norm(3), cost=25),
    Operation("copysign", 2, np.copysign),
    Operation("nextafter", 2, _quiet(np.nextafter), cost=10),
    Operation("sign", 1, _quiet(np.sign)),
    Operation("isnan", 1, np.isnan, "bool"),
    Operation("isinf", 1, np.isinf, "bool"),
    Operation("isfinite", 1, np.isfinite, "bool"),
    Operation("signbit", 1, np.signbit, "bool"),
    Operation("conj", 1, np.conjugate),
    Operation("real", 1, np.real, "real", cost=0),
    Operation("imag", 1, np.imag, "real", cost=0),
    Operation("complex", 2, _make_complex, "complex", cost=0),
    Operation("gcd", 2, np.gcd, cost=40),
    Operation("lcm", 2, np.lcm, cost=40),
    Operation("ldexp", 2, _ldexp, cost=10),
    Operation("mantissa", 1, lambda value: np.frexp(value)[0], cost=10),
    Operation("exponent", 1, _exponent, cost=10),
    Operation("remainder", 2, _libm_pair(math.remainder), cost=20),
    Operation("bitcount", 1, _bitcount, cost=3),
)

OPERATIONS: dict[str, Operation] = {operation.name: operation for operation in _TABLE}
COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})


#: Operations that a scalar and a vector of them may round differently: other code computes them in a vector.
UNSTEADY = frozenset(
    {"pow", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos"}
    | {"arctan", "arctan2", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "erf", "erfc", "gamma", "lgamma"}
    | {"hypot", "remainder"}
)


@dataclass(frozen=True)
class Reduction:
    """An associative operation that a Reduce or a reducing statement may use.

    `operation` is the binary operation of the table; argmin and argmax have none: they give the position of the first
    extreme (a NaN counts as extreme, as in NumPy), counted row-major over the reduction's dimensions.
    """

    name: str
    operation: str | None

    def identity(self, of: ScalarType) -> bool | int | float | complex:
        """The value of the empty reduction (for argmin and argmax 0)."""
        if self.name in ("and", "or"):
            return self.name == "and"
        if self.name == "bitand":
            return _all_ones(of.dtype)
        if self.name in ("minimum", "maximum"):
            return _extreme(of.dtype, largest=self.name == "minimum")
        unit = 1 if self.name == "mul" else 0
        return _CONVERT[of.dtype.kind](unit)

    def result(self, of: ScalarType) -> ScalarType:
        return I64 if self.operation is None else of


_CONVERT: dict[str, Callable[[int], bool | int | float | complex]] = {
    "b": bool,
    "i": int,
    "u": int,
    "f": float,
    "c": complex,
}


def _all_ones(dtype: DType) -> bool | int:
    if dtype is DType.BOOL:
        return True
    return -1 if dtype.kind == "i" else int(np.iinfo(dtype.numpy.name).max)


def _extreme(dtype: DType, largest: bool) -> bool | int | float | complex:
    if dtype is DType.BOOL:
        return largest
    if dtype.is_integer:
        info = np.iinfo(dtype.numpy.name)
        return int(info.max if largest else info.min)
    limit = math.inf if largest else -math.inf
    return complex(limit, limit) if dtype.is_complex else limit


REDUCTIONS: dict[str, Reduction] = {
    name: Reduction(name, operation)
    for name, operation in (
        ("add", "add"),
        ("mul", "mul"),
        ("minimum", "minimum"),
        ("maximum", "maximum"),
        ("and", "and"),
        ("or", "or"),
        ("bitand", "bitand"),
        ("bitor", "bitor"),
        ("bitxor", "bitxor"),
        ("argmin", None),
        ("argmax", None),
    )
}
