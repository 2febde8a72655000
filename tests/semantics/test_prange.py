"""Loops declared parallel: `weft.prange` and `weft.map` mean what they mean in CPython, run in parallel when compiled,
and are errors where iterations certainly need each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import prange
from weft.ir.program import Loop, LoopKind
from weft.ir.walk import walk

RNG = np.random.default_rng(5)
N = 20_000


def _is_parallel(function: Any) -> bool:
    program = function.program().program
    return any(isinstance(node, Loop) and node.kind is LoopKind.PARALLEL for node in walk(program.body))


def agree(function: Callable[..., Any], make: Callable[[], tuple[Any, ...]], parallel: bool = True) -> Any:
    """The compiled function does what Python does, on one thread and on several, and has a parallel loop."""
    compiled = weft.jit(fallback="error")(function)
    wanted_arguments = make()
    wanted = function(*wanted_arguments)
    before = weft.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 3):
            weft.set_num_threads(threads)
            arguments = make()
            results.append((compiled(*arguments), arguments))
    finally:
        weft.set_num_threads(before)
    for result, arguments in results:
        for left, right in zip(arguments, wanted_arguments):
            np.testing.assert_allclose(left, right, rtol=1e-12)
        if wanted is None:
            assert result is None
        else:
            np.testing.assert_allclose(result, wanted, rtol=1e-11)
            # The number of threads never changes a bit.
            assert np.array_equal(result, results[0][0], equal_nan=True)
    assert _is_parallel(compiled) is parallel
    return compiled


# --- meaning in CPython ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bounds", [(5,), (0,), (2, 7), (7, 2), (1, 20, 3), (20, 1, -4), (-3, 3)])
def test_prange_is_range(bounds: tuple[int, ...]) -> None:
    assert list(prange(*bounds)) == list(range(*bounds))


def test_map_is_nested_ranges() -> None:
    assert list(weft.map[2:5]) == [2, 3, 4]
    assert list(weft.map[0:2, 1:4]) == list(itertools.product(range(2), range(1, 4)))
    assert list(weft.map[0:7:3, :2, 3:0:-1]) == list(itertools.product(range(0, 7, 3), range(2), range(3, 0, -1)))


@pytest.mark.parametrize("key", [3, (slice(0, 2), 4), slice(1, None)])
def test_map_of_anything_else(key: Any) -> None:
    with pytest.raises(TypeError):
        list(weft.map[key])


# --- compiled --------------------------------------------------------------------------------------------------------


def elementwise(a, b):
    for i in weft.prange(a.shape[0]):
        t = a[i] * 2.0
        b[i] = t + 1.0


def strided(a, b):
    for i in prange(1, a.shape[0], 3):
        b[i] = a[i] + i


def downwards(a, b):
    for i in prange(a.shape[0] - 1, -1, -1):
        b[i] = a[i] + i


@pytest.mark.parametrize("function", [elementwise, strided, downwards])
@pytest.mark.parametrize("layout", ["C", "reversed", "sliced"])
def test_one_loop(function: Callable[..., Any], layout: str) -> None:
    values = RNG.random(2 * N)
    view = {"C": values[:N].copy(), "reversed": values[:N][::-1], "sliced": values[::2]}[layout]
    agree(function, lambda: (view, np.zeros(N)))


def plane(a, b):
    n, m = a.shape
    for i, j in weft.map[0:n, 0:m]:
        b[i, j] = a[i, j] * 2.0 + i - j


def interior(a, b):
    n, m = a.shape
    for i, j in weft.map[1 : n - 1, 1 : m - 1]:
        b[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]


@pytest.mark.parametrize("function", [plane, interior])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_map_over_a_plane(function: Callable[..., Any], order: str) -> None:
    a = np.asarray(RNG.random((150, 200)), order=order)
    agree(function, lambda: (a, np.zeros((150, 200))))


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (1, 1)])
def test_a_map_over_little(shape: tuple[int, int]) -> None:
    a = RNG.random(shape)
    agree(plane, lambda: (a, np.zeros(shape)), parallel=0 in shape)


def test_variables_after_a_map() -> None:
    def last(n, m):
        k = 0
        for i, j in weft.map[0:n, 0:m]:
            k += i * j
        return k, i, j

    compiled = weft.jit(fallback="error")(last)
    assert compiled(4, 6) == last(4, 6)
    for empty in ((0, 3), (3, 0)):
        with pytest.raises(UnboundLocalError):
            compiled(*empty)


def scatter(out, where, a):
    for i in weft.prange(a.shape[0]):
        out[where[i]] = a[i] * 2.0


def test_indirect_stores_are_believed() -> None:
    where, a = RNG.permutation(N), RNG.random(N)
    agree(scatter, lambda: (np.zeros(N), where, a))
    without = weft.jit(fallback="error")(scatter)
    for bad in (N, -N - 1):
        wrong = where.copy()
        wrong[N // 2] = bad
        left, right = np.zeros(N), np.zeros(N)
        with pytest.raises(IndexError):
            scatter(left, wrong, a)
        with pytest.raises(IndexError):
            without(right, wrong, a)
        assert np.array_equal(left, right)


def histogram(counts, where):
    for i in weft.prange(where.shape[0]):
        counts[where[i]] += 1


def test_accumulating_into_shared_elements() -> None:
    where = RNG.integers(0, 10, N)
    agree(histogram, lambda: (np.zeros(10, np.int64), where))
    agree(histogram, lambda: (np.zeros(10), where))


def several_sums(a):
    total, product, largest = 0.0, 1.0, a[0]
    for i in weft.prange(a.shape[0]):
        total += a[i]
        product *= 1.0 + a[i] / 1e5
        if a[i] > largest:
            largest = a[i]
    return total, product, largest


def test_reductions() -> None:
    a = RNG.random(N)
    agree(several_sums, lambda: (a,))


def steps_to_one(a, out):
    total = 0
    longest = 0
    for i in weft.prange(a.shape[0]):
        x = a[i]
        k = 0
        while x != 1:
            if x % 2 == 0:
                x = x // 2
            else:
                x = 3 * x + 1
            k += 1
        out[i] = k
        total += k
        longest = max(longest, k)
    return total, longest


def test_a_loop_that_stays_a_loop() -> None:
    agree(steps_to_one, lambda: (np.arange(1, 3000), np.zeros(2999, np.int64)))


def private_array(a, out):
    for i in weft.prange(a.shape[0]):
        row = np.zeros(4)
        for k in range(4):
            row[k] = a[i] * k
        out[i] = row.sum()


def chosen(a, out):
    for i in weft.prange(a.shape[0]):
        if a[i] > 0.5:
            t = a[i] * 2.0
        else:
            t = a[i] - 1.0
        out[i] = t


def inner_loop(a, out):
    n, m = a.shape
    for i in weft.prange(n):
        s = 0.0
        for j in range(m):
            s += a[i, j]
        out[i] = s


def test_private_variables() -> None:
    a = RNG.random(N)
    agree(private_array, lambda: (a, np.zeros(N)))
    agree(chosen, lambda: (a, np.zeros(N)))
    agree(inner_loop, lambda: (PLANE, np.zeros(200)))


PLANE = RNG.random((200, 100))


def conditional_store(a, out):
    for i in weft.prange(a.shape[0]):
        if i == 3:
            out[0] = a[i]
        if i > 0:
            out[i] = a[i]


def last_seen(a):
    last = -1
    for i in weft.prange(a.shape[0]):
        if a[i] > 0.5:
            last = i
    return last


def test_what_a_branch_does_is_no_proof() -> None:
    a = RNG.random(N)
    agree(conditional_store, lambda: (a, np.zeros(N)))
    compiled = weft.jit(fallback="error")(last_seen)
    assert compiled(a) == last_seen(a)


def test_strict_floating_point_keeps_sums_in_order() -> None:
    def total(a):
        s = 0.0
        for i in weft.prange(a.shape[0]):
            s += a[i]
        return s

    a = RNG.random(N) * 10.0 ** RNG.integers(-10, 10, N)
    assert weft.jit(fallback="error", fp="strict")(total)(a) == total(a)


@pytest.mark.parametrize("kind", [np.float32, np.int32, np.complex128, np.bool_])
def test_other_types(kind: type) -> None:
    def copied(a, b):
        for i in weft.prange(a.shape[0]):
            b[i] = a[i]

    a = RNG.integers(0, 2, N).astype(kind)
    agree(copied, lambda: (a, np.zeros(N, kind)))


def test_without_a_compiler() -> None:
    for function, make in (
        (elementwise, lambda: (np.arange(9.0), np.zeros(9))),
        (plane, lambda: (np.ones((3, 4)), np.zeros((3, 4)))),
        (histogram, lambda: (np.zeros(3), np.array([0, 1, 1, 2]))),
    ):
        wanted, found = make(), make()
        function(*wanted)
        weft.jit(fallback="error", backend="python")(function)(*found)
        for left, right in zip(wanted, found):
            assert np.array_equal(left, right)


# --- races that are certain ------------------------------------------------------------------------------------------


def earlier_element(a):
    for i in weft.prange(1, a.shape[0]):
        a[i] = a[i - 1] + 1.0


def later_element(a):
    for i in weft.prange(a.shape[0] - 1):
        a[i] = a[i + 1] + 1.0


def one_element(a):
    for i in weft.prange(a.shape[0]):
        a[0] = i


def whole_row(a):
    b = np.zeros(a.shape[0])
    for i in weft.prange(a.shape[0]):
        for j in range(a.shape[0]):
            b[j] = a[i] + j
    return b


def smoothed(a):
    s = 0.0
    for i in weft.prange(a.shape[0]):
        s = s * 0.5 + a[i]
    return s


def previous(a):
    b = np.zeros(a.shape[0])
    before = 0.0
    for i in weft.prange(a.shape[0]):
        b[i] = before
        before = a[i]
    return b


def sum_seen(a):
    b = np.zeros(a.shape[0])
    s = 0.0
    for i in weft.prange(a.shape[0]):
        s += a[i]
        b[i] = s
    return b


def entries(a):
    seen = {}
    for i in weft.prange(a.shape[0]):
        seen[i % 5] = 1.0
    return seen[0]


RACES = [
    (entries, "seen", "seen[i % 5]"),
    (earlier_element, "a", "a[i] = a[i - 1]"),
    (later_element, "a", "a[i] = a[i + 1]"),
    (one_element, "a", "a[0] = i"),
    (whole_row, "b", "b[j] = a[i] + j"),
    (smoothed, "s", "s = s * 0.5"),
    (previous, "before", "before = a[i]"),
    (sum_seen, "s", "s += a[i]"),
]


@pytest.mark.parametrize(("function", "variable", "line"), RACES, ids=lambda v: getattr(v, "__name__", ""))
@pytest.mark.parametrize("fallback", ["error", "silent"])
def test_a_race_is_an_error(function: Callable[..., Any], variable: str, line: str, fallback: str) -> None:
    compiled = weft.jit(fallback=fallback)(function)
    for _ in range(2):
        with pytest.raises(weft.ParallelError) as caught:
            compiled(np.ones(50))
    text = str(caught.value)
    assert f"`{variable}" in text and line in text and "test_prange.py:" in text and "try:" in text
    assert len(text.splitlines()) <= 15
    function(np.ones(50))  # Python runs it, one iteration after the other


@pytest.mark.parametrize("word", ["break", "return"])
def test_leaving_a_parallel_loop(word: str) -> None:
    def stops(a):
        for i in weft.prange(a.shape[0]):
            if a[i] > 3.0:
                break
            a[i] = 1.0

    def returns(a):
        for i in weft.prange(a.shape[0]):
            if a[i] > 3.0:
                return i
        return -1

    with pytest.raises(weft.ParallelError, match=word):
        weft.jit(stops if word == "break" else returns)(np.ones(4))


def test_a_race_of_rows_is_told_by_its_rows() -> None:
    def rows(a):
        for i in weft.prange(1, a.shape[0]):
            a[i, :] = a[i - 1, :] + 1

    with pytest.raises(weft.ParallelError, match=r"`a\[i, :\]` is written .* as `a\[i - 1, :\]`"):
        weft.jit(rows)(np.ones((5, 4)))


def test_what_is_no_range() -> None:
    for wrong in (3, (slice(0, 3), 2), slice(None)):
        with pytest.raises(TypeError, match=r"weft.map takes slices with an end"):
            weft.map[wrong]


def test_steps_that_never_meet_are_no_race() -> None:
    def pairs(a):
        for i in weft.prange(0, a.shape[0] - 1, 2):
            a[i] = a[i + 1]

    left, right = np.arange(40.0), np.arange(40.0)
    pairs(left)
    weft.jit(fallback="error")(pairs)(right)
    assert np.array_equal(left, right)


def test_one_array_as_two_arguments() -> None:
    def shifted(a, b):
        for i in weft.prange(a.shape[0] - 1):
            b[i] = a[i + 1]

    compiled = weft.jit(fallback="error")(shifted)
    a, b = np.arange(9.0), np.zeros(9)
    compiled(a, b)
    assert np.array_equal(b[:-1], a[1:])
    with pytest.raises(weft.ParallelError):
        compiled(a, a)


def test_containers_in_a_parallel_loop() -> None:
    def doubled(a):
        out = []
        for i in weft.prange(a.shape[0]):
            out.append(a[i] * 2.0)
        return out

    a = np.arange(20.0)
    assert weft.jit(fallback="error")(doubled)(a) == doubled(a)


def test_halves_are_no_race() -> None:
    def halves(a):
        for i in weft.prange(8):
            a[i] = a[i + 8]

    left, right = np.arange(16.0), np.arange(16.0)
    halves(left)
    weft.jit(fallback="error")(halves)(right)
    assert np.array_equal(left, right)
