"""Too little memory on a device: rows in tiles where they are independent, else the CPU; the same answer, and nothing
half written."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import weft
from weft.errors import FallbackWarning

pytest.importorskip("pyopencl", reason="pyopencl is not installed")
from weft.device import opencl  # noqa: E402

pytestmark = pytest.mark.skipif(not opencl.devices(), reason="there is no OpenCL device")
RNG = np.random.default_rng(8)


def elementwise(a, b):
    return np.exp(a) * b + 1.0, a - b


def in_place(a, b):
    a += b * 2.0
    b[:, 0] = a[:, 1]


def row_sums(a):
    return a.sum(axis=1), (a / a.max(axis=1, keepdims=True)).astype(np.float32)


def products(a, b):
    return a @ b


def steps(a, b, n):
    for _ in range(n):
        b = b * 0.5 + a
    return b


def with_vector(a, x):
    return a * x + x.sum()


def loop(a, out):
    for i in weft.prange(a.shape[0]):
        t = 1.0
        while t < a[i]:
            t = t * 2.0
        out[i] = t


def whole_sum(a):
    return a - a.mean()


def neighbours(a):
    return a[1:] - a[:-1]


def transposed(a):
    return a.T * 2.0


def by_position(a):
    return a * np.arange(a.shape[0])[:, None]


def too_far(a, k):
    a *= 2.0
    return a[:, k]


def _pair(n=500, m=400):
    return RNG.random((n, m)), RNG.random((n, m))


TILED = [
    (elementwise, _pair),
    (elementwise, lambda: _pair(400, 400)),
    (in_place, _pair),
    (in_place, lambda: _pair(400, 400)),
    (row_sums, lambda: (RNG.random((600, 300)),)),
    (products, lambda: (RNG.random((900, 50)), RNG.random((50, 60)))),
    (steps, lambda: (*_pair(), 3)),
    (with_vector, lambda: (RNG.random((500, 400)), RNG.random(400))),
    (loop, lambda: (RNG.random(200000) * 100, np.zeros(200000))),
]
WHOLE = [
    (whole_sum, lambda: _pair()[:1]),
    (neighbours, lambda: _pair()[:1]),
    (transposed, lambda: _pair()[:1]),
    (by_position, lambda: _pair()[:1]),
]


def _same(one, other):
    if isinstance(other, tuple):
        return all(map(_same, one, other))
    if other is None:
        return one is None
    same = np.allclose(one, other, rtol=1e-5 if other.dtype == np.float32 else 1e-12)
    return same and one.dtype == other.dtype and one.shape == other.shape


def _active():
    return opencl.current().pool.active_bytes


@pytest.mark.parametrize("function, make", TILED, ids=lambda value: getattr(value, "__name__", ""))
def test_independent_rows_run_in_tiles(function, make, monkeypatch):
    compiled = weft.jit(function, target="opencl", fallback="error")
    state = RNG.bit_generator.state
    ours = make()
    RNG.bit_generator.state = state
    theirs = make()
    largest = max(value.nbytes for value in ours if isinstance(value, np.ndarray))
    monkeypatch.setenv("WEFT_DEVICE_MEMORY", str(_active() + largest))
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        for _ in range(2):
            assert _same(compiled(*ours), function(*theirs))
            assert all(map(_same, filter(_is_array, ours), filter(_is_array, theirs)))
    assert compiled.versions()[0].last.launches >= 2
    assert not compiled.local.signatures  # the CPU had nothing to do


def _is_array(value):
    return isinstance(value, np.ndarray)


@pytest.mark.parametrize("function, make", WHOLE, ids=lambda value: getattr(value, "__name__", ""))
def test_other_programs_run_on_the_cpu(function, make, monkeypatch):
    compiled = weft.jit(function, target="opencl")
    monkeypatch.setenv("WEFT_DEVICE_MEMORY", str(_active() + 100_000))
    arguments = make()
    with pytest.warns(FallbackWarning, match="has no memory for .*: WEFT_DEVICE_MEMORY allows"):
        assert _same(compiled(*arguments), function(*arguments))


def test_a_row_alone_that_does_not_fit_runs_on_the_cpu(monkeypatch):
    compiled = weft.jit(elementwise, target="opencl")
    monkeypatch.setenv("WEFT_DEVICE_MEMORY", str(_active() + 64))
    arguments = _pair()
    with pytest.warns(FallbackWarning, match="has no memory"):
        assert _same(compiled(*arguments), elementwise(*arguments))


def test_an_exception_in_a_later_tile_leaves_all_as_python_does(monkeypatch):
    def checked(a, k, out):
        for i in weft.prange(a.shape[0]):
            out[i] = a[i] * 2.0
            if k[i] > 5:
                out[k[i] - 1000] = 1.0

    compiled = weft.jit(checked, target="opencl", fallback="silent")
    k = np.zeros(100000, dtype=np.int64)
    monkeypatch.setenv("WEFT_DEVICE_MEMORY", str(_active() + 1_000_000))
    ours, theirs = np.zeros(100000), np.zeros(100000)
    compiled(np.ones(100000), k, ours)
    checked(np.ones(100000), k, theirs)
    assert np.array_equal(ours, theirs)


def test_the_limit_of_a_device_that_says_nothing_is_none(monkeypatch):
    monkeypatch.setenv("WEFT_DEVICE_MEMORY", "lots")
    compiled = weft.jit(elementwise, target="opencl", fallback="error")
    arguments = _pair()
    assert _same(compiled(*arguments), elementwise(*arguments))


def test_after_a_refusal_memory_is_free_again(monkeypatch):
    compiled = weft.jit(whole_sum, target="opencl", fallback="silent")
    before = _active()
    monkeypatch.setenv("WEFT_DEVICE_MEMORY", str(before + 1_700_000))
    compiled(_pair()[0])
    assert _active() == before
