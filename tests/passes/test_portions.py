"""Tests of places: a portion of the iterations at a time, by the signs of differences, and in full only where an index
is none as it is.  Programs written as text, with the interpreter as the judge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.passes.conftest import Preserved
from weft.ir import text
from weft.ir.program import Check, If, Loop, Program
from weft.ir.verify import Stage, verify
from weft.ir.walk import walk
from weft.passes import PassContext, portions, schedule, signs, wrapped

LOOKED_UP = """
program f(k, x, n):
  size m = k.shape[0]
  size r = x.shape[0]
  param k: {index}[m] C
  param x: f64[r] C
  local p: int
  result y: f64[m]
  output #0 = array y

  alloc y
  y[j] = 1.0_f64   for j: 0 <= j < m
  if all[a: 0 <= a < m] (int(k[a]) >= 0 as bool) and (int(k[a]) < r as bool):
    {work}
  else:
    for i in 0 .. m:
      p = select((int(k[i]) < 0 as bool), int(k[i]) + r, int(k[i]))
      check (p >= 0 as bool) and (p < r as bool) else IndexError "{{0}}" {{int(k[i])}}
      y[i] = {value}
  return #0
"""
WORK = "y[b] = x[int(k[b])]   for b: 0 <= b < m"
ADDING = "y[b] = y[b] + x[int(k[b])]   for b: 0 <= b < m"


def program(index: str = "i64", work: str = WORK, value: str = "x[p]") -> str:
    return LOOKED_UP.replace("(k, x, n)", "(k, x)").format(index=index, work=work, value=value)


def calls(dtype: Any = np.int64) -> list[dict[str, Any]]:
    random = np.random.default_rng(3)
    found = []
    for size in (0, 1, 2047, 2048, 2049, 5000):
        k = random.integers(0, 7, size).astype(dtype)
        found.append({"k": k, "x": np.arange(7.0)})
        if size:
            negative, outside = k.copy(), k.copy()
            negative[size // 2], outside[-1] = -3, 7
            found += [{"k": one, "x": np.arange(7.0)} for one in (negative, outside)]
    return found


@pytest.mark.parametrize(("work", "value"), [(WORK, "x[p]"), (ADDING, "y[i] + x[p]")])
def test_a_portion_is_tested_and_computed(preserved, work: str, value: str) -> None:
    after = preserved(program(work=work, value=value), portions.run, calls=calls())
    outer = [node for node in after.body if isinstance(node, Loop)]
    assert len(outer) == 1 and isinstance(outer[0].body[0], If)
    assert "minimum(2048 * i_block + 2048, m)" in text.show(after)


READS_OTHERS = "y[b] = x[int(k[b])] + y[m - 1 - b]   for b: 0 <= b < m"
OTHER_RANGE = "y[b] = x[int(k[b])]   for b: 1 <= b < m"
ALL_AT_ONCE = "y[b] = sum[c: 0 <= c < m] x[int(k[c])]   for b: 0 <= b < m"
SCATTERED = "y[int(k[b])] += x[b]   for b: 0 <= b < m"


@pytest.mark.parametrize("work", [READS_OTHERS, OTHER_RANGE, ALL_AT_ONCE])
def test_what_looks_at_other_iterations_stays_whole(work: str) -> None:
    given = text.parse(program(work=work))
    assert portions.run(given, PassContext()) is given


def test_additions_at_places_from_memory_are_the_loop_as_it_was() -> None:
    after = portions.run(text.parse(program(work=SCATTERED)), PassContext())
    assert not any(isinstance(node, If) for node in walk(after.body))
    assert sum(isinstance(node, Check) for node in walk(after.body)) == 1


ROWS = """
program f(start, x, n):
  size s = start.shape[0]
  size r = x.shape[0]
  param start: i64[s] C
  param x: f64[r] C
  local first: int
  local last: int
  local total: f64
  result y: f64[s - 1]
  output #0 = array y
  guard (s >= 1 as bool) else ValueError ""

  alloc y
  y[j] = 0.0_f64   for j: 0 <= j < s - 1
  first = minimum(min[a: 0 <= a < s - 1] int(start[a]), 1099511627776)
  last = maximum(max[b: 0 <= b < s - 1] int(start[b + 1]), -1099511627776)
  if select((last <= first or first >= 0 and last <= r as bool), {all_positive}, bool.False):
    y[i] = sum[c: int(start[i]) <= c < int(start[i + 1])] x[c]   for i: 0 <= i < s - 1
  else:
    for d in 0 .. s - 1:
      total = 0.0_f64
      for e in int(start[d]) .. int(start[d + 1]):
        check (e >= 0 as bool) and (e < r as bool) else IndexError "" {e}
        total = total + select((x[e] >= 0.0_f64 as bool), x[e], 0.0_f64)
      y[d] = total
  return #0
"""


ALL_POSITIVE = "all[k: first <= k < last] (x[k] >= 0.0_f64 as bool)"


def test_ends_of_rows_are_found_for_each_portion(preserved) -> None:
    starts = [np.arange(0, 9001, 3), np.array([0, 2, 2, 5]), np.array([0]), np.array([3, 1, 4])]
    arguments = [{"start": start, "x": np.ones(9001)} for start in starts]
    spoilt = {"start": starts[0], "x": np.where(np.arange(9001) == 8000, -1.0, 1.0)}
    source = ROWS.replace("(start, x, n)", "(start, x)").replace("{all_positive}", ALL_POSITIVE)
    after = preserved(source, portions.run, calls=[*arguments, spoilt], exact=False)
    loop = next(node for node in after.body if isinstance(node, Loop))
    assert [getattr(node, "buffer", "") for node in loop.body] == ["first", "last", ""]


def lowered(source: str, one: Any, arguments: list[dict[str, Any]]) -> Program:
    before = schedule.run(text.parse(source), PassContext())
    after = one(before, PassContext())
    verify(after, Stage.LOWERED)
    for given in arguments:
        Preserved().compare(before, after, given, exact=True)
    return after


@pytest.mark.parametrize(("index", "dtype"), [("i64", np.int64), ("i32", np.int32), ("i8", np.int8)])
def test_signs_say_what_the_test_said(index: str, dtype: Any) -> None:
    edges = np.iinfo(dtype)
    most = [{"k": np.array([edge, 0], dtype=dtype), "x": np.arange(7.0)} for edge in (edges.min, edges.max, 6, 7, -1)]
    after = lowered(program(index), signs.run, [*calls(dtype), *most])
    shown = text.show(after)
    assert " | " in shown and f"_sign: {'i64' if index == 'i64' else 'i32'}" in shown


def test_only_what_is_no_index_is_tested_in_full() -> None:
    source = program()
    loop = source[source.index("    for i in 0") : source.index("  return")].replace("\n  ", "\n")[2:]
    after = lowered(source[: source.index("  if all")] + loop + "  return #0\n", wrapped.run, calls())
    assert "p = int(k[i])" in text.show(after)
    branch = next(node for node in walk(after.body) if isinstance(node, If))
    assert isinstance(branch.then[-1], Check) and not branch.orelse
