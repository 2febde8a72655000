"""Comments that direct loops and tensor expressions: what they assert, on CPU and on a device, and what is wrong with
those that say nothing."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import weft
from tests.support import opencl_device
from weft.errors import ParallelError, PragmaError
from weft.ir.program import Loop, LoopKind
from weft.ir.walk import walk


def vector_add(a, b, c, N):
    #pragma parallel for simd
    for i in range(N):
        c[i] = a[i] + b[i]


def softmax_by_loops(a, b, M, N):
    #pragma parallel for
    for i in range(M):
        m = float("-inf")
        #pragma simd
        for j in range(N):
            m = np.maximum(m, a[i, j])
        s = 0.0
        #pragma simd
        for j in range(N):
            s += np.exp(a[i, j] - m)
        #pragma simd
        for j in range(N):
            b[i, j] = np.exp(a[i, j] - m) / s


def softmax_by_tensors(a, b, M, N):
    #pragma parallel for
    for i in range(M):
        m = np.max(a[i, :N])
        s = np.sum(np.exp(a[i, :N] - m))
        b[i, :N] = np.exp(a[i, :N] - m) / s


def matrix_vector(alpha, A, x, y):
    M, N = A.shape
    #pragma :M=>parallel,block(2) :N=>reduction(sum:y)
    y[:M] = (alpha * A[:M, :N]) @ x[:N]
    return y


def spmv(A_row, A_col, A_val, x):
    N = A_row.shape[0]
    y = np.empty(N - 1, dtype=A_val.dtype)
    #pragma parallel for
    for i in range(N - 1):
        y[i] = 0.0
        #pragma simd
        for j in range(A_row[i], A_row[1 + i]):
            y[i] += A_val[j] * x[A_col[j]]
    return y


def azimuthal(radius, r1, r2, data, data_sum, mask_sum, N):
    #pragma parallel for simd
    for i in range(0, N):
        mask = np.logical_and(r1 <= radius[i], radius[i] < r2)
        #pragma atomic
        data_sum[0] += np.where(mask, data[i], 0)
        #pragma atomic
        mask_sum[0] += mask


def heat(TSTEPS, A, B):
    M, N, K = A.shape
    for t in range(1, TSTEPS):
        #pragma 1:M-1=>parallel 1:N-1=>parallel 1:K-1=>parallel
        B[1:-1, 1:-1, 1:-1] = 0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[:-2, 1:-1, 1:-1])
        #pragma 1:M-1=>parallel 1:N-1=>parallel 1:K-1=>parallel
        A[1:-1, 1:-1, 1:-1] = 0.125 * (B[2:, 1:-1, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[:-2, 1:-1, 1:-1])
    return A, B


def scattered(a, index, out):
    #pragma parallel for
    for i in range(index.size):
        out[index[i]] = a[i] * 2


def by_vectors(alpha, A, x, y):
    M, N = A.shape
    #pragma parallel for
    for i in range(0, M, 1):
        y[i] = 0.0
        for j in range(0, N, weft.MVL):
            v = weft.vidx(j, weft.MVL, N)
            y[i] += np.sum(alpha * A[i, v] * x[v])


def _random(*shape):
    return np.random.default_rng(sum(shape)).random(shape)


def _sparse():
    return np.array([0, 2, 2, 5]), np.array([0, 3, 1, 2, 3]), _random(5), _random(4)


LISTINGS = [
    (vector_add, lambda: (_random(300), _random(300), np.zeros(300), 300)),
    (softmax_by_loops, lambda: (_random(30, 70), np.zeros((30, 70)), 30, 70)),
    (softmax_by_tensors, lambda: (_random(30, 70), np.zeros((30, 70)), 30, 70)),
    (matrix_vector, lambda: (1.5, _random(40, 60), _random(60), np.zeros(40))),
    (by_vectors, lambda: (1.5, _random(40, 150), _random(150), np.zeros(40))),
    (spmv, _sparse),
    (azimuthal, lambda: (_random(500), 0.2, 0.6, _random(500), np.zeros(1), np.zeros(1), 500)),
    (heat, lambda: (5, _random(9, 10, 11), _random(9, 10, 11))),
    (scattered, lambda: (_random(40), np.random.default_rng(1).permutation(40), np.zeros(40))),
]


@pytest.mark.parametrize("function, make", LISTINGS, ids=lambda value: getattr(value, "__name__", ""))
def test_annotated_programs_give_what_python_gives(function, make):
    ours, theirs = make(), make()
    compiled = weft.jit(function, fallback="error")
    result, expected = compiled(*ours), function(*theirs)
    if expected is not None:
        assert np.allclose(result, expected)
    for one, other in zip(ours, theirs):
        assert np.allclose(one, other)


@pytest.mark.parametrize("function, make", LISTINGS, ids=lambda value: getattr(value, "__name__", ""))
def test_annotated_programs_run_on_a_device(function, make):
    opencl_device()
    ours, theirs = make(), make()
    compiled = weft.jit(function, target="opencl", fallback="error")
    result, expected = compiled(*ours), function(*theirs)
    assert expected is None or np.allclose(result, expected)
    assert all(np.allclose(one, other) for one, other in zip(ours, theirs))


def test_a_loop_that_cannot_be_proved_parallel_is_by_assertion():
    from weft import pipeline

    arguments = (_random(4000), np.random.default_rng(1).permutation(4000), np.zeros(4000))
    program = dict(pipeline.stages(scattered, arguments))["schedule"]
    assert any(isinstance(node, Loop) and node.kind is LoopKind.PARALLEL for node in walk(program.body))


def carried(a):
    #pragma parallel for
    for i in range(1, a.size):
        a[i] = a[i - 1] + 1


def test_a_provable_race_is_an_error_that_names_the_variable():
    with pytest.raises(ParallelError, match="a"):
        weft.jit(carried)(np.zeros(50))


def test_a_provable_race_is_an_error_on_a_device_too_without_a_warning_before_it():
    opencl_device()
    compiled = weft.jit(carried, target="opencl")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            a = np.zeros(50)
            with pytest.raises(ParallelError, match="a"):
                compiled(a)
            assert not a.any()


def on_one_thread(a):
    #pragma parallel for single
    for i in range(1, a.size):
        a[i] = a[i - 1] + 1


def test_single_asserts_nothing():
    a = np.zeros(50)
    weft.jit(on_one_thread)(a)
    assert a[-1] == 49


def unknown_word(a):
    #pragma vectorise
    for i in range(a.size):
        a[i] = 0


def before_no_loop(a):
    #pragma parallel for
    a[0] = 1


def unknown_property(a):
    #pragma :N=>fast
    a[:] = 1


def reduction_of_nothing(a, y):
    #pragma :N=>reduction(sum:z)
    y[0] = a.sum()


def atomic_assignment(a):
    #pragma atomic
    a[0] = 1


def wrong_clause(a):
    #pragma parallel for collapse
    for i in range(a.size):
        a[i] = 0


def behind_a_statement(a):
    a[:] = 1  #pragma :N=>parallel


def before_nothing(a):
    a[:] = 1
    #pragma parallel for


def block_of_nothing(a):
    #pragma :N=>block(0)
    a[:] = 1


def of_other_tools(a):
    # pragma: no cover
    for i in range(a.size):  # pragma: no branch
        a[i] = len("#pragma parallel for")  # what a string says is no pragma
    if a.size > 10**9:  # pragma nocover
        # pragma NO COVER
        return a[:1]
    return a
    # pragma: no cover


def test_pragmas_of_other_tools_are_comments():
    assert np.array_equal(weft.jit(of_other_tools, fallback="error")(np.zeros(3)), np.full(3, 20.0))


def largest_and_smallest(x):
    low, high = np.inf, -np.inf
    #pragma parallel for
    for i in range(x.size):
        low = min(low, x[i])
        high = max(high, x[i])
    return low, high


@pytest.mark.parametrize("target", ["cpu", "opencl"])
def test_extremes_are_reductions_of_parallel_loops(target):
    """They begin as a float of Python's and end as NumPy's: a flag beside each of them says which."""
    if target == "opencl":
        pytest.importorskip("pyopencl", reason="pyopencl is not installed")
    compiled = weft.jit(largest_and_smallest, fallback="error", target=target)
    for x in (np.random.default_rng(1).random(1000), np.zeros(0)):
        ours, theirs = compiled(x), largest_and_smallest(x)
        assert ours == theirs and [*map(type, ours)] == [*map(type, theirs)]


@pytest.mark.parametrize(
    "function, text",
    [
        (behind_a_statement, "behind a statement"),
        (before_nothing, "no statement follows"),
        (block_of_nothing, "no number of elements"),
        (unknown_word, "'vectorise' is no pragma"),
        (before_no_loop, "stands before a for loop"),
        (unknown_property, "'fast' is no property"),
        (atomic_assignment, "augmented assignment"),
        (wrong_clause, "'collapse' does not follow"),
    ],
)
def test_a_wrong_pragma_is_an_error_with_its_place(function, text):
    with pytest.raises(PragmaError, match=text) as caught:
        weft.jit(function)(np.zeros(5))
    shown = str(caught.value)
    assert "#pragma" in shown and "^" in shown and len(shown.splitlines()) <= 15


def test_a_reduction_names_a_variable_of_its_statement():
    with pytest.raises(PragmaError, match="'z' is no variable"):
        weft.jit(reduction_of_nothing)(np.zeros(5), np.zeros(1))


def too_many(a, N):
    #pragma :N=>parallel :M=>parallel
    a[:N] = a[:N] * 2


def too_many_beside_a_sum(a, N):
    s = np.zeros(N)
    #pragma :N=>parallel :N=>reduction(sum:s) :M=>simd
    s[:N] = np.sum(a[:N, :N], axis=1)
    return s


def of_one_element(a):
    #pragma :N=>parallel
    a[0] = 2


def in_a_branch(a, N):
    if N > 2:
        for i in range(3):
            #pragma :N=>parallel :K=>simd
            a[i, :N] += 1


@pytest.mark.parametrize("target", ("cpu", "opencl"))
@pytest.mark.parametrize(
    "function, rank, text",
    [
        (too_many, 1, "the statement has 1 dimension, the pragma names 2: :N :M"),
        (too_many_beside_a_sum, 2, "the statement has 2 dimensions, the pragma names 3"),
        (of_one_element, 1, "the statement has no dimension"),
        (in_a_branch, 2, "the statement has 1 dimension, the pragma names 2"),
    ],
)
def test_a_pragma_that_names_more_dimensions_than_there_are(function, rank, text, target):
    if target == "opencl":
        opencl_device()
    arguments = (np.ones((5,) * rank), 5)[: function.__code__.co_argcount]
    with pytest.raises(PragmaError, match=text) as caught:
        weft.jit(function, target=target)(*arguments)
    assert "#pragma" in str(caught.value) and "^^^" in str(caught.value)
    assert np.array_equal(arguments[0], np.ones((5,) * rank))


def two_sums(a, b, y, M, N, K):
    #pragma :M=>parallel :N=>reduction(sum:y) :K=>reduction(sum:y)
    y[:M] = np.sum(a[:M, :N], axis=1) + np.sum(b[:M, :K], axis=1)
    #pragma :M=>parallel :N=>parallel :K=>reduction(sum:a)
    a[:M, :N] = b[:M, :K] @ b[:N, :K].T


def test_sums_have_dimensions_of_their_own():
    ours, theirs = (([*map(np.copy, (np.ones((4, 4)), np.ones((4, 7)), np.zeros(4)))]) for _ in range(2))
    weft.jit(two_sums, fallback="error")(*ours, 4, 4, 7)
    two_sums(*theirs, 4, 4, 7)
    assert all(map(np.allclose, ours, theirs))


def in_a_string(a):
    """
    #pragma nonsense
    """
    return a + 1


def test_a_string_is_no_comment():
    assert weft.jit(in_a_string, fallback="error")(np.zeros(2))[0] == 1
