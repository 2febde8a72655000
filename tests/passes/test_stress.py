"""A check that is made to fail keeps the accesses behind it where they are."""

from __future__ import annotations

import pytest

from tests.passes.lowering import program
from weft.ir.program import HAND_BACK, Check
from weft.ir.walk import walk
from weft.passes.raising.speculate import is_speculable
from weft.passes.stress import deoptimised

BODY = """
check n < x_0 else IndexError
check n != 0 else ZeroDivisionError
s = (x[n] / f64(n))
"""


@pytest.mark.parametrize("number", range(2))
def test_a_forced_failure_is_as_speculative_as_the_check_it_replaces(number: int) -> None:
    before = program({"x": ("f64", 1), "n": ("i64", 0)}, BODY, "local s: f64", "scalar s")
    chosen = [node for node in walk(before.body) if isinstance(node, Check)][number]
    after = [node for node in walk(deoptimised(before, number).body) if isinstance(node, Check)][number]
    assert after.exception == HAND_BACK
    assert is_speculable(after) == is_speculable(chosen) == (number == 1)
