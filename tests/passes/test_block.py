"""Blocks of transposed accesses: which nests are cut, and that cutting changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from weft.ir import interp
from weft.ir.program import Loop
from weft.ir.text import parse
from weft.ir.walk import walk
from weft.passes import PassContext, block

HEAD = """program f(a, b):
  size n = a.shape[0]
  size m = a.shape[1]
  param a: f64[n, m] C
  param b: f64[m, n] {layout}
  output #0 = None

  {kind} i in 0 .. m:
    vector j in {lo} .. n:
      b[i, j] = {value}
  return #0
"""


def text(layout: str = "C", kind: str = "parallel", lo: str = "0", value: str = "a[j, i]") -> str:
    return HEAD.format(layout=layout, kind=kind, lo=lo, value=value)


def loops(program: object) -> int:
    return sum(isinstance(node, Loop) for node in walk(program.body))  # type: ignore[attr-defined]


@pytest.mark.parametrize("shape", [(1, 1), (3, 40), (33, 65), (64, 32), (0, 5), (5, 0)])
@pytest.mark.parametrize("order", ["forward", "reversed", "shuffled"])
def test_blocks_give_the_same(shape: tuple[int, int], order: str) -> None:
    program = parse(text(value="a[j, i] * 2.0_f64 + 1.0_f64"))
    cut = block.run(program, PassContext())
    assert loops(cut) == 4
    a = np.arange(float(shape[0] * shape[1])).reshape(shape)
    b = np.zeros(shape[::-1])
    interp.run(cut, {"a": a, "b": b}, order=order)
    assert np.array_equal(b, a.T * 2 + 1)


@pytest.mark.parametrize(
    "source",
    [
        text(kind="for"),  # a sequential loop keeps its order
        text(lo="i"),  # a triangle
        text(value="a[0, i]"),  # nothing moves along a column
        text(value="b[i, j] + 1.0_f64"),  # every access runs along the inner loop
    ],
)
def test_left_alone(source: str) -> None:
    program = parse(source)
    assert block.run(program, PassContext()) is program
