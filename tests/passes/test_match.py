"""Library calls: what is a product and what is not, and that the alternatives agree."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.lowering import assert_same, lowered, program
from weft.ir.expr import real
from weft.ir.program import Call, Program
from weft.ir.verify import Stage, verify
from weft.ir.walk import walk
from weft.options import Options
from weft.passes import PassContext, match
from weft.passes.matching import prefix, triangles

RNG = np.random.default_rng(11)
ARRAYS = {"a": ("f64", 2), "b": ("f64", 2), "c": ("f64", 2), "x": ("f64", 1), "y": ("f64", 1), "alpha": ("f64", 0)}
IJ = "   for i: 0 <= i < 5, j: 0 <= j < 5"
I = "   for i: 0 <= i < 5"


def arguments() -> dict[str, object]:
    matrices: dict[str, object] = {name: RNG.random((5, 5)) for name in "abc"}
    return {**matrices, "x": RNG.random(5), "y": RNG.random(5), "alpha": np.float64(1.5)}


def matched(before: Program, monkeypatch: pytest.MonkeyPatch) -> tuple[Program, list[Call]]:
    monkeypatch.setattr(match, "THRESHOLDS", dict.fromkeys(match.THRESHOLDS, real(1.0)))
    after = match.run(before, PassContext())
    verify(after, Stage.OPTIMISED)
    return after, [node for node in walk(after.body) if isinstance(node, Call)]


PRODUCTS = [
    ("gemm", "ab", f"c[i, j] = sum[k: 0 <= k < 5] a[i, k] * b[k, j]{IJ}"),
    ("gemm", "ab", f"c[i, j] = sum[k: 0 <= k < 5] b[k, j] * a[i, k]{IJ}"),
    ("gemm", "ab", f"c[i, j] = sum[k: 0 <= k < 5] a[k, i] * b[j, k]{IJ}"),
    ("gemm", "ba", f"c[j, i] = sum[k: 0 <= k < 5] a[i, k] * b[k, j]{IJ}"),
    ("gemm", "ab", f"c[i, j] = c[i, j] + (sum[k: 0 <= k < 5] a[i, k] * b[k, j]){IJ}"),
    ("gemm", "ab", f"c[i, j] = alpha * c[i, j] - 2.0_f64 * (sum[k: 0 <= k < 5] a[i, k] * b[k, j]){IJ}"),
    ("gemm", "ab", f"c[i, j] = alpha * (sum[k: 0 <= k < 5] a[i, k] * b[k, j]){IJ}"),
    ("gemv", "ax", f"y[i] = y[i] - (sum[k: 0 <= k < 5] a[i, k] * x[k]){I}"),
    ("gemv", "ax", f"y[i] = alpha * (sum[k: 0 <= k < 5] a[i, k] * x[k]){I}"),
    ("gemv", "ax", f"y[i] = sum[k: 0 <= k < 5] a[i, k] * x[k]{I}"),
    ("gemv", "ax", f"y[i] = sum[k: 0 <= k < 5] x[k] * a[k, i]{I}"),
    ("gemv", "ax", f"y[i] = exp(sum[k: 0 <= k < 5] a[i, k] * x[k]) + 1.0_f64{I}"),
    ("gemm", "ab", f"c[i, j] = maximum(c[i, j] + x[j] + (sum[k: 0 <= k < 5] a[i, k] * b[k, j]), 0.0_f64){IJ}"),
    # Not as one call, since it reads what it overwrites, or would lose NaN times zero: the product alone.
    ("gemm", "cb", f"c[i, j] = sum[k: 0 <= k < 5] c[i, k] * b[k, j]{IJ}"),
    ("gemm", "ab", f"c[i, j] = 0.0_f64 * c[i, j] + (sum[k: 0 <= k < 5] a[i, k] * b[k, j]){IJ}"),
    ("dot", "xy", "c[0, 0] = sum[k: 0 <= k < 5] x[k] * y[k]"),
    ("dot", "ab", "c[0, 0] = sum[k: 0 <= k < 5] a[1, k] * b[k, 2]"),
]


@pytest.mark.parametrize(("routine", "operands", "body"), PRODUCTS)
def test_products(routine: str, operands: str, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = program(ARRAYS, body)
    after, calls = matched(before, monkeypatch)
    assert [call.routine for call in calls] == [routine]
    assert "".join(read.buffer for read in calls[0].operands) == operands
    assert_same(before, arguments(), lowered(after))


PREPARED = [
    ("operand b", f"c[i, j] = sum[k: 0 <= k < 5] alpha * a[i, k] * b[k, j]{IJ}"),
    ("a operand", f"c[i, j] = alpha * c[i, j] + (sum[k: 0 <= k < 5] a[i, k] * (b[k, j] - x[k])){IJ}"),
    ("operand operand_2", f"c[i, j] = c[i, j] - (sum[k: 0 <= k < 5] exp(a[k, i]) * (b[k, j] + y[j])){IJ}"),
    ("operand b", f"c[i, j] = sum[k: 0 <= k < 5] alpha * c[k, i] * b[k, j]{IJ}"),
    ("operand b", f"c[i, j] = sum[k: 0 <= k < 3] a[i, 2 * k] * b[k, j]{IJ}"),
    ("operand b", f"c[i, j] = maximum((sum[k: 0 <= k < 5] alpha * a[i, k] * b[k, j]) + x[j], 0.0_f64){IJ}"),
    ("operand b", "c[i, j] = sum[k: 1 <= k < 4] (alpha * a[i, k - 1]) * b[k, j]   for i: 2 <= i < 5, j: 0 <= j < 5"),
]


@pytest.mark.parametrize(("operands", "body"), PREPARED)
def test_an_operand_is_computed_before_a_matrix_product(
    operands: str, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = program(ARRAYS, body)
    after, calls = matched(before, monkeypatch)
    assert [call.routine for call in calls] == ["gemm"]
    assert " ".join(read.buffer for read in calls[0].operands) == operands
    assert_same(before, arguments(), lowered(after))


NO_PRODUCTS = [
    f"c[i, j] = sum[k: 0 <= k < 5] a[i, k] * b[k, j] * alpha{IJ}",  # alpha * a may overflow, a * b may not
    f"y[i] = sum[k: 0 <= k < 5] alpha * a[i, k] * x[k]{I}",  # an operand would cost as much as the product
    f"c[i, j] = max[k: 0 <= k < 5] a[i, k] * b[k, j]{IJ}",
    f"c[i, j] = sum[k: 0 <= k < 5] a[i, k] + b[k, j]{IJ}",
    f"c[i, j] = sum[k: 0 <= k < 5] a[i, k] * b[k, j] * x[k]{IJ}",
    "y[i] = sum[k: 0 <= k < 2] a[i, 2 * k] * x[k]   for i: 0 <= i < 5",
    "y[i] = sum[k: 0 <= k < 5] a[k, k] * x[k]   for i: 0 <= i < 5",
]


@pytest.mark.parametrize("body", NO_PRODUCTS)
def test_no_products(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = program(ARRAYS, body)
    after, calls = matched(before, monkeypatch)
    assert calls == []
    assert_same(before, arguments(), lowered(after))


def test_a_zero_factor_at_run_time_keeps_the_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    before = program(ARRAYS, f"c[i, j] = alpha * c[i, j] + (sum[k: 0 <= k < 5] a[i, k] * b[k, j]){IJ}")
    after, _ = matched(before, monkeypatch)
    values = {**arguments(), "alpha": np.float64(0.0), "c": np.full((5, 5), np.nan)}
    assert_same(before, values, lowered(after))


def test_batches_loop_over_the_outer_dimensions(monkeypatch: pytest.MonkeyPatch) -> None:
    body = "c[l, i, j] = sum[k: 0 <= k < 4] a[l, i, k] * b[l, k, j]   for l: 0 <= l < 3, i: 0 <= i < 4, j: 0 <= j < 4"
    before = program({name: ("f64", 3) for name in "abc"}, body)
    after, calls = matched(before, monkeypatch)
    assert [call.routine for call in calls] == ["gemm"]
    assert_same(before, {name: RNG.random((3, 4, 4)) for name in "abc"}, lowered(after))


def test_strict_and_integers_are_left_alone() -> None:
    body = f"c[i, j] = sum[k: 0 <= k < 5] a[i, k] * b[k, j]{IJ}"
    before = program(ARRAYS, body)
    assert match.run(before, PassContext(Options(fp="strict"))) is before
    integers = program({name: ("i64", 2) for name in "abc"}, body)
    assert match.run(integers, PassContext()) is integers


def test_small_sizes_take_the_loops() -> None:
    context = PassContext()
    before = program(ARRAYS, "c[i, j] = sum[k: 0 <= k < 4] a[i, k] * b[k, j]   for i: 0 <= i < 4, j: 0 <= j < 4")
    after = match.run(before, context)
    assert "gemm above 64" in context.log[0].message
    # The test is part of the program: 4 * 4 * 4 multiplications are too few, so no call is executed.
    assert_same(before, arguments(), lowered(after))


def test_a_product_is_finished_where_it_ends_up(monkeypatch: pytest.MonkeyPatch) -> None:
    before = program(ARRAYS, f"c[i, j] = maximum((sum[k: 0 <= k < 5] a[i, k] * b[k, j]) + x[j], 0.0_f64){IJ}")
    after, calls = matched(before, monkeypatch)
    assert [call.stmt.buffer for call in calls] == ["c"]
    assert len(after.buffers) == len(before.buffers)
    assert_same(before, arguments(), lowered(after))


NOT_IN_PLACE = [
    f"c[i, j] = (sum[k: 0 <= k < 5] a[i, k] * b[k, j]) + c[j, i]{IJ}",  # the target is read elsewhere
    f"c[i, j] = (sum[k: 0 <= k < 5] a[i, k] * b[k, j]) * (sum[k_2: 0 <= k_2 < 5] c[i, k_2] * b[k_2, j]){IJ}",
    f"c[i, j] = x[j] + (sum[k: 0 <= k < 5] a[j, k] * x[k]){IJ}",  # the product has fewer dimensions
]


@pytest.mark.parametrize("body", NOT_IN_PLACE)
def test_a_product_that_needs_memory_of_its_own(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = program(ARRAYS, body)
    after, calls = matched(before, monkeypatch)
    assert calls and "c" not in {call.stmt.buffer for call in calls}
    assert_same(before, arguments(), lowered(after))


BATCH = "   for l: 0 <= l < 3, i: 0 <= i < 4, j: 0 <= j < 4"
IN_PLACE_BATCHES = [
    (2, f"c[l, i, j] = sum[k: 0 <= k < 4] c[l, i, k] * b[0, k, j]{BATCH}"),
    (2, f"c[l, i, j] = exp(sum[k: 0 <= k < 4] c[l, i, k] * b[l, k, j]) + c[l, j, i]{BATCH}"),
    (3, "c[l, i, j] = sum[k: 0 <= k < 3] c[k, i, j] * b[0, k, l]   for l: 0 <= l < 3, i: 0 <= i < 4, j: 0 <= j < 4"),
]


@pytest.mark.parametrize(("rank", "body"), IN_PLACE_BATCHES)
def test_a_batch_that_overwrites_its_operand_needs_memory_for_one(
    rank: int, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = program({name: ("f64", 3) for name in "bc"}, body)
    after, calls = matched(before, monkeypatch)
    assert len(calls) == 1 and calls[0].routine == "gemm"
    assert [len(buffer.shape) for buffer in after.buffers if buffer.name == calls[0].stmt.buffer] == [rank]
    assert_same(before, {name: RNG.random((3, 4, 4)) for name in "bc"}, lowered(after))


TRIANGLES = [
    "c[i, j] = sum[k: 0 <= k < 5] a[k, i] * b[k, j]   for i: 0 <= i < 5, j: i <= j < 5",
    "c[i, j] = sum[k: 0 <= k < 5] a[k, i] * b[k, j]   for i: 0 <= i < 5, j: 0 <= j < i + 1",
    "c[i, j] = sum[k: 0 <= k < 5] a[k, i] * b[j, k]   for i: 0 <= i < 5, j: 0 <= j < 4 - i",
    "c[i, j] = sum[k: 0 <= k < 5] a[k, i] * b[j, k]   for i: 1 <= i < 5, j: 4 - i <= j < 3",
    "c[i, j] = alpha * c[i, j] + (sum[k: 0 <= k < 5] a[i, k] * b[k, j]) / x[i]   for i: 0 <= i < 5, j: i + 2 <= j < 5",
    "c[i, j] = sum[k: 0 <= k < 5] a[k, i] * b[k, i + j + 1]   for i: 0 <= i < 4, j: 0 <= j < 4 - i",
    "c[i, j] = sum[k: 0 <= k < 5] a[k, i] * a[k, j]   for i: 0 <= i < 3, j: i <= j < 5",  # not half of a square
    "c[i, j] = sum[k: 0 <= k < 5] a[k, i] * a[k, j]   for i: 0 <= i < 5, j: i + 2 <= j < 5",
]
#: How each is computed: in place, or with memory of its own.
HALVES = [
    (True, "c[i, j] = sum[k: 0 <= k < 5] a[k, i] * a[k, j]   for i: 0 <= i < 5, j: i <= j < 5"),
    (True, "c[i, j] = sum[k: 0 <= k < 4] a[i, k] * a[j, k]   for i: 0 <= i < 5, j: 0 <= j < i + 1"),
    (True, "c[i, j] = alpha * c[i, j] + (sum[k: 0 <= k < 5] a[k, i] * a[k, j])   for i: 0 <= i < 5, j: i <= j < 5"),
    (True, "c[i, j] = c[i, j] - alpha * (sum[k: 0 <= k < 5] a[k, i] * a[k, j])   for i: 1 <= i < 5, j: 1 <= j < i + 1"),
    (True, "c[j, i] = (sum[k: 0 <= k < 5] a[k, i] * a[k, j]) / x[i]   for i: 0 <= i < 5, j: i <= j < 5"),
    (True, "c[i, j] = sum[k: 0 <= k < 5] (a[k, i] - x[i]) * (a[k, j] - x[j])   for i: 0 <= i < 5, j: i <= j < 5"),
    (False, "c[i, j] = sum[k: 0 <= k < 5] a[k, i] * a[k, j]   for i: 0 <= i < 4, j: i + 1 <= j < 5"),
    (False, "c[i, j] = sum[k: 0 <= k < 5] a[k, i] * a[k, j]   for i: 1 <= i < 5, j: 0 <= j < i"),
    (False, "c[i, j] = sum[k: 0 <= k < 5] a[k, i] * a[k, i + j]   for i: 0 <= i < 5, j: 0 <= j < 5 - i"),
    (False, "c[i, j] = c[i, j] * (sum[k: 0 <= k < 5] a[k, i] * a[k, j])   for i: 0 <= i < 5, j: i <= j < 5"),
]


@pytest.mark.parametrize(("in_place", "body"), HALVES)
def test_half_of_a_symmetric_product(in_place: bool, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "PANELS", 1.0)
    monkeypatch.setattr(match, "TERMS", 1.0)
    before = program(ARRAYS, body)
    after, calls = matched(before, monkeypatch)
    (half,) = [call for call in calls if call.routine == "syrk"]
    assert (half.stmt.buffer == "c") is in_place
    # Where memory is needed and the terms are few, panels are better.
    assert len(calls) > 1 or in_place or "c[i, j] * (" in body
    assert_same(before, arguments(), lowered(after))


BRANCHES = [
    # a triangle of a product, and the other side
    "c[i, j] = select(j >= i, sum[k: 0 <= k < 5] a[i, k] * b[k, j], 0.0_f64)   for i: 0 <= i < 5, j: 0 <= j < 5",
    "c[i, j] = select(i > j, 2.0_f64, sum[k: 0 <= k < 5] a[i, k] * b[k, j]) + x[i]   for i: 0 <= i < 5, j: 0 <= j < 5",
    # no triangle: the product on both sides
    "c[i, j] = select(j < i - 1, sum[k: 0 <= k < 5] a[i, k] * b[k, j], 0.0_f64)   for i: 0 <= i < 5, j: 0 <= j < 3",
    # a common factor
    (
        "c[i, j] = sum[k: 0 <= k < 5] select(k <= i, a[i, k] * b[k, j], a[k, i] * b[k, j])"
        "   for i: 0 <= i < 5, j: 0 <= j < 4"
    ),
    # terms that are zero by their place
    "c[i, j] = sum[k: 0 <= k < 5] select(k <= i, a[i, k] * b[k, j], 0.0_f64)   for i: 0 <= i < 5, j: 0 <= j < 4",
    "c[i, j] = sum[k: 0 <= k < 5] select(k < i, 0.0_f64, a[i, k] * b[k, j])   for i: 0 <= i < 5, j: 0 <= j < 4",
]


@pytest.mark.parametrize("body", BRANCHES)
def test_choices_by_place(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "PANELS", 1.0)
    monkeypatch.setattr(triangles, "ROWS", 2)
    before = program(ARRAYS, body)
    after, calls = matched(before, monkeypatch)
    assert {call.routine for call in calls} == {"gemm"}
    assert_same(before, arguments(), lowered(after))


NO_BRANCHES = [
    # a choice by data: the product may be wanted nowhere
    f"c[i, j] = select(a[i, j] > 0.5_f64, sum[k: 0 <= k < 5] a[i, k] * b[k, j], 0.0_f64){IJ}",
    # what is not chosen would be out of bounds
    "c[i, j] = select(j < i, sum[k: 0 <= k < 5] a[i - 1, k] * b[k, j], 0.0_f64)   for i: 0 <= i < 5, j: 0 <= j < 3",
    # one side reads what the other one overwrites
    "c[i, j] = select(j > i, sum[k: 0 <= k < 5] a[i, k] * c[k, j], 0.0_f64)   for i: 0 <= i < 5, j: 0 <= j < 5",
]


@pytest.mark.parametrize("body", NO_BRANCHES)
def test_choices_that_stay(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "PANELS", 1.0)
    before = program(ARRAYS, body)
    after, calls = matched(before, monkeypatch)
    assert calls == []
    assert_same(before, arguments(), lowered(after))


@pytest.mark.parametrize("body", TRIANGLES)
def test_a_triangle_is_cut_into_panels(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "PANELS", 1.0)
    monkeypatch.setattr(triangles, "ROWS", 2)
    before = program(ARRAYS, body)
    after, calls = matched(before, monkeypatch)
    assert {call.routine for call in calls} == {"gemm"}
    assert_same(before, arguments(), lowered(after))


NO_TRIANGLES = [
    "c[i, j] = sum[k: 0 <= k < i + 1] a[k, i] * a[k, j]   for i: 0 <= i < 5, j: i <= j < 5",
    "c[i, j] = sum[k: 0 <= k < 5] a[k, i] * c[k, j]   for i: 0 <= i < 5, j: i <= j < 5",
    "c[i, j] = (sum[k: 0 <= k < 5] a[k, i] * b[k, j]) + c[j, i]   for i: 0 <= i < 5, j: i <= j < 5",
    "c[i, j] = sum[k: 0 <= k < 5] a[k, i] * a[k, j]   for i: 0 <= i < 3, j: i <= j < i + 2",
    "c[i, j] = sum[k: 0 <= k < 5] a[k, i] * a[k, j]   for i: 0 <= i < 3, j: 2 * i <= j < 5",
]


@pytest.mark.parametrize("body", NO_TRIANGLES)
def test_what_is_no_triangle_of_a_product(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "PANELS", 1.0)
    before = program(ARRAYS, body)
    after, calls = matched(before, monkeypatch)
    assert calls == []
    assert_same(before, arguments(), lowered(after))


PREFIXES = [
    "for i in 0 .. 5:\n  x[i] = (y[i] - (sum[k: 0 <= k < i] a[i, k] * x[k])) / a[i, i]",
    "for i in 4 .. -1 step -1:\n  x[i] = (y[i] - (sum[k: i + 1 <= k < 5] a[i, k] * x[k])) / a[i, i]",
    "for i in 1 .. 5:\n  x[i] = (sum[k: 0 <= k < i] a[i, k] * x[k]) * (sum[k_2: 1 <= k_2 < i] b[k_2, i] * x[k_2 - 1])",
    "for i in 0 .. 5:\n  x[i] = exp(sum[k: 2 <= k < i - 1] a[i - 1, k] * x[k + 1])\n  c[i, 0] = x[i] + y[i]",
    "for i in 3 .. 0 step -1:\n  x[i] = y[i] + (sum[k: i + 2 <= k < 4] a[k, i] * x[k - 1])",
    "for i in 0 .. 5:\n  c[i, 1] = x[i] + (sum[k: 0 <= k < i] a[i, k] * c[k, 1] * y[k])",
]


@pytest.mark.parametrize("body", PREFIXES)
def test_sums_over_earlier_iterations_are_blocked(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "PREFIX", 0.0)
    monkeypatch.setattr(prefix, "ROWS", 2)
    before = program(ARRAYS, body)
    context = PassContext()
    after = match.run(before, context)
    verify(after, Stage.OPTIMISED)
    assert any("earlier iterations in blocks" in remark.message for remark in context.log)
    assert_same(before, arguments(), lowered(after))


NO_PREFIXES = [
    "for i in 0 .. 4:\n  x[i] = y[i] - (sum[k: 0 <= k < i] a[i, k] * x[k + 1])",  # reads what the iteration overwrites
    "for i in 0 .. 5:\n  x[i] = y[i] - (sum[k: i <= k < 5] a[i, k] * x[k])",  # not what was computed before
    "for i in 0 .. 5:\n  x[i] = y[i]\n  y[0] = sum[k: 0 <= k < i] a[i, k] * y[k]",  # the sum reads one element anew
    "for i in 0 .. 5:\n  x[i] = select(y[i] > 0.5_f64, sum[k: 0 <= k < i] a[i, k] * x[k], 0.0_f64)",
    "for i in 0 .. 5:\n  x[i] = max[k: 0 <= k < i] a[i, k] * x[k]",
]


@pytest.mark.parametrize("body", NO_PREFIXES)
def test_what_is_no_sum_over_earlier_iterations(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "PREFIX", 0.0)
    before = program(ARRAYS, body)
    context = PassContext()
    after = match.run(before, context)
    assert not any("earlier iterations" in remark.message for remark in context.log)
    assert_same(before, arguments(), lowered(after))
