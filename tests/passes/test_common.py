"""Common: equal contents are computed once, and contents that only look equal are not taken for each other."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft.ir import text
from weft.passes import common

HEAD = """
program f(a, b, v):
  size n = a.shape[0]
  param a: f64[n] C
  param b: f64[n] C
  param v: f64
  local t: f64[n]
  local u: f64[n]
  local m: f64[n]
  local x: f64
  local y: f64
  result r: f64[n]
  output #0 = tuple(array r, scalar x, scalar y)
  guard 1 <= n else ValueError "n"

  alloc t
  alloc u
  alloc m
  alloc r
"""
T = "  t[i] = exp(a[i]) * b[i] + v   for i: 0 <= i < n\n"
U = "  u[j] = exp(a[j]) * b[j] + v   for j: 0 <= j < n\n"
TAIL = "  r[q] = t[q] - 2.0_f64 * u[q]   for q: 0 <= q < n\n  x = 1.0_f64\n  y = 2.0_f64\n  return #0\n"


def calls() -> list[dict[str, object]]:
    rng = np.random.default_rng(3)
    return [{"a": rng.standard_normal(n), "b": rng.standard_normal(n), "v": np.float64(0.5)} for n in (4, 1)]


def after(preserved, body: str, tail: str = TAIL) -> str:  # type: ignore[no-untyped-def]
    return text.show(preserved(HEAD + body + tail, common.run, calls=calls()))


def test_an_equal_array_is_computed_once(preserved) -> None:  # type: ignore[no-untyped-def]
    assert after(preserved, T + U).count("exp") == 1


def test_a_chain_of_updates_is_equal_when_its_last_step_is(preserved) -> None:  # type: ignore[no-untyped-def]
    more = T + "  t[i2] = t[i2] * exp(b[i2]) + 1.0_f64   for i2: 0 <= i2 < n\n"
    same = U + "  u[j2] = u[j2] * exp(b[j2]) + 1.0_f64   for j2: 0 <= j2 < n\n"
    assert after(preserved, more + same).count("exp") == 2


@pytest.mark.parametrize(
    "between",
    [
        "  a[k] = b[k]   for k: 0 <= k < n\n",  # an input changes
        "  b[0] = 7.0_f64\n",  # one element of it
        "  t[0] = 7.0_f64\n",  # the first result changes
        "  for k in 0 .. 2:\n    t[0] = t[0] + 1.0_f64\n",
        "  if v > 0.0_f64:\n    t[0] = 7.0_f64\n",
        "  if v > 0.0_f64:\n    a[0] = 7.0_f64\n",
    ],
)
def test_what_changes_in_between_is_computed_again(preserved, between: str) -> None:  # type: ignore[no-untyped-def]
    assert after(preserved, T + between + U).count("exp") == 2


def test_a_write_to_one_parameter_may_change_another(preserved) -> None:  # type: ignore[no-untyped-def]
    """Parameters may share memory: exp(a) is not known any more once b is written."""
    first = "  t[i] = exp(a[i]) + exp(v)   for i: 0 <= i < n\n  b[0] = 3.0_f64\n"
    second = "  u[j] = exp(a[j]) + exp(v)   for j: 0 <= j < n\n"
    assert after(preserved, first + second).count("exp(a") == 2


@pytest.mark.parametrize(
    "other",
    [
        "  u[j] = exp(a[j]) * b[j] - v   for j: 0 <= j < n\n",
        "  u[j] = exp(b[j]) * a[j] + v   for j: 0 <= j < n\n",
        "  u[j] = exp(a[n - 1 - j]) * b[j] + v   for j: 0 <= j < n\n",
        "  u[n - 1 - j] = exp(a[j]) * b[j] + v   for j: 0 <= j < n\n",
    ],
)
def test_what_differs_stays(preserved, other: str) -> None:  # type: ignore[no-untyped-def]
    assert after(preserved, T + other).count("exp") == 2


def test_a_branch_does_not_tell_what_holds_behind_it(preserved) -> None:  # type: ignore[no-untyped-def]
    body = "  t[z] = 0.0_f64   for z: 0 <= z < n\n  if v > 1.0_f64:\n  " + T + U
    assert after(preserved, body).count("exp") == 2
    body = T + "  u[z] = 0.0_f64   for z: 0 <= z < n\n  if v > 0.0_f64:\n  " + U
    assert after(preserved, body).count("exp") == 2  # u is read behind the branch, whichever way it went


def test_sums_that_stand_in_several_places_are_variables(preserved) -> None:  # type: ignore[no-untyped-def]
    tail = """
  x = (sum[i: 0 <= i < n] a[i] * a[i]) / 2.0_f64
  y = (sum[j: 0 <= j < n] a[j] * a[j]) + sqrt(abs(sum[k: 0 <= k < n] a[k] * a[k]))
  r[q] = a[q] - (sum[l: 0 <= l < n] a[l] * a[l])   for q: 0 <= q < n
  return #0
"""
    assert after(preserved, "", tail).count("sum[") == 1


def test_a_sum_in_a_branch_of_a_selection_stays_there(preserved) -> None:  # type: ignore[no-untyped-def]
    tail = """
  x = select(v > 1.0_f64, sum[i: 0 <= i < n] a[i], 0.0_f64)
  y = select(v > 2.0_f64, sum[j: 0 <= j < n] a[j], 0.0_f64)
  r[q] = a[q]   for q: 0 <= q < n
  return #0
"""
    assert after(preserved, "", tail).count("sum[") == 2


def test_a_test_is_made_once(preserved) -> None:  # type: ignore[no-untyped-def]
    check = '  check a[{0}] < 9.0_f64 else ValueError "large"   for {0}: 0 <= {0} < n\n'
    assert after(preserved, T + U + check.format("e") + check.format("g")).count("check") == 1
    changed = check.format("e") + "  a[0] = 1.0_f64\n" + check.format("g")
    assert after(preserved, T + U + changed).count("check") == 2


def test_library_calls_are_made_once() -> None:
    from weft.pipeline import stages

    def f(a, b):  # type: ignore[no-untyped-def]
        return np.linalg.inv(a) @ b + np.linalg.inv(a).sum()

    a = np.eye(4) * 2 + 0.1
    program = dict(stages(f, (a, np.ones(4))))["tidy"]
    assert text.show(program).count("library inv") == 1
    np.testing.assert_allclose(weft.jit(fallback="error")(f)(a, np.ones(4)), f(a, np.ones(4)), rtol=1e-12)


def test_a_row_and_a_vector_of_equal_contents_are_one(preserved) -> None:  # type: ignore[no-untyped-def]
    head = HEAD.replace("local u: f64[n]", "local u: f64[1, n]")
    row = U.replace("u[j]", "u[0, j]")
    tail = TAIL.replace("u[q]", "u[0, q]")
    shown = text.show(preserved(head + T + row + tail, common.run, calls=calls()))
    assert shown.count("exp") == 1 and "t[q] - 2.0_f64 * t[q]" in shown
    first = text.show(preserved(head + row + T + tail, common.run, calls=calls()))
    assert first.count("exp") == 1 and "u[0, q] - 2.0_f64 * u[0, q]" in first


def test_a_column_of_other_contents_is_not_taken_for_a_row(preserved) -> None:  # type: ignore[no-untyped-def]
    head = HEAD.replace("local u: f64[n]", "local u: f64[2, n]")
    both = U.replace("u[j]", "u[0, j]") + "  u[1, k] = exp(b[k]) * b[k] + v   for k: 0 <= k < n\n"
    shown = text.show(preserved(head + T + both + TAIL.replace("u[q]", "u[1, q]"), common.run, calls=calls()))
    assert shown.count("exp") == 3
