"""NumPy's scalars: what indexing an array gives.  In: operators and conversions; out: C with NumPy's types and bits.

The type of a result is NumPy's own answer for a sample of each operand. Where NumPy would warn, the call deoptimises.
"""

from __future__ import annotations

import functools
import operator
import warnings
from typing import Any, Final

from weft.plain import operators, wide
from weft.plain.frame import Frame, Value, numpy_tag
from weft.plain.operators import NUMBERS, payload
from weft.plain.types import DTYPES, NUMPY_SCALARS, scalar_node

FUNCTIONS: Final = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
    "MatMult": operator.matmul,
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}
_FLOATS: Final = frozenset(("float", "np.float32", "np.float64"))
_ALL: Final = NUMBERS | frozenset(NUMPY_SCALARS)
_NAMES: Final = {
    "Add": "add",
    "Sub": "sub",
    "Mult": "mul",
    "Div": "div",
    "FloorDiv": "floordiv",
    "Mod": "mod",
    "LShift": "shl",
    "RShift": "shr",
    "Pow": "pow_i",
}
_BITS: Final = {"BitAnd": "&", "BitOr": "|", "BitXor": "^"}


def sample(kind: str) -> Any:
    """A value of a kind of number."""
    import numpy as np

    plain: dict[str, Any] = {"int": 1, "float": 1.0, "bool": True}
    return plain[kind] if kind in plain else np.dtype(kind[3:]).type(1)


def kind_of(value: Any) -> str | None:
    """The kind of a Python or NumPy number; None for anything else."""
    plain = {int: "int", float: "float", bool: "bool"}.get(type(value))
    if plain is not None:
        return plain
    dtype: Any = getattr(value, "dtype", None)
    name = getattr(dtype, "name", "")
    return f"np.{name}" if name in DTYPES and dtype.type is type(value) else None


@functools.cache
def result_kind(op: str, x: str, y: str) -> str | None:
    """The kind of `x op y`, as NumPy has it; None if it has none that is native."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return kind_of(FUNCTIONS[op](sample(x), sample(y)))
        except (TypeError, ValueError):
            return None


def uniform(cx: Frame, op: str, left: Value, right: Value) -> Value | None:
    """Operands of several kinds that make no difference to the operation: `total += x[i]`, where the total is a float
    at first and a NumPy float from then on."""
    kinds, others = left.kinds(), right.kinds()
    if not kinds or not others or not kinds | others <= _ALL or op not in FUNCTIONS:
        return None
    pairs = [(x, y) for x in kinds for y in others]
    if len(pairs) == 1:
        return None
    if any(x in NUMBERS and y in NUMBERS for x, y in pairs):
        return _either(cx, op, left, right)
    for side in (kinds, others):
        if len(side) > 1 and not (side <= {"float", "np.float64"} or side <= {"int", "np.int64"}):
            return None
    results = {result_kind(op, x, y) for x, y in pairs}
    found = results.pop() if len(results) == 1 else None
    return None if found is None else _compute(cx, op, found, left, right)


def _either(cx: Frame, op: str, left: Value, right: Value) -> Value | None:
    """Operands each of which may be Python's or NumPy's, and are computed alike: the tags decide the type."""
    kinds = left.kinds() | right.kinds()
    if kinds not in ({"float", "np.float64"}, {"int", "np.int64"}):
        return None
    plain = "float" if "float" in kinds else "int"
    if op in operators.COMPARISONS:
        found = scalar_node("bool", "np.bool")
        a, b = cx.tagged(left), cx.tagged(right)
        tag = f"wp_either(({a}).tag, ({b}).tag, WP_{plain.upper()}, -1) < 0 ? WP_NP_BOOL : WP_BOOL"
        return cx.make(found, f"wp_np_i({tag}, {payload(left)} {operators.COMPARISONS[op]} {payload(right)})")
    if op not in ("Add", "Sub", "Mult") or (plain == "int" and wide.may_be_wide(cx)):
        return None
    name = f"wp_np_either_{plain[0] if plain == 'int' else 'd'}_{_NAMES[op]}"
    found = scalar_node(plain, f"np.{'float64' if plain == 'float' else 'int64'}")
    return cx.make(found, f"{name}({cx.tagged(left)}, {cx.tagged(right)}, {cx.line})")


def binary(cx: Frame, op: str, a: Value, b: Value) -> Value | None:
    """Two numbers of known kinds, one of them NumPy's."""
    x, y = a.head().kind, b.head().kind
    if x not in _ALL or y not in _ALL:
        return None
    found = result_kind(op, x, y)
    return None if found is None else _compute(cx, op, found, a, b)


def _compute(cx: Frame, op: str, kind: str, a: Value, b: Value) -> Value | None:
    if op in operators.COMPARISONS:
        return _compared(cx, op, a, b)
    at = cx.line
    if kind == "np.float64":
        p, q = as_double(a), as_double(b)
        if op == "Pow":
            return _power(cx, a, b)
        return made_float(cx, kind, f"wp_f64_{_NAMES[op]}({p}, {q}, {at})")
    if kind == "np.float32":
        if op not in ("Add", "Sub", "Mult", "Div"):
            return None
        return made_float(cx, kind, f"wp_f32_{_NAMES[op]}({as_single(cx, a)}, {as_single(cx, b)}, {at})")
    if kind not in NUMPY_SCALARS:
        return None
    tag = numpy_tag(kind)
    p, q = _as_whole(cx, a, kind), _as_whole(cx, b, kind)
    if kind == "np.bool":
        symbol = {"Add": "|", "Mult": "&", **_BITS}.get(op)
        return None if symbol is None else made_whole(cx, kind, f"{p} {symbol} {q}")
    if op in _BITS:
        return made_whole(cx, kind, f"{p} {_BITS[op]} {q}")
    return made_whole(cx, kind, f"wp_np_{_NAMES[op]}({p}, {q}, {tag}, {at})") if op in _NAMES else None


def _power(cx: Frame, a: Value, b: Value) -> Value | None:
    """NumPy takes the C library's function for two numbers of one type, and one of its own for others."""
    from weft.plain.values import arrays

    if a.kinds() | b.kinds() <= {"np.float64", "float", "int"}:
        return made_float(cx, "np.float64", f"wp_np_pow({as_double(a)}, {as_double(b)}, {cx.line})")
    if len(a.node) > 1 or len(b.node) > 1:
        return None
    return arrays.by_numpy(cx, operator.pow, [a, b], {})


def _compared(cx: Frame, op: str, a: Value, b: Value) -> Value | None:
    """NumPy compares in the type that both are converted to; whole numbers exactly."""
    symbol = operators.COMPARISONS[op]
    kinds = a.kinds() | b.kinds()
    if not kinds & _FLOATS:
        return made_whole(cx, "np.bool", f"{payload(a)} {symbol} {payload(b)}")
    common = {result_kind("Add", x, y) for x in a.kinds() for y in b.kinds()}
    if common == {"np.float64"}:
        return made_whole(cx, "np.bool", f"{as_double(a)} {symbol} {as_double(b)}")
    if common == {"np.float32"}:
        return made_whole(cx, "np.bool", f"{as_single(cx, a)} {symbol} {as_single(cx, b)}")
    return None


def as_double(value: Value) -> str:
    return payload(value) if value.kinds() <= _FLOATS else f"(double){payload(value)}"


def as_single(cx: Frame, value: Value) -> str:
    """As numpy.float32: a Python number is rounded to it."""
    if value.kinds() == {"np.float32"}:
        return payload(value)
    return f"wp_f32_of_d({as_double(value)}, {cx.line})"


def _as_whole(cx: Frame, value: Value, kind: str) -> str:
    """As a whole number of this kind: one of Python must fit."""
    if "int" in value.kinds() and kind != "np.int64":
        return f"wp_np_fit({payload(value)}, {numpy_tag(kind)}, {cx.line})"
    return payload(value)


def made_float(cx: Frame, kind: str, code: str) -> Value:
    return cx.scalar(kind, f"wp_np_d({numpy_tag(kind)}, {code})")


def made_whole(cx: Frame, kind: str, code: str) -> Value:
    return cx.scalar(kind, f"wp_np_i({numpy_tag(kind)}, {code})")


def made(cx: Frame, kind: str, code: str) -> Value:
    return (made_float if "float" in kind else made_whole)(cx, kind, code)


def unary(cx: Frame, op: str, a: Value) -> Value | None:
    kind, at = a.head().kind, cx.line
    if kind in _FLOATS:
        code = {"USub": f"-{payload(a)}", "UAdd": payload(a), "Abs": f"__builtin_fabs({payload(a)})"}.get(op)
        return None if code is None else made_float(cx, kind, code)
    if kind == "np.bool":
        code = {"Invert": f"!{payload(a)}", "Abs": payload(a)}.get(op)
        return None if code is None else made_whole(cx, kind, code)
    p, tag = payload(a), numpy_tag(kind)
    negative = f"wp_np_sub(0, {p}, {tag}, {at})"
    code = {
        "USub": negative,
        "UAdd": p,
        "Invert": f"wp_np_wrap(~{p}, {tag})",
        "Abs": f"({p} < 0 ? {negative} : {p})",
    }[op]
    return made_whole(cx, kind, code)


def converted(cx: Frame, dtype: str, value: Value) -> str | None:
    """A number as an element of an array: the C number; None if it is none. One that does not fit deoptimises."""

    def one(x: Value) -> Value | None:
        kind, at, tag = x.head().kind, cx.line, numpy_tag(f"np.{dtype}")
        if kind not in _ALL:
            return None
        if dtype == "float64":
            return cx.scalar("float", as_double(x))
        if dtype == "float32":
            if kind in NUMPY_SCALARS and kind not in _FLOATS:
                return cx.scalar("float", f"wp_f32_of_i({payload(x)})")
            return cx.scalar("float", as_single(cx, x))
        if dtype == "bool":
            return cx.scalar("int", f"{payload(x)} != 0")
        if kind in _FLOATS:
            return cx.scalar("int", f"wp_np_trunc({payload(x)}, {tag}, {at})")
        return cx.scalar("int", f"wp_np_fit({payload(x)}, {tag}, {at})")

    if not value.kinds() <= _ALL:
        return None
    if dtype == "float64" and value.kinds() <= {"float", "np.float64"} and len(value.node):
        return payload(value)
    if dtype == "int64" and value.kinds() <= {"int", "np.int64"} and len(value.node):
        return payload(value)
    return cx.cases([value], one, ("element", dtype)).code


def literal(dtype: str, code: str) -> str:
    """The tagged value of an element."""
    return f"wp_np_{'d' if 'float' in dtype else 'i'}({numpy_tag('np.' + dtype)}, {code})"
