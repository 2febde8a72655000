"""A function of plain Python as native code.  In: a Python function; out: a callable that runs a compiled version
where one fits, and the function itself where none does.

A call is a transaction: whatever a version cannot do leaves everything as it was, and Python runs the call.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from weft.errors import CompileError, Span, hide_own_frames
from weft.plain import output
from weft.plain.kept import Made, Store, Texts
from weft.plain.runtime import MISS, compile_kernel, last, load, load_kernel, make, start_arrays, watch
from weft.plain.told import Refusal
from weft.runtime.holding import ABSENT, holds

if TYPE_CHECKING:
    from weft.runtime.descriptor import Fact

#: Versions of one function, and deoptimised calls of one version, before Python runs the rest.
_MAX_VERSIONS: Final = 6
_MAX_DEOPTS: Final = 12
#: Versions given up at nearly every call, for arguments of the same types, before no further one is made.
_MAX_HOPELESS: Final = 2
#: Calls that the first version did not fit, before `entry` no longer tries it first.
_MAX_STRANGERS: Final = 1000
#: Lines on which integers may be beyond 64 bits, each found by a call that deoptimised (native/plain.h says why).
_MAX_WIDE: Final = 40
OVERFLOW: Final = "an integer beyond 64 bits"
_HEAP_TYPE: Final = 1 << 9
_VARIADIC: Final = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class PlainVersion:
    """Native code for certain types of arguments."""

    def __init__(
        self, call: Callable[..., Any], hidden: tuple[Any, ...], facts: tuple[Fact, ...], text: dict[str, str]
    ) -> None:
        self.call = call
        self.hidden = hidden
        self.text = text  # "c", "types"
        self.signature = text["signature"]
        self.made: Made | None = None  # of one that was compiled here
        self.native_lines: frozenset[int] = frozenset()
        self.remarks: tuple[Any, ...] = ()
        self.seconds: dict[str, float] = {}
        self.deopts = 0
        self.is_restored = False  # from the disk cache
        self.is_wide = False  # it is there for integers beyond 64 bits
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


def checker(facts: tuple[Fact, ...]) -> Callable[[], bool]:
    """One Python function that looks whether facts still hold: it runs at every call."""
    names, tests = conditions(facts)
    exec(compile(f"def is_current():\n    return {tests}\n", "<facts>", "exec"), names)
    found: Callable[[], bool] = names["is_current"]
    return found


def conditions(facts: tuple[Fact, ...]) -> tuple[dict[str, Any], str]:
    """An expression that says whether facts still hold, and the names in it."""
    names: dict[str, Any] = {"ABSENT": ABSENT, "holds": holds}
    tests: list[str] = []

    def named(value: Any) -> str:
        names[f"x{len(names)}"] = value
        return f"x{len(names) - 1}"

    for fact in facts:
        value = named(fact.value) if fact.present else "ABSENT"
        if fact.kind == "entry":
            key = repr(fact.name) if isinstance(fact.name, str) else named(fact.name)
            tests.append(f"{named(fact.owner.get)}({key}, ABSENT) is {value}")
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


def loaded(function: Any, made: Made, text: dict[str, str]) -> PlainVersion:
    """A version whose code is in a library, ready to be called; CompileError if it cannot be."""
    if made.uses_numpy and (problem := start_arrays()) is not None:
        raise CompileError(problem)
    kernel = load_kernel(made.library)
    pointers = _pointers(made.objects)
    kernel.weft_setup(pointers)
    call = make(kernel, "weft_version", function.__name__)
    version = PlainVersion(call, made.hidden, made.facts, text)
    watch(call, version.is_current)
    _kept.append((pointers, made))
    return version


def _pointers(objects: tuple[Any, ...]) -> Any:
    import ctypes

    array = (ctypes.c_void_p * max(len(objects), 1))()
    for place, held in enumerate(objects):
        array[place] = id(held)
    return array


#: Objects that loaded code names by address.
_kept: list[Any] = []


def binder(code: types.CodeType) -> Any:
    """A function with the parameters of another one that gives their values in the order of its variables: a tuple for
    `*` and a dict for `**` come last."""
    count, first = code.co_argcount, code.co_posonlyargcount
    names = [f"a{place}" if name.startswith(".") else name for place, name in enumerate(code.co_varnames)]
    positional, named = names[:count], names[count : count + code.co_kwonlyargcount]
    others = iter(names[count + code.co_kwonlyargcount :])
    gathered = [next(others)] if code.co_flags & inspect.CO_VARARGS else []
    by_name = [next(others)] if code.co_flags & inspect.CO_VARKEYWORDS else []
    star = [f"*{name}" for name in gathered] or (["*"] if named else [])
    parts = [*positional[:first], *(["/"] if first else []), *positional[first:], *star, *named]
    parts += [f"**{name}" for name in by_name]
    values = "".join(f"{name}, " for name in (*positional, *named, *gathered, *by_name))
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
        store: Store | None = None,
    ) -> None:
        self.function = function
        self._store = store if deoptimise is None else None  # versions on disk; None: they are not kept
        self.versions: list[PlainVersion] = []
        self.refused: Refusal | None = None
        self._missed = missed  # makes a further version; True if there is one now
        self._deoptimise = deoptimise  # see compile_version
        code = function.__code__
        #: How many arguments by position are all that there are; -1: there are parameters that have names only.
        self._count = -1 if code.co_kwonlyargcount or code.co_flags & _VARIADIC else code.co_argcount
        self._bind = binder(code)
        self.given_up = False
        self._names: dict[str, Any] = {}  # of `entry`
        self.wide: frozenset[int] = frozenset()  # lines on which integers have overflowed
        #: Types of arguments of calls that a version has always given up, and how many such versions there were.
        self._hopeless: dict[tuple[type, ...], int] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = args
        if kwargs or len(args) != self._count:
            bound = self._bound(args, kwargs)
            if bound is None:
                return self.function(*args, **kwargs)
            values = bound
        is_fresh = False  # whether the newest version was compiled for this call
        while True:
            for version in self.versions:
                if version.is_current():
                    result = version.call(*values, *version.hidden)
                    if result is not MISS:
                        return result
                    if self._deoptimised(version, values):
                        return self._repeat(args, kwargs)
            if is_fresh or self.given_up or self._missed is None or self._is_hopeless(values):
                return self.function(*args, **kwargs)
            if not self._missed(values):
                return self.function(*args, **kwargs)
            is_fresh = not self.versions or not self.versions[-1].is_restored

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
        if self._deoptimised(version, args):
            return self._repeat(args, {})
        self._names["strangers"] += 1
        return self(*args)

    def _deoptimised(self, version: PlainVersion, values: tuple[Any, ...]) -> bool:
        """Whether the last call of a version fitted and was given up: no other version would do better."""
        found = last(version.call)
        if found.deopts == version.deopts:
            return False
        version.deopts = found.deopts
        may_be_wide = self._missed is not None and len(self.wide) < _MAX_WIDE  # another version can be made
        if found.reason == OVERFLOW and found.line and found.line not in self.wide and may_be_wide:
            self.wide |= {found.line}
            self._drop(version)
        elif found.reason == OVERFLOW and not version.is_wide and any(other.is_wide for other in self.versions):
            self._drop(version)
        elif found.deopts > _MAX_DEOPTS and found.deopts > 2 * version.calls:
            self._drop(version)
            self.given_up = not self.versions
            kinds = tuple(map(type, values))
            self._hopeless[kinds] = self._hopeless.get(kinds, 0) + 1
        return True

    def _is_hopeless(self, values: tuple[Any, ...]) -> bool:
        """Whether a further version for such arguments would be given up as those before were."""
        return bool(self._hopeless) and self._hopeless.get(tuple(map(type, values)), 0) >= _MAX_HOPELESS

    def _drop(self, version: PlainVersion) -> None:
        self.versions = [other for other in self.versions if other is not version]
        if self._names.get("version") is version:
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
        if self.recall(values):
            return self.versions[-1]
        from weft.plain.compiling import compile_version

        version = compile_version(self.function, values, build, self.wide, self._deoptimise)
        self.versions.append(version)
        if self._store is not None and version.made is not None:
            self._store.keep(version, version.made, values, self.wide)
        return version

    def recall(self, values: tuple[Any, ...]) -> bool:
        """Whether the disk cache has a further version for such arguments, which is here now."""
        found = None if self._store is None or load() is None else self._store.next(values, self.wide)
        if found is None:
            return False
        version = loaded(self.function, found.made, Texts(found))
        version.is_restored = True
        version.native_lines, version.remarks = found.lines, found.remarks
        version.seconds = {"total": found.seconds, "disk cache": found.seconds}
        self.versions.append(version)
        return True
