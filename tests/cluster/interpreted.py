"""Plans without an engine.  In: a program and arguments; out: what its tiles compute, each run by the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from weft.cluster import driver, kernels, work
from weft.cluster.function import _sample_sizes, fill, gathered
from weft.cluster.plan import Plan, make
from weft.cluster.rows import with_rows
from weft.cluster.spread import Spread
from weft.cluster.sweeps import with_sweeps
from weft.cluster.tiles import TileProgram
from weft.ir import interp, verify
from weft.ir.program import Program, Role


def _interpreted(tile: TileProgram, lowered: bool) -> Callable[..., Any]:
    program = tile.program
    verify.verify(program, verify.Stage.OPTIMISED)
    if lowered:
        from weft.options import Options

        program = kernels.lowered(program, Options())
    return lambda *values: interp.run(program, dict(zip(program.params, values)))


def run_plan(
    program: Program, arguments: Mapping[str, Any], rows: int, monkeypatch: Any, lowered: bool = False
) -> tuple[Any, Plan, int]:
    """The result of a program by tiles of so many rows, its plan, and how many tasks there were.

    Arrays among the arguments are changed as the program says.
    """
    made: dict[str, Callable[..., Any]] = {}

    def compiled(tile: TileProgram) -> kernels.Kernel:
        made[tile.program.name] = _interpreted(tile, lowered)
        return kernels.Kernel(tile.program.name, "", tile.parameters, tile.returned, "", (), (), {})

    monkeypatch.setattr(work, "load", lambda kernel: made[kernel.name])
    numbers = _sample_sizes(program, arguments)
    plan = with_rows(with_sweeps(make(program, numbers, control=True)))
    driver.check(plan)
    arrays = {
        name: Spread(value.shape, value.dtype, source=value)
        for name, value in arguments.items()
        if isinstance(value, np.ndarray)
    }
    table = program.table
    scalars = {name: value for name, value in arguments.items() if name in table and not table[name].rank}
    engine = driver.InProcess()
    run = driver.Run(driver.Programs(plan, compiled), engine, numbers, scalars, arrays, rows)
    left = run.steps(plan.steps)
    run.finish()
    out = program.results[plan.result if left is None else left.result]
    result = run.result(out, lambda s: gathered(s, engine), arguments)
    for name in run.changed:
        if plan.program.table[name].role is Role.PARAM:
            fill(arguments[name], run.arrays[name], engine)
    return result, plan, len(engine.tasks)
