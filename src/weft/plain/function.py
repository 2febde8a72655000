"""A function of plain Python as native code.  In: a Python function; out: a callable that runs a compiled version
where one fits, and the function itself where none does.

A call is a transaction: whatever a version cannot do leaves everything as it was, and Python runs the call.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from weft import steps
from weft.errors import CompileError, Span, hide_own_frames
from weft.frontend import reads
from weft.plain import infer, output
from weft.plain.emit import Writer
from weft.plain.runtime import MISS, compile_kernel, last, load, load_kernel, make, start_arrays, watch, why_not
from weft.plain.types import describe
from weft.plain.unit import Refusal
from weft.runtime.holding import ABSENT, holds

#: Versions of one function, and deoptimised calls of one version, before Python runs the rest.
_MAX_VERSIONS: Final = 6
_MAX_DEOPTS: Final = 12
#: Calls that the first version did not fit, before `entry` no longer tries it first.
_MAX_STRANGERS: Final = 1000
#: Lines on which integers may be beyond 64 bits, each found by a call that deoptimised (native/plain.h says why).
_MAX_WIDE: Final = 40
OVERFLOW: Final = "an integer beyond 64 bits"
_HEAP_TYPE: Final = 1 << 9


class PlainVersion:
    """Native code for certain types of arguments."""

    def __init__(
        self, call: Callable[..., Any], hidden: tuple[Any, ...], facts: tuple[reads.Read, ...], text: dict[str, str]
    ) -> None:
        self.call = call
        self.hidden = hidden
        self.text = text  # "c", "types"
        self.signature = text["signature"]
        self.native_lines: frozenset[int] = frozenset()
        self.remarks: tuple[Any, ...] = ()
        self.seconds: dict[str, float] = {}
        self.deopts = 0
        self.facts = facts
        #: Whether everything that the code was made from is still so.
        self.is_current = checker(facts)

    # What `weft.report.explain` asks of every version.
    program_built = program_optimised = program_lowered = None
    fallbacks: tuple[Any, ...] = ()

    @property
    def c_source(self) -> str:
        return self.text["c"]

    @property
    def calls(self) -> int:
        """Calls that were done natively."""
        return last(self.call).calls


def checker(facts: tuple[reads.Read, ...]) -> Callable[[], bool]:
    """One Python function that looks whether facts still hold: it runs at every call."""
    names, tests = conditions(facts)
    exec(compile(f"def is_current():\n    return {tests}\n", "<facts>", "exec"), names)
    found: Callable[[], bool] = names["is_current"]
    return found


def conditions(facts: tuple[reads.Read, ...]) -> tuple[dict[str, Any], str]:
    """An expression that says whether facts still hold, and the names in it."""
    names: dict[str, Any] = {"ABSENT": ABSENT, "holds": holds}
    tests: list[str] = []

    def named(value: Any) -> str:
        names[f"x{len(names)}"] = value
        return f"x{len(names) - 1}"

    for fact in facts:
        value = named(fact.value) if fact.present else "ABSENT"
        if fact.kind == "entry":
            tests.append(f"{named(fact.owner.get)}({fact.name!r}, ABSENT) is {value}")
        elif fact.kind == "code":
            tests.append(f"({named(fact.owner)}.__code__ is {named(fact.owner.__code__)} or holds({named(fact)}))")
        elif fact.kind == "defaults":
            tests.append(f"{named(fact.owner)}.__defaults__ is {value}")
        elif fact.kind == "keywords":
            tests.append(f"{named(fact.owner)}.__kwdefaults__ is {value}")
        elif fact.kind == "lookup":
            for base in fact.owner.__mro__:
                if base.__flags__ & _HEAP_TYPE or fact.name in vars(base):
                    there = fact.name in vars(base)
                    tests.append(f"{named(vars(base).get)}({fact.name!r}, ABSENT) is {value if there else 'ABSENT'}")
                    if there:
                        break
        else:
            tests.append(f"holds({named(fact)})")
    return names, " and ".join(tests) or "True"


def compile_version(
    function: Any,
    arguments: tuple[Any, ...],
    build: Callable[[str], Path] = compile_kernel,
    wide: frozenset[int] = frozenset(),
    deoptimise: int | None = None,
) -> PlainVersion:
    """A version for these arguments, from what `build` makes of its C; Refusal if there is none.

    `wide`: lines on which integers have overflowed. `deoptimise`, for tests: each call deoptimises before the statement
    of this number, in the order of execution.
    """
    code = function.__code__
    span = Span(code.co_filename, code.co_firstlineno, 0, code.co_firstlineno, 0)
    if load() is None:
        raise Refusal(span, why_not() or "there is no run time for plain Python")
    start = perf_counter()
    try:
        with reads.recording() as recorder:
            unit, root = infer.infer(function, arguments, wide)
        steps.enter("emit")
        hidden = [held.value for held in unit.hidden.values()]
        writer = Writer(unit, deoptimise)
        source = writer.source(root, hidden)
    except RecursionError:
        raise Refusal(span, f"`{function.__name__}`, or an argument of it, is nested too deeply") from None
    middle = perf_counter()
    try:
        path = build(source)
    except CompileError as problem:
        raise Refusal(span, f"the C compiler failed: {problem.reason}", problem.remedy) from problem
    if writer.uses_numpy and (problem_of_arrays := start_arrays()) is not None:
        raise Refusal(span, problem_of_arrays)
    kernel = load_kernel(path)
    pointers = _pointers(writer.objects)
    kernel.weft_setup(pointers)
    call = make(kernel, "weft_version", function.__name__)
    told = ", ".join(f"{name}: {describe(root.locals[name])}" for name in root.info.parameters)
    texts = {"c": source, "types": infer.printed(unit, root), "signature": f"({told})"}
    facts = tuple(read for read in recorder.found if not unit.is_variable(read))
    version = PlainVersion(call, tuple(hidden), facts, texts)
    watch(call, version.is_current)
    version.native_lines = infer.native_lines(root)
    version.remarks = infer.remarks(root)
    version.seconds = {"front": middle - start, "compiler": perf_counter() - middle, "total": perf_counter() - start}
    _kept.append((pointers, writer.objects, unit.kept))
    return version


def _pointers(objects: list[Any]) -> Any:
    import ctypes

    array = (ctypes.c_void_p * max(len(objects), 1))()
    for place, held in enumerate(objects):
        array[place] = id(held)
    return array


#: Objects that loaded code names by address.
_kept: list[Any] = []


def binder(code: types.CodeType) -> Any:
    """A function with the parameters of another one, neither `*` nor `**`, that gives their values in order."""
    count, first = code.co_argcount, code.co_posonlyargcount
    names = [f"a{place}" if name.startswith(".") else name for place, name in enumerate(code.co_varnames)]
    positional, named = names[:count], names[count : count + code.co_kwonlyargcount]
    parts = [*positional[:first], *(["/"] if first else []), *positional[first:], *(["*", *named] if named else [])]
    values = "".join(f"{name}, " for name in (*positional, *named))
    made: dict[str, Any] = {}
    exec(compile(f"def bind({', '.join(parts)}):\n    return ({values})\n", __file__, "exec"), made)
    return made["bind"]


class Native:
    """A function and its compiled versions."""

    def __init__(
        self,
        function: Any,
        missed: Callable[[tuple[Any, ...]], bool] | None = None,
        deoptimise: int | None = None,
    ) -> None:
        self.function = function
        self.versions: list[PlainVersion] = []
        self.refused: Refusal | None = None
        self._missed = missed  # makes a further version; True if there is one now
        self._deoptimise = deoptimise  # see compile_version
        code = function.__code__
        #: How many arguments by position are all that there are; -1: there are parameters that have names only.
        self._count = -1 if code.co_kwonlyargcount else code.co_argcount
        self._bind = None if code.co_flags & 0x0C else binder(code)
        self.given_up = False
        self._names: dict[str, Any] = {}  # of `entry`
        self.wide: frozenset[int] = frozenset()  # lines on which integers have overflowed

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = args
        if kwargs or len(args) != self._count:
            bound = self._bound(args, kwargs)
            if bound is None:
                return self.function(*args, **kwargs)
            values = bound
        for _ in range(2):
            for version in self.versions:
                if version.is_current():
                    result = version.call(*values, *version.hidden)
                    if result is not MISS:
                        return result
                    if self._deoptimised(version):
                        return self._repeat(args, kwargs)
            if self.given_up or self._missed is None or not self._missed(values):
                break
        return self.function(*args, **kwargs)

    def entry(self) -> Callable[..., Any]:
        """A function that does what this object does, in fewer steps where its first version fits."""
        version = self.versions[0]
        names, tests = conditions(version.facts)
        names.update(call=version.call, hidden=version.hidden, MISS=MISS, native=self, version=version)
        names.update(strangers=0, limit=_MAX_STRANGERS, hide_own_frames=hide_own_frames)
        hidden = ", *hidden" if version.hidden else ""
        text = f"""
def entry(*args, **kwargs):
    try:
        if strangers < limit and len(args) == {self._count} and not kwargs and {tests}:
            result = call(*args{hidden})
            if result is not MISS:
                return result
            return native.missed(version, args)
        return native(*args, **kwargs)
    except BaseException as error:
        hide_own_frames(error)
        raise
"""
        exec(compile(text, __file__, "exec"), names)  # frames of weft are dropped from tracebacks by their file
        self._names = names
        made: Callable[..., Any] = names["entry"]
        return made

    def missed(self, version: PlainVersion, args: tuple[Any, ...]) -> Any:
        """A version did not fit a call, or gave it up."""
        if self._deoptimised(version):
            return self._repeat(args, {})
        self._names["strangers"] += 1
        return self(*args)

    def _deoptimised(self, version: PlainVersion) -> bool:
        """Whether the last call of a version fitted and was given up: no other version would do better."""
        found = last(version.call)
        if found.deopts == version.deopts:
            return False
        version.deopts = found.deopts
        if found.reason == OVERFLOW and found.line and found.line not in self.wide and len(self.wide) < _MAX_WIDE:
            self.wide |= {found.line}
            self._drop(version)
        elif found.deopts > _MAX_DEOPTS and found.deopts > 2 * version.calls:
            self._drop(version)
            self.given_up = not self.versions
        return True

    def _drop(self, version: PlainVersion) -> None:
        self.versions = [other for other in self.versions if other is not version]
        self._names["strangers"] = _MAX_STRANGERS  # `entry` no longer tries it

    def _repeat(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Python runs a call that a version has given up."""
        library = load()
        written = library.wp_written() if library is not None else 0
        if not written:
            return self.function(*args, **kwargs)
        with output.without_first(written):
            return self.function(*args, **kwargs)

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
        bind, function = self._bind, self.function
        if bind is None:
            return None
        if bind.__defaults__ is not function.__defaults__ or bind.__kwdefaults__ is not function.__kwdefaults__:
            bind.__defaults__, bind.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        try:
            values: tuple[Any, ...] = bind(*args, **kwargs)
        except TypeError:
            return None
        return values

    def extend(self, values: tuple[Any, ...], build: Callable[[str], Path] = compile_kernel) -> PlainVersion:
        """A further version, for these arguments; Refusal if there is none."""
        self.versions = [version for version in self.versions if version.is_current()]
        if len(self.versions) >= _MAX_VERSIONS:
            self.given_up = True
            raise Refusal(
                Span(self.function.__code__.co_filename, self.function.__code__.co_firstlineno, 0, 0, 0),
                f"`{self.function.__name__}` is called with arguments of many types",
            )
        version = compile_version(self.function, values, build, self.wide, self._deoptimise)
        self.versions.append(version)
        return version
