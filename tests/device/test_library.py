"""Library calls between launches: NumPy's on the memory of an OpenCL processor, an array module's on CUDA, for which
NumPy stands in."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from tests.device import emulation
from weft.device import library
from weft.ir.routines import dtypes_of, run_routine

pytest.importorskip("pyopencl", reason="pyopencl is not installed")
from weft.device import opencl  # noqa: E402


def mixed(a, b):
    """Products, a factorisation and a transform, with kernels in between."""
    s = a @ a.T + 10.0 * np.eye(a.shape[0])
    x = np.linalg.solve(np.linalg.cholesky(s), b)
    f = np.fft.fft(x[:, 0] * 2.0)
    return s, x + 1.0, np.abs(f), np.sort(x[:, 1])


def blended(alpha, beta, c, a, b):
    c[:] = alpha * (a @ b) + beta * c


def batches(a, b):
    return a @ b


def _given(n=80):
    rng = np.random.default_rng(4)
    return rng.random((n, n)), rng.random((n, 5))


def _agree(ours, theirs):
    return all(np.allclose(one, other, rtol=1e-11) for one, other in zip(ours, theirs))


@pytest.mark.skipif(not opencl.devices(), reason="there is no OpenCL device")
def test_routines_between_kernels():
    compiled = weft.jit(mixed, target="opencl", fallback="error")
    assert _agree(compiled(*_given()), mixed(*_given()))
    text = str(compiled.explain())
    for name in ("gemm", "cholesky_lo", "solve", "fft"):
        assert f"{name} of the device's library" in text
    with pytest.raises(np.linalg.LinAlgError):
        weft.jit(lambda a: np.linalg.cholesky(a) + 1.0, target="opencl")(-np.eye(3))


@pytest.mark.skipif(not opencl.devices(), reason="there is no OpenCL device")
def test_products_with_factors_and_in_batches():
    rng = np.random.default_rng(5)
    a, b, ours = rng.random((70, 90)), rng.random((90, 60)), rng.random((70, 60))
    theirs = ours.copy()
    weft.jit(blended, target="opencl", fallback="error")(1.5, 0.5, ours, a, b)
    blended(1.5, 0.5, theirs, a, b)
    assert np.allclose(ours, theirs, rtol=1e-12)
    a, b = rng.random((4, 60, 50)), rng.random((4, 50, 40))
    assert np.allclose(weft.jit(batches, target="opencl", fallback="error")(a, b), a @ b, rtol=1e-12)


@pytest.mark.skipif(emulation.COMPILER is None, reason="there is no g++")
def test_an_array_module_computes_between_kernels_of_cuda(tmp_path):
    done, found = emulation.run(mixed, _given(), tmp_path, library=True)
    assert done and _agree(found, mixed(*_given()))


def _symmetric(rng):
    a = rng.random((3, 6, 6))
    return a @ a.transpose(0, 2, 1) + np.eye(6)


#: Routine, its loop, the core shapes of its outputs, and its operands.
CASES = [
    ("cholesky_lo", "d->d", [(6, 6)], lambda r: [_symmetric(r)]),
    ("inv", "d->d", [(6, 6)], lambda r: [_symmetric(r)]),
    ("solve", "dd->d", [(6, 2)], lambda r: [_symmetric(r), r.random((3, 6, 2))]),
    ("solve1", "dd->d", [(6,)], lambda r: [_symmetric(r), r.random((3, 6))]),
    ("det", "d->d", [()], lambda r: [_symmetric(r)]),
    ("slogdet", "d->dd", [(), ()], lambda r: [_symmetric(r)]),
    ("eigvalsh_lo", "d->d", [(6,)], lambda r: [_symmetric(r)]),
    ("eigvalsh_up", "d->d", [(6,)], lambda r: [_symmetric(r)]),
    ("svd", "d->d", [(4,)], lambda r: [r.random((3, 4, 6))]),
    ("fft", "Dd->D", [(6,)], lambda r: [r.random((3, 6)) + 1j, np.full(3, 0.5)]),
    ("ifft", "Dd->D", [(6,)], lambda r: [r.random((3, 6)) + 1j, np.full(3, 1 / 6)]),
    ("rfft_n_even", "dd->D", [(4,)], lambda r: [r.random((3, 6)), np.full(3, 1.0)]),
    ("rfft_n_odd", "dd->D", [(4,)], lambda r: [r.random((3, 7)), np.full(3, 1.0)]),
    ("irfft", "Dd->d", [(6,)], lambda r: [r.random((3, 4)) + 0j, np.full(3, 1 / 6)]),
    ("sort_quicksort", "d->d", [(6,)], lambda r: [r.random((3, 6))]),
    ("argsort_stable", "d->l", [(6,)], lambda r: [r.integers(0, 3, (3, 6)) * 1.0]),
]


@pytest.mark.parametrize("name, types, cores, make", CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_functions_of_a_module_do_what_routines_do(name, types, cores, make):
    inputs = make(np.random.default_rng(6))
    sides = [[np.empty((3, *core), dtype.numpy) for core, dtype in zip(cores, dtypes_of(types)[1])] for _ in range(2)]
    assert run_routine(name, types, [given.copy() for given in inputs], sides[0])
    assert library.by_module(np, name, inputs, sides[1])
    assert _agree(*sides)


def test_a_module_that_fails_says_so():
    assert not library.by_module(np, "cholesky_lo", [-np.eye(3)], [np.empty((3, 3))])


def solved_by_rows(m, b):
    out = np.zeros(b.shape)
    for i in weft.prange(m.shape[0]):
        c = m[i] @ m[i].T + np.eye(m.shape[1]) * 4
        if b[i, 0] > 0.2:
            out[i] = np.linalg.solve(c, b[i])
        else:
            s = 0.0
            for k in range(b.shape[1]):
                s += b[i, k] * np.sort(b[i])[k]
            out[i] = np.abs(np.fft.fft(b[i] * s))
    return out


def test_a_parallel_loop_around_libraries_is_the_hosts():
    if not opencl.devices():
        pytest.skip("there is no OpenCL device")
    rng = np.random.default_rng(1)
    arguments = rng.random((9, 7, 7)), rng.random((9, 7))
    compiled = weft.jit(solved_by_rows, target="opencl", fallback="error")
    for _ in range(2):
        assert np.allclose(compiled(*arguments), solved_by_rows(*arguments))
    assert compiled.versions()[0].last.launches > 9
