"""Canonical names: spellings of one mathematics meet, other mathematics stays apart, and no result changes."""

from __future__ import annotations

import numpy as np
import pytest

from weft.ir.canonical import canonical, rename
from weft.ir.interp import run
from weft.ir.text import parse, show
from weft.ir.verify import verify

ONE = """
program scale(x, y, n):
  size x_0 = x.shape[0]
  size x_1 = x.shape[1]
  size y_0 = y.shape[0]
  symbol n = argument n
  param x: f64[x_0, x_1] C
  param y: f64[y_0, x_0] C
  local unused: f64
  local t: f64[n, x_1 - 1]
  result r: f64[x_0, x_1]
  output #0 = tuple(array r, view(r[a, 0] for a: 0 <= a < x_0))
  disjoint y, x
  guard n > y_0 else IndexError "index {0}" {n}
  guard x_0 == n else ValueError "shapes"

  alloc r
  for it in 0 .. n:
    alloc t
    t[it, q] = x[it, q + 1]   for q: 0 <= q < x_1 - 1
  r[a2, b] = y[0, a2] * (sum[k: b <= k < n + x_1] x[0, k - b])   for a2: 0 <= a2 < x_0, b: 0 <= b < x_1
  return #0
"""
OTHER = """
program "another name"(first, second, count):
  size w = first.shape[1]
  size high = first.shape[0]
  size h = second.shape[0]
  symbol count = argument count
  param first: f64[high, w] C
  param second: f64[h, high] C
  result out: f64[high, w]
  local row: f64[count, w - 1]
  output #0 = tuple(array out, view(out[zz, 0] for zz: 0 <= zz < high))
  disjoint first, second
  guard count == high else AssertionError
  guard h < count else AssertionError

  alloc out
  for i in 0 .. count:
    alloc row
    row[i, j] = first[i, 1 + j]   for j: 0 <= j < w - 1
  out[i2, j2] = second[0, i2] * (sum[m: j2 <= m < w + count] first[0, m - j2])   for j2: 0 <= j2 < w, i2: 0 <= i2 < high
  return #0
"""


def test_two_spellings_are_one_program():
    one, other = parse(ONE), parse(OTHER)
    assert one != other
    assert canonical(one) == canonical(other), show(canonical(one)) + show(canonical(other))


def test_it_is_idempotent_and_legal():
    once = canonical(parse(ONE))
    assert canonical(once) == once
    verify(once)
    assert once.params == ("p0", "p1", "p2")
    assert "unused" not in show(once)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("y[0, a2] *", "y[0, a2] +"),
        ("x[0, k - b]", "x[0, k]"),
        ("b <= k < n + x_1", "0 <= k < n + x_1"),
        ("tuple(array r,", "tuple(array x,"),
        ("guard x_0 == n", "guard x_1 == n"),
        ("param y: f64[y_0, x_0] C", "param y: f64[y_0, x_0] F"),
    ],
)
def test_other_mathematics_stays_another_program(old, new):
    assert old in ONE
    assert canonical(parse(ONE.replace(old, new))) != canonical(parse(ONE))


def test_dimensions_follow_the_write_only_where_bounds_allow():
    text = "program f(x):\n  size n = x.shape[0]\n  param x: f64[n, n] C\n  output #0 = None\n\n  {}\n  return #0\n"
    transposed = "x[j, i] = 1.0_f64   for i: 0 <= i < n, j: 0 <= j < {}"
    free = show(canonical(parse(text.format(transposed.format("n")))))
    assert "p0[i0, i1] = 1.0_f64   for i0: 0 <= i0 < n0, i1: 0 <= i1 < n0" in free
    bound = show(canonical(parse(text.format(transposed.format("i")))))
    assert "p0[i1, i0] = 1.0_f64   for i0: 0 <= i0 < n0, i1: 0 <= i1 < i0" in bound


def test_the_meaning_stays():
    text = """
program f(a, n):
  size m = a.shape[0]
  symbol n = argument n
  param a: f64[m] C
  local s: float
  local total: f64
  output #0 = tuple(scalar total, scalar s, array a)

  s = 0.0
  prelude:
    s = s + 1.0
  while s < 3.0:
    a[i] = a[m - 1 - i] + 1.0_f64   for i: 0 <= i < m
  total = sum[k: 0 <= k < n] a[k]
  return #0
"""
    program = parse(text)
    renamed = canonical(program)
    a, b = np.arange(5.0), np.arange(5.0)
    first, second = run(program, {"a": a, "n": 3}), run(renamed, {"p0": b, "p1": 3})
    assert first[:2] == second[:2] == (np.float64(9.0), 3.0)
    np.testing.assert_array_equal(a, b)


def test_renaming_leaves_other_names():
    program = parse(ONE)
    there = rename(program, {"x": "xx", "x_0": "rows", "k": "kk"})
    assert "param xx: f64[rows, x_1] C" in show(there) and "sum[kk: b <= kk" in show(there)
    assert rename(there, {"xx": "x", "rows": "x_0", "kk": "k"}) == program
