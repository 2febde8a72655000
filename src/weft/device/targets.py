"""The kinds of devices.  A `DeviceTarget` names its dialect and its device's module; a new one is such a module with an
object `TARGET`, and a line in `weft.registry`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import Any

from weft import registry, targets
from weft.device import lower
from weft.device.dialect import Dialect
from weft.device.plan import Refused
from weft.errors import CompileError
from weft.ir.program import Program, Space
from weft.limits import LIMIT
from weft.options import Options
from weft.targets import Target


class DeviceTarget(Target):
    """`module` has `current()`, the device that kernels run on, and `devices()`, all that there are."""

    space = Space.DEVICE
    apart = True
    lowering = lower.LOWERING
    limits = MappingProxyType({name: limit.default for name, limit in LIMIT.items()})  # a kernel has no table to ask

    def __init__(self, name: str, dialect: Dialect, module: str) -> None:
        self.name, self.dialect, self.module = name, dialect, module

    def current(self) -> Any:
        return importlib.import_module(self.module).current()

    def devices(self) -> list[Any]:
        return list(importlib.import_module(self.module).devices())

    def missing(self) -> CompileError | None:
        try:
            self.current()
        except Refused as problem:
            return CompileError(str(problem), "`weft doctor` shows the devices of this machine")
        return None

    def why_not(self, program: Program) -> str | None:
        from weft.device.split import split

        try:
            split(program)
        except Refused as problem:
            return str(problem)
        return None

    def generate(self, program: Program, options: Options) -> str:
        """The text of the kernels of a lowered program."""
        from weft.device.split import split

        plan = split(program, options.fp == "strict")
        return self.dialect.unit(plan.helpers, plan.kernels)

    def function(self, function: Callable[..., Any], options: Options) -> Any:
        from weft.device.function import DeviceFunction

        return DeviceFunction(function, options)


class _Auto(Target):
    """The CPU or the first accelerator, whichever the clock prefers."""

    name = "auto"
    space = Space.DEVICE
    apart = True

    def function(self, function: Callable[..., Any], options: Options) -> Any:
        from weft.device.function import AutoFunction

        return AutoFunction(function, options)


AUTO = _Auto()


def all_devices() -> Iterator[DeviceTarget]:
    """The targets that are devices, in the order of the registry."""
    for name in registry.names("target"):
        target = targets.find(name)
        if isinstance(target, DeviceTarget):
            yield target


def device_of(name: str) -> Any:
    """The device of a target, for users: what is missing is an error that says what to do."""
    known = {target.name: target for target in all_devices()}
    if name not in known:
        raise ValueError(f"target {name!r} is not one of {', '.join(known)}")
    problem = known[name].missing()
    if problem is not None:
        raise problem
    return known[name].current()


def accelerator() -> DeviceTarget | None:
    """The first target with a device that is more than this machine's own processor."""
    for target in all_devices():
        try:
            device = target.current()
        except Refused:
            continue
        if not device.is_processor:
            return target
    return None
