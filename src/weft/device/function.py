"""A function that runs on a device.  In: a Python function and options with target="opencl", "cuda" or "auto"; out: an
object that is called like the function, compiles kernels for each kind of arguments once, and runs on the CPU what has
no kernels.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from weft import net
from weft.analysis.scopes import written_params
from weft.cluster.function import GUARDS, Call, Distributed, Version
from weft.cluster.plan import Refused as Uncut
from weft.device import engine
from weft.device.array import DeviceArray
from weft.device.plan import Refused
from weft.device.split import planned
from weft.device.targets import TARGETS, Target, accelerator
from weft.options import Options
from weft.records import dataclass

#: Timed calls on the device and on the CPU before "auto" settles for one of them.
TRIALS = 2


@dataclass
class Made:
    """The kernels of a version on one device, and what the newest call cost."""

    device: Any
    text: str
    kernels: Any
    seconds: float = 0.0


class DeviceFunction(Distributed):
    """A function that runs on the device of its target."""

    @property
    def target(self) -> Target:
        return TARGETS[self.options.target]

    def _planned(self, key: tuple[Any, ...], values: tuple[Any, ...], specialise: bool) -> Version:
        from weft import pipeline

        start = perf_counter()
        try:
            device = self.target.current()
            compiled = pipeline.front(self.local._load(), key, values, self.options, specialise, lower=False)
            built = compiled.built
            if any(not isinstance(name, (str, type(None))) for name in built.names):
                raise Refused("it takes lists, dicts or strings")
            plan = planned(compiled.program_optimised, self.options, [], not device.is_processor)
            text = self.target.dialect.unit(plan.helpers, plan.kernels)
            if "f64 " in text.partition("k_mul_overflow")[2] and not device.has_double:
                raise Refused(f"{device.name} has no float64")
            made = Made(device, text, device.build(text) if plan.kernels else {})
        except Refused as problem:
            raise Uncut(str(problem)) from problem
        hidden, seconds = tuple(built.hidden), perf_counter() - start
        return Version(plan, built.specs, built.names, hidden, None, seconds, built.reads, extra=made)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self._bound(args, kwargs)
        if values is None:
            return self.py_func(*args, **kwargs)
        shown, arrays, foreign = self._stand_ins(values)
        found = self._found(shown)
        if isinstance(found, str):
            if found is not GUARDS:
                self._warn(found)
            return self._on_cpu(args, kwargs)
        version, call = found
        given = {name: arrays.get(id(value), value) for name, value in call.given.items()}
        try:
            done, result = self._run(version, call, given, bool(arrays))
        except Refused as problem:
            self._warn(str(problem))
            done, result = False, None
        if not done:
            return self._on_cpu(args, kwargs)
        return _each_array(result, foreign) if foreign is not None else result

    def _found(self, values: tuple[Any, ...]) -> tuple[Version, Call] | str:
        """The version for these arguments, or why there is none: a mistake of weft's own is a reason, too."""
        try:
            return self._version(values)
        except Exception as trouble:
            if net.is_meant(trouble, self.options):
                raise
            return net.refusal(trouble, self._place(), self.options).reason

    def _stand_ins(self, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[int, DeviceArray], Any]:
        """What the compiler looks at instead of arrays on the device; which stands for which; and how results become
        the kind of array that came in, if that is another library's."""
        shown, arrays, foreign = list(values), {}, None
        for position, value in enumerate(values):
            known = value if isinstance(value, DeviceArray) else None
            if known is None and not isinstance(value, (np.ndarray, int, float, complex, np.generic)):
                known = self._adopted(value)
                if known is not None:
                    foreign = known.device.returned
            if known is not None:
                shown[position] = np.empty(known.shape, known.dtype)  # memory is given only where it is touched
                arrays[id(shown[position])] = known
        return tuple(shown), arrays, foreign

    def _adopted(self, value: Any) -> DeviceArray | None:
        """An array of the device's own library."""
        if not hasattr(value, "dtype") or not hasattr(value, "shape"):
            return None
        try:
            device = self.target.current()
        except Refused:
            return None
        found = device.adopted(value)
        return None if found is None else DeviceArray(device, *found)

    def _on_cpu(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call on this machine's processors; what changes in arrays of the device goes back there."""
        brought: list[tuple[Any, DeviceArray, Any]] = []

        def here(value: Any) -> Any:
            known = value if isinstance(value, DeviceArray) else None
            if known is None and not isinstance(value, np.ndarray):
                known = self._adopted(value)
            if known is None:
                return value
            for other, _, array in brought:
                if other is value:
                    return array
            brought.append((value, known, known.get()))
            return brought[-1][2]

        result = self.local(*map(here, args), **{name: here(value) for name, value in kwargs.items()})
        for value, known, array in brought:
            if array.size and known.get().tobytes() != array.tobytes():
                known.device.send(known.memory, array)
            if result is array:
                result = value
        return result

    def _run(self, version: Version, call: Call, given: dict[str, Any], stays: bool) -> tuple[bool, Any]:
        """Whether the device has computed the call, and its result."""
        plan, made = version.plan, version.extra
        if made.device.process != os.getpid():
            return False, None  # a device does not survive a fork
        changed = sorted(written_params(plan.program))
        start = perf_counter()
        with made.device.lock:
            run = engine.Run(plan, made.kernels, made.device, call.numbers)
            run.take(given, changed)
            number = run.run()
            version.last = run.counts
            if number is None:
                return False, None
            for name in changed:
                run.written(name, given[name])
            result = run.result(number, given, stays)
        made.seconds = perf_counter() - start
        return True, result

    def kernels(self) -> Sequence[str]:
        """The text of the kernels of each version."""
        return [version.extra.text for version in self.versions()]

    def inspect(self, what: str = "ir", signature: str | int | None = None) -> str:
        if what == "kernels":
            return "\n".join(self.kernels())
        return self.local.inspect(what, signature)

    def explain(self, format: str = "text") -> Any:
        """What became of each line, and of the kernels."""
        from weft.device.report import Explained

        return Explained(self.local, self.versions(), tuple(self._refused.values()), self.options.target).shown(format)


def _each_array(result: Any, change: Callable[..., Any]) -> Any:
    if isinstance(result, DeviceArray):
        return change(result.memory, result.shape, result.dtype)
    if type(result) in (tuple, list):
        return type(result)(_each_array(item, change) for item in result)
    return result


class AutoFunction(DeviceFunction):
    """CPU or device, whichever is faster: the first calls for each kind of arguments are timed on both."""

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        super().__init__(function, options)
        self._times: dict[Any, dict[str, list[float]]] = {}
        self._chosen: dict[Any, str] = {}
        self._target = accelerator()

    @property
    def target(self) -> Target:
        assert self._target is not None
        return self._target

    def _warn(self, reason: str) -> None:
        """To run on the CPU is one of the two things that were asked for."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._target is None:
            return self.local(*args, **kwargs)
        if any(isinstance(value, DeviceArray) for value in (*args, *kwargs.values())):
            return super().__call__(*args, **kwargs)
        given = [*enumerate(args), *kwargs.items()]
        key = tuple((n, type(v), getattr(v, "shape", None), getattr(v, "dtype", None)) for n, v in given)
        times = self._times.setdefault(key, {"cpu": [], "device": []})
        where = self._chosen.get(key) or min(times, key=lambda name: len(times[name]))
        start = perf_counter()
        result = super().__call__(*args, **kwargs) if where == "device" else self.local(*args, **kwargs)
        if key not in self._chosen:
            times[where].append(perf_counter() - start)
            if all(len(taken) > TRIALS for taken in times.values()):  # the first of each has compiled
                self._chosen[key] = min(times, key=lambda name: min(times[name][1:]))
        return result

    @property
    def stats(self) -> dict[str, Any]:
        return {**self.local.stats, "places": dict(self._chosen)}
