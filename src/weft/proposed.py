"""Pragmas that weft itself would take.  In: a function and the pragmas that it might have, by line; out: those of them
that a user could write there.

Passes reorder loops, so that what they run at once need not be a loop of the source.  A pragma is proposed only if the
function compiles with it, and if weft can prove what it asserts: nobody should have to trust a comment of weft's.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace

from weft import pipeline
from weft.analysis.effects import Liveness
from weft.errors import WeftError
from weft.frontend import builder, pragmas, specs
from weft.frontend.source import Source
from weft.ir.program import Loop, LoopKind, Program
from weft.ir.walk import buffers_written, walk
from weft.options import Options
from weft.passes.races import reduction_of
from weft.passes.scheduling.independent import why_not_independent

#: The pass after which tests have left loops, as far as they do, and loops are those of the source.
_STAGE = "races"


def accepted(
    source: Source, kinds: Sequence[specs.Spec], options: Options, proposed: Mapping[int, str]
) -> dict[int, str]:
    """All pragmas together if weft takes them, else each that it takes beside those before it."""
    if _are_taken(source, kinds, options, proposed):
        return dict(proposed)
    kept: dict[int, str] = {}
    for line, text in sorted(proposed.items()):
        if _are_taken(source, kinds, options, {**kept, line: text}):
            kept[line] = text
    return kept


def _are_taken(source: Source, kinds: Sequence[specs.Spec], options: Options, proposed: Mapping[int, str]) -> bool:
    tree = copy.deepcopy(source.tree)
    try:
        pragmas.noted(tree, proposed, source.file)
        built = builder.build(replace(source, tree=tree), kinds, None)
        program = dict(pipeline.stages_of(built, options))[_STAGE]
    except (WeftError, RecursionError):
        return False
    return all(_is_proved(loop, program) for loop in _asserted(program) if loop.span.line in proposed)


def _asserted(program: Program) -> list[Loop]:
    return [node for node in walk(program.body) if isinstance(node, Loop) and node.kind is LoopKind.ASSERTED]


def _is_proved(loop: Loop, program: Program) -> bool:
    """Whether weft knows without being told that the iterations of a loop need nothing of each other but sums."""
    scalars = [name for node in loop.body for name in buffers_written(node) if not program.table[name].rank]
    summed = {name for name in scalars if reduction_of(loop.body, name) is not None}
    plain = replace(loop, kind=LoopKind.SEQUENTIAL)
    return why_not_independent(plain, program, set(Liveness(program).live_after(loop)), summed) is None
