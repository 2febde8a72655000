"""Raise: which loops become statements, which must not, and that nothing observable changes."""

from __future__ import annotations

import numpy as np
import pytest

from weft.ir import interp, text
from weft.options import Options
from weft.passes import PassContext, checks, forward, raise_loops, simplify

HEAD = """
program f(a, b, c, x, y, k, p):
  size n = x.shape[0]
  param a: f64[n, n] C
  param b: f64[n, n] C
  param c: f64[n, n] C
  param x: f64[n] C
  param y: f64[n] C
  param k: i64[n] C
  param p: f64
  local s: f64
  local t: f64
  local u: f64
  local m: i64
  local w: f64[n]
  output #0 = tuple(scalar s, scalar m)

  s = 0.0_f64
  m = 0_i64
"""
TAIL = "  return #0\n"
PASSES = (simplify.run, checks.run, raise_loops.run, simplify.run, forward.run, simplify.run)


def calls(sizes: tuple[int, ...] = (4, 1, 0)) -> list[dict[str, object]]:
    rng = np.random.default_rng(7)
    out = []
    for n in sizes:
        a, b, c = rng.standard_normal((3, n, n))
        x, y = rng.standard_normal((2, n))
        k = rng.integers(0, max(n, 1), n)
        out.append({"a": a, "b": b, "c": c, "x": x, "y": y, "k": k, "p": np.float64(0.5)})
    return out


def raised(preserved, source: str, fp: str = "numpy") -> list[str]:
    """The statements that a body of loops becomes, without the first two and the last line."""
    after = preserved(HEAD + source + TAIL, *PASSES, calls=calls(), exact=fp == "strict", fp=fp)
    lines = text.show(after).split("\n\n", 1)[1].strip("\n").split("\n")
    return [line[2:] for line in lines if line not in ("  s = 0.0_f64", "  m = 0_i64", "  return #0")]


BECOMES = {
    "matrix product, in place": (
        """
  for i in 0 .. n:
    for j in 0 .. n:
      c[i, j] = 0.0_f64
      for q in 0 .. n:
        c[i, j] = c[i, j] + a[i, q] * b[q, j]
""",
        ["c[i, j] = sum[q: 0 <= q < n] a[i, q] * b[q, j]   for i: 0 <= i < n, j: 0 <= j < n"],
    ),
    "matrix product through a scalar": (
        """
  for i in 0 .. n:
    for j in 0 .. n:
      t = 0.0_f64
      for q in 0 .. n:
        t = t + a[i, q] * b[q, j]
      c[i, j] = t
""",
        ["c[i, j] = sum[q: 0 <= q < n] a[i, q] * b[q, j]   for i: 0 <= i < n, j: 0 <= j < n"],
    ),
    "scaled product with the loops in another order": (
        """
  for i in 0 .. n:
    for j in 0 .. n:
      c[i, j] = c[i, j] * p
    for q in 0 .. n:
      for r in 0 .. n:
        c[i, r] = c[i, r] + p * a[i, q] * b[q, r]
""",
        [
            "c[i, r] = c[i, r] * p + (sum[q: 0 <= q < n] p * a[i, q] * b[q, r])   for i: 0 <= i < n, r: 0 <= r < n",
        ],
    ),
    "matrix times vector, a slice a row": (
        "  for i in 0 .. n:\n    y[i] = sum[j: 0 <= j < n] a[i, j] * x[j]\n",
        ["y[i] = sum[j: 0 <= j < n] a[i, j] * x[j]   for i: 0 <= i < n"],
    ),
    "axpy": ("  for i in 0 .. n:\n    y[i] = p * x[i] + y[i]\n", ["y[i] = p * x[i] + y[i]   for i: 0 <= i < n"]),
    "row sums": (
        "  for i in 0 .. n:\n    y[i] = 0.0_f64\n    for j in 0 .. n:\n      y[i] = y[i] + a[i, j]\n",
        ["y[i] = sum[j: 0 <= j < n] a[i, j]   for i: 0 <= i < n"],
    ),
    "column sums": (
        "  for i in 0 .. n:\n    for j in 0 .. n:\n      y[j] = y[j] + a[i, j]\n",
        ["y[j] = y[j] + (sum[i: 0 <= i < n] a[i, j])   for j: 0 <= j < n"],
    ),
    "outer product": (
        "  for i in 0 .. n:\n    for j in 0 .. n:\n      a[i, j] = x[i] * y[j]\n",
        ["a[i, j] = x[i] * y[j]   for i: 0 <= i < n, j: 0 <= j < n"],
    ),
    "transposed copy": (
        "  for i in 0 .. n:\n    for j in 0 .. n:\n      a[i, j] = b[j, i]\n",
        ["a[i, j] = b[j, i]   for i: 0 <= i < n, j: 0 <= j < n"],
    ),
    "a triangular slice": (
        "  for i in 0 .. n - 1:\n    c[i, j] = a[i, j] * 2.0_f64   for j: i + 1 <= j < n\n",
        ["c[i, j] = a[i, j] * 2.0_f64   for i: 0 <= i < n - 1, j: i + 1 <= j < n"],
    ),
    "a sum over both loops": (
        "  for i in 0 .. n:\n    for j in 0 .. n:\n      s = s + a[i, j]\n",
        ["s = sum[i: 0 <= i < n, j: 0 <= j < n] a[i, j]"],
    ),
    "a difference": (
        "  for i in 0 .. n:\n    s = s - x[i] - y[i]\n",
        ["s = 0.0_f64 - (sum[i: 0 <= i < n] x[i] + y[i])"],
    ),
    "anti dependence": (
        "  for i in 0 .. n - 1:\n    x[i] = x[i + 1] + 1.0_f64\n",
        ["x[i] = x[i + 1] + 1.0_f64   for i: 0 <= i < n - 1"],
    ),
    "a loop that counts down": (
        "  for i in n - 1 .. 0 step -1:\n    x[i] = x[i - 1] + 1.0_f64\n",
        ["x[i + 1] = x[i] + 1.0_f64   for i: 0 <= i < n - 1"],
    ),
    "a stride": (
        "  for i in 1 .. n step 3:\n    x[i] = y[i]\n",
        ["x[3 * i_2 + 1] = y[3 * i_2 + 1]   for i_2: 0 <= i_2 < (n + 1) // 3"],
    ),
    "a condition on data": (
        "  for i in 0 .. n:\n    if x[i] > 0.0_f64:\n      y[i] = x[i]\n",
        ["y[i] = select(x[i] > 0.0_f64, x[i], y[i])   for i: 0 <= i < n"],
    ),
    "both branches": (
        "  for i in 0 .. n:\n    if x[i] > 0.0_f64:\n      t = x[i]\n    else:\n      t = p\n    y[i] = t\n",
        ["y[i] = select(x[i] > 0.0_f64, x[i], p)   for i: 0 <= i < n"],
    ),
    "a condition on the index becomes a bound": (
        "  for i in 0 .. n:\n    if i > 0:\n      y[i] = x[i - 1]\n",
        ["y[i + 1] = x[i]   for i: 0 <= i < n - 1"],
    ),
    "a conditional sum": (
        "  for i in 0 .. n:\n    if x[i] > 0.0_f64:\n      s = s + x[i]\n",
        ["s = sum[i: 0 <= i < n] select(x[i] > 0.0_f64, x[i], 0.0_f64)"],
    ),
    "a minimum of integers": (
        "  for i in 0 .. n:\n    if k[i] < m:\n      m = k[i]\n",
        ["m = minimum(0_i64, min[i: 0 <= i < n] k[i])"],
    ),
    "a histogram": (
        "  for i in 0 .. n:\n    x[int(k[i])] = x[int(k[i])] + y[i]\n",
        ["x[int(k[i])] += y[i]   for i: 0 <= i < n"],
    ),
    "a triangular accumulation": (
        "  for i in 0 .. n:\n    for j in 0 .. i:\n      y[j] = y[j] + a[i, j]\n",
        ["y[j] += a[i, j]   for i: 0 <= i < n, j: 0 <= j < i"],
    ),
    "private scalars used twice": (
        "  for i in 0 .. n:\n    t = exp(x[i]) + p\n    y[i] = t * t\n    x[i] = t\n",
        [
            "alloc t_2",
            "t_2[i] = exp(x[i]) + p   for i: 0 <= i < n",
            "y[i_2] = t_2[i_2] * t_2[i_2]   for i_2: 0 <= i_2 < n",
            "x[i_3] = t_2[i_3]   for i_3: 0 <= i_3 < n",
        ],
    ),
    "part of a loop": (
        "  for i in 1 .. n:\n    x[i] = x[i - 1] * p\n    y[i] = exp(x[i])\n",
        ["for i in 1 .. n:", "  x[i] = x[i - 1] * p", "y[i_2 + 1] = exp(x[i_2 + 1])   for i_2: 0 <= i_2 < n - 1"],
    ),
    "elimination inside a factorisation": (
        (
            "  for i in 0 .. n:\n    for j in 0 .. i:\n      for q in 0 .. j:\n"
            "        a[i, j] = a[i, j] - a[i, q] * a[q, j]\n      a[i, j] = a[i, j] / a[j, j]\n"
        ),
        [
            "for i in 0 .. n:",
            "  for j in 0 .. i:",
            "    a[i, j] = (a[i, j] - (sum[q: 0 <= q < j] a[i, q] * a[q, j])) / a[j, j]",
        ],
    ),
}


@pytest.mark.parametrize("name", BECOMES)
def test_becomes(preserved, name: str) -> None:
    source, expected = BECOMES[name]
    assert raised(preserved, source.lstrip("\n")) == expected


STAYS = {
    "recurrence": ("  for i in 1 .. n:\n    x[i] = x[i - 1] + 1.0_f64\n", "earlier one wrote to `x`"),
    "prefix sum": ("  for i in 0 .. n:\n    s = s + x[i]\n    y[i] = s\n", "need each other's results"),
    "seidel": (
        (
            "  for i in 1 .. n - 1:\n    for j in 1 .. n - 1:\n"
            "      a[i, j] = (a[i - 1, j] + a[i, j - 1] + a[i, j] + a[i + 1, j] + a[i, j + 1]) * 0.2_f64\n"
        ),
        "earlier one wrote to `a`",
    ),
    "one element twice": ("  for i in 0 .. n:\n    x[i // 2] = y[i]\n", "same element of `x`"),
    "an index from memory": ("  for i in 0 .. n:\n    x[int(k[i])] = y[i]\n", "same element of `x`"),
    "a histogram that is read meanwhile": (
        "  for i in 0 .. n:\n    x[int(k[i])] = x[int(k[i])] + x[0]\n",
        "while it is being accumulated",
    ),
    "shortest paths in place": (
        (
            "  for q in 0 .. n:\n    for i in 0 .. n:\n      for j in 0 .. n:\n"
            "        a[i, j] = minimum(a[i, j], a[i, q] + a[q, j])\n"
        ),
        "need each other's results",
    ),
    "a break": ("  for i in 0 .. n:\n    if x[i] > 0.0_f64:\n      break\n    y[i] = x[i]\n", "left early"),
    "a while": (
        "  for i in 0 .. n:\n    t = x[i]\n    while t < 1.0_f64:\n      t = t + 1.0_f64\n    y[i] = t\n",
        "while",
    ),
    "a branch that guards an index": (
        "  for i in 0 .. n:\n    if x[i] > 0.0_f64 and i > 0:\n      y[i - 1] = x[i]\n",
        "out of bounds when the branch is not taken",
    ),
    "a test of what the loop computes": (
        "  for i in 0 .. n:\n    x[i] = y[i] * 2.0_f64\n    check x[i] < 100.0_f64 else IndexError\n",
        "depends on what the loop computes",
    ),
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(preserved, name: str) -> None:
    source, reason = STAYS[name]
    assert any("for " in line and " .. " in line for line in raised(preserved, source))
    assert any(reason in remark for remark in preserved.remarks)


def test_strict_floating_point_keeps_the_order(preserved) -> None:
    lines = raised(preserved, "  for i in 0 .. n:\n    s = s + x[i]\n    m = m + k[i]\n", fp="strict")
    assert lines == ["for i in 0 .. n:", "  s = s + x[i]", "m = sum[i_2: 0 <= i_2 < n] k[i_2]"]


def test_a_maximum_of_floats_ignores_nan_as_the_comparison_does() -> None:
    source = HEAD + "  s = x[0]\n  for i in 0 .. n:\n    if x[i] > s:\n      s = x[i]\n" + TAIL
    program = text.parse(source)
    after = raise_loops.run(program, PassContext())
    assert not any(type(node).__name__ == "Loop" for node in after.body)
    nan = float("nan")
    for values in ([1.0, nan, 3.0], [nan, 1.0, 2.0], [2.0, nan, nan], [-np.inf, nan, -np.inf]):
        arguments = {**calls((3,))[0], "x": np.array(values)}
        np.testing.assert_equal(interp.run(after, arguments), interp.run(program, arguments))


INDEXED = """
  for i in 0 .. n:
    check 0_i64 <= k[i] and int(k[i]) < n else IndexError "out of bounds"
    x[int(k[i])] = x[int(k[i])] + y[i]
"""


def test_a_test_of_data_is_made_beforehand(preserved) -> None:
    bad = calls((4,))
    bad[0]["k"] = np.array([0, 1, 9, 2])
    source = HEAD + INDEXED.lstrip("\n") + TAIL
    after = preserved(source, *PASSES, calls=calls() + bad, exact=False)
    assert "if all[i_2: 0 <= i_2 < n]" in text.show(after)


WINDOWED = """
  for i in 0 .. n:
    for j in 0 .. n:
      check i + j < 5 and k[i] <= 3_i64 and k[j] <= 3_i64 else IndexError "out of bounds"
      a[i, j] = a[i, j] + b[i, j]
"""


def test_a_test_at_the_ends_and_one_of_data_have_names_of_their_own(preserved) -> None:
    bad = calls((4, 4))
    bad[0]["k"] = np.array([0, 1, 9, 2])
    bad[1]["k"] = np.array([1, 1, 0, 4])
    fine = calls((3,))
    source = HEAD + WINDOWED.lstrip("\n") + TAIL
    after = preserved(source, simplify.run, raise_loops.run, calls=fine + calls() + bad, exact=False)
    assert text.show(after).count("all[") == 3


WRAPPED = """
  for i in 0 .. n:
    m = select(k[i] < 0_i64, k[i] + i64(n), k[i])
    check 0_i64 <= m and int(m) < n else IndexError "out of bounds"
    x[int(m)] = x[int(m)] + y[i]
  m = 0_i64
"""


def test_negative_indices_take_the_slow_way(preserved) -> None:
    wrapped = calls((4, 4))
    wrapped[0]["k"] = np.array([0, -1, -4, 2])
    wrapped[1]["k"] = np.array([0, -1, -5, 2])
    after = preserved(HEAD + WRAPPED.lstrip("\n") + TAIL, *PASSES, calls=calls() + wrapped, exact=False)
    assert "x[int(k[i_3])] += y[i_3]" in text.show(after)


def test_the_last_value_of_a_private_scalar(preserved) -> None:
    source = "  t = 3.0_f64\n  for i in 0 .. n:\n    t = exp(x[i]) + p\n    y[i] = t * t\n  s = t\n"
    lines = raised(preserved, source)
    assert "if 0 < n:" in lines


def test_reordering_assumes_disjoint_arguments() -> None:
    program = text.parse(HEAD + "  for i in 0 .. n:\n    y[i] = x[i] * p\n" + TAIL)
    assert raise_loops.run(program, PassContext()).disjoint == (("y", "x"),)
    kept = text.parse(HEAD + "  for i in 1 .. n:\n    y[i] = y[i - 1] + x[i]\n" + TAIL)
    assert raise_loops.run(kept, PassContext()).disjoint == ()


def test_arrays_allocated_in_the_body_are_private(preserved) -> None:
    source = """
  for i in 0 .. n:
    alloc w
    w[j] = exp(a[i, j])   for j: 0 <= j < n
    y[i] = (sum[q: 0 <= q < n] w[q]) + w[0]
"""
    lines = raised(preserved, source.lstrip("\n"))
    assert "w_2[i, j] = exp(a[i, j])   for i: 0 <= i < n, j: 0 <= j < n" in lines


CUT = {
    "a row": (
        "  for i in 0 .. n:\n    for j in 0 .. n:\n      a[i, j] = a[i, j] * a[0, j] + y[i]\n",
        [
            "if 0 < n:",
            "  a[0, j_2] = a[0, j_2] * a[0, j_2] + y[0]   for j_2: 0 <= j_2 < n",
            (
                "a[i_2 + 1, j_3] = a[i_2 + 1, j_3] * a[0, j_3] + y[i_2 + 1]"
                "   for i_2: 0 <= i_2 < n - 1, j_3: 0 <= j_3 < n"
            ),
        ],
    ),
    "the last element": ("  for i in 0 .. n:\n    x[i] = x[i] * x[n - 1] + y[i]\n", None),
    "an element that may be outside": ("  for i in 1 .. n - 1:\n    x[i] = x[i] * 2.0_f64 + x[0]\n", None),
    "a branch": ("  for i in 0 .. n:\n    if x[i] < x[0]:\n      x[i] = x[0]\n", None),
    "several statements": (
        "  for i in 0 .. n:\n    x[i] = x[i] + x[0]\n    y[i] = x[i] * x[0]\n    b[0, i] = y[i] + x[i]\n",
        None,
    ),
}


@pytest.mark.parametrize("name", CUT)
def test_a_loop_is_cut_where_its_iterations_meet(preserved, name: str) -> None:
    source, expected = CUT[name]
    lines = raised(preserved, source)
    assert not any(" .. " in line for line in lines)
    assert expected is None or lines == expected


@pytest.mark.parametrize(
    "source",
    [
        "  for i in 0 .. n:\n    x[i] = x[i - 1 + 1] + x[0] * x[n - 1]\n",  # two meeting points
        "  for i in 1 .. n:\n    x[i] = x[i - 1] * x[0]\n",  # a recurrence besides
    ],
)
def test_a_cut_that_does_not_help_is_not_made(preserved, source: str) -> None:
    assert any(" .. " in line for line in raised(preserved, source))


PRIVATE_ARRAYS = {
    "set by a loop": """
  alloc w
  for i in 0 .. n:
    for j in 0 .. n:
      w[j] = 0.0_f64
      for q in 0 .. n:
        w[j] = w[j] + a[i, q] * b[q, j]
    for j_2 in 0 .. n:
      a[i, j_2] = w[j_2]
""",
    "set in another order": """
  alloc w
  for i in 0 .. n:
    for j in 0 .. n:
      w[j] = a[i, j] * 2.0_f64
    for j_2 in 0 .. n:
      c[i, j_2] = w[n - 1 - j_2] + w[j_2]
""",
}


@pytest.mark.parametrize("name", PRIVATE_ARRAYS)
def test_arrays_that_every_iteration_sets_are_private(preserved, name: str) -> None:
    assert not any(" .. " in line for line in raised(preserved, PRIVATE_ARRAYS[name]))


@pytest.mark.parametrize(
    "source",
    [
        # A part of the array keeps what an earlier iteration left in it.
        """
  alloc w zero
  for i in 0 .. n:
    for j in 1 .. n:
      w[j] = a[i, j] * 2.0_f64
    w[0] = w[0] + w[n - 1]
    c[i, 0] = w[0]
""",
        # It is read after the loop.
        """
  alloc w zero
  for i in 0 .. n:
    for j in 0 .. n:
      w[j] = a[i, j] * 2.0_f64
    for j_2 in 0 .. n:
      a[i, j_2] = w[n - 1 - j_2]
  for q in 0 .. n:
    x[q] = w[q]
""",
    ],
)
def test_arrays_that_outlive_an_iteration_are_not(preserved, source: str) -> None:
    assert any(" .. " in line for line in raised(preserved, source))


def test_options_reach_the_pass() -> None:
    context = PassContext(Options(fp="strict"))
    program = text.parse(HEAD + "  for i in 0 .. n:\n    s = s + x[i]\n" + TAIL)
    assert raise_loops.run(program, context) == program
    assert [remark.kind for remark in context.log] == ["missed"]
