"""The passes of a device.  In: an optimised program; out: a lowered one, with the loops that a device wants.

Tiles for caches, registers and threads of a CPU are left out: an accelerator has its own.  A device that is a processor
gets them, but for blocks of time steps, whose bounds the host would have to ask for.
"""

from __future__ import annotations

from dataclasses import replace

from weft.device import products
from weft.device.lanes import line_of
from weft.device.plan import Refused
from weft.directives import NONE, Directives
from weft.ir import verify
from weft.ir.expr import Expr, Limit, Op, real
from weft.ir.foreign import FOREIGN
from weft.ir.program import Buffer, Layout, Loop, LoopKind, Node, Program, Space
from weft.ir.verify import Stage
from weft.ir.walk import map_block, map_program_exprs, map_sub_blocks, rewrite
from weft.limits import LIMIT
from weft.options import Options
from weft.passes import (
    Pass,
    PassContext,
    Remark,
    arrange,
    block,
    declared,
    directed,
    follow,
    implied,
    invariant,
    jam,
    lanes,
    match,
    pack,
    registers,
    repeated,
    schedule,
    search,
    shapes,
    simplify,
    store,
    version,
    wavefront,
)
from weft.passes.running import stages
from weft.passes.scheduling.kinds import is_innermost
from weft.passes.scheduling.lower import Workspace
from weft.passes.scheduling.uncut import without_strips


@declared("products", after=("match",))
def only_products(program: Program, context: PassContext) -> Program:
    """Of the library calls only the products that kernels compute."""
    return products.only_products(program)


@declared("copied", after=("arrange",), optional=False)
def copied(program: Program, context: PassContext) -> Program:
    """Arrays as a device has them: copies, which are contiguous whatever the caller's are."""
    return replace(program, buffers=tuple(map(_copied, program.buffers)))


@declared("items", takes=Stage.LOWERED, after=("schedule",), optional=False)
def items(program: Program, context: PassContext) -> Program:
    """A point of a loop is a work-item's, not a block of them; small dimensions that a comment names are one's, too.

    parallel b: vector i in block b: A   -->   parallel i: A
    """

    def visit(node: Node) -> Node:
        if isinstance(node, Loop):
            asked = context.directives
            one, told = (ask(node.dim.var, line_of(node)) for ask in (asked.by_one, asked.dimension))
            if one is not None:
                context.done("items", f"{one.name}: a work-item runs it by itself, in registers", node.span)
                node = replace(node, kind=LoopKind.SEQUENTIAL, accumulators=(), work=None)
            elif told is not None and told.single:
                context.done("items", f"{told.name}: one group runs it", node.span)
                node = replace(node, kind=LoopKind.VECTOR, work=None) if is_innermost(node) else node
            elif node.kind is LoopKind.VECTOR and node.work is not None:
                node = replace(node, kind=LoopKind.PARALLEL)
        return map_sub_blocks(node, lambda inner: map_block(inner, visit))

    body = without_strips(program.body, None, Workspace.of(program))
    return replace(program, body=map_block(body, visit))


#: In order; what else a CPU's pipeline does would only be in the way of an accelerator.
LOWERING: tuple[Pass, ...] = (
    arrange.run,
    copied,
    simplify.run,
    match.run,
    only_products,
    shapes.run,
    schedule.run,
    items,
    store.run,
    version.run,
)
#: Those that make products of loops; a product inside other loops has no kernel, so that such a program does without.
_PRODUCTS = ("match", "products")


#: Those of a device that is a processor: its caches and vectors are as on this machine's own.
PROCESSOR: tuple[Pass, ...] = (
    implied.run,
    arrange.run,
    copied,
    simplify.run,
    match.run,
    only_products,
    pack.run,
    search.run,
    wavefront.run,
    follow.run,
    shapes.run,
    schedule.run,
    directed.run,
    block.run,
    store.run,
    lanes.run,
    jam.run,
    registers.run,
    invariant.run,
    repeated.run,
    version.run,
)


def lowered(
    program: Program,
    options: Options,
    log: list[Remark],
    matched: bool = True,
    processor: bool = False,
    directives: Directives = NONE,
) -> Program:
    """The program with a device's loops; `matched`: matrix products are found and stay whole; `processor`: the device
    is one, with caches and vectors.
    """
    told = replace(directives, literal=not processor)
    context = PassContext(replace(options, parallel=True), log, told)
    passes = PROCESSOR if processor else LOWERING
    chosen = tuple(each for each in passes if matched or each.name not in _PRODUCTS)
    program = stages(chosen, program, context)[-1][1]
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
