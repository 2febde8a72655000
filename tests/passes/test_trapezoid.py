"""Time tiling: sweeps over blocks of rows for several steps give what one step after the other gives, bit for bit."""

from __future__ import annotations

import copy
import random

import numpy as np
import pytest

from weft.analysis.sweeps import reach_of, sweeps_of
from weft.ir import interp
from weft.ir.expr import real
from weft.ir.program import If, Loop, Program
from weft.ir.text import parse
from weft.ir.verify import Stage, verify
from weft.ir.walk import walk
from weft.passes import PassContext, trapezoid

HEAD = """program f(steps, a, b, c):
  symbol steps = argument steps
  size n = a.shape[0]
  size m = a.shape[1]
  param a: f64[n, m] C
  param b: f64[n, m] C
  param c: f64[n, m] C
  local s: f64
  disjoint a, b
  disjoint a, c
  disjoint b, c
  output #0 = None

  for t in 0 .. steps:
{body}
  return #0
"""
JACOBI = """
    parallel i in 0 .. n - 2:
      vector j in 0 .. m:
        b[i + 1, j] = a[i, j] + a[i + 1, j] * 3.0_f64 + a[i + 2, j]
    parallel k in 1 .. n - 1:
      vector l in 0 .. m:
        a[k, l] = b[k - 1, l] - b[k, l] * 0.5_f64 + b[k + 1, l]
"""
WAVE = """
    vector j0 in 0 .. m:
      a[0, j0] = f64(t) * 0.25_f64
    parallel i in 1 .. n:
      vector j in 0 .. m:
        a[i, j] = a[i, j] - 0.5_f64 * (c[i, j] - c[i - 1, j])
    parallel k in 0 .. n - 1:
      vector l in 0 .. m:
        s = a[k + 1, l] - a[k, l]
        c[k, l] = c[k, l] - 0.7_f64 * s
    vector j1 in 0 .. m:
      c[n - 1, j1] = c[n - 2, j1]
      c[0, j1] = c[1, j1]
"""

# Rows that are counted from a place that only the run tells, as in windows of larger arrays.
WINDOW = """
    parallel i in 0 .. n - m - 1:
      vector j in 0 .. m:
        b[m + i, j] = a[m + i - 1, j] + a[m + i, j] * f64(i) + a[m + i + 1, j]
    parallel k in 0 .. n - m - 1:
      vector l in 0 .. m:
        a[m + k, l] = b[m + k - 1, l] - b[m + k, l] * 0.5_f64 + b[m + k + 1, l]
"""


def program(body: str) -> Program:
    found = parse(HEAD.format(body=body.strip("\n")))
    verify(found, Stage.LOWERED)
    return found


def tiled(body: str) -> Program:
    context = PassContext()
    found = trapezoid.run(program(body), context)
    verify(found, Stage.LOWERED)
    return found


def arguments(rows: int, steps: int, columns: int = 3) -> dict[str, object]:
    rng = np.random.default_rng(rows * 100 + steps)
    return {"steps": steps, **{name: rng.random((rows, columns)) for name in "abc"}}


def assert_same(body: str, rows: int, steps: int, order: str = "forward", columns: int = 3) -> None:
    before, after = arguments(rows, steps, columns), arguments(rows, steps, columns)
    interp.run(program(body), before)
    interp.run(tiled(body), after, order=order)
    for name in "abc":
        np.testing.assert_array_equal(before[name], after[name])


@pytest.mark.parametrize("body", [JACOBI, WAVE, WINDOW], ids=["jacobi", "wave", "window"])
@pytest.mark.parametrize("order", ["forward", "reversed", "shuffled"])
@pytest.mark.parametrize(("rows", "steps"), [(2, 3), (3, 1), (7, 4), (45, 7), (64, 0), (61, 12)])
def test_steps_at_once_give_the_same(body: str, order: str, rows: int, steps: int) -> None:
    assert_same(body, rows, steps, order)


def test_a_block_shrinks_by_what_the_sweeps_reach() -> None:
    (loop,) = (node for node in program(JACOBI).body if isinstance(node, Loop))
    sweeps = sweeps_of(loop)
    assert not isinstance(sweeps, str)
    reach = reach_of(sweeps.rows)
    assert (reach.left, reach.right, reach.left_step, reach.right_step) == ((0, 1), (0, 1), 2, 2)


def test_rows_of_a_window_are_tiled() -> None:
    assert any(isinstance(node, If) for node in tiled(WINDOW).body)


def test_few_rows_keep_the_loop_they_had() -> None:
    """The choice is made at run time: both forms are there."""
    found = tiled(JACOBI)
    (choice,) = (node for node in found.body if isinstance(node, If))
    assert sum(isinstance(node, Loop) for node in walk(choice.orelse)) == 5


def test_loops_in_strips_are_joined() -> None:
    source = """program f(steps, a, b):
  symbol steps = argument steps
  size n = a.shape[0]
  param a: f64[n] C
  param b: f64[n] C
  disjoint a, b
  output #0 = None

  for t in 0 .. steps:
    parallel i_block in 0 .. (n + 5) // 8:
      vector i in 8 * i_block .. minimum(8 * i_block + 8, n - 2):
        b[i + 1] = a[i] + a[i + 1] + a[i + 2]
    parallel k_block in 0 .. (n + 5) // 8:
      vector k in 8 * k_block .. minimum(8 * k_block + 8, n - 2):
        a[k + 1] = b[k] - b[k + 1] + b[k + 2]
  return #0
"""
    before = parse(source)
    after = trapezoid.run(before, PassContext())
    assert after is not before
    for size in (2, 5, 30, 99):
        first = {"steps": 6, "a": np.arange(size) * 0.1, "b": np.arange(size) * 0.7}
        second = copy.deepcopy(first)
        interp.run(before, first)
        interp.run(after, second, order="shuffled")
        np.testing.assert_array_equal(first["a"], second["a"])
        np.testing.assert_array_equal(first["b"], second["b"])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        # Rows that are only set: nothing is gained by keeping them in the cache.
        (
            """
    parallel i in 0 .. n:
      vector j in 0 .. m:
        b[i, j] = f64(t)
""",
            "no step uses what another one wrote",
        ),
        # The last row needs the first: their distance is not known.
        (
            """
    parallel i in 0 .. n - 1:
      vector j in 0 .. m:
        b[i, j] = a[i + 1, j]
    vector l in 0 .. m:
      b[n - 1, l] = a[0, l]
    parallel k in 0 .. n:
      vector q in 0 .. m:
        a[k, q] = b[k, q]
""",
            "not a fixed distance apart",
        ),
        # Rows of one sweep are columns of the other.
        (
            """
    parallel i in 0 .. n:
      vector j in 0 .. m:
        b[i, j] = a[i, j]
    parallel k in 0 .. n:
      vector l in 0 .. m:
        a[k, l] = b[l, k]
""",
            "row by row",
        ),
        # A sum over all rows is needed before the next step.
        (
            """
    s = 0.0_f64
    parallel i in 0 .. n:
      vector j in 0 .. m:
        b[i, j] = a[i, j] + s
""",
            "more than sweeps",
        ),
        # A sweep whose rows depend on each other.
        (
            """
    parallel i in 0 .. n:
      vector j in 0 .. m:
        b[i, j] = a[i, j]
    for k in 1 .. n:
      vector l in 0 .. m:
        a[k, l] = a[k - 1, l] + b[k, l]
""",
            "depend on each other",
        ),
        # Another element at each place: rows read from memory.
        (
            """
    parallel i in 0 .. n:
      vector j in 0 .. m:
        b[i, j] = a[i, j]
    parallel k in 0 .. n - 1:
      vector l in 0 .. m:
        a[k, l] = b[int(b[k, l]), l]
""",
            "row by row",
        ),
    ],
)
def test_refused(body: str, reason: str) -> None:
    before = program(body)
    context = PassContext()
    assert trapezoid.run(before, context) is before
    assert reason in context.log[0].message


def _random_body(rng: random.Random) -> str:
    """Sweeps over rows, lines at the border and columns, with random reaches."""
    lines: list[str] = []
    for at in range(rng.randint(1, 4)):
        target, sources = rng.choice("abc"), rng.sample("abc", 2)
        kind = rng.choice(["rows", "rows", "rows", "line", "column"])
        if kind == "line":
            row, other = rng.choice([("0", "1"), ("n - 1", "n - 2"), ("1", "3")])
            lines.append(f"    vector j{at} in 0 .. m:")
            lines.append(f"      {target}[{row}, j{at}] = {target}[{other}, j{at}] * 0.5_f64")
            continue
        if kind == "column":
            lines += [f"    vector i{at} in 0 .. n:", f"      {target}[i{at}, m - 1] = {target}[i{at}, 0] * 0.5_f64"]
            continue
        terms = [f"{target}[i{at} + 3, j{at}] * 0.25_f64"]
        for source in sources:
            if source != target:
                terms.append(f"{source}[i{at} + {3 + rng.randint(-2, 2)}, j{at}]")
        lines.append(f"    parallel i{at} in {rng.randint(-1, 1)} .. n - {rng.randint(5, 7)}:")
        lines.append(f"      vector j{at} in 0 .. m:")
        lines.append(f"        {target}[i{at} + 3, j{at}] = {' - '.join(terms)}")
    if not any("parallel" in line for line in lines):
        lines += ["    parallel i in 0 .. n:", "      vector j in 0 .. m:", "        a[i, j] = b[i, j] - a[i, j]"]
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(25))
def test_random_sweeps(seed: int) -> None:
    rng = random.Random(seed)
    body = _random_body(rng)
    assert_same(body, rng.randint(8, 90), rng.randint(1, 12), rng.choice(["forward", "reversed", "shuffled"]))


# --- rows and columns -------------------------------------------------------------------------------------------------

NINE_POINTS = """
    parallel i in 1 .. n - 1:
      vector j in 1 .. m - 1:
        b[i, j] = a[i - 1, j - 1] - a[i + 1, j + 1] * 0.25_f64 + a[i, j]
    parallel k in 1 .. n - 1:
      vector l in 0 .. m - 2:
        a[k, l + 1] = b[k, l] * 0.5_f64 - b[k - 1, l + 2] + c[k, l]
"""
BORDERS = """
    vector j0 in 0 .. m:
      a[0, j0] = f64(t) * 0.25_f64
    vector i0 in 0 .. n:
      c[i0, 0] = c[i0, 1] * 0.5_f64
    parallel i in 1 .. n:
      vector j in 0 .. m - 1:
        a[i, j] = a[i, j] - 0.5_f64 * (c[i, j] - c[i - 1, j + 1])
      vector j1 in 1 .. m:
        b[i, j1] = b[i, j1] - c[i, j1 - 1]
    parallel k in 0 .. n - 1:
      vector l in 1 .. m - 1:
        s = a[k + 1, l - 1] - a[k, l]
        c[k, l] = c[k, l] - 0.7_f64 * s + b[k, l]
"""


def small_cache(monkeypatch: pytest.MonkeyPatch, elements: int) -> None:
    monkeypatch.setattr(trapezoid, "ROOM", real(elements * 24.0))


@pytest.mark.parametrize("body", [JACOBI, WAVE, NINE_POINTS, BORDERS], ids=["jacobi", "wave", "nine", "borders"])
@pytest.mark.parametrize("order", ["forward", "shuffled"])
@pytest.mark.parametrize(("rows", "columns", "steps"), [(2, 9, 3), (24, 22, 5)])
def test_rows_and_columns_cut(
    monkeypatch: pytest.MonkeyPatch, body: str, order: str, rows: int, columns: int, steps: int
) -> None:
    small_cache(monkeypatch, 100)
    assert_same(body, rows, steps, order, columns)


def test_columns_are_cut_where_few_rows_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks along both axes were run: four phases, each with several tiles."""
    small_cache(monkeypatch, 300)
    found = tiled(NINE_POINTS)
    phases = [node for node in walk(found.body) if isinstance(node, Loop) and "phase" in node.dim.var]
    assert len(phases) == 2


@pytest.mark.parametrize(
    "body",
    [
        # Columns of one sweep are read at a place from memory: only rows are cut.
        """
    parallel i in 0 .. n - 1:
      vector j in 0 .. m:
        b[i, j] = a[i + 1, m - 1 - j]
    parallel k in 0 .. n:
      vector l in 0 .. m:
        a[k, l] = b[k, l] * 0.5_f64
""",
        # A variable of the row is made of an element that changes in time.
        """
    parallel i in 0 .. n - 1:
      s = a[i + 1, 0]
      vector j in 0 .. m:
        b[i, j] = a[i + 1, j] - s
    parallel k in 0 .. n:
      vector l in 0 .. m:
        a[k, l] = b[k, l] * 0.5_f64
""",
    ],
    ids=["mirrored", "scalar of a row"],
)
def test_columns_stay_whole_where_they_meet(monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    small_cache(monkeypatch, 80)
    found = tiled(body)
    assert sum(isinstance(node, Loop) and "phase" in node.dim.var for node in walk(found.body)) == 1
    assert_same(body, 30, 4, "shuffled", 12)


def _random_grid(rng: random.Random) -> str:
    """Sweeps with random reaches along both axes."""
    lines: list[str] = []
    for at in range(rng.randint(1, 3)):
        target = rng.choice("abc")
        terms = [f"{target}[i{at} + 2, j{at} + 2] * 0.25_f64"]
        for source in rng.sample("abc", 2):
            if source != target:
                terms.append(f"{source}[i{at} + {2 + rng.randint(-2, 2)}, j{at} + {2 + rng.randint(-2, 2)}]")
        lines.append(f"    parallel i{at} in 0 .. n - {rng.randint(4, 6)}:")
        lines.append(f"      vector j{at} in {rng.randint(0, 2)} .. m - {rng.randint(4, 5)}:")
        lines.append(f"        {target}[i{at} + 2, j{at} + 2] = {' - '.join(terms)}")
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(12))
def test_random_grids(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    rng = random.Random(seed)
    small_cache(monkeypatch, rng.choice([40, 80, 160]))
    body = _random_grid(rng)
    order = rng.choice(["forward", "reversed", "shuffled"])
    assert_same(body, rng.randint(8, 25), rng.randint(1, 6), order, rng.randint(8, 25))
