"""Threads and processes: results do not depend on their number, and calls survive Python threads, fork and pickling."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading

import numpy as np
import pytest

import weft


def total(a, b):
    return (a * b).sum()


def blur(a, b):
    b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])


def norms(a):
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i] += a[i, j] * a[i, j]
    return out.sum(), out


@pytest.fixture
def threads():
    before = weft.get_num_threads()
    yield weft.set_num_threads
    weft.set_num_threads(before)


@pytest.mark.parametrize("n", [1000, 100_003, 3_000_001])
def test_sum_does_not_depend_on_the_number_of_threads(n: int, threads) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.random(n), rng.random(n)
    compiled = weft.jit(fallback="error")(total)
    seen = set()
    for count in (1, 2, 3, 7):
        threads(count)
        seen.add(float(compiled(a, b)))
    assert len(seen) == 1
    np.testing.assert_allclose(seen.pop(), total(a, b), rtol=1e-12)


def test_loops_do_not_depend_on_the_number_of_threads(threads) -> None:
    a = np.random.default_rng(2).random((700, 900))
    one = weft.jit(fallback="error")(norms)
    other = weft.jit(fallback="error")(blur)
    results = []
    for count in (1, 2, 5):
        threads(count)
        b = np.zeros_like(a)
        other(a, b)
        s, rows = one(a)
        results.append((float(s), rows.tobytes(), b.tobytes()))
    assert len(set(results)) == 1
    expected = np.zeros_like(a)
    blur(a, expected)
    assert results[0][2] == expected.tobytes()


def test_calls_from_many_python_threads() -> None:
    compiled = weft.jit(fallback="error")(norms)
    arrays = [np.random.default_rng(seed).random((60, 70)) for seed in range(6)]
    wrong: list[int] = []

    def work(which: int) -> None:
        for _ in range(15):
            if not np.allclose(compiled(arrays[which])[1], (arrays[which] ** 2).sum(axis=1), rtol=1e-12):
                wrong.append(which)

    workers = [threading.Thread(target=work, args=(which,)) for which in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_can_call_too() -> None:
    a = np.random.default_rng(3).random((400, 1000))
    compiled = weft.jit(fallback="error")(norms)
    expected = compiled(a)[0]
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=lambda: queue.put(float(compiled(a)[0])))
    child.start()
    child.join(30)
    alive = child.is_alive()
    if alive:
        child.kill()
    assert not alive, "the child hangs"
    assert queue.get() == expected


def test_pickle() -> None:
    function = weft.jit(fp="strict")(total)
    again = pickle.loads(pickle.dumps(function))
    a = np.arange(10.0)
    assert again(a, a) == function(a, a) == 285.0
    assert again.options == function.options
