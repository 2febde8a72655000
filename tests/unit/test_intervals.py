"""Interval arithmetic over index expressions, and the cost estimates built on extents."""

from __future__ import annotations

from weft.analysis import cost
from weft.analysis.intervals import box, never_meet, ranges_of
from weft.ir import index
from weft.ir.expr import Const, Dim, Expr, Read, Var, integer
from weft.ir.types import INT

N, I, J = Var("n"), Var("i"), Var("j")
TRIANGLE = (Dim("i", integer(0), N), Dim("j", integer(0), I))


def plus(expr: Expr, amount: int) -> Expr:
    return index.add(expr, integer(amount))


def test_box_of_a_triangle() -> None:
    boxes = box(TRIANGLE)
    assert boxes is not None
    assert boxes["i"].size == N and boxes["j"].lo == integer(0)
    size = boxes["j"].size
    assert not isinstance(size, Const) and "n" in repr(size)


def test_box_of_what_memory_decides_is_unknown() -> None:
    row = Dim("j", Read("ptr", (I,), INT), Read("ptr", (plus(I, 1),), INT))
    assert box((Dim("i", integer(0), N), row)) is None
    assert ranges_of((row,)).unknown == {"j"}


def test_never_meet() -> None:
    inner = ranges_of((Dim("i", integer(1), plus(N, -1)),))
    assert never_meet((I,), inner, (integer(0),), inner)
    assert never_meet((I,), inner, (plus(N, -1),), inner)
    assert not never_meet((I,), inner, (integer(1),), inner)
    assert not never_meet((I,), inner, (plus(I, 1),), inner)  # other points of the same range
    below = ranges_of((Dim("i", plus(Var("k"), 1), N),))
    assert never_meet((I,), below, (Var("k"),), below)
    down = ranges_of((Dim("i", plus(N, -1), integer(0), -1),))
    assert never_meet((I,), down, (integer(0),), down)


def test_extents() -> None:
    assert cost.constant_extent(Dim("i", integer(0), integer(7), 3)) == 3
    assert cost.constant_extent(Dim("i", integer(6), integer(-1), -2)) == 4
    assert cost.constant_extent(Dim("i", integer(5), integer(2))) == 0
    assert cost.constant_extent(Dim("i", integer(0), N)) is None
    assert cost.constant_extent(Dim("i", N, plus(N, 4))) == 4
    assert cost.extent(Dim("i", integer(1), plus(N, -1))) == plus(N, -2)


def test_work_names_no_inner_variable() -> None:
    from weft.ir.walk import free_vars

    assert free_vars(cost.points(TRIANGLE)) == {"n"}
