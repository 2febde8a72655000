"""What one benchmark is: spellings of the same mathematics, a maker of arguments, and sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

Function = Callable[..., Any]
Arguments = tuple[Any, ...]
Size = tuple[Any, ...]


@dataclass(frozen=True)
class Benchmark:
    """`plain` is what a user runs today, `loops` the same element by element, `parallel` what a Numba user writes.

    `sizes` maps "tiny" (for tests), "S", "M" and "L" (about 10 ms, 100 ms and 1 s of NumPy) to what `initialise` takes.
    """

    name: str
    plain: Function
    initialise: Callable[[Size], Arguments]
    sizes: Mapping[str, Size]
    loops: Function | None = None
    parallel: Function | None = None
    tolerance: float = 1e-9
    lists: bool = False  # whether the loops also take nested lists for arrays
    operations: Function | None = None  # arithmetic on elements for given arguments, where it cannot be counted

    def arguments(self, size: str) -> Arguments:
        """Fresh arguments, the same at each call."""
        return self.initialise(self.sizes[size])


def from_module(module: ModuleType, parallel: Function | None) -> Benchmark:
    """The benchmark that a kernel's file describes."""
    return Benchmark(
        name=module.__name__.rpartition(".")[2],
        plain=module.numpy_form,
        initialise=module.initialise,
        sizes=module.SIZES,
        loops=getattr(module, "loop_form", None),
        parallel=parallel,
        tolerance=getattr(module, "TOLERANCE", 1e-9),
        lists=getattr(module, "LISTS", False),
        operations=getattr(module, "operations", None),
    )


def copies(arguments: Arguments) -> Arguments:
    """The arguments with arrays of their own."""
    return tuple(value.copy() if isinstance(value, np.ndarray) else value for value in arguments)


def agree(actual: Any, expected: Any, tolerance: float) -> bool:
    """Whether two results agree up to `tolerance`, relative to the largest element (looser in single precision)."""
    if isinstance(expected, tuple):
        pairs = zip(actual, expected)
        return len(actual) == len(expected) and all(agree(one, other, tolerance) for one, other in pairs)
    if expected is None:
        return actual is None
    one, other = np.asarray(actual), np.asarray(expected)
    if one.shape != other.shape:
        return False
    if other.dtype in (np.float32, np.complex64):
        tolerance = max(tolerance, 1e-4)
    finite = other[np.isfinite(other)]
    scale = float(np.max(np.abs(finite))) if finite.size else 0.0
    return np.allclose(one, other, rtol=tolerance, atol=tolerance * (scale or 1.0), equal_nan=True)


def forms_agree(benchmark: Benchmark, size: str) -> bool:
    """The check of a benchmark itself: its spellings return and leave behind the same numbers in plain Python."""
    if benchmark.loops is None:
        return True
    first, second = benchmark.arguments(size), benchmark.arguments(size)
    expected, actual = benchmark.plain(*first), benchmark.loops(*second)
    return agree((actual, second), (expected, first), benchmark.tolerance)
