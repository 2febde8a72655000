"""The memory order of arrays on a device: arguments in Fortran order stay so there, and results lie as NumPy's do."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from tests.device import emulation


def _fortran(*shape):
    return np.asfortranarray(np.random.default_rng(sum(shape)).random(shape))


def arithmetic(a, b):
    c = a * b
    return a + b, np.where(c > 0.5, a, 0.0), -c


def of_both_orders(a, b):
    return a + b, b * 2, np.exp(a)


def in_three_dimensions(a):
    return a * a - 1


def stepped(a, n):
    b = a.copy()
    for _ in range(n):
        b[1:-1, 1:-1] = 0.25 * (b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:])
    return b


def in_place(a, b):
    a[1:-1] = b[2:] - b[:-2]
    a[0] *= 2
    a[-1, ::2] = 7


def by_rows_and_columns(a):
    return a.sum(axis=0), a.max(axis=1), a.argmin()


def products(a, b):
    return a @ b, (a.T @ a) @ b


def library(a, b):
    return np.linalg.solve(a, b), np.linalg.det(a), np.sort(a[0])


def element_by_element(a):
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            if a[i, j] > 0.5:
                s += a[i, j]
        out[i] = s
    return out


PROGRAMS = [
    (arithmetic, lambda: (_fortran(20, 30), _fortran(20, 30))),
    (of_both_orders, lambda: (_fortran(20, 30), np.random.default_rng(1).random((20, 30)))),
    (in_three_dimensions, lambda: (_fortran(5, 6, 7),)),
    (in_three_dimensions, lambda: (_fortran(5, 0, 7),)),
    (stepped, lambda: (_fortran(70, 80), 3)),
    (in_place, lambda: (_fortran(20, 30), _fortran(20, 30))),
    (by_rows_and_columns, lambda: (_fortran(20, 30),)),
    (products, lambda: (_fortran(20, 30), _fortran(30, 40))),
    (products, lambda: (_fortran(90, 80), np.random.default_rng(1).random((80, 70)))),
    (library, lambda: (np.asfortranarray(_fortran(12, 12) + 12 * np.eye(12)), _fortran(12, 3))),
    (element_by_element, lambda: (_fortran(20, 30),)),
]


def _lie_alike(one, other):
    if isinstance(other, tuple):
        return len(one) == len(other) and all(map(_lie_alike, one, other))
    if not isinstance(other, np.ndarray):
        return type(one) is type(other) and (one is None or np.allclose(one, other, rtol=1e-12))
    same = one.dtype == other.dtype and one.shape == other.shape and np.allclose(one, other, rtol=1e-10, atol=1e-12)
    return same and (one.flags.c_contiguous, one.flags.f_contiguous) == (
        other.flags.c_contiguous,
        other.flags.f_contiguous,
    )


@pytest.fixture
def device():
    pytest.importorskip("pyopencl", reason="pyopencl is not installed")
    from weft.device import opencl

    if not opencl.devices():
        pytest.skip("there is no OpenCL device")
    return opencl


@pytest.mark.parametrize("function, make", PROGRAMS)
def test_results_lie_as_those_of_numpy(function, make, device):
    compiled = weft.jit(function, target="opencl", fallback="error")
    for _ in range(2):
        ours, theirs = make(), make()
        assert _lie_alike(compiled(*ours), function(*theirs))
        assert all(map(_lie_alike, ours, theirs))
    # A version for the other order beside the first.
    other = tuple(np.ascontiguousarray(value) if isinstance(value, np.ndarray) else value for value in make())
    theirs = tuple(value.copy() if isinstance(value, np.ndarray) else value for value in other)
    assert _lie_alike(compiled(*other), function(*theirs))
    assert all(map(_lie_alike, other, theirs))
    assert all(version.last is not None for version in compiled.versions())


@pytest.mark.skipif(emulation.COMPILER is None, reason="there is no g++")
@pytest.mark.parametrize("function, make", [pair for pair in PROGRAMS if pair[0] is not library])
def test_the_text_for_cuda_reads_fortran_order(function, make, tmp_path):
    ours, theirs = make(), make()
    done, result = emulation.run(function, ours, tmp_path)
    assert done and _lie_alike(result, function(*theirs)) and all(map(_lie_alike, ours, theirs))


def test_arrays_on_the_device_keep_their_order(device):
    compiled = weft.jit(arithmetic, target="opencl", fallback="error")
    a, b = _fortran(20, 30), _fortran(20, 30)
    there = weft.device.put(a)
    assert _lie_alike(there.get(), a)
    for _ in range(2):
        results = compiled(there, weft.device.put(b))
        assert all(isinstance(result, weft.device.DeviceArray) for result in results)
        assert _lie_alike(tuple(result.get() for result in results), arithmetic(a, b))
        again = compiled(results[0], there)
        assert _lie_alike(tuple(result.get() for result in again), arithmetic(a + b, a))
        assert compiled.versions()[0].last.sent == compiled.versions()[0].last.fetched == 0
    of_c = weft.device.put(np.ascontiguousarray(a))
    expected = arithmetic(np.ascontiguousarray(a), np.ascontiguousarray(b))
    results = compiled(of_c, weft.device.put(np.ascontiguousarray(b)))
    assert _lie_alike(tuple(result.get() for result in results), expected)
    changed = weft.jit(in_place, target="opencl", fallback="error")
    changed(there, weft.device.put(b))
    in_place(a, b)
    assert _lie_alike(there.get(), a)


def test_arrays_of_pyopencl_keep_their_order(device):
    from pyopencl import array

    queue = device.current().queue
    compiled = weft.jit(in_three_dimensions, target="opencl", fallback="error")
    a = _fortran(5, 6, 7)
    for value in (a, np.ascontiguousarray(a), a):
        result = compiled(array.to_device(queue, value))
        assert isinstance(result, array.Array) and _lie_alike(result.get(), in_three_dimensions(value))
    changed = weft.jit(in_place, target="opencl", fallback="error")
    mine, other = _fortran(20, 30), _fortran(20, 30)
    there = array.to_device(queue, mine)
    changed(there, array.to_device(queue, other))
    in_place(mine, other)
    assert _lie_alike(there.get(), mine)


def counted(n, m):
    out = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            out[i, j] = i * m + j
    return out


def test_a_call_without_arrays_gives_an_ndarray_every_time(device):
    compiled = weft.jit(counted, target="opencl", fallback="error")
    for _ in range(3):
        assert _lie_alike(compiled(20, 30), counted(20, 30))
