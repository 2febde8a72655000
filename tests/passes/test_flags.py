"""Flags of extremes: what is set along with the best value so far is told by it behind the loop."""

from __future__ import annotations

import numpy as np
import pytest

from weft.ir.text import show
from weft.passes import flags

HEAD = """
program f(x, y):
  size n = x.shape[0]
  size k = x.shape[1]
  param x: f64[n, k] C
  param y: f64[n] C
  local m: f64
  local flag: bool
  local m2: f64
  local flag2: bool
  output #0 = tuple(scalar m2, scalar flag2)

  m = 0.0_f64
  flag = bool.True
{body}
  m2 = m
  flag2 = flag
  return #0
"""


def calls() -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    found = []
    for shape in ((0, 3), (3, 0), (1, 1), (4, 5)):
        for shift in (-9.0, 0.0, 9.0):
            x = rng.integers(-3, 3, shape) + shift
            found.append({"x": x, "y": rng.integers(-2, 2, shape[0]) * 1.0})
    found.append({"x": np.array([[np.nan, -1.0], [0.0, -0.0]]), "y": np.array([np.nan, 0.0])})
    found.append({"x": np.array([[np.nan, -1.0], [np.inf, np.nan]]), "y": np.array([np.nan, 1.0])})
    return found


BEHIND = {
    "a choice in a nest": """
  for i in 0 .. n:
    for j in 0 .. k:
      flag = select(x[i, j] > m, bool.False, flag)
      m = select(x[i, j] > m, x[i, j], m)
""",
    "the least": """
  for i in 0 .. n:
    for j in 0 .. k:
      flag = select(m > x[i, j], bool.False, flag)
      m = select(m > x[i, j], x[i, j], m)
""",
    "a branch": """
  for i in 0 .. n:
    for j in 0 .. k:
      if x[i, j] > m:
        flag = bool.False
        m = x[i, j]
""",
    "a branch with another condition": """
  for i in 0 .. n:
    for j in 0 .. k:
      if y[i] > 0.0_f64 and x[i, j] > m:
        m = x[i, j]
        flag = bool.False
""",
    "begun again in each row": """
  for i in 0 .. n:
    m = y[i]
    flag = bool.True
    for j in 0 .. k:
      flag = select(x[i, j] > m, bool.False, flag)
      m = select(x[i, j] > m, x[i, j], m)
""",
    "left early": """
  for i in 0 .. n:
    flag = select(y[i] > m, bool.False, flag)
    m = select(y[i] > m, y[i], m)
    if y[i] > 0.5_f64:
      break
""",
}
KEPT = {
    "not strict": """
  for i in 0 .. n:
    flag = select(y[i] >= m, bool.False, flag)
    m = select(y[i] >= m, y[i], m)
""",
    "read in the loop": """
  for i in 0 .. n:
    flag = select(y[i] > m, bool.False, flag)
    m = select(y[i] > m, y[i], m)
    if flag:
      y[i] = 7.0_f64
""",
    "the best value is set otherwise": """
  for i in 0 .. n:
    flag = select(y[i] > m, bool.False, flag)
    m = select(y[i] > m, y[i], m)
    if y[i] < -0.5_f64:
      m = -9.0_f64
""",
    "both ways": """
  for i in 0 .. n:
    flag = select(y[i] > m, bool.False, flag)
    m = select(y[i] > m, y[i], m)
    flag = select(y[i] < m, bool.False, flag)
    m = select(y[i] < m, y[i], m)
""",
    "another value is taken": """
  for i in 0 .. n:
    if y[i] > m:
      flag = bool.False
      m = y[i] - 5.0_f64
""",
    "two values of the flag": """
  for i in 0 .. n:
    flag = select(y[i] > m, bool.False, flag)
    m = select(y[i] > m, y[i], m)
    flag = select(y[i] > m, bool.True, flag)
    m = select(y[i] > m, y[i], m)
""",
}


@pytest.mark.parametrize("name", BEHIND)
def test_the_best_value_tells_the_flag(name: str, preserved) -> None:
    after = preserved(HEAD.format(body=BEHIND[name].strip("\n")), flags.run, calls=calls())
    assert "m_before" in show(after)


@pytest.mark.parametrize("name", KEPT)
def test_other_flags_stay(name: str, preserved) -> None:
    after = preserved(HEAD.format(body=KEPT[name].strip("\n")), flags.run, calls=calls())
    assert "m_before" not in show(after)
