"""Tiles of a cluster on devices.  In: the program of a tile; out: its plan as data, which a worker with a device builds
and runs in place of the tile's C.  Without a device there, or where a kernel complains, the C runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from weft import targets
from weft.analysis.scopes import written_params
from weft.cluster.function import _holds, _sample_sizes
from weft.device import engine
from weft.device import prepared as prepared_steps
from weft.device.plan import Plan, Refused
from weft.device.split import planned
from weft.ir.program import Program
from weft.options import Options
from weft.records import dataclass


@dataclass(frozen=True)
class Prepared:
    """A tile's plans for one target: with barriers, for accelerators, and without."""

    target: str
    plans: Mapping[bool, Plan]


def prepared(program: Program, options: Options, target: str) -> Prepared | None:
    """The plans of a tile program; None if it has no form on a device."""
    try:
        return Prepared(
            target, {barriers: planned(program, options, [], barriers, not barriers) for barriers in (True, False)}
        )
    except Refused:
        return None


class DeviceTile:
    """A tile on the device of this process; `fallback` is its C.  Called as that is: numbers and arrays in order."""

    def __init__(self, tile: Prepared, fallback: Callable[..., Any]) -> None:
        target = targets.find(tile.target)
        self.device = target.current()
        self.plan = tile.plans[not self.device.is_processor]
        text = target.dialect.unit(self.plan.helpers, self.plan.kernels)
        self.kernels = self.device.build(
            text, {kernel.name: prepared_steps.number_types(kernel) for kernel in self.plan.kernels}
        )
        self.ready = prepared_steps.Prepared(self.plan)
        self.fallback = fallback
        self.written = sorted(written_params(self.plan.program))
        self.calls = 0

    def __call__(self, *values: Any) -> Any:
        given = dict(zip(self.plan.program.params, values))
        table = self.plan.program.table
        numbers = _sample_sizes(self.plan.program, given)
        scalars = {name: value for name, value in given.items() if name in table and not table[name].rank}
        known = len(numbers) == len(self.plan.program.symbols)
        if not known or not _holds(self.plan, given, numbers, scalars):  # type: ignore[arg-type]
            return self.fallback(*values)
        try:
            with self.device.lock:
                run = engine.Run(self.ready, self.kernels, self.device, numbers)
                run.take(given, self.written)
                number = run.run()
                if number is None:
                    return self.fallback(*values)
                run.written({name: given[name] for name in self.written})
                self.calls += 1
                return run.result(number, given)
        except Refused:
            return self.fallback(*values)


def loaded(tile: Prepared, fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The tile as a function of this process, on its device if there is one."""
    try:
        return DeviceTile(tile, fallback)
    except Refused:
        return fallback
