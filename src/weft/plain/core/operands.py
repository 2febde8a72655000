"""Operands in order: where one of them needs statements, what Python evaluates before it goes into temporaries.

f(a(), [x for x in xs], b())   -->   _t1 = f; _t2 = a(); <_t3 from the loop>; _t1(_t2, _t3, b())
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from weft.plain.core.build import is_atom
from weft.plain.core.frame import Frame, is_silent

Keep = Callable[[ast.expr, list[ast.stmt]], ast.expr]


@dataclass
class Operand:
    """A reduced operand: statements, then the expression; `keep` puts it into a temporary (by default, its value)."""

    value: ast.expr
    out: list[ast.stmt] = field(default_factory=list)
    keep: Keep | None = None


def in_order(frame: Frame, operands: list[Operand], out: list[ast.stmt], atoms: bool = False) -> list[ast.expr]:
    """Emit the operands' statements and give their expressions; with `atoms`, names and constants only."""
    needs = [i for i, operand in enumerate(operands) if _comes_before(operand, atoms)]
    last = needs[-1] if needs else -1
    found: list[ast.expr] = []
    for i, operand in enumerate(operands):
        out.extend(operand.out)
        later = [statement for other in operands[i + 1 : last + 1] for statement in other.out]
        moved = i < last and not frame.is_stable(operand.value, later)
        if moved or (atoms and not is_atom(operand.value)):
            operand.value = (operand.keep or frame.keep)(operand.value, out)
        found.append(operand.value)
    return found


def _comes_before(operand: Operand, atoms: bool) -> bool:
    return not is_silent(operand.out) or (atoms and not is_atom(operand.value))
