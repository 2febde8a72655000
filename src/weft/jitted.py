"""A compiled function.  In: a Python function and options; out: an object that is called like it, compiles a version
for each kind of arguments at the first call, and runs plain Python wherever it cannot.

Importing this module chooses the dispatcher, which needs the native core: `weft.api` imports it at the first
decoration.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from weft import (
    asked,
    collector,
    forking,
    handlers,
    net,
    parted,
    plainly,
    recalled,
    restored,
    steps,
    warned,
    watched,
)
from weft.errors import (
    CompileError,
    LeftToLibrary,
    ParallelError,
    Span,
    TransformError,
    Unsupported,
    WeftError,
    hide_own_frames,
    without_frames,
)
from weft.ir.program import Layout
from weft.options import Options
from weft.restored import Restored
from weft.runtime import dispatch, machine
from weft.runtime.descriptor import LEFT, ArrayParam, MemoryParam, Signature, Version
from weft.runtime.holding import holds
from weft.steering import Steering
from weft.trial import Regions, suspended

if TYPE_CHECKING:
    from weft.compiled import Compiled
    from weft.directives import Directive, Directives
    from weft.frontend.source import Source
    from weft.frontend.specs import ConstSpec, ObjectSpec, Spec
    from weft.plain.function import Native, PlainVersion
    from weft.report.explain import Explanation
    from weft.report.outline import ProgramView
    from weft.runtime.interpreted import Dispatcher as _Base
    from weft.timeline import Timeline
else:
    _Base = dispatch.dispatcher_type()

F = TypeVar("F", bound=Callable[..., Any])

#: Versions for one kind of arguments, and for one function, before plain Python takes over.
_MAX_FOR_KEY = 4
_MAX_VERSIONS = 32
#: How general versions for arguments that overlap are.
_OVERLAPPING = 64


class Jitted(_Base):
    """A compiled function.  Calls go straight to the native dispatcher; `_miss` is its way out."""

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        super().__init__(Signature.of(function))
        functools.update_wrapper(self, function)
        self.py_func = function
        self.watch(function)
        self.options = options
        self._compiled: list[Compiled | Restored] = []
        self._prebuilt: list[asked.Prebuilt] = []
        self._keys: dict[Any, int] = {}
        self._made_for: dict[Any, list[Version]] = {}
        self._written: set[int] = set()  # parameters whose arrays some version writes
        self._refused: dict[Any, Unsupported] = {}
        self.declared_wrongly: ParallelError | TransformError | None = None  # what the last compile raised
        self.measured: Timeline | None = None  # the last call that `timeline` ran
        self._source: Source | None = None
        self._lock = forking.Lock()
        self._warned: set[tuple[str, int]] = set()
        # Who insists on native code gets it, also where plain Python is faster.
        timed = os.environ.get("WEFT_TIMED", "1") not in ("", "0")
        self.is_compared = timed and options.fallback != "error" and options.backend == "auto"
        self.may_run_plain = int(self.is_compared)
        self._plain = function  # what runs where no version does: the function, or its split into regions
        self.questions = 0  # calls that no version took, and that were not known to have none
        self._in_regions: Regions | None = None
        self._home: str = function.__qualname__  # of a region: that of the function it is part of
        self._native: Native | None = None  # as plain Python: containers, strings, objects
        self._plain_failures = 0
        self._refused_plainly: Unsupported | None = None  # by the compiler of plain Python, at its last attempt
        self._late: Unsupported | None = None  # compiling took too long
        self._unsplit: set[int] = set()  # lines around which there is nothing to compile
        self._apart: set[int] = set()  # lines whose statement is a region, which the compiler of plain Python takes
        self._regions: list[Jitted] = []
        self._is_region = False
        self._defined = function  # what the user has written
        self._forms: dict[tuple[int, tuple[str, ...]], tuple[Jitted, dict[str, str]] | None] = {}
        self._steering = Steering(function, self._load, options)
        self._fresh: list[ObjectSpec] = []  # specs of the call at hand, which hold its arguments
        self._sample: tuple[tuple[Any, ...], tuple[Any, ...]] | None = None  # of the newest version: specs, arguments
        self._first_tuples: dict[int, ConstSpec] = {}  # the first tuple of numbers that each parameter has had
        self._by_value: set[int] = set()  # parameters whose tuples must be known to compile
        watched.note(self)

    # --- calling ----------------------------------------------------------------------------------------------------

    def _miss(self, args: tuple[Any, ...], kwargs: dict[str, Any], status: int | None) -> Any:
        """No version fits, or a guard said no: make one if that can help, else leave the call to Python."""
        if forking.is_working() or not forking.can_load() or watched.is_off():
            return LEFT  # a signal handler or a finaliser calls from inside weft, or the interpreter is about to end
        self.questions += 1
        try:
            with handlers.passing(), forking.working():
                call = self._found(args, kwargs)
            # Until here weft has only looked at the arguments: Python could run the call. Now it is the program's.
            return LEFT if call is None else call()
        except BaseException as error:
            hide_own_frames(error)
            raise

    def _found(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[], Any] | None:
        """The call by a version that was or is now made; None if Python runs it."""
        try:
            with steps.budget(self.options.compile_timeout):
                find = self._in_form if self.signature.variadic else self._newly
                return find(args, kwargs)
        except Exception as trouble:
            if net.is_meant(trouble, self.options):
                raise
            problem = self._refused["call"] = net.refusal(trouble, self._place(), self.options)
            self._refuse(problem)
            return None

    def _survives(self, trouble: Exception) -> bool:
        """Whether a call whose result could not be made is left to Python; nothing that a caller sees has happened."""
        if net.is_meant(trouble, self.options):
            return False
        problem = self._refused["result"] = net.refusal(trouble, self._place(), self.options)
        self._warn(problem)
        return True

    def _grown(self) -> None:
        """A call took far longer than those by which the way of calls was chosen."""
        if self._in_regions is not None:
            self._in_regions.grown()

    def _newly(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[], Any] | None:
        """The call by a version that is made for it; None if there is none."""
        steps.enter("bind arguments")
        values = self._bound(args, kwargs)
        if values is None or not self._extend(values):
            return None
        return functools.partial(self._call_new, args, kwargs)

    def _in_form(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[], Any] | None:
        """A call of a function with `*` or `**` parameters: each number and names of arguments have a form of it."""
        shape = (len(args), tuple(kwargs))
        found = self._forms.get(shape)
        if found is None and shape not in self._forms and len(self._forms) < _MAX_VERSIONS:
            self._forms[shape] = None  # if it cannot be made
            found = self._forms[shape] = parted.form(self, args, kwargs)
        if found is None:
            return None
        form, renamed = found
        if form.misses > _MAX_FOR_KEY and not form.versions and not form._regions:
            return None  # nothing of it was ever compiled
        if not kwargs:
            self._set_form(len(args), form)
        return functools.partial(form, *args, **{renamed.get(name, name): value for name, value in kwargs.items()})

    def _call_new(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        depth = getattr(_state, "depth", 0)
        if depth > _MAX_FOR_KEY:
            return LEFT
        _state.depth = depth + 1
        try:
            return self(*args, **kwargs)
        finally:
            _state.depth = depth

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
        """The arguments in the order of the parameters; None if they do not fit (Python then says how)."""
        try:
            bound = inspect.signature(self.py_func).bind(*args, **kwargs)
        except TypeError:
            return None
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def _extend(self, values: tuple[Any, ...]) -> bool:
        """Compile a version for these arguments; False if plain Python should run."""
        with self._lock:
            try:
                return self._extended(values)
            finally:  # specs are keys from now on, and reasons are told: both outlive the arguments
                for kind in self._fresh:
                    kind.keep(restored.light)
                self._fresh.clear()
                if self.options.fallback != "error":
                    for problem in (*self._refused.values(), self._refused_plainly, self._late, self.declared_wrongly):
                        without_frames(problem)

    def _extended(self, values: tuple[Any, ...]) -> bool:
        if self.options.dim_info:
            asked.require_dimensions(self, values)
        if parted.is_forced(self):
            return False
        if self._late is not None:
            return self._refuse(self._late)
        if plainly.takes_first(self, values):
            return False
        key = tuple(self._kinds(values))
        refused = self._refused.get(key)
        if refused is not None:
            return self._refuse(refused, values)
        if self._written:
            key = self._overlapping(key, values)
            if key in self._refused:
                return self._refuse(self._refused[key], values)
        tried = self._keys.get(key, 0)
        # A version that was made from other things than now says nothing of what a further one should be like.
        general = tried - sum(not all(map(holds, made.facts)) for made in self._made_for.get(key, ()))
        if tried >= _MAX_FOR_KEY or max(len(self._compiled), len(self._refused)) >= _MAX_VERSIONS:
            return plainly.takes_over(self, values)
        if (idle := plainly.without_gain(self, values)) is not None:
            self._refused[key] = idle
            return self._refuse(idle)
        self._keys[key] = tried + 1
        stored, known = None, False
        try:
            stored = restored.key_of(self, key, tried, general)
            if stored is not None and restored.restore(self, stored, key, values, general):
                return True
            known = True
            recalled.recall(self, stored, values)
            known = False
            with collector.switched_off():
                return self._compile(key, values, stored, general)
        except (ParallelError, TransformError) as wrong:
            if _overlap(key):  # what was asked for holds for arguments that do not: Python runs these
                self._keys[key] = _MAX_FOR_KEY
                return False
            self._keys[key] = tried  # the next call says so again
            self.declared_wrongly = wrong
            raise
        except Unsupported as problem:
            from weft.frontend.specs import ObjectSpec

            opened = {place for place in self._first_tuples if key[place] == ObjectSpec(tuple, ())} - self._by_value
            if opened:
                self._by_value |= opened
                return self._extend(values)
            taken = plainly.takes_refused(self, values, problem)
            if not known:  # then the next process asks the other compiler at once
                recalled.remember(self, stored, values, problem)
            if taken:
                return False
            self._refused[key] = problem
            return self._refuse(problem, values)
        except Exception as trouble:
            if net.is_meant(trouble, self.options):
                raise
            mistake = self._refused[key] = net.refusal(trouble, self._place(), self.options)
            if isinstance(trouble, steps.OutOfTime):
                self._late = mistake  # nor would there be time for other arguments
            return self._refuse(mistake)

    def _kinds(self, values: tuple[Any, ...]) -> list[Spec]:
        """The specs of arguments. A tuple of numbers is compiled in; those after it are read by their items."""
        from weft.frontend import specs
        from weft.runtime import sharing

        steps.enter("specs")
        kinds = specs.specs_of(values)
        if self.options.stress.general:
            kinds = [replace(k, layout=Layout.STRIDED) if isinstance(k, specs.ArraySpec) else k for k in kinds]
        for place, kind in enumerate(kinds):
            if isinstance(kind, specs.ArraySpec) and sharing.holds_twice(values[place]):
                kinds[place] = replace(kind, repeats=True)
            if isinstance(kind, specs.ConstSpec) and specs.is_numbers(kind.value) and place not in self._by_value:
                if self._first_tuples.setdefault(place, kind) != kind:
                    kinds[place] = specs.ObjectSpec(tuple, kind.value)
        self._fresh += [kind for kind in kinds if isinstance(kind, specs.ObjectSpec)]
        return kinds

    def _overlapping(self, kinds: tuple[Spec, ...], values: tuple[Any, ...]) -> tuple[Spec, ...]:
        """The specs, of arrays that share memory with one that versions write: as they lie in it."""
        from weft import pipeline

        steps.enter("overlap")
        return pipeline.overlapping(kinds, values, frozenset(self._written))

    def _note_written(self, version: Version) -> None:
        """Remember which arrays a version writes: it refuses arguments that overlap them."""
        self._written |= {at for at, p in enumerate(version.params) if isinstance(p, ArrayParam) and p.written}

    def _install(self, made: Any, version: Version, kinds: tuple[Any, ...], tried: int) -> None:
        """Have the dispatcher try a version from the next call on."""
        steps.enter("install")
        self.add_version(version, _generality(kinds, tried))
        self._compiled.append(made)
        self._refused.pop("plain", None)  # the other compiler takes the function
        if self.options.dump:
            asked.dump(self, made.c_source)
        self._made_for.setdefault(kinds, []).append(version)
        self._note_written(version)

    def _compile(self, kinds: tuple[Spec, ...], values: tuple[Any, ...], stored: str | None, tried: int) -> bool:
        from weft import pipeline
        from weft.frontend import specs
        from weft.runtime.progress import telling

        source = self._load()
        start = perf_counter()
        specialise = tried == 0 and not self.options.stress.general
        try:
            with telling(source.name):
                compiled = pipeline.compile_for(source, kinds, values, self.options, specialise, self._directives())
            self._sample = restored.sample_of(kinds, values)
        except CompileError as problem:
            reason = f"the C compiler failed: {problem.reason}"
            refusal = Unsupported(source.span(source.tree), reason, problem.remedy)
            refusal.whole = True
            if self.options.fallback == "error":
                raise refusal from problem
            self._refused[kinds] = refusal
            return self._refuse(refusal)
        compiled.seconds["total"] = perf_counter() - start
        warned.log("INFO", "compiled %s%s in %.3f s", source.name, compiled.signature, compiled.seconds["total"])
        assert compiled.version is not None
        if compiled.c_source is None and self.options.backend == "auto" and self.options.fallback == "warn":
            warned.no_compiler(source.file, source.tree.lineno)
        if any(_same_version(compiled.version, other) for other in self.versions) and self._has_code(compiled):
            if not any(isinstance(kind, specs.ObjectSpec) for kind in kinds):
                self._keys[kinds] = _MAX_FOR_KEY  # nor would another attempt help
            return False  # the same code for the same arguments would refuse them again
        self._install(compiled, compiled.version, kinds, tried)
        machine.consider()
        if stored is not None:
            restored.keep(self, stored, compiled)
        return True

    def _has_code(self, compiled: Compiled) -> bool:
        """Whether some version was made from the same program."""
        if compiled.c_source is not None:
            return any(other.c_source == compiled.c_source for other in self._compiled)
        programs = [v.program_optimised for v in self._compiled if not isinstance(v, Restored)]
        return compiled.program_optimised in programs

    def _load(self) -> Source:
        from weft.frontend.source import load

        if self._source is None:
            steps.enter("source")
            self._source = load(self.py_func)
        return self._source

    def _place(self) -> Span:
        code = self.py_func.__code__
        return Span(code.co_filename, code.co_firstlineno, 0, code.co_firstlineno, 0)

    def _refuse(self, problem: Unsupported, values: tuple[Any, ...] = ()) -> bool:
        """Tell that Python runs a statement, whose surroundings may still be compiled, or the whole function."""
        if self.options.fallback == "error" and not isinstance(problem, LeftToLibrary):
            raise problem
        if not self._splits_at(problem, values):
            self._warn(problem)
        return False

    def _splits_at(self, problem: Unsupported, values: tuple[Any, ...]) -> bool:
        """Compile what is around a statement; whether the statement is compiled, too, for all that is known."""
        line, source = problem.span.line, self._source
        if self._in_regions is not None:
            self._in_regions.again()
        elif problem.whole or line in self._unsplit or self._plain is not self.py_func or source is None:
            pass
        elif problem.span.file == source.file:
            try:
                parted.split(self, line, keeps=plainly.takes_statement(self, values, problem))
            except Exception as trouble:
                if net.is_meant(trouble, self.options):
                    raise
                self._unsplit.add(line)
                self._refused["split"] = net.refusal(trouble, problem.span, self.options)
        return line in self._apart

    def _warn(self, problem: Unsupported) -> None:
        """One warning for each source line that stays Python."""
        place = (problem.span.file, problem.span.line)
        if self.options.fallback != "warn" or place in self._warned or isinstance(problem, LeftToLibrary):
            return
        self._warned.add(place)
        if warned.is_expected(place) or warned.lacks_compiler(self._refused.get("plain"), self._place()):
            return
        warned.log("DEBUG", "%s:%d stays Python: %s", *place, problem.reason)
        if warned.is_kept(place, problem.reason, problem.remedy):
            return
        text = problem.told("runs as plain Python")
        warned.warn(text, problem.span.file, problem.span.line)

    # --- transformations --------------------------------------------------------------------------------------------

    def transforms(self) -> tuple[Directive, ...]:
        """The transformations asked for by `weft.transform`, now or in the file beside the source."""
        return self._steering.asked()

    def _directives(self) -> Directives:
        steps.enter("directives")
        return self._steering.directives(lenient=self._is_region or bool(self._compiled))

    def direct(self, directives: tuple[Directive, ...]) -> None:
        """Compile with these transformations from now on; TransformError if the newest version forbids one."""
        with self._lock:
            before, compiled = self._steering, self._compiled
            self._steering, self._compiled = Steering(self.py_func, self._load, self.options), []
            self._steering.ask(directives)
            try:
                if self._sample is not None:
                    self._front(*self._sample)
            except BaseException:
                self._steering, self._compiled = before, compiled
                raise
            self._forget_versions()

    def _forget_versions(self) -> None:
        self.clear_versions()
        self._prebuilt, self._keys, self._refused, self._written = [], {}, {}, set()
        self._plain, self._regions, self._forms, self._made_for = self.py_func, [], {}, {}
        self._in_regions, self._native, self._plain_failures = None, None, 0
        self._unsplit, self._apart, self._first_tuples, self._by_value = set(), set(), {}, set()

    def _choose(self, options: Options) -> None:
        """Other options from now on: what was compiled with the old ones is forgotten."""
        with self._lock:
            self.options, self._compiled, self._sample = options, [], None
            self._forget_versions()

    def _renew(self) -> None:
        """The function has other code or defaults now: everything that was made of the old ones is forgotten."""
        with self._lock:
            self._compiled, self._source, self._sample = [], None, None
            self._forget_versions()
            self._steering = Steering(self.py_func, self._load, self.options)
            self.sign(Signature.of(self.py_func))
            self.watch(self.py_func)

    def _front(self, kinds: tuple[Any, ...], sample: tuple[Any, ...], specialise: bool = True) -> Compiled:
        """A version up to its lowered program."""
        from weft import pipeline

        return pipeline.front(self._load(), kinds, sample, self.options, specialise, self._directives())

    def program(self, *args: Any, **kwargs: Any) -> ProgramView:
        """The program of a version to look at: for these arguments, or (without any) of the newest version."""
        from weft.frontend import specs
        from weft.report.outline import ProgramView

        if args or kwargs or not inspect.signature(self.py_func).parameters:
            values = self._bound(args, kwargs)
            if values is None:
                raise TypeError(f"these are no arguments of {self.py_func.__name__}")
            found = parted.form(self, args, kwargs) if self.signature.variadic else None
            if found is not None:
                form, renamed = found
                view: ProgramView = form.program(*args, **{renamed.get(name, name): kwargs[name] for name in kwargs})
                return view
            version = self._front(tuple(specs.specs_of(values)), values)
        else:
            version = self._pick(None)
        stages = {
            "built": version.program_built,
            "optimised": version.program_optimised,
            "lowered": version.program_lowered,
        }
        return ProgramView("lowered", stages)

    # --- asking -----------------------------------------------------------------------------------------------------

    @property
    def signatures(self) -> list[str]:
        """The kinds of arguments that versions exist for."""
        own = [*(version.signature for version in self._prebuilt), *(version.signature for version in self._compiled)]
        own += [version.signature for version in self._plain_versions()]
        return own + [signature for form in self._made_forms() for signature in form.signatures]

    @property
    def stats(self) -> dict[str, Any]:
        """Counts and times: calls by version, guards that failed, calls left to Python, seconds to compile."""
        counts: dict[str, int] = {}
        parts = [self, *self._made_forms()]
        for part in parts:
            native = ((plain.signature, plain.calls) for plain in part._plain_versions())
            for signature, count in (*zip(part.signatures, part.call_counts), *native):
                counts[signature] = counts.get(signature, 0) + count
        return {
            "calls": counts,
            "guard_failures": sum(part.guard_failures for part in parts),
            "misses": self.misses,
            "python_calls": sum(part._interpreted_calls() for part in parts),
            "compile_seconds": {v.signature: v.seconds.get("total", 0.0) for part in parts for v in part._compiled},
            "fallbacks": [problem.reason for part in parts for problem in part._refused.values()],
            "slower": [reason for part in parts for reason in asked.slower(part)],
        }

    def _interpreted_calls(self) -> int:
        """Calls that the interpreter ran."""
        return int(self._plain_calls) - sum(version.calls for version in self._plain_versions())

    def _plain_versions(self) -> list[PlainVersion]:
        """Versions as plain Python."""
        return [] if self._native is None else self._native.versions

    def _made_forms(self) -> list[Jitted]:
        """The forms of a function with `*` or `**` parameters."""
        return [found[0] for found in self._forms.values() if found is not None]

    def explain(self, format: str = "text") -> Explanation:
        """What became of each line, and why; "pragmas": the source with those that weft has inferred."""
        if format == "pragmas":
            return self.inspect(format)  # type: ignore[return-value]
        explanation = asked.explanation(self)
        return explanation.to_json() if format == "json" else explanation  # type: ignore[return-value]

    def timeline(self, *args: Any, **kwargs: Any) -> Timeline:
        """Run a call and tell where it spent its time: native regions, Python between them, compiling."""
        from weft import timeline

        # What was found to be slower than plain Python stays that.
        with suspended([part for part in self._parts() if not asked.slower(part)]):
            self.measured = timeline.measured(self, args, kwargs)
        return self.measured

    def _parts(self) -> Iterator[Jitted]:
        """This function and the regions it was split into."""
        yield self
        for region in self._regions:
            yield from region._parts()

    def inspect(self, what: str = "ir", signature: str | int | None = None) -> str:
        """The version's IR, C, Python or assembly; `signature` picks one (default: the newest)."""
        return asked.text(self, what, signature)

    def _pick(self, signature: str | int | None) -> Compiled:
        for form in reversed(self._made_forms()):
            if form._compiled and (signature is None or signature in form.signatures):
                return form._pick(signature)
        if not self._compiled:
            raise WeftError(asked.no_version(self))
        if signature is None:
            return restored.full(self, self._compiled[-1])
        if isinstance(signature, int):
            return restored.full(self, self._compiled[signature])
        for version in self._compiled:
            if version.signature == signature:
                return restored.full(self, version)
        raise WeftError(f"no version for {signature}; there are: {', '.join(self.signatures)}")

    def compile_hints(self, kinds: Sequence[Spec] | None = None) -> bool:
        """Compile for the types that the hints state (or for `kinds`); False if they are not complete."""
        from weft import pipeline
        from weft.frontend.hints import numbers_of, specs_from_hints

        kinds = specs_from_hints(self.py_func) if kinds is None else kinds
        if kinds is None:
            return False
        try:
            compiled = pipeline.compile_for(self._load(), kinds, None, self.options, directives=self._directives())
        except ParallelError:
            raise
        except Unsupported as problem:
            numbers = numbers_of(kinds)
            if numbers is not None and plainly.takes_first(self, numbers):
                return True
            self._refused["hints"] = problem
            return self._refuse(problem)
        self._add_compiled(compiled, kinds)
        return True

    def _add_compiled(self, compiled: Compiled, kinds: Sequence[Spec]) -> None:
        """Add a version that was compiled without arguments."""
        assert compiled.version is not None
        self._compiled.append(compiled)
        self.add_version(compiled.version, _generality(kinds, 1))

    def compile_overlapping(self) -> None:
        """Another version like the newest one, for arguments that overlap, where that one asks that they do not."""
        from weft import pipeline

        kinds = pipeline.overlapping_any(self._pick(None))
        if kinds is None:
            return
        with contextlib.suppress(Unsupported, ParallelError, TransformError):  # Python is left for them
            directives = self._directives()
            compiled = pipeline.compile_for(self._load(), kinds, None, self.options, directives=directives)
            self._add_compiled(compiled, kinds)

    def install(self, version: Version, signature: str) -> None:
        """Add a version that was compiled ahead of time."""
        self._prebuilt.append(asked.Prebuilt(signature))
        self._note_written(version)
        self.add_version(version, _OVERLAPPING * bool(_memories(version)))

    def __reduce__(self) -> Any:
        from weft.pickles import reduced

        return reduced(self)

    def _repr_html_(self) -> str:
        """What a notebook shows of the function: its versions and calls."""
        return asked.html(self)

    def __repr__(self) -> str:
        count = len(self._compiled)
        return f"<weft.jit {self.py_func.__qualname__}, {count} version{'s' * (count != 1)}>"


def _same_version(one: Version, other: Version) -> bool:
    """Whether two versions ask the same of their arguments."""
    if one.params != other.params or len(one.hidden) != len(other.hidden):
        return False
    if not all(map(holds, other.facts)):
        return False
    return _memories(one) == _memories(other)


def _overlap(kinds: Sequence[Any]) -> bool:
    """Whether these are specs of arguments that overlap."""
    return any(hasattr(kind, "memory") for kind in kinds)


def _memories(version: Version) -> list[MemoryParam]:
    """How arguments of a version overlap."""
    return [hidden.param for hidden in version.hidden if isinstance(hidden.param, MemoryParam)]


def _generality(kinds: Sequence[Any], tried: int) -> int:
    """How many arguments a version takes in more than one form: of arrays with any strides, or of any sizes.

    Those for arguments that overlap are the last: they would take others, too.
    """
    strided = sum(getattr(kind, "layout", None) is Layout.STRIDED for kind in kinds)
    return _OVERLAPPING * _overlap(kinds) + 16 * min(tried, 1) + strided


_state = threading.local()
