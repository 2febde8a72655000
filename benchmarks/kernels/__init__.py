"""What is measured: one file a kernel, written from the published mathematics, with `numpy_form`, often `loop_form`
(over arrays or nested lists), `initialise(size)` and `SIZES`. `load` gives one of them; `BENCHMARKS` and `BY_NAME` are
all, the extra ones of `corpus` included.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from benchmarks.kernels.registry import Benchmark, from_module

NAMES = (
    "adi",
    "arc_distance",
    "atax",
    "azimint_hist",
    "azimint_naive",
    "bicg",
    "cavity_flow",
    "channel_flow",
    "cholesky",
    "cholesky2",
    "compute",
    "contour_integral",
    "conv2d_bias",
    "correlation",
    "covariance",
    "covariance2",
    "crc16",
    "deriche",
    "doitgen",
    "durbin",
    "fdtd_2d",
    "floyd_warshall",
    "gemm",
    "gemver",
    "gesummv",
    "go_fast",
    "gramschmidt",
    "hdiff",
    "heat_3d",
    "jacobi_1d",
    "jacobi_2d",
    "k2mm",
    "k3mm",
    "lenet",
    "lu",
    "ludcmp",
    "mandelbrot1",
    "mandelbrot2",
    "mlp",
    "mvt",
    "nbody",
    "nussinov",
    "resnet",
    "scattering_self_energies",
    "seidel_2d",
    "softmax",
    "spmv",
    "stockham_fft",
    "symm",
    "syr2k",
    "syrk",
    "trisolv",
    "trmm",
    "vadv",
)


def load(name: str, hand: bool = True) -> Benchmark:
    """One benchmark; without `hand`, without its loops for Numba, which would load Numba."""
    if name not in NAMES:
        return {benchmark.name: benchmark for benchmark in _extras()}[name]
    parallel = getattr(import_module(f"{__name__}.numba_loops"), name, None) if hand else None
    return from_module(import_module(f"{__name__}.{name}"), parallel)


def _extras() -> tuple[Benchmark, ...]:
    found: tuple[Benchmark, ...] = import_module(f"{__name__}.corpus").BENCHMARKS
    return found


@cache
def _all() -> dict[str, Any]:
    benchmarks = (*(load(name) for name in NAMES), *_extras())
    return {"BENCHMARKS": benchmarks, "BY_NAME": {benchmark.name: benchmark for benchmark in benchmarks}}


def __getattr__(name: str) -> Any:
    # A worker that measures one kernel in one framework loads no other.
    if name in ("BENCHMARKS", "BY_NAME"):
        return _all()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
