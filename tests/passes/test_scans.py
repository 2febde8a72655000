"""Scans: loops that carry running values along are told by meaning, and give in blocks what they give in order."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.passes.lowering import assert_same, loops, lowered, program
from weft.ir.program import Loop, LoopKind, Program
from weft.ir.walk import mentions
from weft.options import Options
from weft.passes import PassContext, schedule
from weft.passes.scheduling import scan_blocks
from weft.passes.scheduling.independent import outputs
from weft.passes.scheduling.lower import Workspace
from weft.passes.scheduling.scans import Scan, scan_of

ARRAYS = {"x": ("i64", 1), "y": ("i64", 1), "u": ("f64", 1), "v": ("f64", 1)}
LOCALS = """
  local s: i64
  local t: i64
  local q: i64
  local m: i64
  local c: bool
  local k: int
  local f: f64
  local g: f64
"""
START = """
  s = 1_i64
  q = 2_i64
  m = 0_i64
  c = (1_i64 > 0_i64 as bool)
  k = 0
  f = 0.5_f64
  g = 0.25_f64
"""
RESULT = "tuple(scalar s, scalar m, scalar f)"


def made(body: str, output: str = RESULT) -> Program:
    return program(ARRAYS, START + body, LOCALS, output)


def arguments(n: int, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "x": rng.integers(-(2**62), 2**62, n),
        "y": rng.integers(-9, 9, n),
        "u": rng.integers(-2, 3, n) * rng.choice([-0.0, 0.5, np.nan, 1.0], n),
        "v": rng.standard_normal(n),
    }


def the_scan(source: Program) -> Scan | str:
    loop = next(node for node in source.body if isinstance(node, Loop))
    inside = mentions((loop,))
    outside = {name for name, count in mentions(source.body).items() if count > inside.get(name, 0)} | outputs(source)
    return scan_of(loop, source, outside, Workspace.of(source).new_buffer)


def messages(source: Program, **options: object) -> list[str]:
    context = PassContext(Options(**options))  # type: ignore[arg-type]
    schedule.run(source, context)
    return [remark.message for remark in context.log]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks so small that the interpreter sees several rounds of them."""
    monkeypatch.setattr(scan_blocks, "BLOCK", 3)
    monkeypatch.setattr(scan_blocks, "MAX_BLOCKS", 4)
    monkeypatch.setattr(scan_blocks, "LEAST_BLOCKS", 1)
    monkeypatch.setattr(scan_blocks, "MORE_WORK", 0.0)


SCANS = {
    "running sum": """
        for i in 0 .. x_0:
          s = s + x[i]
          y[i] = s
    """,
    "running sum, exclusive": """
        for i in 0 .. x_0:
          y[i] = s
          s = s + x[i]
    """,
    "running sum in an array": """
        for i in 1 .. x_0:
          y[i] = y[i - 1] + x[i]
    """,
    "running sum in place": """
        for i in 1 .. x_0:
          x[i] = x[i - 1] + x[i]
    """,
    "running difference": """
        for i in 0 .. x_0:
          s = s - x[i] - 1_i64
          y[i] = s
    """,
    "running sum downwards": """
        for i in x_0 - 1 .. -1 step -1:
          s = s + x[i]
          y[i] = s
    """,
    "running sum of every third": """
        for i in 2 .. x_0 step 3:
          s = s + x[i]
          y[i] = s
    """,
    "running sum in an array downwards": """
        for i in x_0 - 2 .. -1 step -1:
          y[i] = y[i + 1] + x[i]
    """,
    "running product": """
        for i in 0 .. x_0:
          s = s * x[i]
          y[i] = s
    """,
    "running maximum": """
        for i in 0 .. x_0:
          if x[i] > m:
            m = x[i]
          y[i] = m
    """,
    "running maximum of floats": """
        for i in 0 .. u_0:
          if u[i] > f:
            f = u[i]
          v[i] = f
    """,
    "running minimum of floats, NaN stays": """
        for i in 0 .. u_0:
          f = minimum(u[i], f)
          v[i] = f * 2.0_f64
    """,
    "running maximum of some floats": """
        for i in 0 .. u_0:
          f = select(y[i] > 0_i64, maximum(f, u[i]), f)
          v[i] = f
    """,
    "running or": """
        for i in 0 .. x_0:
          c = c and x[i] < 2_i64
          y[i] = i64(c)
    """,
    "count": """
        for i in 0 .. x_0:
          if x[i] > 0_i64:
            k = k + 1
          y[i] = i64(k)
    """,
    "bits": """
        for i in 0 .. x_0:
          s = bitxor(s, x[i])
          y[i] = s
    """,
    "two": """
        for i in 0 .. x_0:
          s = s + x[i]
          m = maximum(m, x[i] * 2_i64)
          y[i] = s - m
    """,
    "one that needs another": """
        for i in 0 .. x_0:
          s = s + x[i]
          m = maximum(m, s)
          q = minimum(q, m - s)
          y[i] = q
    """,
    "beside other work": """
        for i in 0 .. x_0:
          t = y[i] * 3_i64
          x[i] = x[i] + 1_i64
          if t > 4_i64:
            s = s + t
            m = minimum(m, t)
          y[i] = s + t + x[i]
          for j in 0 .. 2:
            y[i] = y[i] + m
    """,
}


@pytest.mark.parametrize("name", SCANS)
def test_scans_in_blocks(name: str, small: None) -> None:
    source = made(SCANS[name])
    assert isinstance(the_scan(source), Scan)
    assert any("scan over i: " in message and "in blocks" in message for message in messages(source))
    after = lowered(source)
    assert loops(after, LoopKind.PARALLEL)
    for n in (0, 1, 2, 3, 12, 13, 40):
        if n or " 1]" not in SCANS[name]:
            assert_same(source, arguments(n, n), after)


def test_signs_of_zeros_and_nan(small: None) -> None:
    for name in (name for name in SCANS if "floats" in name):
        source = made(SCANS[name], "None")
        after = lowered(source)
        for seed in range(20):
            given = arguments(30, seed)
            given["u"] = np.where(np.arange(30) % 7 == 3, given["u"], np.copysign(0.0, given["v"]))
            if "minimum" in name and seed % 2:
                given["u"] = np.abs(given["u"])
            assert_same(source, given, after)
            expected = assert_bits(source, given)
            assert expected.tobytes() == assert_bits(after, given).tobytes()


def assert_bits(source: Program, given: dict[str, np.ndarray]) -> np.ndarray:
    from weft.ir import interp

    own = {name: value.copy() for name, value in given.items()}
    interp.run(source, own)
    return np.where(np.isnan(own["v"]), np.nan, own["v"])


REFUSED = {
    "needs what an earlier one wrote": (
        """
        for i in 2 .. x_0:
          y[i] = y[i - 1] + y[i - 2]
        """,
        "carries no variable",
    ),
    "not a sum": (
        """
        for i in 0 .. x_0:
          s = s * 2_i64 + x[i]
          y[i] = s
        """,
        "not combined",
    ),
    "subtracted from": (
        """
        for i in 0 .. x_0:
          s = x[i] - s
          y[i] = s
        """,
        "not combined",
    ),
    "need each other's values": (
        """
        for i in 0 .. x_0:
          t = m
          m = maximum(m, s)
          s = s + t
        """,
        "need each other",
    ),
    "reads where it writes": (
        """
        for i in 0 .. x_0:
          y[i] = s
          s = s + y[x_0 - 1 - i]
        """,
        "touch the same elements",
    ),
    "a value of the last iteration is used": (
        """
        for i in 0 .. x_0:
          m = x[i] * 2_i64
          s = s + m
          y[i] = s
        """,
        "used after the loop",
    ),
    "two results": (
        """
        for i in 0 .. u_0:
          f = maximum(f, sin(u[i]))
          v[i] = f
        """,
        "twice",
    ),
    "which zero": (
        """
        for i in 0 .. u_0:
          f = maximum(maximum(u[i], f), v[i])
          v[i] = f
        """,
        "equal terms",
    ),
    "carried through a loop": (
        """
        for i in 0 .. x_0:
          for j in 0 .. 2:
            s = s * 3_i64 + x[i]
          y[i] = s
        """,
        "not told",
    ),
    "a test before a term": (
        """
        for i in 0 .. x_0:
          check (y[i] >= 0_i64 as bool) and (y[i] < i64(x_0) as bool) else IndexError
          s = s + x[int(y[i])]
          v[i] = f64(s)
        """,
        "must come before its terms",
    ),
    "nothing carried": (
        """
        for i in 0 .. x_0:
          y[i] = x[i]
        """,
        "carries no variable",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_no_scans(name: str, small: None) -> None:
    body, reason = REFUSED[name]
    source = made(body)
    found = the_scan(source)
    assert isinstance(found, str) and reason in found
    assert not any("scan" in message for message in messages(source))


def test_sums_of_floats_keep_their_order(small: None) -> None:
    source = made("""
        for i in 0 .. v_0:
          f = f + v[i]
          v[i] = f
    """)
    assert not loops(lowered(source), LoopKind.PARALLEL)
    assert any("in order: floats are rounded" in message for message in messages(source))
    for fp in ("fast", "regroup"):
        assert any("in blocks" in message for message in messages(source, fp=fp))
        after = lowered(source, fp=fp)
        assert loops(after, LoopKind.PARALLEL)
        for n in (0, 1, 5, 40):
            assert_same(source, arguments(n), after)


def test_the_number_of_threads_decides_only_where_nothing_is_rounded(small: None) -> None:
    from weft.ir.text import show

    exact = made(SCANS["running sum"])
    assert "limit(threads)" in show(lowered(exact))
    rounded = made("""
        for i in 0 .. v_0:
          f = f + v[i]
          v[i] = f
    """)
    assert "limit(threads)" not in show(lowered(rounded, fp="fast"))


def test_short_loops_and_one_thread_stay_as_they_are() -> None:
    short = made("""
        for i in 0 .. 1000:
          s = s + x[i]
          y[i] = s
    """)
    assert not loops(lowered(short), LoopKind.PARALLEL)
    assert not loops(lowered(made(SCANS["running sum"]), parallel=False), LoopKind.PARALLEL)


def random_scan(draw: random.Random) -> Program:
    """A loop with running values, sometimes of each other, and stores beside them."""
    terms = ["x[i]", "y[i]", "i64(i)", "t", "3_i64", "x[i] - y[i]", "select(x[i] > 0_i64, y[i], 2_i64)", "s", "m"]
    updates = [
        "s = s + {0}", "s = s - {0}", "q = q * {0}", "m = maximum({0}, m)", "m = minimum(m, {0} + {1})",
        "m = bitor(m, {0})", "k = select({0} > {1}, k + 2, k)", "f = maximum(f, u[i])",
        "f = select(u[i] < f, u[i], f)", "t = {0} + {1}",
    ]  # fmt: skip
    stores = ["y[i] = {0} + {1}", "x[i] = {0}", "v[i] = f", "y[i] = i64(k)"]
    lines = ["t = y[i] * 2_i64"]
    for _ in range(draw.randint(2, 5)):
        line = draw.choice(updates if draw.random() < 0.6 else stores).format(draw.choice(terms), draw.choice(terms))
        lines += [f"if {draw.choice(terms)} > 0_i64:", "  " + line] if draw.random() < 0.25 else [line]
    step = draw.choice(["1 .. x_0", "x_0 - 1 .. -1 step -1", "1 .. x_0 step 2"])
    if draw.random() < 0.3:
        step, lines = "1 .. x_0", [*lines, "y[i] = maximum(y[i - 1], x[i])"]
    body = ["  " + line for line in (f"for i in {step}:", *("  " + line for line in lines))]
    return program(ARRAYS, START.strip("\n") + "\n" + "\n".join(body), LOCALS, RESULT)


def test_random_scans(small: None) -> None:
    shared = 0
    for seed in range(60):
        source = random_scan(random.Random(seed))
        after = lowered(source)
        shared += bool(loops(after, LoopKind.PARALLEL))
        for n in (1, 7, 26):
            assert_same(source, arguments(n, seed), after)
    assert shared >= 15
