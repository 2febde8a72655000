"""Tasks: with weft.finish(), weft.task() and weft.isolated() natively the same answers and exceptions as in sequence,
on any number of threads; races that are certain are errors that name the variable.
"""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

import weft
from weft import pipeline
from weft.errors import ParallelError, Unsupported
from weft.ir import interp

pytestmark = pytest.mark.native
RNG = np.random.default_rng(0)


@pytest.fixture(params=[1, 2, 5])
def threads(request):
    before = weft.get_num_threads()
    weft.set_num_threads(request.param)
    yield request.param
    weft.set_num_threads(before)


def fibonacci(n):
    if n < 2:
        return n
    with weft.finish():
        with weft.task():
            x = fibonacci(n - 1)
        y = fibonacci(n - 2)
    return x + y


def quick(a):
    if len(a) < 2:
        return
    pivot = a[len(a) // 2]
    i, j = 0, len(a) - 1
    while i <= j:
        while a[i] < pivot:
            i += 1
        while a[j] > pivot:
            j -= 1
        if i <= j:
            a[i], a[j] = a[j], a[i]
            i += 1
            j -= 1
    with weft.finish():
        with weft.task():
            quick(a[: j + 1])
        with weft.task():
            quick(a[i:])


def sorted_in_place(a):
    quick(a)
    return a


def tree_sum(a, lo, hi):
    if hi - lo <= 64:
        total = 0.0
        for k in range(lo, hi):
            total += a[k]
        return total
    middle = (lo + hi) // 2
    with weft.task():  # waited for at the end of the function
        left = tree_sum(a, lo, middle)
    right = tree_sum(a, middle, hi)
    return left + right


def summed(a):
    return tree_sum(a, 0, len(a))


def queens(n, row, columns, up, down):
    if row == n:
        return 1
    counts = np.zeros(16, dtype=np.int64)
    with weft.finish():
        for k in range(n):
            if not (columns >> k & 1 or up >> (row + k) & 1 or down >> (row - k + n) & 1):
                with weft.task():
                    counts[k] = queens(n, row + 1, columns | 1 << k, up | 1 << (row + k), down | 1 << (row - k + n))
    total = 0
    for k in range(n):
        total += int(counts[k])
    return total


def solutions(n):
    return queens(n, 0, 0, 0, 0)


def rows(a):
    out = np.empty(a.shape[0])
    with weft.finish():
        for i in range(a.shape[0]):
            scale = 1.0 / (i + 1)
            with weft.task():
                t = a[i] * scale
                out[i] = (t * t).sum()
    return out


def two_results(a):
    with weft.finish():
        with weft.task():
            low = a.min()
            where = a.argmin()
        with weft.task():
            high = a.max()
        middle = a.mean()
    return low, where, middle, high


def made_inside(n):
    with weft.finish():
        with weft.task():
            a = np.arange(n) * 2.0
        with weft.task():
            b = np.ones(n)
    return a + b


def nested(n):
    out = np.zeros((n, n))
    with weft.finish():
        for i in range(n):
            with weft.task():
                for j in range(n):
                    with weft.task():
                        out[i, j] = i * 10 + j
    return out


def counted(a, n):
    total = 0
    counts = np.zeros(n, dtype=np.int64)
    with weft.finish():
        for i in range(len(a)):
            with weft.task():
                k = int(a[i]) % n
                with weft.isolated():
                    counts[k] += 1
                    total += k
    return total, counts


def straight_isolated(a):
    best = -1.0
    with weft.finish():
        with weft.task():
            x = a[: len(a) // 2].max()
            with weft.isolated():
                if x > best:
                    best = x
        with weft.task():
            y = a[len(a) // 2 :].max()
            with weft.isolated():
                if y > best:
                    best = y
    return best


def chosen(a, flag):
    x = 1.0
    with weft.finish():
        if flag:
            with weft.task():
                x = a.sum()
    return x


def with_loop(a):
    n = len(a)
    out = np.zeros(n)
    with weft.finish():
        with weft.task():
            for i in weft.prange(n // 2):
                out[i] = a[i] * 2
        for i in weft.prange(n // 2, n):
            out[i] = a[i] * 3
    return out


def early(a, n):
    with weft.finish():
        with weft.task():
            a[0] = 5.0
        if n > 3:
            return 1
        a[1] = 6.0
    return 2


def twice(a):
    with weft.finish():
        with weft.task():
            x = a[0] + 1.0
        with weft.task():
            y = a[1] + 1.0
    with weft.finish():
        with weft.task():
            z = x * 2.0
        w = y * 3.0
    return x, y, z, w


def plain_fibonacci(n):
    return n if n < 2 else plain_fibonacci(n - 1) + plain_fibonacci(n - 2)


def of_each(x):
    out = np.zeros(len(x), dtype=np.int64)
    for i in weft.prange(len(x)):
        out[i] = plain_fibonacci(int(x[i]))
    return out


def one_by_one(a, n):
    counts = np.zeros(n, dtype=np.int64)
    for i in weft.prange(len(a)):
        with weft.isolated():
            counts[a[i] % n] += 1
    return counts


def kept(a):
    best, where = -1.0, -1
    for i in weft.prange(len(a)):
        x = a[i] * 2
        with weft.isolated():
            if x > best:
                best = x
                where = i
    return best, where


def tasks_of_tasks(n):
    """One counter for the tasks of all levels, and one for those of each."""
    own = np.zeros(n, dtype=np.int64)
    whole = 0
    with weft.finish():
        for i in range(n):
            with weft.task():
                part = 0
                with weft.finish():
                    for j in range(i):
                        with weft.task(), weft.isolated():
                            part += j
                            whole += i * j
                own[i] = part
    return own, whole


CASES = [
    (tasks_of_tasks, lambda: (12,)),
    (twice, lambda: (np.array([1.0, 2.0]),)),
    (of_each, lambda: (np.arange(15),)),
    (one_by_one, lambda: (RNG.integers(0, 99, 5000), 6)),
    (kept, lambda: (RNG.random(3000),)),
    (fibonacci, lambda: (18,)),
    (sorted_in_place, lambda: (RNG.integers(0, 1000, 3000),)),
    (sorted_in_place, lambda: (RNG.random(2000)[::-2],)),
    (sorted_in_place, lambda: (np.empty(0),)),
    (summed, lambda: (RNG.random(5000),)),
    (solutions, lambda: (6,)),
    (rows, lambda: (RNG.random((40, 30)),)),
    (rows, lambda: (np.asfortranarray(RNG.random((7, 3))),)),
    (rows, lambda: (np.empty((0, 3)),)),
    (two_results, lambda: (RNG.random(100),)),
    (two_results, lambda: (RNG.integers(0, 50, 30),)),
    (made_inside, lambda: (20,)),
    (nested, lambda: (9,)),
    (counted, lambda: (RNG.integers(0, 1000, 3000), 7)),
    (straight_isolated, lambda: (RNG.random(99),)),
    (chosen, lambda: (RNG.random(9), True)),
    (chosen, lambda: (RNG.random(9), False)),
    (with_loop, lambda: (RNG.random(200_000),)),
    (early, lambda: (np.zeros(3), 2)),
    (early, lambda: (np.zeros(3), 9)),
]
COMPILED = {function: weft.jit(fallback="error")(function) for function, _ in CASES}


def copied(values):
    return tuple(value.copy() if isinstance(value, np.ndarray) else value for value in values)


@pytest.mark.parametrize("function, arguments", CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_as_in_sequence(function, arguments, threads):
    given = arguments()
    mine, theirs = copied(given), copied(given)
    expected, found = function(*theirs), COMPILED[function](*mine)
    pairs = zip(found, expected) if isinstance(expected, tuple) else [(found, expected)]
    for left, right in pairs:
        np.testing.assert_allclose(left, right, rtol=1e-12)
    weft.set_num_threads(1)
    np.testing.assert_equal(COMPILED[function](*copied(given)), found)  # the number of threads never changes a bit
    assert type(found) is type(expected) or isinstance(found, float)
    for left, right in zip(mine, theirs):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("options", [{"parallel": False}, {"backend": "python"}], ids=["one thread", "python"])
@pytest.mark.parametrize("function", [fibonacci, nested, counted, kept, two_results, tasks_of_tasks])
def test_without_threads(function, options):
    arguments = next(make for other, make in CASES if other is function)()
    arguments = (8,) if function is fibonacci else arguments
    found, expected = weft.jit(fallback="error", **options)(function)(*copied(arguments)), function(*copied(arguments))
    for left, right in zip(found, expected) if isinstance(expected, tuple) else [(found, expected)]:
        np.testing.assert_allclose(left, right, rtol=1e-12)


def test_the_interpreter_gives_the_same():
    for function in (rows, made_inside, counted, straight_isolated, early):
        arguments = next(make for other, make in CASES if other is function)()
        arguments = tuple(a[:20] if isinstance(a, np.ndarray) else a for a in arguments)
        expected = function(*copied(arguments))
        for name, program in pipeline.stages(function, copied(arguments)):
            found = interp.run(program, dict(zip(program.params, copied(arguments))))
            for left, right in zip(found, expected) if isinstance(expected, tuple) else [(found, expected)]:
                np.testing.assert_allclose(left, right, rtol=1e-12, err_msg=name)


# --- exceptions ------------------------------------------------------------------------------------------------------


def divided(a, b):
    with weft.finish():
        for i in range(len(a)):
            with weft.task():
                a[i] = 100 // b[i]
    return a


def deep(n):
    if n == 0:
        return 0
    with weft.finish():
        with weft.task():
            x = deep(n - 1)
    return x + 1


def deeper(a, n):
    a[0] = n
    if n > 0:
        with weft.finish():
            with weft.task():
                deeper(a, n - 1)
            a[1] = 1.0


def looked_up(a, index, out):
    with weft.finish():
        for i in range(len(index)):
            with weft.task():
                out[i] = a[index[i]]
        out[0] = a[len(a) + 5]


def test_the_first_exception_in_the_order_of_the_source(threads):
    compiled = weft.jit(fallback="error")(looked_up)
    a, index, out = np.arange(5.0), np.array([1, 77, 2, 99, 3]), np.zeros(5)
    with pytest.raises(IndexError, match="77"):
        compiled(a, index, out)
    index[1] = 2
    with pytest.raises(IndexError, match="99"):
        compiled(a, index, out)
    index[3] = 0
    with pytest.raises(IndexError, match="10"):
        compiled(a, index, out)


def test_zero_division(threads):
    compiled = weft.jit(fallback="error")(divided)
    a, b = [0] * 8, [1, 2, 3, 4, 5, 6, 7, 8]
    assert compiled(list(a), b) == divided(list(a), b)
    b[5] = 0
    with pytest.raises(ZeroDivisionError):
        compiled(a, b)


def test_deep_recursion_is_an_exception(threads):
    compiled = weft.jit(fallback="error")(deeper)
    a = np.zeros(2)
    compiled(a, 100)
    assert a[0] == 0
    with pytest.raises(RecursionError):
        compiled(a, 10_000_000)
    assert weft.jit(fallback="error")(deep)(500) == 500


def test_ctrl_c(threads):
    compiled = weft.jit(fallback="error")(fibonacci)
    compiled(5)
    begun = time.process_time()
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        compiled(80)
    assert time.process_time() - begun < 60  # of both threads; others may keep the processors busy
    assert compiled(15) == 610


# --- races -----------------------------------------------------------------------------------------------------------


def read_beside(n):
    with weft.finish():
        with weft.task():
            x = n + 1
        y = x + 1
    return y


def carried(a):
    s = 0.0
    with weft.finish():
        for i in range(len(a)):
            with weft.task():
                s = s * 0.5 + a[i]
    return s


def set_twice(a):
    with weft.finish():
        with weft.task():
            t = a[0]
        with weft.task():
            t = a[1]
    return t


def same_element(a):
    with weft.finish():
        with weft.task():
            a[0] = 1.0
        a[0] = 2.0


def same_in_loop(a):
    with weft.finish():
        for i in range(len(a)):
            with weft.task():
                a[0] = i


def neighbour(a):
    with weft.finish():
        for i in range(1, len(a)):
            with weft.task():
                a[i] = a[i - 1] + 1


def unprotected(a):
    total = 0
    with weft.finish():
        for i in range(len(a)):
            with weft.task():
                with weft.isolated():
                    total += 1
        print_me = total
    return print_me


@pytest.mark.parametrize(
    "function, argument, name",
    [
        (read_beside, 3, "x"),
        (carried, np.ones(4), "s"),
        (set_twice, np.ones(4), "t"),
        (same_element, np.ones(4), "a"),
        (same_in_loop, np.ones(4), "a"),
        (neighbour, np.ones(4), "a"),
        (unprotected, np.ones(4), "total"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_certain_race_is_an_error(function, argument, name):
    with pytest.raises(ParallelError, match=f"`{name}"):
        weft.jit(function)(argument)


def left(a):
    with weft.finish():
        for i in range(len(a)):
            with weft.task():
                if a[i] > 0:
                    break
                a[i] = 1.0


def test_a_task_cannot_end_the_loop_it_is_in():
    with pytest.raises(ParallelError, match="break"):
        weft.jit(left)(np.zeros(3))


# --- what runs in sequence --------------------------------------------------------------------------------------------


def gathered(n):
    found = []
    with weft.finish():
        for i in range(n):
            with weft.task():
                with weft.isolated():
                    found.append(i * i)
    return sorted(found)


def remade(n):
    out = np.zeros(n)
    with weft.finish():
        for i in range(n):
            t = np.full(3, float(i))
            with weft.task():
                out[i] = t.sum()
    return out


def helper(a):
    with weft.finish():
        with weft.task():
            a[0] = 1.0
        if a[1] > 0:
            return 5
    return 6


def returns_inside(n):
    return helper(np.full(2, float(n))) + 1


def handled(n):
    out = np.zeros(n)
    try:
        with weft.finish():
            for i in range(n):
                with weft.task():
                    if i == 3:
                        raise ValueError("three")
                    out[i] = i
    except ValueError:
        return np.full(n, -1.0)
    return out


def adding(n):
    total = 0

    def add(k):
        nonlocal total
        total += k

    with weft.finish():
        for i in range(n):
            with weft.task():
                add(i)
    return total


def tallied(n):
    counts, seen, largest = {}, {}, -1
    with weft.finish():
        for i in range(n):
            with weft.task():
                with weft.isolated():
                    counts[i % 7] = counts.get(i % 7, 0) + i
                    seen[i % 3] = seen.get(i % 3, 0) + 1
                    largest = max(largest, i)
    return sorted(counts.items()), sorted(seen.items()), largest


def _visit(i, n, found, counts):
    if i > n:
        return 0
    with weft.isolated():
        found.append(i)
        counts[i % 10] = counts.get(i % 10, 0) + 1
    with weft.finish():
        with weft.task():
            left = _visit(2 * i, n, found, counts)
        right = _visit(2 * i + 1, n, found, counts)
    return left + right + 1


def visited(n):
    found, counts = [], {}
    total = _visit(1, n, found, counts)
    return total, sorted(found), sorted(counts.items())


def leaves_early(n):
    out = np.zeros(n)
    for k in range(n):
        with weft.finish():
            with weft.task():
                out[k] = k * k
            if k > 2:
                break
    return out


def fails_in_the_middle(found, n):
    with weft.finish():
        for i in range(n):
            with weft.task():
                with weft.isolated():
                    found.append(10 // (3 - i))


@pytest.mark.parametrize("function", [gathered, remade, handled, adding, tallied, visited])
def test_what_cannot_run_at_once_runs_in_sequence(function):
    compiled = weft.jit(fallback="error")(function)
    for n in (5, 300, 0, 2):
        assert repr(compiled(n)) == repr(function(n))
    assert "tasks run one after the other: " in str(compiled.explain())


@pytest.mark.parametrize("function", [returns_inside, leaves_early])
def test_what_has_no_native_form_runs_in_python(function):
    np.testing.assert_array_equal(weft.jit(function)(5), function(5))
    with pytest.raises(Unsupported):
        weft.jit(fallback="error")(function)(5)


def test_an_exception_of_tasks_in_sequence():
    compiled = weft.jit(fallback="error")(fails_in_the_middle)
    for n in (2, 6):
        plain, native = [], []
        for call, values in ((fails_in_the_middle, plain), (compiled, native)):
            if n == 2:
                call(values, n)
            else:
                with pytest.raises(ZeroDivisionError, match="integer division or modulo by zero"):
                    call(values, n)
        assert plain == native


def carried_in_sequence(n):
    found, last = [], 0
    with weft.finish():
        for i in range(n):
            with weft.task():
                found.append(last)
                last = i
    return found


def ends_a_loop(n):
    found = []
    for i in range(n):
        with weft.task():
            found.append(i)
            break
    return found


@pytest.mark.parametrize("function, name", [(carried_in_sequence, "last"), (ends_a_loop, "break")])
def test_a_race_is_an_error_also_where_tasks_would_run_in_sequence(function, name):
    with pytest.raises(ParallelError, match=f"`{name}`"):
        weft.jit(function)(5)


def test_in_python_it_is_a_sequence():
    order = []
    with weft.finish():
        with weft.task():
            order.append(1)
        with weft.isolated():
            order.append(2)
    assert order == [1, 2]
