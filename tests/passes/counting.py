"""What a program costs, counted: the interpreter runs its lowered form and every operation, load and store is noted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from weft.ir import interp
from weft.ir.types import ScalarType
from weft.options import Options
from weft.pipeline import DEFAULTS, stages


class Counts:
    """Operations on floats by name; loads and stores of array elements by buffer (scalars live in registers)."""

    def __init__(self) -> None:
        self.operations: Counter[str] = Counter()
        self.loads: Counter[str] = Counter()
        self.stores: Counter[str] = Counter()

    @contextmanager
    def watching(self) -> Iterator[None]:
        apply, load, store = interp.apply, interp._load, interp._store

        def counted_apply(op: str, values: list[Any], of: ScalarType) -> Any:
            if any(isinstance(value, float | np.floating) for value in values):
                self.operations[op] += 1
            return apply(op, values, of)

        def counted_load(state: Any, name: str, memory: Any, place: tuple[int, ...], of: ScalarType) -> Any:
            if place:
                self.loads[name] += 1
            return load(state, name, memory, place, of)

        def counted_store(state: Any, name: str, memory: Any, place: tuple[int, ...], value: Any) -> None:
            if place:
                self.stores[name] += 1
            store(state, name, memory, place, value)

        interp.apply, interp._load, interp._store = counted_apply, counted_load, counted_store
        try:
            yield
        finally:
            interp.apply, interp._load, interp._store = apply, load, store


def counted(function: Callable[..., Any], *arguments: Any, options: Options = DEFAULTS) -> Counts:
    """The counts of one run of the lowered program of `function`."""
    import inspect

    program = stages(function, arguments, options)[-1][1]
    names = tuple(inspect.signature(function).parameters)
    values = {name: value for name, value in zip(names, arguments) if name in program.params}
    counts = Counts()
    with counts.watching():
        interp.run(program, values)
    return counts
