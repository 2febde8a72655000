"""Wavefronts: tiles on diagonals give what the iterations give in their order, bit for bit."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.analysis.waves import Nest, carries, least_skew, nest_of, pairs_of
from weft.ir import interp
from weft.ir.program import If, Loop, LoopKind, Program, Stmt
from weft.ir.text import parse
from weft.ir.verify import Stage, verify
from weft.ir.walk import walk
from weft.options import Options
from weft.passes import PassContext, detach, schedule, wavefront

HEAD = """program f(steps, a, b, c, k):
  symbol steps = argument steps
  size n = a.shape[0]
  size m = a.shape[1]
  param a: f64[n, m] {layout}
  param b: f64[n, m] C
  param c: f64[n, m] C
  param k: i64[m] C
  local s: f64
  local u: f64
  local best: f64
  disjoint a, b
  disjoint a, c
  disjoint b, c
  output #0 = {output}

{body}
  return #0
"""
SEIDEL = """
  for t in 0 .. steps:
    for i in 1 .. n - 1:
      for j in 1 .. m - 1:
        a[i, j] = (a[i - 1, j - 1] + a[i - 1, j + 1] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j - 1]) * 0.25_f64 + b[i, j]
"""
TABLE = """
  for i in 1 .. n:
    for j in 1 .. m:
      s = select(k[j] == 1_i64, a[i - 1, j - 1], a[i - 1, j - 1] + 1.0_f64)
      if s > b[i, j]:
        s = a[i, j - 1] - 0.5_f64
        c[i, j] = s
      else:
        c[i, j] = 2.0_f64
      a[i, j] = minimum(s, a[i - 1, j])
"""
BACKWARDS = """
  for i in n - 2 .. 0 step -1:
    for j in m - 3 .. -1 step -1:
      a[i, j + 1] = a[i + 1, j + 2] - a[i, j + 2] + a[i - 1, j] * 0.5_f64
"""
TRIANGLE = """
  for i in n - 2 .. -1 step -1:
    for j in i + 1 .. n:
      a[i, j] = maximum(a[i, j], maximum(a[i, j - 1], a[i + 1, j]))
      a[i, j] = maximum(a[i, j], max[q: i + 1 <= q < j] a[i, q] + a[q + 1, j])
"""
TRIANGLE_IN_A_BRANCH = """
  for i in n - 2 .. -1 step -1:
    for j in i + 1 .. n:
      s = maximum(a[i, j - 1], a[i + 1, j])
      if bool(i {test} j - 1):
        s = maximum(s, max[q: i + 1 <= q < j] a[i, q] + a[q + 1, j])
      else:
        s = s + 0.25_f64
      a[i, j] = s
"""
PLANES = """
  for i in 1 .. n:
    for j in 1 .. m:
      s = sum[q: 0 <= q < j] a[i, q] * b[q, j]
      a[i, j] = s + a[i - 1, j] * 0.5_f64
"""
SOMETIMES = """
  for i in 1 .. n:
    for j in 0 .. m:
      if bool(j + 2 < m):
        a[i, j + 2] = a[i - 1, j] + a[i, j + 1]
"""
GATHERED = """
  for i in 1 .. n:
    for j in 1 .. m:
      a[i, j] = a[int(k[j]), j - 1] + a[i - 1, j]
"""
ONE_ROW = """
  for i in 1 .. n:
    for j in 1 .. m:
      a[0, j] = a[0, j - 1] * 0.5_f64 + a[i, j]
"""
BAND = """
  for i in 1 .. n:
    for j in maximum(1, i - 3) .. minimum(i + 2, m):
      a[i, j] = a[i - 1, j] - a[i, j - 1] * b[i, j]
"""
NARROW = """
  for i in 3 .. n:
    for j in i .. minimum(m, 2 * i - 4):
      a[i, j] = a[i - 1, j] - a[i, j - 1] * 0.5_f64 + f64(k[j - 5])
"""
PLAIN = "for i in 1 .. n:\n    for j in 1 .. m:\n      a[i, j] = a[i, j - 1] + a[i - 1, j]"
NESTS = {
    "band": BAND,
    "narrow": NARROW,
    "gathered": GATHERED,
    "one row": ONE_ROW,
    "seidel": SEIDEL,
    "table": TABLE,
    "backwards": BACKWARDS,
    "triangle": TRIANGLE,
    "triangle in a branch": TRIANGLE_IN_A_BRANCH.format(test="<"),
    "triangle in another branch": TRIANGLE_IN_A_BRANCH.format(test="!="),
    "planes": PLANES,
    "sometimes": SOMETIMES,
}


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles small enough for the interpreter to go through many of them."""
    use_small_tiles(monkeypatch)


def use_small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("ROWS", 3), ("MORE_COLUMNS", 1), ("BLOCK", (3, 4)), ("LEAST", 2)):
        monkeypatch.setattr(wavefront, name, value)


def program(body: str, layout: str = "C", output: str = "None") -> Program:
    found = parse(HEAD.format(body=body.strip("\n"), layout=layout, output=output))
    verify(found, Stage.OPTIMISED)
    return found


def arguments(rows: int, columns: int, layout: str = "C", steps: int = 2) -> dict[str, object]:
    rng = np.random.default_rng(rows * 100 + columns)
    arrays = {name: rng.random((rows, columns)) for name in "abc"}
    arrays["a"] = np.asarray(arrays["a"], order="F" if layout == "F" else "C")
    return {"steps": steps, **arrays, "k": rng.integers(0, 2, columns)}


def assert_same(before: Program, after: Program, rows: int, columns: int, layout: str = "C") -> None:
    for order in ("forward", "reversed", "shuffled"):
        first = arguments(rows, columns, layout)
        second = copy.deepcopy(first)
        result = interp.run(before, first)
        again = interp.run(after, second, order=order)
        assert repr(result) == repr(again)
        for name in "abc":
            np.testing.assert_array_equal(first[name], second[name])


def tiled(before: Program, **options: object) -> tuple[Program, list[str]]:
    context = PassContext(Options(**options))  # type: ignore[arg-type]
    after = wavefront.run(before, context)
    verify(after, Stage.OPTIMISED)
    return after, [remark.message for remark in context.log]


def is_tiled(found: Program) -> bool:
    return any(isinstance(node, Loop) and node.kind is LoopKind.PARALLEL for node in walk(found.body))


@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("body", NESTS.values(), ids=NESTS.keys())
@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (7, 7), (12, 12)])
def test_tiles_give_the_same(body: str, layout: str, rows: int, columns: int) -> None:
    before = program(body, layout)
    after, _ = tiled(before)
    assert is_tiled(after)
    assert_same(before, after, rows, columns, layout)
    lowered = schedule.run(after, PassContext())
    verify(lowered, Stage.LOWERED)
    assert_same(before, lowered, rows, columns, layout)


@pytest.mark.parametrize("body", [SEIDEL, TABLE, BACKWARDS, SOMETIMES, BAND, NARROW])
@pytest.mark.parametrize(("rows", "columns"), [(3, 15), (15, 3), (2, 9)])
def test_arrays_of_any_proportions(body: str, rows: int, columns: int) -> None:
    before = program(body)
    assert_same(before, tiled(before)[0], rows, columns)


def test_iterations_of_a_tile_run_in_vectors() -> None:
    after, remarks = tiled(program(TABLE))
    assert "tiles of 3 x 6 on diagonals, each in vectors" in remarks
    assert any(isinstance(node, Loop) and node.kind is LoopKind.VECTOR for node in walk(after.body))


def test_a_small_nest_stays_as_it_is() -> None:
    """The choice is made at run time: both forms are there."""
    before = program(SEIDEL)
    after, _ = tiled(before)
    (choice,) = (node for node in walk(after.body) if isinstance(node, If))
    (time,) = (node for node in before.body if isinstance(node, Loop))
    assert choice.orelse == time.body


def test_terms_that_need_nothing_of_a_tile_come_first() -> None:
    after, _ = tiled(program(TRIANGLE))
    assert any(buffer.name.startswith("early") for buffer in after.buffers)


@pytest.mark.parametrize(("test", "known"), [("<", True), ("!=", True), ("< 4 - 0 *", False)])
def test_terms_in_a_branch_come_first_if_it_is_taken_wherever_there_are_some(test: str, known: bool) -> None:
    after, _ = tiled(program(TRIANGLE_IN_A_BRANCH.format(test=test)))
    assert any(buffer.name.startswith("early") for buffer in after.buffers) is known


def test_sums_of_floats_keep_their_order() -> None:
    after, _ = tiled(program(PLANES))
    assert not any(buffer.name.startswith("early") for buffer in after.buffers)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("for i in 1 .. n:\n    for j in 0 .. m:\n      best = best + a[i, j]\n      a[i, j] = best", "best"),
        ("for i in 1 .. n:\n    for j in 1 .. m:\n      a[i, j] = a[i - 1, int(k[j])] + a[i, j - 1]", "no skew"),
        ("for i in 1 .. n:\n    for j in 1 .. m step 2:\n      a[i, j] = a[i, j - 1] + a[i - 1, j]", "by ones"),
        ("for i in 1 .. n:\n    for j in 1 .. int(k[0]):\n      a[i, j] = a[i, j - 1] + a[i - 1, j]", "memory"),
        ("for i in 1 .. n:\n    for j in 1 .. m:\n      a[i, j] = a[i, j - 1] + a[i - 1, m - j]", "no skew"),
        (PLAIN.replace("a[i - 1, j]", "(sum[q: 0 <= q < m] a[i - 1, q])"), "no skew"),
        (f"{PLAIN}\n      if a[i, j] > 3.0_f64:\n        break", "left early"),
        (f"{PLAIN}\n      check a[i, j] > -9.0_f64 else ValueError", "may raise"),
    ],
)
def test_nests_that_keep_their_order(body: str, reason: str) -> None:
    before = program("  best = 0.0_f64\n  " + body)
    after, remarks = tiled(before)
    assert after is before
    assert any(reason in remark for remark in remarks), remarks


@pytest.mark.parametrize(
    "body",
    [
        "for i in 1 .. n:\n    for j in 1 .. m:\n      a[i, j] = a[i - 1, j] + b[i, j]",  # columns are free
        "for i in 0 .. n:\n    for j in 1 .. m:\n      a[i, j] = a[i, j - 1] + b[i, j]",  # rows are free
        "for i in 0 .. n:\n    for j in 0 .. m:\n      a[i, j] = b[i, j]",
    ],
)
def test_a_nest_with_a_free_loop_is_no_wavefront(body: str) -> None:
    before = program("  " + body)
    assert tiled(before)[0] is before


def test_a_value_used_after_the_nest_keeps_the_order() -> None:
    before = program(f"  s = 0.0_f64\n{TABLE}  best = s", output="scalar best")
    assert tiled(before)[0] is before


def nest(body: str) -> Nest:
    (loop,) = (node for node in program("  " + body).body if isinstance(node, Loop))
    found = nest_of(loop)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("reads", "tiles", "waves"),
    [
        ("a[i - 1, j] + a[i, j - 1]", 0, 1),
        ("a[i - 1, j + 1] + a[i, j - 1]", 1, 2),
        ("a[i - 1, j + 3] + a[i, j - 1]", 3, 4),
        ("a[i - 2, j + 3] + a[i, j - 1]", 2, 2),
        ("a[i + 1, j - 1] + a[i, j - 1]", 1, 2),
        ("a[i - 1, j + 5] + a[i, j - 1]", None, None),
        ("a[i - 1, j] + (sum[q: 0 <= q < j] a[i, q])", 0, 1),
        ("a[i, j - 1] + (sum[q: 0 <= q < m] a[i - 1, q])", None, None),
    ],
)
def test_the_least_skew(reads: str, tiles: int | None, waves: int | None) -> None:
    found = nest(f"for i in 2 .. n - 1:\n    for j in 1 .. m - 5:\n      a[i, j] = {reads}")
    pairs = pairs_of(found, frozenset())
    assert not isinstance(pairs, str)
    assert (least_skew(found, pairs, 0), least_skew(found, pairs, 1)) == (tiles, waves)
    assert carries(found, pairs) == (True, True)


def test_dependences_count_in_the_direction_of_the_loops() -> None:
    rows = "for i in n - 2 .. 0 step -1:"
    found = nest(f"{rows}\n    for j in 1 .. m - 1:\n      a[i, j] = a[i + 1, j + 1] + a[i, j - 1]")
    pairs = pairs_of(found, frozenset())
    assert not isinstance(pairs, str)
    assert [pair.distance for pair in pairs] == [(1, -1), (0, 1)]


# --- what is computed after the nest, and what is not filled before it ------------------------------------------------

FOLLOWED = """
  best = 0.0_f64
  for i in 1 .. n:
    for j in 1 .. m:
      s = a[i - 1, j] - a[i, j - 1] * 0.5_f64
      {early}
      a[i, j] = s
      {late}
"""


@pytest.mark.parametrize(
    ("early", "late", "detaches"),
    [
        ("", "if s > best:\n        best = s", True),
        ("if s > best:\n        best = s", "", True),
        ("", "best = best + a[i, j]", True),
        ("", "best = best + a[i, j] * b[i, j]", True),
        ("best = best + a[i, j]", "", False),  # what was there before
        ("", "best = best + a[i - 1, j]", False),  # of another iteration
        ("best = best + s", "s = s + 1.0_f64\n      a[i, j] = s", False),  # the variable changes once more
        ("s = s + best", "best = best + a[i, j]", False),  # the nest needs it
        ("", "best = best + a[i, j]\n      c[i, j] = best", False),  # an array follows, too
        ("u = s * 2.0_f64", "best = best + u", False),  # kept nowhere
    ],
)
def test_what_follows_is_computed_after_the_nest(early: str, late: str, detaches: bool) -> None:
    body = FOLLOWED.format(early=early, late=late)
    before = program(body.replace("\n      \n", "\n"), output="scalar best")
    after = detach.run(before, PassContext())
    verify(after, Stage.OPTIMISED)
    assert (after is not before) is detaches
    assert_same(before, after, 7, 9)
    assert_same(before, tiled(after)[0], 7, 9)


LOCAL = """program f(steps, a, b, c, k):
  symbol steps = argument steps
  size n = a.shape[0]
  size m = a.shape[1]
  param a: f64[n, m] C
  param b: f64[n, m] C
  param c: f64[n, m] C
  param k: i64[m] C
  local t: f64[n + 2, m + 3]
  local s: f64
  output #0 = None

  alloc t
  t[x, y] = f64(x) * 0.25_f64   for x: 0 <= x < n + 2, y: 0 <= y < m + 3
  {between}
  for i in {rows}:
    for j in {columns}:
      t[i, j] = {value}
  {after}
  return #0
"""
OF_EARLIER = "t[i - 1, j] - t[i, j - 1] * 0.5_f64 + b[0, 0]"
LAST_ROW = "c[0, z] = t[n, z + 1]   for z: 0 <= z < m"
WHOLE = "c[v, z] = t[v + 1, z + 2]   for v: 0 <= v < n, z: 0 <= z < m"


@pytest.mark.parametrize("after", [LAST_ROW, WHOLE], ids=["last row", "whole"])
@pytest.mark.parametrize("columns", ["1 .. m + 3", "2 .. m", "m .. 2 step 1"])
@pytest.mark.parametrize("rows", ["1 .. n + 1", "3 .. n + 1"])
def test_a_table_is_filled_where_the_nest_does_not_compute_it(rows: str, columns: str, after: str) -> None:
    text = LOCAL.format(between="s = 0.0_f64", rows=rows, columns=columns, value=OF_EARLIER, after=after)
    before = parse(text)
    found, _ = tiled(before)
    fills = [node for node in found.body if isinstance(node, Stmt) and node.buffer == "t"]
    assert not any(fill.domain == before.body[1].domain for fill in fills)  # type: ignore[union-attr]
    for rows_, columns_ in ((1, 1), (4, 3), (9, 8), (2, 12)):
        assert_same(before, found, rows_, columns_)


@pytest.mark.parametrize(
    ("between", "value"),
    [
        ("s = t[1, 1]", OF_EARLIER),  # read before the nest
        ("s = 0.0_f64", "t[i, j] + " + OF_EARLIER),  # the nest needs the old values
        ("s = 0.0_f64", "t[i + 1, j] + " + OF_EARLIER),
    ],
)
def test_a_fill_that_is_needed_stays(between: str, value: str) -> None:
    before = parse(LOCAL.format(between=between, rows="1 .. n + 1", columns="1 .. m + 3", value=value, after=WHOLE))
    found, _ = tiled(before)
    assert found is not before and found.body[1] == before.body[1]
    assert_same(before, found, 9, 8)


# --- random nests ----------------------------------------------------------------------------------------------------

OFFSETS = st.tuples(st.integers(-2, 2), st.integers(-2, 2))


@st.composite
def random_nests(draw: st.DrawFn) -> str:
    """A nest of two loops over a[i, j] with any shifts, directions and borders that stay in bounds."""
    shifts = draw(st.lists(OFFSETS, min_size=1, max_size=4))
    rows = draw(st.sampled_from(["2 .. n - 2", "n - 3 .. 1 step -1"]))
    borders = ["2 .. m - 2", "m - 3 .. 1 step -1", "maximum(2, i) .. m - 2"]
    if rows.startswith("2"):
        borders += ["i .. m - 2", "2 .. i + 1", "2 .. m - i"]
    columns = draw(st.sampled_from(borders))
    terms = [f"a[i + {p}, j + {q}] * 0.{at + 1}_f64" for at, (p, q) in enumerate(shifts)]
    value = " + ".join(terms)
    form = draw(st.integers(0, 4))
    if form == 0:
        body = f"a[i, j] = {value}"
    elif form == 1:
        body = f"s = {value}\n      if s > 0.5_f64:\n        a[i, j] = s - b[i, j]"
    elif form == 2:
        body = f"a[i, j] = {value} + k[j]\n      c[i, j] = a[i, j]".replace("k[j]", "f64(k[j])")
    elif form == 3:
        body = f"c[i, j] = {value}\n      a[i, j] = c[i - 1, j + 1] + c[i, j - 1]"
    else:
        q = draw(st.sampled_from(["a[i, q] + a[q, j]", "a[i - 1, q]", "a[q, j - 1]", "a[i, q] + b[q, j]"]))
        body = f"a[i, j] = {value} - (max[q: 2 <= q < minimum(i, j)] {q})"
    return f"  for i in {rows}:\n    for j in {columns}:\n      {body}"


@settings(max_examples=60, deadline=None, derandomize=True)
@given(random_nests(), st.integers(4, 11))
def test_random_nests(body: str, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        use_small_tiles(patch)
        before = program(body)
        after, _ = tiled(before)
        assert_same(before, after, size, size)
