"""Values that several statements of a loop compute alike: named once, never where a store or a choice is in between."""

from __future__ import annotations

import numpy as np
import pytest

from weft.ir import interp
from weft.ir.program import Loop, Program, Stmt
from weft.ir.text import parse
from weft.ir.verify import Stage, verify
from weft.ir.walk import walk
from weft.passes import PassContext, repeated

TEXT = """program f(x, q, g, h):
  size n = x.shape[0]
  size m = g.shape[0]
  param x: f64[n] C
  param q: f64[n] C
  param g: f64[m] C
  param h: f64[m] C
  {disjoint}
  output #0 = None

  {kind} i in 0 .. n:
    {first}
    {second}
  return #0
"""
DISJOINT = "disjoint x, g\n  disjoint x, h\n  disjoint q, g\n  disjoint q, h\n  disjoint g, h"
FIRST = "g[int(trunc(x[i]))] = g[int(trunc(x[i]))] + q[i] * x[i]"
SECOND = "h[int(trunc(x[i])) + 1] = h[int(trunc(x[i])) + 1] + (1.0_f64 - q[i] * x[i])"


def made(first: str = FIRST, second: str = SECOND, kind: str = "for", disjoint: str = DISJOINT) -> Program:
    return parse(TEXT.format(first=first, second=second, kind=kind, disjoint=disjoint))


def named(before: Program) -> int:
    """How many values get a name; the results are those of the program before."""
    after = repeated.run(before, PassContext())
    verify(after, Stage.LOWERED)
    rng = np.random.default_rng(3)
    given = {"x": rng.random(9) * 4, "q": rng.random(9), "g": rng.random(6), "h": rng.random(6)}
    copies = [{name: array.copy() for name, array in given.items()} for _ in range(2)]
    for program, arguments in zip((before, after), copies):
        interp.run(program, arguments)
    assert all(np.array_equal(copies[0][name], copies[1][name]) for name in given)
    (loop,) = (node for node in walk(after.body) if isinstance(node, Loop))
    return sum(isinstance(node, Stmt) and not node.index for node in loop.body)


def test_each_value_is_computed_once() -> None:
    assert named(made()) == 3  # x[i], its integer, and the product: q[i] is only in that


@pytest.mark.parametrize(
    "changed",
    [
        {"disjoint": ""},  # arguments may share memory
        {"first": "x[i] = x[i] * q[i]", "second": "g[0] = x[i] * 2.0_f64"},  # the second needs what the first wrote
        {"first": "g[0] = q[i] + 1.0_f64", "second": "h[0] = select(q[0] > 2.0_f64, q[i] + 1.0_f64, 0.0_f64)"},
    ],
)
def test_what_is_not_named(changed: dict[str, str]) -> None:
    assert named(made(**changed)) == 0
