"""Values of the iteration before: computed anew where the loop does not change what they are made of."""

from __future__ import annotations

import numpy as np
import pytest

from weft.ir.text import show
from weft.passes import previous, raise_loops, simplify

HEAD = """
program f(x, y, z):
  size n = x.shape[0]
  param x: f64[n] C
  param y: f64[n] C
  param z: f64[n] C
  local p: f64
  local q: f64
  local r: f64
  local s: f64
  local t: f64
  output #0 = tuple(scalar p, scalar q, scalar r, scalar s)

  p = 0.5_f64
  q = 1.5_f64
  r = 2.5_f64
  s = 0.0_f64
{body}
  return #0
"""


def calls() -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    return [{name: rng.integers(-9, 9, n) * 1.0 for name in "xyz"} for n in (0, 1, 2, 3, 9)]


ANEW = {
    "the value before": """
  for i in 0 .. n:
    y[i] = x[i] - p
    p = x[i]
""",
    "downwards": """
  for i in n - 1 .. -1 step -1:
    y[i] = x[i] - p
    p = x[i] * 2.0_f64
""",
    "every second": """
  for i in 0 .. n step 2:
    y[i] = x[i] - p
    p = x[i]
""",
    "by way of another variable": """
  for i in 0 .. n:
    t = x[i] * 2.0_f64
    y[i] = t - p
    p = t
""",
    "two values back": """
  for i in 0 .. n:
    y[i] = x[i] - q + p
    q = p
    p = x[i]
""",
    "beside a sum": """
  for i in 0 .. n:
    s = s + (x[i] - p) * 0.5_f64
    p = x[i]
""",
    "chosen": """
  for i in 0 .. n:
    if x[i] > p:
      y[i] = 1.0_f64
    p = select(z[i] > 0.0_f64, x[i], z[i])
""",
}


@pytest.mark.parametrize("name", ANEW)
def test_values_before_are_computed_anew(name: str, preserved) -> None:
    source = HEAD.format(body=ANEW[name].strip("\n"))
    preserved(source, previous.run, calls=calls())
    assert any("computes anew" in remark for remark in preserved.remarks)
    after = preserved(source, simplify.run, previous.run, raise_loops.run, simplify.run, calls=calls())
    assert "for i in" not in show(after)


KEPT = {
    "it depends on itself": """
  for i in 0 .. n:
    y[i] = x[i] - p
    p = x[i] * p
""",
    "on what the loop changes": """
  for i in 0 .. n:
    p = y[i]
    y[i] = x[i] - q
    q = p
""",
    "an array as well": """
  for i in 1 .. n:
    y[i] = y[i - 1] - p
    p = x[i]
""",
    "dear": """
  for i in 0 .. n:
    y[i] = x[i] - p
    p = sqrt(exp(x[i]))
""",
    "set under a condition": """
  for i in 0 .. n:
    y[i] = x[i] - p
    if x[i] > 0.0_f64:
      p = x[i]
""",
    "far back": """
  for i in 0 .. n:
    y[i] = x[i] - s
    s = r
    r = q
    q = p
    p = x[i]
""",
    "left early": """
  for i in 0 .. n:
    y[i] = x[i] - p
    p = x[i]
    if p > 3.0_f64:
      break
""",
}


@pytest.mark.parametrize("name", KEPT)
def test_other_loops_stay(name: str, preserved) -> None:
    preserved(HEAD.format(body=KEPT[name].strip("\n")), previous.run, calls=calls())
    assert not preserved.remarks
