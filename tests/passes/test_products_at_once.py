"""Loops over matrix products: when they are computed at once, each on one thread, and that the result is the same."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import weft
from tests.passes.lowering import assert_same, loops, lowered, program
from weft.ir.program import LoopKind
from weft.passes.scheduling.products import why_not_at_once
from weft.runtime import blas, dispatch

RNG = np.random.default_rng(8)
PANELS = """
for i0 in 0 .. c_0 step 4:
  alloc t
  call gemm(a[i, k], b[k, j]): t[i - i0, j] = SUM   for i: i0 <= i < minimum(i0 + 4, c_0), j: 0 <= j < c_1
  c[i_2, j_2] = TARGET + t[i_2 - i0, j_2]   for i_2: ROWS, j_2: 0 <= j_2 < c_1
""".replace("SUM", "sum[k: 0 <= k < a_1] a[i, k] * b[k, j]")
ARRAYS = {"c": ("f64", 2), "a": ("f64", 2), "b": ("f64", 2)}
OWN = "i0 <= i_2 < minimum(i0 + 4, c_0)"


def panels(target: str = "c[i_2, j_2]", rows: str = OWN, buffers: str = "local t: f64[4, c_1]", body: str = PANELS):
    return program(ARRAYS, body.replace("TARGET", target).replace("ROWS", rows), buffers)


def arguments() -> dict[str, np.ndarray]:
    return {"c": RNG.random((10, 5)), "a": RNG.random((10, 3)), "b": RNG.random((3, 5))}


def test_panels_with_rows_of_their_own_run_at_once() -> None:
    after = assert_same(panels(), arguments())
    assert [loop.dim.var for loop in loops(after, LoopKind.PARALLEL)] == ["i0"]


@pytest.mark.parametrize(
    ("target", "rows", "reason"),
    [
        ("c[minimum(i_2 + 1, c_0 - 1), j_2]", OWN, "share elements"),  # the first row of the next panel
        ("c[0, j_2]", OWN, "share elements"),
        ("c[i_2, j_2]", "i0 <= i_2 < minimum(i0 + 5, c_0)", "share elements"),
    ],
)
def test_panels_that_meet_stay_in_order(target: str, rows: str, reason: str) -> None:
    before = panels(target, rows, "local t: f64[5, c_1]", PANELS.replace("i0 + 4", "i0 + 5"))
    loop = next(node for node in before.body if hasattr(node, "dim"))
    assert reason in (why_not_at_once(loop, before, ()) or "")
    assert not [one for one in loops(lowered(before), LoopKind.PARALLEL) if one.dim.var == "i0"]


def test_memory_that_is_used_afterwards_stays_in_order() -> None:
    before = panels()
    loop = next(node for node in before.body if hasattr(node, "dim"))
    assert why_not_at_once(loop, before, ()) is None
    assert "used after the loop" in (why_not_at_once(loop, before, {"t"}) or "")


def test_other_routines_and_more_work_than_the_products_stay_in_order() -> None:
    vectors = """
for i0 in 0 .. c_0:
  call gemv(a[i0, k], b[k, j]): c[i0, j] = sum[k: 0 <= k < a_1] a[i0, k] * b[k, j]   for j: 0 <= j < c_1
"""
    sums = PANELS + "  c[i0, 0] = sum[k_2: 0 <= k_2 < a_1] a[i0, k_2]\n"
    for body, reason in ((vectors, "waits for memory"), (sums, "as much work")):
        before = panels(body=body)
        loop = next(node for node in before.body if hasattr(node, "dim"))
        assert reason in (why_not_at_once(loop, before, ()) or "")


# --- native ----------------------------------------------------------------------------------------------------------


def lower_triangle(c, a, b):
    for i in range(c.shape[0]):
        for j in range(i + 1):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[j, k]


def test_results_do_not_depend_on_threads_nor_disturb_numpy() -> None:
    """Enough panels to be shared out; other threads of the process multiply matrices meanwhile."""
    compiled = weft.jit(fallback="error")(lower_triangle)
    n, m = 96 * 9, 40
    a, b, start = RNG.random((n, m)), RNG.random((n, m)), RNG.random((n, n))
    expected = start + np.tril(a @ b.T)
    left, right = RNG.random((300, 300)), RNG.random((300, 300))
    product = left @ right
    wrong: list[int] = []

    def multiply() -> None:
        wrong.extend(i for i in range(30) if not np.allclose(left @ right, product, rtol=1e-12))

    results = []
    other = threading.Thread(target=multiply)
    before = weft.get_num_threads()
    other.start()
    try:
        for threads in (1, 2, 3):
            weft.set_num_threads(threads)
            c = start.copy()
            compiled(c, a, b)
            results.append(c)
    finally:
        weft.set_num_threads(before)
        other.join()
    np.testing.assert_allclose(results[0], expected, rtol=1e-13)
    assert all(np.array_equal(results[0], other) for other in results[1:])
    assert not wrong


def test_a_copy_of_the_library_has_threads_of_its_own() -> None:
    core = dispatch.load_core()
    table = None if core is None else core.blas
    if table is None or "openblas" not in table.path:
        pytest.skip("no OpenBLAS is loaded")
    alone = blas.alone(table)
    assert alone is not None
    assert alone.ilp64 == table.ilp64
    assert all((one == 0) == (other == 0) for one, other in zip(alone.addresses, table.addresses))
    assert alone.addresses != table.addresses


def test_without_a_file_to_copy_there_is_no_second_library() -> None:
    assert blas.alone(blas.BlasTable("/nowhere/libopenblas.so", True, (0,) * len(blas.FUNCTIONS))) is None
