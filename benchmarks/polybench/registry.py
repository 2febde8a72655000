"""What one kernel is. In comes a name; out come its three forms, a maker of arguments, sizes, and how much there is to
compute and to move.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from benchmarks.kernels.registry import Arguments, Function, Size

NAMES = (
    "k2mm", "k3mm", "adi", "atax", "bicg", "cholesky", "correlation", "covariance", "deriche", "doitgen", "durbin",
    "fdtd_2d", "floyd_warshall", "gemm", "gemver", "gesummv", "gramschmidt", "heat_3d", "jacobi_1d", "jacobi_2d", "lu",
    "ludcmp", "mvt", "nussinov", "seidel_2d", "symm", "syr2k", "syrk", "trisolv", "trmm",
)  # fmt: skip
#: The kernels of the second table, in its order.
LINEAR_ALGEBRA = (
    "correlation", "covariance", "doitgen", "symm", "syr2k", "syrk", "trmm", "k2mm", "k3mm", "atax", "bicg", "gemm",
    "gemver", "gesummv", "mvt",
)  # fmt: skip
LISTS, LOOPS, OPERATORS = FORMS = ("lists", "loops", "operators")
PRODUCT, STREAMING, STENCIL = "product", "streaming", "stencil"


@dataclass(frozen=True)
class Kernel:
    name: str
    forms: Mapping[str, Function]
    initialise: Callable[[Size], Arguments]
    sizes: Mapping[str, Size]
    kind: str
    operations: Callable[..., float]
    traffic: Callable[..., float] | None = None  # bytes that a program without time tiling must move
    results: Callable[..., Any] | None = None  # shapes of what is returned
    tolerance: float = 1e-9

    def arguments(self, size: str) -> Arguments:
        """Fresh arguments, the same at each call."""
        return self.initialise(self.sizes[size])

    def shapes(self, size: str) -> tuple[tuple[int, ...], ...]:
        return tuple(self.results(*self.sizes[size])) if self.results is not None else ()

    def work(self, size: str) -> float:
        return float(self.operations(*self.sizes[size]))

    def moved(self, size: str) -> float | None:
        return None if self.traffic is None else float(self.traffic(*self.sizes[size]))


def load(name: str) -> Kernel:
    """The kernel that a file of `forms` describes."""
    if name not in NAMES:
        raise KeyError(name)
    module = import_module(f"benchmarks.polybench.forms.{name}")
    return Kernel(
        name=name,
        forms={form: getattr(module, form) for form in FORMS},
        initialise=module.initialise,
        sizes=module.SIZES,
        kind=module.KIND,
        operations=module.operations,
        traffic=getattr(module, "traffic", None),
        results=getattr(module, "results", None),
        tolerance=getattr(module, "TOLERANCE", 1e-9),
    )


def title(name: str) -> str:
    """The name as PolyBench writes it."""
    return name.removeprefix("k") if name in ("k2mm", "k3mm") else name.replace("_", "-")


def nested(value: Any) -> Any:
    """An array as lists of lists; anything else as it is."""
    return value.tolist() if hasattr(value, "tolist") else value
