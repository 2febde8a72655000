"""A function that runs on a device.  In: a Python function and options with target="opencl"; out: an object that is
called like the function, compiles kernels for each kind of arguments once, and runs on the CPU what has no kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

from weft.analysis.scopes import written_params
from weft.cluster.function import GUARDS, Call, Distributed, Version
from weft.cluster.plan import Refused as Uncut
from weft.device import engine, opencl
from weft.device.dialect import OPENCL
from weft.device.lower import lowered
from weft.device.plan import Refused
from weft.device.split import split
from weft.passes import Remark
from weft.records import dataclass


@dataclass
class Made:
    """The kernels of a version on one device."""

    device: opencl.OpenCL
    text: str
    kernels: dict[str, Any]
    log: list[Remark]


class OpenCLFunction(Distributed):
    """A function that runs on an OpenCL device."""

    def _planned(self, key: tuple[Any, ...], values: tuple[Any, ...], specialise: bool) -> Version:
        from weft import pipeline

        start = perf_counter()
        try:
            compiled = pipeline.front(self.local._load(), key, values, self.options, specialise, lower=False)
            built = compiled.built
            if any(not isinstance(name, (str, type(None))) for name in built.names):
                raise Refused("it takes lists, dicts or strings")
            log: list[Remark] = []
            device = opencl.current()
            program = lowered(compiled.program_optimised, self.options, log)
            plan = split(program, self.options.fp == "strict", not device.is_processor)
            text = OPENCL.unit(plan.helpers, plan.kernels)
            if "f64" in text and not device.has_double:
                raise Refused(f"{device.name} has no float64")
            made = Made(device, text, device.build(text) if plan.kernels else {}, log)
        except Refused as problem:
            raise Uncut(str(problem)) from problem
        return Version(plan, built.specs, built.names, tuple(built.hidden), None, perf_counter() - start, extra=made)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self._bound(args, kwargs)
        if values is None:
            return self.py_func(*args, **kwargs)
        found = self._version(values)
        if isinstance(found, str):
            if found is not GUARDS:
                self._warn(found)
            return self.local(*args, **kwargs)
        version, call = found
        try:
            done, result = self._run(version, call)
        except Refused as problem:
            self._warn(str(problem))
            done = False
        return result if done else self.local(*args, **kwargs)

    def _run(self, version: Version, call: Call) -> tuple[bool, Any]:
        """Whether the device has computed the call, and its result."""
        plan, made = version.plan, version.extra
        with made.device.lock:
            run = engine.Run(plan, made.kernels, made.device, call.numbers)
            run.take(call.given)
            number = run.run()
            version.last = run.counts
            if number is None:
                return False, None
            for name in sorted(written_params(plan.program)):
                run.fetched(name, call.given[name])
            return True, run.result(number, call.given)

    def kernels(self) -> Sequence[str]:
        """The text of the kernels of each version."""
        return [version.extra.text for version in self.versions()]
