"""The passes of a device.  In: an optimised program; out: a lowered one, with the loops that a device wants.

Tiles for caches, registers and threads of a CPU are left out: a device has its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from weft.device import products
from weft.ir import verify
from weft.ir.expr import Expr, Limit, real
from weft.ir.program import Layout, Program
from weft.ir.walk import map_program_exprs, rewrite
from weft.limits import LIMIT
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


#: Those that make products of loops; a product inside other loops has no kernel, so that such a program does without.
_PRODUCTS = ("match", "products")


def lowered(program: Program, options: Options, log: list[Remark], matched: bool = True) -> Program:
    """The program with a device's loops; `matched`: matrix products are found and stay whole."""
    context = PassContext(replace(options, parallel=True), log)
    # A device has copies, which are contiguous whatever the caller's arrays are.
    program = replace(program, buffers=tuple(replace(buffer, layout=Layout.C) for buffer in program.buffers))
    for name, run in LOWERING:
        if matched or name not in _PRODUCTS:
            program = run(program, context)
    program = map_program_exprs(program, lambda expr: rewrite(expr, _shipped))
    verify.verify(program, verify.Stage.LOWERED)
    return program


def _shipped(expr: Expr) -> Expr:
    """Numbers of this machine's processor, as weft ships them: a kernel has no table to ask."""
    return real(LIMIT[expr.name].default) if isinstance(expr, Limit) else expr
