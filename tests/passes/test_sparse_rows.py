"""Rows in registers, columns side by side, and the array that tells how long iterations are: on programs as text."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from weft.analysis.balance import pointer_of
from weft.ir import interp
from weft.ir.program import Alloc, If, Loop, Program
from weft.ir.text import parse, show
from weft.ir.verify import Stage, verify
from weft.ir.walk import walk
from weft.passes import PassContext, pack, registers
from weft.passes.scheduling.lower import Workspace

HEAD = """program f(ptr, idx, v, x, y, b):
  size n = y.shape[0]
  size m = y.shape[1]
  size e = idx.shape[0]
  size r = x.shape[0]
  size k0 = b.shape[0]
  size c0 = b.shape[1]
  param ptr: i64[n + 1] C
  param idx: i64[e] C
  param v: f64[e] C
  param x: f64[r, m] C
  param y: f64[n, m] C
  param b: f64[k0, c0] C
  result s: f64[n, m]
  result out: f64[e]
  disjoint x, y
  output #0 = {output}

{body}
  return #0
"""
ROWS = """
  alloc s
  parallel i in 0 .. n:
    vector k in 0 .. m:
      s[i, k] = {start}
    for p in ptr[i] .. ptr[i + 1]:
      vector k2 in 0 .. m:
        s[i, k2] = {update}
"""
SUM = ROWS.format(start="0.0_f64", update="s[i, k2] + v[p] * x[idx[p], k2]")
COLUMNS = """
  alloc out
  out[p] = v[p] * (sum[k: 0 <= k < k0] y[i, 0] * b[k, j])   for i: 0 <= i < n, j(p): csr(ptr, idx)[i]
"""


def program(body: str, stage: Stage = Stage.LOWERED) -> Program:
    output = "array s" if "alloc s" in body else "array out"
    text = HEAD.format(body=body.strip("\n"), output=output)
    unused = "out: f64[e]" if output == "array s" else "s: f64[n, m]"
    text = text.replace(f"  result {unused}\n", "").replace("ptr[i] ..", "int(ptr[i]) ..")
    text = text.replace(".. ptr[i + 1]", ".. int(ptr[i + 1])").replace("x[idx[p]", "x[int(idx[p])")
    found = parse(text)
    verify(found, stage)
    return found


def data(rows: int, columns: int, seed: int, sources: int = 6) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 5, rows)
    ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    idx = np.concatenate([rng.permutation(sources)[:count] for count in lengths] + [np.zeros(0, np.int64)])
    made = {"ptr": ptr, "idx": idx, "v": rng.random(len(idx)), "x": rng.random((sources, columns))}
    return {**made, "y": rng.random((rows, columns)), "b": rng.random((3, sources))}


def same(before: Program, after: Program, given: dict[str, Any]) -> None:
    one = interp.run(before, copy.deepcopy(given))
    other = interp.run(after, copy.deepcopy(given), order="shuffled")
    np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


@pytest.mark.parametrize("columns", [0, 1, 7, 8, 31, 32, 45, 75])
def test_rows_are_added_up_in_registers(columns: int) -> None:
    before = program(SUM)
    after = registers.run(before, PassContext())
    verify(after, Stage.LOWERED)
    assert any(isinstance(node, Alloc) and "strip" in node.buffer for node in walk(after.body))
    same(before, after, data(5, columns, columns))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (SUM.replace("x[idx[p], k2]", "s[i, m - 1 - k2]"), "other elements of the row are read"),
        (SUM.replace("s[i, k] = 0.0_f64", "y[i, k] = 0.0_f64"), "not a row that is set and added to"),
        (SUM.replace("for p in ptr[i] .. ptr[i + 1]", "for p in 0 .. e"), "no length read from memory"),
        (SUM.replace("vector k2 in 0 .. m", "vector k2 in 0 .. m - 1"), "columns that differ"),
    ],
)
def test_what_stays_in_memory(body: str, reason: str) -> None:
    before = program(body)
    (rows,) = [node for node in before.body if isinstance(node, Loop)]
    assert registers.why_not(rows.body[0], rows.body[1], Workspace.of(before, strict=False)) == reason
    assert registers.run(before, PassContext()) is before


@pytest.mark.parametrize("rows", [0, 1, 9])
def test_columns_side_by_side(rows: int) -> None:
    before = program(COLUMNS, Stage.OPTIMISED)
    after = pack.run(before, PassContext())
    verify(after, Stage.OPTIMISED)
    assert any(isinstance(node, If) for node in after.body) and "b_columns[j, k]" in show(after)
    same(before, after, data(rows, 2, rows))
    few = data(rows, 2, rows, sources=6)
    few["b"] = np.random.default_rng(1).random((3, 6000))  # the copy would cost more than it saves
    same(before, after, few)


def test_columns_that_rows_tell_are_left_alone() -> None:
    before = program(COLUMNS.replace("b[k, j]", "b[k, i]").replace("y[i, 0]", "1.0_f64"), Stage.OPTIMISED)
    assert pack.run(before, PassContext()) is before


def test_the_array_that_tells_how_long_iterations_are() -> None:
    before = program(SUM)
    (rows,) = [node for node in before.body if isinstance(node, Loop)]
    assert pointer_of(rows, lambda name: before.table[name]) == "ptr"
    shorter = program(SUM.replace("parallel i in 0 .. n:", "parallel i in 0 .. n + 1:"))
    (rows,) = [node for node in shorter.body if isinstance(node, Loop)]
    assert pointer_of(rows, lambda name: shorter.table[name]) is None  # it is not known to reach so far
    other = program(SUM.replace("ptr[i + 1]", "ptr[i + 0]").replace("ptr[i] .. ", "0 .. "))
    (rows,) = [node for node in other.body if isinstance(node, Loop)]
    assert pointer_of(rows, lambda name: other.table[name]) is None
