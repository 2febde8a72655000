"""Followers of running values: they join the loop where that changes nothing, and stay behind where it would."""

from __future__ import annotations

import numpy as np
import pytest

from weft.passes import follow

HEAD = """
program f(x, y, z):
  size n = x.shape[0]
  param x: f64[n] C
  param y: f64[n] C
  param z: f64[n] C
  local t: f64[n]
  local w: f64[n]
  result r: f64[n + 1]
  result q: f64[n]
  output #0 = tuple(array r, array q)
  guard 2 <= n else ValueError "n"

  alloc r
  alloc q
  r[e] = 0.0_f64   for e: 0 <= e < n + 1
  q[e2] = 1.0_f64   for e2: 0 <= e2 < n
  alloc t
{body}
  return #0
"""
SCAN = """
  t[0] = x[0] + 1.0_f64
  for k in 1 .. n:
    t[k] = t[k - 1] * 0.5_f64 + x[k]
"""


def calls() -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    return [{name: rng.standard_normal(n) for name in "xyz"} for n in (2, 3, 9)]


def after(preserved, body: str) -> str:
    from weft.ir.text import show

    return show(preserved(HEAD.format(body=body.strip("\n")), follow.run, calls=calls()))


JOINED = {
    "the same elements": "  q[i] = t[i] * 2.0_f64   for i: 0 <= i < n",
    "with others": "  q[i] = t[i] + y[i] - z[0]   for i: 0 <= i < n",
    "displaced": "  r[i + 1] = t[i]   for i: 0 <= i < n",
    "behind its variable": "  r[i] = t[i - 1] * t[i - 1]   for i: 1 <= i < n + 1",
    "backwards": "  q[n - 1 - i] = t[i]   for i: 0 <= i < n",
    "two of them": "  q[i] = t[i] * 2.0_f64   for i: 0 <= i < n\n  r[j] = t[j]   for j: 0 <= j < n",
    "memory between": "  alloc w\n  q[i] = t[i]   for i: 0 <= i < n",
}


@pytest.mark.parametrize("name", JOINED)
def test_followers_join(name: str, preserved) -> None:
    shown = after(preserved, SCAN + JOINED[name])
    assert "local t: f64[n]" not in shown and "t[k]" not in shown
    assert any("no temporary between them" in remark for remark in preserved.remarks)


STAY = {
    "another element": "  q[i] = t[n - 1] - t[i]   for i: 0 <= i < n",
    "in another order": "  q[i] = t[n - 1 - i]   for i: 0 <= i < n",
    "not all": "  q[i] = t[i]   for i: 1 <= i < n",
    "a sum": "  q[i] = t[i] + sum[j: 0 <= j < n] y[j]   for i: 0 <= i < n",
    "dear": "  q[i] = sin(exp(t[i]))   for i: 0 <= i < n",
    "used again": "  q[i] = t[i]   for i: 0 <= i < n\n  r[0] = t[n - 1]",
    "its input is changed": "  x[i] = t[i]   for i: 0 <= i < n",
    "memory of the caller that may overlap": "  y[i] = t[i]   for i: 0 <= i < n",
    "one of another": "  q[i] = t[i]   for i: 0 <= i < n\n  r[j] = t[j] + q[j]   for j: 0 <= j < n",
    "something between": "  r[0] = q[0]\n  q[i] = t[i]   for i: 0 <= i < n",
}


@pytest.mark.parametrize("name", STAY)
def test_followers_stay(name: str, preserved) -> None:
    shown = after(preserved, SCAN + STAY[name])
    assert "local t: f64[n]" in shown
    assert not preserved.remarks


@pytest.mark.parametrize(
    "body",
    [
        "  t[e3] = x[e3]   for e3: 0 <= e3 < n\n  for k in 1 .. n:\n    t[k] = t[k - 1] + t[k]\n",
        "  t[0] = x[0]\n  for k in 1 .. n:\n    t[k] = t[k - 1] + x[k]\n    y[k] = t[k]\n",
        "  t[0] = x[0]\n  t[1] = x[1]\n  for k in 2 .. n:\n    t[k] = t[k - 1] + t[k - 2]\n",
        "  t[n - 1] = x[0]\n  for k in n - 2 .. -1 step -1:\n    t[k] = t[k + 1] + x[k]\n",
    ],
)
def test_other_loops_are_left_alone(body: str, preserved) -> None:
    shown = after(preserved, body + JOINED["the same elements"])
    assert "local t: f64[n]" in shown
