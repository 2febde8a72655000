"""Reductions of a few points become operations; longer ones, and sums that begin with a zero, stay."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.lowering import assert_same, program
from weft.ir.text import show
from weft.passes import PassContext, terms

RNG = np.random.default_rng(4)
WINDOW = "y[i, j] = max[a: 0 <= a < 2, b: a <= b < 2] x[2 * i + a, 2 * j + b]   for i: 0 <= i < y_0, j: 0 <= j < y_1"


def _given() -> dict[str, np.ndarray]:
    x = RNG.random((6, 8))
    x[1, 1] = np.nan
    return {"x": x, "y": np.zeros((3, 4))}


def _run(body: str) -> str:
    before = program({"x": ("f64", 2), "y": ("f64", 2)}, body)
    after = terms.run(before, PassContext())
    assert_same(before, _given(), assert_same(after, _given()))
    return show(after)


@pytest.mark.parametrize("body", [WINDOW, WINDOW.replace("max[", "min["), f"y[0, 0] = 1.0_f64\n{WINDOW}"])
def test_a_window(body: str) -> None:
    shown = _run(body)
    assert "[a:" not in shown and "x[2 * i, 2 * j + 1]" in shown and "x[2 * i + 1, 2 * j]" not in shown


@pytest.mark.parametrize(
    "body",
    [
        WINDOW.replace("max[", "sum["),  # 0.0 + -0.0 is another number than -0.0
        WINDOW.replace("0 <= a < 2", "0 <= a < y_0").replace("2 * i + a", "i"),
        WINDOW.replace("a <= b < 2", "0 <= b < 30").replace("2 * j + b", "j"),
        WINDOW.replace("a <= b < 2", "0 <= b < 0"),  # the greatest of nothing
    ],
)
def test_what_stays(body: str) -> None:
    assert "[a:" in _run(body)


def test_a_sum_of_one_point() -> None:
    shown = _run("for i in 0 .. y_0:\n  y[i, 0] = y[i, 1] + (sum[q: 0 <= q < 3] x[i, q])")
    assert "sum[" not in shown and "0.0_f64 + x[i, 0] + x[i, 1] + x[i, 2]" in shown
