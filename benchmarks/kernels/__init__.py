"""What is measured: one file a kernel, written from the published mathematics, with `numpy_form`, often `loop_form`
(over arrays or nested lists), `initialise(size)` and `SIZES`. `BY_NAME` lists them all.
"""

from __future__ import annotations

from importlib import import_module

from benchmarks.kernels import corpus, numba_loops
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
SUITE: tuple[Benchmark, ...] = tuple(
    from_module(import_module(f"{__name__}.{name}"), getattr(numba_loops, name, None)) for name in NAMES
)
BENCHMARKS: tuple[Benchmark, ...] = (*SUITE, *corpus.BENCHMARKS)
BY_NAME = {benchmark.name: benchmark for benchmark in BENCHMARKS}
