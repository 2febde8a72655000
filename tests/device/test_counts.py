"""Launches, and bytes over the link, of kernels as a person would write them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import weft
from tests.device import emulation, programs
from weft.device.dialect import BLOCK, LANES, LEAST_ITEMS, TILE, fitted

cl = pytest.importorskip("pyopencl", reason="pyopencl is not installed")
from weft.device import opencl  # noqa: E402

pytestmark = pytest.mark.skipif(not opencl.devices(), reason="there is no OpenCL device")


def gemm(alpha, beta, c, a, b):
    c[:] = alpha * (a @ b) + beta * c


def hdiff(x, coefficient):
    lap = 4.0 * x[1:-1, 1:-1] - (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2])
    return x[2:-2, 2:-2] - coefficient * (lap[2:, 1:-1] + lap[:-2, 1:-1] + lap[1:-1, 2:] + lap[1:-1, :-2])


def spmv(indptr, indices, data, x):
    y = np.empty(indptr.size - 1)
    for i in range(indptr.size - 1):
        s = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            s += data[p] * x[indices[p]]
        y[i] = s
    return y


def counts(index, n):
    h = np.zeros(n, dtype=np.int64)
    for i in range(index.size):
        h[index[i]] += 1
    return h


def _counted(function, *arguments):
    compiled = weft.jit(function, target="opencl", fallback="error")
    compiled(*arguments)
    compiled(*arguments)
    return compiled.versions()[0].last


def test_a_product_is_one_launch():
    a, b, c = np.random.rand(70, 50), np.random.rand(50, 60), np.random.rand(70, 60)
    found = _counted(gemm, 1.5, 0.5, c, a, b)
    assert found.launches == 1
    assert found.sent == a.nbytes + b.nbytes + c.nbytes and found.fetched == c.nbytes


def test_a_stencil_in_time_is_two_launches_a_step():
    a, b = np.random.rand(400, 50), np.random.rand(400, 50)
    found = _counted(programs.jacobi, a, b, 7)
    assert found.launches == 14 and found.sent == found.fetched == a.nbytes + b.nbytes


def test_a_stencil_of_a_small_array_is_one_launch_for_all_steps():
    a, b = np.random.rand(20, 30), np.random.rand(20, 30)
    found = _counted(programs.jacobi, a, b, 7)
    assert found.launches == 1 and found.sent == found.fetched == a.nbytes + b.nbytes


def test_rows_of_a_softmax_are_one_launch():
    x = np.random.rand(40, 50)
    found = _counted(programs.softmax, x)
    assert found.launches == 1 and found.sent == found.fetched == x.nbytes


def test_a_chain_of_stencils_needs_no_intermediate_on_the_link():
    x = np.random.rand(40, 50)
    found = _counted(hdiff, x, 0.1)
    assert found.launches <= 2 and found.sent == x.nbytes and found.fetched == x[2:-2, 2:-2].size * 8


def test_rows_of_a_sparse_product_are_one_launch_beside_their_tests():
    rng = np.random.default_rng(3)
    indptr = np.concatenate(([0], np.cumsum(rng.integers(0, 9, 50))))
    indices, data, x = rng.integers(0, 30, indptr[-1]), rng.random(indptr[-1]), rng.random(30)
    found = _counted(spmv, indptr, indices, data, x)
    assert found.sent == indptr.nbytes + indices.nbytes + data.nbytes + x.nbytes
    # Rows, and what tests that indices are in bounds; of those tests the host asks for one truth value each.
    assert found.launches <= 6 and found.fetched <= 50 * 8 + 32


def test_a_histogram_moves_its_data_once():
    index = np.arange(5000) % 40
    found = _counted(counts, index, 40)
    assert found.sent == index.nbytes and found.fetched <= 40 * 8 + 8
    assert found.launches <= 10


@pytest.mark.parametrize("counts", ((1000000,), (3,), (300, 200), (3, 100000), (1, 1000), (33, 1000), (7, 5, 2)))
def test_groups_fit_the_loops_that_they_run(counts):
    group = fitted(counts)
    items = math.prod(group)
    assert len(group) == len(counts) and items <= 256 and items % 32 == 0
    started = math.prod(-(-count // size) * size for count, size in zip(counts, group))
    assert started <= max(2 * math.prod(counts), LEAST_ITEMS)
    # A row as wide as what runs in step, or the whole of a row.
    assert group[0] >= min(counts[0], 32)


def two_halves(a, b):
    """The second array is not needed by the loop in order over the first."""
    x = np.zeros(a.size)
    for i in range(1, a.size):
        x[i] = x[i - 1] * 0.5 + a[i]
    return x, b * 2 + 1


def test_a_kernel_waits_for_its_own_arguments_alone(monkeypatch):
    compiled = weft.jit(two_halves, target="opencl", fallback="error")
    a, b = np.random.rand(30000), np.random.rand(30000)
    compiled(a, b)
    waits = []
    plain = cl.enqueue_nd_range_kernel

    def noted(*given, wait_for=None):
        waits.append(len(wait_for or ()))
        return plain(*given, wait_for=wait_for)

    monkeypatch.setattr(cl, "enqueue_nd_range_kernel", noted)
    for one, other in zip(compiled(a, b), two_halves(a, b)):
        assert np.allclose(one, other)
    assert max(waits) == 1 and sum(waits) == 2


def test_arguments_may_change_as_soon_as_a_call_returns():
    """Results stay on the device: nothing else would have waited for the transfer."""
    compiled = weft.jit(lambda a, b: a + b, target="opencl", fallback="error")
    there = weft.device.put(np.zeros(500_000))
    for number in range(5):
        a = np.full(500_000, float(number))
        result = compiled(a, there)
        a[:] = -1
        assert np.all(result.get() == number)


def azimint(data, radius, n):
    """A weighted histogram: means of values by distance."""
    counts = np.histogram(radius, n)[0]
    sums = np.histogram(radius, n, weights=data)[0]
    return sums / np.maximum(counts, 1)


@pytest.mark.skipif(emulation.COMPILER is None, reason="there is no g++")
def test_local_memory_is_used_as_a_person_would(tmp_path):
    """Each number is what a kernel written by hand does: a strip or tile is stored once for all work-items."""
    rng = np.random.default_rng(2)
    a, b, c = rng.random((64, 32)), rng.random((32, 128)), rng.random((64, 128))
    reads, writes, counts = emulation.local_traffic(gemm, (1.5, 0.5, c, a, b), tmp_path)
    rows, columns, _ = BLOCK
    blocks = (64 // rows) * (128 // columns)
    assert writes == blocks * 32 * (rows + columns)  # each block brings its strips of both operands
    assert reads == 2 * 64 * 128 * 32 and counts.launches == 1  # two factors for each product
    # 126 x 127 inner points in tiles of 64 x 4, one more each way: tiles are stored once, five neighbours are read.
    a, b = rng.random((128, 129)), rng.random((128, 129))
    reads, writes, counts = emulation.local_traffic(programs.jacobi, (a, b, 1), tmp_path)
    tiles = 2 * -(-126 // TILE[1])
    assert writes == 2 * tiles * (TILE[1] + 2) * (TILE[0] + 2) and reads == 2 * 5 * 126 * 127
    assert counts.launches == 2
    # Two trees for each row: 64 lanes write, 32 + 16 + ... + 1 join two, and all read the total.
    reads, writes, counts = emulation.local_traffic(programs.softmax, (rng.random((10, 300)),), tmp_path)
    assert writes == 10 * 2 * (LANES + LANES - 1) and reads == 10 * 2 * (2 * (LANES - 1) + LANES)
    assert counts.launches == 1
    reads, writes, counts = emulation.local_traffic(hdiff, (rng.random((70, 80)), 0.1), tmp_path)
    assert counts.launches == 1 and writes <= 2 * 17 * (TILE[1] + 4) * (TILE[0] + 4)


def test_means_by_distance_move_their_data_once():
    data, radius = np.random.rand(20000), np.random.rand(20000)
    found = _counted(azimint, data, radius, 50)
    # Data and distances go there, the means come back, and a few numbers that decide on the host.
    assert found.sent == data.nbytes + radius.nbytes and found.fetched <= 50 * 8 + 64
    assert found.launches <= 20


def test_the_benchmark_prints_its_tables(capsys):
    from benchmarks import device

    assert device.main(["--size", "tiny", "--kernels", "gemm,softmax"]) == 0
    shown = capsys.readouterr().out
    assert "geometric mean of C / device" in shown and "predictions by a roofline" in shown


def test_the_comparison_with_kernels_by_hand_runs(capsys):
    pytest.importorskip("mako", reason="reductions of pyopencl need mako")
    from benchmarks import device_peers

    assert device_peers.main(["--seconds", "0.01", "--cases", "1"]) == 0
    assert "weft is ahead on" in capsys.readouterr().out
