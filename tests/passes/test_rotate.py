"""Names that change places: which loops become loops in which they do not."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from weft.ir import interp
from weft.ir.program import Loop, Program
from weft.ir.text import parse
from weft.passes import PassContext, trapezoid
from weft.passes.rotate import Rotation, rotation_of
from weft.passes.scheduling.lower import Workspace

HEAD = """program f(steps, a, b, c):
  symbol steps = argument steps
  size n = a.shape[0]
  param a: f64[n] C
  param b: f64[n] C
  param c: f64[n] C
  local odd: bool
  local s: f64
  disjoint a, b
  disjoint a, c
  disjoint b, c
  output #0 = None

  odd = bool.False
  for t in 1 .. steps:
{body}
  return #0
"""
SWEEP = """
    parallel i in 1 .. n - 1:
      b[i] = a[i - 1] - a[i + 1] * 0.5_f64 + f64(t)
"""


def program(body: str) -> Program:
    return parse(HEAD.format(body=body.strip("\n")))


def rotation(body: str) -> Rotation | str | None:
    found = program(body)
    (loop,) = (node for node in found.body if isinstance(node, Loop))
    return rotation_of(loop, Workspace.of(found, strict=False))


@pytest.mark.parametrize(
    ("end", "count"),
    [
        ("    rebind a, b = b, a\n", 2),
        ("    rebind a, b = b, a\n    odd = not odd\n", 2),
        ("    rebind a, b, c = b, c, a\n", 3),
    ],
)
@pytest.mark.parametrize("steps", [0, 1, 2, 3, 8, 11])
def test_as_many_steps_as_bring_all_names_back(end: str, count: int, steps: int) -> None:
    found = rotation(SWEEP + end)
    assert isinstance(found, Rotation)
    assert len(found.whole.body) == count
    before = program(SWEEP + end)
    after = trapezoid.run(before, PassContext())
    assert after is not before
    one = {"steps": steps, **{name: np.random.default_rng(7).random(60) for name in "abc"}}
    other = copy.deepcopy(one)
    interp.run(before, one)
    interp.run(after, other, order="shuffled")
    for name in "abc":
        np.testing.assert_array_equal(one[name], other[name])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        # Only in some steps.
        (SWEEP + "    if bool(t > 3):\n      rebind a, b = b, a\n", None),
        (SWEEP + "    rebind a, b = b, a\n    if bool(t > 3):\n      rebind a, b = b, a\n", "more than once"),
        # The flag is more than a flag.
        (SWEEP + "    rebind a, b = b, a\n    s = f64(odd)\n    odd = not odd\n", "odd steps from even"),
        # Six steps until both are back.
        (SWEEP + "    rebind a, b, c = b, c, a\n    odd = not odd\n", "many steps"),
        # It may end with names changed.
        (SWEEP + "    rebind a, b = b, a\n    if bool(t > 3):\n      break\n", "may be left"),
    ],
)
def test_refused(body: str, reason: str | None) -> None:
    found = rotation(body)
    assert found is None if reason is None else isinstance(found, str) and reason in found
    before = program(body)
    assert trapezoid.run(before, PassContext()) is before
