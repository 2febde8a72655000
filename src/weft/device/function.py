"""A function that runs on a device.  In: a Python function and options with target="opencl", "cuda" or "auto"; out: an
object that is called like the function, compiles kernels for each kind of arguments once, and runs on the CPU what has
no kernels.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from weft import net, targets
from weft.analysis.scopes import written_params
from weft.cluster.function import GUARDS, Call, Distributed, Version, fit, stand_in
from weft.cluster.plan import Refused as Uncut
from weft.device import costs, engine, foreign, rows
from weft.device.array import DeviceArray
from weft.device.dialect import uses_double
from weft.device.plan import NoRoom, Refused
from weft.device.prepared import Prepared, number_types
from weft.device.report import told
from weft.device.split import planned
from weft.device.targets import DeviceTarget, accelerator
from weft.directives import Directive, On
from weft.frontend import specs
from weft.options import Options
from weft.passes import Remark
from weft.records import dataclass
from weft.runtime.holding import holds

#: Timed calls on the device and on the CPU before "auto" settles for one of them.
TRIALS = 2
#: How many times faster one side must be by the model for "auto" not to time both.
DOUBTLESS = 8.0
#: Kinds and shapes of arguments on the device whose version is remembered.
MOST_KNOWN = 256


@dataclass
class Made:
    """The kernels of a version on one device, and what the newest call cost."""

    device: Any
    text: str
    kernels: Any
    prepared: Prepared
    #: Arguments that the function writes.
    changed: tuple[str, ...] = ()
    seconds: float = 0.0
    #: The sizes of the newest call, and whether its arrays stayed on the device.
    numbers: Any = None
    resident: bool = False
    #: What became of comments and transformations.
    told: tuple[str, ...] = ()
    #: The version for sizes of which none is taken to be equal to another.
    general: Any = None


@dataclass(frozen=True)
class _Known:
    """The version for arguments of some kinds and shapes, and its sizes."""

    version: Version
    numbers: Mapping[str, int]


def _resident_key(args: tuple[Any, ...]) -> Any:
    """What decides about a call on arrays of a device: kinds, shapes and numbers; None if it has other arguments."""
    found: list[Any] = []
    arrays: set[int] = set()
    for value in args:
        kind = type(value)
        if _is_there(value):
            if id(value) in arrays:
                return None  # one array as two arguments
            arrays.add(id(value))
            found.append((kind, value.shape, value.dtype, value.order if kind is DeviceArray else _strides(value)))
        elif kind in (int, float, bool):
            found.append((kind, repr(value)))
        else:
            return None
    return tuple(found) if arrays else None


def _is_there(value: Any) -> bool:
    """Whether a value is an array in the memory of a device."""
    kind = type(value)
    return kind is DeviceArray or kind.__module__ == "pyopencl.array" or hasattr(value, "__cuda_array_interface__")


def _strides(value: Any) -> Any:
    if hasattr(value, "strides"):
        return value.strides
    return value.__cuda_array_interface__.get("strides")


class DeviceFunction(Distributed):
    """A function that runs on the device of its target."""

    _elsewhere = "runs on the CPU"
    _refusal = "it cannot run on the device"

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        super().__init__(function, options)
        self._known: dict[Any, _Known] = {}

    @property
    def target(self) -> DeviceTarget:
        found: DeviceTarget = targets.find(self.options.target)
        return found

    def _planned(self, key: tuple[Any, ...], values: tuple[Any, ...], specialise: bool) -> Version:
        from weft import asked, pipeline

        start = perf_counter()
        if self.options.dim_info:
            asked.require_dimensions(self, values)
        try:
            device = self.target.current()
            source, asked_of = self.local._load(), self.local._directives()
            compiled = pipeline.front(source, key, values, self.options, specialise, asked_of, lower=False)
            built = compiled.built
            if any(not isinstance(name, (str, type(None))) for name in built.names):
                raise Refused("it takes lists, dicts or strings")
            barriers, has_library = not device.is_processor, device.has_library
            log: list[Remark] = []
            plan = planned(compiled.program_optimised, self.options, log, barriers, has_library, asked_of)
            text = self.target.dialect.unit(plan.helpers, plan.kernels)
            if not device.has_double and any(uses_double(part) for part in (plan.helpers, *_bodies(plan))):
                raise Refused(f"{device.name} has no float64: arrays of float32 would run there")
            if self.options.dump:
                asked.dump(self, text)
            changed = tuple(sorted(written_params(plan.program)))
            types = {kernel.name: number_types(kernel) for kernel in plan.kernels}
            kernels = device.build(text, types) if plan.kernels else {}
            made = Made(device, text, kernels, Prepared(plan), changed, told=tuple(told(log)))
        except Refused as problem:
            raise Uncut(str(problem)) from problem
        hidden, seconds, optimised = tuple(built.hidden), perf_counter() - start, compiled.program_optimised
        return Version(plan, built.specs, built.names, hidden, optimised, seconds, built.reads, extra=made)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        key = None if kwargs else _resident_key(args)
        known = self._known.get(key) if key is not None else None
        if known is not None and all(map(holds, known.version.facts)):
            return self._again(known, args)
        values = self._bound(args, kwargs)
        if values is None:
            return self.py_func(*args, **kwargs)
        shown, arrays, back = self._stand_ins(values)
        found = self._version(shown)
        if isinstance(found, str):
            if found is not GUARDS:
                self._warn(found)
            return self._on_cpu(args, kwargs)
        version, call = found
        given = {name: arrays.get(id(value), value) for name, value in call.given.items()}
        if len(arrays) > 1:
            _check_overlap(given, version.extra.changed)
        try:
            done, result = self._run(version, call, given, bool(arrays))
        except NoRoom as problem:
            full: str | None = str(problem)
        except Refused as problem:
            self._warn(str(problem))
            return self._on_cpu(args, kwargs)
        else:
            full = None
        if full is not None:
            done, result = self._in_tiles(version, call, shown)
            if not done:
                self._warn(full)
        if not done:
            return self._on_cpu(args, kwargs)
        if key is not None and len(args) == len(values) and len(self._known) < MOST_KNOWN:
            self._keep(key, version, call)
        return _each_array(result, back, values) if back is not None else result

    def _keep(self, key: Any, version: Version, call: Call) -> None:
        """Remember which version takes arguments like these, if nothing but their kinds and shapes decides."""
        if not version.hidden and not version.looks_at_arrays and all(isinstance(n, str) for n in version.names):
            self._known[key] = _Known(version, call.numbers)

    def _again(self, known: _Known, args: tuple[Any, ...]) -> Any:
        """A call whose version is known: its arrays are on the device already."""
        back = None
        given: dict[str, Any] = {}
        for name, value in zip(known.version.names, args):
            if not isinstance(value, (DeviceArray, int, float)):
                found = foreign.taken(value, self.target.current)
                if found is None or not isinstance(found.array, DeviceArray):
                    return self._on_cpu(args, {})
                value, back = found.array, found.back
            given[name] = value
        _check_overlap(given, known.version.extra.changed)
        try:
            done, result = self._run(known.version, Call(given, known.numbers, {}), given, True)
        except Refused as problem:
            self._warn(str(problem))
            done, result = False, None
        if not done:
            return self._on_cpu(args, {})
        return _each_array(result, back, args) if back is not None else result

    def _stand_ins(self, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[int, DeviceArray], Any]:
        """What the compiler looks at instead of arrays on the device; which stands for which; and how results become
        the kind of array that came in, if that is another library's."""
        shown, arrays, back = list(values), {}, None
        met: dict[int, Any] = {}
        for position, value in enumerate(values):
            if id(value) in met:
                shown[position] = met[id(value)]
                continue
            known = value
            if not isinstance(value, DeviceArray) and (found := foreign.taken(value, self.target.current)) is not None:
                known, back = found.array, found.back
            if isinstance(known, DeviceArray):
                # Memory is given only where it is touched.
                shown[position] = np.empty(known.shape, known.dtype, known.order)
                arrays[id(shown[position])] = known
            else:
                shown[position] = known
            met[id(value)] = shown[position]
        return tuple(shown), arrays, back

    def _on_cpu(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call on this machine's processors; what changes in arrays of the device goes back there."""
        brought: list[tuple[Any, DeviceArray, Any]] = []
        back: Any = None

        def here(value: Any) -> Any:
            nonlocal back
            for other, _, array in brought:
                if other is value:
                    return array
            known = value
            if not isinstance(value, DeviceArray) and (found := foreign.taken(value, self.target.current)) is not None:
                known, back = found.array, found.back
            if not isinstance(known, DeviceArray):
                return known
            brought.append((value, known, known.get()))
            return brought[-1][2]

        result = self.local(*map(here, args), **{name: here(value) for name, value in kwargs.items()})
        changed = [n for n, (_, known, array) in enumerate(brought) if known.get().tobytes() != array.tobytes()]
        arrays = {f"argument {n + 1}": known for n, (_, known, _) in enumerate(brought)}
        _check_overlap(arrays, [f"argument {n + 1}" for n in changed])
        for n in changed:
            brought[n][1].take(brought[n][2])

        def there(array: Any) -> Any:
            same = next((value for value, _, copy in brought if copy is array), None)
            return same if same is not None else array if back is None else back(array)

        return _each_array(result, there, (*args, *kwargs.values()))

    def _in_tiles(self, version: Version, call: Call, values: tuple[Any, ...]) -> tuple[bool, Any]:
        """The call on some rows after the others, where the device has no room for all: whether it was computed."""
        made, start, cut = version.extra, perf_counter(), version
        try:
            if rows.of(version.programs) is None:
                # Sizes that are equal by chance, rows and columns, are one size in this version.
                if made.general is None:
                    kinds = tuple(specs.specs_of(tuple(map(stand_in, values))))
                    made.general = self._planned(kinds, values, False)
                cut, fitting = made.general, fit(made.general, values)
                if fitting is None:
                    return False, None
                call = fitting
            done, result = rows.in_tiles(cut, call)
        except (Refused, Uncut):
            return False, None
        version.last, made.numbers, made.seconds = cut.last, call.numbers, perf_counter() - start
        return done, result

    def _run(self, version: Version, call: Call, given: dict[str, Any], stays: bool) -> tuple[bool, Any]:
        """Whether the device has computed the call, and its result."""
        made = version.extra
        if made.device.process != os.getpid():
            return False, None  # a device does not survive a fork
        changed = made.changed
        start = perf_counter()
        with made.device.lock:
            run = engine.Run(made.prepared, made.kernels, made.device, call.numbers)
            try:
                run.take(given, changed)
                number = run.run()
            except (Refused, MemoryError, KeyboardInterrupt):
                raise
            except Exception as trouble:  # a mistake of weft's own: nothing of the caller's has changed
                if net.is_meant(trouble, self.options):
                    raise
                raise Refused(net.refusal(trouble, self._place(), self.options).reason) from trouble
            version.last = run.counts
            if number is None:
                return False, None
            run.written({name: given[name] for name in changed})
            result = run.result(number, given, stays)
        made.seconds, made.numbers, made.resident = perf_counter() - start, call.numbers, stays
        return True, result

    def directed_by(self, directives: tuple[Directive, ...]) -> None:
        """Compile with these transformations from now on, here and on the CPU."""
        self.local.direct(directives)
        with self._lock:
            self._versions.clear()
            self._known.clear()

    def alone(self) -> DeviceFunction | None:
        """The function on the device and nowhere else, for who measures it; None if there is no device."""
        return DeviceFunction(self.py_func, replace(self.options, target=self.target.name, fallback="error"))

    def settle(self, args: tuple[Any, ...], place: str) -> None:
        """Where calls with arguments like these are fastest, as somebody has measured: the target was chosen."""

    def kernels(self) -> Sequence[str]:
        """The text of the kernels of each version."""
        return [version.extra.text for version in self.versions()]

    def inspect(self, what: str = "ir", signature: str | int | None = None) -> str:
        if what == "kernels":
            return "\n".join(self.kernels())
        if what == "pragmas" and self.versions():
            from weft import asked

            newest, source = self.versions()[-1], self.local._load()
            return asked.with_pragmas(source, newest.kinds, self.options, newest.programs, newest.plan.program)
        return self.local.inspect(what, signature)

    def explain(self, format: str = "text") -> Any:
        """What became of each line, and of the kernels."""
        from weft.device.report import Explained

        if format == "pragmas":
            return self.inspect(format)
        return Explained(self.local, self.versions(), tuple(self._refused.values()), self.options.target).shown(format)


def _check_overlap(given: Mapping[str, Any], changed: Sequence[str]) -> None:
    """Kernels work on copies: an array that changes must not be seen through another one."""
    for name in changed:
        for other, value in given.items():
            both = isinstance(value, DeviceArray) and isinstance(given[name], DeviceArray)
            if both and other != name and value is not given[name] and value.shares(given[name]):
                raise ValueError(
                    f"{name} changes and shares memory of the device with {other}: pass a copy of one of them"
                )


def _each_array(result: Any, change: Callable[[Any], Any], given: Sequence[Any]) -> Any:
    """The result with its arrays changed, but for those that the caller has given."""
    if isinstance(result, (DeviceArray, np.ndarray)):
        return result if any(result is value for value in given) else change(result)
    if type(result) in (tuple, list):
        return type(result)(_each_array(item, change, given) for item in result)
    return result


def _bodies(plan: Any) -> list[str]:
    types = [argument.type for kernel in plan.kernels for argument in kernel.arguments]
    return [*types, *(kernel.body for kernel in plan.kernels)]


def _kinds(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """What "auto" chooses a place for."""
    given = [*enumerate(args), *kwargs.items()]
    return tuple((n, type(v), getattr(v, "shape", None), getattr(v, "dtype", None)) for n, v in given)


class AutoFunction(DeviceFunction):
    """CPU or device, whichever is faster: the first calls for each kind of arguments are timed on both."""

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        super().__init__(function, options)
        self._times: dict[Any, dict[str, list[float]]] = {}
        self._chosen: dict[Any, str] = {}
        self._target = accelerator()

    @property
    def target(self) -> DeviceTarget:
        assert self._target is not None
        return self._target

    def _warn(self, reason: str) -> None:
        """To run on the CPU is one of the two things that were asked for."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._target is None:
            return self.local(*args, **kwargs)
        if any(map(_is_there, (*args, *kwargs.values()))):
            return super().__call__(*args, **kwargs)
        asked = next((each.device for each in self.local.transforms() if isinstance(each, On)), "")
        if asked:
            return super().__call__(*args, **kwargs) if asked == "device" else self.local(*args, **kwargs)
        key = _kinds(args, kwargs)
        times = self._times.setdefault(key, {"cpu": [], "device": []})
        if key not in self._chosen and not any(times.values()):
            self._predict(key, args, kwargs)
        where = self._chosen.get(key) or min(times, key=lambda name: len(times[name]))
        start = perf_counter()
        result = super().__call__(*args, **kwargs) if where == "device" else self.local(*args, **kwargs)
        if key not in self._chosen:
            times[where].append(perf_counter() - start)
            if all(len(taken) > TRIALS for taken in times.values()):  # the first of each has compiled
                self._chosen[key] = min(times, key=lambda name: min(times[name][1:]))
        return result

    def _predict(self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Settle for one of the two at once if the model leaves no doubt."""
        values = self._bound(args, kwargs)
        found = GUARDS if values is None else self._version(values)
        if isinstance(found, str):
            self._chosen[key] = "cpu"
            return
        version, call = found
        there = costs.predicted(version.plan, call.numbers, costs.rates_of(version.extra.device, self.target.dialect))
        here = costs.predicted(version.plan, call.numbers, costs.HOST, resident=True)
        if there.total > DOUBTLESS * here.total or here.total > DOUBTLESS * there.total:
            self._chosen[key] = "cpu" if there.total > here.total else "device"

    def alone(self) -> DeviceFunction | None:
        return None if self._target is None else super().alone()

    def settle(self, args: tuple[Any, ...], place: str) -> None:
        self._chosen[_kinds(args, {})] = place

    @property
    def stats(self) -> dict[str, Any]:
        return {**self.local.stats, "places": dict(self._chosen)}
