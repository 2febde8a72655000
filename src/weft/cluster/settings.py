"""How a cluster is used.  In: keyword arguments of `weft.cluster.connect`; out: one frozen `Settings` for engines."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from weft.errors import OptionError

#: Bytes of an object store below which Ray does not start.
_LEAST_STORE = 75 << 20


@dataclass(frozen=True)
class Settings:
    """`address`: of a running cluster (None: RAY_ADDRESS, else one is started here with `num_cpus` processors).

    A task gets `cpus_per_task` processors, and its native code as many threads.  `rows`: elements along the cut axis
    in a tile (0: chosen by the size of the problem).  A call that one core does in less than `least_seconds` runs
    here (None: what was measured decides; 0: none does).  At most `in_flight_bytes` of results and `in_flight_tasks`
    tasks are asked for and not yet there.  `device`: "opencl" or "cuda"; each tile then asks for one, and runs
    its kernels there.
    """

    address: str | None = None
    num_cpus: int | None = None
    object_store_memory: int | None = None
    cpus_per_task: int = 1
    rows: int = 0
    least_seconds: float | None = None
    in_flight_bytes: int | None = None
    in_flight_tasks: int = 1000
    device: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.address, (str, type(None))):
            raise OptionError(f"address={self.address!r} is no text, such as 'head:6379'")
        if self.device not in ("", "opencl", "cuda"):
            raise OptionError(f"device={self.device!r} is not one of '', 'opencl', 'cuda'")
        for name in ("cpus_per_task", "in_flight_tasks"):
            _require(name, getattr(self, name), 1, int)
        for name in ("num_cpus", "in_flight_bytes"):
            if getattr(self, name) is not None:
                _require(name, getattr(self, name), 1, int)
        _require("rows", self.rows, 0, int)
        if self.least_seconds is not None:
            _require("least_seconds", self.least_seconds, 0, (int, float))
        if self.object_store_memory is not None:
            _require("object_store_memory", self.object_store_memory, _LEAST_STORE, int)


def _require(name: str, value: Any, least: int, kind: type | tuple[type, ...]) -> None:
    if not isinstance(value, kind) or isinstance(value, bool) or not float(value) >= least:  # type: ignore[arg-type]
        raise OptionError(f"{name}={value!r} is not a number of at least {least}")


_current = Settings()


def current() -> Settings:
    return _current


def change(given: dict[str, Any]) -> Settings:
    """New settings: those given, the others as they were."""
    global _current
    known = [field.name for field in fields(Settings)]
    unknown = [name for name in given if name not in known]
    if unknown:
        raise OptionError(f"unknown setting {unknown[0]!r}; the settings are {', '.join(known)}")
    _current = replace(_current, **given)
    return _current


def restore(settings: Settings) -> None:
    """The settings of before, all of them."""
    global _current
    _current = settings
