"""Conjunctions over short rows: as one loop over all elements where these follow each other."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.lowering import assert_same, program
from weft.ir.program import If, Program
from weft.ir.text import parse, show
from weft.passes.scheduling.flat import flattened

TEXT = """
if all[i: 0 <= i < a_0, k: {lo} <= k < {width}] {condition}:
  b[0] = 1.0_f64
else:
  b[0] = 2.0_f64
"""
PARTS = [
    ("8", "a[i, k] < 3", "C", 8, True),
    ("8", "a[i, k] >= 0 and a[i, k] < 5", "C", 8, True),
    ("8", "a[i, k] < 3", "F", 8, False),
    ("7", "a[i, k] < 3", "C", 8, False),  # rows that are not used to their end
    ("8", "a[i, 7 - k] < 3", "C", 8, False),
    ("8", "a[i, k] < i", "C", 8, False),
    ("100", "a[i, k] < 3", "C", 100, False),  # long rows
]


@pytest.mark.parametrize(("width", "condition", "layout", "columns", "flat"), PARTS)
@pytest.mark.parametrize("lo", ["0", "1"])
def test_short_rows(width: str, condition: str, layout: str, columns: int, flat: bool, lo: str) -> None:
    body = TEXT.format(width=width, condition=condition.replace("a[", "int(a[").replace("k]", "k])"), lo=lo)
    text = show(program({"a": ("i64", 2), "b": ("f64", 1)}, body, layout=layout))
    before = _parsed(text, columns)
    (test,) = (node.condition for node in before.body if isinstance(node, If))
    after = flattened(test, before.table, lambda name: name + "_flat")
    assert (after != test) == (flat and lo == "0")
    for value in (1, 4):
        for rows in (0, 1, 3):
            a = np.full((rows, columns), 1)
            a[-1:, -1:] = value
            given = np.asfortranarray(a) if layout == "F" else a
            assert_same(before, {"a": given, "b": np.zeros(2)})


def _parsed(text: str, columns: int) -> Program:
    """The program for rows of a constant length."""
    text = text.replace("  size a_1 = a.shape[1]\n", "").replace("a_0, a_1]", f"a_0, {columns}]")
    return parse(text)
