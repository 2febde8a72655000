"""Intervals of integer expressions against all values of small domains, and what follows for overflow."""

from __future__ import annotations

import itertools

import pytest

from weft.analysis.ranges import INDEX, WORD, Interval, dimension, environment, fits, interval
from weft.ir.expr import Cast, Const, Dim, Op, Read, Var
from weft.ir.scalar import IntegerOverflow, apply
from weft.ir.text import parse
from weft.ir.types import BOOL, INT, DType, ScalarType

X, Y = Var("x"), Var("y")
BOUNDS = [Interval(-3, 2), Interval(0, 5), Interval(2, 4), Interval(-6, -2), Interval(3, 3)]
BINARY = [
    "add",
    "sub",
    "mul",
    "floordiv",
    "mod",
    "minimum",
    "maximum",
    "bitand",
    "bitor",
    "bitxor",
    "pow",
    "shl",
    "shr",
]


@pytest.mark.parametrize("op", BINARY)
def test_every_value_lies_in_the_interval(op):
    for a, b in itertools.product(BOUNDS, BOUNDS):
        found = interval(Op(op, (X, Y), INT), {"x": a, "y": b})
        for x, y in itertools.product(range(a.low, a.high + 1), range(b.low, b.high + 1)):
            assert found.low <= apply(op, (x, y), INT) <= found.high, (op, x, y, found)


@pytest.mark.parametrize("op", ["neg", "abs", "invert", "sign"])
def test_unary_operations(op):
    for a in BOUNDS:
        found = interval(Op(op, (X,), INT), {"x": a})
        values = [apply(op, (x,), INT) for x in range(a.low, a.high + 1)]
        assert found.low <= min(values) and max(values) <= found.high


@pytest.mark.parametrize("op", ["add", "sub", "mul", "pow", "shl", "floordiv", "gcd", "lcm"])
def test_what_fits_never_overflows(op):
    edges = [-(2**63), -(2**62), -(2**31), -1, 0, 1, 2, 40, 2**31, 2**62, 2**63 - 1]
    proven = 0
    for low, high in itertools.combinations(edges, 2):
        for other in edges:
            env = {"x": Interval(low, high), "y": Interval(other, other)}
            if not fits(Op(op, (X, Y), INT), env):
                continue
            proven += 1
            for x in (low, high, (low + high) // 2):
                try:
                    apply(op, (x, other), INT)
                except IntegerOverflow:
                    pytest.fail(f"{op}({x}, {other}) was proven to fit")
    assert proven or op in ("gcd", "lcm")


def test_indices_and_narrow_elements_fit():
    element = Cast(Read("k", (X,), ScalarType(DType.I32)), INT)
    assert fits(Op("mul", (element, element), INT), {})
    assert fits(Op("add", (Op("mul", (Const(3, INT), X), INT), Y), INT), {})
    assert not fits(Op("mul", (X, Y), INT), {})
    assert not fits(Op("add", (Read("s", (), INT), Const(1, INT)), INT), {})
    assert interval(Cast(Op("lt", (X, Y), BOOL), INT), {}) == Interval(0, 1)


def test_dimensions():
    assert dimension(Dim("i", Const(2, INT), Const(9, INT), 3), {}) == {"i": Interval(2, 8)}
    assert dimension(Dim("i", Const(9, INT), Const(2, INT), -1), {}) == {"i": Interval(3, 9)}
    unknown = Read("m", (), INT)
    inside = dimension(Dim("i", Const(0, INT), unknown), {})
    assert fits(Op("add", (Var("i"), Const(1, INT)), INT), inside)  # i + 1 <= the bound, whatever it is


def test_scalars_lie_in_what_is_assigned_to_them():
    program = parse("""
program f(n):
  symbol n = argument n
  local small: int
  local sum: int
  local derived: int
  output #0 = scalar sum
  small = 3
  sum = 0
  for i in 0 .. n:
    small = i % 7
    derived = small * 2
    sum = sum + derived
  return #0
""")
    known = environment(program)
    assert known["small"] == Interval(0, 6) and known["derived"] == Interval(0, 12)
    assert known["sum"] == WORD and known["n"] == INDEX


def test_counters_stay_where_a_machine_can_count():
    program = parse("""
program f(n):
  symbol n = argument n
  local up: int
  local both: int
  local far: int
  local leap: int
  output #0 = scalar up
  guard n - 3 >= 0 else ValueError "small"
  up = 0
  both = n
  far = 4611686018427387904
  leap = 0
  for i in 0 .. n:
    up = up + 1
    both = both - 2
    both = 1 + both
    far = far + 1
    leap = leap + 1000
  return #0
""")
    known = environment(program)
    assert known["n"].low == 3
    assert known["up"].low == 0 and known["up"].high < 2**60
    assert -(2**60) < known["both"].low and known["both"].high < 2**60
    assert known["far"] == known["leap"] == WORD  # one begins too near the end, the other takes too long steps


@pytest.mark.parametrize("low, high, expected", [(0, 9, (0, 9)), (-9, -1, (7, 15)), (-1, 1, (-1, 17))])
def test_a_choice_that_is_always_the_same_is_one_of_its_values(low, high, expected):
    wrapped = Op("select", (Op("lt", (X, Const(0, INT)), BOOL), Op("add", (X, Const(16, INT)), INT), X), INT)
    assert interval(wrapped, {"x": Interval(low, high)}) == Interval(*expected)


def test_narrow_counters_may_wrap():
    program = parse(
        "program f(n):\n  symbol n = argument n\n  local k: i32\n  output #0 = None\n\n"
        "  k = 0_i32\n  for i in 0 .. n:\n    k = k + 1_i32\n  return #0\n"
    )
    assert environment(program)["k"] == Interval(-(2**31), 2**31 - 1)
