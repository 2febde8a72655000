"""Single statements of every kind: the lowered form gives what the statement gives, in every order of iterations."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.lowering import assert_same, lowered, program
from weft.ir import interp

RNG = np.random.default_rng(7)
A1, A2, A3 = ({"a": ("f64", rank)} for rank in (1, 2, 3))
SHAPES = {1: (9,), 2: (6, 5), 3: (4, 3, 5)}


def data(rank: int, *, shift: float = 0.0) -> dict[str, np.ndarray]:
    return {"a": RNG.random(SHAPES[rank]) + shift}


ELEMENTWISE = [
    (1, "a[i] = a[i] * 2.0_f64 + 1.0_f64   for i: 0 <= i < a_0"),
    (2, "a[i, j] = a[i, j] * a[i, j]   for i: 0 <= i < a_0, j: 0 <= j < a_1"),
    (3, "a[i, j, k] = -a[i, j, k]   for i: 0 <= i < a_0, j: 0 <= j < a_1, k: 0 <= k < a_2"),
    (1, "a[2 * i] = 0.5_f64   for i: 0 <= i < 4"),
    (2, "a[i, j] = 1.0_f64   for i: 0 <= i < a_0, j: 0 <= j < i"),
    (1, "a[a_0 - 1 - i] = f64(i)   for i: 0 <= i < a_0"),
]

IN_PLACE = [
    (1, "a[i] = a[i - 1] * 2.0_f64   for i: 1 <= i < a_0"),
    (1, "a[i] = a[i + 1] * 2.0_f64   for i: 0 <= i < a_0 - 1"),
    (1, "a[i] = a[i - 1] + a[i + 1]   for i: 1 <= i < a_0 - 1"),
    (1, "a[i] = a[i + 1] + a[i + 2]   for i: 0 <= i < a_0 - 2"),
    (1, "a[i] = a[a_0 - 1 - i]   for i: 0 <= i < a_0"),
    (1, "a[i] = a[0] + a[i]   for i: 0 <= i < a_0"),
    (1, "a[i] = a[4]   for i: 0 <= i < a_0"),
    (1, "a[2 * i] = a[2 * i + 1]   for i: 0 <= i < 4"),
    (1, "a[i] = select(i > 0, a[i - 1], 0.0_f64)   for i: 0 <= i < a_0"),
    (2, "a[i, j] = a[i, j - 1]   for i: 0 <= i < a_0, j: 1 <= j < a_1"),
    (2, "a[i, j] = a[i - 1, j + 1]   for i: 1 <= i < a_0, j: 0 <= j < a_1 - 1"),
    (2, "a[i, j] = a[i + 1, j - 1] + a[i + 1, j]   for i: 0 <= i < a_0 - 1, j: 1 <= j < a_1"),
    (2, "a[i, j] = minimum(a[i, j], a[i, 2] + a[3, j])   for i: 0 <= i < a_0, j: 0 <= j < a_1"),
    (2, "a[i, j] = a[i, j] - a[i, 1] * a[1, j]   for i: 2 <= i < a_0, j: 2 <= j < a_1"),
    (2, "a[i, j] = a[j, i]   for i: 0 <= i < 5, j: 0 <= j < 5"),
    (2, "a[0, j] = a[1, j]   for j: 0 <= j < a_1"),
    (
        2,
        "a[i, j] = 0.25_f64 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1])   for i: 1 <= i < a_0 - 1, j: 1 <= j < a_1",
    ),
]

REDUCTIONS = [
    (1, "local s: f64", "s = sum[i: 0 <= i < a_0] a[i]", "scalar s"),
    (
        1,
        "local s: f64",
        "s = 2.0_f64 * (sum[i: 0 <= i < a_0] a[i] * a[i]) + (product[k: 0 <= k < a_0] a[k])",
        "scalar s",
    ),
    (2, "local s: f64", "s = max[i: 0 <= i < a_0, j: 0 <= j < a_1] a[i, j]", "scalar s"),
    (2, "result s: f64[a_0]", "s[i] = sum[j: 0 <= j < a_1] a[i, j]   for i: 0 <= i < a_0", "array s"),
    (2, "result s: f64[a_1]", "s[j] = sum[i: 0 <= i < a_0] a[i, j]   for j: 0 <= j < a_1", "array s"),
    (2, "result s: f64[a_1]", "s[j] = sqrt(sum[i: 0 <= i < a_0] a[i, j])   for j: 0 <= j < a_1", "array s"),
    (2, "local s: f64", "s = sum[i: 0 <= i < a_0] sqrt(sum[j: 0 <= j < a_1] a[i, j])", "scalar s"),
    (2, "result s: f64[a_0]", "s[i] = sum[j: 0 <= j < i] a[i, j]   for i: 0 <= i < 5", "array s"),
    (
        3,
        "result s: f64[a_0, a_2]",
        "s[i, k] = sum[j: 0 <= j < a_1] a[i, j, k]   for i: 0 <= i < a_0, k: 0 <= k < a_2",
        "array s",
    ),
    (
        3,
        "result s: f64[a_1]",
        "s[j] = min[i: 0 <= i < a_0, k: 0 <= k < a_2] a[i, j, k]   for j: 0 <= j < a_1",
        "array s",
    ),
    (
        3,
        "result s: f64[a_2, a_0]",
        "s[k, i] = sum[j: 0 <= j < a_1] a[i, j, k]   for k: 0 <= k < a_2, i: 0 <= i < a_0",
        "array s",
    ),
    (2, "result s: i64[a_0]", "s[i] = argmin[j: 0 <= j < a_1] a[i, j]   for i: 0 <= i < a_0", "array s"),
    (2, "local s: i64", "s = argmax[i: 0 <= i < a_0, j: 0 <= j < a_1] a[i, j]", "scalar s"),
    (2, "local s: i64", "s = argmax[i: 0 <= i < 5, j: 0 <= j < i] a[i, j]", "scalar s"),
    (1, "local s: f64", "s = select(a_0 > 100, sum[i: 0 <= i < 100] a[i], -1.0_f64)", "scalar s"),
    (1, "local s: bool", "s = all[i: 0 <= i < a_0] a[i] > 0.5_f64", "scalar s"),
]


@pytest.mark.parametrize(("rank", "body"), ELEMENTWISE + IN_PLACE)
def test_statement(rank: int, body: str) -> None:
    assert_same(program({"a": ("f64", rank)}, body), data(rank))


@pytest.mark.parametrize(("rank", "body"), IN_PLACE)
def test_statement_strict(rank: int, body: str) -> None:
    assert_same(program({"a": ("f64", rank)}, body), data(rank), fp="strict")


@pytest.mark.parametrize("fp", ["numpy", "strict"])
@pytest.mark.parametrize(("rank", "buffer", "body", "output"), REDUCTIONS)
def test_reduction(rank: int, buffer: str, body: str, output: str, fp: str) -> None:
    alloc = f"alloc {buffer.split()[1][:-1]}\n" if buffer.startswith("result") else ""
    if "s[i] = sum[j: 0 <= j < i]" in body:
        body += "\ns[5] = 0.0_f64"
    assert_same(program({"a": ("f64", rank)}, alloc + body, buffer, output), data(rank), fp=fp)


def test_large_reduction_in_blocks_is_exact_for_integers() -> None:
    before = program({"a": ("i64", 1)}, "s = sum[i: 0 <= i < a_0] a[i]", "local s: i64", "scalar s")
    assert_same(before, {"a": RNG.integers(-(2**62), 2**62, 9001)})


@pytest.mark.parametrize(
    "values", [[3.0, np.nan, 1.0, np.nan], [np.inf, np.inf], [-np.inf, np.nan], [2.0, 2.0, 1.0, 1.0]]
)
def test_arg_reductions_as_numpy(values: list[float]) -> None:
    before = program(
        A1,
        "x = argmin[i: 0 <= i < a_0] a[i]\ny = argmax[j: 0 <= j < a_0] a[j]",
        "local x: i64\nlocal y: i64",
        "tuple(scalar x, scalar y)",
    )
    array = np.array(values)
    assert interp.run(lowered(before), {"a": array}) == (np.argmin(array), np.argmax(array))


def test_empty_arg_reduction_is_zero() -> None:
    before = program(A1, "x = argmin[i: 0 <= i < a_0] a[i]", "local x: i64", "scalar x")
    assert interp.run(lowered(before), {"a": np.zeros(0)}) == 0


def test_scatter_with_repeated_targets() -> None:
    before = program({"h": ("f64", 1), "b": ("i64", 1), "x": ("f64", 1)}, "h[b[i]] += x[i]   for i: 0 <= i < x_0")
    assert_same(before, {"h": np.zeros(4), "b": RNG.integers(0, 4, 30), "x": RNG.random(30)})


def test_scatter_that_reads_its_target() -> None:
    before = program({"h": ("f64", 1), "b": ("i64", 1)}, "h[b[i]] += h[i]   for i: 0 <= i < h_0")
    assert_same(before, {"h": RNG.random(6), "b": RNG.integers(0, 6, 6)})


def test_gather_from_the_target() -> None:
    before = program({"h": ("f64", 1), "b": ("i64", 1)}, "h[i] = h[b[i]]   for i: 0 <= i < h_0")
    assert_same(before, {"h": RNG.random(6), "b": RNG.integers(0, 6, 6)})


def test_csr_product() -> None:
    before = program(
        {"p": ("i64", 1), "c": ("i64", 1), "v": ("f64", 1), "x": ("f64", 1), "y": ("f64", 1)},
        "y[i] = sum[j(q): csr(p, c)[i]] v[q] * x[j]   for i: 0 <= i < y_0",
    )
    pointer = np.array([0, 2, 2, 5])
    column = np.array([0, 3, 1, 2, 3])
    assert_same(before, {"p": pointer, "c": column, "v": RNG.random(5), "x": RNG.random(4), "y": np.zeros(3)})


def test_compressed_target() -> None:
    before = program(
        {"p": ("i64", 1), "c": ("i64", 1), "v": ("f64", 1), "a": ("f64", 2), "b": ("f64", 2)},
        "v[q] = v[q] * (sum[k: 0 <= k < a_1] a[i, k] * b[k, j])   for i: 0 <= i < a_0, j(q): csr(p, c)[i]",
    )
    pointer = np.array([0, 2, 2, 5])
    column = np.array([0, 3, 1, 2, 3])
    arrays = {"v": RNG.random(5), "a": RNG.random((3, 4)), "b": RNG.random((4, 4))}
    assert_same(before, {"p": pointer, "c": column, **arrays})


def test_a_sum_over_nothing_reads_nothing() -> None:
    # With no rows the sum does not exist, and its reads would be out of bounds.
    before = program({"a": ("f64", 1), "y": ("f64", 1)}, "y[i] = sum[k: 0 <= k < 5] a[k]   for i: 0 <= i < y_0")
    assert_same(before, {"a": np.zeros(2), "y": np.zeros(0)})


def test_a_branch_not_taken_is_not_summed() -> None:
    before = program(
        {"a": ("f64", 2), "y": ("f64", 1)},
        "y[i] = select(i < a_0, sum[k: 0 <= k < a_1] a[i, k], 0.0_f64)   for i: 0 <= i < y_0",
    )
    assert_same(before, {"a": RNG.random((3, 4)), "y": np.zeros(5)})


def test_check_raises_for_the_first_point() -> None:
    before = program({"b": ("i64", 1)}, 'check b[i] < 5 else IndexError "index {0}" {b[i]}   for i: 0 <= i < b_0')
    after = lowered(before)
    interp.run(after, {"b": np.arange(5)})
    with pytest.raises(IndexError, match="index 7"):
        interp.run(after, {"b": np.array([1, 7, 9, 2])})


def test_reductions_in_control_flow() -> None:
    body = """
      n = 0
      while n < 3 and (sum[i: 0 <= i < a_0] a[i]) < 100.0_f64:
        a[k] = a[k] * 2.0_f64   for k: 0 <= k < a_0
        n = n + 1
      if (max[q: 0 <= q < a_0] a[q]) > 1.0_f64:
        a[0] = 0.0_f64
    """
    assert_same(program(A1, body, "local n: int"), data(1))


def test_strict_keeps_the_order_of_terms() -> None:
    before = program(A1, "s = sum[i: 0 <= i < a_0] a[i]", "local s: f64", "scalar s")
    array = np.array([1e16, 1.0, -1e16, 1.0] * 2000)
    assert interp.run(lowered(before, fp="strict"), {"a": array}) == interp.run(before, {"a": array})
