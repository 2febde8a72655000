"""A device that is a processor gets the loops of one (rows four at a time, recurrences side by side, tiles on
diagonals): the same bits as an accelerator's kernels, and the answer of NumPy, at all sizes."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from tests.device import emulation

pytest.importorskip("pyopencl", reason="pyopencl is not installed")
from weft.device import opencl  # noqa: E402

pytestmark = pytest.mark.skipif(
    not opencl.devices() or not opencl.current().is_processor, reason="there is no processor as OpenCL device"
)
RNG = np.random.default_rng(6)


def columns_and_rows(a, x, y):
    """No library: the sums have terms of three factors."""
    z = np.zeros(a.shape[1])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y[i] += a[i, j] * x[j] * 0.5
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            z[j] += a[i, j] * y[i]
    return z


def recurrences(u, v):
    n = u.shape[0]
    for i in range(n):
        for j in range(1, u.shape[1]):
            u[i, j] = u[i, j - 1] * 0.5 + v[i, j]
    for j in range(1, u.shape[1]):
        u[:, j] = u[:, j] - 0.3 * u[:, j - 1]


def seidel(a, steps):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = (a[i - 1, j] + a[i, j - 1] + a[i, j] + a[i, j + 1] + a[i + 1, j]) / 5


def small_products(a, c):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = a[i, j] @ c


PROGRAMS = [
    (columns_and_rows, lambda n, m: (RNG.random((n, m)), RNG.random(m), np.zeros(n))),
    (recurrences, lambda n, m: (RNG.random((n, m)), RNG.random((n, m)))),
    (seidel, lambda n, m: (RNG.random((n, m)), 3)),
    (small_products, lambda n, m: (RNG.random((3, n, m)), RNG.random((m, m)))),
]
SHAPES = [(1, 1), (3, 3), (5, 9), (33, 66), (70, 131)]


def _parts(result, arguments):
    found = result if isinstance(result, tuple) else () if result is None else (result,)
    return [*map(np.asarray, found), *(value for value in arguments if isinstance(value, np.ndarray))]


def _copied(arguments):
    return tuple(value.copy() if isinstance(value, np.ndarray) else value for value in arguments)


@pytest.mark.parametrize("function, make", PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_loops_of_a_processor(function, make):
    compiled = weft.jit(function, target="opencl", fallback="error")
    for shape in SHAPES:
        given = make(*shape)
        ours, theirs = _copied(given), _copied(given)
        found = _parts(compiled(*ours), ours)
        assert all(map(np.allclose, found, _parts(function(*theirs), theirs))), shape


@pytest.mark.skipif(emulation.COMPILER is None, reason="there is no g++")
@pytest.mark.parametrize("function, make", PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_bits_are_those_of_an_accelerator(function, make, tmp_path):
    given = make(33, 66)
    ours, theirs = _copied(given), _copied(given)
    found = _parts(weft.jit(function, target="opencl", fallback="error")(*ours), ours)
    done, result = emulation.run(function, theirs, tmp_path)
    assert done
    assert all(map(np.array_equal, found, _parts(result, theirs)))


def test_rows_are_summed_four_at_a_time():
    compiled = weft.jit(columns_and_rows, target="opencl", fallback="error")
    compiled(*PROGRAMS[0][1](300, 500))
    assert compiled.inspect("kernels").count("k_at") and "+ 3) * a_1" in compiled.inspect("kernels")
