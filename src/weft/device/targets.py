"""The kinds of devices.  A `Target` names its dialect and finds its device; a new one is a module and a line here."""

from __future__ import annotations

import importlib
from typing import Any

from weft.device.dialect import CUDA, OPENCL, Dialect
from weft.device.plan import Refused
from weft.records import dataclass


@dataclass(frozen=True)
class Target:
    """`module` has `current()`, the device that kernels run on, and `devices()`, all that there are."""

    name: str
    dialect: Dialect
    module: str

    def current(self) -> Any:
        return importlib.import_module(self.module).current()

    def devices(self) -> list[Any]:
        return list(importlib.import_module(self.module).devices())


TARGETS = {
    target.name: target
    for target in (
        Target("opencl", OPENCL, "weft.device.opencl"),
        Target("cuda", CUDA, "weft.device.cuda"),
    )
}


def device_of(name: str) -> Any:
    """The device of a target, for users: what is missing is an error that says what to do."""
    if name not in TARGETS:
        raise ValueError(f"target {name!r} is not one of {', '.join(TARGETS)}")
    try:
        return TARGETS[name].current()
    except Refused as problem:
        from weft.errors import CompileError

        raise CompileError(str(problem), "`weft doctor` shows the devices of this machine") from problem


def accelerator() -> Target | None:
    """The first target with a device that is more than this machine's own processor."""
    for target in TARGETS.values():
        try:
            device = target.current()
        except Refused:
            continue
        if not device.is_processor:
            return target
    return None
