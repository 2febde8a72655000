"""Programs in the style of APPy: the answers of plain Python on the CPU, on a device and on an emulated accelerator,
at sizes around the ends of blocks; blocks that comments declare parallel run in parallel."""

from __future__ import annotations

import copy
import inspect

import numpy as np
import pytest

import weft
from tests.device import emulation
from tests.semantics.appy_programs import PROGRAMS, relu_mask, saxpy
from tests.support import opencl_device

SIZES = (65, 1, 200, 64, 63, 2, 0)


def _same(ours, theirs):
    tolerance = 1e-5 if getattr(theirs, "dtype", None) == np.float32 else 1e-10
    return np.allclose(ours, theirs, rtol=tolerance, equal_nan=True)


def _agree(function, call, arguments):
    ours, theirs = arguments, copy.deepcopy(arguments)
    try:
        with np.errstate(all="ignore"):
            function(*theirs)
    except Exception as problem:
        with pytest.raises(type(problem)):
            call(*ours)
    else:
        call(*ours)
    assert all(map(_same, ours, theirs)), [n for n, pair in enumerate(zip(ours, theirs)) if not _same(*pair)]


@pytest.mark.parametrize("function, make", PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_on_the_cpu(function, make):
    compiled = weft.jit(function, fallback="error")
    for size in SIZES:
        _agree(function, compiled, make(size))


@pytest.mark.parametrize("function, make", PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_on_a_device(function, make):
    opencl_device()
    compiled = weft.jit(function, target="opencl", fallback="error")
    for size in SIZES:
        _agree(function, compiled, make(size))
    assert any(version.last is not None for version in compiled.versions())


@pytest.mark.skipif(emulation.COMPILER is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("function, make", PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_on_an_emulated_accelerator(function, make, tmp_path):
    parameters = list(inspect.signature(function).parameters.values())

    def call(*arguments):
        done, _ = emulation.run(function, arguments, tmp_path)
        assert done

    for size in (65, 1):
        arguments = make(size)
        _agree(function, call, (*arguments, *(each.default for each in parameters[len(arguments) :])))


@pytest.mark.parametrize("function, arguments", [(saxpy, (2.0, np.ones(700), np.ones(700), 700))])
def test_a_block_that_is_read_and_written_is_one_parallel_loop(function, arguments):
    compiled = weft.jit(function, fallback="error")
    compiled(*arguments)
    assert [loop.kind for loop in compiled.program().loops] == ["parallel", "vector"]
    assert "check" not in str(compiled.program())


def test_blocks_need_no_tests_of_their_length():
    compiled = weft.jit(relu_mask, fallback="error")
    compiled(np.ones(700), np.ones(700), 700)
    assert "== 1" not in str(compiled.program())


def blocks(a, step):
    out = np.zeros(a.shape[0])
    n = a.shape[0]
    for i in range(0, n, step):
        out[i : min(i + step, n)] = a[i : min(i + step, n)] + out[i : min(i + step, n)]
    return out


def past_the_end(a, n):
    total = 0.0
    for i in range(0, n, 16):
        total += a[i : min(i + 16, n)].sum()
    return total


def backwards(a, n):
    out = np.zeros_like(a)
    for i in range(n, 0, -16):
        out[max(i - 16, 0) : i] = a[max(i - 16, 0) : i] * 2.0
    return out


def of_two_arrays(a, b, n):
    for i in range(0, n, 8):
        a[i : min(i + 8, n)] += b[i : min(i + 8, n)]


@pytest.mark.parametrize("size", [0, 1, 5, 16, 17, 100])
@pytest.mark.parametrize("n", [-3, 0, 1, 5, 15, 16, 17, 100, 130])
def test_blocks_up_to_any_end(size, n):
    """Slices whose ends are minima: within the array, beyond it, and below 0."""
    a = np.random.default_rng(size).random(size)
    for function in (past_the_end, backwards):
        assert np.allclose(weft.jit(function)(a, n), function(a, n))
    assert np.allclose(weft.jit(blocks)(a, 7), blocks(a, 7))
    ours, theirs, other = a.copy(), a.copy(), np.random.default_rng(1).random(max(size - 2, 0))
    compiled = weft.jit(of_two_arrays)
    try:
        of_two_arrays(theirs, other, n)
    except ValueError:
        with pytest.raises(ValueError, match="broadcast"):
            compiled(ours, other, n)
    else:
        compiled(ours, other, n)
    assert np.array_equal(ours, theirs)
