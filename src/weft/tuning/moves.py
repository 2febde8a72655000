"""Steps of a search.  In: transformations that are asked for and the program that they led to; out: others, each one
step away, in an order in which every kind of step comes early.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import Any

from weft.directives import (
    Directive,
    Fuse,
    Group,
    Interchange,
    NoFuse,
    NoLibrary,
    Parallel,
    Place,
    Sequential,
    SkipPass,
    Threads,
    Tile,
    Unroll,
    Vectorise,
)
from weft.ir.program import Call
from weft.ir.walk import walk
from weft.passes.order import LOWERING, PASSES
from weft.report.outline import LoopView, ProgramView
from weft.runtime.threads import get_num_threads

#: Iterations of a block, along each loop of a tile; the likely ones first.
_SIZES = (64, 32, 128, 16, 256)
_FACTORS = (4, 2, 8)
#: Rows and columns of a work-group.
_GROUPS = ((1, 256), (1, 128), (1, 64), (4, 64), (8, 32), (16, 16), (8, 8), (2, 32))
#: What passes call loops over blocks: they are somebody's tiles already.
_BLOCK = "_block"

Plan = tuple[Directive, ...]


def neighbours(plan: Plan, view: ProgramView) -> Iterator[Plan]:
    """All plans that are one step away from this one."""
    chains = list(_chains([loop for loop in view.loops if _BLOCK not in loop.variable]))
    kinds = (
        list(_libraries(view)),
        [step for chain in chains for step in _threads(chain)],
        list(_fewer(view)),
        [step for chain in chains for step in _tiles(chain)],
        [step for chain in chains for step in _orders(chain)],
        [step for chain in chains for step in _unrolled(chain)],
        list(_together(view)),
        list(_passes(plan)),
    )
    seen: set[Plan] = {plan}
    without = [tuple(each for each in plan if each is not dropped) for dropped in plan]
    added = (_with(plan, step) for row in zip_longest(*kinds) for step in row if step is not None)
    for found in (*without, *added):
        if found not in seen:
            seen.add(found)
            yield found


def groups(kernel: Any) -> Iterator[Directive]:
    """Shapes of the work-groups of a kernel, innermost dimension last; none where its text decides about them."""
    from weft.device.dialect import is_fitted

    line = kernel.span.line
    if not is_fitted(kernel) or line <= 0:
        return
    places = tuple(Place(dim.var, line) for dim in kernel.grid)[-2:]
    for shape in _GROUPS:
        if len(places) == 2:
            yield Group(places, shape)
        elif shape[0] == 1:
            yield Group(places, shape[1:])


def _with(plan: Plan, step: Directive) -> Plan:
    """A step after those of a plan, in place of one that it contradicts."""
    rivals: tuple[type, ...] = (type(step),)
    if isinstance(step, (Parallel, Sequential)):
        rivals = (Parallel, Sequential)
    kept = [
        each
        for each in plan
        if not isinstance(each, Threads if isinstance(step, Threads) else ())
        if isinstance(each, (SkipPass, Fuse, NoFuse, Threads))
        or not isinstance(each, rivals)
        or set(each.places()).isdisjoint(step.places())
    ]
    return (*kept, step)


def _chains(loops: Sequence[LoopView]) -> Iterator[list[LoopView]]:
    """The loops around each innermost loop, outermost first."""
    path: list[LoopView] = []
    for position, loop in enumerate(loops):
        path = [*(outer for outer in path if outer.depth < loop.depth), loop]
        if position + 1 == len(loops) or loops[position + 1].depth <= loop.depth:
            yield path


def _place(loop: LoopView) -> Place:
    return Place.of(loop.name)


def _tiles(chain: Sequence[LoopView]) -> Iterator[Directive]:
    for size in _SIZES:
        for depth in (2, 3, 1):
            if depth <= len(chain):
                places = tuple(map(_place, chain[-depth:]))
                yield Tile(places, (size,) * depth)
                if depth == 2:
                    yield Tile(places, (size, 4 * size))


def _orders(chain: Sequence[LoopView]) -> Iterator[Directive]:
    for outer, inner in reversed(list(pairwise(chain))):
        yield Interchange((_place(outer), _place(inner)))


def _unrolled(chain: Sequence[LoopView]) -> Iterator[Directive]:
    for factor in _FACTORS:
        for loop in reversed(chain[-2:]):
            yield Unroll(_place(loop), factor)


def _threads(chain: Sequence[LoopView]) -> Iterator[Directive]:
    """Threads for another loop, or for none; vectors for the innermost one."""
    for loop in chain:
        yield Sequential(_place(loop)) if loop.kind == "parallel" else Parallel(_place(loop))
    if chain and chain[-1].kind == "for":
        yield Vectorise(_place(chain[-1]))


def _fewer(view: ProgramView) -> Iterator[Directive]:
    """Fewer threads than there are: half of them, a quarter and so on, where some loop has several."""
    count = get_num_threads() // 2
    while count and any(loop.kind == "parallel" for loop in view.loops):
        yield Threads(count)
        count //= 2


def _libraries(view: ProgramView) -> Iterator[Directive]:
    """Loops for what is left to a library."""
    lines = sorted({node.stmt.span.line for node in walk(view.program.body) if isinstance(node, Call)})
    yield from (NoLibrary(Place(line=line)) for line in lines if line > 0)


def _together(view: ProgramView) -> Iterator[Directive]:
    """Lines whose statements share a loop apart, and neighbours joined."""
    lines = [(statement.line, statement.loops[:1]) for statement in view.statements if statement.line > 0]
    for (first, around), (second, other) in pairwise(lines):
        if first != second and around and other:
            places = (Place(line=first), Place(line=second))
            yield NoFuse(places) if around == other else Fuse(places)


def _passes(plan: Plan) -> Iterator[Directive]:
    """Passes left out: those that give whole nests another shape first."""
    asked = {each.skipped for each in plan if isinstance(each, SkipPass)}
    known = [each for each in (*LOWERING, *PASSES) if each.optional and each.name not in asked]
    for each in sorted(known, key=lambda each: not each.reshapes):
        yield SkipPass(each.name)
