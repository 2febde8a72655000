"""The CUDA text of all benchmarks, and of the programs of these tests, through NVRTC for two devices, no warnings.
Each text is what CuPy would be given."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.kernels import NAMES, load
from tests.device import nvrtc, programs, programs_complex
from tests.device.test_cuda import all_helpers
from tools.device_registers import cuda_text
from weft.device.dialect import CUDA
from weft.device.plan import Refused
from weft.errors import Unsupported

LIBRARY = nvrtc.library()
pytestmark = pytest.mark.skipif(LIBRARY is None, reason="NVRTC is not installed: pip install nvidia-cuda-nvrtc")


def _is_taken(text: str) -> None:
    for device in ("sm_80", "sm_90"):
        done, said = nvrtc.compiled(LIBRARY, text, device)
        assert done and not said.strip(), said[:2000]


def test_nvrtc_takes_every_helper():
    _is_taken("#pragma nv_diag_suppress 177  // nobody calls them\n" + CUDA.double + all_helpers(CUDA))


@pytest.mark.parametrize("function, make", (*programs.PROGRAMS, *programs_complex.PROGRAMS))
def test_nvrtc_takes_the_programs_of_these_tests(function: Any, make: Any):
    _is_taken(cuda_text(function, make()))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_nvrtc_takes_a_benchmark(name: str):
    benchmark = load(name)
    _is_taken(cuda_text(benchmark.plain, tuple(benchmark.arguments("tiny"))))


def _sparse() -> list[str]:
    pytest.importorskip("scipy.sparse", reason="SciPy is not installed")
    from benchmarks.sparse.programs import PROGRAMS

    return list(PROGRAMS)


@pytest.mark.slow
@pytest.mark.parametrize("name", _sparse())
def test_nvrtc_takes_a_sparse_benchmark(name: str):
    from benchmarks.sparse.programs import PROGRAMS
    from tests.device.test_sparse import _matrix

    program = PROGRAMS[name]
    try:
        text = cuda_text(program.function, program.arguments(_matrix()))
    except (Refused, Unsupported) as problem:
        pytest.fail(str(problem))
    _is_taken(text)
