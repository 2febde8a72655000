"""Values that inner loops do not change are computed before them, and no others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.passes.lowering import assert_same, lowered, program
from weft.ir.text import show
from weft.passes import PassContext, invariant

RNG = np.random.default_rng(4)
PUSH = """
for i in 0 .. r_0:
  for j in p[i] .. p[i + 1]:
    x[c[j]] = x[c[j]] + r[i] / (r[i] + 2.0_f64)
"""


def _given() -> dict[str, np.ndarray]:
    return {
        "x": RNG.random(4),
        "r": RNG.random(3),
        "p": np.array([0, 2, 2, 5]),
        "c": np.array([1, 3, 0, 0, 2]),
    }


def _run(body: str, disjoint: tuple[tuple[str, str], ...] = (("x", "r"), ("x", "c"), ("x", "p"))) -> str:
    for read in ("p[i]", "p[i + 1]", "c[j]"):
        body = body.replace(read, f"int({read})")
    before = program({"x": ("f64", 1), "r": ("f64", 1), "p": ("i64", 1), "c": ("i64", 1)}, body)
    # One thread: sums in partial arrays, which no argument shares memory with, are another pass's work.
    after = invariant.run(replace(lowered(before, parallel=False), disjoint=disjoint), PassContext())
    assert_same(before, _given(), after)
    return show(after)


def test_a_quotient_of_the_row() -> None:
    shown = _run(PUSH)
    assert shown.index("if bool(") < shown.index("x_part = r[") < shown.index("for j in")


@pytest.mark.parametrize(
    "body",
    [
        PUSH.replace("r[i] /", "x[i] /").replace("r[i] + 2", "x[i] + 2"),  # what the loop writes
        PUSH.replace("r[i] + 2.0_f64", "f64(j) + 2.0_f64"),
        PUSH.replace("r[i] / (r[i] + 2.0_f64)", "r[i]"),  # nothing to gain
        PUSH.replace("r[i] / (r[i] + 2.0_f64)", "select(c[j] > 1, r[i] / (r[i] + 2.0_f64), 0.0_f64)"),
    ],
)
def test_what_stays(body: str) -> None:
    assert "x_part" not in _run(body)


def test_arguments_that_may_share_memory_stay() -> None:
    assert "x_part" not in _run(PUSH, disjoint=(("x", "c"),))
