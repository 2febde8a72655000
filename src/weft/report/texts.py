"""Conditions and sizes as a user would write them.  In: expressions of a program; out: text in terms of its arguments.

    a_0 - 2 >= 0  -->  a.shape[0] >= 2
    float(a_0) * 8.0 * float(a_1)  -->  8 * a.shape[0] * a.shape[1]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.ir.expr import Cast, Const, Expr, Limit, Op, Var
from weft.ir.index import Affine, affine
from weft.ir.ops import COMPARISONS
from weft.ir.program import Derived, Program, SizeOf, Symbol
from weft.ir.text import show_expr
from weft.ir.types import DType
from weft.limits import LIMIT

_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def condition_text(program: Program, condition: Expr) -> str:
    """A condition as the user would write it: a_0 - 2 >= 0  -->  a.shape[0] >= 2."""
    while isinstance(condition, Cast) and condition.value.type.dtype is DType.BOOL:
        condition = condition.value
    if isinstance(condition, Op) and condition.op in ("and", "or"):
        return f" {condition.op} ".join(condition_text(program, argument) for argument in condition.args)
    if isinstance(condition, Op) and condition.op in COMPARISONS:
        form = _difference(condition)
        if form is not None:
            return _comparison_text(program, form, condition.op)
    return show_expr(condition).removeprefix("(").removesuffix(" as bool)")


def guard_texts(program: Program, conditions: Sequence[Expr]) -> list[str]:
    """The conditions as text; of several bounds on one thing only the strongest."""
    texts: list[str] = []
    bounds: dict[tuple[tuple[str, int], ...], int] = {}
    for condition in conditions:
        stripped = condition.value if isinstance(condition, Cast) else condition
        form = _difference(stripped) if isinstance(stripped, Op) and stripped.op in _AT_LEAST else None
        if form is None or not isinstance(stripped, Op):
            texts.append(condition_text(program, condition))
            continue
        sign, shift = _AT_LEAST[stripped.op]
        form = form.scaled(sign)
        bounds[form.terms] = min(form.constant - shift, bounds.get(form.terms, form.constant - shift))
    return [_comparison_text(program, Affine(terms, constant), "ge") for terms, constant in bounds.items()] + texts


# form <op> 0 as sign * form - shift >= 0
_AT_LEAST = {"ge": (1, 0), "gt": (1, 1), "le": (-1, 0), "lt": (-1, 1)}


def _difference(comparison: Op) -> Affine | None:
    """left - right of a comparison of index expressions."""
    if len(comparison.args) != 2:
        return None
    left, right = (affine(argument) for argument in comparison.args)
    return None if left is None or right is None else left - right


def _comparison_text(program: Program, form: Affine, op: str) -> str:
    """form <op> 0 with every term on the side where it is positive."""
    if op == "ge" and form.constant == -1 and any(coefficient < 0 for _, coefficient in form.terms):
        form, op = Affine(form.terms, 0), "gt"  # a >= b + 1 is a > b
    names = {symbol.name: symbol_text(symbol) for symbol in program.symbols}
    sides: list[list[str]] = [[], []]
    for name, coefficient in form.terms:
        text = names.get(name, name)
        sides[coefficient < 0].append(text if abs(coefficient) == 1 else f"{abs(coefficient)} * {text}")
    if form.constant:
        sides[form.constant < 0].append(str(abs(form.constant)))
    left, right = (" + ".join(side) or "0" for side in sides)
    return f"{left} {_SIGNS[op]} {right}"


def symbol_text(symbol: Symbol) -> str:
    if isinstance(symbol.source, SizeOf):
        return f"{symbol.source.buffer}.shape[{symbol.source.axis}]"
    if isinstance(symbol.source, Derived):
        return show_expr(symbol.source.value)
    return symbol.source.name


# --- sizes ----------------------------------------------------------------------------------------------------------

#: Texts of factors, in order, and the number in front of them; the empty product is a plain number.
Polynomial = dict[tuple[str, ...], float]


def polynomial(program: Program, size: Expr, limits: Mapping[str, float] | None = None) -> Polynomial:
    """An estimate or a number of bytes, multiplied out."""
    return _polynomial(size, {symbol.name: symbol_text(symbol) for symbol in program.symbols}, limits or {})


def size_text(program: Program, size: Expr, limits: Mapping[str, float] | None = None) -> str:
    """The same as text: 8 * a.shape[0]**2 + 12."""
    return polynomial_text(polynomial(program, size, limits))


def _polynomial(size: Expr, names: Mapping[str, str], limits: Mapping[str, float]) -> Polynomial:
    if isinstance(size, Cast):
        return _polynomial(size.value, names, limits)
    if isinstance(size, Const):
        return {(): float(size.value.real)}
    if isinstance(size, Limit) and size.name == "threads":
        return {("threads",): 1.0}
    if isinstance(size, Limit):
        return {(): limits.get(size.name, LIMIT[size.name].default)}
    if isinstance(size, Op) and size.op in ("add", "sub", "mul"):
        left, right = (_polynomial(part, names, limits) for part in size.args)
        return _combined(left, right, size.op)
    return {(_atom_text(size, names, limits),): 1.0}


def _combined(left: Polynomial, right: Polynomial, op: str) -> Polynomial:
    found: Polynomial = {} if op == "mul" else dict(left)
    if op == "mul":
        for one, first in left.items():
            for other, second in right.items():
                key = tuple(sorted((*one, *other)))
                found[key] = found.get(key, 0.0) + first * second
    else:
        for key, number in right.items():
            found[key] = found.get(key, 0.0) + (number if op == "add" else -number)
    return {key: number for key, number in found.items() if number != 0.0}


def polynomial_text(of: Polynomial) -> str:
    """Terms of many factors first; a term to be subtracted behind the others."""
    terms = sorted(of.items(), key=lambda term: (term[1] < 0.0, -len(term[0]), term[0]))
    text = ""
    for factors, number in terms:
        sign = (" - " if number < 0.0 else " + ") if text else ("-" if number < 0.0 else "")
        text += sign + _term_text(factors, abs(number))
    return text or "0"


def _term_text(factors: tuple[str, ...], number: float) -> str:
    powers = [(text, factors.count(text)) for text in dict.fromkeys(factors)]
    texts = [text if count == 1 else f"{text}**{count}" for text, count in powers]
    return " * ".join(texts if number == 1.0 and texts else [_number_text(number), *texts])


def _atom_text(part: Expr, names: Mapping[str, str], limits: Mapping[str, float]) -> str:
    if isinstance(part, Var):
        return names.get(part.name, part.name)
    if isinstance(part, Op) and part.op in ("minimum", "maximum"):
        inside = ", ".join(polynomial_text(_polynomial(argument, names, limits)) for argument in part.args)
        return f"{'min' if part.op == 'minimum' else 'max'}({inside})"
    if isinstance(part, Op) and part.op in ("floordiv", "truediv"):
        left, right = (polynomial_text(_polynomial(argument, names, limits)) for argument in part.args)
        sides = [f"({side})" if " " in side else side for side in (left, right)]
        return f"({(' // ' if part.op == 'floordiv' else ' / ').join(sides)})"
    return show_expr(part)


def _number_text(number: float) -> str:
    return f"{number:.0f}" if number == int(number) and abs(number) < 1e15 else f"{number:.3g}"


def bytes_text(count: float) -> str:
    """A number of bytes in a unit that suits it."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"
