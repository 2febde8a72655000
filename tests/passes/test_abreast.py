"""Sums of independent iterations side by side: the same sums, in the order of the source."""

from __future__ import annotations

import numpy as np
import pytest

from weft.ir import interp
from weft.ir.program import Loop, LoopKind, Program
from weft.ir.text import parse
from weft.ir.verify import Stage, verify
from weft.ir.walk import walk
from weft.passes import PassContext, abreast

HEAD = """program f(a, w, y):
  size n = a.shape[0]
  size m = a.shape[1]
  size p = w.shape[0]
  size q = w.shape[1]
  param a: f64[n, m] C
  param w: f64[p, q] C
  param y: f64[n, m] C
  local s: f64
  local t: f64
  disjoint a, w
  disjoint a, y
  disjoint w, y
  output #0 = None

{body}
  return #0
"""
WINDOWS = """
  parallel i in 0 .. n - p + 1:
    for j in 0 .. m - q + 1:
      s = 0.0_f64
      for k in i .. i + p:
        vector l in j .. j + q reducing s by add:
          s = s + a[k, l] * w[k - i, l - j]
      y[i, j] = s
"""
GREATEST = """
  parallel j in 0 .. m:
    s = a[0, j]
    t = 1.0_f64
    vector k in 0 .. n reducing s by maximum:
      s = maximum(s, a[k, j])
    for k_2 in 0 .. n:
      vector l in 0 .. 1 reducing t by mul:
        t = t * a[k_2, j]
    y[0, j] = s + t
"""
BODIES = {"windows": WINDOWS, "two sums": GREATEST}


def program(body: str) -> Program:
    found = parse(HEAD.format(body=body.strip("\n")))
    verify(found, Stage.LOWERED)
    return found


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
@pytest.mark.parametrize(
    ("rows", "columns", "window"), [(3, 5, (1, 1)), (4, 45, (3, 2)), (2, 84, (2, 5)), (1, 9, (1, 9))]
)
def test_the_same_sums_wherever_they_stand(body: str, rows: int, columns: int, window: tuple[int, int]) -> None:
    before = program(body)
    after = abreast.run(before, PassContext())
    verify(after, Stage.LOWERED)
    assert not any(node.accumulators for node in walk(after.body) if isinstance(node, Loop))
    rng = np.random.default_rng(rows)
    one = {"a": rng.integers(-9, 9, (rows, columns)) * 1.0, "w": rng.integers(-9, 9, window) * 1.0}
    one["y"] = np.zeros((rows, columns))
    other = {name: array.copy() for name, array in one.items()}
    interp.run(before, one)
    interp.run(after, other, order="shuffled")
    np.testing.assert_array_equal(one["y"], other["y"])


def test_strips_are_vectors_of_constant_length() -> None:
    after = abreast.run(program(WINDOWS), PassContext())
    vectors = [node for node in walk(after.body) if isinstance(node, Loop) and node.kind is LoopKind.VECTOR]
    assert {(node.dim.lo.value, node.dim.hi.value) for node in vectors} == {(0, 32), (0, 8)}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            """
  for j in 0 .. m:
    s = 0.0_f64
    vector k in 0 .. q reducing s by add:
      s = s + a[j, k] * w[0, k]
    y[0, j] = s
""",
            "memory does not run along the iterations",
        ),
        (
            """
  for j in 0 .. m:
    s = 0.0_f64
    vector k in 0 .. j reducing s by add:
      s = s + a[0, j] * w[0, k]
    y[0, j] = s
""",
            "sums of different lengths",
        ),
        (
            """
  for j in 0 .. m:
    s = 0.0_f64
    vector k in 0 .. q reducing s by add:
      s = s + a[0, 2 * j] * w[0, k]
    y[0, j] = s
""",
            "memory does not run along the iterations",
        ),
    ],
)
def test_why_not(body: str, reason: str) -> None:
    found = program(body)
    loop = next(node for node in walk(found.body) if isinstance(node, Loop))
    assert abreast.why_not(loop, found.table) == reason


def test_iterations_that_need_each_other_stay_in_order() -> None:
    before = program("""
  for j in 1 .. m - q:
    s = y[0, j - 1]
    vector k in 0 .. q reducing s by add:
      s = s + a[0, j + k] * w[0, k]
    y[0, j] = s
""")
    assert abreast.run(before, PassContext()) is before
