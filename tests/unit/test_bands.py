"""What is certain and what is possible about two accesses: meetings that must happen, orders that may be reversed."""

from __future__ import annotations

import pytest

from weft.analysis.dependence import LoopContext, certainly_meet, directions
from weft.analysis.effects import Access
from weft.analysis.facts import Facts
from weft.errors import Span, assigned_name, attach_source, spelt
from weft.ir import domain
from weft.ir.expr import Const, Dim, Expr, Op, Var, integer
from weft.ir.index import add
from weft.ir.types import INT, PYBOOL

N = Var("n")
I, J = Var("i"), Var("j")
LOOP = Dim("i", integer(0), N)
INNER = Dim("j", integer(0), N)
ONCE = Dim("i", integer(0), integer(1))


def plus(expr: Expr, number: int) -> Expr:
    return add(expr, integer(number))


def access(*index: Expr, dims: tuple[Dim, ...] = ()) -> Access:
    return Access("a", index, dims)


@pytest.mark.parametrize(
    ("left", "right", "dim", "expected"),
    [
        ((I,), (plus(I, -1),), LOOP, True),
        ((I,), (I,), LOOP, False),
        ((integer(0),), (integer(0),), LOOP, True),
        ((integer(0),), (integer(1),), LOOP, False),
        ((I,), (plus(I, 1),), Dim("i", integer(0), N, 2), False),  # every second iteration
        ((I,), (plus(I, 2),), Dim("i", integer(0), N, 2), True),
        ((I,), (plus(I, 8),), Dim("i", integer(0), integer(8)), False),  # too few iterations
        ((I,), (plus(I, 7),), Dim("i", integer(0), integer(8)), True),
        ((I,), (plus(I, 1000),), LOOP, False),  # nobody knows that there are so many
        ((I, J), (plus(I, -1), J), LOOP, True),
        ((J,), (J,), LOOP, True),
        ((I, integer(0)), (plus(I, -1), integer(1)), LOOP, False),
        ((Op("mul", (I, N), INT),), (Op("mul", (I, N), INT),), LOOP, False),
    ],
)
def test_meetings_that_are_certain(left: tuple[Expr, ...], right: tuple[Expr, ...], dim: Dim, expected: bool) -> None:
    context = LoopContext(dim, Facts())
    assert certainly_meet(access(*left), access(*right), context) is expected
    # What an assertion takes away is never something certain.
    believed = directions(access(*left), access(*right), LoopContext(dim, Facts(), asserted=True))
    assert (believed.earlier or believed.later) is expected


def test_scalars_are_never_taken_for_independent() -> None:
    found = directions(access(), access(), LoopContext(LOOP, Facts(), asserted=True))
    assert found.earlier and found.later


def points(*index: Expr, conditions: tuple[Expr, ...] = (), dims: tuple[Dim, ...] = (LOOP, INNER)) -> domain.Access:
    return domain.Access(dims, index, conditions)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (points(I, J), points(J, I), True),
        (points(I, J), points(integer(2), J), True),
        (points(I, J), points(I, plus(J, 1)), False),
        (points(I, I), points(J, J), True),
        (points(I, conditions=(Op("gt", (I, integer(3)), PYBOOL),)), points(plus(I, 1)), True),
        (points(I, conditions=(Op("lt", (I, integer(0)), PYBOOL),)), points(plus(I, 1)), False),
        (points(I, conditions=(Op("gt", (I, N), PYBOOL),)), points(plus(I, 1)), False),
        (points(I, conditions=(Const(True, PYBOOL),)), points(Op("mul", (I, I), INT)), False),
        (points(I), points(plus(I, 1), dims=(ONCE,)), True),
        (
            points(I, dims=(ONCE,)),
            points(I, dims=(ONCE,)),
            False,
        ),
    ],
)
def test_points_that_surely_meet(first: domain.Access, second: domain.Access, expected: bool) -> None:
    assert domain.surely_meet(first, second, "i", 16) is expected


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (points(plus(I, -1), plus(J, 1)), True),
        (points(plus(I, -1), J), False),
        (points(plus(I, -1), plus(J, -1)), False),
        (points(J, I), True),
        (points(I, Op("mul", (J, J), INT)), False),  # the first position says that i is the same
    ],
)
def test_orders_that_permuting_reverses(second: domain.Access, expected: bool) -> None:
    first = points(I, J)
    found = domain.opposed(first, second, LOOP, INNER) or domain.opposed(second, first, LOOP, INNER)
    assert found is expected


def test_names_as_the_source_spells_them() -> None:
    attach_source("<spelt>", "    out[i] = a_2[i] + 1\nrows.append(i)\nif x:\n")
    first, second, third = (Span("<spelt>", line, 0, line, 0) for line in (1, 2, 3))
    assert spelt("`out_3[i_2]`, a_2, i_block", first) == "`out[i]`, a_2, i_block"
    assert assigned_name(first, "?") == "out" and assigned_name(second, "?") == "rows"
    assert assigned_name(third, "?") == "?"
