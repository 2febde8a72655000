"""The programs of the sparse benchmark on a device: equal to SciPy, and computed there."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from tests.device import emulation

sp = pytest.importorskip("scipy.sparse", reason="SciPy is not installed")
from benchmarks.sparse.programs import PROGRAMS  # noqa: E402


def _matrix():
    """Some rows are long, some empty: groups must not depend on how entries are spread."""
    matrix = sp.random_array((50, 50), density=0.06, format="lil", rng=np.random.default_rng(3))
    matrix[7, :] = 1.5
    matrix[11, :] = 0
    return sp.csr_array(matrix)


def _agree(one, other):
    if sp.issparse(other):
        return sp.issparse(one) and one.format == other.format and np.allclose(one.toarray(), other.toarray())
    return np.allclose(one, other)


#: Those that run without a long wait for a compiler.
BRIEF = ("spmv csr", "spmv csc", "spmv coo", "spmm", "sddmm", "row normalisation", "mttkrp", "conjugate gradient")


def _names():
    return [pytest.param(name, marks=() if name in BRIEF else pytest.mark.slow) for name in PROGRAMS]


@pytest.mark.parametrize("name", _names())
def test_a_sparse_program_on_opencl(name):
    pytest.importorskip("pyopencl", reason="pyopencl is not installed")
    from weft.device import opencl

    if not opencl.devices():
        pytest.skip("there is no OpenCL device")
    program = PROGRAMS[name]
    compiled = weft.jit(program.function, target="opencl", fallback="error")
    result = compiled(*program.arguments(_matrix()))
    assert _agree(result, program.function(*program.arguments(_matrix())))
    assert any(version.last is not None for version in compiled.versions())


@pytest.mark.skipif(emulation.COMPILER is None, reason="there is no g++")
@pytest.mark.parametrize("name", _names())
def test_a_sparse_program_in_the_dialect_of_cuda(name, tmp_path):
    program = PROGRAMS[name]
    done, result = emulation.run(program.function, program.arguments(_matrix()), tmp_path)
    assert done
    assert _agree(result, program.function(*program.arguments(_matrix())))
