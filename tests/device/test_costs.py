"""The model of what a call costs on a device, and what is done with it."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from tests.device import emulation
from tests.device.programs import elementwise, jacobi, product, softmax
from weft.device import costs
from weft.device.costs import Rates

SLOW_LINK = Rates(launch=1e-5, send=1e6, fetch=1e6, memory=1e12, arithmetic=1e13)
EVEN = Rates(launch=1e-5, send=1e10, fetch=1e10, memory=1e10, arithmetic=1e10)


def _plan(function, *arguments):
    plan, built = emulation.planned(function, arguments)
    given = dict(zip(built.names, arguments))
    sizes = {f"{name}_{axis}": n for name, a in given.items() if hasattr(a, "shape") for axis, n in enumerate(a.shape)}
    return plan, {**sizes, **{name: value for name, value in given.items() if isinstance(value, int)}}


def test_time_steps_launch_again_and_arrays_move_once():
    a = np.zeros((200, 300))
    plan, numbers = _plan(jacobi, a, a.copy(), 10)
    ten = costs.predicted(plan, numbers, EVEN)
    twenty = costs.predicted(plan, {**numbers, "n": 20}, EVEN)
    assert twenty.kernels == pytest.approx(2 * ten.kernels)
    assert twenty.link == ten.link == pytest.approx(4 * a.nbytes / 1e10)
    assert costs.predicted(plan, numbers, EVEN, resident=True).link == 0


def test_products_are_arithmetic_and_copies_are_memory():
    a = np.zeros((400, 400))
    plan, numbers = _plan(product, a, a)
    found = costs.predicted(plan, numbers, EVEN)
    assert found.kernels == pytest.approx(2 * 400**3 / 1e10, rel=0.1)
    plan, numbers = _plan(elementwise, a, a.copy())
    fast = Rates(launch=1e-5, send=1e10, fetch=1e10, memory=1e10, arithmetic=1e15)
    assert costs.predicted(plan, numbers, fast).kernels == pytest.approx(3 * a.nbytes / 1e10, rel=0.1)


def test_rates_are_measured_once_and_kept(tmp_path, monkeypatch):
    pytest.importorskip("pyopencl", reason="pyopencl is not installed")
    from weft.device import opencl

    if not opencl.devices():
        pytest.skip("there is no OpenCL device")
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path))
    target = opencl.TARGET
    device = target.current()
    assert costs.stored(device.name) is None
    found = costs.rates_of(device, target.dialect)
    assert all(value > 0 for value in vars(found).values())
    monkeypatch.setattr(costs, "measure", None)
    assert costs.rates_of(device, target.dialect) == found
    from weft.device.doctor import device_facts

    text = "\n".join(fact.text for fact in device_facts())
    assert device.name in text and "GB/s" in text and "cuda:" in text


def test_auto_asks_the_model_before_the_clock(monkeypatch):
    pytest.importorskip("pyopencl", reason="pyopencl is not installed")
    from weft.device import function, opencl

    if not opencl.devices():
        pytest.skip("there is no OpenCL device")
    monkeypatch.setattr(function, "accelerator", lambda: opencl.TARGET)
    a = np.random.rand(50, 60)
    for rates, place in ((SLOW_LINK, "cpu"), (Rates(1e-12, 1e15, 1e15, 1e15, 1e15), "device")):
        monkeypatch.setattr(costs, "rates_of", lambda device, dialect, rates=rates: rates)
        compiled = weft.jit(elementwise, target="auto")
        assert np.array_equal(compiled(a, a + 1), elementwise(a, a + 1))
        assert set(compiled.stats["places"].values()) == {place}


def test_explain_tells_predicted_and_measured_times():
    pytest.importorskip("pyopencl", reason="pyopencl is not installed")
    from weft.device import opencl

    if not opencl.devices():
        pytest.skip("there is no OpenCL device")
    compiled = weft.jit(softmax, target="opencl", fallback="error")
    compiled(np.random.rand(50, 60))
    text = str(compiled.explain())
    assert "ms a launch predicted" in text and "measured (1x)" in text and "on the link" in text
