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
