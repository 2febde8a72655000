"""What a worker is told and what a peer gives back: the words that the processes of a run share."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.kernels.registry import Arguments, Benchmark

SAME, BY_RULE, BY_HAND = "same source", "port by rule", "port by hand"


class Nothing(Exception):
    """There is no form of this kernel for this framework."""


@dataclass(frozen=True)
class Job:
    kernel: str
    framework: str
    form: str
    size: str
    threads: int
    directory: str  # the worker's own, empty at the start
    expected: str  # the file with NumPy's results; written by the reference
    keep: str = ""  # a directory for generated code, if anybody wants it
    processor_time: bool = False  # rather than the time on the wall

    def to_line(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def from_line(line: str) -> Job:
        return Job(**json.loads(line))

    @property
    def path(self) -> Path:
        return Path(self.directory)


def _as_they_are(arguments: Arguments) -> Any:
    return arguments


def _in_place(value: Any, staged: Any) -> tuple[Any, Arguments]:
    return value, staged


@dataclass(frozen=True)
class Prepared:
    """A compiled kernel. Only `call` is timed: `stage` makes its arguments of NumPy's, `finish` gives back the value
    and the arguments as the call left them, as NumPy's.
    """

    call: Callable[[Any], Any]
    origin: str = SAME
    stage: Callable[[Arguments], Any] = _as_they_are
    finish: Callable[[Any, Any], tuple[Any, Arguments]] = _in_place


#: What each peer's module offers: a compiled kernel for a job, made of a benchmark and a sample of its arguments.
Prepare = Callable[[Job, Benchmark, Arguments], Prepared]
