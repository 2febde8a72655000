"""The limits by which code chooses at run time: shipped, measured, kept, and what they may change."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import weft
from weft import restored
from weft.analysis import cost
from weft.analysis.choices import choices
from weft.codegen.c_helpers import PRELUDE
from weft.ir.expr import Cast, Limit, Op, Var, integer, real
from weft.ir.text import show_expr
from weft.ir.types import FLOAT
from weft.limits import LIMIT, LIMITS, PLACES
from weft.pipeline import stages
from weft.runtime import dispatch, machine

NUMBERS = {name: 2.0 * shipped for name, shipped in machine.SHIPPED.items()}


def measured(asked: bool = True, **numbers: float) -> machine.Measurement:
    return machine.Measurement(asked, 2, {**NUMBERS, **numbers}, {"gemm": 300.0, "gemv": 90.0, "dot": 1e9})


def test_there_is_room_for_all_limits() -> None:
    assert len(LIMITS) <= PLACES
    assert f"f64 limits[{PLACES}];" in PRELUDE
    header = dispatch.native_source("runtime.h")
    assert f"LIMIT_PLACES = {PLACES}" in header and "double limits[LIMIT_PLACES];" in header


def test_without_a_measurement_the_shipped_limits_hold() -> None:
    assert machine.limits_of(None) == {limit.name: limit.default for limit in LIMITS}


def test_a_slow_machine_shares_work_earlier() -> None:
    slow, fast = measured(region_asleep=5000.0), measured(region_asleep=5000.0)
    fast = machine.Measurement(True, 2, {**fast.numbers, **machine.SHIPPED}, {})
    assert slow.slowness == pytest.approx(2.0) and fast.slowness == pytest.approx(1.0)
    assert machine.limits_of(slow)["parallel"] == pytest.approx(machine.limits_of(fast)["parallel"] / 2)
    assert machine.limits_of(slow)["crowded"] > machine.limits_of(slow)["parallel"]


def test_one_thread_keeps_the_shipped_limit() -> None:
    found = machine.Measurement(True, 1, {**NUMBERS, "region_asleep": 5000.0}, {})
    assert machine.limits_of(found)["parallel"] == LIMIT["parallel"].default


@pytest.mark.parametrize("region", [1e-3, 1e12])
def test_no_measurement_leads_far_away(region: float) -> None:
    limits = machine.limits_of(measured(region_asleep=region))
    for name, crossing in (("gemm", 300.0), ("gemv", 90.0), ("dot", 1e9)):
        assert LIMIT[name].default / 64 <= limits[name] <= LIMIT[name].default * 64, crossing
    assert LIMIT["parallel"].default / 8 <= limits["parallel"] <= LIMIT["parallel"].default * 8


def test_library_limits_are_coarse() -> None:
    """Two measurements that differ by noise give the same bits."""
    one = machine.limits_of(machine.Measurement(True, 2, {}, {"gemm": 300.0}))["gemm"]
    other = machine.limits_of(machine.Measurement(True, 2, {}, {"gemm": 340.0}))["gemm"]
    assert one == other == 256.0


def test_dense_products_count_against_gathered_ones() -> None:
    numbers = {"gathering": 0.5, "gemm_multiplication": 0.12}
    assert machine.limits_of(machine.Measurement(True, 2, numbers, {}))["sparse"] == 16.0
    assert machine.limits_of(machine.Measurement(False, 2, numbers, {}))["sparse"] == LIMIT["sparse"].default


def test_a_measurement_nobody_asked_for_changes_no_result() -> None:
    shipped, limits = machine.limits_of(None), machine.limits_of(measured(asked=False, region_asleep=9000.0))
    changing = [limit.name for limit in LIMITS if limit.changes_rounding]
    assert {"gemm", "gemv", "dot", "sparse"} == set(changing)
    assert all(limits[name] == shipped[name] for name in changing)
    assert limits["parallel"] != shipped["parallel"]


def test_kept_and_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "machine" / "here.json"
    place.parent.mkdir()
    monkeypatch.setattr(machine, "_place", lambda library=None: place)
    found = measured(region_asleep=4000.0)
    assert machine.stored() is None
    assert machine.keep(found) == place and machine.stored() == found
    assert list(place.parent.iterdir()) == [place]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"asked": true}', '{"asked": true, "threads": "x", "numbers": {}, "crossings": {}}']
    + ['{"asked": true, "threads": 2, "numbers": {"stream": NaN}, "crossings": {}}']
    + ['{"asked": true, "threads": 2, "numbers": {"stream": -1}, "crossings": {}}']
    + ['{"asked": true, "threads": 2, "numbers": {}, "crossings": {"gemm": 0}}'],
)
def test_a_damaged_file_is_no_measurement(text: str, tmp_path: Path) -> None:
    place = tmp_path / "here.json"
    place.write_text(text)
    assert machine.stored(place) is None


def test_cache_sizes(tmp_path: Path) -> None:
    for index, (level, kind, size, shared) in enumerate(
        [
            (1, "Data", "48K", "0-1"),
            (1, "Instruction", "32K", "0-1"),
            (2, "Unified", "2M", "0-1"),
            (3, "Unified", "32M", "0-15"),
        ]
    ):
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        for name, value in (("level", level), ("type", kind), ("size", size), ("shared_cpu_list", shared)):
            (folder / name).write_text(f"{value}\n")
    found = machine.cache_sizes(tmp_path)
    assert found == {"first_cache": 48 * 1024, "private_cache": 2 << 20, "shared_cache": 32 << 20}
    assert machine.cache_sizes(tmp_path / "nothing") == {}


@pytest.mark.native
def test_measuring_this_machine() -> None:
    found = machine.measure()
    assert found is not None and found.asked
    assert set(machine.SHIPPED) <= set(found.numbers) and all(value > 0.0 for value in found.numbers.values())
    assert 0.02 < found.slowness < 50.0
    assert json.loads(json.dumps(dict(found.numbers))) == found.numbers


def test_no_measurement_in_the_background_of_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    monkeypatch.setattr(machine.threading, "Thread", lambda **options: started.append(options))
    monkeypatch.setattr(machine, "_considered", machine.threading.Event())
    machine.consider()
    assert started == []


def test_waits_for_an_idle_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    used = iter([0.0, 1.0, 2.0, 2.0, 2.0, 2.0, 9.0])
    done: list[bool] = []
    monkeypatch.setattr(machine.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(machine.time, "process_time", lambda: next(used))
    monkeypatch.setattr(machine.os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    monkeypatch.setattr(machine, "stored", lambda: None)
    monkeypatch.setattr(machine, "_measure_and_keep", lambda: done.append(True))
    machine._when_idle()
    assert done == [True] and next(used) == 9.0


# --- in programs ----------------------------------------------------------------------------------------------------


def test_limits_in_text() -> None:
    from weft.ir.text import parse, show

    text = """
program f(a):
  size n = a.shape[0]
  param a: f64[n] C
  output #0 = None

  if float(n) > limit(gemm):
    a[0] = 1.0_f64
  return #0
"""
    program = parse(text)
    assert parse(show(program)) == program and "limit(gemm)" in show(program)
    assert show_expr(Limit("dot")) == "limit(dot)"


def test_an_unknown_limit_is_no_program() -> None:
    from weft.ir.text import parse
    from weft.ir.verify import problem

    text = "program f(n):\n  symbol n = argument n\n  output #0 = None\n\n"
    text += "  if float(n) > limit(nothing):\n    return #0\n  return #0\n"
    assert "no limit nothing" in (problem(parse(text)) or "")


def test_known_sizes_are_decided_when_compiling() -> None:
    size = Cast(Var("n"), FLOAT)
    assert cost.exceeds(size, cost.limit("gemm")).args[1] == Limit("gemm")
    assert cost.exceeds(real(27.0), cost.limit("gemm")).args[1] == real(LIMIT["gemm"].default)


def test_evaluate() -> None:
    n = Cast(Var("n"), FLOAT)
    assert cost.evaluate(Op("add", (Op("mul", (real(2.0), n), FLOAT), real(1.0)), FLOAT), {"n": 3}) == 7.0
    assert cost.evaluate(Op("floordiv", (Var("n"), integer(2)), FLOAT), {"n": 5}) == 2.0
    assert cost.evaluate(n, {}) is None
    assert cost.evaluate(Limit("dot"), {}) == LIMIT["dot"].default


def doubled(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a * 2.0 + b


def roots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.sqrt(a) / (b + 1.0)


def carried(a: np.ndarray, b: np.ndarray) -> None:
    s = 0.0
    for i in range(a.shape[0]):
        s = s * 0.5 + a[i]
        b[i] = s


def cycles(function: object, n: int) -> float:
    a = np.ones(n)
    program = stages(function, (a, a.copy()))[-1][1]  # type: ignore[arg-type]
    found = cost.evaluate(cost.block_work(program.body), {"a_0": n, "b_0": n})
    assert found is not None
    return found


def test_estimates_are_in_order() -> None:
    """A stream is cheaper than a division, which is cheaper than a value carried along; each grows with the size."""
    n = 100_000
    assert cycles(doubled, n) < cycles(roots, n) < cycles(carried, n) < 20 * cycles(doubled, n)
    assert cycles(doubled, 2 * n) == pytest.approx(2 * cycles(doubled, n), rel=0.05)
    assert 0.3 < cycles(doubled, n) / n < 3.0


@pytest.mark.native
def test_the_limit_decides_about_threads_and_not_about_results() -> None:
    core = dispatch.load_core()
    assert core is not None
    import ctypes

    total = weft.jit(sum_of_roots, fallback="error")
    a = np.random.default_rng(3).random(50_000)
    results = []
    try:
        for parallel in (1.0, 1e30):
            values = [limit.default for limit in LIMITS] + [0.0] * (PLACES - len(LIMITS))
            values[0] = parallel
            core.library.weft_set_limits((ctypes.c_double * PLACES)(*values))
            results.append(total(a))
    finally:
        values = [machine.limits_here()[limit.name] for limit in LIMITS] + [0.0] * (PLACES - len(LIMITS))
        core.library.weft_set_limits((ctypes.c_double * PLACES)(*values))
    assert results[0] == results[1]
    number = len(choices(restored.full(total, total._compiled[0]).program_lowered))
    assert number and sum(total.profiles[0].choices) >= 2


def sum_of_roots(a: np.ndarray) -> float:
    return np.sqrt(a).sum()
