"""Products of other shapes: several dimensions that lie in memory as one, and sums over windows of an array."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.lowering import assert_same, lowered
from weft.ir.expr import Reduce, real
from weft.ir.program import Call, Program, Stmt
from weft.ir.text import parse
from weft.ir.verify import Stage, verify
from weft.ir.walk import subexpressions, walk
from weft.passes import PassContext, match
from weft.passes.matching import windows

RNG = np.random.default_rng(17)


def matched(before: Program, monkeypatch: pytest.MonkeyPatch) -> tuple[Program, list[Call]]:
    monkeypatch.setattr(match, "THRESHOLDS", dict.fromkeys(match.THRESHOLDS, real(1.0)))
    after = match.run(before, PassContext())
    verify(after, Stage.OPTIMISED)
    return after, [node for node in walk(after.body) if isinstance(node, Call)]


def random(shapes: dict[str, tuple[int, ...]]) -> dict[str, object]:
    return {name: RNG.random(shape) for name, shape in shapes.items()}


A3 = {"a": ("f64", 3), "b": ("f64", 2), "c": ("f64", 3)}
#: Arrays, statement, shapes, free and summed dimensions of the call.
TOGETHER = [
    (
        A3,
        "c[l, i, j] = sum[k: 0 <= k < 5] a[l, i, k] * b[k, j]   for l: 0 <= l < 3, i: 0 <= i < 4, j: 0 <= j < 2",
        {"a": (3, 4, 5), "b": (5, 2), "c": (3, 4, 2)},
        (3, 1),
    ),
    (
        A3,
        "c[l, i, j] = sum[k: 0 <= k < 5] a[l, i, k] * b[k, j]   for l: 0 <= l < 3, i: 0 <= i < 3, j: 0 <= j < 2",
        {"a": (3, 4, 5), "b": (5, 2), "c": (3, 4, 2)},
        (2, 1),  # a part of the rows
    ),
    (
        {"a": ("f64", 3), "b": ("f64", 3), "c": ("f64", 2)},
        "c[i, j] = sum[k: 0 <= k < 4, m: 0 <= m < 5] a[i, k, m] * b[k, m, j]   for i: 0 <= i < 3, j: 0 <= j < 2",
        {"a": (3, 4, 5), "b": (4, 5, 2), "c": (3, 2)},
        (2, 2),
    ),
    (
        {"a": ("f64", 3), "b": ("f64", 3), "c": ("f64", 2)},
        "c[i, j] = sum[m: 0 <= m < 5, k: 0 <= k < 4] a[i, k, m] * b[j, k, m]   for i: 0 <= i < 3, j: 0 <= j < 2",
        {"a": (3, 4, 5), "b": (2, 4, 5), "c": (3, 2)},
        (2, 2),
    ),
    (
        {"a": ("f64", 3), "b": ("f64", 3), "c": ("f64", 2)},
        (
            "c[i, j] = sum[k: 0 <= k < 4, m: 0 <= m < 5] (2.0_f64 * a[k, i, m]) * b[k, m, j]"
            "   for i: 0 <= i < 3, j: 0 <= j < 2"
        ),
        {"a": (4, 3, 5), "b": (4, 5, 2), "c": (3, 2)},
        (2, 2),
    ),
]


@pytest.mark.parametrize(("arrays", "body", "shapes", "dims"), TOGETHER)
def test_dimensions_that_lie_side_by_side(
    arrays: dict[str, tuple[str, int]],
    body: str,
    shapes: dict[str, tuple[int, ...]],
    dims: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = _with_sizes(arrays, body, shapes)
    after, calls = matched(before, monkeypatch)
    (total,) = [part for part in subexpressions(calls[0].stmt.value) if isinstance(part, Reduce)]
    assert [call.routine for call in calls] == ["gemm"]
    assert (len(calls[0].stmt.domain), len(total.dims)) == dims
    assert_same(before, random(shapes), lowered(after))


def _with_sizes(arrays: dict[str, tuple[str, int]], body: str, shapes: dict[str, tuple[int, ...]]) -> Program:
    """A program over arrays of fixed shapes."""
    lines = f"program test({', '.join(arrays)}):\n"
    for name, (dtype, _) in arrays.items():
        lines += f"  param {name}: {dtype}[{', '.join(map(str, shapes[name]))}] C\n"
    return parse(lines + f"  output #0 = None\n\n  {body}\n  return #0\n")


APART = [
    # the terms lie in another order in the second factor
    ("c[i, j] = sum[k: 0 <= k < 4, m: 0 <= m < 5] a[i, k, m] * b[m, k, j]", {"b": (5, 4, 2)}),
    # a part of the inner dimension
    ("c[i, j] = sum[k: 0 <= k < 4, m: 0 <= m < 3] a[i, k, m] * b[k, m, j]", {"b": (4, 5, 2)}),
]


@pytest.mark.parametrize(("body", "shapes"), APART)
def test_terms_that_do_not_lie_side_by_side(
    body: str, shapes: dict[str, tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"a": (3, 4, 5), "c": (3, 2), **shapes}
    arrays = {"a": ("f64", 3), "b": ("f64", 3), "c": ("f64", 2)}
    before = _with_sizes(arrays, body + "   for i: 0 <= i < 3, j: 0 <= j < 2", sizes)
    after, _ = matched(before, monkeypatch)
    assert_same(before, random(sizes), lowered(after))


CONVOLUTIONS = [
    (
        "c[n, i, j, f] = x[f] +"
        " (sum[p: i <= p < i + 3, q: j <= q < j + 2, m: 0 <= m < 3] a[n, p, q, m] * b[p - i, q - j, m, f])"
        "   for n: 0 <= n < 2, i: 0 <= i < 3, j: 0 <= j < 5, f: 0 <= f < 4"
    ),
    (
        "c[n, i, j, f] = sum[p: 0 <= p < 3, q: 0 <= q < 2, m: 0 <= m < 3] a[n, i + p, j + q, m] * b[p, q, m, f]"
        "   for n: 0 <= n < 2, i: 0 <= i < 3, j: 0 <= j < 5, f: 0 <= f < 4"
    ),
]
SHAPES = {"a": (2, 5, 6, 3), "b": (3, 2, 3, 4), "c": (2, 3, 5, 4), "x": (4,)}
NAMES = {"a": ("f64", 4), "b": ("f64", 4), "c": ("f64", 4), "x": ("f64", 1)}


@pytest.mark.parametrize("body", CONVOLUTIONS)
def test_a_convolution_is_a_matrix_product_of_windows(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _with_sizes(NAMES, body, SHAPES)
    after, calls = matched(before, monkeypatch)
    assert [call.routine for call in calls] == ["gemm"]
    assert [len(buffer.shape) for buffer in after.buffers if buffer.name == "operand"] == [4]  # of one row alone
    assert_same(before, random(SHAPES), lowered(after))


def test_rows_of_windows_are_shared_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch of products in each row: a loop for threads in a loop for threads is none."""
    body = (
        "c[i, j, k, l] = sum[m: 0 <= m < 3] a[i, j, m] * b[3 - k, m, l]"
        "   for i: 0 <= i < 4, j: 0 <= j < 3, k: 0 <= k < 4, l: 0 <= l < 3"
    )
    shapes = {"a": (4, 3, 3), "b": (4, 3, 3), "c": (4, 3, 4, 3)}
    before = _with_sizes({"a": ("f64", 3), "b": ("f64", 3), "c": ("f64", 4)}, body, shapes)
    after, calls = matched(before, monkeypatch)
    assert calls
    assert_same(before, random(shapes), lowered(after))


NO_WINDOWS = [
    # the target is an array of the sum
    (
        "c[n, i, j, f] = sum[p: 0 <= p < 2, m: 0 <= m < 3] c[n, i + p, j, m] * b[p, 0, m, f]"
        "   for n: 0 <= n < 2, i: 0 <= i < 2, j: 0 <= j < 5, f: 0 <= f < 4"
    ),
    # both factors move
    (
        "c[n, i, j, f] = sum[p: 0 <= p < 2, m: 0 <= m < 2] a[n, i + p, j, m] * b[i + p, 0, m, f]"
        "   for n: 0 <= n < 2, i: 0 <= i < 2, j: 0 <= j < 5, f: 0 <= f < 4"
    ),
    # windows of different sizes
    (
        "c[n, i, j, f] = sum[p: i <= p < 3, m: 0 <= m < 3] a[n, p, j, m] * b[p - i, 0, m, f]"
        "   for n: 0 <= n < 2, i: 0 <= i < 3, j: 0 <= j < 5, f: 0 <= f < 4"
    ),
    # a maximum
    (
        "c[n, i, j, f] = max[p: 0 <= p < 2, m: 0 <= m < 3] a[n, i + p, j, m] * b[p, 0, m, f]"
        "   for n: 0 <= n < 2, i: 0 <= i < 3, j: 0 <= j < 5, f: 0 <= f < 4"
    ),
]


@pytest.mark.parametrize("body", NO_WINDOWS)
def test_what_is_no_window(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _with_sizes(NAMES, body, SHAPES)
    (stmt,) = [node for node in before.body if isinstance(node, Stmt)]
    assert isinstance(windows.windows(stmt), str)
    after, _ = matched(before, monkeypatch)
    assert_same(before, random(SHAPES), lowered(after))
