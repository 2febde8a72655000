"""Library nodes in every pass: operands stay arrays, outputs live and die together, the status is a value."""

from __future__ import annotations

import numpy as np
import pytest

from weft import pipeline
from weft.analysis.effects import accesses
from weft.ir import interp, text
from weft.ir.program import Library, Loop, LoopKind, Stmt
from weft.ir.walk import buffers_read, buffers_written, walk
from weft.passes import forward, hoist, simplify, store
from weft.passes.rename import renamed
from weft.passes.scheduling.independent import first_access, why_not_independent
from weft.passes.simplifying import deadcode

HEAD = """
program f(a, b, k):
  size n = a.shape[0]
  size m = b.shape[0]
  symbol k = argument k
  param a: f64[n, n] C
  param b: f64[m, n] C
  local ok: bool
  local s: f64
  local t: f64[n, n]
  local u: f64[n]
  local v: f64[n]
  local w: f64[n]
  local e: f64[n, n]
  result r: f64[n]
  output #0 = array r

"""
SET = "  t[i, j] = a[j, i] + 9.0_f64   for i: 0 <= i < n, j: 0 <= j < n\n"
MATRIX = "{t[p, q] for p: 0 <= p < n, q: 0 <= q < n}"
SOLVE = f"library solve1 {MATRIX} {{b[0, c] for c: 0 <= c < n}} gives {{r[d] for d: 0 <= d < n}} status ok"


def calls() -> list[dict[str, object]]:
    rng = np.random.default_rng(2)
    return [{"a": rng.random((n, n)) + 3 * np.eye(n), "b": rng.random((2, n)), "k": k} for n, k in ((3, 0), (1, 2))]


def test_a_temporary_that_a_routine_takes_stays(preserved) -> None:
    program = HEAD + f"  alloc t\n{SET}  alloc r\n  {SOLVE}\n  check ok else LinAlgError\n  return #0\n"
    shown = text.show(preserved(program, forward.run, calls=calls()))
    assert "t[i, j] = a[j, i]" in shown


def test_a_temporary_that_a_routine_in_a_branch_takes_stays(preserved) -> None:
    inside = f"    {SOLVE}\n"
    program = (
        HEAD
        + f"  alloc t\n{SET}  alloc r\n  if k == 0:\n{inside}  else:\n"
        + "    r[x] = 0.0_f64   for x: 0 <= x < n\n  return #0\n"
    )
    shown = text.show(preserved(program, forward.run, calls=calls()))
    assert "t[i, j] = a[j, i]" in shown


VECTORS = "{e[h, l] for h: 0 <= h < n, l: 0 <= l < n}"
EIGEN = f"library eigh_lo {MATRIX} gives {{u[g] for g: 0 <= g < n}} {VECTORS} status ok"


def test_outputs_are_needed_together(preserved) -> None:
    """Of eigenvalues and eigenvectors one is used: memory for both must stay."""
    tail = "  alloc r\n  r[x] = u[x]   for x: 0 <= x < n\n  return #0\n"
    program = HEAD + f"  alloc t\n{SET}  alloc u\n  alloc e\n  {EIGEN}\n" + tail
    after = preserved(program, lambda p, _: deadcode.remove(p), calls=calls())
    assert {"t", "u", "e"} <= {buffer.name for buffer in after.buffers}


def test_a_routine_whose_outputs_nobody_reads_goes(preserved) -> None:
    tail = "  alloc r\n  r[x] = 1.0_f64   for x: 0 <= x < n\n  return #0\n"
    program = HEAD + f"  alloc t\n{SET}  alloc u\n  alloc e\n  {EIGEN}\n" + tail
    after = preserved(program, lambda p, _: deadcode.remove(p), calls=calls())
    assert not any(isinstance(node, Library) for node in walk(after.body))
    assert not {"t", "u", "e"} & {buffer.name for buffer in after.buffers}


def test_a_checked_routine_stays(preserved) -> None:
    tail = '  check ok else LinAlgError "no"\n  alloc r\n  r[x] = 1.0_f64   for x: 0 <= x < n\n  return #0\n'
    program = HEAD + f"  alloc t\n{SET}  alloc u\n  alloc e\n  {EIGEN}\n" + tail
    after = preserved(program, simplify.run, calls=calls())
    assert any(isinstance(node, Library) for node in walk(after.body))


def test_memory_is_shared_only_when_a_routine_is_done_with_it(preserved) -> None:
    def solved(number: int, source: str, target: str) -> str:
        p, q, c, d = (f"{name}{number}" for name in "pqcd")
        matrix = f"{{a[{p}, {q}] for {p}: 0 <= {p} < n, {q}: 0 <= {q} < n}}"
        side = f"{{{source.format(c)} for {c}: 0 <= {c} < n}}"
        return f"library solve1 {matrix} {side} gives {{{target}[{d}] for {d}: 0 <= {d} < n}}"

    one, two, three = solved(1, "b[0, {}]", "u"), solved(2, "u[{}]", "v"), solved(3, "v[{}]", "w")
    program = (
        HEAD
        + f"  alloc u\n  {one}\n  alloc v\n  {two}\n  alloc w\n  {three}\n  alloc r\n"
        + "  r[x] = w[x]   for x: 0 <= x < n\n  return #0\n"
    )
    after = preserved(program, store.run, calls=calls())
    names = {buffer.name for buffer in after.buffers}
    assert {"u", "v"} <= names and "w" not in names


def test_an_unchanging_routine_leaves_the_loop(preserved) -> None:
    """It cannot raise; the check of its status stays where it was."""
    added = "    r[y] = r[y] + u[y]   for y: 0 <= y < n\n"
    loop = f"  for z in 0 .. k:\n    {SOLVE.replace('r[d]', 'u[d]')}\n    check ok else LinAlgError\n{added}"
    program = HEAD + f"  alloc r\n  r[x] = 0.0_f64   for x: 0 <= x < n\n  alloc t\n{SET}  alloc u\n{loop}  return #0\n"
    after = preserved(program, hoist.run, calls=calls())
    assert any(isinstance(node, Library) for node in after.body)


def test_a_routine_on_changing_data_stays_in_the_loop(preserved) -> None:
    added = "    r[y] = r[y] + u[y]   for y: 0 <= y < n\n"
    loop = f"  for z in 0 .. k:\n    t[z, z] = 7.0_f64\n    {SOLVE.replace('r[d]', 'u[d]')}\n{added}"
    program = HEAD + f"  alloc r\n  r[x] = 0.0_f64   for x: 0 <= x < n\n  alloc t\n{SET}  alloc u\n{loop}  return #0\n"
    sizes = [dict(call, k=min(1, int(call["k"]))) for call in calls()]  # type: ignore[call-overload]
    after = preserved(program, hoist.run, calls=sizes)
    assert not any(isinstance(node, Library) for node in after.body)


def test_accesses_and_copies() -> None:
    program = text.parse(HEAD + f"  alloc t\n{SET}  alloc r\n  {SOLVE}\n  return #0\n")
    (node,) = [node for node in walk(program.body) if isinstance(node, Library)]
    found = accesses(node)
    assert {access.buffer for access in found.reads} == buffers_read(node) == {"t", "b"}
    assert {access.buffer for access in found.writes} == buffers_written(node) == {"r", "ok"}
    (copy,) = renamed((node,), {"n", "p", "q", "c", "d"})
    assert copy != node and "p_2" in text.show_node(copy)


@pytest.mark.parametrize("order", ["forward", "reversed"])
def test_the_whole_pipeline_keeps_the_meaning(order: str) -> None:
    def f(a, b):  # type: ignore[no-untyped-def]
        x = np.linalg.solve(a, b.T)
        for k in range(3):
            x += np.linalg.inv(a + k) @ x
            q, r = np.linalg.qr(x)
        return x, q * 2, np.fft.rfft(b), np.linalg.det(a)

    rng = np.random.default_rng(4)
    a, b = rng.random((3, 3)) + 3 * np.eye(3), rng.random((2, 3))
    expected = f(a, b)
    for name, program in pipeline.stages(f, (a, b)):
        found = interp.run(program, {"a": a, "b": b}, order=order)
        for one, other in zip(found, expected):  # type: ignore[call-overload]
            np.testing.assert_allclose(one, other, rtol=1e-12, err_msg=name)


def test_statements_after_a_routine_are_still_fused() -> None:
    def f(a):  # type: ignore[no-untyped-def]
        b = np.fft.fft(a)
        c = b * 2
        return c + 1

    (_, final) = pipeline.stages(f, (np.ones(8),))[-1]
    assert sum(isinstance(node, Stmt) and bool(node.index) for node in walk(final.body)) == 2


@pytest.mark.parametrize("order", ["forward", "reversed", "shuffled"])
@pytest.mark.parametrize("shape", [(1, 4), (40, 3), (33, 2), (3, 5, 2), (0, 4)])
def test_batches_are_shared_out(shape: tuple[int, ...], order: str) -> None:
    def f(a):  # type: ignore[no-untyped-def]
        return np.fft.fft(a)

    a = np.random.default_rng(1).random(shape)
    (_, final) = pipeline.stages(f, (a,))[-1]
    pieces = [node for node in walk(final.body) if isinstance(node, Loop) and isinstance(node.body[-1], Library)]
    assert pieces and all(node.kind is LoopKind.PARALLEL for node in pieces)
    np.testing.assert_array_equal(interp.run(final, {"a": a}, order=order), f(a))


def test_a_loop_of_transforms_runs_in_parallel() -> None:
    def f(a, h):  # type: ignore[no-untyped-def]
        out = np.empty(a.shape, dtype=np.complex128)
        for i in range(a.shape[0]):
            out[i] = np.fft.ifft(np.fft.fft(a[i]) * h)
        return out

    rng = np.random.default_rng(1)
    a, h = rng.random((5, 6)), rng.random(6)
    (_, final) = pipeline.stages(f, (a, h))[-1]
    loops = [node for node in final.body if isinstance(node, Loop)]
    assert loops[-1].kind is LoopKind.PARALLEL
    for order in ("forward", "reversed", "shuffled"):
        found = interp.run(final, {"a": a, "h": h}, order=order)
        np.testing.assert_allclose(found, f(a, h), rtol=1e-13)  # type: ignore[arg-type]


def test_iterations_with_routines_that_have_threads_are_independent_in_other_processes() -> None:
    solve = SOLVE.replace("gives {r[", "gives {u[")
    loop = f"  for q in 0 .. k:\n    alloc t\n    alloc u\n  {SET}    {solve}\n    check ok else LinAlgError\n"
    program = text.parse(HEAD + "  alloc r\n" + loop + "  return #0\n")
    inner = next(node for node in program.body if isinstance(node, Loop))
    assert "order matters" in (why_not_independent(inner, program, set()) or "")
    assert why_not_independent(inner, program, set(), processes=True) is None
    # What a routine says of its success is set anew in each iteration.
    assert first_access(inner.body, "ok") == "written"
