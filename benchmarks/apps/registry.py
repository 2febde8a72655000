"""What one application is. In comes a name; out come its function, a maker of arguments, sizes, and what peers get."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.kernels.registry import Arguments, Function, Size, agree

ANALYTICS = ("bigclam", "changepoint", "ipnsw", "ista", "pr_nibble", "sinkhorn_wmd", "kmeans")
JULIA = ("fibonacci", "quicksort", "pi_sum", "mandelbrot", "parse_int", "matrix_statistics")
EVERYDAY = (
    "n_queens", "sieve", "edit_distance", "dijkstra", "union_find", "l_system", "tokenizer", "event_simulation",
)  # fmt: skip
NAMES = (*ANALYTICS, *JULIA, *EVERYDAY)


@dataclass(frozen=True)
class Application:
    """`function` is the program as people write it; `numba_form` the same as Numba takes it, where that differs."""

    name: str
    function: Function
    initialise: Callable[[Size], Arguments]
    sizes: Mapping[str, Size]
    numba_form: Function
    intrepydd: float | None = None  # its published time over CPython's, inverted: how many times faster
    tolerance: float = 1e-9

    def arguments(self, size: str) -> Arguments:
        """Fresh arguments, the same at each call."""
        return self.initialise(self.sizes[size])


def load(name: str) -> Application:
    """The application that a file of `programs` describes."""
    if name not in NAMES:
        raise KeyError(name)
    module = import_module(f"benchmarks.apps.programs.{name}")
    function = getattr(module, name)
    return Application(
        name=name,
        function=function,
        initialise=module.initialise,
        sizes=module.SIZES,
        numba_form=getattr(module, "numba_form", function),
        intrepydd=getattr(module, "INTREPYDD", None),
        tolerance=getattr(module, "TOLERANCE", 1e-9),
    )


def title(name: str) -> str:
    return name.replace("_", "-")


def fresh(arguments: Arguments) -> Arguments:
    """The arguments with arrays and lists of their own; what lies inside of a list no application changes."""
    return tuple(
        value.copy() if isinstance(value, np.ndarray) else list(value) if isinstance(value, list) else value
        for value in arguments
    )


def same(actual: Any, expected: Any, tolerance: float) -> bool:
    """Whether two results agree: numbers up to `tolerance`, everything else exactly."""
    if isinstance(expected, tuple) and isinstance(actual, (tuple, list)):
        return len(actual) == len(expected) and all(same(*pair, tolerance) for pair in zip(actual, expected))
    if isinstance(expected, (list, np.ndarray)):
        numbers = isinstance(expected, np.ndarray) or all(type(item) in (int, float, bool) for item in expected)
        return agree(actual, expected, tolerance) if numbers else bool(actual == expected)
    if isinstance(expected, (float, np.floating)):
        return agree(actual, expected, tolerance)
    return bool(actual == expected)
