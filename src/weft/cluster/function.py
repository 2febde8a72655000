"""A function that runs on a cluster.  In: a Python function and options with a target; out: an object that is called
like the function, plans each kind of arguments once, and runs here whatever is small or cannot be cut.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from time import perf_counter
from types import CellType
from typing import TYPE_CHECKING, Any

import numpy as np

from weft import net, steps, targets
from weft.analysis.cost import evaluate
from weft.analysis.scopes import written_params
from weft.cluster import costs, driver, kernels
from weft.cluster.lazy import Array, ClusterArray
from weft.cluster.lists import elements, without_lists
from weft.cluster.plan import Plan, Refused, make, stages_of
from weft.cluster.rows import with_rows
from weft.cluster.settings import current
from weft.cluster.spread import Spread
from weft.cluster.sweeps import with_sweeps
from weft.cluster.work import Failure, throw
from weft.errors import CompileError, FallbackWarning, ParallelError, Span, Unsupported, WeftError
from weft.frontend import specs
from weft.ir import interp
from weft.ir.expr import Var
from weft.ir.program import Argument, Derived, Program, Role, SizeOf
from weft.ir.walk import expr_buffers
from weft.jitted import Jitted
from weft.naming import home_of
from weft.options import Options
from weft.records import dataclass
from weft.runtime.descriptor import Fact
from weft.runtime.holding import holds

if TYPE_CHECKING:
    from weft.frontend.regions import Split

#: Versions for one kind of arguments before the function runs here.
_MAX_FOR_KEY = 4
#: Why a call of a function that has a plan runs here all the same.
GUARDS = "its guards do not hold for these arguments, or they share memory"
#: Bytes of arguments below which nobody wants to hear that a call stays here.
_SMALL = 1 << 16
#: Sizes and numbers of calls whose guards a version remembers.
_MOST_HELD = 64


@dataclass
class Version:
    """A planned version: for arguments of `kinds`, constants included."""

    plan: Any  # what the target's engine runs; its `program` tells which arguments it takes
    kinds: tuple[Any, ...]
    names: tuple[Any, ...]
    hidden: tuple[Any, ...]
    programs: Any
    seconds: float
    reads: tuple[Any, ...] = ()  # what it was made from besides its arguments
    last: Any = None  # sizes and tiles of the newest call, for `explain`
    extra: Any = None  # what an engine keeps for all calls
    held: set[str] = field(default_factory=set)  # sizes and numbers for which the guards held, where they tell all

    @functools.cached_property
    def facts(self) -> tuple[Fact, ...]:
        return tuple(Fact(read.kind, read.owner, read.name, read.value, read.present) for read in self.reads)

    @functools.cached_property
    def written(self) -> frozenset[str]:
        """Arrays of the caller's that change."""
        return written_params(self.plan.program)

    @functools.cached_property
    def looks_at_arrays(self) -> bool:
        """Whether a guard depends on more than sizes and numbers."""
        table, guards = self.plan.program.table, self.plan.program.guards
        return any(table[name].rank for guard in guards for name in expr_buffers(guard.condition) if name in table)


@dataclass(frozen=True)
class Call:
    """The arguments of one call as a version sees them."""

    given: Mapping[str, Any]
    numbers: Mapping[str, int]
    scalars: Mapping[str, Any]


class Distributed:
    """What functions of all targets share: planning, the local version, reasons."""

    __weft_distributed__ = True
    #: Where a function runs that the target cannot take.
    _elsewhere = "runs on this machine alone"
    _refusal = "it cannot be spread over machines"
    #: Whether sparse matrices and lists are taken, by the arrays that they are made of.
    _takes_parts = False
    #: Whether planning has a limit of time.
    _timed = True

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.options = options
        self.local = Jitted(function, replace(options, target="cpu"))
        self._versions: dict[Any, list[Version]] = {}
        self._refused: dict[Any, str] = {}
        self._warned: set[str] = set()
        #: Whether this is what is left of a function around a statement that only Python runs.
        self._is_part = False
        #: The function in parts, around such a statement.
        self._apart: Callable[..., Any] | None = None
        self._parts: list[Distributed] = []
        self._lock = threading.RLock()
        self._signature = inspect.signature(function)

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError:
            return None
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def _version(self, values: tuple[Any, ...]) -> tuple[Version, Call] | str:
        """The version for these arguments, planned now if there is none; or why there is none (GUARDS: because of these
        very arguments, which others of their kind may not share). A mistake of weft's own is a reason, too."""
        try:
            with steps.budget(self.options.compile_timeout if self._timed else 0):
                return self._known_or_planned(values)
        except Exception as trouble:
            return self._mistake(trouble)

    def _mistake(self, trouble: Exception) -> str:
        """The reason that an exception of weft's own is, unless the caller is to see it."""
        if isinstance(trouble, WeftError) or net.is_meant(trouble, self.options):
            raise trouble
        return net.refusal(trouble, self._place(), self.options).reason

    def _known_or_planned(self, values: tuple[Any, ...]) -> tuple[Version, Call] | str:
        shown = tuple(stand_in(value) for value in values)
        key = tuple(specs.specs_of(shown))
        with self._lock:
            if key in self._refused:
                return self._refused[key]
            for version in self._versions.get(key, ()):
                call = fit(version, values)
                if call is not None:
                    return version, call
            tried = len(self._versions.get(key, ()))
            if tried >= _MAX_FOR_KEY:
                return GUARDS
            try:
                version = self._planned(key, shown, tried == 0)
            except ParallelError:
                raise  # never a reason to run elsewhere
            except (Unsupported, CompileError) as problem:
                reason = problem.reason
                if isinstance(problem, Unsupported) and self._apart is None:
                    self._split(problem)
            except Refused as problem:
                reason = str(problem)
            except Exception as trouble:
                reason = self._mistake(trouble)
            else:
                self._versions.setdefault(key, []).append(version)
                call = fit(version, values)
                return GUARDS if call is None else (version, call)
            self._refused[key] = reason
            return reason

    def _planned(self, key: tuple[Any, ...], values: tuple[Any, ...], specialise: bool) -> Version:
        from weft import pipeline

        for kind in key:
            if isinstance(kind, specs.ObjectSpec) and kind.detail and not (self._takes_parts and is_sparse(kind.value)):
                raise Refused(f"it takes a {kind.kind.__name__}")
            if isinstance(kind, specs.ListSpec) and (kind.rank > 1 or not self._takes_parts):
                raise Refused("it takes lists of lists" if self._takes_parts else "it takes lists")
        start = perf_counter()
        options = self.local.options
        compiled = pipeline.front(self.local._load(), key, values, self.options, specialise, lower=False)
        built = compiled.built
        if any(not isinstance(name, (str, type(None))) for name in built.names):
            raise Refused("it takes dicts, strings or lists of other things than numbers of one type")
        program = compiled.program_optimised
        if self._takes_parts:
            program = without_lists(program)
        given = {name: _sent(kind, value) for kind, name, value in zip(key, built.names, values)}
        for entry in built.hidden:
            with contextlib.suppress(LookupError, AttributeError, ValueError):
                given[entry.param] = _hidden_value(entry, values)
        sizes = _sample_sizes(program, given)
        plan = self._made(program, sizes)
        driver.check(plan, self._takes_parts)
        programs = driver.Programs(plan, lambda tile: kernels.compile_tile(tile, options))
        seconds = perf_counter() - start
        return Version(plan, built.specs, built.names, tuple(built.hidden), programs, seconds, built.reads)

    def _made(self, program: Program, sizes: Mapping[str, int]) -> Plan:
        """The plan of a program, in the steps that the target's engine knows."""
        return make(program, sizes, self.options.fp == "strict")

    def _split(self, problem: Unsupported) -> None:
        """Leave the statement that cannot be compiled to Python, and spread what is around it."""
        from weft.frontend import regions
        from weft.frontend.making import function_from
        from weft.frontend.source import Source

        try:
            source = self.local._load()
        except Unsupported:
            return  # there is no text of it to split
        if problem.whole or problem.span.file != source.file or self.options.fallback == "error":
            return
        found = regions.split(source, problem.span.line, always=True)
        if found is None or not self._may_be_apart(found):
            return
        made: dict[str, Any] = {}
        for region in found.regions:
            piece = function_from(region.tree, source, None, {}, self.py_func.__qualname__)
            part = made[region.name] = type(self)(piece, self.options)
            part.local._is_region = part._is_part = True
            part.local._source = Source(region.tree.name, source.file, region.tree, source.text, source.namespace, {})
            self._parts.append(part)
        self._apart = function_from(found.tree, source, self.py_func, made)

    def _may_be_apart(self, found: Split) -> bool:
        """Whether the parts of a function may run one by one."""
        return True

    def _warn(self, reason: str) -> None:
        """One warning for each reason."""
        if self.options.fallback == "error":
            raise Unsupported(self._place(), f"{self._refusal}: {reason}", "")
        if self.options.fallback == "warn" and reason not in self._warned and not self._is_part:
            self._warned.add(reason)
            place = self._place()
            where = "has a statement that runs on this machine" if self._apart else self._elsewhere
            text = f"{self.py_func.__name__} {where}: {reason}"
            warnings.warn_explicit(text, FallbackWarning, place.file, max(place.line, 1))

    def _place(self) -> Span:
        code = self.py_func.__code__
        return Span(code.co_filename, code.co_firstlineno, 0, code.co_firstlineno, 0)

    def _here(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call on this machine; arrays of the cluster come here, and what changes in them stays here."""
        copies: list[tuple[ClusterArray, Array]] = []

        def brought(value: Any) -> Any:
            if not isinstance(value, ClusterArray):
                return value
            for known, array in copies:
                if known is value:
                    return array
            copies.append((value, np.array(value)))
            return copies[-1][1]

        result = self.local(*map(brought, args), **{name: brought(value) for name, value in kwargs.items()})
        for lazy, array in copies:
            if lazy._read().tobytes() != array.tobytes():  # bits, since 0.0 may have become -0.0
                lazy._take(array)
            if result is array:
                result = lazy
        return result

    def versions(self) -> list[Version]:
        return [version for found in self._versions.values() for version in found]

    def explain(self, format: str = "text") -> Any:
        """What became of each line, and how the function is spread over machines."""
        from weft.cluster.report import Explained

        return Explained(self.local, self.versions(), tuple(self._refused.values()), self.options.target).shown(format)

    def compile_hints(self) -> bool:
        """Compile the version for this machine for the types that the hints state; False if they are not complete."""
        return self.local.compile_hints()

    def inspect(self, what: str = "ir", signature: str | int | None = None) -> str:
        return self.local.inspect(what, signature)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __reduce__(self) -> Any:
        return _again, (self.local, self.options)

    def __repr__(self) -> str:
        return f"<weft.jit {self.py_func.__qualname__} on {self.options.target}, {len(self.versions())} plans>"


def _again(local: Any, options: Options) -> Any:
    return targets.find(options.target).function(getattr(local, "py_func", local), options)


class RayFunction(Distributed):
    """A function that runs on Ray."""

    _takes_parts = True

    def _made(self, program: Program, sizes: Mapping[str, int]) -> Plan:
        return with_rows(with_sweeps(make(program, sizes, self.options.fp == "strict", control=True)))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from weft.cluster import ray_engine

        values = self._bound(args, kwargs)
        if values is None:
            return self.py_func(*args, **kwargs)
        found = self._version(values)
        if isinstance(found, str):
            if found is not GUARDS and not _is_small(values):
                self._warn(found)
                if self._apart is not None:
                    return self._apart(*args, **kwargs)
            return self._here(args, kwargs)
        version, call = found
        if not self._worth(version, call):
            return self._here(args, kwargs)
        engine = ray_engine.engine()
        try:
            return self._run(version, call, engine)
        except kernels.HandedBack:
            return self._here(args, kwargs)
        except OverflowError as problem:  # nothing of the caller's has changed yet
            if not kernels.is_beyond(problem):
                raise
            return self._here(args, kwargs)

    def _worth(self, version: Version, call: Call) -> bool:
        """Whether a call is large enough for the cluster: it takes several times what its tasks cost."""
        from weft.cluster import ray_engine

        seconds = costs.plan_seconds(version.plan, call.numbers)
        least = current().least_seconds
        if least is not None:
            return seconds >= least
        if any(isinstance(value, ClusterArray) and not value.is_here for value in call.given.values()):
            return True
        if seconds < 2 * costs.SHORT:
            return False  # not worth a connection
        return seconds > 4 * ray_engine.engine().measured().alone

    def _run(self, version: Version, call: Call, engine: Any) -> Any:
        plan = version.plan
        arrays = {name: _spread(value) for name, value in call.given.items() if plan_array(plan, name)}
        settings = current()
        run = driver.Run(
            version.programs, engine, call.numbers, call.scalars, arrays, settings.rows, settings.cpus_per_task
        )
        left = run.steps(plan.steps)
        run.finish()
        version.last = (dict(call.numbers), {stage.name: run.block(stage) for stage in stages_of(plan.steps)})
        for name in sorted(run.changed):
            if plan.program.table[name].role is Role.PARAM:
                value = call.given[name]
                if isinstance(value, ClusterArray):
                    value._become(run.arrays[name])
                else:
                    fill(value, run.arrays[name], engine)
        out = plan.program.results[plan.result if left is None else left.result]
        gather = functools.partial(gathered, engine=engine)
        return run.result(out, lambda spread: ClusterArray(spread, gather), call.given)


def _is_small(values: Sequence[Any]) -> bool:
    """Arguments that nobody would send anywhere."""
    return sum(_bytes_of(value) for value in values) < _SMALL


def _bytes_of(value: Any) -> int:
    if isinstance(value, list):
        return 8 * len(value)
    if is_sparse(value):
        return sum(getattr(part, "nbytes", 0) for part in vars(value).values())
    return int(getattr(value, "nbytes", 0))


def is_sparse(value: Any) -> bool:
    return home_of(type(value)).startswith("scipy.sparse")


def plan_array(plan: Plan, name: str) -> bool:
    """Whether a parameter of a planned program is an array."""
    buffer = plan.program.table.get(name)
    return buffer is not None and buffer.rank > 0


def _spread(value: Any) -> Spread:
    return value._spread if isinstance(value, ClusterArray) else Spread(value.shape, value.dtype, source=value)


def fill(array: Array, spread: Spread, engine: driver.Engine) -> None:
    """The elements of a spread array into memory of the caller's, block by block."""
    if spread.source is not None:
        if spread.source is not array:
            array[...] = spread.source
        return
    if spread.fresh:
        if spread.zero:
            array[...] = 0
        return
    for piece, block in zip(spread.pieces, engine.get([piece.handle for piece in spread.pieces])):
        if isinstance(block, Failure):
            throw(block)
        place = (slice(None),) * (spread.axis or 0) + (slice(piece.first, piece.past),)
        array[... if spread.axis is None else place] = block


def gathered(spread: Spread, engine: driver.Engine) -> Array:
    """A spread array as one ndarray."""
    array = np.empty(spread.shape, spread.dtype)
    fill(array, spread, engine)
    return array


# --- arguments --------------------------------------------------------------------------------------------------------


def stand_in(value: Any) -> Any:
    """What the compiler looks at instead of an array that the cluster holds."""
    if not isinstance(value, ClusterArray):
        return value
    return np.empty(value.shape, value.dtype)  # the system gives memory only where it is touched


def _sample_sizes(program: Program, given: Mapping[Any, Any]) -> dict[str, int]:
    """The values of symbols, as far as arguments tell them."""
    found: dict[str, int] = {}
    for symbol in program.symbols:
        if isinstance(symbol.source, SizeOf):
            value = given.get(symbol.source.buffer)
            shape = getattr(value, "shape", None)
            if shape is not None:
                found[symbol.name] = shape[symbol.source.axis]
        elif isinstance(symbol.source, Argument):
            value = given.get(symbol.source.name)
            if type(value) is int:
                found[symbol.name] = value
        else:
            assert isinstance(symbol.source, Derived)
            number = evaluate(symbol.source.value, found)
            if number is not None:
                found[symbol.name] = int(number)
    return found


def _hidden_value(entry: Any, values: Sequence[Any]) -> Any:
    """The value of a global, closure variable or attribute now."""
    if isinstance(entry.home, dict):
        import builtins

        return entry.home[entry.name] if entry.name in entry.home else getattr(builtins, entry.name)
    if isinstance(entry.home, CellType):
        return entry.home.cell_contents
    value = values[entry.home]
    for name in entry.path:
        value = value[int(name)] if name.isdigit() else getattr(value, name)
    return value


def _sent(spec: Any, value: Any) -> Any:
    """An argument as it is sent: a list as the array of its items, None if they are of several types."""
    return elements(spec, value) if isinstance(spec, specs.ListSpec) else value


def _is_same(value: Any, known: Any) -> bool:
    if value is known:
        return True
    plain = (bool, int, float, complex, str, tuple, type(None))
    return type(value) is type(known) and isinstance(value, plain) and repr(value) == repr(known)


def fit(version: Version, values: tuple[Any, ...]) -> Call | None:
    """The arguments of a call by the names of the program, if the version takes them: constants, guards, memory."""
    program = version.plan.program
    given: dict[str, Any] = {}
    places = [(spec, name, value) for spec, name, value in zip(version.kinds, version.names, values)]
    if not all(map(holds, version.facts)):
        return None
    for entry in version.hidden:
        try:
            value = _hidden_value(entry, values)
        except (LookupError, AttributeError, ValueError):
            return None
        places.append((entry.spec, entry.param, value))
    for spec, name, value in places:
        known = getattr(spec, "value", None)
        if isinstance(spec, specs.SameSpec):
            if value is not values[spec.index]:
                return None
            continue  # one parameter stands for both
        if isinstance(name, tuple):
            return None
        if name is None:
            if isinstance(spec, specs.ObjectSpec) and is_sparse(value):
                if spec != specs.ObjectSpec(type(value), value):
                    return None
                continue  # its parts are hidden arguments
            if not _is_same(value, known):
                return None
            continue
        given[name] = _sent(spec, value)
    for name, value in given.items():
        buffer = program.table.get(name)
        if buffer is not None and buffer.rank:
            if not isinstance(value, (np.ndarray, ClusterArray)) or value.dtype != buffer.type.dtype.numpy:
                return None
            if value.ndim != buffer.rank:
                return None
    numbers = _sample_sizes(program, given)
    if len(numbers) < len(program.symbols):
        return None
    scalars = {name: value for name, value in given.items() if name in program.table and not program.table[name].rank}
    call = Call(given, numbers, scalars)
    if not _separate(version.plan, given, numbers, version.written):
        return None
    seen = repr((numbers, scalars)) if not version.looks_at_arrays else ""
    if seen and seen in version.held:
        return call
    if not _guarded(version.plan, given, numbers, scalars):
        return None
    if seen and len(version.held) < _MOST_HELD:
        version.held.add(seen)
    return call


def _holds(plan: Plan, given: Mapping[str, Any], numbers: Mapping[str, int], scalars: Mapping[str, Any]) -> bool:
    """Whether the guards of a program hold, and no array that changes is also another argument."""
    return _separate(plan, given, numbers, written_params(plan.program)) and _guarded(plan, given, numbers, scalars)


def _separate(plan: Plan, given: Mapping[str, Any], numbers: Mapping[str, int], written: frozenset[str]) -> bool:
    """Whether arrays have their shapes, and none that changes is also another argument."""
    program = plan.program
    table = program.table
    arrays = {name: value for name, value in given.items() if name in table and table[name].rank}
    for name, value in arrays.items():
        for extent, size in zip(table[name].shape, value.shape):
            declared = numbers[extent.name] if isinstance(extent, Var) else evaluate(extent, numbers, -1.0)
            if size != declared:
                return False
    for name in written:
        if name not in arrays:
            continue
        if isinstance(arrays[name], np.ndarray) and not arrays[name].flags.writeable:
            return False
        for other, value in arrays.items():
            both = isinstance(value, np.ndarray) and isinstance(arrays[name], np.ndarray)
            if other != name and (value is arrays[name] or (both and np.may_share_memory(value, arrays[name]))):
                return False
    return True


def _guarded(plan: Plan, given: Mapping[str, Any], numbers: Mapping[str, int], scalars: Mapping[str, Any]) -> bool:
    """Whether the guards of a program hold."""
    program = plan.program
    arrays = {name: value for name, value in given.items() if plan_array(plan, name)}
    for guard in program.guards:
        if guard.domain:
            return False
        seen = {name: arrays[name] for name in expr_buffers(guard.condition) & set(arrays)}
        try:
            if not all(isinstance(value, np.ndarray) for value in seen.values()):
                return False  # it looks at elements that are elsewhere
            if not interp.value_of(guard.condition, program, numbers, {**scalars, **seen}):
                return False
        except (AssertionError, IndexError):
            return False
    return True


def sent(array: Any, rows: int = 0) -> ClusterArray:
    """An array on the cluster; see `weft.cluster.put`."""
    from weft.cluster import ray_engine
    from weft.cluster.spread import Piece, ranges

    engine = ray_engine.engine()
    value = np.ascontiguousarray(array)
    if value.ndim == 0 or not rows:
        pieces = (Piece(engine.put(value), 0, value.shape[0] if value.ndim else 0),)
        spread = Spread(value.shape, value.dtype, None, pieces)
    else:
        cut = [(first, past) for first, past in ranges(value.shape[0], rows)]
        spread = Spread(
            value.shape, value.dtype, 0, tuple(Piece(engine.put(value[first:past]), first, past) for first, past in cut)
        )
    return ClusterArray(spread, functools.partial(gathered, engine=engine))
