"""Rows four at a time: the same sums in the same order."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from weft.ir import interp
from weft.ir.expr import Dim
from weft.ir.program import Loop, Program
from weft.ir.text import parse
from weft.ir.verify import Stage, verify
from weft.ir.walk import walk
from weft.passes import PassContext, jam

HEAD = """program f(a, x, y):
  size n = a.shape[0]
  size m = a.shape[1]
  param a: f64[n, m] C
  param x: f64[m] C
  param y: f64[n] C
  local s: f64
  local q: f64
  disjoint a, x
  disjoint a, y
  disjoint x, y
  output #0 = None

{body}
  return #0
"""
COLUMNS = """
  for k in 0 .. n:
    vector i in 0 .. m:
      x[i] = x[i] + a[k, i] * y[k]
"""
PRODUCTS = """
  for k in 1 .. n - 1:
    vector i in 1 .. m:
      x[i] = a[k - 1, i] - x[i] * a[k + 1, i - 1]
"""
ROWS = """
  parallel i in 0 .. n:
    q = y[i] * 0.5_f64
    s = 0.0_f64
    vector j in 0 .. m reducing s by add:
      s = s + a[i, j] * x[j]
    y[i] = q + s
"""
BODIES = {"columns": COLUMNS, "products": PRODUCTS, "rows": ROWS}


def program(body: str) -> Program:
    found = parse(HEAD.format(body=body.strip("\n")))
    verify(found, Stage.LOWERED)
    return found


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
@pytest.mark.parametrize(("rows", "columns"), [(0, 4), (2, 3), (4, 5), (7, 1), (13, 9), (18, 4)])
def test_the_same_sums(monkeypatch: pytest.MonkeyPatch, body: str, rows: int, columns: int) -> None:
    monkeypatch.setattr(jam, "LEAST_COLUMNS", 4)
    before = program(body)
    after = jam.run(before, PassContext())
    verify(after, Stage.LOWERED)
    assert any(isinstance(node, Loop) and isinstance(node.dim, Dim) and node.dim.step == 4 for node in walk(after.body))
    rng = np.random.default_rng(rows)
    one = {"a": rng.random((rows, columns)), "x": rng.random(columns), "y": rng.random(rows)}
    other = copy.deepcopy(one)
    interp.run(before, one)
    interp.run(after, other, order="shuffled")
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        # It reads elements that other iterations of the inner loop write.
        (
            """
  for k in 0 .. n:
    vector i in 0 .. m - 1:
      x[i] = x[i] + a[k, i] * x[m - 1]
""",
            "reads other elements",
        ),
        # Every iteration has a row of its own.
        (
            """
  for k in 1 .. n:
    vector i in 0 .. m:
      a[k, i] = a[k, i] + x[i]
""",
            "writes elsewhere",
        ),
        # Rows of different lengths.
        (
            """
  for k in 0 .. minimum(n, m):
    vector i in 0 .. k:
      x[i] = x[i] + a[k, i]
""",
            "different lengths",
        ),
        # Few of them.
        (
            """
  for k in 0 .. 3:
    vector i in 0 .. m:
      x[i] = x[i] + 2.0_f64
""",
            "few iterations",
        ),
    ],
)
def test_columns_refused(body: str, reason: str) -> None:
    before = program(body)
    (loop,) = (node for node in before.body if isinstance(node, Loop))
    found = jam.why_not_columns(loop)
    assert found is not None and reason in found
    assert jam.run(before, PassContext()) is before


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            """
  parallel i in 0 .. minimum(n, m):
    s = 0.0_f64
    vector j in 0 .. i reducing s by add:
      s = s + a[i, j]
    y[i] = s
""",
            "different lengths",
        ),
        (
            """
  parallel i in 0 .. n:
    s = 0.0_f64
    vector j in 0 .. m reducing s by add:
      s = s + exp(a[i, j])
    y[i] = s
""",
            "wait for memory",
        ),
        (
            """
  parallel i in 0 .. n:
    s = 0.0_f64
    vector j in 0 .. m reducing s by add:
      s = s + x[j]
    y[i] = s
""",
            "the same",
        ),
    ],
)
def test_rows_refused(body: str, reason: str) -> None:
    before = program(body)
    (loop,) = (node for node in before.body if isinstance(node, Loop))
    found = jam.why_not_rows(loop)
    assert found is not None and reason in found
    assert jam.run(before, PassContext()) is before
