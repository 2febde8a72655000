"""The pass `tasks`: memory of tasks in its place, shared scalars in boxes, and what must be refused."""

from __future__ import annotations

import numpy as np
import pytest

from weft.errors import Unsupported
from weft.ir import text
from weft.passes import PassContext, tasks

HEAD = """
program f(a, n):
  size a_0 = a.shape[0]
  symbol n = argument n
  param a: f64[a_0] C
  local t: f64[a_0]
  local u: f64[3]
  local s: f64
  local m: int
  local r: f64
  output #0 = scalar r

"""
CALLS = [{"a": np.arange(5.0), "n": 3}, {"a": np.ones(1), "n": 0}]


def lines(program) -> list[str]:
    shown = text.show(program).splitlines()
    return [line.split("#  ")[0].strip() for line in shown[shown.index("") + 1 :]]


def test_an_array_for_others_is_made_before_the_task_and_its_finish(preserved) -> None:
    after = preserved(
        HEAD
        + """
  finish f in 0 .. 1:
    task k in 0 .. 1:
      alloc u
      alloc t
      t[i] = a[i] * 2.0_f64   for i: 0 <= i < a_0
      u[j] = 1.0_f64   for j: 0 <= j < 3
  r = t[0]
  return #0
""",
        tasks.run,
        calls=CALLS,
    )
    shown = lines(after)
    assert shown.index("alloc t") < next(k for k, line in enumerate(shown) if line.startswith("finish"))
    assert shown.index("alloc u") > next(k for k, line in enumerate(shown) if line.startswith("task"))


def test_what_isolated_blocks_share_is_in_a_box(preserved) -> None:
    after = preserved(
        HEAD
        + """
  s = 1.0_f64
  finish f in 0 .. 1:
    for i in 0 .. a_0:
      task k in 0 .. 1:
        isolated l in 0 .. 1:
          s = s + a[i]
  r = s
  return #0
""",
        tasks.run,
        calls=CALLS,
    )
    shown = lines(after)
    assert "alloc s_box" in shown and "s_box[0] = s_box[0] + a[i]" in shown and "s = s_box[0]" in shown


REFUSED = {
    "a size that only the task knows": """
  m = 2
  finish f in 0 .. 1:
    task k in 0 .. 1:
      m = 3
      alloc v
      v[j] = 1.0_f64   for j: 0 <= j < m
  r = v[0]
  return #0
""",
    "memory of several iterations": """
  finish f in 0 .. 1:
    for i in 0 .. n:
      alloc u
      u[j] = 1.0_f64   for j: 0 <= j < 3
      task k in 0 .. 1:
        a[0] = u[0]
  r = a[0]
  return #0
""",
    "a scalar from one task to the next": """
  s = 0.0_f64
  finish f in 0 .. 1:
    for i in 0 .. a_0:
      task k in 0 .. 1:
        s = s * 0.5_f64 + a[i]
  r = s
  return #0
""",
    "a scalar that is read beside the task": """
  finish f in 0 .. 1:
    task k in 0 .. 1:
      s = a[0]
    r = s
  return #0
""",
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED)
def test_refused(body: str) -> None:
    head = HEAD.replace("  local r", "  local v: f64[m]\n  local r") if "v[" in body else HEAD
    with pytest.raises(Unsupported):
        tasks.run(text.parse(head + body), PassContext())


def test_a_program_without_regions_stays_as_it_is() -> None:
    program = text.parse(HEAD + "  r = a[0]\n  return #0\n")
    assert tasks.run(program, PassContext()) is program
