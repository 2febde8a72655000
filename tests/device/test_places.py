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


def test_tune_tries_groups_of_other_shapes_and_keeps_the_place(monkeypatch, tmp_path):
    """In the form for accelerators; the place of a function with target="auto" is a line of the file."""
    import importlib.util

    from weft.directives import Group, On
    from weft.tuning.measure import Calls

    monkeypatch.setattr(opencl.OpenCL, "is_processor", property(lambda self: False))
    file = tmp_path / "kept_place.py"
    file.write_text(
        "import weft\n\n@weft.jit(target='auto')\ndef scaled(a, b):\n    b[:, :] = a * 2.0 + 1.0\n", encoding="utf-8"
    )

    def module():
        spec = importlib.util.spec_from_file_location("kept_place", file)
        found = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
        return found.scaled

    def clock(self, function, end, best=None):
        steps = function.local.transforms() if hasattr(function, "local") else None
        wanted = steps is not None and any(isinstance(s, Group) and s.sizes == (8, 32) for s in steps)
        return 1.0 if steps is None else 0.1 if wanted else 0.5

    monkeypatch.setattr(Calls, "seconds", clock)
    scaled = module()
    arguments = np.random.rand(60, 70), np.zeros((60, 70))
    monkeypatch.setattr("weft.tuning.neighbours", lambda plan, view: ())  # the search on the CPU is another test's
    monkeypatch.setattr("weft.tuning.moves._GROUPS", ((4, 64), (8, 32)))
    found = weft.tune(scaled, *arguments, seconds=120)
    assert found.there.seconds == 0.1 and [type(each) for each in found.directives] == [Group, On]
    assert found.directives[-1] == On("device")
    again = module()
    again(*arguments)
    assert np.array_equal(arguments[1], arguments[0] * 2.0 + 1.0)
    assert again.versions()[0].last.groups == {"k_kernel0": (32, 8)}
    weft.transform(again).on("cpu")
    again(*arguments)
    assert not again.versions()
