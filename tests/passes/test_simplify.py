"""Simplify: every rule keeps the interpreter's answer, and the forms the other passes look for come out."""

from __future__ import annotations

import numpy as np
import pytest

from weft.analysis.facts import Facts
from weft.ir.expr import Cast, Const, Dim, Expr, Op, Read, Reduce, Var, integer
from weft.ir.types import F32, F64, FLOAT, I64, INT, PYBOOL, DType, ScalarType
from weft.passes import simplify
from weft.passes.simplifying.algebra import Algebra

N = Var("n")
I = Var("i")
X = Read("x", (), F64)
K = Read("k", (), I64)
FACTS = Facts(ranks={"n": 0}).with_dim(Dim("i", integer(0), N))


def op(name: str, *args: Expr, of: ScalarType | None = None) -> Op:
    return Op(name, args, args[0].type if of is None else of)


def f64(value: float) -> Const:
    return Const(value, F64)


def simple(expr: Expr, strict: bool = False) -> Expr:
    return Algebra(strict).simplify(expr, FACTS)


TOTAL = Reduce("add", (Dim("j", integer(0), N),), Read("a", (Var("j"),), F64))

SAME = [
    (op("sub", op("add", op("mul", I, integer(2)), integer(1)), I), op("add", I, integer(1))),
    (op("add", integer(2), integer(3)), integer(5)),
    (op("add", K, Const(0, I64)), K),
    (op("mul", K, Const(1, I64)), K),
    (op("mul", X, f64(1.0)), X),
    (op("sub", X, f64(0.0)), X),
    (op("add", X, f64(-0.0)), X),
    (op("add", f64(0.0), TOTAL), TOTAL),
    (op("add", TOTAL, f64(0.0)), TOTAL),
    (op("truediv", X, f64(4.0)), op("mul", X, f64(0.25))),
    (op("pow", X, f64(2.0)), op("mul", X, X)),
    (op("pow", X, f64(1.0)), X),
    (op("pow", X, f64(0.0)), f64(1.0)),
    (op("pow", X, f64(-1.0)), op("truediv", f64(1.0), X)),
    (op("neg", op("neg", X)), X),
    (op("lt", I, N, of=PYBOOL), Const(True, PYBOOL)),
    (op("le", integer(0), I, of=PYBOOL), Const(True, PYBOOL)),
    (op("lt", I, op("sub", I, integer(1)), of=PYBOOL), Const(False, PYBOOL)),
    (op("select", op("lt", I, integer(0), of=PYBOOL), op("add", I, N), I, of=INT), I),
    (op("minimum", I, N), I),
    (op("floordiv", op("add", op("mul", integer(2), N), integer(1)), integer(2)), N),
    (op("mod", op("add", op("mul", integer(4), N), integer(3)), integer(2)), integer(1)),
    (op("not", op("lt", K, Const(3, I64), of=PYBOOL)), op("ge", K, Const(3, I64), of=PYBOOL)),
    (op("and", Const(True, PYBOOL), op("lt", X, X, of=PYBOOL)), op("lt", X, X, of=PYBOOL)),
    (Cast(Const(2, INT), F64), f64(2.0)),
    (Cast(Cast(Read("s", (), F32), F64), F32), Read("s", (), F32)),
    (Reduce("add", (Dim("j", integer(3), integer(3)),), X), f64(0.0)),
    (Reduce("maximum", (Dim("j", N, op("add", N, integer(1))),), X), X),
    (Reduce("add", (Dim("j", integer(2), integer(3)),), K), K),
]


@pytest.mark.parametrize("before, after", SAME)
def test_rule(before: Expr, after: Expr) -> None:
    assert simple(before) == after


UNTOUCHED = [
    op("add", X, f64(0.0)),  # -0.0 + 0.0 is 0.0
    op("mul", X, f64(0.0)),  # NaN, infinity, -0.0
    op("sub", X, X),
    op("truediv", X, f64(3.0)),
    op("truediv", X, f64(5e-324)),
    op("pow", X, f64(0.5)),  # differs from sqrt at -0.0 and -inf
    op("add", integer(2**62), op("mul", integer(2**62), integer(2))),  # would leave 64 bits
    op("lt", I, integer(3), of=PYBOOL),
    op("not", op("lt", X, f64(1.0), of=PYBOOL)),  # NaN
    Cast(Cast(Read("k", (), I64), F64), I64),  # 2**53 + 1 is no float
    op("eq", X, X, of=PYBOOL),
]


@pytest.mark.parametrize("expr", UNTOUCHED)
def test_not_a_rule(expr: Expr) -> None:
    assert simple(expr) == expr


def test_strict_keeps_nested_sums() -> None:
    nested = Reduce("add", (Dim("p", integer(0), N),), Reduce("add", (Dim("q", integer(0), N),), X))
    assert simple(nested, strict=True) == nested
    merged = simple(nested)
    assert isinstance(merged, Reduce) and [dim.var for dim in merged.dims] == ["p", "q"]


def test_a_sum_of_one_term_starts_from_positive_zero() -> None:
    one = Reduce("add", (Dim("j", integer(0), integer(1)),), X)
    assert simple(one) == op("add", f64(0.0), X)


def test_known_conditions_inside_branches() -> None:
    condition = op("lt", X, f64(0.0), of=PYBOOL)
    inner = op("select", condition, f64(1.0), f64(2.0), of=F64)
    outer = op("select", condition, inner, inner, of=F64)
    assert simple(outer) == inner


def test_weak_types_survive() -> None:
    weak = op("mul", Read("p", (), FLOAT), Const(1.0, F64), of=F64)
    assert simple(weak).type == F64
    assert simple(Cast(Const(300, INT), ScalarType(DType.U8))).type == ScalarType(DType.U8)


PROGRAM = """
program f(a, n):
  size a_0 = a.shape[0]
  symbol n = argument n
  param a: f64[a_0] C
  local s: f64
  local t: f64
  local w: f64[a_0]
  local dead: f64[a_0]
  output #0 = scalar s

  s = 7.0_f64
  s = 0.0_f64
  t = 1.0_f64
  alloc dead
  dead[j] = a[j]   for j: 0 <= j < a_0
  alloc w
  w[j2] = a[j2] + 1.0_f64   for j2: 0 <= j2 < a_0, one: 3 <= one < 4
  for i in 0 .. a_0:
    check i < a_0 else IndexError "index"
    s = s + w[select(i < 0, i + a_0, i)]
    t = t + 1.0_f64
    if i >= a_0:
      s = 0.0_f64
  for z in 5 .. 5:
    s = s * 2.0_f64
  for y in 5 .. 6:
    s = s + float(y)
  return #0
"""


def test_program(preserved, body) -> None:
    calls = [{"a": np.arange(4.0), "n": 2}, {"a": np.zeros(0), "n": 0}]
    after = preserved(PROGRAM.replace("float(y)", "f64(y)"), simplify.run, calls=calls)
    assert body(after).split("\n") == [
        "s = 0.0_f64",
        "  alloc w",
        "  w[j2] = a[j2] + 1.0_f64   for j2: 0 <= j2 < a_0",
        "  for i in 0 .. a_0:",
        "    s = s + w[i]",
        "  s = s + 5.0_f64",
        "  return #0",
    ]
    assert {buffer.name for buffer in after.buffers} == {"a", "s", "w"}


def test_an_exit_tells_what_holds_behind_it(preserved, body) -> None:
    source = """
program f(n):
  symbol n = argument n
  local s: int
  output #0 = scalar s

  s = 0
  if n < 2:
    return #0
  if n > 1:
    s = n
  return #0
"""
    after = preserved(source, simplify.run, calls=[{"n": 1}, {"n": 5}])
    assert body(after).endswith("s = n\n  return #0")
    assert "n > 1" not in body(after)


EXTREMES = """
program f(a, n):
  symbol n = argument n
  size a_0 = a.shape[0]
  param a: {kind}[a_0] C
  local k: {kind}
  output #0 = scalar k
  guard 2 <= a_0 else ValueError "a"

  k = a[0]
  for i in 1 .. a_0:
    if {test}:
      {update}
  return #0
"""


@pytest.mark.parametrize(
    ("test", "update", "found"),
    [
        ("a[i] > k", "k = a[i]", "k = maximum(k, a[i])"),
        ("k > a[i]", "k = a[i]", "k = minimum(k, a[i])"),
        ("a[i] <= a[i - 1]", "a[i - 1] = a[i]", "a[i - 1] = minimum(a[i - 1], a[i])"),
        ("a[0] >= a[i]", "a[i] = a[0]", "a[i] = maximum(a[i], a[0])"),
        ("a[i] > k", "k = a[0]", "if"),
        ("a[i] == k", "k = a[i]", "if"),
        ("a[int(minimum(a[i], 1_i64))] < k", "k = a[int(minimum(a[i], 1_i64))]", "k = minimum(k, a["),
        ("k < a[int(minimum(a[i], 1_i64))]", "a[int(minimum(a[i], 1_i64))] = k", "if"),
    ],
)
def test_comparing_and_assigning_integers(preserved, body, test: str, update: str, found: str) -> None:
    source = EXTREMES.format(kind="i64", test=test, update=update)
    calls = [{"a": np.array(values), "n": 2} for values in ([3, 1, 4, 1, 5], [1, 1], [2, 0, 1])]
    assert found in body(preserved(source, simplify.run, calls=calls))


def test_comparing_numbers_that_may_be_nan_stays_a_branch(preserved, body) -> None:
    source = EXTREMES.format(kind="f64", test="a[i] > k", update="k = a[i]")
    calls = [{"a": np.array(values), "n": 2} for values in ([1.0, np.nan, 2.0], [np.nan, 1.0])]
    assert "if a[i] > k" in body(preserved(source, simplify.run, calls=calls))
