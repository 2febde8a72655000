"""All of target="cuda", from the call to the launches, with a stand-in for CuPy that runs kernels on an emulation."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft
from tests.device import cupy_stand_in, emulation, programs, programs_complex
from tests.device.module import Array
from weft.device import costs, cuda
from weft.errors import FallbackWarning

pytestmark = pytest.mark.skipif(emulation.COMPILER is None, reason="there is no g++")
PROGRAMS = (*programs.PROGRAMS, *programs_complex.PROGRAMS)


@pytest.fixture
def cupy(monkeypatch: Any) -> Iterator[Any]:
    found = cupy_stand_in.modules()
    for name, module in found.items():
        monkeypatch.setitem(sys.modules, name, module)
    for kept in (cuda.library, cuda._made):
        kept.cache_clear()
    yield found["cupy"]
    for kept in (cuda.library, cuda._made):
        kept.cache_clear()


def _agree(one: Any, other: Any) -> bool:
    if isinstance(other, tuple):
        return type(one) is tuple and len(one) == len(other) and all(map(_agree, one, other))
    if other is None:
        return one is None
    if type(one) is not type(other):
        return False
    single = getattr(other, "dtype", None) in (np.float32, np.complex64)
    return np.shape(one) == np.shape(other) and np.allclose(one, other, rtol=1e-5 if single else 1e-12)


@pytest.mark.parametrize("function, make", PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_call_is_launched_as_cuda_wants_it(function, make, cupy):
    compiled = weft.jit(function, target="cuda", fallback="error")
    for _ in range(2):
        ours, theirs = make(), make()
        assert _agree(compiled(*ours), function(*theirs))
        assert all(map(_agree, ours, theirs))
    assert any(version.last is not None for version in compiled.versions())


def test_arrays_of_cupy_stay_where_they_are(cupy):
    compiled = weft.jit(programs.jacobi, target="cuda", fallback="error")
    a, b = np.random.rand(40, 70), np.random.rand(40, 70)
    ours = Array(a.copy()), Array(b.copy())
    for _ in range(2):
        compiled(*ours, 3)
        programs.jacobi(a, b, 3)
        assert np.allclose(ours[0].get(), a) and np.allclose(ours[1].get(), b)
    assert compiled.versions()[0].last.sent == compiled.versions()[0].last.fetched == 0
    result = weft.jit(programs.softmax, target="cuda", fallback="error")(Array(np.asfortranarray(a)))
    assert isinstance(result, Array) and np.allclose(result.get(), programs.softmax(a))


def solved(a, b):
    c = a @ a.T + np.eye(a.shape[0]) * 9
    return np.linalg.solve(c, b), np.fft.fft(b).real, np.sort(b)


def test_libraries_compute_on_cupys_arrays(cupy):
    compiled = weft.jit(solved, target="cuda", fallback="error")
    a, b = np.random.rand(30, 30), np.random.rand(30)
    for one, other in zip(compiled(a, b), solved(a, b)):
        assert np.allclose(one, other)


def test_explain_tells_what_a_thread_takes(cupy, monkeypatch):
    rates = costs.PUBLISHED["NVIDIA H100 (SXM, PCIe 5)"]  # to measure the emulation would take minutes
    monkeypatch.setattr(costs, "rates_of", lambda device, dialect: rates)
    compiled = weft.jit(programs.softmax, target="cuda", fallback="error")
    compiled(np.random.rand(20, 30))
    text = str(compiled.explain())
    assert "on emulated (cuda)" in text and "32 registers and 0 bytes of shared memory" in text


@pytest.mark.parametrize("broken", ("empty", "compile"))
def test_what_a_device_refuses_runs_on_the_cpu(cupy, monkeypatch, broken):
    def full(*_: Any) -> Any:
        raise cupy_stand_in.OutOfMemoryError

    def refusing(self: Any) -> None:
        raise cupy_stand_in.CompileException("kernels.cu(3): error: this is no C")

    if broken == "empty":
        monkeypatch.setattr(cupy_stand_in._CuPy, "empty", full)
    else:
        monkeypatch.setattr(cupy_stand_in.RawModule, "compile", refusing)
    compiled = weft.jit(programs.elementwise, target="cuda")
    a, b = np.random.rand(5, 6), np.random.rand(5, 6)
    with pytest.warns(FallbackWarning, match="has no memory for|does not build the kernels: kernels.cu"):
        assert np.array_equal(compiled(a, b), programs.elementwise(a, b))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(compiled(a, b), programs.elementwise(a, b))
