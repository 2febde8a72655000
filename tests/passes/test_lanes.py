"""Recurrences side by side: several rows or columns in lockstep give what one after the other gives, bit for bit."""

from __future__ import annotations

import copy
import random

import numpy as np
import pytest

from weft.ir import interp
from weft.ir.canonical import canonical
from weft.ir.program import Loop, LoopKind, Program
from weft.ir.text import parse
from weft.ir.verify import Stage, verify
from weft.ir.walk import walk
from weft.options import Options
from weft.passes import PassContext, lanes

HEAD = """program f(a, b, c):
  size n = a.shape[0]
  size m = a.shape[1]
  param a: f64[n, m] C
  param b: f64[n, m] C
  param c: f64[n] C
  local s: f64
  local q: f64
  local e: f64
  local t: f64[n, m]
  local u: f64[n]
  local w: f64[n]
  disjoint a, b
  disjoint a, c
  disjoint b, c
  output #0 = None

{body}
  return #0
"""
ROWS = """
  parallel i in 0 .. n:
    s = 0.0_f64
    q = c[i]
    for j in 0 .. m:
      e = a[i, j] * 0.5_f64
      s = s * 0.25_f64 + e + q
      b[i, j] = s - e
    for j2 in m - 1 .. -1 step -1:
      q = b[i, j2] - q * 0.5_f64
      a[i, j2] = q
    vector j3 in 0 .. m:
      b[i, j3] = b[i, j3] + a[i, j3] * s
    c[i] = q
"""
COLUMNS = """
  parallel j in 0 .. m:
    s = 1.0_f64
    for i in 0 .. n:
      s = s * 0.5_f64 - a[i, j]
      b[i, j] = s
    vector i2 in 0 .. n:
      a[i2, j] = b[i2, j] * s
"""
ORDERED_OUTSIDE = """
  for j in 1 .. m:
    parallel i in 0 .. n:
      e = b[i, j - 1] * 0.5_f64
      b[i, j] = a[i, j] - e
    vector i2 in 0 .. n:
      a[i2, j] = b[i2, j] + a[i2, j - 1]
"""
IN_STRIPS = """
  for j in m - 2 .. -1 step -1:
    parallel i_block in 0 .. (n + 7) // 8:
      vector i in 8 * i_block .. minimum(8 * i_block + 8, n):
        b[i, j] = a[i, j] - b[i, j + 1] * 0.5_f64
"""
BRANCH_OF_ALL = """
  parallel i in 0 .. n:
    for j in 0 .. m:
      if bool(j > 0):
        b[i, j] = b[i, j - 1] * 0.5_f64 + a[i, j]
      else:
        b[i, j] = c[i]
"""
SHIFTED_WITH_SMALL_INTEGERS = """
  parallel i in 0 .. n - 1:
    b[i + 1, 0] = c[i + 1]
  parallel k in 1 .. n:
    for j in 1 .. m:
      b[k, j] = select((i8(a[k, j]) != 0_i8 as bool), b[k, j - 1], a[k - 1 + 1, j])
"""
REDUCED_IN_ANY_ORDER = """
  alloc t
  parallel i in 0 .. n:
    vector j in 0 .. m:
      t[i, j] = 7.0_f64
  parallel i2 in 0 .. n:
    t[i2, 0] = c[i2]
    for j2 in 1 .. m:
      t[i2, j2] = a[i2, j2] - t[i2, j2 - 1] * 0.5_f64
    s = -1000.0_f64
    vector j3 in 1 .. m reducing s by maximum:
      s = maximum(s, t[i2, j3 - 1])
    c[i2] = s
    for j4 in m - 2 .. 0 step -1:
      b[i2, j4] = t[i2, j4] + b[i2, j4 + 1] * 0.25_f64
"""
SHORT_ROWS = """
  parallel i in 0 .. n:
    s = -1000.0_f64
    vector j in 0 .. 3 reducing s by maximum:
      s = maximum(s, a[i, j])
    q = 0.0_f64
    vector j2 in 0 .. 3 reducing q by add:
      q = q + exp(a[i, j2] - s)
    c[i] = s + log(q)
    vector j3 in 0 .. 3:
      b[i, j3] = exp(a[i, j3] - c[i])
"""
ACROSS = """
  alloc t
  parallel j in 0 .. m:
    for i in 1 .. n:
      t[i, j] = a[i, j] - a[i - 1, j] * 0.5_f64
    for i2 in n - 2 .. 0 step -1:
      b[i2, j] = t[i2, j] + b[i2 + 1, j] * 0.25_f64
  parallel i3 in 1 .. n:
    vector j3 in 0 .. m:
      b[i3, j3] = b[i3, j3] * 2.0_f64 + t[i3, j3]
"""
CARRIED = """
  alloc u
  alloc w
  parallel i in 0 .. n:
    u[i] = 0.0_f64
  parallel i2 in 0 .. n:
    w[i2] = c[i2]
  for j in 0 .. m:
    parallel i3 in 0 .. n:
      b[i3, j] = a[i3, j] + u[i3] * 0.5_f64 - w[i3]
      w[i3] = u[i3]
      u[i3] = b[i3, j]
  parallel i4 in 0 .. n:
    u[i4] = 1.0_f64
  for j2 in m - 1 .. -1 step -1:
    parallel i5 in 0 .. n:
      u[i5] = u[i5] * 0.25_f64 + b[i5, j2]
      a[i5, j2] = u[i5]
"""
BODIES = {
    "carried": CARRIED,
    "across": ACROSS,
    "reduced": REDUCED_IN_ANY_ORDER,
    "shifted": SHIFTED_WITH_SMALL_INTEGERS,
    "rows": ROWS,
    "columns": COLUMNS,
    "ordered outside": ORDERED_OUTSIDE,
    "in strips": IN_STRIPS,
    "branch of all": BRANCH_OF_ALL,
    "short rows": SHORT_ROWS,
}


def program(body: str) -> Program:
    found = parse(HEAD.format(body=body.strip("\n")))
    verify(found, Stage.LOWERED)
    return found


def widened(before: Program, parallel: bool = True) -> Program:
    found = lanes.run(before, PassContext(Options(parallel=parallel)))
    verify(found, Stage.LOWERED)
    return found


def assert_same(before: Program, after: Program, rows: int, columns: int, order: str) -> None:
    rng = np.random.default_rng(rows * 100 + columns)
    one = {"a": rng.random((rows, columns)), "b": rng.random((rows, columns)), "c": rng.random(rows)}
    other = copy.deepcopy(one)
    interp.run(before, one)
    interp.run(after, other, order=order)
    for name in "abc":
        np.testing.assert_array_equal(one[name], other[name])


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
@pytest.mark.parametrize("order", ["forward", "shuffled"])
@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (5, 7), (33, 6), (6, 37), (40, 33)])
def test_side_by_side_gives_the_same(body: str, order: str, rows: int, columns: int) -> None:
    before = program(body)
    after = widened(before)
    assert after is not before
    assert_same(before, after, rows, columns, order)


def test_an_array_that_is_only_filled_outside_is_held() -> None:
    found = widened(program(REDUCED_IN_ANY_ORDER))
    assert any(buffer.name == "t_lanes" for buffer in found.buffers)
    later = REDUCED_IN_ANY_ORDER + "  s = t[0, 0]\n"
    assert not any(buffer.name == "t_lanes" for buffer in widened(program(later)).buffers)


def test_a_loop_over_rows_joins_one_over_columns() -> None:
    assert any(buffer.name == "t_lanes" for buffer in widened(program(ACROSS)).buffers)
    # Not if a column needs another one.
    shifted = ACROSS.replace("+ t[i3, j3]", "+ t[i3, m - 1 - j3]")
    assert not any(buffer.name == "t_lanes" for buffer in widened(program(shifted)).buffers)


def test_a_sum_keeps_its_order() -> None:
    summed = REDUCED_IN_ANY_ORDER.replace("by maximum", "by add")
    before = program(summed.replace("maximum(s, t[i2, j3 - 1])", "s + t[i2, j3 - 1]"))
    context = PassContext()
    lanes.run(before, context)
    assert any("a sum inside that is split already" in remark.message for remark in context.log)


def widths(found: Program) -> list[int]:
    """By how much the variables of blocks advance."""
    wide = [node for node in walk(found.body) if isinstance(node, Loop) and "_block" in node.dim.var]
    return [int(str(node.dim.hi.args[1].value)) for node in wide]  # type: ignore[union-attr]


def test_few_where_memory_runs_across_many_where_it_runs_along() -> None:
    assert widths(widened(program(ROWS))) == [8]
    assert widths(widened(program(COLUMNS))) == [lanes.ALONG]


def test_a_loop_that_may_not_be_parallel_stays_so() -> None:
    found = widened(program(ORDERED_OUTSIDE), parallel=False)
    wide = [node for node in walk(found.body) if isinstance(node, Loop) and "_block" in node.dim.var]
    assert [node.kind for node in wide] == [LoopKind.SEQUENTIAL]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        # Rows of different lengths.
        (
            """
  parallel i in 0 .. minimum(n, m):
    s = 0.0_f64
    for j in 0 .. i:
      s = s * 0.5_f64 + a[i, j]
      b[i, j] = s
""",
            "different lengths",
        ),
        # Some rows would store and others not.
        (
            """
  parallel i in 0 .. n:
    s = 0.0_f64
    for j in 0 .. m:
      s = s * 0.5_f64 + a[i, j]
      if bool(s > 1.0_f64):
        b[i, j] = s
""",
            "a branch that not all",
        ),
    ],
)
def test_refused(body: str, reason: str) -> None:
    before = program(body)
    context = PassContext()
    assert lanes.run(before, context) is before
    assert reason in context.log[0].message


def test_short_rows_go_side_by_side_where_a_function_takes_long() -> None:
    assert widths(widened(program(SHORT_ROWS))) == [lanes.ALONG]
    inner = [node for node in walk(widened(program(SHORT_ROWS)).body) if isinstance(node, Loop)]
    assert not any(node.accumulators for node in inner if node.kind is LoopKind.SEQUENTIAL)
    for other in (
        SHORT_ROWS.replace("exp(", "abs(").replace("log(", "abs("),  # cheap
        SHORT_ROWS.replace(".. 3", ".. m"),  # of any length
        SHORT_ROWS.replace(".. 3", f".. {lanes.SHORT + 1}"),  # vectors of their own
        SHORT_ROWS.replace("j3 in 0 .. 3", "j3 in 0 .. m"),
    ):
        before = program(other)
        assert lanes.run(before, PassContext(Options())) is before


@pytest.mark.parametrize(
    "body",
    [
        # The neighbour's value of the iteration before.
        """
  for j in 1 .. m:
    parallel i in 1 .. n:
      b[i, j] = b[i - 1, j - 1] * 0.5_f64
""",
        # A variable that an iteration leaves to the next.
        """
  for j in 0 .. m:
    vector i in 0 .. n:
      b[i, j] = a[i, j] + s
    s = b[0, j]
""",
        # Ranges that differ: what the second does at row 0 the first has not done.
        """
  for j in 1 .. m:
    parallel i in 1 .. n:
      b[i, j] = b[i, j - 1]
    parallel k in 0 .. n - 1:
      a[k, j] = b[k + 1, j]
""",
        # All iterations of one loop before the first of the next.
        """
  for j in 1 .. m:
    parallel i in 0 .. n:
      b[i, j] = b[i, j - 1]
    parallel k in 0 .. n:
      a[k, j] = b[n - 1 - k, j]
""",
        # No iteration needs the one before: there is nothing to hide.
        """
  parallel i in 0 .. n:
    vector j in 0 .. m:
      b[i, j] = a[i, j]
""",
    ],
    ids=["neighbour", "variable", "ranges", "mirrored", "no recurrence"],
)
def test_left_alone(body: str) -> None:
    before = program(body)
    assert lanes.run(before, PassContext()) is before


# --- arrays of a block's own ----------------------------------------------------------------------------------------

WORK = """program f(a, b, c):
  size n = a.shape[0]
  size m = a.shape[1]
  param a: f64[n, m] C
  param b: f64[n, m] C
  param c: f64[n] C
  local p: f64[n, m]
  disjoint a, b
  disjoint a, c
  disjoint b, c
  output #0 = None

  alloc p
{body}
  return #0
"""
THERE_AND_BACK = """
  parallel i in 0 .. n:
    p[i, 0] = c[i]
  for j in 1 .. m:
    vector i2 in 0 .. n:
      p[i2, j] = p[i2, j - 1] * 0.5_f64 + a[i2, j]
  parallel k in 0 .. n:
    for j2 in m - 2 .. -1 step -1:
      b[k, j2] = b[k, j2 + 1] * 0.5_f64 + p[k, j2]
"""
ALONG_BOTH = """
  parallel i in 0 .. n:
    p[i, 0] = c[i]
    for j in 1 .. m:
      p[i, j] = p[i, j - 1] - a[i, j]
      b[i, j] = p[i, j] + b[i, j - 1]
  parallel q in 0 .. m:
    p[0, q] = b[0, q]
    for r in 1 .. n:
      p[r, q] = p[r - 1, q] * 0.5_f64 + b[r, q]
    vector r2 in 0 .. n:
      a[r2, q] = p[r2, q]
"""


def held(found: Program) -> int:
    return sum(buffer.name.startswith("p_lanes") for buffer in found.buffers)


@pytest.mark.parametrize(("body", "count"), [(THERE_AND_BACK, 1), (ALONG_BOTH, 2)])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (35, 5), (34, 40)])
def test_an_array_that_each_block_fills_and_reads_is_its_own(body: str, count: int, rows: int, columns: int) -> None:
    before = parse(WORK.format(body=body.strip("\n")))
    verify(before, Stage.LOWERED)
    after = widened(before)
    assert held(after) == count
    assert_same(before, after, rows, columns, "shuffled")


@pytest.mark.parametrize(
    "body",
    [
        # Another loop reads it.
        THERE_AND_BACK + "  parallel x in 0 .. n:\n    vector y in 1 .. m - 1:\n      a[x, y] = p[m - 1 - y, x]\n",
        # A second time: it finds what the first left.
        """
  for t in 0 .. 2:
    parallel i in 0 .. n:
      p[i, 0] = c[i]
      for j in 1 .. m:
        if bool(t == 0):
          p[i, j] = a[i, j]
        else:
          b[i, j] = b[i, j - 1] + p[i, j]
""",
        # Its last column is read before it is written.
        """
  parallel x in 0 .. n:
    vector y in 0 .. m:
      p[x, y] = a[x, y]
  for t in 0 .. 2:
    parallel i in 0 .. n:
      for j in 0 .. m - 1:
        p[i, j] = p[i, j + 1] * 0.5_f64
        b[i, j] = p[i, j]
""",
    ],
    ids=["read elsewhere", "left for the next time", "not all written"],
)
def test_an_array_that_others_need_stays(body: str) -> None:
    before = parse(WORK.format(body=body.strip("\n")))
    verify(before, Stage.LOWERED)
    after = widened(before)
    assert held(after) == 0
    assert_same(before, after, 35, 35, "shuffled")


def _random_body(rng: random.Random) -> str:
    """Recurrences along j with random distances, in either nesting."""
    outside = rng.random() < 0.5
    back = rng.choice([1, 2])
    down = rng.random() < 0.5
    bounds = f"m - {1 + back} .. -1 step -1" if down else f"{back} .. m"
    sign = "+" if down else "-"
    terms = ["a[i, j]", f"b[i, j {sign} {back}] * 0.5_f64", f"b[i, j {sign} 1] * 0.25_f64", "c[i]"]
    rng.shuffle(terms)
    value = " - ".join(terms[: rng.randint(2, 4)])
    extra = rng.choice(["", "a[i, j] = b[i, j] * 0.5_f64", "e = b[i, j] + 1.0_f64|a[i, j] = e"])
    lines = [f"b[i, j] = {value}", *filter(None, extra.split("|"))]
    if outside:
        return "\n".join([f"  for j in {bounds}:", "    parallel i in 0 .. n:", *("      " + line for line in lines)])
    carried = ["s = s * 0.5_f64 + b[i, j]", "c[i] = s"] if rng.random() < 0.5 else []
    start = ["    s = c[i]"] if carried else []
    body = ["      " + line for line in (*lines, *carried)]
    return "\n".join(["  parallel i in 0 .. n:", *start, f"    for j in {bounds}:", *body])


@pytest.mark.parametrize("seed", range(20))
def test_random_recurrences(seed: int) -> None:
    rng = random.Random(seed)
    before = program(_random_body(rng))
    assert_same(before, widened(before), rng.randint(30, 50), rng.randint(3, 12), rng.choice(["forward", "shuffled"]))


def test_arrays_of_which_an_iteration_has_one_element_become_variables() -> None:
    after = widened(program(CARRIED))
    assert not {"u", "w"} & {buffer.name for buffer in after.buffers}


@pytest.mark.parametrize(
    "change",
    [
        ("u[i3] = b[i3, j]", "u[i3] = b[i3, j] + u[n - 1]"),  # another's element
        ("parallel i in 0 .. n:\n    u[i] = 0.0_f64", "parallel i in 0 .. n:\n    w[i] = 0.0_f64"),  # not set first
        ("  parallel i4", "  for q in 0 .. n:\n    s = u[q]\n    c[q] = s\n  parallel i4"),  # read by somebody else
    ],
)
def test_other_arrays_stay_arrays(change: tuple[str, str]) -> None:
    body = CARRIED.replace(*change)
    assert body != CARRIED
    if "w[i] = 0" in body:
        body = body.replace("  alloc w\n", "  alloc w\n  parallel i0 in 0 .. 1:\n    u[n - 1] = 0.0_f64\n")
    found = lanes.run(parse(HEAD.format(body=body.strip("\n"))), PassContext(Options()))
    assert "u" in {buffer.name for buffer in found.buffers}


def test_few_iterations_are_the_same_loops_however_they_were_written() -> None:
    outside = "\n  for j in 1 .. m:\n    parallel i in 0 .. n:\n      b[i, j] = a[i, j] - b[i, j - 1] * 0.5_f64\n"
    inside = "\n  parallel i in 0 .. n:\n    for j in 1 .. m:\n      b[i, j] = a[i, j] - b[i, j - 1] * 0.5_f64\n"
    assert canonical(widened(program(outside))) == canonical(widened(program(inside)))
