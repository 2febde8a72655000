"""The corpus of kernels, one module a family; `KERNELS` has them all by name."""

from __future__ import annotations

from tests.apps.kernels import discrete, linear_algebra, physics, solvers, statistics, stencils
from tests.apps.kernels.registry import Kernel

FAMILIES = (stencils, linear_algebra, solvers, statistics, physics, discrete)
KERNELS: dict[str, Kernel] = {kernel.name: kernel for family in FAMILIES for kernel in family.KERNELS}
