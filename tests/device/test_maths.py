"""Elementary functions of weft's own on a processor as an OpenCL device: close to NumPy's, the same at the ends."""

from __future__ import annotations

import numpy as np
import pytest

import weft

pytest.importorskip("pyopencl", reason="pyopencl is not installed")
from weft.device import opencl  # noqa: E402

pytestmark = pytest.mark.skipif(not opencl.devices(), reason="there is no OpenCL device")

ENDS = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    5e-324,
    1e-310,
    1.0,
    -1.0,
    2.0,
    -2.0,
    0.5,
    3.0,
    -3.0,
    709.7,
    710.0,
    -745.0,
    -746.0,
]
ENDS += [1e300, -1e300, 1e-300, 9007199254740993.0, 1.5, -1.5, 88.6, 88.8, -103.0, -104.0]


def functions(x, y):
    return np.exp(x), np.log(x), np.tanh(x), np.power(x, y)


def angles(x, y):
    return np.sin(x), np.cos(x), np.arctan2(x, y), np.arctan(x), np.arcsin(y), np.arccos(y)


def _close(found, exact, ulp):
    """Within some units in the last place; infinities, NaN and signs of zeros as they are."""
    assert np.array_equal(np.isnan(found), np.isnan(exact))
    known = ~np.isnan(exact)
    found, exact = found[known], exact[known]
    assert np.array_equal(np.signbit(found), np.signbit(exact)) and np.array_equal(np.isinf(found), np.isinf(exact))
    finite = np.isfinite(exact)
    assert np.all(np.abs(found[finite] - exact[finite]) <= ulp * np.spacing(np.abs(exact[finite])))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype, ulp", [(np.float64, 3), (np.float32, 2)])
def test_functions_of_a_processor(dtype, ulp):
    rng = np.random.default_rng(1)
    ends = np.array(ENDS).astype(dtype)
    x = np.concatenate([np.repeat(ends, ends.size), rng.uniform(-80, 80, 4000), np.exp(rng.uniform(-80, 80, 4000))])
    y = np.concatenate([np.tile(ends, ends.size), rng.uniform(-1.0, 1.0, 8000)])
    x, y = x.astype(dtype), y.astype(dtype)
    compiled = weft.jit(functions, target="opencl", fallback="error")
    found = compiled(x, y)
    assert "k_exp" in compiled.inspect("kernels")
    with np.errstate(all="ignore"):
        exact = [value.astype(dtype) for value in functions(x.astype(np.longdouble), y.astype(np.longdouble))]
    for one, other in zip(found, exact):
        assert one.dtype == dtype
        _close(one, other, ulp)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype, ulp", [(np.float64, 3), (np.float32, 2)])
def test_angles_of_a_processor(dtype, ulp):
    """Also close to multiples of pi/2, where little is left of an angle."""
    rng = np.random.default_rng(2)
    ends = np.array([end for end in ENDS if not 1e7 < abs(end) < np.inf]).astype(dtype)
    near = (np.arange(1, 4000) * np.pi / 2).astype(dtype)
    far = (np.arange(6366000, 6366100) * np.pi / 2).astype(dtype)
    x = np.concatenate([np.repeat(ends, ends.size), near, -near, far, rng.uniform(-9e6, 9e6, 4000)])
    y = np.concatenate([np.tile(ends, ends.size), rng.uniform(-1.0, 1.0, x.size - ends.size**2)])
    x, y = x.astype(dtype), y.astype(dtype)
    compiled = weft.jit(angles, target="opencl", fallback="error")
    found = compiled(x, y)
    assert compiled.versions()[0].last.fetched >= 6 * x.nbytes and "(&k_overflow, " in compiled.inspect("kernels")
    with np.errstate(all="ignore"):
        exact = [value.astype(dtype) for value in angles(x.astype(np.longdouble), y.astype(np.longdouble))]
    for one, other in zip(found, exact):
        assert one.dtype == dtype
        _close(one, other, ulp)


def turned(a, b):
    for i in range(a.size):
        b[i] += 1.0
        a[i] = np.sin(a[i]) + np.cos(a[i] + b[i])
    return a.sum()


def until(x, limit):
    """An angle that nobody can reduce must not keep a loop going for ever."""
    out = np.empty(x.size)
    for i in weft.prange(x.size):
        v, n = x[i], 0
        while np.sin(v) < limit and n < 50:
            v = v * 1.5 + 0.1
            n += 1
        out[i] = v + n
    return out


@pytest.mark.parametrize("dtype", (np.float64, np.float32))
def test_an_angle_that_is_too_large_runs_on_the_cpu(dtype):
    compiled = weft.jit(turned, target="opencl", fallback="error")
    for value in (0.5, 1e22, -3e8, np.pi):
        ours, theirs = (([*map(np.copy, (np.linspace(0, 9, 400), np.zeros(400)))]) for _ in range(2))
        ours[0][311] = theirs[0][311] = value
        ours, theirs = ([one.astype(dtype) for one in side] for side in (ours, theirs))
        assert np.allclose(compiled(*ours), turned(*theirs), rtol=1e-4 if dtype is np.float32 else 1e-11)
        assert all(np.allclose(one, other, atol=1e-5) for one, other in zip(ours, theirs))


def test_a_loop_that_waits_for_an_angle_ends():
    x = np.concatenate([np.linspace(0.0, 3.0, 100), [1e15, 3e200]])
    compiled = weft.jit(until, target="opencl", fallback="error")
    assert np.allclose(compiled(x, 0.999), until(x, 0.999))


def rounded(x):
    return np.sqrt(np.abs(x)), np.floor(x), np.ceil(x), np.trunc(x), np.round(x), np.copysign(x, -x), np.abs(x)


@pytest.mark.parametrize("dtype", (np.float64, np.float32))
def test_what_one_instruction_does_has_the_bits_of_numpy(dtype):
    near = np.random.default_rng(3).normal(size=3000) * 10.0 ** np.random.default_rng(4).integers(-9, 9, 3000)
    with np.errstate(all="ignore"):
        x = np.concatenate([ENDS, near, np.arange(-9.0, 9.0) + 0.5]).astype(dtype)
        found = weft.jit(rounded, target="opencl", fallback="error")(x)
        for one, other in zip(found, rounded(x)):
            assert one.dtype == other.dtype and np.array_equal(one, other, equal_nan=True)
            assert np.array_equal(np.signbit(one[~np.isnan(one)]), np.signbit(other[~np.isnan(other)]))


def test_a_driver_made_of_clang_keeps_its_own_square_root():
    """A call of the driver's function keeps loops from becoming vectors: those with a root were 4 times slower."""
    import platform

    from weft.device.dialect import OPENCL

    if "Portable" not in opencl.current().device.platform.name or platform.machine() not in ("x86_64", "aarch64"):
        pytest.skip("the driver is not PoCL, on such a processor")
    renamed = "#ifdef __builtin_sqrt\n#error a call\n#endif\n"
    opencl.current().build(f"{OPENCL.double}{OPENCL.prelude}\n{renamed}__kernel void k(__global f64 *a) {{}}", {})
