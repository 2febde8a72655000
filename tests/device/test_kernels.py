"""The kernels of the benchmarks on an OpenCL device, at their smallest sizes: equal to NumPy, and on the device unless
a library routine keeps them on the CPU."""

from __future__ import annotations

import pytest

import weft
from benchmarks.kernels import NAMES, load
from benchmarks.kernels.registry import agree

pytest.importorskip("pyopencl", reason="pyopencl is not installed")
from weft.device import opencl  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not opencl.devices(), reason="there is no OpenCL device"),
]

#: What keeps a kernel on the CPU: words of its reason.
REASONS = ("a routine of the CPU", "lists, dicts or strings")


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_on_the_device(name):
    benchmark = load(name)
    ours, theirs = benchmark.arguments("tiny"), benchmark.arguments("tiny")
    compiled = weft.jit(benchmark.plain, target="opencl", fallback="silent")
    assert agree(compiled(*ours), benchmark.plain(*theirs), benchmark.tolerance)
    assert all(agree(one, other, benchmark.tolerance) for one, other in zip(ours, theirs))
    ran = any(version.last is not None for version in compiled.versions())
    assert ran or any(word in reason for reason in compiled._refused.values() for word in REASONS)
