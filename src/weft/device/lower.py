"""The passes of a device.  In: an optimised program; out: a lowered one, with the loops that a device wants.

Tiles for caches, registers and threads of a CPU are left out: a device has its own.
"""

from __future__ import annotations

from dataclasses import replace

from weft.device import products
from weft.device.plan import Refused
from weft.ir import verify
from weft.ir.expr import Expr, Limit, Op, real
from weft.ir.foreign import FOREIGN
from weft.ir.program import Buffer, Layout, Program, Space
from weft.ir.walk import map_program_exprs, rewrite
from weft.limits import LIMIT
from weft.options import Options
from weft.passes import Pass, PassContext, Remark, arrange, declared, match, schedule, simplify, store, version


@declared("products", after=("match",))
def only_products(program: Program, context: PassContext) -> Program:
    """Of the library calls only the products that kernels compute."""
    return products.only_products(program)


@declared("copied", after=("arrange",), optional=False)
def copied(program: Program, context: PassContext) -> Program:
    """Arrays as a device has them: copies, which are contiguous whatever the caller's are."""
    return replace(program, buffers=tuple(map(_copied, program.buffers)))


#: In order; what else a CPU's pipeline does would only be in the way.
LOWERING: tuple[Pass, ...] = (
    arrange.run,
    copied,
    simplify.run,
    match.run,
    only_products,
    schedule.run,
    store.run,
    version.run,
)
#: Those that make products of loops; a product inside other loops has no kernel, so that such a program does without.
_PRODUCTS = ("match", "products")


def lowered(program: Program, options: Options, log: list[Remark], matched: bool = True) -> Program:
    """The program with a device's loops; `matched`: matrix products are found and stay whole."""
    context = PassContext(replace(options, parallel=True), log)
    for each in LOWERING:
        if matched or each.name not in _PRODUCTS:
            program = each(program, context)
    program = map_program_exprs(program, lambda expr: rewrite(expr, _shipped))
    verify.verify(program, verify.Stage.LOWERED)
    return program


def _copied(buffer: Buffer) -> Buffer:
    layout = Layout.F if buffer.layout is Layout.F else Layout.C
    return replace(buffer, layout=layout, space=Space.DEVICE if buffer.rank else Space.HOST)


def _shipped(expr: Expr) -> Expr:
    """Numbers of this machine's processor, as weft ships them: a kernel has no table to ask, nor other libraries."""
    if isinstance(expr, Op) and expr.op in FOREIGN:
        raise Refused(f"it calls {expr.op.removeprefix('foreign_')}, a function of another library")
    return real(LIMIT[expr.name].default) if isinstance(expr, Limit) else expr
