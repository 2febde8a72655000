"""Small parts of a program as one kernel.  In: nodes that would be several launches; out: whether one launch can do
what they do, and how many launches it saves.

    for t in 0 .. n:                          Either, by what sizes tell of the work:
      parallel i: b[i] = ...         -->        one kernel with all loops, run by one work-item, or one group
      parallel i: a[i] = ...                    the launches

A launch costs as much as thousands of operations.  On an accelerator the lanes of one group share the parallel loops,
with barriers in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from weft.analysis import cost
from weft.device.lanes import leaving
from weft.device.plan import Again, Choose, Either, Launch, Repeat, Steps
from weft.ir.expr import Expr, Op, real
from weft.ir.program import Alloc, Block, Call, Invoke, Library, Loop, Node, Program, Rebind, Return, Role, ViewOut
from weft.ir.types import FLOAT
from weft.ir.walk import buffers_written, domain_buffers, expr_buffers, free_vars, leaves, sub_blocks, touched, walk

#: Operations that a launch costs as much as: of one work-item of a processor, and of one group of an accelerator.
PROCESSOR, ACCELERATOR = 16384.0, 4096.0
_STOPS = (Return, Rebind, Call, Library, Invoke)


def touched_outside(program: Program, nodes: Sequence[Node]) -> set[str]:
    """What the rest of a program reads or writes."""
    own = {id(node) for node in nodes}
    found: set[str] = set()

    def visit(block: Block) -> None:
        for node in block:
            if id(node) in own:
                continue
            found.update(touched(node))
            for inner in sub_blocks(node):
                visit(inner)

    visit(program.body)
    inside = {part.buffer for part in walk(tuple(nodes)) if isinstance(part, Alloc)}
    for buffer in program.buffers:
        if buffer.name not in inside:
            found.update(*map(expr_buffers, buffer.shape))  # the host gives memory by its size
    for leaf in (leaf for out in program.results for leaf in leaves(out)):
        found.add(getattr(leaf, "buffer", ""))
        if isinstance(leaf, ViewOut):
            found.update(*map(expr_buffers, leaf.index), domain_buffers(leaf.dims))
    return found


def mergeable(node: Node) -> bool:
    """Whether a node can stand in a kernel among others, as far as it alone tells."""
    return not any(isinstance(part, _STOPS) for part in walk((node,))) and not leaving(node)


def why_not(nodes: Sequence[Node], program: Program, known: Set[str]) -> str | None:
    """Why nodes are not one kernel; `known`: scalars that the host computes."""
    parts = tuple(walk(tuple(nodes)))
    written = {name for part in parts for name in buffers_written(part)}
    outside = touched_outside(program, nodes)
    if lost := written & known & outside:
        return f"the host needs {min(lost)}"
    variables = {part.dim.var for part in parts if isinstance(part, Loop)}
    for part in parts:
        if not isinstance(part, Alloc):
            continue
        buffer = program.table[part.buffer]
        if buffer.name in outside or buffer.role is not Role.LOCAL:
            return f"{buffer.name} outlives them"
        used = [set(free_vars(extent)) | expr_buffers(extent) for extent in buffer.shape]
        if any(names & (variables | written) for names in used):
            return f"the size of {buffer.name} varies"
    return None


def launches(steps: Steps, middles: Mapping[str, Expr] | None = None) -> Expr:
    """How many launches steps are, from sizes; `middles`: typical values of the variables of loops around them."""
    total: Expr = real(0.0)
    known = dict(middles or {})
    for step in steps:
        if isinstance(step, Launch):
            total = cost.plus(total, real(1.0))
        elif isinstance(step, Repeat):
            trips = cost.as_float(cost.outside(cost.extent(step.dim), known))
            inner = launches(step.steps, {**known, step.dim.var: cost.middle(step.dim, known)})
            total = cost.plus(total, cost.times(trips, inner))
        elif isinstance(step, Again):
            inner = launches((*step.prelude, *step.steps), known)
            total = cost.plus(total, cost.times(real(float(cost.GUESSED_EXTENT)), inner))
        elif isinstance(step, Choose):
            then, orelse = launches(step.then, known), launches(step.orelse, known)
            condition = cost.outside(step.condition, known)
            total = cost.plus(total, then if then == orelse else Op("select", (condition, then, orelse), FLOAT))
        elif isinstance(step, Either):
            total = cost.plus(total, real(1.0))
    return total


def are_several(steps: Iterable[object]) -> bool:
    """Whether steps are more than one launch."""
    count = 0
    for step in steps:
        if isinstance(step, (Repeat, Again, Choose)):
            return True
        count += isinstance(step, (Launch, Either))
    return count > 1
