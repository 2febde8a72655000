"""`continue` as a branch: what follows goes into it, unless it would have to be written twice."""

from __future__ import annotations

import numpy as np
import pytest

from weft.ir.text import show
from weft.passes import continues

HEAD = """
program f(x, y):
  size n = x.shape[0]
  param x: i64[n] C
  param y: i64[n] C
  local s: i64
  local t: i64
  output #0 = tuple(scalar s, scalar t)

  s = 0_i64
  t = 0_i64
{body}
  return #0
"""


def after(preserved, body: str) -> str:
    rng = np.random.default_rng(0)
    calls = [{"x": rng.integers(-3, 4, n), "y": rng.integers(-3, 4, n)} for n in (0, 1, 7, 40)]
    return show(preserved(HEAD.format(body=body.strip("\n")), continues.run, calls=calls))


BRANCHES = [
    """
  for i in 0 .. n:
    if x[i] < 0_i64:
      continue
    s = s + x[i]
    if y[i] > 1_i64:
      t = t + 1_i64
      continue
    y[i] = s
""",
    """
  for i in 0 .. n:
    t = t + 1_i64
    if x[i] < 0_i64:
      if y[i] < 0_i64:
        s = s - 1_i64
        continue
      else:
        s = s + 5_i64
        continue
    else:
      if x[i] == 1_i64:
        continue
      t = t + y[i]
    y[i] = t
""",
    """
  for i in 0 .. n:
    for j in 0 .. 3:
      if x[i] == 1_i64:
        continue
      s = s + 1_i64
    if x[i] > 0_i64:
      y[i] = s
    else:
      continue
    t = t + s
    continue
    t = 0_i64
""",
    """
  for i in 0 .. n:
    if x[i] < 0_i64:
      continue
    if y[i] == 2_i64:
      break
    s = s + x[i]
""",
]


@pytest.mark.parametrize("body", BRANCHES)
def test_branches_instead(body: str, preserved) -> None:
    assert "continue" not in after(preserved, body)


def test_what_would_be_written_twice_stays(preserved) -> None:
    body = """
  for i in 0 .. n:
    if x[i] < 0_i64:
      s = s + 1_i64
      if y[i] < 0_i64:
        continue
      t = t + 1_i64
    y[i] = s + t
"""
    assert "continue" in after(preserved, body)


def test_a_long_row_of_them_stays(preserved) -> None:
    tests = "".join(f"    if x[i] == {k}_i64:\n      continue\n" for k in range(20))
    assert "continue" in after(preserved, f"  for i in 0 .. n:\n{tests}    y[i] = 0_i64\n")
