"""Small nests whose loops' bounds depend on each other are written out inside a loop that stays, and no others."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.lowering import assert_same, program
from weft.ir.text import show
from weft.passes import PassContext, unroll

RNG = np.random.default_rng(4)
SOLVES = """
for t in 0 .. a_0:
  for k in 0 .. 3:
    for i in k + 1 .. 3:
      f = a[t, i, k] / a[t, k, k]
      for j in k .. 3:
        a[t, i, j] = a[t, i, j] - f * a[t, k, j]
  for r in 2 .. -1 step -1:
    if a[t, r, r] > 3.0_f64:
      a[t, r, 0] = sum[q: r <= q < 3] a[t, r, q]
"""


def _run(body: str) -> str:
    given = {"a": RNG.random((5, 3, 3)) + 3.0 * np.eye(3)}
    before = program({"a": ("f64", 3)}, body, "local f: f64")
    after = unroll.run(before, PassContext())
    assert_same(before, given, assert_same(after, given))
    return show(after)


def test_elimination() -> None:
    shown = _run(SOLVES)
    assert "for k" not in shown and "for i" not in shown and "for j" not in shown and "for t" in shown
    assert "f = a[t, 2, 1] / a[t, 1, 1]" in shown and shown.count("f = ") == 3


@pytest.mark.parametrize(
    "body",
    [
        SOLVES.replace("in 0 .. 3:", "in 0 .. a_1:"),
        SOLVES.replace("k + 1 .. 3", "0 .. 3").replace("k .. 3", "0 .. 3"),  # nothing depends on k
        SOLVES.replace("      f = a", "      if a[t, i, i] > 9.0_f64:\n        break\n      f = a"),
    ],
)
def test_what_stays(body: str) -> None:
    assert "for k" in _run(body)


def test_no_loop_stays() -> None:
    alone = SOLVES.replace("for t in 0 .. a_0:", "if a_0 > 4:").replace("a[t,", "a[4,")
    assert "for k" in _run(alone)


def test_many_statements_stay() -> None:
    long = SOLVES.replace(".. 3:", ".. 14:")
    before = program({"a": ("f64", 3)}, long, "local f: f64")
    assert "for k" in show(unroll.run(before, PassContext()))
