"""Functions on an OpenCL device: the answers of NumPy, and where they ran."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

import weft
from tests.device.programs import PROGRAMS, elementwise, gathered, jacobi, normalised, softmax
from weft.errors import FallbackWarning, Unsupported

pyopencl = pytest.importorskip("pyopencl", reason="pyopencl is not installed")
from weft.device import opencl  # noqa: E402

pytestmark = pytest.mark.skipif(not opencl.devices(), reason="there is no OpenCL device")


def _agree(one, other):
    if isinstance(other, tuple):
        return len(one) == len(other) and all(map(_agree, one, other))
    if other is None:
        return one is None
    if not isinstance(other, np.ndarray):
        return type(one) is type(other) and np.allclose(one, other, rtol=1e-12)
    tolerance = 1e-5 if other.dtype == np.float32 else 1e-12
    return one.dtype == other.dtype and one.shape == other.shape and np.allclose(one, other, rtol=tolerance)


@pytest.mark.parametrize("function, make", PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_device_gives_what_numpy_gives(function, make):
    compiled = weft.jit(function, target="opencl", fallback="error")
    for _ in range(2):
        ours, theirs = make(), make()
        assert _agree(compiled(*ours), function(*theirs))
        assert all(map(_agree, ours, theirs))
    assert any(version.last is not None for version in compiled.versions())


def test_time_steps_stay_on_the_device():
    compiled = weft.jit(jacobi, target="opencl")
    a, b = np.random.rand(50, 60), np.random.rand(50, 60)
    compiled(a, b, 20)
    counts = compiled.versions()[0].last
    assert counts.launches == 40
    assert counts.sent == counts.fetched == a.nbytes + b.nbytes


def test_rows_are_fused_into_one_launch():
    compiled = weft.jit(softmax, target="opencl")
    compiled(np.random.rand(50, 60))
    assert compiled.versions()[0].last.launches == 1


def test_sums_have_one_shape():
    """The order of additions depends on the size alone: two calls give the same bits."""
    compiled = weft.jit(normalised, target="opencl")
    x = np.random.rand(300, 200)
    assert compiled(x).tobytes() == compiled(x.copy()).tobytes()


def test_an_index_out_of_bounds_raises_as_in_python():
    compiled = weft.jit(gathered, target="opencl")
    x, index = np.random.rand(10), np.arange(10)
    assert np.array_equal(compiled(x, index), x)
    index[7] = 10
    with pytest.raises(IndexError, match="index 10 is out of bounds for axis 0 with size 10"):
        compiled(x, index)


def scaled_in_place(x, index):
    for i in range(index.size):
        x[index[i]] = x[index[i]] * 2


def test_nothing_is_half_written_where_a_kernel_complains():
    compiled = weft.jit(scaled_in_place, target="opencl")
    compiled(np.random.rand(10), np.arange(10))
    ours, theirs = np.arange(10.0), np.arange(10.0)
    index = np.array([1, 2, 3, 99, 4])
    for function, x in ((compiled, ours), (scaled_in_place, theirs)):
        with pytest.raises(IndexError):
            function(x, index)
    assert np.array_equal(ours, theirs)


def grows(n):
    total = 1
    for i in range(n):
        total = total * 3
    return total


def test_integers_beyond_64_bits_are_pythons():
    compiled = weft.jit(grows, target="opencl", fallback="silent")
    assert compiled(20) == 3**20
    assert compiled(60) == 3**60


def rotated(z):
    return z * 1j


def test_what_has_no_kernels_runs_on_the_cpu_with_one_warning():
    compiled = weft.jit(rotated, target="opencl")
    z = np.random.rand(20) + 1j
    with pytest.warns(FallbackWarning, match="complex"):
        assert np.array_equal(compiled(z), z * 1j)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(compiled(z), z * 1j)
    with pytest.raises(Unsupported, match="complex"):
        weft.jit(rotated, target="opencl", fallback="error")(z)


def test_a_device_that_does_not_exist_is_named(monkeypatch):
    monkeypatch.setenv(opencl.CHOICE, "77")
    compiled = weft.jit(elementwise, target="opencl")
    a = np.random.rand(5)
    with pytest.warns(FallbackWarning, match="WEFT_OPENCL_DEVICE='77' names none"):
        assert np.array_equal(compiled(a, a), elementwise(a, a))


def test_other_types_and_overlap_after_a_first_call():
    compiled = weft.jit(elementwise, target="opencl", fallback="silent")
    for dtype in (np.float64, np.float32, np.int64, np.int32):
        a = (np.random.rand(30) * 9).astype(dtype)
        assert _agree(compiled(a, a[::-1]), elementwise(a, a[::-1]))
    base = copy.copy(np.arange(40.0))
    shifted = weft.jit(scaled_in_place, target="opencl", fallback="silent")
    expected = base.copy()
    shifted(base[1:], np.arange(3))
    scaled_in_place(expected[1:], np.arange(3))
    assert np.array_equal(base, expected)


def test_arrays_stay_on_the_device_from_call_to_call():
    compiled = weft.jit(elementwise, target="opencl", fallback="error")
    a, b = np.random.rand(40, 50), np.random.rand(40, 50)
    there = weft.device.put(a)
    first = compiled(there, weft.device.put(b))
    assert isinstance(first, weft.device.DeviceArray) and first.shape == a.shape
    second = compiled(first, there)
    assert compiled.versions()[0].last.sent == compiled.versions()[0].last.fetched == 0
    assert np.allclose(np.asarray(second), elementwise(elementwise(a, b), a))


def test_an_array_on_the_device_changes_in_place():
    compiled = weft.jit(jacobi, target="opencl", fallback="error")
    a, b = np.random.rand(30, 40), np.random.rand(30, 40)
    there = weft.device.put(a), weft.device.put(b)
    compiled(*there, 3)
    jacobi(a, b, 3)
    assert np.allclose(there[0].get(), a) and np.allclose(there[1].get(), b)


def test_an_array_on_the_device_is_whole_after_a_complaint():
    compiled = weft.jit(scaled_in_place, target="opencl")
    there = weft.device.put(np.arange(10.0))
    with pytest.raises(IndexError):
        compiled(there, np.array([1, 2, 99]))
    expected = np.arange(10.0)
    with pytest.raises(IndexError):
        scaled_in_place(expected, np.array([1, 2, 99]))
    assert there.shape == (10,)


def test_arrays_of_pyopencl_come_back_as_such():
    from pyopencl import array

    device = opencl.current()
    a = np.random.rand(30)
    compiled = weft.jit(elementwise, target="opencl", fallback="error")
    result = compiled(array.to_device(device.queue, a), array.to_device(device.queue, a))
    assert isinstance(result, array.Array) and np.allclose(result.get(), elementwise(a, a))


def test_explain_names_kernels_lines_and_bytes():
    compiled = weft.jit(jacobi, target="opencl")
    compiled(np.random.rand(30, 40), np.random.rand(30, 40), 5)
    text = str(compiled.explain())
    assert "a work-item for each point of" in text and "on the host" in text
    assert "newest call: 10 launches, 19200 bytes sent, 19200 fetched" in text
    assert "__kernel" in compiled.inspect("kernels")


def test_a_child_of_a_fork_computes_on_the_cpu():
    import os

    compiled = weft.jit(elementwise, target="opencl")
    a = np.random.rand(30)
    expected = elementwise(a, a)
    assert np.array_equal(compiled(a, a), expected)
    child = os.fork()
    if not child:
        os._exit(0 if np.array_equal(compiled(a, a), expected) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def helper(x):
    return x * 2


SCALE = 3.0


def with_surroundings(a):
    return helper(a) + SCALE


def test_a_helper_or_global_that_changes_between_calls_is_seen(monkeypatch):
    compiled = weft.jit(with_surroundings, target="opencl", fallback="error")
    a = np.arange(20.0)
    assert np.array_equal(compiled(a), a * 2 + 3)
    monkeypatch.setitem(globals(), "helper", lambda x: x * 5)
    assert np.array_equal(compiled(a), a * 5 + 3)
    monkeypatch.setitem(globals(), "SCALE", 4.0)
    assert np.array_equal(compiled(a), a * 5 + 4)


def test_auto_without_an_accelerator_is_the_cpu():
    compiled = weft.jit(elementwise, target="auto")
    a = np.random.rand(5)
    assert np.array_equal(compiled(a, a), elementwise(a, a))
    assert compiled.versions() == []


def test_auto_times_both_and_keeps_the_faster(monkeypatch):
    from weft.device import function, targets

    monkeypatch.setattr(function, "accelerator", lambda: targets.TARGETS["opencl"])
    ticks = iter(range(10**6))
    monkeypatch.setattr(function, "perf_counter", lambda: float(next(ticks)))
    compiled = weft.jit(elementwise, target="auto")
    a = np.random.rand(50)
    for _ in range(8):
        assert np.array_equal(compiled(a, a), elementwise(a, a))
    assert set(compiled.stats["places"].values()) == {"cpu"}
