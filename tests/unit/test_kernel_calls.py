"""Calls of native kernels: words in, results out, lists, statuses, references, memory, signals, BLAS."""

import gc
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
import tracemalloc
from typing import Any

import numpy as np
import pytest

from tests.unit.dispatching import (
    CORE,
    F64,
    I64,
    PRELUDE,
    Missed,
    Model,
    cell_of,
    function_type,
    kernel_function,
    native,
    read_only,
)
from weft.runtime import blas, dispatch
from weft.runtime.descriptor import (
    CONTROL_WORDS,
    ArgResult,
    ArrayParam,
    ArrayResult,
    AttrParam,
    CellParam,
    ConstParam,
    ConstResult,
    ExceptionSpec,
    GlobalParam,
    ListOfResult,
    ListParam,
    ListResult,
    NoneResult,
    ObjectParam,
    ScalarParam,
    ScalarResult,
    Signature,
    SourceLocation,
    TupleResult,
    Version,
    ViewResult,
    result_base,
)

# --- words in ------------------------------------------------------------------------------------------------------


@native
@pytest.mark.parametrize(
    "view",
    [
        np.arange(24.0).reshape(4, 6),
        np.arange(24.0).reshape(4, 6).T,
        np.arange(24.0).reshape(4, 6)[::-1, ::-2],
        np.asfortranarray(np.arange(24.0).reshape(4, 6)),
        np.zeros((0, 5)),
        np.broadcast_to(np.arange(3.0), (4, 3)),
    ],
)
def test_strided_arrays_reach_the_kernel(view: np.ndarray) -> None:
    body = """
    double *data = (double *)w[8], sum = 0;
    for (int64_t i = 0; i < w[9]; i++)
        for (int64_t j = 0; j < w[10]; j++)
            sum += (10 * i + j) * data[i * w[11] + j * w[12]];
    w[B] = BITS(sum);
    return 0;
    """
    params = (ArrayParam(F64, 2),)
    function = kernel_function(body, params, ScalarResult("float", result_base(params)))
    weights = 10 * np.arange(view.shape[0])[:, None] + np.arange(view.shape[1])
    assert function(view) == float((weights * view).sum())


@native
def test_a_zero_dimensional_array_is_written_in_place() -> None:
    function = kernel_function("*(double *)w[8] += 1; return 0;", (ArrayParam(F64, 0, written=True),))
    array = np.array(1.5)
    assert function(array) is None
    assert array == 2.5
    with pytest.raises(Missed):
        function(read_only(array))


SCALAR_VALUES: list[tuple[str, Any]] = [
    ("int", -(2**63)), ("int", 2**63 - 1), ("bool", True), ("bool", False), ("float", -0.0), ("float", 1e-310),
    ("complex", complex(1.5, -2.5)), ("np.bool", np.True_), ("np.int8", np.int8(-128)), ("np.int16", np.int16(-5)),
    ("np.int32", np.int32(-(2**31))), ("np.int64", np.int64(-(2**63))), ("np.uint8", np.uint8(255)),
    ("np.uint16", np.uint16(65535)), ("np.uint32", np.uint32(2**32 - 1)), ("np.uint64", np.uint64(2**64 - 1)),
    ("np.float16", np.float16(1.0 / 3)), ("np.float16", np.float16(6e-8)), ("np.float32", np.float32(1.0 / 3)),
    ("np.float64", np.float64(1.0 / 3)), ("np.complex64", np.complex64(1 / 3 - 2j)),
    ("np.complex128", np.complex128(1 / 3 - 2j)),
]  # fmt: skip


@native
@pytest.mark.parametrize(("kind", "value"), SCALAR_VALUES)
def test_scalars_go_in_and_out(kind: str, value: Any) -> None:
    params = (ScalarParam(kind),)
    base = result_base(params)
    function = kernel_function("w[B] = w[8]; w[B + 1] = w[9]; return 0;", params, ScalarResult(kind, base))
    result = function(value)
    assert type(result) is type(value)
    assert np.asarray(result).tobytes() == np.asarray(value).tobytes()
    if kind.endswith("float32"):
        word = kernel_function("w[B] = w[8]; return 0;", params, ScalarResult("float", base))
        assert word(value) == float(value)


@native
def test_many_words_and_many_parameters() -> None:
    params = (ArrayParam(I64, 3),) * 40
    terms = "".join(f"sum += {k + 1} * *(int64_t *)w[{8 + 7 * k}];" for k in range(40))
    names = tuple(f"p{k}" for k in range(40))
    function = kernel_function(
        f"int64_t sum = 0; {terms} w[B] = sum; return 0;", params, ScalarResult("int", 288), names=names
    )
    assert function(*(np.full((1, 1, 1), k) for k in range(40))) == sum(k * (k + 1) for k in range(40))
    limit = function_type(dispatch.dispatcher_type())(Signature(tuple(f"p{k}" for k in range(300))))
    with pytest.raises(TypeError, match="256"):
        limit.add_version(Version((ScalarParam("int"),) * 300, (), lambda *given: given))


# --- lists ---------------------------------------------------------------------------------------------------------

DOUBLE_ALL = """
    TYPE *data = (TYPE *)w[8];
    for (int64_t i = 0; i < COUNT; i++) data[i] = EXPRESSION;
    return STATUS;
"""


def list_kernel(kind: str, rank: int, expression: str, status: int = 0, **fields: Any) -> Any:
    count = "*".join(f"w[{9 + axis}]" for axis in range(rank))
    element = {"float": "double", "int": "int64_t", "bool": "char"}[kind]
    body = DOUBLE_ALL.replace("TYPE", element).replace("COUNT", count).replace("EXPRESSION", expression)
    param = ListParam(kind, rank, written=True)  # type: ignore[arg-type]
    return kernel_function(body.replace("STATUS", str(status)), (param,), **fields)


@native
def test_lists_are_copied_in_and_changes_copied_out() -> None:
    rows = [[1.0, 2.0, 3.0], [4.0, 0.0, 6.0]]
    first, second = rows
    kept = second[1]
    assert list_kernel("float", 2, "data[i] * 2")(rows) is None
    assert rows == [[2.0, 4.0, 6.0], [8.0, 0.0, 12.0]]
    assert rows[0] is first and rows[1] is second
    assert second[1] is kept
    numbers = [1, 2**40, -3]
    list_kernel("int", 1, "-data[i]")(numbers)
    assert numbers == [-1, -(2**40), 3]
    flags = [True, False]
    list_kernel("bool", 1, "!data[i]")(flags)
    assert flags == [False, True] and all(type(flag) is bool for flag in flags)
    cube = [[[1.0], [2.0]], [[3.0], [4.0]]]
    list_kernel("float", 3, "data[i] + i")(cube)
    assert cube == [[[1.0], [3.0]], [[5.0], [7.0]]]
    empty: list[list[float]] = [[], []]
    list_kernel("float", 2, "data[i]")(empty)
    assert empty == [[], []]


@native
def test_unchanged_elements_keep_their_objects_even_nan() -> None:
    values = [float("nan"), -0.0, 1.0]
    before = list(values)
    list_kernel("float", 1, "data[i]")(values)
    assert all(left is right for left, right in zip(values, before))


@native
def test_effects_before_an_exception_stay_and_a_guard_has_none() -> None:
    values = [1.0, 2.0]
    with pytest.raises(ValueError):
        list_kernel("float", 1, "data[i] + 1", 2, exceptions=(ExceptionSpec(ValueError, "stop"),))(values)
    assert values == [2.0, 3.0]
    with pytest.raises(Missed) as caught:
        list_kernel("float", 1, "data[i] + 1", 1)(values)
    assert caught.value.call[2] == 1
    assert values == [2.0, 3.0]


# --- results -------------------------------------------------------------------------------------------------------

NEW_ARRAYS = """
    int64_t shape[2] = {w[9], 2};
    double *first = rt->new_array(w, B, 12, 2, shape, 1);
    int64_t *second = rt->new_array(w, B + 1, 7, 1, shape, 0);
    if (!first || !second) return 4;
    for (int64_t i = 0; i < w[9]; i++) { first[2 * i] = i; second[i] = -i; }
"""


@native
def test_nested_results() -> None:
    params = (ArrayParam(F64, 1),)
    base = result_base(params)
    array, marker = ArrayResult(base), object()
    tree = TupleResult(
        (array, ListOfResult((ArrayResult(base + 1), ArgResult(0))), ListResult(array), ConstResult(marker), array,
         NoneResult(), TupleResult(()), ScalarResult("bool", base + 5))
    )  # fmt: skip
    function = kernel_function(NEW_ARRAYS + "w[B + 5] = 1; return 0;", params, tree)
    given = np.zeros(3)
    first, (second, argument), listed, constant, again, nothing, empty, flag = function(given)
    np.testing.assert_array_equal(first, [[0, 0], [1, 0], [2, 0]])
    assert first.flags.owndata and first.flags.c_contiguous and first.flags.writeable
    np.testing.assert_array_equal(second, [0, -1, -2])
    assert second.dtype == np.int64
    assert argument is given and constant is marker and again is first
    assert listed == first.tolist() and nothing is None and empty == () and flag is True
    assert sys.getrefcount(second) == 2
    assert function(np.zeros(0))[0].shape == (0, 2)


@native
def test_the_return_id_selects_the_result_and_arrays_not_returned_are_freed() -> None:
    params = (ArrayParam(F64, 1),)
    base = result_base(params)
    function = kernel_function(
        NEW_ARRAYS + "w[0] = w[9] > 2; return w[9] > 5 ? 1 : 0;", params, ArrayResult(base), ArrayResult(base + 1)
    )
    assert function(np.zeros(2)).shape == (2, 2)
    assert function(np.zeros(3)).shape == (3,)
    big = np.zeros(200_000)
    tracemalloc.start()
    for _ in range(5):
        with pytest.raises(Missed):
            function(big)
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert kept < big.nbytes


@native
def test_a_slot_used_twice_frees_the_first_array() -> None:
    function = kernel_function(
        "int64_t n = 100000; for (int i = 0; i < 50; i++) if (!rt->new_array(w, B, 12, 1, &n, 0)) return 4; return 0;",
        (),
        ArrayResult(CONTROL_WORDS),
    )
    tracemalloc.start()
    array = function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert array.shape == (100000,)
    assert peak < 4 * array.nbytes


VIEW = """
    w[B] = w[8] + 8 * w[11] * (w[9] - 1) + 8 * w[12];
    w[B+1] = w[10] - 1; w[B+2] = w[9]; w[B+3] = w[12]; w[B+4] = -w[11];
"""


@native
@pytest.mark.parametrize("array", [np.arange(12.0).reshape(3, 4), np.arange(24.0).reshape(4, 6).T[::2, ::-1]])
def test_views_of_arguments(array: np.ndarray) -> None:
    params = (ArrayParam(F64, 2),)
    function = kernel_function(VIEW + "return 0;", params, ViewResult(0, result_base(params), 2))
    expected = array[::-1, 1:].T
    view = function(array)
    np.testing.assert_array_equal(view, expected)
    assert view.strides == expected.strides and view.base is expected.base
    assert np.shares_memory(view, array) and view.flags.writeable and not view.flags.owndata
    assert view.flags.c_contiguous == expected.flags.c_contiguous
    view[0, 0] = -1
    assert array[-1, 1] == -1
    assert not function(read_only(array.copy())).flags.writeable


@native
def test_views_of_new_arrays_keep_them_alive() -> None:
    body = """
    int64_t n = 5;
    double *data = rt->new_array(w, B, 12, 1, &n, 0);
    if (!data) return 4;
    for (int64_t i = 0; i < n; i++) data[i] = i;
    w[B+1] = (int64_t)(data + 4); w[B+2] = 5; w[B+3] = -1;
    return 0;
    """
    function = kernel_function(body, (), ViewResult(-1 - CONTROL_WORDS, CONTROL_WORDS + 1, 1))
    view = function()
    np.testing.assert_array_equal(view, [4, 3, 2, 1, 0])
    assert view.base.shape == (5,)


# --- statuses ------------------------------------------------------------------------------------------------------


@native
def test_exceptions_carry_message_and_line() -> None:
    source = "def user(x):\n    return table[x]\n"
    file = "<weft test>"
    import linecache

    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    table = (
        ExceptionSpec(IndexError, "index {0} is out of bounds for axis {1} with size {2}"),
        ExceptionSpec(StopIteration),
        ExceptionSpec(KeyError, ("as", {"is": 1})),
    )
    function = kernel_function(
        "w[1] = w[8]; w[2] = 2; w[3] = -7; w[4] = 0; w[5] = 3; return 2;",
        (ScalarParam("int"),),
        exceptions=table,
        location=SourceLocation(file, "user"),
    )
    with pytest.raises(IndexError, match="^index -7 is out of bounds for axis 0 with size 3$") as caught:
        function(0)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.lineno, last.name, last.line) == (file, 2, "user", "return table[x]")
    with pytest.raises(StopIteration) as stopped:
        function(1)
    assert stopped.value.args == ()
    with pytest.raises(KeyError) as key:
        function(2)
    assert key.value.args == ("as", {"is": 1})
    with pytest.raises(SystemError):
        function(3)
    assert function.call_counts == (4,)


@native
@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("return 3;", KeyboardInterrupt),
        ("return 4;", MemoryError),
        ("return 77;", SystemError),
        ("w[0] = 5; return 0;", SystemError),
        ("w[0] = 1; return 0;", SystemError),
        ("int64_t n = -1; return rt->new_array(w, B, 12, 1, &n, 0) ? 0 : 4;", ValueError),
        ("int64_t n = 1LL << 58; return rt->new_array(w, B, 12, 1, &n, 0) ? 0 : 4;", MemoryError),
        ("int64_t n[2] = {1LL << 40, 1LL << 40}; return rt->new_array(w, B, 12, 2, n, 0) ? 0 : 4;", ValueError),
    ],
)
def test_statuses_become_exceptions(body: str, error: type[BaseException]) -> None:
    function = kernel_function(body, (), NoneResult(), ArrayResult(CONTROL_WORDS))
    with pytest.raises(error):
        function()


@native
def test_the_guard_status_runs_the_plain_function() -> None:
    function = kernel_function("return w[8] < 0;", (ScalarParam("int"),))
    assert function(1) is None
    with pytest.raises(Missed) as caught:
        function(a=-1)
    assert caught.value.call == ((), {"a": -1}, 1)
    assert (function.call_counts, function.misses, function.guard_failures) == ((1,), 0, 1)


# --- references, memory, threads -----------------------------------------------------------------------------------


def references(objects: list[Any]) -> list[int]:
    return [sys.getrefcount(item) for item in objects]


@native
def test_no_reference_is_lost_or_kept() -> None:
    model = Model()
    row, array, text = [1.5, 2.5], np.arange(3.0), "".join(["un", "common"])
    namespace: dict[str, Any] = {"g": 123456.5}
    cell = cell_of(987654)
    params = (
        ArrayParam(F64, 1),
        ListParam("float", written=True),
        ObjectParam(Model),
        ConstParam(text),
        ScalarParam("float"),
    )
    hidden = (
        AttrParam(2, "array", ArrayParam(F64, 1)),
        AttrParam(2, "inner.step", ScalarParam("float")),
        GlobalParam(namespace, "g", ScalarParam("float")),
        CellParam(cell, ScalarParam("int")),
    )
    base = result_base(params, hidden)
    marker = object()
    tree = TupleResult(
        (ArrayResult(base), ArgResult(0), ConstResult(marker), ArgResult(5), ListOfResult((ArgResult(6),)))
    )
    body = "int64_t n = 4; if (!rt->new_array(w, B, 12, 1, &n, 1)) return 4; return w[14] == BITS(9.0) ? 2 : 0;"
    function = kernel_function(body, params, tree, hidden=hidden, exceptions=(ExceptionSpec(ValueError, "{0}"),))
    watched = [
        model,
        row,
        array,
        text,
        marker,
        model.array,
        model.inner,
        namespace["g"],
        cell,
        row[0],
        None,
        ValueError,
    ]

    def use() -> None:
        function(array, row, model, text, 1.0)
        function(array, row, d=text, c=model, e=1.0)
        for arguments in ((array, row, model, text, 9.0), (array, row, model, text, 1), (array, [1], model, text, 1.0)):
            with pytest.raises((ValueError, Missed)):
                function(*arguments)
        with pytest.raises(Missed):
            function(array, e=2.0)

    use()
    gc.collect()
    before = references(watched)
    for _ in range(50):
        use()
    gc.collect()
    after = references(watched)
    # None and ValueError are shared by the whole process; a leak would show as 50 or more.
    assert all(abs(left - right) < 40 for left, right in zip(before, after)), (before, after)
    assert before[:10] == after[:10]


@native
def test_memory_does_not_grow_over_many_calls() -> None:
    params = (ArrayParam(F64, 1), ListParam("int", 2, written=True))
    base = result_base(params)
    body = """
    int64_t n = w[9];
    double *out = rt->new_array(w, B, 12, 1, &n, 0), *scratch = rt->alloc(8 * n);
    if (!out || !scratch) return 4;
    for (int64_t i = 0; i < n; i++) scratch[i] = ((double *)w[8])[i * w[10]];
    for (int64_t i = 0; i < n; i++) out[i] = 2 * scratch[i];
    rt->release(scratch);
    ++*(int64_t *)w[11];
    return 0;
    """
    function = kernel_function(body, params, TupleResult((ArrayResult(base), ListResult(ArrayResult(base)))))
    array, rows = np.arange(1000.0), [[1000, 2], [3, 4]]
    function(array, rows)
    gc.collect()
    tracemalloc.start()
    for _ in range(20):
        function(array, rows)
    first = tracemalloc.get_traced_memory()[0]
    for _ in range(2000):
        function(array, rows)
    growth = tracemalloc.get_traced_memory()[0] - first
    tracemalloc.stop()
    assert rows[0][0] == 3021
    # One lost integer a call would be 56 kB; an array that happens to be alive at one of the two moments is 8 kB.
    assert growth < 20_000


@native
def test_scratch_memory_is_aligned_recycled_and_bounded() -> None:
    body = """
    void *blocks[100];
    for (int i = 0; i < 100; i++) {
        blocks[i] = rt->alloc(w[8]);
        if (!blocks[i] || (int64_t)blocks[i] % 64) return 1;
        if (w[8]) *(char *)blocks[i] = 1;
    }
    for (int i = 0; i < 100; i++) rt->release(blocks[i]);
    void *again = rt->alloc(w[8]);
    w[B] = 0;
    for (int i = 0; i < 100; i++) w[B] |= again == blocks[i];
    rt->release(again);
    rt->release(0);
    return rt->alloc(-1) || rt->alloc(1LL << 62);
    """
    function = kernel_function(body, (ScalarParam("int"),), ScalarResult("bool", CONTROL_WORDS + 1))
    assert CORE is not None
    for size in (0, 1, 100, 5000, 1 << 20, 10 << 20):
        assert function(size) is True
        assert CORE.scratch_kept <= 512 << 20


@native
def test_small_blocks_stay_with_their_thread() -> None:
    """What one thread has released another one does not get; nothing is lost when a thread ends."""
    body = """
    void *block = rt->alloc(100);
    if (!block) return 4;
    w[B] = (int64_t)block;
    rt->release(block);
    return 0;
    """
    function = kernel_function(body, (ScalarParam("int"),), ScalarResult("int", CONTROL_WORDS + 1))
    assert CORE is not None
    kept = [function(0)]
    before = CORE.scratch_kept
    assert function(0) == kept[0]
    assert CORE.scratch_kept == before > 0
    for _ in range(200):
        thread = threading.Thread(target=lambda: kept.extend((function(0), function(0))))
        thread.start()
        thread.join()
        assert kept[-1] == kept[-2] != kept[0]
    assert function(0) == kept[0]


@native
def test_kernels_run_without_the_interpreter_lock() -> None:
    """The kernel waits for a flag that only another Python thread sets."""
    body = """
    volatile int64_t *flag = (int64_t *)w[8];
    flag[0] = 1;
    for (int64_t i = 0; i < 20000000000 && !flag[1]; i++);
    return !flag[1];
    """
    function = kernel_function(body, (ArrayParam(I64, 1, written=True),))
    flags = np.zeros(2, np.int64)

    def answer() -> None:
        while not flags[0]:
            time.sleep(0.001)
        flags[1] = 1

    helper = threading.Thread(target=answer)
    helper.start()
    assert function(flags) is None
    helper.join()


@native
def test_small_work_may_keep_the_interpreter_lock() -> None:
    params = (ArrayParam(F64, 1),)
    base = result_base(params)
    body = "int64_t n = 2; w[B+1] = rt->threads(); rt->poll(); return rt->new_array(w, B, 12, 1, &n, 1) ? 0 : 4;"
    result = TupleResult((ArrayResult(base), ScalarResult("int", base + 1)))
    function = kernel_function(body, params, result, hold_below=100)
    array, threads = function(np.zeros(3))
    assert threads == 1 and array.tolist() == [0, 0]
    assert function(np.zeros(100))[1] >= 1


@native
def test_a_version_removed_while_it_runs_survives_the_call() -> None:
    body = "volatile int64_t *flag = (int64_t *)w[8]; flag[0] = 1; while (!flag[1]); return 0;"
    function = kernel_function(body, (ArrayParam(I64, 1, written=True),), ArgResult(0))
    flags = np.zeros(2, np.int64)
    answers: list[Any] = []
    helper = threading.Thread(target=lambda: answers.append(function(flags)))
    helper.start()
    while not flags[0]:
        time.sleep(0.001)
    function.clear_versions()
    gc.collect()
    flags[1] = 1
    helper.join()
    assert answers[0] is flags
    with pytest.raises(Missed):
        function(flags)


@native
def test_subclasses_keep_the_fast_path_unless_they_override_the_call() -> None:
    function_class = function_type(dispatch.dispatcher_type())
    vectorcall = 1 << 11
    assert function_class.__flags__ & vectorcall

    class Loud(function_class):  # type: ignore[misc]
        def __call__(self, *args: Any) -> Any:
            return ("loud", super().__call__(*args))

    assert not Loud.__flags__ & vectorcall
    loud = Loud(Signature(("x",)))
    loud.add_version(Version((ScalarParam("int"),), (), lambda x: x))
    assert loud(3) == ("loud", 3)


@native
def test_calls_in_other_forms() -> None:
    function = kernel_function("w[B] = w[8] - w[9]; return 0;", (ScalarParam("int"),) * 2, ScalarResult("int", 10))
    assert function(*[5, 3]) == 2
    assert function(**{"a": 5, "b": 3}) == 2
    assert list(map(function, [5, 6], [1, 2])) == [4, 4]
    assert function.__call__(5, 3) == 2
    uninitialised = function_type(dispatch.dispatcher_type()).__new__(type(function))
    with pytest.raises(Missed):
        uninitialised(1, 2)


@native
def test_ctrl_c_stops_a_kernel() -> None:
    """In a process of its own, so that the signal meets nothing else."""
    script = textwrap.dedent(
        """
        import os, signal, sys, threading, time
        sys.path[:0] = {paths!r}
        from tests_kernel import endless
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.process_time()  # not of the clock: others may keep the processors busy
        try:
            endless({tasks})
        except KeyboardInterrupt:
            print("interrupted" if time.process_time() - start < 5 else "late")
        print(endless.call_counts)
        """
    )
    for tasks in (1, 2):
        answer = run_script(script, tasks=tasks)
        assert answer.splitlines() == ["interrupted", "(1,)"], answer


@native
def test_a_handler_that_returns_does_not_stop_a_kernel_and_its_exception_is_kept() -> None:
    body = "for (;;) { if (*(volatile int64_t *)w[8]) return 0; if (rt->poll()) return 3; }"
    function = kernel_function(body, (ArrayParam(I64, 1, written=True),))
    flag = np.zeros(1, np.int64)
    before = signal.signal(signal.SIGALRM, lambda *_: flag.fill(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        assert function(flag) is None

        def fail(*_: Any) -> None:
            raise LookupError("from the handler")

        signal.signal(signal.SIGALRM, fail)
        flag[0] = 0
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(LookupError, match="from the handler"):
            function(flag)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


ENDLESS = """
import sys
from weft.runtime import dispatch, threads, toolchain
from weft.runtime.descriptor import *
threads.set_num_threads(2)
source = PRELUDE + '''
static const weft_rt *services;
static void piece(void *ctx, int64_t begin, int64_t end, int64_t task) { while (!services->poll()); }
int64_t kernel(const weft_rt *rt, int64_t *w) {
    services = rt;
    if (w[8] == 1) { while (!rt->poll()); return 3; }
    rt->parallel(piece, 0, w[8], w[8]);
    return 3;
}
'''
loaded = dispatch.load_kernel(toolchain.find().build_shared(source, name="endless"))
endless = dispatch.dispatcher_type()(Signature(("tasks",)))
endless.add_version(Version((ScalarParam("int"),), (NoneResult(),), loaded.address, 20, keepalive=loaded))
"""


def run_script(script: str, **values: Any) -> str:
    import tempfile
    from pathlib import Path

    import weft

    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "tests_kernel.py").write_text(f"PRELUDE = {PRELUDE!r}\n{ENDLESS}")
        paths = [directory, str(Path(weft.__file__).parents[1])]
        text = script.replace("{paths!r}", repr(paths))
        for name, value in values.items():
            text = text.replace("{" + name + "}", str(value))
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- BLAS ----------------------------------------------------------------------------------------------------------


@native
def test_blas_of_numpy_serves_kernels() -> None:
    table = blas.find()
    if table is None:
        pytest.skip("NumPy has loaded no BLAS with C entry points")
    body = """
    typedef INTEGER integer;
    void (*gemm)(int, int, int, integer, integer, integer, double, double *, integer, double *, integer, double,
                 double *, integer) = rt->dgemm;
    double (*dot)(integer, double *, integer, double *, integer) = rt->ddot;
    int64_t shape[2] = {w[9], w[15]};
    double *out = rt->new_array(w, B, 12, 2, shape, 0);
    if (!out || rt->blas_ilp64 != (sizeof(integer) == 8)) return 4;
    gemm(101, 111, 111, w[9], w[15], w[10], 1.0, (double *)w[8], w[11], (double *)w[13], w[16], 0.0, out, w[15]);
    w[B + 1] = BITS(dot(w[10], (double *)w[8], 1, (double *)w[8], 1));
    return 0;
    """.replace("INTEGER", "int64_t" if table.ilp64 else "int")
    params = (ArrayParam(F64, 2),) * 2
    base = result_base(params)
    function = kernel_function(body, params, TupleResult((ArrayResult(base), ScalarResult("float", base + 1))))
    rng = np.random.default_rng(1)
    left, right = rng.random((30, 40)), rng.random((40, 20))
    result, dot = function(left, right)
    np.testing.assert_array_equal(result, left @ right)
    assert dot == pytest.approx(left[0] @ left[0], rel=1e-14)


def test_no_loaded_blas_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "_loaded_libraries", lambda: iter(["/nowhere/libopenblas.so", "/lib/libm.so.6"]))
    assert blas.find() is None
