"""The order of the passes, on one page.  In: nothing; out: tuples of passes, which targets are made of.

What a pass needs and knows stands with the pass; `problems` tells whether an order gives each what it needs.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft import steps
from weft.ir.verify import Stage
from weft.passes import (
    Pass,
    abreast,
    arrange,
    block,
    checks,
    common,
    continues,
    counters,
    detach,
    directed,
    ends,
    expand,
    flags,
    follow,
    forward,
    held,
    hoist,
    implied,
    invariant,
    jam,
    lanes,
    match,
    messages,
    pack,
    paired,
    portions,
    previous,
    races,
    raise_loops,
    registers,
    repeated,
    schedule,
    search,
    shapes,
    signs,
    simplify,
    store,
    tasks,
    terms,
    threads,
    trapezoid,
    unread,
    unroll,
    version,
    wavefront,
    whiles,
    wrapped,
)

#: The passes of every target: from the program as it was built to the optimised one.
PASSES: tuple[Pass, ...] = (
    tasks.run,
    simplify.run,
    flags.run,
    continues.run,
    whiles.run,
    counters.run,
    checks.run,
    races.run,
    detach.run,
    previous.run,
    held.run,
    unroll.run,
    raise_loops.run,
    simplify.AGAIN,
    common.run,
    forward.run,
    hoist.run,
    unread.run,
    messages.run,
    simplify.TIDY,
)
#: The passes that decide and lower the loops of a processor with caches, vectors and threads.
LOWERING: tuple[Pass, ...] = (
    implied.run,
    expand.run,
    arrange.run,
    match.run,
    pack.run,
    search.run,
    terms.run,
    wavefront.run,
    follow.run,
    portions.run,
    shapes.run,
    schedule.run,
    directed.run,
    paired.run,
    block.run,
    store.run,
    lanes.run,
    abreast.run,
    jam.run,
    registers.run,
    trapezoid.run,
    invariant.run,
    repeated.run,
    signs.run,
    ends.run,
    wrapped.run,
    threads.run,
    version.run,
)

steps.register((each.name for each in (*PASSES, *LOWERING)), "a pass")


def problems(passes: Sequence[Pass], stage: Stage = Stage.BUILT) -> list[str]:
    """What is wrong with an order that begins with a program of this stage: each problem as a sentence."""
    found: list[str] = []
    names = [each.name for each in passes]
    for position, each in enumerate(passes):
        if each.name in names[:position]:
            found.append(f"{each.name} is there twice")
        if each.takes is not stage:
            found.append(f"{each.name} takes a program that is {each.takes.value}, but finds one that is {stage.value}")
        late = [name for name in each.after if name in names[position:]]
        found += [f"{each.name} runs before {name}, which it relies on" for name in late]
        stage = each.gives
    return found


def require_optional(name: str) -> None:
    """ValueError if there is no such pass, or none that may be left out."""
    known = {each.name: each for each in (*PASSES, *LOWERING)}
    if name not in known or not known[name].optional:
        why = "cannot be left out" if name in known else "does not exist"
        optional = ", ".join(each.name for each in known.values() if each.optional)
        raise ValueError(f"the pass {name!r} {why}; these can be left out: {optional}")
