"""The thread pool and the number of threads: every piece once, the same cut for every number of threads, no hang after
a fork, with nesting, or with several Python threads.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from tests.unit.dispatching import F64, I64, kernel_function, native
from weft.runtime import threads
from weft.runtime.descriptor import ArrayParam, ScalarParam, ScalarResult, result_base

# Newer versions of Python warn of every fork of a process with threads; here that is what is tested.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")

PARAMS = (ArrayParam(I64, 2, written=True), ScalarParam("int"), ScalarParam("int"))

#: Seconds after which a region has workers again, whatever came before.
ALONE = 0.1

RECORD = """
struct work { const weft_rt *rt; int64_t *rows; int64_t spin; };
static void piece(void *ctx, int64_t begin, int64_t end, int64_t task) {
    struct work *work = ctx;
    int64_t *row = work->rows + 4 * task;
    row[0] = begin;
    row[1] = end;
    __atomic_fetch_add(&row[2], 1, __ATOMIC_RELAXED);
    row[3] = work->rt->threads();
    for (volatile int64_t i = 0; i < work->spin; i++);
}
static void outer(void *ctx, int64_t begin, int64_t end, int64_t task) {
    struct work *work = ctx;
    struct work inner = {work->rt, work->rows + 4 * 3 * task, 0};
    work->rt->parallel(piece, &inner, 7, 3);
}
"""


def recorder(function: str = "piece", n: str = "w[13]") -> Any:
    """rows (tasks x 4) <- begin, end, times run, threads seen inside; arguments: rows, n, spin."""
    body = f"struct work work = {{rt, (int64_t *)w[8], w[14]}}; rt->parallel({function}, &work, {n}, w[9]); return 0;"
    return kernel_function(body, PARAMS, helpers=RECORD)


@pytest.fixture(autouse=True)
def restore_threads() -> Any:
    before = threads.get_num_threads()
    yield
    threads.set_num_threads(before)


def expected_cut(n: int, tasks: int) -> list[tuple[int, int]]:
    ends = np.cumsum([n // tasks + (task < n % tasks) for task in range(tasks)])
    return [(int(end) - n // tasks - (task < n % tasks), int(end)) for task, end in enumerate(ends)]


@native
@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize(("n", "tasks"), [(100, 7), (3, 8), (0, 4), (1, 1), (10**15 + 1, 3), (64, 64)])
def test_every_piece_runs_once_and_the_cut_depends_on_sizes_alone(count: int, n: int, tasks: int) -> None:
    threads.set_num_threads(count)
    run = recorder()
    for _ in range(20):
        rows = np.zeros((tasks, 4), np.int64)
        run(rows, n, 0)
        assert [tuple(row) for row in rows[:, :2].tolist()] == expected_cut(n, tasks)
        assert (rows[:, 2] == 1).all()
        assert (rows[:, 3] == 1).all()


def meeting() -> Any:
    """A kernel whose two pieces wait until both have started; it returns how many were seen at the end, at best 2."""
    helpers = """
    static void piece(void *ctx, int64_t begin, int64_t end, int64_t task) {
        int64_t *started = ctx;
        __atomic_fetch_add(&started[0], 1, __ATOMIC_SEQ_CST);
        for (int64_t i = 0; i < 3000000000 && __atomic_load_n(&started[0], __ATOMIC_SEQ_CST) < 2; i++);
        if (__atomic_load_n(&started[0], __ATOMIC_SEQ_CST) == 2) __atomic_fetch_add(&started[1], 1, __ATOMIC_SEQ_CST);
    }
    """
    body = "int64_t started[2] = {0, 0}; rt->parallel(piece, started, 2, 2); w[B] = started[1]; return 0;"
    return kernel_function(body, (), ScalarResult("int", 8), helpers=helpers)


@native
def test_several_threads_really_work_at_the_same_time() -> None:
    threads.set_num_threads(2)
    meet = meeting()
    for _ in range(4):
        time.sleep(ALONE)
        assert meet() == 2


PATIENCE = """
#include <pthread.h>
#include <time.h>
static pthread_t caller;
static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
static void both(int64_t *started, int64_t patience) {
    int64_t end = now() + patience;
    __atomic_fetch_add(started, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(started, __ATOMIC_SEQ_CST) < 2 && now() < end);
}
static void slow(void *ctx, int64_t begin, int64_t end, int64_t task) {
    struct timespec pause = {0, 20000000};
    both(ctx, 5000);
    if (!pthread_equal(pthread_self(), caller)) nanosleep(&pause, NULL);
}
static void next(void *ctx, int64_t begin, int64_t end, int64_t task) {
    int64_t *started = ctx;
    if (!pthread_equal(pthread_self(), caller)) __atomic_fetch_add(&started[1], 1, __ATOMIC_SEQ_CST);
    both(started, 100);
}
"""


@native
def test_regions_do_without_workers_that_keep_them_waiting() -> None:
    """A worker that sleeps in a region of no work: the next region, at once, is the caller's own."""
    threads.set_num_threads(2)
    body = """int64_t first[2] = {0, 0}, second[2] = {0, 0};
    caller = pthread_self();
    rt->parallel(slow, first, 2, 2);
    rt->parallel(next, second, 2, 2);
    w[B] = second[1];
    return 0;"""
    helped = kernel_function(body, (), ScalarResult("int", 8), helpers=PATIENCE)
    assert any(helped() == 0 for _ in range(8))


@native
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_has_workers_of_its_own() -> None:
    threads.set_num_threads(2)
    meet = meeting()
    assert meet() == 2
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        os._exit(0 if meet() == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
    time.sleep(ALONE)
    assert meet() == 2


@native
def test_nested_regions_run_serially() -> None:
    threads.set_num_threads(3)
    rows = np.zeros((5 * 3, 4), np.int64)
    body = "struct work work = {rt, (int64_t *)w[8], 0}; rt->parallel(outer, &work, 5, 5); return 0;"
    kernel_function(body, PARAMS, helpers=RECORD)(rows, 5, 0)
    assert [tuple(row) for row in rows[:, :2].tolist()] == expected_cut(7, 3) * 5
    assert (rows[:, 2] == 1).all() and (rows[:, 3] == 1).all()


@native
def test_several_python_threads_call_at_once() -> None:
    threads.set_num_threads(2)
    run = recorder()
    wrong: list[Any] = []

    def work() -> None:
        for _ in range(300):
            rows = np.zeros((6, 4), np.int64)
            run(rows, 60, 100)
            if (rows[:, 2] != 1).any() or rows[-1, 1] != 60:
                wrong.append(rows)

    callers = [threading.Thread(target=work) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


@native
def test_the_number_of_threads_may_change_between_calls() -> None:
    run = recorder()
    for count in (1, 4, 2, 3, 1, 2, 5):
        threads.set_num_threads(count)
        rows = np.zeros((9, 4), np.int64)
        run(rows, 90, 10)
        assert (rows[:, 2] == 1).all()


@native
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_parent_and_child_go_on_after_a_fork() -> None:
    threads.set_num_threads(2)
    run = recorder()

    def works() -> bool:
        for _ in range(50):
            rows = np.zeros((4, 4), np.int64)
            run(rows, 40, 1000)
            if (rows[:, 2] != 1).any():
                return False
        return True

    assert works()
    for _ in range(3):
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            grandchild = os.fork()
            good = works()
            if grandchild:
                good = good and os.waitpid(grandchild, 0)[1] == 0
            os._exit(0 if good else 1)
        assert works()
        assert os.waitpid(child, 0)[1] == 0


@native
def test_fork_while_another_thread_uses_pool_and_memory() -> None:
    threads.set_num_threads(2)
    helpers = RECORD.replace("row[0] = begin;", "row[0] = begin; work->rt->release(work->rt->alloc(1000));")
    body = "struct work work = {rt, (int64_t *)w[8], w[14]}; rt->parallel(piece, &work, w[13], w[9]); return 0;"
    run = kernel_function(body, PARAMS, helpers=helpers)
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            run(np.zeros((8, 4), np.int64), 8, 100)

    caller = threading.Thread(target=work)
    caller.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                rows = np.zeros((8, 4), np.int64)
                run(rows, 8, 100)
                os._exit(0 if (rows[:, 2] == 1).all() else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        caller.join()


@native
def test_a_sum_in_fixed_pieces_does_not_depend_on_the_number_of_threads() -> None:
    helpers = """
    struct sum { double *data; double partial[16]; };
    static void piece(void *ctx, int64_t begin, int64_t end, int64_t task) {
        struct sum *sum = ctx;
        double s = 0;
        for (int64_t i = begin; i < end; i++) s += sum->data[i];
        sum->partial[task] = s;
    }
    """
    body = """
    struct sum sum = {(double *)w[8], {0}};
    rt->parallel(piece, &sum, w[9], 16);
    double s = 0;
    for (int i = 0; i < 16; i++) s += sum.partial[i];
    w[B] = BITS(s);
    return 0;
    """
    params = (ArrayParam(F64, 1),)
    total = kernel_function(body, params, ScalarResult("float", result_base(params)), helpers=helpers)
    data = np.random.default_rng(3).standard_normal(100_003)
    results = set()
    for count in (1, 2, 3, 7):
        threads.set_num_threads(count)
        results |= {total(data) for _ in range(10)}
    assert len(results) == 1
    assert results.pop() == pytest.approx(data.sum())


# --- the number ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, -1, -(10**30)])
def test_fewer_than_one_thread_is_an_error(count: int) -> None:
    with pytest.raises(ValueError, match=f"at least 1, not {count}"):
        threads.set_num_threads(count)


@pytest.mark.parametrize("count", [1.5, "2", None])
def test_the_number_of_threads_is_an_integer(count: Any) -> None:
    with pytest.raises(TypeError, match="integer"):
        threads.set_num_threads(count)


def test_the_number_set_is_the_number_got() -> None:
    for count in (3, np.int64(2), 1):
        threads.set_num_threads(count)
        assert threads.get_num_threads() == count
        assert type(threads.get_num_threads()) is int


@native
def test_a_huge_number_of_threads_is_harmless() -> None:
    run = recorder()
    for count in (10**6, 2**31, 2**32, 2**63, 2**64, 2**64 + 1, 10**30):
        threads.set_num_threads(count)
        assert threads.get_num_threads() == count
        rows = np.zeros((3, 4), np.int64)
        run(rows, 30, 0)
        assert (rows[:, 2] == 1).all()
        # Cut to what fits, not taken modulo it: more than one thread is still more than one.
        assert seen_outside() > 1


def seen_outside() -> int:
    """The number of threads that a kernel finds, outside of regions."""
    count: int = kernel_function("w[B] = rt->threads(); return 0;", (), ScalarResult("int", 8))()
    return count


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"WEFT_NUM_THREADS": "3", "OMP_NUM_THREADS": "7"}, 3),
        ({"OMP_NUM_THREADS": "7,2"}, 7),
        ({"WEFT_NUM_THREADS": "0", "OMP_NUM_THREADS": "6"}, 6),
        ({"WEFT_NUM_THREADS": "many"}, None),
        ({"WEFT_NUM_THREADS": "9" * 5000}, 2**20),
        ({"WEFT_NUM_THREADS": "0" * 5000, "OMP_NUM_THREADS": "2"}, 2),
        ({}, None),
    ],
)
def test_the_default_comes_from_the_environment(settings: dict[str, str], expected: int | None) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    script = "from weft.runtime import threads; print(threads.get_num_threads(), threads._processors())"
    path = str(Path(weft.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**environment, **settings, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    number, processors = map(int, done.stdout.split())
    if expected is None:
        assert 1 <= number <= processors
    else:
        assert number == expected


@pytest.mark.parametrize(
    ("files", "membership", "expected"),
    [
        ({"cpu.max": "150000 100000"}, "0::/", 2),
        ({"cpu.max": "max 100000"}, "0::/", None),
        ({"cpu.max": "max 100000", "a/cpu.max": "50000 100000", "a/b/cpu.max": "300000 100000"}, "0::/a/b", 1),
        ({"cpu/cpu.cfs_quota_us": "400000", "cpu/cpu.cfs_period_us": "100000"}, "3:cpu:/", 4),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, "3:cpu:/", None),
        ({"cpu.max": "nonsense here"}, "0::/", None),
        ({}, "2:memory:/x", None),
    ],
)
def test_the_quota_of_a_control_group(
    tmp_path: Path, files: dict[str, str], membership: str, expected: int | None
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    (tmp_path / "membership").write_text(membership + "\n")
    assert threads._control_group_limit(tmp_path, tmp_path / "membership") == expected


@native
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processors cannot be chosen")
def test_workers_stay_where_the_user_wants_them(tmp_path: Path) -> None:
    """A worker leaves the processor of its caller, but only for one that it may use; a wish of the user holds."""
    script = """
        import os
        import subprocess
        import sys
        import numpy as np
        import weft

        @weft.jit(fallback="error")
        def total(n):
            out = np.zeros(n)
            for i in weft.prange(n):
                s = 0.0
                for j in range(400):
                    s = s * 0.5 + j
                out[i] = s
            return out.sum()

        def others():
            return set(map(int, os.listdir("/proc/self/task"))) - {os.getpid()}

        allowed = os.sched_getaffinity(0)
        first = {min(allowed)}
        before = total(2000)
        # Others keep the processors busy: a worker then gets its turn late, also between two regions.
        spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
        try:
            for round in range(60):
                wanted = (first, allowed, first)[round % 3]
                os.sched_setaffinity(0, first)
                for thread in others():
                    os.sched_setaffinity(thread, wanted)
                for _ in range(4):
                    assert total(2000) == before
                for thread in others():
                    found = os.sched_getaffinity(thread)
                    assert found and found <= wanted, (found, wanted)
                    assert len(found) >= len(wanted) - 1
        finally:
            for other in spinning:
                other.kill()
        print("done")
    """
    if not os.path.isdir("/proc/self/task"):
        pytest.skip("threads of a process are not listed")
    environment = {**os.environ, "WEFT_NUM_THREADS": "2", "WEFT_CALIBRATE": "0", "OPENBLAS_NUM_THREADS": "1"}
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(script))
    done = subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True, timeout=600)
    assert done.stdout == "done\n", done.stderr
