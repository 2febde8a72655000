"""An element that a loop sets under conditions is a scalar there, if nothing else may touch it and it surely exists."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.lowering import assert_same, program
from weft.ir.text import show
from weft.passes import PassContext, held

RNG = np.random.default_rng(4)
PLACES = """
alloc at zero
for i in 0 .. a_0:
  best = a[i, 0]
  for j in 1 .. a_1:
    if a[i, j] > best:
      best = a[i, j]
      at[i] = i64(j)
for i_2 in 0 .. a_0:
  k[i_2] = at[i_2]
"""


def _run(body: str) -> str:
    locals_ = "local best: f64\nlocal at: i64[a_0]"
    before = program({"a": ("f64", 2), "k": ("i64", 1)}, body, locals_)
    after = held.run(before, PassContext())
    given = {"a": RNG.random((3, 7)), "k": np.zeros(4, dtype=np.int64)}
    assert_same(before, given, assert_same(after, given))
    return show(after)


@pytest.mark.parametrize(
    "body", [PLACES, PLACES.replace("at[i] = i64(j)", "if j < 5:\n        at[i] = 1_i64\n      at[i] = i64(j)")]
)
def test_a_place_in_each_row(body: str) -> None:
    shown = _run(body)
    assert shown.index("at_held = at[i]") < shown.index("for j in") < shown.index("at[i] = at_held")


@pytest.mark.parametrize(
    "body",
    [
        PLACES.replace("at[i] = i64(j)", "at[j - 1 - (j - 1)] = i64(j)").replace("at[i]", "at[j // 9]"),
        PLACES.replace("at[i] = i64(j)", "k[i] = i64(j)"),  # other arguments may share its memory
        PLACES.replace("= i64(j)", "= at[i] + 1_i64"),
        PLACES.replace("at[i] = i64(j)", "at[0] = 1_i64\n      at[i] = i64(j)"),
        PLACES.replace("a[i, j] > best", "a[i, j] * a[i, j] > best"),
        PLACES.replace(
            "  for j in 1 .. a_1:\n    if a", "  for j in 1 .. a_1:\n    at[i] = 0_i64\n    if j < a_0 and a"
        ),
    ],
)
def test_what_stays(body: str) -> None:
    assert "_held" not in _run(body)


def test_an_element_that_may_not_exist() -> None:
    body = PLACES.replace("at[i] = i64(j)", "at[i + 1] = i64(j)").replace("if a[i, j]", "if i + 1 < a_0 and a[i, j]")
    assert "_held" not in _run(body)
