"""Fusion, contraction, recomputation and tiling of several statements."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.passes.lowering import assert_same, loops, lowered, program
from weft.ir.program import Alloc, LoopKind, Program
from weft.ir.walk import buffers_read, buffers_written, walk
from weft.passes import schedule
from weft.passes.scheduling import tile

RNG = np.random.default_rng(5)
SOFTMAX = program(
    {"x": ("f64", 2)},
    """
      alloc m
      alloc e
      alloc s
      alloc o
      m[i] = max[k: 0 <= k < x_1] x[i, k]   for i: 0 <= i < x_0
      e[p, j] = exp(x[p, j] - m[p])   for p: 0 <= p < x_0, j: 0 <= j < x_1
      s[q] = sum[l: 0 <= l < x_1] e[q, l]   for q: 0 <= q < x_0
      o[u, v] = e[u, v] / s[u]   for u: 0 <= u < x_0, v: 0 <= v < x_1
    """,
    "local m: f64[x_0]\nlocal e: f64[x_0, x_1]\nlocal s: f64[x_0]\nresult o: f64[x_0, x_1]",
    "array o",
)


def allocated(after: Program) -> list[str]:
    return [node.buffer for node in walk(after.body) if isinstance(node, Alloc)]


def test_softmax_is_one_parallel_loop_over_rows() -> None:
    after = assert_same(SOFTMAX, {"x": RNG.random((4, 5))})
    assert len(loops(after, LoopKind.PARALLEL)) == 1
    assert len(loops(after, LoopKind.VECTOR)) == 3  # the maximum; exponentials and their sum; the quotients
    assert after.buffer("e").rank == 1 and after.buffer("m").rank == 0 and after.buffer("s").rank == 0


def test_pointwise_temporaries_become_scalars() -> None:
    body = """
      alloc t
      t[i] = a[i] * a[i] + 1.0_f64   for i: 0 <= i < a_0
      b[k] = t[k] / (t[k] + a[k])   for k: 0 <= k < a_0
    """
    before = program({"a": ("f64", 1), "b": ("f64", 1)}, body, "local t: f64[a_0]")
    after = assert_same(before, {"a": RNG.random(7), "b": np.zeros(7)})
    assert after.buffer("t").rank == 0 and allocated(after) == []


NOT_FUSED = [
    # what the second needs the first computes in other iterations
    "b[i] = a[i] + 1.0_f64   for i: 0 <= i < a_0\nc[k] = b[a_0 - 1 - k]   for k: 0 <= k < a_0",
    "b[i] = a[i] + 1.0_f64   for i: 1 <= i < a_0\nc[k] = b[k - 1] + b[k]   for k: 1 <= k < a_0",
    # what the first needs the second overwrites
    "b[i] = a[i - 1] + a[i]   for i: 1 <= i < a_0\na[k] = 0.0_f64   for k: 1 <= k < a_0",
    # both write, in different iterations
    "b[i] = a[i]   for i: 0 <= i < a_0\nb[a_0 - 1 - k] = c[k]   for k: 0 <= k < a_0",
    # a sum is complete only after its loop
    "s = sum[i: 0 <= i < a_0] a[i]\nb[k] = a[k] / s   for k: 0 <= k < a_0",
]


@pytest.mark.parametrize("body", NOT_FUSED)
def test_what_must_not_be_fused(body: str) -> None:
    before = program({"a": ("f64", 1), "b": ("f64", 1), "c": ("f64", 1)}, body, "local s: f64")
    after = assert_same(before, {name: RNG.random(8) for name in "abc"})
    assert len(loops(after, LoopKind.PARALLEL)) == 2


FUSED = [
    "b[i] = a[i] + 1.0_f64   for i: 0 <= i < a_0\nc[k] = b[k] * a[k]   for k: 0 <= k < a_0",
    "b[i] = a[i]   for i: 0 <= i < a_0\na[k] = c[k]   for k: 0 <= k < a_0",
    "s = sum[i: 0 <= i < a_0] a[i]\nt = max[k: 0 <= k < a_0] a[k]\nc[0] = s\nc[1] = t",
    "b[i] = a[i] * 2.0_f64   for i: 0 <= i < a_0\ns = sum[k: 0 <= k < a_0] b[k]\nc[0] = s",
]


@pytest.mark.parametrize("body", FUSED)
def test_what_is_fused(body: str) -> None:
    before = program({"a": ("f64", 1), "b": ("f64", 1), "c": ("f64", 1)}, body, "local s: f64\nlocal t: f64")
    after = assert_same(before, {name: RNG.random(8) for name in "abc"})
    assert len(loops(after, LoopKind.PARALLEL)) == 1


SCATTERED = """
  {first} a[i]   for i: 0 <= i < a_0
  {second} a[k] * 2.0_f64   for k: 0 <= k < a_0
"""
ADD, LATER, MORE = "b[int(p[i])] +=", "b[int(p[k]) + 1] +=", "b[int(p[k]) + 1] max="


@pytest.mark.parametrize(
    ("first", "second", "strict", "count"), [(ADD, LATER, False, 1), (ADD, MORE, False, 2), (ADD, LATER, True, 2)]
)
def test_sums_at_places_that_data_tell_share_a_loop(first: str, second: str, strict: bool, count: int) -> None:
    """Which of two additions to an element comes first is no matter, unless the order of a sum is kept."""
    body = SCATTERED.format(first=first, second=second)
    before = program({"a": ("f64", 1), "b": ("f64", 1), "p": ("i64", 1)}, body)
    given = {"a": RNG.random(8), "b": np.zeros(6), "p": RNG.integers(0, 5, 8)}
    after = assert_same(before, given, fp="strict" if strict else "numpy")
    # The loops that add to the array itself; others add to parts of it.
    adding = [loop for loop in loops(after, LoopKind.SEQUENTIAL) if "p" in buffers_read(loop)]
    assert len([loop for loop in adding if "b" in buffers_written(loop)]) == count


def test_statements_move_past_independent_ones_only() -> None:
    body = """
      b[i] = a[i] + 1.0_f64   for i: 0 <= i < a_0
      d[j] = c[j] * 2.0_f64   for j: 0 <= j < c_0
      c[k] = b[k]   for k: 0 <= k < a_0
    """
    before = program({name: ("f64", 1) for name in "abcd"}, body)
    assert_same(before, {name: RNG.random(6) for name in "abcd"})


STENCILS = """
  alloc lap
  alloc res
  alloc flx
  lap[i, j] = {f}(4.0_f64 * f[i + 1, j] - (f[i + 2, j] + f[i, j]))   for i: 0 <= i < o_0 + 2, j: 0 <= j < o_1
  res[p, q] = lap[p + 1, q] - lap[p, q]   for p: 0 <= p < o_0 + 1, q: 0 <= q < o_1
  flx[r, s] = select(res[r, s] > 0.0_f64, 0.0_f64, res[r, s])   for r: 0 <= r < o_0 + 1, s: 0 <= s < o_1
  o[u, v] = f[u + 2, v] - (flx[u + 1, v] - flx[u, v])   for u: 0 <= u < o_0, v: 0 <= v < o_1
"""
BUFFERS = "local lap: f64[o_0 + 2, o_1]\nlocal res: f64[o_0 + 1, o_1]\nlocal flx: f64[o_0 + 1, o_1]"


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (5, 4), (70, 3), (2, 270)])
@pytest.mark.parametrize("function", ["abs", "exp"])
def test_chain_of_stencils(function: str, shape: tuple[int, int]) -> None:
    """Cheap producers are computed again on the spot, expensive ones in tiles."""
    before = program({"f": ("f64", 2), "o": ("f64", 2)}, STENCILS.replace("{f}", function), BUFFERS)
    after = assert_same(before, {"f": RNG.random((shape[0] + 4, shape[1])), "o": np.zeros(shape)})
    assert len(loops(after, LoopKind.PARALLEL)) == 1
    if function == "abs":
        assert allocated(after) == []
    else:
        assert sorted(allocated(after)) == ["flx_tile", "lap_tile"]
        assert all(after.buffer(name).shape[0].value > 8 for name in allocated(after))  # type: ignore[attr-defined]


def test_halos_are_clipped_to_what_was_computed() -> None:
    # The last row of t does not exist: the branch that would read it is not taken there.
    body = """
      alloc t
      t[i, j] = exp(sin(a[i, j]))   for i: 0 <= i < a_0, j: 0 <= j < a_1
      b[p, q] = select(p + 1 < a_0, t[p + 1, q], 0.0_f64) + t[p, q]   for p: 0 <= p < a_0, q: 0 <= q < a_1
    """
    before = program({"a": ("f64", 2), "b": ("f64", 2)}, body, "local t: f64[a_0, a_1]")
    assert_same(before, {"a": RNG.random((70, 3)), "b": np.zeros((70, 3))})


def test_a_temporary_used_after_the_chain_stays() -> None:
    body = """
      alloc t
      t[i] = a[i] * 2.0_f64   for i: 0 <= i < a_0
      b[k] = t[k + 1] - t[k]   for k: 0 <= k < a_0 - 1
      s = sum[l: 0 <= l < a_0] t[l]
    """
    before = program({"a": ("f64", 1), "b": ("f64", 1)}, body, "local t: f64[a_0]\nlocal s: f64", "scalar s")
    assert_same(before, {"a": RNG.random(9), "b": np.zeros(9)})


def test_the_schedule_is_deterministic() -> None:
    assert lowered(SOFTMAX) == lowered(SOFTMAX)


def random_chain(seed: int) -> Program:
    """Three temporaries of two dimensions, each read at random offsets by the next ones and by the result."""
    pick = random.Random(seed)
    made, lines = ["a"], []
    for at, name in enumerate(("t", "u", "w", "b")):
        sources = {made[-1], pick.choice(made), pick.choice(made)}
        terms = []
        for source in sorted(sources):
            for _ in range(pick.randint(1, 3)):
                offsets = [pick.randint(0, 2), pick.randint(0, 2)]
                terms.append(f"{source}[i{at} + {offsets[0]}, j{at} + {offsets[1]}]")
        reach = 2 * (at + 1)
        over = f"for i{at}: 0 <= i{at} < a_0 - {reach}, j{at}: 0 <= j{at} < a_1 - {reach}"
        lines.append(f"{name}[i{at}, j{at}] = {' + '.join(terms)}   {over}")
        made.append(name)
    buffers = "\n".join(f"local {n}: f64[a_0 - {2 * k}, a_1 - {2 * k}]" for k, n in enumerate("tuw", 1))
    return program({"a": ("f64", 2), "b": ("f64", 2)}, "alloc t\nalloc u\nalloc w\n" + "\n".join(lines), buffers)


@pytest.mark.parametrize("way", ["tiles", "on the spot"])
@pytest.mark.parametrize("seed", range(6))
def test_random_chains(seed: int, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tile, "_INNER_SIZES", (4,))
    monkeypatch.setattr(tile, "_OUTER_SIZES", (3,))
    monkeypatch.setattr(tile, "MAX_RATIO", 1e9)
    monkeypatch.setattr(schedule, "pays", lambda *_: way == "on the spot")
    before = random_chain(seed)
    numbers = np.random.default_rng(seed)
    after = assert_same(before, {"a": numbers.random((16, 15)), "b": np.zeros((16, 15))})
    tiled = [name for name in allocated(after) if name.endswith("_tile")]
    assert bool(tiled) == (way == "tiles")
