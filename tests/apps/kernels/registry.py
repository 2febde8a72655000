"""What a kernel of the corpus is. In come the spellings of one computation and a maker of its arguments; out comes a
`Kernel` that the tests, the replay tool and the benchmarks share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.support import Arguments, nested_lists

Function = Callable[..., Any]


@dataclass(frozen=True)
class Kernel:
    """One computation in several spellings ("numpy", "loops", "lists").

    tolerance: relative to the largest element; 0 asks for the same bits.  "lists" takes nested lists for arrays.
    partial: the forms that may run in Python, in part or as a whole; all others compile under fallback="error".
    """

    name: str
    forms: Mapping[str, Function]
    make: Callable[[int, np.random.Generator], Arguments]
    small: tuple[int, ...] = (1, 2, 7, 16)
    medium: int = 64
    tolerance: float = 0.0
    partial: tuple[str, ...] = ()

    def arguments(self, form: str, size: int, seed: int = 7) -> Arguments:
        """Fresh arguments of one form, the same for the same size and seed."""
        values = self.make(size, np.random.default_rng([seed, size]))
        return nested_lists(values) if form == "lists" else values
