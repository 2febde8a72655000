"""Loop order, kinds and blocks: what the scheduler decides, and that every decision keeps the result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.passes.lowering import assert_same, loops, lowered, program
from tests.passes.random_statements import random_program
from weft.analysis import cost
from weft.analysis.choices import is_short_otherwise
from weft.ir import interp
from weft.ir.expr import TRUE, Op
from weft.ir.program import If, Loop, LoopKind
from weft.ir.text import show
from weft.ir.walk import free_vars, walk
from weft.passes import PassContext, match, store, version

RNG = np.random.default_rng(3)
MATMUL = """
  alloc c
  c[i, j] = sum[k: 0 <= k < a_1] a[i, k] * b[k, j]   for i: 0 <= i < a_0, j: 0 <= j < b_1
"""


def variables(after: object, kind: LoopKind | None = None) -> list[str]:
    return [loop.dim.var for loop in loops(after, kind)]  # type: ignore[arg-type]


def test_matrix_product_runs_along_rows() -> None:
    before = program({"a": ("f64", 2), "b": ("f64", 2)}, MATMUL, "result c: f64[a_0, b_1]", "array c")
    after = assert_same(before, {"a": RNG.random((4, 3)), "b": RNG.random((3, 5))})
    assert variables(after, LoopKind.PARALLEL) == ["i"]
    assert variables(after) == ["i", "j", "k", "j_2"]
    assert variables(after, LoopKind.VECTOR) == ["j", "j_2"]


def test_row_sums_accumulate_in_a_scalar() -> None:
    body = "y[i] = sum[j: 0 <= j < a_1] a[i, j]   for i: 0 <= i < a_0"
    after = assert_same(program({"a": ("f64", 2), "y": ("f64", 1)}, body), {"a": RNG.random((4, 3)), "y": np.zeros(4)})
    (inner,) = loops(after, LoopKind.VECTOR)
    assert [accumulator.op for accumulator in inner.accumulators] == ["add"]
    assert variables(after, LoopKind.PARALLEL) == ["i"]


def test_column_sums_run_along_rows_and_in_parallel_over_columns() -> None:
    body = "y[j] = sum[i: 0 <= i < a_0] a[i, j]   for j: 0 <= j < a_1"
    after = assert_same(program({"a": ("f64", 2), "y": ("f64", 1)}, body), {"a": RNG.random((4, 3)), "y": np.zeros(3)})
    assert not any(loop.accumulators for loop in loops(after))
    assert len(loops(after, LoopKind.PARALLEL)) == 3  # zeros; few columns: blocks of rows; else blocks of columns


def test_coordinates_beside_each_other_are_written_in_one_loop() -> None:
    """The inner loop goes along the points, two elements a step, not along the rows, far apart."""
    body = """
  alloc p
  p[i, j, 0] = a[i]   for i: 0 <= i < a_0, j: 0 <= j < b_0
  p[i2, j2, 1] = b[j2]   for i2: 0 <= i2 < a_0, j2: 0 <= j2 < b_0
"""
    before = program({"a": ("f64", 1), "b": ("f64", 1)}, body, "result p: f64[a_0, b_0, 2]", "array p")
    after = assert_same(before, {"a": RNG.random(4), "b": RNG.random(3)})
    assert variables(after) == ["i", "j"]


@pytest.mark.parametrize("shape", [(300, 3), (70, 1), (0, 4), (2, 1030)])
def test_column_sums_of_every_shape(shape: tuple[int, int]) -> None:
    body = "y[j] = 2.0_f64 * (sum[i: 0 <= i < a_0] a[i, j])   for j: 0 <= j < a_1"
    before = program({"a": ("f64", 2), "y": ("f64", 1)}, body)
    assert_same(before, {"a": RNG.random(shape), "y": np.zeros(shape[1])})
    assert_same(before, {"a": RNG.random(shape), "y": np.zeros(shape[1])}, fp="strict")


def test_a_row_of_a_matrix_is_not_summed_in_partial_matrices() -> None:
    body = "r[0, j] += a[i, j]   for i: 0 <= i < a_0, j: 0 <= j < a_1"
    before = program({"a": ("f64", 2), "r": ("f64", 2)}, body)
    after = assert_same(before, {"a": RNG.random((150, 3)), "r": RNG.random((4, 3))})
    assert not any(buffer.name.endswith("_parts") for buffer in after.buffers)


def test_scatter_into_partial_arrays_keeps_what_it_does_not_touch() -> None:
    before = program({"h": ("f64", 1), "b": ("i64", 1), "x": ("f64", 1)}, "h[b[i]] += x[i]   for i: 0 <= i < x_0")
    after = assert_same(before, {"h": np.zeros(4), "b": RNG.integers(0, 4, 2000), "x": RNG.random(2000)})
    assert loops(after, LoopKind.PARALLEL)
    bins = np.array([-0.0, 0.0, np.nan, -0.0])
    interp.run(after, {"h": bins, "b": np.ones(2000, np.int64), "x": np.ones(2000)})
    assert bins[1] == 2000.0 and np.isnan(bins[2]) and np.signbit(bins[[0, 3]]).all()


def test_short_loops_deep_inside_stay_serial() -> None:
    body = """
      for i in 0 .. a_0:
        for j in 0 .. i:
          a[i, j] = a[i, j] - (sum[k: 0 <= k < j] a[i, k] * a[j, k])
    """
    after = assert_same(program({"a": ("f64", 2)}, body), {"a": RNG.random((5, 5))})
    assert not loops(after, LoopKind.PARALLEL) and len(loops(after, LoopKind.VECTOR)) == 1


def test_fortran_order_turns_the_loops_around() -> None:
    body = "a[i, j] = a[i, j] + 1.0_f64   for i: 0 <= i < a_0, j: 0 <= j < a_1"
    before = program({"a": ("f64", 2)}, body)
    flipped = program({"a": ("f64", 2)}, body, layout="F")
    assert variables(lowered(before)) == ["i", "j"]
    assert variables(lowered(flipped)) == ["j", "i"]
    assert_same(flipped, {"a": np.asfortranarray(RNG.random((3, 4)))})


def test_blocks_do_not_depend_on_threads_and_strict_has_none() -> None:
    before = program({"a": ("f64", 1)}, "s = sum[i: 0 <= i < a_0] a[i]", "local s: f64", "scalar s")
    after = assert_same(before, {"a": RNG.random(10000)})
    assert len(loops(after, LoopKind.PARALLEL)) == 1
    strict = lowered(before, fp="strict")
    assert variables(strict) == ["i"]
    assert not loops(strict, LoopKind.VECTOR) and not loops(strict, LoopKind.PARALLEL)
    serial = lowered(before, parallel=False)
    assert not loops(serial, LoopKind.PARALLEL)
    assert show(serial).replace("for ", "") == show(after).replace("parallel ", "").replace("for ", "")


def test_every_parallel_loop_knows_its_work() -> None:
    before = program({"a": ("f64", 2), "b": ("f64", 2)}, MATMUL, "result c: f64[a_0, b_1]", "array c")
    assert all(loop.work is not None for loop in loops(lowered(before), LoopKind.PARALLEL))


def test_a_few_iterations_leave_parallelism_to_the_loop_inside() -> None:
    body = "a[i, j, k] = a[i, j, k] + 1.0_f64   for i: 0 <= i < 2, j: 0 <= j < a_1, k: 0 <= k < a_2"
    after = assert_same(program({"a": ("f64", 3)}, body), {"a": RNG.random((2, 9, 3))})
    assert variables(after, LoopKind.PARALLEL) == ["j"]


def test_written_parameters_are_taken_to_be_disjoint() -> None:
    body = "b[i] = a[i] + c[i]   for i: 0 <= i < a_0"
    after = lowered(program({"a": ("f64", 1), "b": ("f64", 1), "c": ("f64", 1)}, body))
    assert {frozenset(pair) for pair in after.disjoint} == {frozenset("ab"), frozenset("bc")}


def test_scalar_code_in_order_makes_no_assumption() -> None:
    body = """
      for i in 1 .. a_0:
        b[i] = a[i - 1]
    """
    assert lowered(program({"a": ("f64", 1), "b": ("f64", 1)}, body)).disjoint == ()


@pytest.mark.parametrize("size", [0, 1, 5])
def test_time_loop_over_stencils(size: int) -> None:
    body = """
      for t in 0 .. 3:
        b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0_f64   for i: 1 <= i < a_0 - 1
        a[k] = (b[k - 1] + b[k] + b[k + 1]) / 3.0_f64   for k: 1 <= k < a_0 - 1
    """
    before = program({"a": ("f64", 1), "b": ("f64", 1)}, body)
    assert_same(before, {"a": RNG.random(size), "b": RNG.random(size)})


def test_factorisation_updates_in_place() -> None:
    body = """
      for k in 0 .. a_0:
        a[i, k] = a[i, k] / a[k, k]   for i: k + 1 <= i < a_0
        a[p, q] = a[p, q] - a[p, k] * a[k, q]   for p: k + 1 <= p < a_0, q: k + 1 <= q < a_0
    """
    after = assert_same(program({"a": ("f64", 2)}, body), {"a": RNG.random((5, 5)) + 5 * np.eye(5)})
    assert "alloc" not in show(after)


@pytest.mark.parametrize("seed", range(40))
def test_random_stretches(seed: int) -> None:
    numbers = np.random.default_rng(seed)
    values = {"a": numbers.random((6, 6)), "b": numbers.random((6, 6)), "x": numbers.random(6)}
    context = PassContext()
    before = random_program(seed)
    after = version.run(store.run(lowered(match.run(before, context)), context), context)
    assert_same(before, values, after)
    assert_same(before, values, fp="strict")


ESCAPE = """
  for i in 0 .. a_0:
    for j in 0 .. a_1:
      z = a[i, j]
      n = 0
      while z < 10.0_f64 and n < 20:
        z = z * z + 0.5_f64
        n = n + 1
      b[i, j] = f64(n)
"""


def test_while_loops_run_in_parallel_over_independent_elements() -> None:
    before = program({"a": ("f64", 2), "b": ("f64", 2)}, ESCAPE, "local z: f64\nlocal n: int")
    after = assert_same(before, {"a": RNG.random((3, 4)), "b": np.zeros((3, 4))})
    assert variables(after, LoopKind.PARALLEL) == ["i"]
    assert after.disjoint == (("b", "a"),)


DEPENDENT = [
    ESCAPE.replace("      n = 0\n", ""),  # counts on from the last element
    ESCAPE.replace("b[i, j] = f64(n)", "b[0, j] = f64(n)"),
    ESCAPE.replace("b[i, j] = f64(n)", "b[i, j] = b[a_0 - 1 - i, j] + f64(n)"),
    ESCAPE.replace("      z = a[i, j]\n", "      if n > 3:\n        z = a[i, j]\n"),
    ESCAPE + "\nb[0, 0] = f64(n)",  # the last value is used
]


@pytest.mark.parametrize("body", DEPENDENT)
def test_loops_that_must_stay_in_order(body: str) -> None:
    before = program({"a": ("f64", 2), "b": ("f64", 2)}, "n = 5\nz = 0.5_f64\n" + body, "local z: f64\nlocal n: int")
    after = assert_same(before, {"a": RNG.random((3, 4)), "b": np.ones((3, 4))})
    assert "i" not in variables(after, LoopKind.PARALLEL)


GROWING = """
for i in 0 .. a_0:
  alloc t
  alloc u
  for j in 0 .. a_1:
    z = a[i, j]
    n = 0
    t[0] = z
    while (z < 4.0_f64) and (n < 20):
      z = z * z + 0.5_f64
      n = n + 1
      if n > 3:
        u[0] = t[0] + z
        rebind t, u = u, t
    b[i, j] = t[0]
"""
_LISTS = "local z: f64\nlocal n: int\nlocal t: f64[1]\nlocal u: f64[1]"


def test_what_an_iteration_makes_may_change_places_in_parallel() -> None:
    before = program({"a": ("f64", 2), "b": ("f64", 2)}, GROWING, _LISTS)
    after = assert_same(before, {"a": RNG.random((3, 4)), "b": np.zeros((3, 4))})
    assert variables(after, LoopKind.PARALLEL) == ["i"]


@pytest.mark.parametrize(
    "body",
    [
        "alloc t\n" + GROWING.replace("  alloc t\n", ""),
        "alloc t\nalloc u\nt[0] = 0.0_f64\n" + GROWING.replace("  alloc t\n  alloc u\n", ""),
        GROWING.replace("  alloc t\n", "  if i > 0:\n    alloc t\n"),
    ],
)
def test_memory_that_iterations_share_keeps_them_in_order(body: str) -> None:
    given = {"a": RNG.random((3, 4)), "b": np.zeros((3, 4))}
    before = program({"a": ("f64", 2), "b": ("f64", 2)}, "alloc t\n" * ("if i > 0" in body) + body, _LISTS)
    assert "i" not in variables(assert_same(before, given), LoopKind.PARALLEL)


def test_new_names_avoid_those_of_views_in_the_result() -> None:
    body = """
      alloc s
      s[i, j] = sum[k: 0 <= k < a_0] a[k, i, j]   for i: 0 <= i < a_1, j: 0 <= j < a_2
    """
    output = "view(s[i_2, j_2] for i_2: 0 <= i_2 < a_1, j_2: 0 <= j_2 < a_2)"
    before = program({"a": ("f64", 3)}, body, "result s: f64[a_1, a_2]", output)
    assert_same(before, {"a": RNG.random((2, 3, 4))})


@pytest.mark.parametrize("sizes", [(3, 2, 4), (30, 20, 40), (0, 3, 2), (3, 0, 2)])
def test_loops_beside_a_product_have_one_version(sizes: tuple[int, int, int]) -> None:
    """They serve sizes below the library's limit: no threads, and an operand is computed once for both ways."""
    body = MATMUL.replace("a[i, k]", "(2.0_f64 * a[i, k])")
    before = program({"a": ("f64", 2), "b": ("f64", 2)}, body, "result c: f64[a_0, b_1]", "array c")
    chosen = match.run(before, PassContext())
    branch = next(node for node in chosen.body if isinstance(node, If))
    assert is_short_otherwise(branch)
    assert "operand" in show(replace(chosen, body=branch.orelse)) and "2.0" not in show(chosen).partition(" if ")[2]
    n, k, m = sizes
    after = assert_same(chosen, {"a": RNG.random((n, k)), "b": RNG.random((k, m))})
    lowered_branch = next(node for node in after.body if isinstance(node, If))
    kinds = {node.kind for node in walk(lowered_branch.orelse) if isinstance(node, Loop)}
    assert kinds == {LoopKind.SEQUENTIAL, LoopKind.VECTOR}


def test_a_way_that_may_be_long_is_no_short_one() -> None:
    """An inner product is left to loops above a limit as well; a test of values says nothing about sizes."""
    vectors = program({"a": ("f64", 1), "b": ("f64", 1)}, "s = sum[k: 0 <= k < a_0] a[k] * b[k]", "local s: f64")
    branches = [node for node in match.run(vectors, PassContext()).body if isinstance(node, If)]
    assert not any(map(is_short_otherwise, branches))
    product = program({"a": ("f64", 2), "b": ("f64", 2)}, MATMUL, "result c: f64[a_0, b_1]", "array c")
    (branch,) = [node for node in match.run(product, PassContext()).body if isinstance(node, If)]
    assert is_short_otherwise(branch)
    assert not is_short_otherwise(replace(branch, then=branch.orelse))
    assert not is_short_otherwise(replace(branch, condition=Op("and", (branch.condition, TRUE), branch.condition.type)))


ROWS = """
  for b in 0 .. x_0:
    alloc t
    t[j] = x[j] * x[b]   for j: 0 <= j < b + 1
    for j in 0 .. b + 1:
      h[int(c[j])] = h[int(c[j])] + t[j]
"""


def test_loops_that_add_at_places_from_memory_into_partial_arrays() -> None:
    """Copies of a loop make arrays of sizes that depend on their own variables; nothing overlaps what is added to."""
    before = program({"h": ("f64", 1), "c": ("i64", 1), "x": ("f64", 1)}, ROWS, "local t: f64[b + 1]")
    given = {"h": RNG.random(4), "c": RNG.integers(0, 4, 150), "x": RNG.random(150)}
    after = assert_same(before, given)
    assert sum(buffer.name.startswith("h_parts") for buffer in after.buffers) >= 2
    assert {frozenset(pair) for pair in after.disjoint} == {frozenset("hc"), frozenset("hx")}


def test_what_a_loop_costs_is_told_without_its_variable() -> None:
    body = """
      for b in 0 .. x_0:
        x[j] = x[j] + 1.0_f64   for j: 0 <= j < b
    """
    loop = program({"x": ("f64", 1)}, body).body[0]
    assert isinstance(loop, Loop) and "b" not in free_vars(cost.work(loop))
