"""What follows from bounds and conditions, and what does not."""

from __future__ import annotations

import pytest

from weft.analysis.facts import Facts, extreme
from weft.ir.expr import Dim, Expr, Op, Var, integer
from weft.ir.index import Affine
from weft.ir.types import INT, PYBOOL

I, J, N, M = Var("i"), Var("j"), Var("n"), Var("m")


def op(name: str, left: Expr, right: Expr) -> Op:
    return Op(name, (left, right), PYBOOL if name in ("lt", "le", "gt", "ge", "eq", "ne") else INT)


FACTS = (
    Facts((Affine((("n", 1),), 0),), {"n": 0, "m": 1})
    .with_dim(Dim("i", integer(0), N))
    .with_dim(Dim("j", op("add", I, integer(1)), N))
)


@pytest.mark.parametrize(
    "condition, known",
    [
        (op("lt", I, N), True),
        (op("lt", I, op("sub", N, integer(1))), True),  # since j lies above i and below n
        (op("ge", N, integer(2)), True),
        (op("eq", I, J), False),
        (op("ne", I, J), True),
        (op("lt", J, I), False),
        (op("lt", I, M), None),
        (op("lt", J, integer(4)), None),
        (op("lt", op("floordiv", I, integer(2)), N), True),
        (op("lt", op("mod", M, integer(4)), integer(4)), True),
        (op("le", op("minimum", M, N), N), True),
        (op("le", op("mul", N, M), op("mul", N, M)), True),
        (Op("or", (op("ne", M, integer(1)), op("eq", M, integer(1))), PYBOOL), True),
        (Op("or", (op("lt", M, integer(5)), op("ge", M, integer(4))), PYBOOL), True),
        (Op("or", (op("lt", M, integer(5)), op("gt", M, integer(5))), PYBOOL), None),
        (Op("or", (op("eq", M, integer(5)), op("ne", M, integer(5))), PYBOOL), None),  # nothing follows from an `ne`
    ],
)
def test_decide(condition: Expr, known: bool | None) -> None:
    assert FACTS.decide(condition) is known


def test_conditions_add_facts() -> None:
    assert FACTS.with_condition(op("le", N, M)).decide(op("lt", J, M)) is True
    assert FACTS.with_condition(op("lt", M, N), holds=False).decide(op("lt", J, M)) is True
    assert FACTS.with_condition(op("lt", M, N)).decide(op("lt", J, M)) is None


def test_the_larger_of_two_is_chosen_where_it_is_known() -> None:
    upper = op("minimum", op("add", I, integer(1)), N)
    assert FACTS.chosen(op("maximum", op("sub", J, upper), integer(0))) == op("sub", J, op("add", I, integer(1)))
    assert FACTS.chosen(op("maximum", M, N)) == op("maximum", M, N)


def test_integrality() -> None:
    # 2*i < 2*n + 1 and i != n: over the integers i <= n
    facts = Facts(ranks={"i": 0, "n": 1}).with_condition(
        op("lt", op("mul", integer(2), I), op("add", op("mul", integer(2), N), integer(1)))
    )
    assert facts.decide(op("le", I, N)) is True


def test_extremes() -> None:
    facts = Facts()
    form = Affine((("i", 3),), 1)
    up, down = Dim("i", integer(2), N), Dim("i", N, integer(0), -1)
    assert extreme(form, up, facts, largest=False) == Affine((), 7)
    assert extreme(form, up, facts, largest=True) == Affine((("n", 3),), -2)
    assert extreme(form, down, facts, largest=False) == Affine((), 4)
    assert extreme(form, down, facts, largest=True) == Affine((("n", 3),), 1)


@pytest.mark.parametrize("count", range(1, 9))
def test_the_last_point_of_a_strided_range(count: int) -> None:
    facts = Facts()
    dim = Dim("i", integer(1), integer(count), 3)
    largest = extreme(Affine((("i", 1),), 0), dim, facts, largest=True)
    assert largest is not None
    if count > 1:
        from weft.passes.simplifying.algebra import Algebra

        assert Algebra().simplify(facts.atoms.expression(largest), facts) == integer(max(range(1, count, 3)))


def test_derived_symbols() -> None:
    source = """
program f(a, m):
  size n = a.shape[0]
  symbol m = argument m
  symbol half = n // 2
  symbol least = minimum(n, m)
  param a: f64[n] C
  output #0 = None

  return #0
"""
    from weft.analysis.facts import entry_facts
    from weft.ir import text

    facts = entry_facts(text.parse(source))
    half, least = Var("half"), Var("least")
    assert facts.decide(op("le", half, N)) is True
    assert facts.decide(op("ge", half, integer(0))) is True
    assert facts.decide(op("le", least, Var("m"))) is True
    assert facts.decide(op("lt", half, N)) is None
