"""Parts: passes that know no tasks and no calls work on what lies between them, and change nothing that others see."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft.ir import text, verify
from weft.ir.program import HAND_BACK, Call, Check, Loop, LoopKind, Program, Stmt
from weft.ir.verify import Stage
from weft.ir.walk import expr_buffers, walk
from weft.passes import Knows, PassContext, order, parts, raise_loops, running
from weft.pipeline import stages

RNG = np.random.default_rng(5)


def triangle(a, c, n):
    sums = np.zeros(2)
    with weft.finish():
        with weft.task():
            sums[0] = a.sum()
        for i in range(n):
            for j in range(i + 1):
                s = 0.0
                for k in range(n):
                    s += a[i, k] * a[j, k]
                c[i, j] = s
    sums[1] = c[n - 1, 0]
    return sums


def halves(a, n):
    """Two tasks that write parts of one array, and a third that reads what they wrote."""
    b = np.zeros(n)
    half = n // 2
    with weft.finish():
        with weft.task():
            for i in range(half):
                t = a[i] + 1.0
                b[i] = t * t
        with weft.task():
            for i in range(half, n):
                t = a[i] - 1.0
                b[i] = t * t
    c = np.empty(n)
    for i in range(n):
        t = b[i] * 2.0
        c[i] = t + 1.0
    return c


def marked(a, n):
    """A write under a condition, beside a task that writes what is not written here."""
    b = np.zeros(n)
    with weft.finish():
        with weft.task():
            for i in range(n):
                if a[i] > 0.5:
                    b[i] = 1.0
        with weft.task():
            for i in range(n):
                if a[i] <= 0.5:
                    b[i] = 2.0
    return b


def around(a, lo, hi):
    """A recursive function with loops around its calls."""
    if hi - lo < 8:
        s = 0.0
        for i in range(lo, hi):
            s += a[i] * 2.0
        return s
    mid = (lo + hi) // 2
    t = np.empty(hi - lo)
    for i in range(hi - lo):
        t[i] = a[lo + i] * 3.0
    return around(a, lo, mid) + around(a, mid, hi) + t.sum()


def last(found: list[tuple[str, Program]], name: str) -> Program:
    return dict(found)[name]


CASES = {
    "triangle": (triangle, lambda n: (RNG.random((n, n)), np.zeros((n, n)), n)),
    "halves": (halves, lambda n: (RNG.random(n), n)),
    "marked": (marked, lambda n: (RNG.random(n), n)),
    "around": (around, lambda n: (RNG.random(n), 0, n)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", [1, 9, 40])
def test_same_as_python(name, size):
    function, make = CASES[name]
    arguments = make(size)
    copies = tuple(each.copy() if isinstance(each, np.ndarray) else each for each in arguments)
    expected = function(*copies)
    np.testing.assert_allclose(weft.jit(function, fallback="error", cache=False)(*arguments), expected, rtol=1e-12)
    for one, other in zip(arguments, copies):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_products_beside_a_task_are_found() -> None:
    found = last(stages(triangle, CASES["triangle"][1](40)), "version")
    assert any(isinstance(node, Call) and node.routine in ("gemm", "syrk") for node in walk(found.body))
    assert any(isinstance(node, Loop) and node.kind is LoopKind.TASK for node in walk(found.body))


def test_loops_in_tasks_become_statements_and_their_variables_go() -> None:
    found = last(stages(halves, CASES["halves"][1](40)), "tidy")
    regions = {LoopKind.TASK, LoopKind.FINISH}
    assert {node.kind for node in walk(found.body) if isinstance(node, Loop)} == regions
    assert not any(isinstance(node, Stmt) and node.buffer.startswith("t") for node in walk(found.body))


def test_writes_under_a_condition_stay_so_beside_tasks() -> None:
    """A choice between the new and the old value would write elements of the other task."""
    found = last(stages(marked, CASES["marked"][1](40)), "version")
    [array] = [buffer.name for buffer in found.buffers if buffer.role.value == "result"]
    writes = [node for node in walk(found.body) if isinstance(node, Stmt) and node.buffer == array]
    assert len(writes) >= 3 and not any(array in expr_buffers(node.value) for node in writes), text.show(found)


def test_passes_that_may_write_more_do_not_see_parts_beside_tasks() -> None:
    free = {each.name for each in (*order.PASSES, *order.LOWERING) if Knows.BESIDE not in each.knows}
    assert {"wavefront", "trapezoid", "lanes", "paired"} <= free


TASKS = """
program f(a, n):
  symbol n = argument n
  param a: f64[n] C
  local b: f64[n]
  local s: f64
  local t: f64
  output #0 = scalar s
  alloc b
  finish finish in 0 .. 1:
    task task in 0 .. 1:
      for i in 0 .. n:
        t = a[i] * 2.0
        b[i] = t + 1.0
  s = 0.0
  for j in 0 .. n:
    s = s + b[j]
  return #0
"""


def test_the_program_of_a_part_is_legal_and_its_names_are_new() -> None:
    program = text.parse(TASKS)
    seen: list[Program] = []

    def look(part: Program, context: PassContext) -> Program:
        verify.verify(part, Stage.OPTIMISED)
        seen.append(part)
        return raise_loops.run(part, context)

    probe = weft.passes.declared("probe", knows=Knows.BESIDE)(look)
    after = dict(running.stages((probe,), program, PassContext()))["probe"]
    verify.verify(after, Stage.OPTIMISED)
    assert len(seen) == 2
    roles = {buffer.name: buffer.role.value for buffer in seen[0].buffers}
    assert roles["b"] == "param" and roles["t"] == "local"
    assert {buffer.name for buffer in seen[1].buffers if buffer.role.value == "param"} == {"a", "b", "s"}


def test_what_only_the_caller_could_answer_is_not_taken_over() -> None:
    program = text.parse(TASKS)
    test = text.parse(TASKS.replace("  s = 0.0\n", '  check (a[0] < 1.0 as bool) else GuardFailed ""\n  s = 0.0\n'))
    [check] = [node for node in test.body if isinstance(node, Check)]
    assert check.exception == HAND_BACK

    def guarded(part: Program, context: PassContext) -> Program:
        return weft.passes.replace(part, guards=(*part.guards, check))

    def repeated(part: Program, context: PassContext) -> Program:
        return weft.passes.replace(part, body=(check, *part.body))

    for change in (guarded, repeated):
        each = weft.passes.declared("probe", knows=Knows.BESIDE)(change)
        assert parts.applied(each, program, PassContext(), False, False) == program
