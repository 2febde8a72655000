"""The passes of a device.  In: an optimised program; out: a lowered one, with the loops that a device wants.

Tiles for caches, registers and threads of a CPU are left out: a device has its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from weft.device import products
from weft.ir import verify
from weft.ir.program import Layout, Program
from weft.options import Options
from weft.passes import PassContext, Remark, match, schedule, simplify, store, version

#: In order; what else a CPU's pipeline does would only be in the way.
LOWERING: tuple[tuple[str, Callable[[Program, PassContext], Program]], ...] = (
    ("simplify", simplify.run),
    ("match", match.run),
    ("products", lambda program, context: products.only_products(program)),
    ("schedule", schedule.run),
    ("store", store.run),
    ("version", version.run),
)


def lowered(program: Program, options: Options, log: list[Remark]) -> Program:
    context = PassContext(replace(options, parallel=True), log)
    # A device has copies, which are contiguous whatever the caller's arrays are.
    program = replace(program, buffers=tuple(replace(buffer, layout=Layout.C) for buffer in program.buffers))
    for _, run in LOWERING:
        program = run(program, context)
    verify.verify(program, verify.Stage.LOWERED)
    return program
