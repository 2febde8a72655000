"""CPU or device: what `weft.tune` measures and `target="auto"` does with it, and with arrays that are on the device."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from tests.device.programs import elementwise, softmax
from weft.device import function
from weft.tuning import measure

pyopencl = pytest.importorskip("pyopencl.array", reason="pyopencl is not installed")
from weft.device import opencl  # noqa: E402

pytestmark = pytest.mark.skipif(not opencl.devices(), reason="there is no OpenCL device")


@pytest.fixture
def accelerated(monkeypatch):
    """PoCL stands for an accelerator, which "auto" would not take it for."""
    monkeypatch.setattr(function, "accelerator", lambda: opencl.TARGET)


def _timed(monkeypatch, seconds):
    """Calls are as fast as a table says, by the target they are for."""
    monkeypatch.setattr(measure.Calls, "seconds", lambda self, f, end, best=None: seconds[f.options.target])
    monkeypatch.setattr(measure.Calls, "compared", lambda self, one, other: (seconds["cpu"],) * 2)


@pytest.mark.parametrize("there, place", ((0.5, "device"), (2.0, "cpu")))
def test_tune_chooses_the_place_for_auto(accelerated, monkeypatch, there, place):
    _timed(monkeypatch, {"cpu": 1.0, "opencl": there})
    compiled = weft.jit(softmax, target="auto", fallback="error")
    x = np.random.rand(20, 30)
    found = weft.tune(compiled, x, seconds=0.01, save=False)
    assert found.there.seconds == there and f"on opencl: {1e3 * there:.4g} ms" in str(found)
    assert np.allclose(compiled(x), softmax(x))
    assert [*compiled.stats["places"].values()] == [place]
    assert any(version.last is not None for version in compiled.versions()) == (place == "device")


def test_tune_times_a_function_on_its_device(monkeypatch):
    _timed(monkeypatch, {"cpu": 1.0, "opencl": 0.5})
    found = weft.tune(weft.jit(softmax, target="opencl"), np.random.rand(20, 30), seconds=0.01, save=False)
    assert found.there.seconds == 0.5


def of_lists(a):
    return sorted([x * 2 for x in a.tolist()])


def test_tune_tells_why_a_device_has_no_form():
    found = weft.tune(weft.jit(of_lists, target="opencl"), np.random.rand(20), seconds=0.01, save=False)
    assert found.there is not None
    assert found.there.seconds is not None or found.there.why_not


def test_auto_computes_where_the_arrays_are(accelerated):
    compiled = weft.jit(elementwise, target="auto", fallback="error")
    device = opencl.current()
    a, b = np.random.rand(7, 5), np.random.rand(7, 5)
    there = [pyopencl.to_device(device.queue, value) for value in (a, b)]
    for _ in range(2):
        result = compiled(*there)
        assert isinstance(result, pyopencl.Array) and np.array_equal(result.get(), elementwise(a, b))
