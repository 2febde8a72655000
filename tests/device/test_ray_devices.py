"""Tiles of a cluster on devices: a task asks for one and runs its kernels there; PoCL's is a resource of Ray's."""

from __future__ import annotations

import os

import numpy as np
import pytest

import weft
from weft.errors import ClusterError, OptionError

pytest.importorskip("pyopencl", reason="pyopencl is not installed")
from weft.device import opencl  # noqa: E402

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not opencl.devices(), reason="there is no OpenCL device"),
]


def softmax(x):
    t = np.exp(x - x.max(axis=1, keepdims=True))
    return t / t.sum(axis=1, keepdims=True)


def jacobi(steps, a, b):
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


def gathered(x, index):
    return x[index]


@pytest.fixture
def settings():
    from weft.cluster.settings import current, restore

    before = current()
    yield
    restore(before)


def test_a_tile_runs_on_the_device_of_its_process(settings):
    """Without Ray: the kernel as a worker gets it, after a journey by pickle."""
    import pickle

    from weft.cluster import kernels
    from weft.cluster.plan import stages_of
    from weft.cluster.settings import change
    from weft.cluster.tiles import tile_program
    from weft.device.tiles import DeviceTile

    change({"device": "opencl"})
    compiled = weft.jit(softmax, target="ray", fallback="error")
    x = np.random.rand(40, 30)
    version, _ = compiled._version((x,))
    tile = tile_program(version.plan, next(stages_of(version.plan.steps)))
    kernel = pickle.loads(pickle.dumps(kernels.compile_tile(tile, compiled.local.options)))
    assert kernel.device is not None
    function = kernels.load(kernel)
    assert isinstance(function, DeviceTile)
    out, given = np.zeros((15, 30)), {"x": x, "lo": 5, "hi": 20}
    values = []
    for parameter in kernel.parameters:
        if parameter.kind == "output":
            values.append(out)
        elif parameter.kind == "input":
            values.append(x[5:20])
        else:
            values.append(given.get(parameter.kind, {"x_0": 40, "x_1": 30}.get(parameter.name)))
    function(*values)
    assert function.calls == 1 and np.allclose(out, softmax(x)[5:20])


def test_an_unknown_device_is_an_error(settings):
    with pytest.raises(OptionError, match="device='gpu' is not one of"):
        weft.cluster.connect(device="gpu")


@pytest.fixture
def on_ray(settings, tmp_path_factory):
    pytest.importorskip("ray", reason="Ray is not installed")
    os.environ.setdefault("RAY_TMPDIR", str(tmp_path_factory.getbasetemp().parent)[:40])
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_TQDM_PATCH_PRINT"] = "0"
    weft.cluster.shutdown()
    weft.cluster.connect(num_cpus=2, object_store_memory=1 << 28, least_seconds=0.0, rows=11, device="opencl")
    yield
    weft.cluster.shutdown()


def _ran_on_devices():
    """What the workers count, asked of one after the other by tasks for the same resource."""
    import ray

    def ask():
        from weft.cluster import kernels

        return os.getpid(), sum(getattr(found, "calls", 0) for found in kernels._loaded.values())

    remote = ray.remote(ask).options(resources={"opencl": 1})
    return sum(dict(ray.get([remote.remote() for _ in range(8)])).values())


@pytest.mark.slow
def test_functions_on_ray_run_their_tiles_on_devices(on_ray):
    compiled = weft.jit(softmax, target="ray", fallback="error")
    x = np.random.rand(60, 40)
    assert np.allclose(np.asarray(compiled(x)), softmax(x))
    assert _ran_on_devices() > 0
    a, b = np.random.rand(40, 30), np.random.rand(40, 30)
    ours, theirs = (a.copy(), b.copy()), (a.copy(), b.copy())
    weft.jit(jacobi, target="ray", fallback="error")(4, *ours)
    jacobi(4, *theirs)
    assert all(map(np.allclose, ours, theirs))


@pytest.mark.slow
def test_the_radar_application_runs_its_tiles_on_devices(on_ray):
    """Beams, transforms and filters of several cubes: what has kernels runs them, the rest its C."""
    from benchmarks.apps.stap import chain, cubes
    from benchmarks.apps.stap.cubes import Scene, Target

    weft.cluster.connect(rows=2)
    scene = Scene(channels=8, pulses=16, samples=128, chirp=16, targets=(Target(90, 0.25, 0.0, 6.0),))
    data, tools = cubes.cubes(scene, 5), cubes.tools(scene)
    compiled = weft.jit(chain.process_all, target="ray", fallback="error")
    power, found = compiled(data, *tools)
    expected = chain.process_all(data, *tools)
    np.testing.assert_allclose(np.asarray(power), expected[0], rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(np.asarray(found), expected[1])
    assert np.asarray(found)[:, 4, 90].all()
    assert _ran_on_devices() > 0


@pytest.mark.slow
def test_a_cluster_without_the_device_says_what_to_do(on_ray):
    weft.cluster.connect(device="cuda")
    with pytest.raises(ClusterError, match="no node of the cluster offers 'GPU'"):
        np.asarray(weft.jit(softmax, target="ray", fallback="error")(np.random.rand(60, 40)))
