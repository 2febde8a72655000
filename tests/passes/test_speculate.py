"""Tests made along with the work, extremes kept by comparison, counters, and the search in blocks: what the passes make
of programs written as text, with the interpreter as the judge, also where a test fails on the way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft.analysis.facts import conjuncts
from weft.ir import text
from weft.ir.expr import Const, Dim, Expr, Op, Read, Var
from weft.ir.program import Check, If, Loop
from weft.ir.types import BOOL, F64, INT
from weft.ir.verify import VerifyError, verify
from weft.ir.walk import walk
from weft.passes import checks, counters, forward, raise_loops, search, simplify
from weft.passes.raising.beforehand import _by_dimensions, _looked_at, strongest
from weft.passes.raising.doubt import Doubt

FRESH = """
program f(x):
  size n = x.shape[0]
  param x: f64[n] C
  local s: f64
  local t: f64
  result r: f64[n]
  output #0 = tuple(array r, scalar s)

  s = 0.0_f64
  alloc r
"""
VISIBLE = """
program f(x, y):
  size n = x.shape[0]
  param x: f64[n] C
  param y: f64[n] C
  local s: f64
  local t: f64
  output #0 = scalar s

  s = 0.0_f64
"""
TAIL = "  return #0\n"
PASSES = (simplify.run, counters.run, checks.run, raise_loops.run, simplify.run, forward.run, simplify.run)


def calls(names: str) -> list[dict[str, Any]]:
    out = []
    for place, bad in ((0, 1.0), (0, -1.0), (3, -1.0), (6, -1.0), (2, np.nan), (5, 0.0)):
        x = np.linspace(0.5, 2.0, 7)
        x[place] = bad
        out.append({"x": x, "y": np.arange(7.0)} if "y" in names else {"x": x})
    return [*out, {name: np.zeros(0) for name in names}]


def loops_and_checks(program: Any) -> tuple[int, int]:
    nodes = list(walk(program.body))
    return sum(isinstance(n, Loop) for n in nodes), sum(isinstance(n, Check) for n in nodes)


def test_without_visible_effects_the_call_is_handed_back(preserved) -> None:
    source = "  for i in 0 .. n:\n    t = x[i] * 2.0_f64\n    check t > 0.1_f64 else ValueError\n    r[i] = t\n"
    after = preserved(FRESH + source + TAIL, *PASSES, calls=calls("x"), exact=False)
    assert loops_and_checks(after) == (0, 1)
    assert next(node for node in walk(after.body) if isinstance(node, Check)).exception == "GuardFailed"


def test_a_test_in_doubt_is_made_again_exactly(preserved) -> None:
    work = "    t = exp(x[i])\n    check t > 1.0_f64 else ValueError\n    r[i] = t\n    s = s + t\n"
    source = "  for i in 0 .. n:\n" + work
    after = preserved(FRESH + source + TAIL, *PASSES, calls=calls("x"), exact=False)
    assert loops_and_checks(after) == (1, 1) and "5.684341886080802e-14" in text.show(after)


def test_visible_effects_are_undone(preserved) -> None:
    work = "    t = exp(x[i])\n    y[i] = t\n    check t > 1.0_f64 else ValueError\n    s = s + t\n"
    source = "  for i in 0 .. n:\n" + work
    after = preserved(VISIBLE + source + TAIL, *PASSES, calls=calls("xy"), exact=False)
    assert loops_and_checks(after) == (1, 1)  # the loop as it was, behind a test that has failed
    branch = next(node for node in after.body if isinstance(node, If))
    assert any(isinstance(node, Loop) for node in branch.then)
    assert any(buffer.name == "y_before" for buffer in after.buffers)


def test_a_test_of_inputs_is_made_beforehand(preserved) -> None:
    source = "  for i in 0 .. n:\n    check x[i] > 0.0_f64 else ValueError\n    y[i] = sqrt(x[i])\n"
    after = preserved(VISIBLE + source + TAIL, *PASSES, calls=calls("xy"), exact=False)
    assert not any(buffer.name == "y_before" for buffer in after.buffers)


def test_a_test_that_guards_an_index_is_no_flag(preserved) -> None:
    source = (
        "  for i in 0 .. n:\n    t = x[i] * 2.0_f64\n"
        "    check t >= 0.0_f64 and t < float(n) * 1.0_f64 else IndexError\n    r[i] = x[int(t)]\n"
    ).replace("float(n) * 1.0_f64", "f64(n)")
    after = preserved(FRESH + source + TAIL, *PASSES, calls=calls("x"))
    assert not any(node.exception == "GuardFailed" for node in walk(after.body) if isinstance(node, Check))


def test_in_nested_loops(preserved) -> None:
    source = (
        "  for i in 0 .. n:\n    t = 0.0_f64\n    for j in 0 .. n:\n"
        "      check x[j] > 0.0_f64 else ValueError\n      t = t + exp(x[i] - x[j])\n"
        "    check t < 100.0_f64 else ZeroDivisionError\n    y[i] = y[i] / t\n"
    )
    after = preserved(VISIBLE + source + TAIL, *PASSES, calls=calls("xy"), exact=False)
    assert any(buffer.name.startswith("y_before") for buffer in after.buffers)


def test_handing_back_is_illegal_where_the_caller_would_notice() -> None:
    legal = FRESH + "  check s < 1.0_f64 else GuardFailed\n  r[i] = x[i]   for i: 0 <= i < n\n" + TAIL
    verify(text.parse(legal))
    illegal = VISIBLE + "  y[i] = 0.0_f64   for i: 0 <= i < n\n  check s < 1.0_f64 else GuardFailed\n" + TAIL
    with pytest.raises(VerifyError, match="cannot be repeated"):
        verify(text.parse(illegal))


PROVEN = {
    "a square": "    t = x[i] * x[i]\n    check not (t < 0.0_f64) else ValueError\n",
    "a sum of squares": "    s = s + x[i] * x[i]\n    check not (s < 0.0_f64) else ValueError\n",
    "away from zero": "    t = 1.0_f64 + x[i] * x[i]\n    check t != 0.0_f64 else ZeroDivisionError\n",
    "a finite square": "    t = sin(x[i])\n    check isfinite(t * t) or not isfinite(t) else OverflowError\n",
    "a root": "    t = sqrt(abs(x[i])) + 0.5_f64\n    check t > 0.25_f64 or isnan(t) else ValueError\n",
}
NOT_PROVEN = {
    "it may be NaN": "    t = x[i] * x[i]\n    check t >= 0.0_f64 else ValueError\n",
    "it may be zero": "    t = x[i] * x[i]\n    check t != 0.0_f64 else ZeroDivisionError\n",
    "it may overflow": "    t = x[i]\n    check isfinite(t * t) or not isfinite(t) else OverflowError\n",
    "it is set again": "    t = 1.0_f64\n    t = x[i]\n    check t != 0.0_f64 else ZeroDivisionError\n",
    "a difference": "    s = s - x[i] * x[i]\n    check not (s < 0.0_f64) else ValueError\n",
}


@pytest.mark.parametrize("name", [*PROVEN, *NOT_PROVEN])
def test_what_the_ranges_of_floats_prove(preserved, name: str) -> None:
    body = (PROVEN | NOT_PROVEN)[name]
    source = FRESH + "  for i in 0 .. n:\n" + body + "    r[i] = t + s\n" + TAIL
    source = source.replace("  alloc r\n", "  t = 0.0_f64\n  alloc r\n")
    after = preserved(source, simplify.run, checks.run, calls=calls("x"))
    assert any(isinstance(node, Check) for node in walk(after.body)) == (name in NOT_PROVEN)


ARG = """
program f(x):
  size n = x.shape[0]
  param x: f64[n] C
  local k: int
  local t: f64
  local m: i64
  local test: bool
  output #0 = tuple(scalar k, scalar t, scalar m)

  k = -1
  t = 0.75_f64
"""


def test_an_extreme_kept_by_comparison(preserved) -> None:
    source = "  for i in 0 .. n:\n    if x[i] < t:\n      t = x[i]\n      k = 2 * i\n  m = 0_i64\n"
    after = preserved(ARG + source + TAIL, *PASSES, calls=calls("x"))
    assert loops_and_checks(after)[0] == 0 and "argmin" in text.show(after)


def test_the_place_of_an_extreme_is_searched_in_blocks(preserved) -> None:
    source = "  m = argmax[i: 0 <= i < n] x[i]\n"
    many = [{"x": np.random.default_rng(seed).integers(0, 2000, size) * 1.0} for seed, size in enumerate((1, 5, 6000))]
    many[2]["x"][4500] = np.nan
    after = preserved(ARG + source + TAIL, search.run, calls=[*many, *calls("x")])
    assert "parts" in text.show(after)


def test_counters_become_plain_indices(preserved) -> None:
    source = "  k = 0\n  for i in 0 .. n:\n    r[k] = x[i]\n    k = k + 1\n  s = f64(k)\n"
    head = FRESH.replace("  local s", "  local k: int\n  local s")
    after = preserved(head + source + TAIL, *PASSES, calls=calls("x"))
    assert loops_and_checks(after)[0] == 0


def _mul(one: Expr, other: Expr) -> Op:
    return Op("mul", (one, other), F64)


def test_scalars_that_define_each_other_over_the_iterations() -> None:
    """The definitions form a ring: what is exact all around it is certain, one uncertain part makes nothing certain."""
    s, t = Read("s", (), F64), Read("t", (), F64)
    test = Op("ne", (t, Const(0.5, F64)), BOOL)
    exact = Doubt({"s": _mul(s, t), "t": _mul(s, s)})
    assert exact.certain(test) is test
    uncertain = Doubt({"s": _mul(Op("exp", (s,), F64), t), "t": _mul(s, s)})
    assert "inf" in text.show_expr(uncertain.certain(test))


BOUNDS = """program f(x, y):
  size n = x.shape[0]
  param x: f64[n] C
  param y: f64[n] C
  output #0 = None

  check {condition} else IndexError   for i: 0 <= i < n
  return #0
"""
STRONGEST = [
    (("k >= 0", "k < n", "k + 1 >= 0", "k + 1 < n"), ("k >= 0", "k < n - 1")),
    (("k - 2 >= 0", "k >= 0", "k < n + 3", "k + 1 < n"), ("k - 2 >= 0", "k < n - 1")),
    (("k >= 0", "k < n", "k + 1 < 5"), ("k >= 0", "k < n", "k + 1 < 5")),  # limits that cannot be compared
    (("k >= 0", "int(y[i]) + 1 >= 0"), ("k >= 0", "int(y[i]) + 1 >= 0")),
]


@pytest.mark.parametrize(("given", "left"), STRONGEST)
def test_of_bounds_on_one_value_the_strongest_is_left(given: tuple[str, ...], left: tuple[str, ...]) -> None:
    def parts(conditions: tuple[str, ...]) -> list[Expr]:
        joined = " and ".join(f"({one.replace('k', 'int(x[i])')} as bool)" for one in conditions)
        (check,) = (n for n in walk(text.parse(BOUNDS.format(condition=joined)).body) if isinstance(n, Check))
        return conjuncts(check.condition)

    assert strongest(parts(given)) == parts(left)


def test_conditions_of_different_dimensions_are_tested_apart() -> None:
    """all[i, j] (c(i) and d(j) and m[i, j] > 0): what reads memory keeps the loops around it, behind the others."""
    i, j, n = Var("i"), Var("j"), Var("n")
    domain = (Dim("i", Const(0, INT), n), Dim("j", Const(0, INT), n))
    c, d = (Op("ge", (Op("mul", (v, v), INT), v), BOOL) for v in (i, j))
    read = Op("gt", (Read("m", (i, j), F64), Const(0.0, F64)), BOOL)
    row = Op("gt", (Read("r", (j,), F64), Const(0.0, F64)), BOOL)
    assert _by_dimensions(domain, [c, d, c]) == [[c, c], [d]]
    assert _by_dimensions(domain, [c, d, read, row]) == [[c], [d], [read, row]]
    assert _by_dimensions(domain, [read, c]) == [[read], [c]]
    assert _looked_at(domain, [d]) == domain[1:] and _looked_at(domain, [row]) == domain
