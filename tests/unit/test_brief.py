"""Which calls are so short that they keep the interpreter lock."""

from __future__ import annotations

import pytest

from weft.analysis.brief import hold_below
from weft.ir.text import parse

HEAD = """
program f(a, n):
  size a_0 = a.shape[0]
  symbol n = argument n
  param a: f64[a_0] C
  local s: f64
  local k: int
  local t: f64[{room}]
  output #0 = None
"""


@pytest.mark.parametrize(
    "body, expected",
    [
        ("s = a[0]", 1 << 40),
        ("for i in 0 .. a_0:\n    s = s + a[i]", 1024),
        ("if a[0] > 0.0_f64:\n    for i in 0 .. a_0:\n      s = s + a[i]", 1024),
        ("for i in 0 .. a_0:\n    for j in 0 .. i:\n      s = s + a[j]", 128),
        ("k = a_0 // 2\n  for i in 0 .. k:\n    s = s + a[i]", 1024),
        ("k = n\n  for i in 0 .. k:\n    s = s + 1.0_f64", 0),
        ("k = 0\n  k = k + a_0\n  for i in 0 .. k:\n    s = s + 1.0_f64", 0),
        ("for i in 0 .. n:\n    s = s + 1.0_f64", 0),
        ("for i in 0 .. 2 * a_0 + 3:\n    s = s + 1.0_f64", 1024),
        ("for i in 0 .. a_0 * a_0:\n    s = s + 1.0_f64", 0),
        ("k = 64 * a_0\n  k = 64 * k\n  for i in 0 .. k:\n    s = s + 1.0_f64", 0),
        ("for i in 0 .. 16:\n    s = s + 1.0_f64", 1024),
        ("for i in 0 .. 1000000000:\n    s = s + 1.0_f64", 0),
        ("while s < 1.0_f64:\n    s = s + a[0]", 0),
        ("alloc t\n  s = t[0]", 1024),
    ],
)
def test_work_that_sizes_bound_keeps_the_lock(body: str, expected: int) -> None:
    program = parse(f"{HEAD.format(room='a_0')}\n  {body}\n  return #0\n")
    assert hold_below(program) == expected


def test_memory_of_an_unknown_size_does_not() -> None:
    assert hold_below(parse(f"{HEAD.format(room='n')}\n  alloc t\n  return #0\n")) == 0
