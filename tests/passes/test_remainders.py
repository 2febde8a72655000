"""Remainders by a size, as in periodic boundaries: near the range of remainders no division is left, and every value is
that of Python's %.
"""

from __future__ import annotations

import pytest

from weft.analysis.facts import Facts
from weft.ir.expr import Const, Dim, Expr, Op, Var, integer
from weft.ir.index import add, mul
from weft.ir.types import INT
from weft.ir.walk import subexpressions, substitute
from weft.passes.simplifying.algebra import Algebra

N, I, J = Var("n"), Var("i"), Var("j")
FACTS = Facts(ranks={"n": 0}).with_dim(Dim("i", integer(0), N)).with_dim(Dim("j", integer(-1), integer(2)))
ALGEBRA = Algebra()


def _value(expr: Expr, **values: int) -> object:
    folded = ALGEBRA.simplify(substitute(expr, {name: integer(value) for name, value in values.items()}), Facts())
    assert isinstance(folded, Const)
    return folded.value


NEAR = [I, add(I, integer(1)), add(I, integer(-1)), add(I, J), add(add(I, N), integer(-1)), add(I, mul(N, integer(-1)))]
FAR = [add(I, integer(2)), mul(I, integer(3)), add(I, mul(N, integer(2))), add(I, integer(-2))]


@pytest.mark.parametrize("value", [*NEAR, *FAR])
def test_the_value_is_that_of_the_remainder(value: Expr) -> None:
    simplified = ALGEBRA.simplify(Op("mod", (value, N), INT), FACTS)
    for n in range(1, 6):
        for i in range(n):
            for j in (-1, 0, 1):
                place = {"i": i, "n": n, "j": j}
                whole = _value(value, **place)
                assert isinstance(whole, int)
                assert _value(simplified, **place) == whole % n


@pytest.mark.parametrize("value", NEAR)
def test_near_the_range_no_division_is_left(value: Expr) -> None:
    simplified = ALGEBRA.simplify(Op("mod", (value, N), INT), FACTS)
    assert not any(isinstance(part, Op) and part.op == "mod" for part in subexpressions(simplified))


def test_without_a_positive_divisor_the_remainder_stays() -> None:
    unknown = Facts(ranks={"n": 0, "i": 1})
    expr = Op("mod", (I, N), INT)
    assert ALGEBRA.simplify(expr, unknown) == expr
