"""Running passes.  In: a program and passes in order; out: the program after each of them.

A pass meets only what it knows (`Knows`), and none that the user has asked to leave out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from weft.ir.program import Program
from weft.ir.verify import Stage
from weft.passes import Knows, Pass, PassContext, parts, tasks

#: Runs one step, which it may time and check: its name, the step and the stage of the program that it gives.
Watch = Callable[[str, Callable[[], Program], Stage], Program]


def _unwatched(name: str, step: Callable[[], Program], stage: Stage) -> Program:
    return step()


def stages(
    passes: Sequence[Pass], program: Program, context: PassContext, watch: Watch = _unwatched
) -> list[tuple[str, Program]]:
    """The program after each pass, by the name of the pass."""
    tasked = frozenset(part.name for part in (program, *program.functions) if tasks.has_regions(part))
    found: list[tuple[str, Program]] = []
    for each in passes:
        if not (context.directives and _left_out(each, context)):

            def step(each: Pass = each, current: Program = program) -> Program:
                return _applied(each, current, context, tasked)

            program = watch(each.name, step, each.gives)
        found.append((each.name, program))
    return found


def _applied(each: Pass, program: Program, context: PassContext, tasked: frozenset[str]) -> Program:
    """A pass on a program and on each of its functions; where one has what the pass does not know, on its parts.

    `tasked` names the program and the functions that have tasks.
    """
    calls = Knows.CALLS if program.functions else Knows.NOTHING

    def applied(part: Program, function: bool) -> Program:
        met = calls | (Knows.TASKS if part.name in tasked else Knows.NOTHING)
        if met in each.knows:
            return each(part, context)
        return part if each.wholes else parts.applied(each, part, context, function, function and bool(tasked))

    main = applied(replace(program, functions=()) if calls else program, False)
    if not calls:
        return main
    return replace(main, functions=tuple(applied(function, True) for function in program.functions))


def _left_out(each: Pass, context: PassContext) -> bool:
    """Whether the user has asked to leave out a pass, or for loops that it would change again."""
    if context.directives.skips(each.name):
        context.done(each.name, f"the pass {each.name} was left out, as asked")
        return True
    if each.reshapes and (context.directives.on_loops() or context.directives.hints()):
        context.missed(each.name, f"the pass {each.name} was left out: transformations of single loops were asked for")
        return True
    return False
