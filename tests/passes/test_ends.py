"""Places along a line are tested at its ends; where that does not tell, the loop runs as it was."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.lowering import assert_same, lowered, program
from weft.ir.text import show
from weft.passes import PassContext, ends

LINE = """
for q in 0 .. m[0]:
  k = select((b[0] + s * q < 0 as bool), b[0] + s * q + a_0, b[0] + s * q)
  check (k >= 0 as bool) and (k < a_0 as bool) else IndexError
  a[k] = a[k] + 1.0_f64
"""
ARRAYS = {"a": ("f64", 1), "m": ("i64", 1), "b": ("i64", 1), "given": ("i64", 1)}
LOCALS = "local k: int\nlocal s: int"


def _program(body: str) -> tuple[object, object]:
    body = "s = int(given[0])" + body.replace("m[0]", "int(m[0])").replace("b[0]", "int(b[0])")
    before = program(ARRAYS, body, LOCALS)
    low = lowered(before, parallel=False)
    return before, ends.run(low, PassContext())


def _arguments(count: int, begin: int, step: int) -> dict[str, np.ndarray]:
    return {"a": np.zeros(20), "m": np.array([count]), "b": np.array([begin]), "given": np.array([step])}


@pytest.mark.parametrize(
    ("count", "begin", "step"),
    [(5, 0, 4), (0, 30, 4), (-3, 0, 4), (5, 19, -4), (4, 3, 0), (1, 19, 2**40), (5, -20, 4), (7, -3, 1), (3, 2, -2)],
)
def test_the_same_elements(count: int, begin: int, step: int) -> None:
    before, after = _program(LINE)
    shown = show(after)  # type: ignore[arg-type]
    assert "first" in shown and shown.count("check") == 1
    assert_same(before, _arguments(count, begin, step), after)  # type: ignore[arg-type]


@pytest.mark.parametrize(("count", "begin", "step"), [(6, 0, 4), (3, 30, -4), (2, -21, 1), (2, 1, 2**61)])
def test_the_same_error(count: int, begin: int, step: int) -> None:
    from weft.ir import interp

    for each in _program(LINE):
        with pytest.raises(IndexError):
            interp.run(each, _arguments(count, begin, step))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "body",
    [
        LINE.replace("s * q", "q"),  # a test costs less than what is done before such a loop
        LINE.replace("  a[k]", "  s = s + 1\n  a[k]"),
        LINE.replace("s * q", "s * (q * q)"),
        LINE.replace("0 .. m[0]", "0 .. 3"),
    ],
)
def test_what_stays(body: str) -> None:
    assert "first" not in show(_program(body)[1])  # type: ignore[arg-type]
