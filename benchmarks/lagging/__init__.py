"""Classes of numeric programs that were slower with weft than with NumPy or Numba, a few small kernels of each.

`python -m benchmarks.lagging` times them side by side. A kernel is a `Kernel`: the function as a person writes it, what
makes its arguments, and, where Numba does not take that source, the loops a user of Numba would write.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Function = Callable[..., Any]


@dataclass(frozen=True)
class Kernel:
    family: str
    function: Function
    arguments: Callable[[np.random.Generator], tuple[Any, ...]]
    loops: Function | None = None

    @property
    def name(self) -> str:
        return self.function.__name__


def kernels() -> list[Kernel]:
    """All kernels, family by family."""
    from benchmarks.lagging import counting, elementwise, linear, masks, ordering, signals, sparse, tiny, windows

    modules = (signals, masks, linear, counting, elementwise, ordering, sparse, windows, tiny)
    return [kernel for module in modules for kernel in module.KERNELS]
