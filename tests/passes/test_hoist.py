"""Hoist: work leaves loops and dimensions it does not depend on, and nothing else does."""

from __future__ import annotations

import numpy as np
import pytest

from weft.ir import interp, text
from weft.passes import PassContext, hoist, simplify

HEAD = """
program f(a, x, k, T, p):
  size n = x.shape[0]
  param a: f64[n, n] C
  param x: f64[n] C
  param k: i64[n] C
  symbol T = argument T
  param p: f64
  local s: f64
  local t: f64[n]
  local z: f64
  output #0 = scalar s

  s = 1.0_f64
"""


def run(preserved, body: str) -> str:
    rng = np.random.default_rng(2)
    calls = []
    for n, steps in ((3, 2), (1, 1), (3, 0), (0, 2)):
        a = rng.standard_normal((n, n))
        calls.append(
            {"a": a, "x": rng.standard_normal(n), "k": rng.integers(0, max(n, 1), n), "T": steps, "p": np.float64(0.5)}
        )
    after = preserved(HEAD + body + "  return #0\n", hoist.run, calls=calls)
    return text.show(simplify.run(after, PassContext()))


def test_lower_rank(preserved) -> None:
    shown = run(preserved, "  a[i, j] = exp(x[i]) * a[i, j]   for i: 0 <= i < n, j: 0 <= j < n\n")
    assert "= exp(x[i_2])   for i_2: 0 <= i_2 < n" in shown
    assert "a[i, j] = a_part[i] * a[i, j]" in shown


def test_triangular_domains_keep_their_bounds(preserved) -> None:
    shown = run(preserved, "  a[i, j] = exp(x[j]) * a[i, j]   for i: 0 <= i < n, j: i <= j < n\n")
    # Bounds of j need i: nothing of lower rank is left to gain.
    assert "exp(x[j])" in shown


def test_a_reduction_that_all_rows_share(preserved) -> None:
    shown = run(
        preserved,
        "  a[i, j] = a[i, j] / (sum[m: 0 <= m < n] a[i, m])   for i: 0 <= i < n, j: 0 <= j < n\n",
    )
    assert "sum[m_2: 0 <= m_2 < n] a[i_2, m_2]   for i_2" in shown


def test_out_of_a_sequential_loop(preserved) -> None:
    shown = run(
        preserved,
        "  for q in 0 .. T:\n    z = sum[i: 0 <= i < n] x[i]\n    s = s * z\n",
    )
    assert shown.index("z = sum") < shown.index("for q")


def test_a_dear_expression_out_of_a_time_loop(preserved) -> None:
    shown = run(
        preserved,
        "  for q in 0 .. T:\n    a[i, 0] = a[i, 0] + exp(x[i])   for i: 0 <= i < n\n",
    )
    assert shown.index("exp(x") < shown.index("for q")


STAYS = {
    "its input changes": "  for q in 0 .. T:\n    z = exp(s)\n    s = s + z\n",
    "it depends on the loop": "  for q in 0 .. T:\n    z = exp(f64(q))\n    s = s + z\n",
    "read before written": "  z = 0.0_f64\n  for q in 0 .. T:\n    s = s + z\n    z = exp(p)\n",
    "live when the loop is empty": "  s = 0.0_f64\n  for q in 0 .. T:\n    s = exp(p)\n"
    "    a[0, 0] = s   for one: 0 <= one < minimum(n, 1)\n",
}


@pytest.mark.parametrize("name", STAYS)
def test_what_stays(preserved, name: str) -> None:
    shown = run(preserved, STAYS[name])
    assert shown.index("exp(") > shown.index("for q")


def test_indirect_reads_do_not_move(preserved) -> None:
    shown = run(preserved, "  a[i, j] = exp(x[int(k[i])]) * a[i, j]   for i: 0 <= i < n, j: 0 <= j < n\n")
    assert "a[i, j] = exp(x[int(k[i])])" in shown


def test_branches_of_a_selection_do_not_move(preserved) -> None:
    shown = run(
        preserved,
        "  a[i, j] = select(a[i, j] > 0.0_f64, exp(x[i]), 0.0_f64)   for i: 0 <= i < n, j: 0 <= j < n\n",
    )
    assert "select(a[i, j] > 0.0_f64, exp(x[i]), 0.0_f64)" in shown


def test_allocations_leave_a_loop_that_stays_sequential(preserved) -> None:
    loop = "  for q in 0 .. T:\n    alloc t\n    t[i] = x[i] * s   for i: 0 <= i < n\n"
    loop += "    s = s + (sum[j: 0 <= j < n] t[j])\n"
    shown = run(preserved, loop)
    assert shown.index("alloc t") < shown.index("for q")


def test_allocations_stay_where_iterations_may_go_to_other_machines() -> None:
    loop = "  for q in 0 .. T:\n    alloc t\n    t[i] = x[i] * s   for i: 0 <= i < n\n"
    rest = "    s = s + sum[i: 0 <= i < n] t[i]\n"
    after = hoist.run(text.parse(HEAD + loop + rest + "  return #0\n"), PassContext(apart=True))
    assert text.show(after).index("alloc t") > text.show(after).index("for q")


def test_a_loop_that_may_run_in_parallel_keeps_its_allocations(preserved) -> None:
    loop = (
        "  for q in 0 .. n:\n    alloc t\n    t[i] = x[i] * a[q, i]   for i: 0 <= i < n\n"
        "    a[q, j] = t[n - 1 - j]   for j: 0 <= j < n\n"
    )
    shown = run(preserved, loop)
    assert shown.index("alloc t") > shown.index("for q")


WHILE = """
  while s < 3.0_f64:
    {first}
    s = s + 1.0_f64
"""


def test_out_of_a_loop_with_a_condition(preserved) -> None:
    body = WHILE.format(first="z = sum[m: 0 <= m < n] exp(x[m])\n    s = s + 0.0_f64 * z")
    shown = run(preserved, "  z = 0.0_f64\n" + body)
    assert shown.index("sum[") < shown.index("while")


def test_a_part_out_of_a_loop_with_a_condition(preserved) -> None:
    shown = run(preserved, WHILE.format(first="x[i] = x[i] * exp(a[i, 0]) + s   for i: 0 <= i < n"))
    assert shown.index("exp(") < shown.index("while")


@pytest.mark.parametrize(
    "first",
    [
        "z = sum[m: 0 <= m < n] exp(x[m])\n    x[0 * i] = z   for i: 0 <= i < minimum(n, 1)",  # its input changes
        "s = s + z\n    z = sum[m: 0 <= m < n] exp(x[m])",  # the first iteration reads the old value
        "z = sum[m: 0 <= m < n] exp(x[m] + s)\n    s = s + abs(z)",  # it depends on what is carried
    ],
)
def test_stays_in_a_loop_with_a_condition(preserved, first: str) -> None:
    shown = run(preserved, "  z = 0.0_f64\n" + WHILE.format(first=first))
    assert shown.index("sum[") > shown.index("while")


def test_what_the_condition_reads_stays(preserved) -> None:
    body = "  z = 0.0_f64\n  while z < 1.0_f64 and s < 3.0_f64:\n"
    body += "    z = sum[m: 0 <= m < n] exp(x[m])\n    s = s + 1.0_f64\n"
    shown = run(preserved, body)
    assert shown.index("sum[") > shown.index("while")


def test_a_check_at_many_points_is_tested_once(preserved) -> None:
    checked = '    check (x[i] < 9.0_f64 as bool) else ValueError "{0}" {n}   for i: 0 <= i < n\n'
    shown = run(preserved, f"  for m in 0 .. T:\n{checked}    s = s * 2.0_f64 + p\n")
    assert shown.index("held = all[") < shown.index("for m in") < shown.index("if not held:") < shown.index("check ")


@pytest.mark.parametrize(
    "body",
    [
        "    x[m] = p\n",  # what it tests changes
        "    k[m] = 0_i64\n",  # where it reads does
    ],
)
def test_a_check_of_what_changes_stays(preserved, body: str) -> None:
    check = '    check (x[k[i]] < 9.0_f64 as bool) else ValueError "{0}" {n}   for i: 0 <= i < n\n'
    shown = run(preserved, f"  for m in 0 .. minimum(T, n):\n{check}{body}    s = s * 2.0_f64 + p\n")
    assert "held" not in shown


def test_a_check_that_fails_later_fails_there() -> None:
    body = (
        "  for m in 0 .. T:\n    s = s * 2.0_f64\n"
        '    check (x[i] < 0.5_f64 as bool) else ValueError "{0}" {m}   for i: 0 <= i < n\n'
    )
    program = text.parse(HEAD + body + "  return #0\n")
    after = hoist.run(program, PassContext())
    assert "held" in text.show(after)
    for steps in (0, 2):
        given = {"a": np.ones((2, 2)), "x": np.ones(2), "k": np.zeros(2, np.int64), "T": steps, "p": np.float64(1.0)}
        outcomes = []
        for each in (program, after):
            try:
                outcomes.append(interp.run(each, dict(given)))
            except ValueError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]


PARTS = """
program f(p, c, x, m):
  size n = x.shape[0]
  size rows = p.shape[0]
  param p: i64[rows] C
  param c: i64[n] C
  param x: f64[n] C
  symbol m = argument m
  local s: f64
  output #0 = scalar s

  s = 0.0_f64
  for r in 0 .. rows - 1:
    if all[j: int(p[r]) <= j < int(p[r + 1])] select((j >= 0 as bool) and (j < n as bool), {test}, bool.False):
      s = s + 1.0_f64
    else:
      s = s * 2.0_f64 + 5.0_f64
{more}  return #0
"""


@pytest.mark.parametrize(
    ("test", "more", "splits"),
    [
        ("(int(c[j]) < m as bool)", "", True),
        ("(int(c[j]) < r as bool)", "", False),  # depends on the loop
        ("(int(c[j]) < m as bool)", "    c[0] = 1_i64\n", False),  # what is tested changes
        ("(int(c[j]) < int(c[n - 1 - j]) as bool)", "", False),
    ],
)
def test_parts_of_an_array_by_the_whole_of_it(preserved, test: str, more: str, splits: bool) -> None:
    calls = []
    for bound in (9, 3):  # the whole holds; only some parts do
        for p in ([0, 2, 2, 4], [0, 2, 9, 1], [-1, 1, 3, 3], [0], [4, 0, 3]):
            calls.append({"p": np.array(p), "c": np.array([1, 2, 5, 0]), "x": np.ones(4), "m": bound})
    shown = text.show(preserved(PARTS.replace("{test}", test).replace("{more}", more), hoist.run, calls=calls))
    assert ("whole = all[" in shown) is splits
    assert not splits or shown.index("whole = all[") < shown.index("for r in")


def test_a_dear_index_is_computed_once_for_all_rows(preserved) -> None:
    """Places that divisions tell, along one dimension only."""
    place = "int(trunc(exp(-f64(j) - 1.0_f64)))"
    shown = run(preserved, f"  a[i, j] = a[i, j] + x[{place}]   for i: 0 <= i < n, j: 0 <= j < n\n")
    assert "exp(" in shown.split("a[i, j] =")[0] and "exp(" not in shown.split("a[i, j] =")[1]


def test_index_arithmetic_stays_where_it_is(preserved) -> None:
    shown = run(preserved, "  a[i, j] = a[i, j] + x[(j + i) % n]   for i: 0 <= i < n, j: 0 <= j < n\n")
    assert "a_part" not in shown


def test_rows_of_lengths_from_memory_have_no_temporary_of_all_rows(preserved) -> None:
    domain = "i: 0 <= i < n, j: 0 <= j < int(k[i]) % n, l: 0 <= l < n"
    shown = run(preserved, f"  s = sum[{domain}] x[(j + int(k[i])) % n % (n + 1)] * x[l]\n")
    assert "% n, 0)] C" not in shown
