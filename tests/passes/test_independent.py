"""Loops whose iterations are independent, and loops that only look so."""

from __future__ import annotations

import pytest

from weft.ir.program import Loop
from weft.ir.text import parse
from weft.ir.verify import verify
from weft.passes.scheduling.independent import why_not_independent

HEAD = """
program f(a):
  size a_0 = a.shape[0]
  param a: f64[a_0] C
  local x: f64
  output #0 = None

"""


def reason(body: str) -> str | None:
    program = parse(HEAD + body + "  return #0\n")
    verify(program)
    loop = program.body[0]
    assert isinstance(loop, Loop)
    return why_not_independent(loop, program, {"a"})


@pytest.mark.parametrize(
    "low, high",
    [
        ("0", "minimum(512, a_0 - 512 * b)"),
        ("512 * b", "minimum(512, a_0 - 512 * b) + 512 * b"),
        ("512 * b", "minimum(512 * b + 512, a_0)"),
    ],
)
def test_blocks_are_apart_wherever_their_dimension_starts(low: str, high: str) -> None:
    index = "512 * b + k" if low == "0" else "k"
    body = f"  for b in 0 .. a_0:\n    a[{index}] = 1.0_f64   for k: {low} <= k < {high}\n"
    assert reason(body) is None


@pytest.mark.parametrize("high", ["minimum(513 + 512 * b, a_0)", "a_0", "512 * b + a_0"])
def test_blocks_that_reach_into_the_next(high: str) -> None:
    body = f"  for b in 0 .. a_0:\n    a[k] = 1.0_f64   for k: 512 * b <= k < {high}\n"
    assert reason(body) == "iterations may touch the same elements of a"


def test_a_start_that_an_inner_loop_moves() -> None:
    body = (
        "  for b in 0 .. a_0:\n    for i in 0 .. a_0:\n"
        "      a[512 * b + k] = 1.0_f64   for k: i <= k < minimum(i + 512, a_0 - 512 * b)\n"
    )
    assert reason(body) == "iterations may touch the same elements of a"
