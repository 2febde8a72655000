"""What can be wrong with a device or with arguments: the right answer on the CPU with one warning, or an exception that
says what to do; nothing half written."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest

import weft
from tests.device.programs import elementwise, jacobi, product, softmax
from weft.errors import CompileError, FallbackWarning, Unsupported

cl = pytest.importorskip("pyopencl", reason="pyopencl is not installed")
from weft.device import opencl  # noqa: E402

pytestmark = pytest.mark.skipif(not opencl.devices(), reason="there is no OpenCL device")


def _on_the_cpu(function, arguments, match):
    """One warning, and the answer of NumPy; then silence."""
    compiled = weft.jit(function, target="opencl")
    with pytest.warns(FallbackWarning, match=match):
        assert np.allclose(compiled(*arguments), function(*arguments))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.allclose(compiled(*arguments), function(*arguments))
    return compiled


def _pair():
    return np.random.rand(200, 300), np.random.rand(200, 300)


def test_no_library(monkeypatch):
    opencl.library.cache_clear()
    monkeypatch.setitem(sys.modules, "pyopencl", None)
    try:
        _on_the_cpu(elementwise, _pair(), "pyopencl is not installed: pip install")
        with pytest.raises(CompileError, match="pyopencl is not installed"):
            weft.device.put(np.zeros(3))
    finally:
        opencl.library.cache_clear()


def test_no_driver(monkeypatch):
    monkeypatch.setattr(opencl, "_all_devices", list)
    _on_the_cpu(elementwise, _pair(), "no OpenCL device was found: install a driver")
    with pytest.raises(Unsupported, match="no OpenCL device was found"):
        weft.jit(elementwise, target="opencl", fallback="error")(*_pair())


def test_a_driver_that_is_older_than_the_processor(monkeypatch):
    """It lists a device that builds nothing: others are used; if there is none, the reason is the compiler's."""
    device, other = opencl.current(), object()
    monkeypatch.setattr(opencl, "_build_error", lambda one: "x builds no kernels: too new" if one is other else "")
    monkeypatch.setattr(opencl, "_all_devices", lambda: [other, device.device])
    assert opencl.devices() == [device.device]
    monkeypatch.setattr(opencl, "_all_devices", lambda: [other])
    _on_the_cpu(elementwise, _pair(), "x builds no kernels: too new; install a newer driver")


def test_no_cuda():
    compiled = weft.jit(elementwise, target="cuda")
    a, b = _pair()
    with pytest.warns(FallbackWarning, match="CuPy is not installed|no CUDA device"):
        assert np.array_equal(compiled(a, b), elementwise(a, b))


def single(a):
    return np.sqrt(a) + a * a


def test_no_float64(monkeypatch):
    monkeypatch.setattr(opencl.OpenCL, "has_double", property(lambda self: False))
    _on_the_cpu(elementwise, _pair(), "has no float64")
    # What needs none runs there, and its text does not name the type.
    compiled = weft.jit(single, target="opencl", fallback="error")
    x = np.random.rand(50).astype(np.float32)
    assert np.allclose(compiled(x), single(x), rtol=1e-6)
    assert "typedef double" not in compiled.inspect("kernels")


class _Full:
    active_bytes = 0

    def allocate(self, size):
        raise cl.MemoryError("clCreateBuffer", -4, "out of memory")


def test_too_little_memory(monkeypatch):
    device = opencl.current()
    monkeypatch.setattr(device, "pool", _Full())
    _on_the_cpu(elementwise, _pair(), "has no memory for")


def test_a_kernel_that_does_not_build(monkeypatch):
    dialect = opencl.TARGET.dialect
    monkeypatch.setattr(opencl.TARGET, "dialect", replace(dialect, prelude=dialect.prelude + "this is no C;"))
    _on_the_cpu(elementwise, _pair(), "does not build the kernels: ")


@pytest.mark.parametrize("name, after", (("enqueue_nd_range_kernel", 3), ("enqueue_copy", 3)))
def test_a_device_that_is_lost_in_the_middle(monkeypatch, name, after):
    """Whatever call it is that fails (the copy: of the last result), the arguments are as if nothing had happened."""
    plain = getattr(cl, name)
    calls = []

    def failing(*args, **kwargs):
        calls.append(1)
        if len(calls) > after:
            raise cl.RuntimeError(name, -36, "the device is gone")
        return plain(*args, **kwargs)

    compiled = weft.jit(jacobi, target="opencl")
    ours, theirs = _pair(), _pair()
    theirs[0][:], theirs[1][:] = ours
    monkeypatch.setattr(cl, name, failing)
    with pytest.warns(FallbackWarning, match="failed: "):
        compiled(*ours, 4)
    jacobi(*theirs, 4)
    assert all(map(np.allclose, ours, theirs))
    assert len(calls) > after


def test_arrays_of_another_device():
    other = opencl.OpenCL(opencl.devices()[0])  # another context: its memory means nothing to the first one

    def there(array):
        memory = other.allocate(array.size, array.dtype)
        other.send(memory, array)
        return weft.device.DeviceArray(other, memory, array.shape, array.dtype)

    a, b = _pair()
    compiled = weft.jit(jacobi, target="opencl", fallback="error")
    ours = there(a), weft.device.put(b)
    compiled(*ours, 3)
    jacobi(a, b, 3)
    assert np.allclose(ours[0].get(), a) and np.allclose(ours[1].get(), b)


def shifted(a, b):
    b[1:] = a[:-1] * 2
    return b.sum()


@pytest.mark.parametrize("step", (1, 2, -1))
def test_arguments_that_overlap_or_have_gaps(step):
    compiled = weft.jit(shifted, target="opencl", fallback="silent")
    for _ in range(2):
        ours, theirs = np.arange(60.0), np.arange(60.0)
        one = compiled(ours[:40][::step], ours[20:][::step])
        other = shifted(theirs[:40][::step], theirs[20:][::step])
        assert np.allclose(one, other) and np.array_equal(ours, theirs)


@pytest.mark.parametrize("shape", ((0, 5), (5, 0), (0, 0)))
def test_sizes_of_zero(shape):
    compiled = weft.jit(product, target="opencl", fallback="error")
    a, b = np.zeros(shape), np.zeros((shape[1], 3))
    assert np.array_equal(compiled(a, b), a @ b)
    if shape[1]:
        assert weft.jit(softmax, target="opencl", fallback="error")(a).shape == shape


def test_places_are_counted_in_64_bits():
    """More than 2**31 elements do not fit this machine; no number of a work-item or index has fewer bits."""
    compiled = weft.jit(elementwise, target="opencl", fallback="error")
    compiled(*_pair())
    body = compiled.inspect("kernels").partition("__kernel")[2]
    assert "const i64" in body and "i32 i" not in body and "(i32)k_item" not in body


def test_a_grid_that_a_device_does_not_have(monkeypatch):
    monkeypatch.setattr(opencl.OpenCL, "most_groups", (2, 2, 2), raising=False)
    compiled = weft.jit(jacobi, target="opencl")
    ours, theirs = (np.ones((300, 300)), np.zeros((300, 300))), (np.ones((300, 300)), np.zeros((300, 300)))
    with pytest.warns(FallbackWarning, match="more groups along one dimension"):
        compiled(*ours, 2)
    jacobi(*theirs, 2)
    assert all(map(np.allclose, ours, theirs))


def test_objects_that_are_no_arrays():
    with pytest.raises(TypeError, match="has no form on a device"):
        weft.device.put(np.array(["a", "b"]))
    with pytest.raises(ValueError, match="is not one of"):
        weft.device.put(np.zeros(3), target="fpga")


def test_a_mistake_between_launches_is_no_error_of_the_caller(monkeypatch):
    """Whatever weft itself does wrong in a call, the CPU has the answer, and the arguments are as they were."""
    from weft.device import engine

    monkeypatch.setenv("WEFT_VERIFY", "0")
    monkeypatch.setattr(engine.Run, "launch", lambda *given: {}["nothing"])
    compiled = weft.jit(jacobi, target="opencl")
    ours = _pair()
    theirs = tuple(array.copy() for array in ours)
    with pytest.warns(FallbackWarning):
        compiled(*ours, 4)
    jacobi(*theirs, 4)
    assert all(np.allclose(one, other) for one, other in zip(ours, theirs))


def test_a_function_without_source():
    space: dict = {}
    exec(compile("def without_source(a, b):\n    return a * 2 + b\n", "<nowhere>", "exec"), space)
    _on_the_cpu(space["without_source"], _pair(), "the source of without_source cannot be found")
