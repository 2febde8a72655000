"""Functions on an OpenCL device: the answers of NumPy, and where they ran."""

from __future__ import annotations

import copy
import math
import warnings

import numpy as np
import pytest

import weft
from tests.device import programs_complex
from tests.device.programs import (
    PROGRAMS,
    elementwise,
    gathered,
    jacobi,
    normalised,
    scattered_floats,
    softmax,
    wide_histogram,
)
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
    tolerance = 1e-5 if other.dtype in (np.float32, np.complex64) else 1e-12
    return one.dtype == other.dtype and one.shape == other.shape and np.allclose(one, other, rtol=tolerance)


ALL = (*PROGRAMS, *programs_complex.PROGRAMS)


@pytest.mark.parametrize("function, make", ALL, ids=lambda value: getattr(value, "__name__", ""))
def test_a_device_gives_what_numpy_gives(function, make):
    compiled = weft.jit(function, target="opencl", fallback="error")
    for _ in range(2):
        ours, theirs = make(), make()
        assert _agree(compiled(*ours), function(*theirs))
        assert all(map(_agree, ours, theirs))
    assert any(version.last is not None for version in compiled.versions())


_NAMES = ("softmax", "normalised", "product", "jacobi", "wide_stencil")
GROUPED = [pair for pair in PROGRAMS if pair[0].__name__ in _NAMES]


@pytest.mark.parametrize("function, make", GROUPED, ids=lambda value: getattr(value, "__name__", ""))
def test_groups_with_barriers_and_local_memory_in_opencl(function, make, monkeypatch):
    """The form for accelerators, on PoCL: the same answers, and the same bits of sums."""
    alone = weft.jit(function, target="opencl", fallback="error")
    first = make()
    expected = alone(*first)
    monkeypatch.setattr(opencl.OpenCL, "is_processor", property(lambda self: False))
    compiled = weft.jit(function, target="opencl", fallback="error")
    ours = make()
    result = compiled(*ours)
    kernels = compiled.inspect("kernels").partition("__kernel")[2]
    one_column = first[0].shape[-1:] == (1,)  # nothing for a group to share
    assert one_column or "k_barrier();" in kernels or "k_lane" in kernels
    if function.__name__ == "normalised":
        assert result.tobytes() == expected.tobytes()
    assert _agree(result, expected) and all(map(_agree, ours, first))


def lists_of_results(a):
    return [a.sum(), a.max()], (a * 2).tolist(), [x * 2 for x in a[0]]


def test_results_that_are_lists_are_lists():
    compiled = weft.jit(lists_of_results, target="opencl", fallback="error")
    a = np.random.default_rng(1).random((3, 4))
    ours, theirs = compiled(a), lists_of_results(a)
    assert ours[1:] == theirs[1:] and [type(x) for x in ours[2]] == [type(x) for x in theirs[2]]


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


def test_updates_of_integers_are_atomic_and_those_of_floats_are_not():
    index, weight = np.arange(3000) % 4000, np.arange(3000)
    whole = weft.jit(wide_histogram, target="opencl", fallback="error")
    whole(index, weight, 4000)
    assert "k_atomic_add_i64(&" in whole.inspect("kernels")
    floats = weft.jit(scattered_floats, target="opencl", fallback="error")
    floats(index, weight * 0.5, 4000)
    assert "k_atomic_add_i64(&" not in floats.inspect("kernels")


def product_in_place(a, b):
    a[1:] = a[1:] * 2 + b[:-1]
    return a.sum()


def test_one_array_given_twice_runs_on_the_device():
    compiled = weft.jit(elementwise, target="opencl", fallback="error")
    a = np.random.rand(30)
    assert np.array_equal(compiled(a, a), elementwise(a, a)) and compiled.versions()[0].last is not None
    changed = weft.jit(product_in_place, target="opencl", fallback="silent")
    ours, theirs = a.copy(), a.copy()
    assert np.allclose(changed(ours, ours), product_in_place(theirs, theirs)) and np.allclose(ours, theirs)


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


@pytest.mark.parametrize("function", (programs_complex.functions, programs_complex.further))
def test_complex_functions_at_zeros_infinities_and_nan(function):
    compiled = weft.jit(function, target="opencl", fallback="error")
    edges = programs_complex.EDGES
    with np.errstate(all="ignore"):
        expected = function(edges)
    for number, (ours, theirs) in enumerate(zip(compiled(edges), expected)):
        for one, other in ((ours.real, theirs.real), (ours.imag, theirs.imag)):
            same = np.isclose(one, other, rtol=1e-12, atol=0, equal_nan=True)
            signs = (np.signbit(one) == np.signbit(other)) | np.isnan(other) | np.isinf(edges) | np.isnan(edges)
            assert np.all(same & signs), (number, edges[~(same & signs)])


def angles(z):
    return np.arcsin(z)


def test_what_has_no_kernels_runs_on_the_cpu_with_one_warning():
    compiled = weft.jit(angles, target="opencl")
    z = np.random.rand(20) + 1j
    with pytest.warns(FallbackWarning, match="arcsin of complex"):
        assert np.allclose(compiled(z), np.arcsin(z))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.allclose(compiled(z), np.arcsin(z))
    with pytest.raises(Unsupported, match="arcsin of complex"):
        weft.jit(angles, target="opencl", fallback="error")(z)


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
    compiled(np.random.rand(300, 200), np.random.rand(300, 200), 5)
    text = str(compiled.explain())
    assert "work-items that share the iterations of" in text and "on the host" in text
    assert "newest call: 10 launches, 960000 bytes sent, 960000 fetched" in text
    compiled(np.random.rand(30, 40), np.random.rand(30, 40), 5)
    text = str(compiled.explain())
    assert "if it is little work" in text and "newest call: 1 launches, 19200 bytes sent, 19200 fetched" in text
    assert "__kernel" in compiled.inspect("kernels")


def test_explain_waits_for_kernels_whose_results_stay():
    compiled = weft.jit(softmax, target="opencl", fallback="error")
    there = weft.device.put(np.random.rand(2000, 1500))
    result = compiled(there)
    assert all(seconds > 0 for seconds in compiled.versions()[0].last.seconds().values())
    assert "measured (1x)" in str(compiled.explain())
    assert np.allclose(np.asarray(result), softmax(np.asarray(there)))


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
    from weft.device import function, opencl

    monkeypatch.setattr(function.AutoFunction, "_predict", lambda *_: None)
    monkeypatch.setattr(function, "accelerator", lambda: opencl.TARGET)
    ticks = iter(range(10**6))
    monkeypatch.setattr(function, "perf_counter", lambda: float(next(ticks)))
    compiled = weft.jit(elementwise, target="auto")
    a = np.random.rand(50)
    for _ in range(8):
        assert np.array_equal(compiled(a, a), elementwise(a, a))
    assert set(compiled.stats["places"].values()) == {"cpu"}


def test_lengths_and_powers_of_python_numbers() -> None:
    def scaled(a, t):
        return a * (t**2 + t**3 + math.hypot(t, 2.0) + math.hypot(t, 2.0, 3.0))

    a = np.arange(1000.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(weft.jit(scaled, target="opencl")(a, 1.5), scaled(a, 1.5), rtol=1e-14)


def _shifted(a, b):
    for i in range(1, a.shape[0]):
        a[i] = b[i - 1] + 1


def test_one_array_of_the_device_as_two_arguments():
    compiled = weft.jit(_shifted, target="opencl", fallback="error")
    both = weft.device.put(np.zeros(6))
    compiled(both, both)
    assert both.get().tolist() == [0, 1, 2, 3, 4, 5]


def test_arrays_of_pyopencl_change_where_they_are():
    from pyopencl import array

    device = opencl.current()
    compiled = weft.jit(_shifted, target="opencl", fallback="error")
    a, b = array.to_device(device.queue, np.zeros(8)), array.to_device(device.queue, np.arange(8.0))
    compiled(a, b)
    assert a.get().tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    a = array.to_device(device.queue, np.zeros(8))
    compiled(a[2:], b[2:])
    assert a.get().tolist() == [0, 0, 0, 3, 4, 5, 6, 7]
    with pytest.raises(ValueError, match="shares memory of the device"):
        compiled(a[2:], a[:6])


@pytest.mark.parametrize(
    "part",
    [slice(None), slice(3, 20), slice(None, None, 2), slice(None, None, -1), slice(0, 0)],
    ids=["whole", "part", "gaps", "reversed", "empty"],
)
def test_arrays_of_another_context_go_by_way_of_the_host(part):
    from pyopencl import array

    queue = pyopencl.CommandQueue(pyopencl.Context([opencl.current().device]))
    compiled = weft.jit(_shifted_sum, target="opencl", fallback="error")
    for _ in range(2):
        first, second = np.arange(30.0), np.arange(30.0) * 7
        a, b = array.to_device(queue, first), array.to_device(queue, second)
        result = compiled(a[part], b[part])
        assert isinstance(result, array.Array) and result.context == queue.context
        assert np.array_equal(result.get(), _shifted_sum(first[part], second[part]))
        assert np.array_equal(a.get(), first) and np.array_equal(b.get(), second)
    with pytest.raises(ValueError, match="shares memory of the device"):
        compiled(a[::2], a[::-2])


def _shifted_sum(a, b):
    a[1:] = b[:-1]
    return a + b


def _mixed(a, b):
    b[0] = a[1]
    return b, a * 2, (a + b)[::2]


def test_results_are_of_the_kind_of_the_arguments_and_arguments_are_themselves():
    """Views have no form on a device, and a fallback computes on the CPU: new arrays go there all the same."""
    from pyopencl import array

    there, here = array.to_device(opencl.current().queue, np.arange(6.0)), np.zeros(6)
    same, new, view = weft.jit(_mixed, target="opencl", fallback="error")(there, here)
    assert same is here and here[0] == 1 and new.get().tolist() == [0, 2, 4, 6, 8, 10]
    assert isinstance(view, array.Array) and view.get().tolist() == [1, 2, 4]

    def printing(a, b):
        print("on the CPU")
        a[0] = 5
        return a, a + 1, b

    same, new, other = weft.jit(printing, target="opencl", fallback="silent")(there, here)
    assert same is there and other is here and there.get()[0] == 5 and isinstance(new, array.Array)


class _Shared:
    """An array of a library that speaks DLPack."""

    def __init__(self, array):
        self.array = array

    @staticmethod
    def from_dlpack(array):
        return _Shared(np.from_dlpack(array))

    def __array_namespace__(self):
        return _Shared

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_arrays_that_speak_dlpack():
    compiled = weft.jit(lambda a, b: a * 2 + b, target="opencl", fallback="error")
    result = compiled(_Shared(np.arange(5.0)), 1.0)
    assert isinstance(result, _Shared) and result.array.tolist() == [1, 3, 5, 7, 9]
    a = _Shared(np.zeros(4))
    weft.jit(_shifted, target="opencl", fallback="error")(a, np.arange(4.0))
    assert a.array.tolist() == [0, 1, 2, 3]

    class Elsewhere(_Shared):
        def __dlpack_device__(self):
            return 4, 0

    with pytest.raises(TypeError, match="copy it to the host"):
        compiled(Elsewhere(np.zeros(3)), 1.0)


def test_a_size_that_one_kernel_would_compute_is_known_to_the_host():
    """A run of small statements sets the size of an array that is allocated after it."""
    from benchmarks.kernels import load
    from benchmarks.kernels.registry import agree

    benchmark = load("mandelbrot2")
    compiled = weft.jit(benchmark.plain, target="opencl", fallback="error")
    assert agree(compiled(*benchmark.arguments("tiny")), benchmark.plain(*benchmark.arguments("tiny")), 1e-9)
