"""Loops that become matrix products in blocks: factorizations in every order of their loops, sums that grow from row to
row, sums that are added up in memory; what must stay as it is; and that all of it agrees with the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.passes.lowering import assert_same, lowered, program
from weft.ir.program import Call, Loop, Program, Stmt
from weft.ir.text import show_node
from weft.ir.verify import Stage, verify
from weft.ir.walk import walk
from weft.options import Options
from weft.passes import PassContext, match
from weft.passes.matching import deferred, eager, strips, summands, triangles, wedges
from weft.passes.scheduling.lower import Workspace

RNG = np.random.default_rng(5)
ARRAYS = {"a": ("f64", 2), "b": ("f64", 2), "c": ("f64", 2), "x": ("f64", 1), "alpha": ("f64", 0)}
SIZE = 9


def arguments(size: int = SIZE) -> dict[str, object]:
    made: dict[str, object] = {name: RNG.random((size, size)) + size * np.eye(size) for name in "abc"}
    return {**made, "x": RNG.random(size), "alpha": np.float64(1.5)}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, names in ((deferred, "ROWS"), (triangles, "ROWS"), (strips, "ROWS COLUMNS")):
        for name in names.split():
            monkeypatch.setattr(module, name, 3 if module is not strips else 2)
    for name in ("DEFERRED", "EAGER", "PANELS", "PREFIX"):
        monkeypatch.setattr(match, name, 0.0)


def matched(before: Program) -> tuple[Program, list[Call], list[str]]:
    context = PassContext()
    after = match.run(before, context)
    verify(after, Stage.OPTIMISED)
    calls = [node for node in walk(after.body) if isinstance(node, Call)]
    return after, calls, [remark.message for remark in context.log]


LU = """
for i in 0 .. a_0:
  for j in 0 .. i:
    a[i, j] = (a[i, j] - (sum[k: 0 <= k < j] a[i, k] * a[k, j])) / a[j, j]
  a[i, j_2] = a[i, j_2] - (sum[k_2: 0 <= k_2 < i] a[i, k_2] * a[k_2, j_2])   for j_2: i <= j_2 < a_0
"""
LU_RIGHT = """
for k in 0 .. a_0:
  a[i, k] = a[i, k] / a[k, k]   for i: k + 1 <= i < a_0
  a[i_2, j] = a[i_2, j] - a[i_2, k] * a[k, j]   for i_2: k + 1 <= i_2 < a_0, j: k + 1 <= j < a_0
"""
CHOLESKY = """
for i in 0 .. a_0:
  for j in 0 .. i:
    a[i, j] = (a[i, j] - (sum[k: 0 <= k < j] a[i, k] * a[j, k])) / a[j, j]
  a[i, i] = sqrt(a[i, i] - (sum[k_2: 0 <= k_2 < i] a[i, k_2] * a[i, k_2]))
"""
CHOLESKY_FROM_ONE = """
a[0, 0] = sqrt(a[0, 0])
for i in 1 .. a_0:
  for j in 0 .. i:
    a[i, j] = (a[i, j] - (sum[k: 0 <= k < j] a[i, k] * a[j, k])) / a[j, j]
  a[i, i] = sqrt(a[i, i] - (sum[k_2: 0 <= k_2 < i] a[i, k_2] * a[i, k_2]))
"""
CHOLESKY_RIGHT = """
for k in 0 .. a_0:
  a[k, k] = sqrt(a[k, k])
  a[i, k] = a[i, k] / a[k, k]   for i: k + 1 <= i < a_0
  a[i_2, j] = a[i_2, j] - a[i_2, k] * a[j, k]   for j: k + 1 <= j < a_0, i_2: j <= i_2 < a_0
"""
SOLVE_MANY = """
for i in 0 .. a_0:
  b[i, j] = (b[i, j] - (sum[k: 0 <= k < i] a[i, k] * b[k, j])) / a[i, i]   for j: 0 <= j < b_1
"""
ELIMINATE = """
for k in 0 .. a_0:
  b[i, j] = b[i, j] - a[i, k] * b[k, j]   for i: k + 1 <= i < a_0, j: 0 <= j < b_1
"""
SOLVE_INTO = """
for i in 0 .. a_0:
  c[i, j] = (x[i] * b[i, j] - (sum[k: 0 <= k < i] a[i, k] * c[k, j])) / a[i, i]   for j: 0 <= j < b_1
"""
SOLVE_COLUMNS = """
for j in 0 .. b_1:
  for i in 0 .. a_0:
    c[i, j] = (sum[k: 0 <= k < i] a[i, k] * c[k, j]) + b[i, j]
"""
SOLVE_BACKWARD = """
for i in a_0 - 1 .. -1 step -1:
  b[i, j] = (b[i, j] - (sum[k: i + 1 <= k < a_0] a[i, k] * b[k, j])) / a[i, i]   for j: 0 <= j < b_1
"""
SOLVE_BACKWARD_COLUMNS = """
for j in 0 .. b_1:
  for i in a_0 - 1 .. -1 step -1:
    c[i, j] = (b[i, j] - (sum[k: i + 1 <= k < a_0] a[k, i] * c[k, j])) / a[i, i]
"""
ELIMINATE_BACKWARD = """
for k in a_0 - 1 .. -1 step -1:
  b[k, l] = b[k, l] / a[k, k]   for l: 0 <= l < b_1
  b[i, j] = b[i, j] - a[i, k] * b[k, j]   for i: 0 <= i < k, j: 0 <= j < b_1
"""
FACTORIZATIONS = [
    LU, LU_RIGHT, CHOLESKY, CHOLESKY_FROM_ONE, CHOLESKY_RIGHT, SOLVE_MANY, ELIMINATE, SOLVE_INTO, SOLVE_COLUMNS,
    SOLVE_BACKWARD, SOLVE_BACKWARD_COLUMNS, ELIMINATE_BACKWARD,
]  # fmt: skip


@pytest.mark.parametrize("size", [1, 2, 3, 4, SIZE])
@pytest.mark.parametrize("body", FACTORIZATIONS)
def test_factorizations_wait_with_their_updates(body: str, size: int) -> None:
    before = program(ARRAYS, body)
    after, calls, remarks = matched(before)
    assert {"gemm", "syrk"} & {call.routine for call in calls}
    assert any("put off" in remark for remark in remarks)
    assert_same(before, arguments(size), lowered(after))


def test_spellings_of_a_factorization_become_one_loop() -> None:
    texts = []
    for body in (LU, LU_RIGHT):
        before = program(ARRAYS, body)
        loop = next(node for node in before.body if isinstance(node, Loop))
        workspace = Workspace.of(before)
        by_terms = eager.eager(loop, workspace.new_var)
        chosen = loop if isinstance(by_terms, str) else by_terms.loop
        texts.append([len(node.domain) for node in chosen.body if isinstance(node, Stmt)])
    assert texts[0] == texts[1] == [1, 2]


NOT_EAGER = [
    # the term is not known when the sum could take it
    "for i in 0 .. 8:\n  c[i, j] = c[i, j] - (sum[k: 0 <= k < i] a[i, k] * c[k + 1, j])   for j: 0 <= j < 8",
    # an old value is read, which the new order would have changed
    "for i in 0 .. 8:\n  c[i, j] = c[i, j] - (sum[k: 0 <= k < i] c[k, 8] * c[8 - k, j])   for j: 0 <= j < 9",
    # an element is written in every iteration
    "for i in 0 .. 8:\n  c[0, j] = c[0, j] - (sum[k: 0 <= k < i] a[i, k] * b[k, j])   for j: 0 <= j < 8",
    # what a sum begins with is computed by the nest itself
    "for i in 0 .. 8:\n  c[i, j] = c[i + 1, j] - (sum[k: 0 <= k < i] a[i, k] * c[k, j])   for j: 0 <= j < 8",
    # it is a sum downward of what comes later in an upward loop
    "for i in 0 .. 8:\n  c[i, j] = b[i, j] - (sum[k: i + 1 <= k < 8] a[i, k] * c[k, j])   for j: 0 <= j < 8",
    # the target is read twice
    "for i in 0 .. 8:\n  c[i, j] = (c[i, j] - (sum[k: 0 <= k < i] a[i, k] * c[k, j])) * c[i, j]   for j: 0 <= j < 8",
    # the sum is taken in one branch alone
    (
        "for i in 0 .. 8:\n"
        "  c[i, j] = select(x[j] > 0.5_f64, c[i, j] - (sum[k: 0 <= k < i] a[i, k] * c[k, j]), x[j])   for j: 0 <= j < 8"
    ),
    # a maximum
    "for i in 0 .. 8:\n  c[i, j] = c[i, j] - (max[k: 0 <= k < i] a[i, k] * c[k, j])   for j: 0 <= j < 8",
]


@pytest.mark.parametrize("body", NOT_EAGER)
def test_sums_that_must_stay(body: str) -> None:
    before = program(ARRAYS, body)
    (loop,) = [node for node in before.body if isinstance(node, Loop)]
    assert isinstance(eager.eager(loop, Workspace.of(before).new_var), str)
    after, _, _ = matched(before)
    assert_same(before, arguments(), lowered(after))


NOT_DEFERRED = [
    # the next iteration reads all of it
    (
        "for k in 0 .. 8:\n  x[k] = sum[l: 0 <= l < 9] c[l, 8]\n"
        "  c[i, j] = c[i, j] - a[i, k] * b[k, j]   for i: k + 1 <= i < 9, j: k + 1 <= j < 9"
    ),
    # an operand changes after its use
    (
        "for k in 0 .. 8:\n  c[i, j] = c[i, j] - a[i, k] * x[8]   for i: k + 1 <= i < 9, j: k + 1 <= j < 9\n"
        "  x[8] = x[8] + 1.0_f64"
    ),
    (
        "for k in 0 .. 8:\n  c[i, j] = c[i, j] - a[i, k] * b[k, j]   for i: k + 1 <= i < 9, j: k + 1 <= j < 9\n"
        "  b[k, j_2] = x[j_2]   for j_2: 0 <= j_2 < 9"
    ),
    # the operand is part of what is updated
    "for k in 0 .. 8:\n  c[i, j] = c[i, j] - a[i, k] * c[k + 1, j]   for i: k + 2 <= i < 9, j: 0 <= j < 9",
    # it does not shrink
    "for k in 0 .. 8:\n  c[i, j] = c[i, j] - a[i, k] * c[k, j]   for i: 0 <= i < k, j: 0 <= j < 9",
    # a product, not a sum
    "for k in 0 .. 8:\n  c[i, j] = c[i, j] * (a[i, k] * b[k, j])   for i: k + 1 <= i < 9, j: k + 1 <= j < 9",
]


@pytest.mark.parametrize("body", NOT_DEFERRED)
def test_updates_that_must_not_wait(body: str) -> None:
    before = program(ARRAYS, body)
    (loop,) = [node for node in before.body if isinstance(node, Loop)]
    assert isinstance(deferred.deferred(loop, Workspace.of(before).new_var), str)
    after, _, _ = matched(before)
    assert_same(before, arguments(), lowered(after))


def test_integers_and_strict_sums_stay() -> None:
    before = program({"a": ("i64", 2)}, LU_RIGHT.replace(" / a[k, k]", " * a[k, k]"))
    assert match.run(before, PassContext()) is before
    before = program(ARRAYS, LU)
    assert match.run(before, PassContext(Options(fp="strict"))) is before


def test_a_strip_that_needs_another_one_stays() -> None:
    body = (
        "for k in 0 .. 8:\n  c[i, k] = c[i, k] + c[9 - i, k]   for i: k + 1 <= i < 9\n"
        "  a[i_2, j] = a[i_2, j] - c[i_2, k] * b[k, j]   for i_2: k + 1 <= i_2 < 9, j: k + 1 <= j < 9"
    )
    before = program(ARRAYS, body)
    (loop,) = [node for node in before.body if isinstance(node, Loop)]
    workspace = Workspace.of(before)
    split = deferred.deferred(loop, workspace.new_var)
    assert not isinstance(split, str)
    assert isinstance(strips.strips(split.inner, workspace.new_var), str)
    after, _, _ = matched(before)
    assert_same(before, arguments(), lowered(after))


WEDGES = [
    "c[i, j] = c[i, j] + (sum[k: i + 1 <= k < 9] a[k, i] * c[k, j])   for i: 0 <= i < 9, j: 0 <= j < 9",
    "c[i, j] = alpha * (sum[k: 0 <= k < i + 1] a[i, k] * c[k, j])   for i: 0 <= i < 9, j: 0 <= j < 9",
    "c[i, j] = x[j] * c[i, j] + (sum[k: 0 <= k < i] b[k, j] * (alpha * a[i, k]))   for i: 0 <= i < 9, j: 0 <= j < 9",
    "c[i, j] = sum[k: 8 - i <= k < 9] a[i, k] * b[k, j]   for i: 0 <= i < 9, j: 0 <= j < 9",
    "c[j, i] = sum[k: 0 <= k < 9 - i] (alpha * b[k, j]) * a[k, i]   for i: 2 <= i < 8, j: 1 <= j < 7",
]


@pytest.mark.parametrize("body", WEDGES)
def test_sums_that_grow_from_row_to_row(body: str) -> None:
    before = program(ARRAYS, body)
    after, calls, _ = matched(before)
    assert [call.routine for call in calls] == ["gemm"]
    assert_same(before, arguments(), lowered(after))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("body", WEDGES[:3])
def test_what_is_not_finite_is_not_multiplied_by_zero(body: str, value: float) -> None:
    before = program(ARRAYS, body)
    after, _, _ = matched(before)
    values = arguments()
    for name in "abc":
        values[name][4, 5] = value  # type: ignore[index]
    with np.errstate(invalid="ignore"):
        assert_same(before, values, lowered(after))


NO_WEDGES = [
    # a row reads rows above and below it
    "c[i, j] = sum[k: 0 <= k < i + 3] a[i, k] * c[k, j]   for i: 0 <= i < 6, j: 0 <= j < 9",
    # both bounds move
    "c[i, j] = sum[k: i <= k < i + 3] a[i, k] * b[k, j]   for i: 0 <= i < 6, j: 0 <= j < 9",
    # by two
    "c[i, j] = sum[k: 0 <= k < 2 * i] a[i, k] * b[k, j]   for i: 0 <= i < 4, j: 0 <= j < 9",
    "c[i, j] = max[k: 0 <= k < i] a[i, k] * b[k, j]   for i: 0 <= i < 6, j: 0 <= j < 9",
    # both factors vary with the row
    "c[i, j] = sum[k: 0 <= k < i] a[i, k] * b[i, j]   for i: 0 <= i < 6, j: 0 <= j < 9",
]


@pytest.mark.parametrize("body", NO_WEDGES)
def test_what_is_no_wedge(body: str) -> None:
    before = program(ARRAYS, body)
    (stmt,) = [node for node in before.body if isinstance(node, Stmt)]
    assert isinstance(wedges.wedge(stmt, Workspace.of(before).new_var), str)
    after, _, _ = matched(before)
    assert_same(before, arguments(), lowered(after))


GATHERED = [
    ("gemm", "c[k, j] += (alpha * b[i, j]) * a[i, k]   for i: 0 <= i < 9, j: 0 <= j < 9, k: 0 <= k < i"),
    ("gemm", "c[i, j] += a[i, k] * b[k, j]   for k: 0 <= k < 9, i: 0 <= i < 9, j: 0 <= j < 9"),
    ("gemv", "x[j] += a[i, j] * c[i, 0]   for i: 0 <= i < 9, j: 0 <= j < 9"),
]


@pytest.mark.parametrize(("routine", "body"), GATHERED)
def test_products_added_up_in_memory(routine: str, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = program(ARRAYS, body)
    after, calls, _ = matched(before)
    assert [call.routine for call in calls] == [routine]
    assert_same(before, arguments(), lowered(after))


NOT_GATHERED = [
    "c[i + j, 0] += a[i, j]   for i: 0 <= i < 4, j: 0 <= j < 4",
    "c[i, j] += a[i, j] * c[j, i]   for i: 0 <= i < 4, j: 0 <= j < 4",
    "c[i, 0] max= a[i, j]   for i: 0 <= i < 4, j: 0 <= j < 4",
    "c[i, i] += a[i, j]   for i: 0 <= i < 4, j: 0 <= j < 4",
]


@pytest.mark.parametrize("body", NOT_GATHERED)
def test_what_is_not_gathered(body: str) -> None:
    before = program(ARRAYS, body)
    (stmt,) = [node for node in before.body if isinstance(node, Stmt)]
    assert isinstance(summands.gathered(stmt), str)


APART = [
    (
        "c[i, j] = alpha * c[i, j] + (sum[k: 0 <= k < 9] a[j, k] * alpha * b[i, k] + b[j, k] * alpha * a[i, k])"
        "   for i: 0 <= i < 9, j: 0 <= j < i + 1"
    ),
    "c[i, j] = sum[k: 0 <= k < 9] 4.0_f64 * a[i, k] * b[k, j] - b[i, k] * a[k, j]   for i: 0 <= i < 9, j: 0 <= j < 9",
]


@pytest.mark.parametrize("body", APART)
def test_a_sum_of_two_products_is_two_sums(body: str) -> None:
    before = program(ARRAYS, body)
    after, calls, _ = matched(before)
    assert [call.routine for call in calls] == ["gemm", "gemm"]
    assert_same(before, arguments(), lowered(after))


def test_a_sum_of_a_product_and_something_else_stays_one() -> None:
    body = "c[i, j] = sum[k: 0 <= k < 9] a[i, k] * b[k, j] + exp(a[i, k] * b[k, j])   for i: 0 <= i < 9, j: 0 <= j < 9"
    after, calls, _ = matched(program(ARRAYS, body))
    assert not calls


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["a[i, k] * b[k, j]", "c[i, k] * c[k, j]", "c[k, j] * a[i, k]", "c[i, k] * c[j, k]"]),
    st.integers(0, 2),
    st.integers(0, 2),
    st.sampled_from(["", "c[i_9, k] = c[i_9, k] / c[k, k]   for i_9: k + 1 <= i_9 < 9\n  "]),
    st.sampled_from(["j: {1} <= j < 9", "j: {0} <= j < i + 1", "j: {1} <= j < i"]),
)
def test_any_update_of_a_part_that_shrinks(term: str, first: int, second: int, finish: str, columns: str) -> None:
    inner = columns.format(f"k + {second}", f"k + {second}")
    body = f"for k in 0 .. 8:\n  {finish}c[i, j] = c[i, j] - {term}   for i: k + {first} <= i < 9, {inner}"
    before = program(ARRAYS, body)
    after, _, _ = matched(before)
    values = {name: value / 9 if name != "alpha" else value for name, value in arguments().items()}  # type: ignore
    assert_same(before, values, lowered(after))


@settings(max_examples=40, deadline=None)
@given(st.integers(-1, 2), st.integers(0, 3), st.sampled_from(["i", "9 - i", "8 - i"]), st.booleans(), st.booleans())
def test_any_wedge(offset: int, first: int, bound: str, above: bool, own: bool) -> None:
    terms = f"{bound} + {offset + 1} <= k < 9" if above else f"0 <= k < {bound} + {offset - 2}"
    factor = "c[k, j]" if own else "b[k, j]"
    where = f"for i: {first} <= i < 9, j: 0 <= j < 9"
    body = f"c[i, j] = c[i, j] + (sum[k: {terms}] a[i, 0] * a[0, k] * {factor})   {where}"
    before = program(ARRAYS, body)
    after, _, _ = matched(before)
    assert_same(before, arguments(), lowered(after))


@settings(max_examples=60, deadline=None)
@given(
    st.booleans(),
    st.integers(0, 2),
    st.integers(-1, 1),
    st.sampled_from(["a[i, k]", "a[k, i]", "a[8 - i, k]"]),
    st.sampled_from(["c[k, j]", "c[k, 8 - j]", "b[k, j]", "c[8 - k, j]"]),
    st.sampled_from(["c[i, j]", "b[i, j]", "c[i, 8 - j]", "x[i] * b[8 - i, j]"]),
    st.booleans(),
)
def test_any_substitution(
    down: bool, first: int, offset: int, factor: str, known: str, start: str, outside: bool
) -> None:
    """Upward and downward, in place and not; also with sums that read what is not there yet, which must stay."""
    rows = f"i in 8 .. {first - 1} step -1" if down else f"i in {first} .. 9"
    terms = f"i + {1 + offset} <= k < 9" if down else f"0 <= k < i + {offset}"
    value = f"({start} - (sum[k: {terms}] {factor} * {known})) / 9.0_f64"
    if outside:
        body = f"for j in 0 .. 9:\n  for {rows}:\n    c[i, j] = {value}"
    else:
        body = f"for {rows}:\n  c[i, j] = {value}   for j: 0 <= j < 9"
    before = program(ARRAYS, body)
    after, _, _ = matched(before)
    values = {name: value / 9 if name != "alpha" else value for name, value in arguments().items()}  # type: ignore
    assert_same(before, values, lowered(after))


def test_a_triangle_down_its_columns_is_turned() -> None:
    before = program(ARRAYS, "c[i, j] = a[i, j]   for j: 0 <= j < 9, i: j <= i < 9")
    after, _, _ = matched(before)
    assert "for i: 0 <= i < 9, j: 0 <= j < i + 1" in show_node(after.body[0], after.table)
    assert_same(before, arguments(), lowered(after))
