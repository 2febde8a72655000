"""Ranges of variables that loops carry: what is proved, and what must not be."""

from __future__ import annotations

import pytest

from weft.analysis.carried import Carried
from weft.analysis.facts import entry_facts
from weft.ir import text
from weft.ir.expr import Dim, Var, integer

HEAD = """
program f(a, m):
  size n = a.shape[0]
  symbol m = argument m
  param a: f64[n] C
  local k: int
  local j: int
  output #0 = scalar k

"""


def within(body: str, name: str = "k") -> bool:
    program = text.parse(HEAD + body + "  return #0\n")
    inside = entry_facts(program).with_dim(Dim("there", integer(1), Var("n")))
    return Carried(program).within(name, Var("n"), inside)


LOOP = "  for i in 1 .. n:\n    if a[i] < 0.0_f64:\n      k = {0}\n"


@pytest.mark.parametrize("value", ["i", "i - 1", "0", "n - 1", "n - i"])
def test_within(value: str) -> None:
    assert within("  k = 0\n" + LOOP.format(value))


@pytest.mark.parametrize("value", ["i + 1", "n", "-1", "m", "k + 1", "j", "i - 2"])
def test_not_within(value: str) -> None:
    assert not within("  k = 0\n  j = 0\n" + LOOP.format(value))


def test_every_way_counts() -> None:
    assert not within("  k = n\n" + LOOP.format("i"))
    assert not within("  k = 0\n" + LOOP.format("i") + "  if a[0] > 1.0_f64:\n    k = m\n")
    assert within("  k = 0\n" + LOOP.format("i") + "  if 0 <= m and m < n:\n    k = m\n")


def test_what_is_never_set_is_not_known() -> None:
    assert not within("  k = 0\n", "j")
