"""The pipeline on one page: a Python function and arguments come in, a compiled version goes out.

    source --build--> Program --PASSES--> Program' --schedule--> lowered Program --codegen--> C --toolchain--> kernel
Every step is timed and, with WEFT_VERIFY=1 (on in the tests), its output verified.
"""

from __future__ import annotations

import os
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from weft import steps, targets
from weft.analysis.exactness import same_bits
from weft.analysis.scopes import written_params
from weft.codegen import binding
from weft.codegen.c_ops import ROUNDED
from weft.compiled import Compiled
from weft.deep import with_room
from weft.directives import NONE, Directives
from weft.errors import LeftToLibrary, ParallelError, Unsupported
from weft.frontend import builder, specs
from weft.frontend.instances import Hidden
from weft.frontend.source import Source, load
from weft.frontend.values import Object
from weft.ir import verify
from weft.ir.program import Layout, Program
from weft.ir.types import from_numpy
from weft.options import Options
from weft.passes import Pass, PassContext, Remark, directed, running, stress, tasks, users
from weft.passes.order import LOWERING, PASSES
from weft.runtime import descriptor as D
from weft.runtime import sharing

#: The options of a caller that gives none.
DEFAULTS = Options()


class _Clock:
    """Times and verifies the steps of one compilation."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.checking = os.environ.get("WEFT_VERIFY", "0") not in ("", "0")

    def step(self, name: str, action: Callable[[], Any]) -> Any:
        start = perf_counter()
        steps.enter(name)
        result = action()
        self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - start
        return result

    def program(self, name: str, action: Callable[[], Program], stage: verify.Stage) -> Program:
        program: Program = self.step(name, action)
        if self.checking:
            verify.verify(program, stage)
        return program


def signature_of(kinds: Sequence[specs.Spec]) -> str:
    """The types a version was compiled for, as the user would write them."""
    return "(" + ", ".join(str(kind) for kind in kinds) + ")"


def _optimise(
    built: builder.Built,
    options: Options,
    clock: _Clock,
    log: list[Remark],
    directives: Directives = NONE,
    passes: tuple[Pass, ...] = (*PASSES, *LOWERING),
    guarded: bool = True,
    alone: bool = False,
) -> list[tuple[str, Program]]:
    """Every stage of the program, by name."""
    apart = options.target != "cpu" and targets.find(options.target).apart
    context = PassContext(options, log, directives, apart, guarded, alone)
    program = built.program
    if clock.checking:
        verify.verify(program, verify.Stage.BUILT)
    if directives:
        directed.check_lines(program, context)
    return [("built", program), *running.stages(users.inserted(passes), program, context, clock.program)]


def stages(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    options: Options = DEFAULTS,
    directives: Directives = NONE,
) -> list[tuple[str, Program]]:
    """The program after each pass, for tests and for the curious."""
    source = load(function)
    built = builder.build(source, specs.specs_of(tuple(arguments)), arguments)
    return _optimise(built, options, _Clock(), [], directives)


def stages_of(built: builder.Built, options: Options = DEFAULTS) -> list[tuple[str, Program]]:
    """The same for a program that was built already."""
    return _optimise(built, options, _Clock(), [])


def front(
    source: Source,
    kinds: Sequence[specs.Spec],
    arguments: Sequence[Any] | None,
    options: Options = DEFAULTS,
    specialise: bool = True,
    directives: Directives = NONE,
    lower: bool = True,
    guarded: bool = True,
    alone: bool = False,
) -> Compiled:
    """Everything up to the lowered program (up to the optimised one, if it is not to be lowered): no compiler is
    needed.  `guarded`, `alone`: see `builder.build`.
    """
    given = (source, kinds, arguments, options, specialise, directives, lower, guarded, alone)
    return _with_room(source, lambda: _front(*given))


def compile_program(source: Source, built: builder.Built, options: Options) -> Compiled:
    """A version of a program that is optimised already: lowered and compiled."""

    def action() -> Compiled:
        clock, log = _Clock(), list[Remark]()
        lowered = _optimise(built, options, clock, log, NONE, LOWERING)[-1][1]
        program = built.program
        signature = signature_of(built.specs)
        return _coded(Compiled(signature, source, built, program, program, lowered, None, log, clock.seconds), options)

    return _with_room(source, action)


def _with_room(source: Source, action: Callable[[], Compiled]) -> Compiled:
    """An action on a program, however deep that nests; `Unsupported` if no stack would do."""
    try:
        return with_room(action)
    except RecursionError:
        reason = "expressions, branches or calls that nest too deeply to be compiled"
        raise Unsupported(source.span(source.tree), reason, "give some of the inner parts names") from None


def _front(
    source: Source,
    kinds: Sequence[specs.Spec],
    arguments: Sequence[Any] | None,
    options: Options,
    specialise: bool,
    directives: Directives,
    lower: bool,
    guarded: bool,
    alone: bool,
) -> Compiled:
    clock = _Clock()
    log: list[Remark] = []
    strict = options.fp == "strict"

    def attempt(in_sequence: bool) -> tuple[builder.Built, list[tuple[str, Program]]]:
        given = (source, kinds, arguments, specialise, strict, in_sequence, guarded, options.parallel, alone)
        built = clock.step("build", lambda: builder.build(*given))
        if options.stress.deoptimise is not None:
            built = replace(built, program=stress.deoptimised(built.program, options.stress.deoptimise))
        try:
            passes = (*PASSES, *LOWERING) if lower else PASSES
            return built, _optimise(built, options, clock, log, directives, passes, guarded, alone)
        except Unsupported as problem:
            problem.in_tasks = any(map(tasks.has_regions, (built.program, *built.program.functions)))
            raise

    try:
        built, found = attempt(False)
    except (ParallelError, LeftToLibrary):
        raise
    except Unsupported as problem:
        if not problem.in_tasks:
            raise
        log[:] = [Remark(problem.span, "tasks", f"tasks run one after the other: {problem.reason}", "missed")]
        built, found = attempt(True)
    optimised = dict(found)[PASSES[-1].name]
    return Compiled(
        signature=signature_of(built.specs),
        source=source,
        built=built,
        program_built=built.program,
        program_optimised=optimised,
        program_lowered=found[-1][1],
        remarks=log,
        seconds=clock.seconds,
    )


def overlapping(
    kinds: tuple[specs.Spec, ...], arguments: Sequence[Any], written: frozenset[int]
) -> tuple[specs.Spec, ...]:
    """The specs of a call's arguments, those of arrays that overlap one that is written as they lie in its memory."""
    found = list(kinds)
    for layout, filled in sharing.groups(arguments, written) or ():
        arrays = [arguments[member.argument] for member in layout.members]
        dtype = from_numpy(arrays[0].dtype)
        if dtype is None:
            return kinds
        places = [(member.axes, place) for member, place in zip(layout.members, filled.places)]
        members = tuple(
            specs.MemberSpec(
                argument=member.argument,
                writeable=member.writeable,
                axes=member.axes,
                ones=tuple(extent == 1 for extent in place.shape),
                same=places.index((member.axes, place)) if (member.axes, place) in places[:number] else None,
                fixed=tuple(step if abs(step) <= sharing.LONGEST_STEP else None for step in place.steps),
                start=place.start,
                shape=place.shape,
                steps=place.steps,
            )
            for number, (member, place) in enumerate(zip(layout.members, filled.places))
        )
        form = specs.layout_of(filled.array)
        memory = specs.MemorySpec(dtype, layout.rank, form, str(layout), members, filled.array.shape)
        for number, member in enumerate(layout.members):
            found[member.argument] = specs.SharedSpec(memory, number)
    return tuple(found)


def overlapping_any(compiled: Compiled) -> tuple[specs.Spec, ...] | None:
    """Specs of arguments of the same types that overlap in any way, where a version asks that they do not.

    Their memory is one line of elements.  Arrays of several types stay apart, as Python has them.
    """
    kinds, found = compiled.built.specs, list(compiled.built.specs)
    place = {name: at for at, name in enumerate(compiled.built.names) if isinstance(kinds[at], specs.ArraySpec)}
    together: dict[Any, set[int]] = {}
    for pair in compiled.program_lowered.disjoint:
        for at in (place[name] for name in pair if set(pair) <= set(place)):
            together.setdefault(getattr(kinds[at], "dtype", None), set()).add(at)
    for dtype, numbers in together.items():
        arrays = {at: kind for at in sorted(numbers) if isinstance(kind := kinds[at], specs.ArraySpec)}
        if not 1 < len(arrays) <= sharing.MOST_MEMBERS:
            continue
        layout = sharing.Layout(1, tuple(sharing.Member(at, True, (0,) * kind.rank) for at, kind in arrays.items()))
        members = tuple(specs.member_of_any(at, kind) for at, kind in arrays.items())
        memory = specs.MemorySpec(dtype, 1, Layout.C, str(layout), members, (specs.SMALL,))
        for number, at in enumerate(arrays):
            found[at] = specs.SharedSpec(memory, number)
    return tuple(found) if tuple(found) != kinds else None


def compile(function: Callable[..., Any], arguments: Sequence[Any], options: Options = DEFAULTS) -> Compiled:
    """A version of `function` for these arguments, compiled to C (and by the C compiler, if there is one)."""
    source = load(function)
    return compile_for(source, specs.specs_of(tuple(arguments)), arguments, options)


def compile_for(
    source: Source,
    kinds: Sequence[specs.Spec],
    arguments: Sequence[Any] | None,
    options: Options = DEFAULTS,
    specialise: bool = True,
    directives: Directives = NONE,
) -> Compiled:
    """A version for arguments of these specs; `specialise`: for equal sizes where these arguments have them."""

    def action() -> Compiled:
        return _coded(front(source, kinds, arguments, options, specialise, directives), options)

    return _with_room(source, action)


def _coded(compiled: Compiled, options: Options) -> Compiled:
    """The version of a lowered program, in the code of the first back end that has a form of it."""
    target = targets.backend_for(compiled.program_lowered, options.backend)
    compiled.version = described(compiled, target.coded(compiled, options))
    return compiled


# --- binding --------------------------------------------------------------------------------------------------------


def described(compiled: Compiled, code: targets.Coded) -> D.Version:
    """The version of a compiled program as the run time knows it, with its code."""
    steps.enter("describe")
    built = compiled.built
    program = code.program
    call = [_bind(kind, name, built.changed) for kind, name in zip(built.specs, built.names)]
    hidden = [_bind_hidden(entry) for entry in built.hidden]
    others = binding.source_files(program)[1:]
    location = D.SourceLocation(compiled.source.file, compiled.source.name, others)
    made = binding.version(
        program,
        code.layout,
        code.exceptions,
        call,
        hidden,
        function=code.function,
        location=location,
        keepalive=code.keepalive,
        exact=same_bits((compiled.program_optimised, compiled.program_lowered), ROUNDED),
        written=written_params(compiled.program_built),
    )
    return replace(made, facts=D.facts_of(built.reads))


def _bind(
    kind: specs.Spec, name: str | tuple[str, ...] | None, changed: frozenset[str] = frozenset()
) -> binding.Binding:
    if isinstance(kind, specs.ConstSpec):
        return D.ConstParam(kind.value)
    if isinstance(kind, specs.SameSpec):
        return D.SameAsParam(kind.index)
    if isinstance(kind, specs.ObjectSpec):
        return D.ObjectParam(kind.kind)
    if isinstance(kind, specs.SharedSpec):
        return D.ObjectParam(np.ndarray)
    if isinstance(kind, specs.MemorySpec):
        assert isinstance(name, tuple)
        return binding.FillsMemory(name, kind.dtype.typenum, kind.text)
    if isinstance(kind, specs.COLUMNS):
        assert isinstance(name, tuple)
        return binding.FillsColumns(name, kind.template, not changed.isdisjoint(name))
    assert isinstance(name, str)
    single = isinstance(kind, specs.ArraySpec) and not kind.rank
    return binding.Fills(name, isinstance(kind, specs.ListSpec), name in changed, single)


def _bind_hidden(entry: Hidden) -> binding.HiddenBinding:
    """A global, closure variable or attribute: fetched at each call, and a constant compared."""
    inner = D.ConstParam(entry.spec.value) if isinstance(entry.spec, Object) else _bind(entry.spec, entry.param)
    if isinstance(entry.home, dict):
        return inner, lambda param: D.GlobalParam(entry.home, entry.name, param)
    if isinstance(entry.home, types.CellType):
        return inner, lambda param: D.CellParam(entry.home, param)
    return inner, lambda param: D.AttrParam(entry.home, ".".join(entry.path), param)
