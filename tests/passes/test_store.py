"""Storage of whole programs: shared memory, allocations out of loops, and the decision tree on top."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.lowering import assert_same, lowered, program
from weft.ir.program import Alloc, Loop, LoopKind, Program
from weft.ir.verify import Stage, verify
from weft.ir.walk import walk
from weft.passes import PassContext, store, version

RNG = np.random.default_rng(2)


def stored(before: Program) -> Program:
    after = store.run(lowered(before), PassContext())
    verify(after, Stage.LOWERED)
    return after


def test_allocations_leave_sequential_loops() -> None:
    body = """
      for k in 0 .. a_0:
        a[i, j] = minimum(a[i, j], a[i, k] + a[k, j])   for i: 0 <= i < a_0, j: 0 <= j < a_0
    """
    before = program({"a": ("f64", 2)}, body)
    after = stored(before)
    assert [type(node) for node in after.body[:3]] == [Alloc, Alloc, Loop]
    assert_same(before, {"a": RNG.random((5, 5))}, after)


@pytest.mark.parametrize(
    ("loop", "domain"),
    [
        ("1 .. a_0", "0 <= i < k"),
        ("0 .. a_0 - 1", "k + 1 <= i < a_0"),
        ("a_0 - 1 .. 0 step -1", "0 <= i < k"),
        ("0 .. a_0 step 3", "0 <= i < minimum(k, 4)"),
    ],
)
def test_memory_of_varying_size_is_allocated_once(loop: str, domain: str) -> None:
    body = f"""
      for k in {loop}:
        a[i] = a[i] + 0.5_f64 * a[a_0 - 1 - i]   for i: {domain}
    """
    before = program({"a": ("f64", 1)}, body)
    after = stored(before)
    loops = [node for node in walk(after.body) if isinstance(node, Loop) and node.kind is not LoopKind.PARALLEL]
    assert not [node for outer in loops for node in walk(outer.body) if isinstance(node, Alloc)]
    for size in (0, 1, 2, 3, 9):
        assert_same(before, {"a": RNG.random(size)}, after)


def test_memory_whose_rows_vary_stays_in_its_loop() -> None:
    body = """
      for k in 1 .. a_0:
        a[i, j] = a[i, j] + a[a_0 - 1 - i, k - 1 - j]   for i: 0 <= i < a_0, j: 0 <= j < k
    """
    before = program({"a": ("f64", 2)}, body)
    after = stored(before)
    assert not any(isinstance(node, Alloc) for node in after.body)
    assert_same(before, {"a": RNG.random((5, 5))}, after)


def test_private_memory_stays_in_the_parallel_loop() -> None:
    body = """
      alloc e
      e[i, j] = exp(a[i, j])   for i: 0 <= i < a_0, j: 0 <= j < a_1
      a[p, q] = e[p, q] / (sum[l: 0 <= l < a_1] e[p, l])   for p: 0 <= p < a_0, q: 0 <= q < a_1
    """
    before = program({"a": ("f64", 2)}, body, "local e: f64[a_0, a_1]")
    after = stored(before)
    parallel = [node for node in walk(after.body) if isinstance(node, Loop) and node.kind is LoopKind.PARALLEL]
    assert len(parallel) == 1 and any(isinstance(node, Alloc) for node in parallel[0].body)
    assert_same(before, {"a": RNG.random((4, 3))}, after)


def test_dead_temporaries_lend_their_memory() -> None:
    body = """
      alloc t
      alloc u
      t[i] = a[a_0 - 1 - i] * 2.0_f64   for i: 0 <= i < a_0
      a[k] = t[a_0 - 1 - k] + t[k]   for k: 0 <= k < a_0
      if a_0 > 3:
        a[0] = 0.0_f64
      u[p] = a[a_0 - 1 - p] + 1.0_f64   for p: 0 <= p < a_0
      a[q] = u[a_0 - 1 - q] * u[q]   for q: 0 <= q < a_0
    """
    before = program({"a": ("f64", 1)}, body, "local t: f64[a_0]\nlocal u: f64[a_0]")
    after = stored(before)
    assert len([node for node in walk(after.body) if isinstance(node, Alloc)]) == 1
    assert_same(before, {"a": RNG.random(6)}, after)


def test_living_temporaries_do_not() -> None:
    body = """
      alloc t
      alloc u
      t[i] = a[a_0 - 1 - i] * 2.0_f64   for i: 0 <= i < a_0
      u[p] = a[a_0 - 1 - p] + t[p]   for p: 0 <= p < a_0
      a[q] = u[a_0 - 1 - q] * t[a_0 - 1 - q]   for q: 0 <= q < a_0
    """
    before = program({"a": ("f64", 1)}, body, "local t: f64[a_0]\nlocal u: f64[a_0]")
    assert_same(before, {"a": RNG.random(6)}, stored(before))


def test_version_completes_disjoint_pairs() -> None:
    before = program({"a": ("f64", 1), "b": ("f64", 1)}, "b[i] = a[i]   for i: 0 <= i < a_0")
    from dataclasses import replace

    bare = replace(lowered(before), disjoint=())
    assert version.run(bare, PassContext()).disjoint == (("b", "a"),)


def test_a_temporary_allocated_outside_a_loop_still_contracts() -> None:
    body = """
      alloc t
      for k in 0 .. 3:
        if k > 0:
          t[i] = a[i] * f64(k)   for i: 0 <= i < a_0
          a[j] = t[j] + 1.0_f64   for j: 0 <= j < a_0
    """
    before = program({"a": ("f64", 1)}, body, "local t: f64[a_0]")
    after = stored(before)
    assert after.buffer("t").rank == 0
    assert_same(before, {"a": RNG.random(6)}, after)


def test_a_temporary_carried_from_iteration_to_iteration_stays() -> None:
    body = """
      alloc t
      t[p] = 1.0_f64   for p: 0 <= p < a_0
      for k in 0 .. 3:
        a[i] = a[i] + t[i]   for i: 0 <= i < a_0
        t[j] = a[j] * 2.0_f64   for j: 0 <= j < a_0
    """
    before = program({"a": ("f64", 1)}, body, "local t: f64[a_0]")
    after = stored(before)
    assert after.buffer("t").rank == 1
    assert_same(before, {"a": RNG.random(6)}, after)


def test_a_temporary_set_in_part_stays() -> None:
    body = """
      alloc t
      for k in 0 .. 3:
        t[i] = f64(k)   for i: 0 <= i < a_0 - k
        if k == 0:
          t[a_0 - 1] = 5.0_f64
        a[j] = a[j] + t[j]   for j: 0 <= j < a_0
    """
    before = program({"a": ("f64", 1)}, body, "local t: f64[a_0]")
    assert_same(before, {"a": RNG.random(6)}, stored(before))


def test_zeros_that_are_overwritten_are_not_made() -> None:
    body = """
      alloc t zero
      t[i] = a[i] * 2.0_f64   for i: 0 <= i < a_0
    """
    parts = ("t[k] = a[k]   for k: 1 <= k < a_0", "t[k] = t[k] + a[k]   for k: 0 <= k < a_0")
    whole = program({"a": ("f64", 1)}, body, "result t: f64[a_0]", "array t")
    assert_same(whole, {"a": RNG.random(5)})
    assert not any(isinstance(node, Alloc) and node.zero for node in lowered(whole).body)
    for part in parts:
        before = program({"a": ("f64", 1)}, f"alloc t zero\n{part}", "result t: f64[a_0]", "array t")
        assert any(isinstance(node, Alloc) and node.zero for node in lowered(before).body)
        assert_same(before, {"a": RNG.random(5)})


def test_only_a_loop_around_all_accesses_contracts_an_axis() -> None:
    body = """
      alloc t
      t[i, i + j] = a[i, j] * 2.0_f64   for i: 0 <= i < a_0, j: 0 <= j < a_1
      a[p, q] = t[p, p + q] / (sum[l: 0 <= l < a_1] t[p, p + l])   for p: 0 <= p < a_0, q: 0 <= q < a_1
    """
    before = program({"a": ("f64", 2)}, body, "local t: f64[a_0, a_0 + a_1]")
    after = stored(before)
    assert after.buffer("t").rank == 1
    assert_same(before, {"a": RNG.random((4, 3))}, after)
