"""The pipeline on one page: a Python function and arguments come in, a compiled version goes out.

    source --build--> Program --PASSES--> Program' --schedule--> lowered Program --codegen--> C --toolchain--> kernel
Every step is timed and, with WEFT_VERIFY=1 (on in the tests), its output verified.
"""

from __future__ import annotations

import os
import platform
import types
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from weft import steps
from weft.analysis.exactness import same_bits
from weft.analysis.scopes import written_params
from weft.codegen import binding, c, c_library
from weft.codegen.c_ops import ROUNDED, CFeatures
from weft.deep import with_room
from weft.directives import NONE, Directives
from weft.errors import CompileError, LeftToLibrary, ParallelError, Span, Unsupported
from weft.frontend import builder, specs
from weft.frontend.instances import Hidden
from weft.frontend.source import Source, load
from weft.frontend.values import Object
from weft.ir import verify
from weft.ir.program import Layout, Program
from weft.ir.types import from_numpy
from weft.options import Options
from weft.passes import (
    PassContext,
    Remark,
    block,
    checks,
    common,
    continues,
    counters,
    detach,
    directed,
    follow,
    forward,
    hoist,
    invariant,
    jam,
    lanes,
    match,
    pack,
    paired,
    previous,
    races,
    raise_loops,
    registers,
    schedule,
    search,
    simplify,
    store,
    stress,
    tasks,
    trapezoid,
    unread,
    version,
    wavefront,
    whiles,
)
from weft.records import dataclass
from weft.runtime import cache, dispatch, routines, sharing, toolchain
from weft.runtime import descriptor as D

Pass = Callable[[Program, PassContext], Program]

#: The passes before the schedule, in order.
PASSES: tuple[tuple[str, Pass], ...] = (
    ("tasks", tasks.run),
    ("simplify", simplify.run),
    ("continues", continues.run),
    ("whiles", whiles.run),
    ("counters", counters.run),
    ("checks", checks.run),
    ("races", races.run),
    ("detach", detach.run),
    ("previous", previous.run),
    ("raise", raise_loops.run),
    ("simplify again", simplify.run),
    ("common", common.run),
    ("forward", forward.run),
    ("hoist", hoist.run),
    ("unread", unread.run),
    ("tidy", simplify.run),
)
#: The passes that decide and lower the loops.
LOWERING: tuple[tuple[str, Pass], ...] = (
    ("match", match.run),
    ("pack", pack.run),
    ("search", search.run),
    ("wavefront", wavefront.run),
    ("follow", follow.run),
    ("schedule", schedule.run),
    ("directed", directed.run),
    ("paired", paired.run),
    ("block", block.run),
    ("store", store.run),
    ("lanes", lanes.run),
    ("jam", jam.run),
    ("registers", registers.run),
    ("trapezoid", trapezoid.run),
    ("invariant", invariant.run),
    ("version", version.run),
)

steps.register((name for name, _ in (*PASSES, *LOWERING)), "a pass")

#: Passes that the meaning of a program, or its lowered form, depends on: they cannot be left out.
NEEDED = frozenset({"tasks", "simplify", "races", "schedule", "directed", "store", "version"})
#: Passes that give whole nests another shape: not in a function whose loops somebody directs one by one.
RESHAPING = frozenset({"wavefront", "paired", "block", "lanes", "jam", "registers", "trapezoid"})
#: The options of a caller that gives none.
DEFAULTS = Options()
#: Specs of arguments that fill several parameters, one a column.
_COLUMNS = (specs.ContainerSpec, specs.ArraysSpec, specs.TextSpec, specs.TextDictSpec)
#: The passes that a program with functions of its own goes through.
_KNOWS_CALLS = frozenset({"tasks", "simplify", "simplify again", "races", "schedule", "store", "version"})
#: The passes that a program with tasks goes through: others would move work into a task, or memory from one to another.
_KNOWS_TASKS = _KNOWS_CALLS - {"store"}
_LOWERED = frozenset(
    {"schedule", "directed", "paired", "block", "store", "lanes", "jam", "registers", "trapezoid", "invariant"}
    | {"version"}
)


@dataclass
class Compiled:
    """One version of a function and everything that can be said of it."""

    signature: str
    source: Source
    built: builder.Built
    program_built: Program
    program_optimised: Program
    program_lowered: Program
    c_source: str | None = None
    remarks: list[Remark] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    fallbacks: list[tuple[Span, str, str]] = field(default_factory=list)
    version: D.Version | None = None
    flags: tuple[str, ...] = ()
    library: Path | None = None


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


def _applied(name: str, run: Pass, program: Program, context: PassContext, tasked: frozenset[str]) -> Program:
    """A pass on a program and on each of its functions; only some know what a call of one does, or a task.

    `tasked` names the program and the functions that have tasks.
    """

    def applied(part: Program) -> Program:
        return part if part.name in tasked and name not in _KNOWS_TASKS else run(part, context)

    if not program.functions:
        return applied(program)
    if name not in _KNOWS_CALLS:
        return program
    main = applied(replace(program, functions=()))
    return replace(main, functions=tuple(applied(function) for function in program.functions))


def _optimise(
    built: builder.Built,
    options: Options,
    clock: _Clock,
    log: list[Remark],
    directives: Directives = NONE,
    passes: tuple[tuple[str, Pass], ...] = (*PASSES, *LOWERING),
) -> list[tuple[str, Program]]:
    """Every stage of the program, by name."""
    context = PassContext(options, log, directives)
    program = built.program
    tasked = frozenset(part.name for part in (program, *program.functions) if tasks.has_regions(part))
    if clock.checking:
        verify.verify(program, verify.Stage.BUILT)
    if directives:
        directed.check_lines(program, context)
    found = [("built", program)]
    for name, run in passes:
        stage = verify.Stage.LOWERED if name in _LOWERED else verify.Stage.OPTIMISED
        current = program
        if directives and _left_out(name, context):
            found.append((name, program))
            continue

        def action(name: str = name, run: Pass = run, current: Program = current) -> Program:
            return _applied(name, run, current, context, tasked)

        program = clock.program(name, action, stage)
        found.append((name, program))
    return found


def require_optional(name: str) -> None:
    """ValueError if there is no such pass, or none that may be left out."""
    names = [known for known, _ in (*PASSES, *LOWERING) if known not in NEEDED]
    if name not in names:
        why = "cannot be left out" if name in NEEDED else "does not exist"
        raise ValueError(f"the pass {name!r} {why}; these can be left out: {', '.join(names)}")


def _left_out(name: str, context: PassContext) -> bool:
    """Whether the user has asked to leave out a pass, or for loops that it would change again."""
    if context.directives.skips(name):
        context.done(name, "left out, as asked")
        return True
    if name in RESHAPING and context.directives.on_loops():
        context.missed(name, "left out: transformations of single loops were asked for")
        return True
    return False


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


def front(
    source: Source,
    kinds: Sequence[specs.Spec],
    arguments: Sequence[Any] | None,
    options: Options = DEFAULTS,
    specialise: bool = True,
    directives: Directives = NONE,
    lower: bool = True,
) -> Compiled:
    """Everything up to the lowered program (up to the optimised one, if it is not to be lowered): no compiler is
    needed.
    """
    return _with_room(source, lambda: _front(source, kinds, arguments, options, specialise, directives, lower))


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
) -> Compiled:
    clock = _Clock()
    log: list[Remark] = []
    strict = options.fp == "strict"

    def attempt(in_sequence: bool) -> tuple[builder.Built, list[tuple[str, Program]]]:
        built = clock.step("build", lambda: builder.build(source, kinds, arguments, specialise, strict, in_sequence))
        if options.stress.deoptimise is not None:
            built = replace(built, program=stress.deoptimised(built.program, options.stress.deoptimise))
        try:
            return built, _optimise(built, options, clock, log, directives, (*PASSES, *LOWERING) if lower else PASSES)
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
    optimised = dict(found)[PASSES[-1][0]]
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
    """The version of a lowered program: in C, or in Python where there is no compiler."""
    chain = None if options.backend == "python" or dispatch.load_core() is None else toolchain.find()
    if chain is None and options.backend == "c":
        raise CompileError("no C compiler works here, and the options ask for C", "pip install 'weft[zig]'")
    if not all(routines.address(name) for name in c_library.addresses(compiled.program_lowered)):
        chain = None  # this NumPy's routines cannot be called by address: Python calls them
    if chain is None:
        _python_version(compiled)
    else:
        _c_version(compiled, options, chain)
    return compiled


def _c_version(compiled: Compiled, options: Options, chain: toolchain.Toolchain) -> None:
    start = perf_counter()
    steps.enter("generate C")
    features = CFeatures(chain.supports_libmvec, _glibc(), chain.widest_vectors)
    unit = c.generate(compiled.program_lowered, options, features)
    compiled.c_source = unit.text
    compiled.flags = (*chain.lean(unit.straight), *c.flags(options))
    compiled.seconds["codegen"] = perf_counter() - start
    start = perf_counter()
    kept = None if options.cache else cache.process_cache()
    name = compiled.source.name
    steps.enter("C compiler")
    path = chain.build_shared(unit.text, flags=compiled.flags, name=name, cache=kept, parts=unit.parts)
    compiled.library = path
    steps.enter("load")
    kernel = dispatch.load_kernel(path)
    compiled.seconds["compiler"] = perf_counter() - start
    compiled.version = _version(compiled, unit.layout, unit.exceptions, kernel.address, kernel)


def _python_version(compiled: Compiled) -> None:
    """Without a C compiler: the optimised program as Python."""
    from weft.codegen.python import compile_python
    from weft.codegen.python_containers import with_containers

    steps.enter("generate Python")
    code = compile_python(compiled.program_optimised)
    built = compiled.built
    names = (*built.names, *(entry.param for entry in built.hidden))
    kinds = (*built.specs, *(entry.spec for entry in built.hidden))
    templates = [kind.template if isinstance(kind, _COLUMNS) else None for kind in kinds]
    filling = [position for position, name in enumerate(names) if name is not None]
    if any(templates):
        code = with_containers(compiled.program_optimised, code, [(names[at], templates[at]) for at in filling])

    def function(*values: object) -> object:
        """The dispatcher passes every value, also those that are only compared."""
        passed: list[object] = []
        for position in filling:
            kind = kinds[position]
            if isinstance(kind, specs.MemorySpec):
                filled = sharing.fill(sharing.parse(kind.text), values)
                assert filled is not None  # the dispatcher has asked
                passed += filled.values
            else:
                passed.append(values[position])
        return code(*passed)

    places = binding.layout(compiled.program_optimised)
    compiled.version = _version(compiled, places, (), function, None)


def _glibc() -> tuple[int, int]:
    name, version = platform.libc_ver()
    parts = version.split(".")
    if name != "glibc" or len(parts) < 2 or not (parts[0].isdigit() and parts[1].isdigit()):
        return (0, 0)
    return int(parts[0]), int(parts[1])


# --- binding --------------------------------------------------------------------------------------------------------


def _version(compiled: Compiled, places: Any, exceptions: Any, function: Any, keepalive: object) -> D.Version:
    steps.enter("describe")
    built = compiled.built
    program = compiled.program_lowered
    call = [_bind(kind, name, built.changed) for kind, name in zip(built.specs, built.names)]
    hidden = [_bind_hidden(entry) for entry in built.hidden]
    others = binding.source_files(program)[1:]
    location = D.SourceLocation(compiled.source.file, compiled.source.name, others)
    made = binding.version(
        program,
        places,
        exceptions,
        call,
        hidden,
        function=function,
        location=location,
        keepalive=keepalive,
        exact=same_bits((compiled.program_optimised, program), ROUNDED),
        written=written_params(compiled.program_built),
    )
    facts = (D.Fact(read.kind, read.owner, read.name, read.value, read.present) for read in built.reads)
    return replace(made, facts=tuple(facts))


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
    if isinstance(kind, _COLUMNS):
        assert isinstance(name, tuple)
        return binding.FillsColumns(name, kind.template, not changed.isdisjoint(name))
    assert isinstance(name, str)
    return binding.Fills(name, isinstance(kind, specs.ListSpec), name in changed)


def _bind_hidden(entry: Hidden) -> binding.HiddenBinding:
    """A global, closure variable or attribute: fetched at each call, and a constant compared."""
    inner = D.ConstParam(entry.spec.value) if isinstance(entry.spec, Object) else _bind(entry.spec, entry.param)
    if isinstance(entry.home, dict):
        return inner, lambda param: D.GlobalParam(entry.home, entry.name, param)
    if isinstance(entry.home, types.CellType):
        return inner, lambda param: D.CellParam(entry.home, param)
    return inner, lambda param: D.AttrParam(entry.home, ".".join(entry.path), param)
