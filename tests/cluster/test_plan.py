"""The partition: what is cut, what a tile reads and writes, what is fused; tiles against the whole program."""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weft.analysis.cost import evaluate
from weft.cluster import costs, sweeps
from weft.cluster.plan import Refused, Repeat, Stage, Whole, make, stages_of
from weft.cluster.slices import Slice
from weft.ir import interp
from weft.ir.program import Program
from weft.ir.text import parse
from weft.pipeline import stages

from .interpreted import run_plan


def softmax(x):
    highest = np.max(x, axis=1, keepdims=True)
    raised = np.exp(x - highest)
    return raised / np.sum(raised, axis=1, keepdims=True)


def gemm(alpha, beta, c, a, b):
    c[:] = alpha * a @ b + beta * c


def jacobi(steps, a, b):
    for _ in range(1, steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


def norm(x):
    return np.sqrt(np.sum(x * x))


def atax(a, x):
    return (a @ x) @ a


def standardised(x):
    return (x - np.mean(x, axis=0)) / np.std(x, axis=0)


def differences(x):
    return x[1:] - x[:-1]


def partly(x):
    out = np.zeros(x.shape[0])
    out[3:-2] = x[3:-2] * 2
    return out


def spectrum(x):
    return np.abs(np.fft.fft(x, axis=1))


def gram(x):
    return x.T @ x


def columns(x):
    return x / x.sum(axis=0)


def transposed(x, y):
    return x.T + y


def escape(c, limit):
    out = np.zeros(c.shape[0], dtype=np.int64)
    for i in range(c.shape[0]):
        z = 0.0
        n = 0
        while n < limit and z < 2.0:
            z = z * z + c[i]
            n += 1
        out[i] = n
    return out


def running(x):
    out = np.empty_like(x)
    total = 0.0
    for i in range(x.shape[0]):
        total = total * 0.5 + x[i]
        out[i] = total
    return out * 2


def two(x, y):
    return np.max(x), x + y, np.sum(y)


def chain(a, b, c, d):
    return (a @ b) @ (c @ d)


def doubled_if(x):
    if x.sum() > 3:
        return x * 2
    return x


def halved(x, tolerance):
    error = 1.0
    while error > tolerance:
        y = x * 0.5
        error = np.max(np.abs(y - x))
        x = y
    return x


def bounded(x):
    total = np.sum(x)
    if total > 4.0:
        raise ValueError("too much")
    return x / total


def checked(x, y):
    out = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        if y[i] == 0:
            raise ValueError("a zero in y")
        out[i] = x[i] / y[i]
    return out


def solved(a, b):
    return np.linalg.solve(a, b)


def picked(x, places):
    return x[places] * 2


def columns_and_rows(x):
    return np.exp(np.exp(x)), np.arange(x.shape[1]) * 2


def viewed(x):
    y = x * 2
    return y[1:, ::2].T


def swapping(steps, x):
    a = x.copy()
    b = np.zeros_like(x)
    for _ in range(steps):
        b[1:-1] = a[:-2] + a[2:]
        a, b = b, a
    return a


def numbers(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).random(shape)


CASES: list[tuple[Any, tuple[Any, ...]]] = [
    (softmax, (numbers(11, 4),)),
    (gemm, (1.5, 0.5, numbers(9, 5), numbers(9, 6), numbers(6, 5))),
    (jacobi, (4, numbers(12, 6), numbers(12, 6) + 1)),
    (norm, (numbers(13),)),
    (atax, (numbers(9, 5), numbers(5))),
    (standardised, (numbers(10, 4),)),
    (differences, (numbers(11),)),
    (partly, (numbers(17),)),
    (spectrum, (numbers(7, 8),)),
    (gram, (numbers(11, 4),)),
    (columns, (numbers(9, 5),)),
    (transposed, (numbers(8, 9), numbers(9, 8))),
    (escape, (numbers(9) * 2, 12)),
    (running, (numbers(10),)),
    (two, (numbers(9), numbers(9))),
    (chain, (numbers(7, 5), numbers(5, 6), numbers(6, 4), numbers(4, 8))),
    (swapping, (3, numbers(13))),
    (doubled_if, (numbers(11),)),
    (doubled_if, (numbers(3),)),
    (halved, (numbers(11), 1e-2)),
    (checked, (numbers(11), numbers(11) + 1)),
    (solved, (numbers(7, 3, 3), numbers(7, 3, 2))),
    (picked, (numbers(9), np.arange(14) // 2)),
    (viewed, (numbers(9, 5),)),
]


def planned(function: Any, arguments: tuple[Any, ...]) -> Program:
    return dict(stages(function, arguments))["tidy"]


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=[case[0].__name__ for case in CASES])
def test_tiles_give_what_the_program_gives(function: Any, arguments: tuple[Any, ...], monkeypatch: Any) -> None:
    program = planned(function, arguments)
    for rows, lowered in ((3, False), (4, True), (100, False)):
        mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
        want = function(*theirs)
        got, _, _ = run_plan(program, dict(zip(program.params, mine)), rows, monkeypatch, lowered)
        for one, other in zip((got, *mine), (want, *theirs)):
            assert_same(one, other)


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_few_rows_or_none(size: int, monkeypatch: Any) -> None:
    """Fewer rows than tiles, halos wider than a block, ranges that are empty: what the guards let through is right."""
    ran = 0
    for function, full in CASES:
        program = planned(function, full)
        given = [v[tuple(slice(0, size) for _ in v.shape)].copy() if isinstance(v, np.ndarray) else v for v in full]
        theirs = copy.deepcopy(given)
        try:
            want = interp.run(program, dict(zip(program.params, theirs)))
        except interp.GuardFailed:
            continue  # another version takes these sizes
        for rows in (0, 1, 2):
            mine = copy.deepcopy(given)
            got, _, _ = run_plan(program, dict(zip(program.params, mine)), rows, monkeypatch)
            for one, other in zip((got, *mine), (want, *theirs)):
                assert_same(one, other)
        ran += 1
    assert ran > 10


@pytest.mark.parametrize(
    ("function", "arguments"), [(bounded, (numbers(30),)), (solved, (np.zeros((7, 3, 3)), numbers(7, 3, 2)))]
)
def test_what_is_checked_after_all_tiles_raises(function: Any, arguments: tuple[Any, ...], monkeypatch: Any) -> None:
    program = planned(function, arguments)
    with pytest.raises((ValueError, np.linalg.LinAlgError)):
        run_plan(program, dict(zip(program.params, arguments)), 3, monkeypatch)


def test_rows_are_those_of_the_longest_axis() -> None:
    """Another axis is cut into as many tiles; a stage of next to nothing is one task unless the user says otherwise."""
    plan = make(planned(columns_and_rows, (numbers(40, 4000),)), {"x_0": 40, "x_1": 4000})
    sizes = {"x_0": 40, "x_1": 4000}
    extents = {stage.name: int(evaluate(stage.extent, sizes, 0.0) or 0) for stage in stages_of(plan.steps)}
    assert set(extents.values()) == {40, 4000}
    assert costs.block_sizes(plan, sizes, extents, rows=5) == {40: 5, 4000: 500}
    assert costs.trivial_stages(plan, sizes) == {name for name, extent in extents.items() if extent == 4000}


def assert_same(one: Any, other: Any) -> None:
    if isinstance(other, tuple):
        assert isinstance(one, tuple) and len(one) == len(other)
        for left, right in zip(one, other):
            assert_same(left, right)
    elif isinstance(other, np.ndarray):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-12)
    elif other is not None:
        assert type(one) is type(other)
        np.testing.assert_allclose(one, other, rtol=1e-12)


def stage_list(function: Any, arguments: tuple[Any, ...]) -> list[Stage]:
    return list(stages_of(make(planned(function, arguments), {}).steps))


def test_statements_that_need_only_their_own_tile_are_one_task() -> None:
    (stage,) = stage_list(softmax, CASES[0][1])
    assert stage.reads == (Slice("x", 0),)
    assert [write.buffer for write in stage.writes] == ["result"]
    assert len(stage.temporaries) == 3 and len(stage.parts) == 4


def test_halos_come_from_the_index_maps() -> None:
    plan = make(planned(jacobi, CASES[2][1]), {})
    (loop,) = plan.steps
    assert isinstance(loop, Repeat)
    first, second = (step for step in loop.steps if isinstance(step, Stage))
    assert first.reads == (Slice("a", 0, -1, 1),) and [w.buffer for w in first.writes] == ["b"]
    assert second.reads == (Slice("b", 0, -1, 1),) and [w.buffer for w in second.writes] == ["a"]


def test_a_product_reads_rows_and_all_of_the_other_factor() -> None:
    (stage,) = stage_list(gemm, CASES[1][1])
    assert set(stage.reads) == {Slice("a", 0), Slice("b", None), Slice("c", 0)}


def test_a_second_product_with_the_same_matrix_combines_shares() -> None:
    (stage,) = stage_list(atax, CASES[4][1])
    assert [partial.op for partial in stage.partials] == ["add"]
    assert Slice("a", 0) in stage.reads and not stage.writes


def test_a_reduction_inside_an_expression_is_taken_out() -> None:
    plan = make(planned(norm, CASES[3][1]), {})
    kinds = [type(step) for step in plan.steps]
    assert kinds == [Stage, Whole]


def test_strict_sums_are_not_cut() -> None:
    with pytest.raises(Refused):
        make(planned(norm, CASES[3][1]), {}, strict=True)


def test_a_loop_of_independent_iterations_is_cut() -> None:
    (stage,) = stage_list(escape, CASES[12][1])
    assert [(piece.buffer, piece.axis) for piece in stage.reads] == [("c", 0)]


def test_a_recurrence_stays_at_one_place() -> None:
    plan = make(planned(running, CASES[13][1]), {})
    (whole,) = (step for step in plan.steps if isinstance(step, Whole) and step.reason)
    assert whole.reason


def test_what_cannot_be_cut_says_why() -> None:
    def scan(x):
        for i in range(1, x.shape[0]):
            x[i] = x[i - 1] * 0.5 + x[i]

    with pytest.raises(Refused, match="at one place"):
        make(planned(scan, (numbers(5),)), {})


def test_results_do_not_depend_on_tiles_of_elements(monkeypatch: Any) -> None:
    program = planned(jacobi, CASES[2][1])
    results = []
    for rows in (2, 5, 12):
        mine = copy.deepcopy(CASES[2][1])
        run_plan(program, dict(zip(program.params, mine)), rows, monkeypatch)
        results.append(mine[1])
    assert all(np.array_equal(results[0], other) for other in results)


# --- sweeps -----------------------------------------------------------------------------------------------------------


def waves(steps, u, v, speed):
    for t in range(steps):
        rest = u * 2 - v
        v[1:-1] = rest[1:-1] + speed[1:-1] * (u[2:] - 2 * u[1:-1] + u[:-2]) * t
        u[2:-2] = 0.5 * v[2:-2] + 0.25 * (v[1:-3] + v[3:-1])


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (jacobi, (9, numbers(40, 5), numbers(40, 5) + 1)),
        (swapping, (7, numbers(50))),
        (waves, (6, numbers(60), numbers(60), numbers(60))),
        (jacobi, (1, numbers(40, 5), numbers(40, 5) + 1)),
    ],
    ids=["jacobi", "swapping", "waves", "no iteration"],
)
def test_sweeps_of_several_iterations_are_exact(
    function: Any, arguments: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = planned(function, arguments)
    monkeypatch.setattr(sweeps, "_BORDER", 1)  # as many iterations as fit into the smallest tiles
    counts = []
    for rows, lowered in ((9, False), (20, True), (200, False)):
        mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
        want = function(*theirs)
        got, plan, tasks = run_plan(program, dict(zip(program.params, mine)), rows, monkeypatch, lowered)
        assert any(isinstance(step, sweeps.Sweep) for step in plan.steps)
        counts.append(tasks)
        for one, other in zip((got, *mine), (want, *theirs)):
            assert_same(one, other)
            assert other is None or np.array_equal(one, other)
    assert counts[1] < counts[0] or arguments[0] == 1


def normed(steps, a):
    for _ in range(steps):
        a[1:-1] = (a[:-2] + a[2:]) / np.sum(a)


def shrinking(steps, a):
    for t in range(steps):
        a[1 : a.shape[0] - t - 1] = a[: a.shape[0] - t - 2] + a[2 : a.shape[0] - t]


def crossing(steps, a):
    for _ in range(steps):
        a[:] = a.T + 1


def growing(steps, a, b):
    for _ in range(steps):
        a[:] = a @ b


@pytest.mark.parametrize(
    ("function", "arguments", "reason"),
    [
        (normed, (3, numbers(20)), "there is more in it than sweeps|need an answer of all others"),
        (shrinking, (3, numbers(20)), "range changes"),
        (crossing, (3, numbers(8, 8)), "all of a is needed|two axes"),
    ],
)
def test_what_is_no_sweep_says_why(function: Any, arguments: tuple[Any, ...], reason: str) -> None:
    plan = sweeps.with_sweeps(make(planned(function, arguments), {}, control=True))
    assert not any(isinstance(step, sweeps.Sweep) for step in plan.steps)
    assert any(re.search(reason, note) for note in plan.notes), plan.notes


def test_what_every_iteration_only_reads_whole_is_no_obstacle() -> None:
    plan = sweeps.with_sweeps(make(planned(growing, (3, numbers(9, 4), numbers(4, 4))), {}, control=True))
    (sweep,) = plan.steps
    assert isinstance(sweep, sweeps.Sweep) and (sweep.low, sweep.high) == (0, 0)


# --- random programs --------------------------------------------------------------------------------------------------

ARRAYS = ("x", "y", "z")


@st.composite
def programs(draw: Any) -> str:
    """A chain of statements over three arrays, displaced against each other, with sums between them."""
    lines = []
    for number in range(draw(st.integers(1, 5))):
        target = draw(st.sampled_from(ARRAYS))
        shift = draw(st.integers(-1, 1))
        terms = []
        for _ in range(draw(st.integers(1, 3))):
            terms.append(f"{draw(st.sampled_from(ARRAYS))}[i{number} + {2 + draw(st.integers(-2, 2))}]")
        if draw(st.booleans()) and number:
            terms.append("s")
        value = " + ".join(terms).replace(" + 0]", "]")
        kind = draw(st.integers(0, 4))
        if kind == 0:
            low = draw(st.integers(0, 3))
            lines.append(f"  s = sum[k{number}: {low} <= k{number} < n] {target}[k{number}] * 0.5_f64")
        elif kind == 1:
            guard = f"select(i{number} > {draw(st.integers(0, 3))}, {target}[i{number} + 1], 1.0_f64)"
            lines.append(f"  {target}[i{number} + {2 + shift}] = {guard}   for i{number}: 0 <= i{number} < n - 4")
        else:
            low = draw(st.integers(0, 2))
            lines.append(f"  {target}[i{number} + {2 + shift}] = {value}   for i{number}: {low} <= i{number} < n - 4")
    if draw(st.booleans()):
        lines = [f"  for t in 0 .. {draw(st.integers(0, 5))}:", *("  " + line for line in lines)]
    return "\n".join(
        ["program random(x, y, z):", "  size n = x.shape[0]", *(f"  param {name}: f64[n] C" for name in ARRAYS),
         "  local s: f64", "  output #0 = scalar s", "", "  s = 1.0_f64", *lines, "  return #0", ""]
    )  # fmt: skip


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=programs(), rows=st.integers(1, 9), extra=st.integers(0, 15), border=st.integers(1, 3))
def test_random_programs(text: str, rows: int, extra: int, border: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeps, "_BORDER", border)
    program = parse(text)
    want = {name: numbers(5 + extra) + at for at, name in enumerate(ARRAYS)}
    got = copy.deepcopy(want)
    expected = interp.run(program, want)
    try:
        result, _, _ = run_plan(program, got, rows, monkeypatch)
    except Refused:
        return
    np.testing.assert_allclose(result, expected, rtol=1e-12)
    for name in ARRAYS:
        np.testing.assert_allclose(got[name], want[name], rtol=1e-12)
