"""One attempt, in a process of its own. In come a job as the argument and commands on stdin; out come events, a JSON
object a line: what was compiled, how long the first call took, whether the result is NumPy's, then times on request.

Whatever a framework prints goes to stderr. This module and what it imports need no more than NumPy, since it also runs
in environments that hold nothing else.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import sys
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TextIO

import numpy as np

from benchmarks.harness import memory
from benchmarks.harness.job import Job, Nothing, Prepared
from benchmarks.harness.peers import framework_of
from benchmarks.kernels import load
from benchmarks.kernels.registry import Arguments, agree, copies

MOST_REPEATS = 300


class Described(Protocol):
    """What a worker has to know of a kernel."""

    @property
    def tolerance(self) -> float: ...

    def arguments(self, size: str) -> Arguments: ...


class Worker:
    def __init__(self, job: Job, out: TextIO) -> None:
        self.job = job
        self.out = out
        self.benchmark = self.described()
        self.arguments = self.benchmark.arguments(job.size)

    def described(self) -> Described:
        """What is to be measured; another collection of kernels has another worker."""
        return load(self.job.kernel, hand=self.job.framework.startswith("numba"))

    def preparing(self) -> Callable[[Job, Any, Arguments], Prepared]:
        """What compiles, with everything loaded that is no part of the first call."""
        framework = framework_of(self.job.framework)
        import_module(framework.package)
        return framework.prepare()

    def say(self, event: str, **facts: Any) -> None:
        self.out.write(json.dumps({"event": event, **facts}) + "\n")
        self.out.flush()

    def now(self) -> float:
        return time.perf_counter()

    def run(self, commands: TextIO) -> None:
        prepare = self.preparing()
        self.say("arguments", bytes=_size(self.arguments))
        memory.reset_peak()
        level = memory.resident()
        start = self.now()
        prepared = prepare(self.job, self.benchmark, self.arguments)
        compiled = self.now() - start
        self.say("compiled", seconds=compiled, origin=prepared.origin)
        staged = prepared.stage(copies(self.arguments))
        start = self.now()
        value = prepared.call(staged)
        first = self.now() - start
        self.say("first", seconds=compiled + first, memory=max(0, memory.peak() - level))
        complaint = self.check(*prepared.finish(value, staged))
        del value, staged
        if complaint:
            self.say("wrong", reason=complaint)
            return
        self.say("right")
        for line in commands:
            command, _, amount = line.strip().partition(" ")
            if command == "turn":
                self.say("times", seconds=self.turn(prepared, float(amount)))
            elif command == "memory":
                self.say("memory", bytes=self.one_peak(prepared))
            elif command == "facts":
                self.say("facts", facts=self.facts())
            else:
                return

    def turn(self, prepared: Prepared, seconds: float) -> list[float]:
        """Repeats, each on fresh arguments: what a kernel does in place must not change the next one's work."""
        times: list[float] = []
        deadline = time.perf_counter() + seconds
        while not times or (time.perf_counter() < deadline and len(times) < MOST_REPEATS):
            staged = prepared.stage(copies(self.arguments))
            start = time.perf_counter()
            value = prepared.call(staged)
            times.append(time.perf_counter() - start)
            del value, staged
        return times

    def facts(self) -> dict[str, Any]:
        """What else is known about the attempt."""
        return {}

    def one_peak(self, prepared: Prepared) -> int:
        """The largest memory of one call above what the process held before it."""
        staged = prepared.stage(copies(self.arguments))
        gc.collect()
        memory.reset_peak()
        level = memory.resident()
        value = prepared.call(staged)
        most = memory.peak()
        del value
        return max(0, most - level)

    def check(self, value: Any, arguments: Arguments) -> str:
        """Empty if this is what NumPy gave; the reference itself writes that down."""
        path = Path(self.job.expected)
        if self.job.framework == "numpy":
            changed = {
                position: after
                for position, (after, before) in enumerate(zip(arguments, self.arguments))
                if isinstance(after, np.ndarray)
                and not np.array_equal(after, before, equal_nan=after.dtype.kind in "fc")
            }
            path.write_bytes(pickle.dumps((value, changed), protocol=4))
            return ""
        expected, changed = pickle.loads(path.read_bytes())
        if not agree(_plain(value, expected), expected, self.benchmark.tolerance):
            return "the result differs from NumPy's"
        for position, (after, before) in enumerate(zip(arguments, self.arguments)):
            wanted = changed.get(position, before)
            if isinstance(wanted, np.ndarray) and not agree(np.asarray(after), wanted, self.benchmark.tolerance):
                return f"argument {position} is left with other contents than by NumPy"
        return ""


def _plain(value: Any, like: Any) -> Any:
    """A result in NumPy's terms: frameworks may give a scalar as an array of one element, a tuple as a list."""
    if isinstance(like, tuple) and isinstance(value, (tuple, list)) and len(value) == len(like):
        return tuple(_plain(one, other) for one, other in zip(value, like))
    if like is None or value is None or isinstance(value, (tuple, list)):
        return value
    array = np.asarray(value)
    return array.reshape(()) if array.size == 1 and np.ndim(like) == 0 else array


def _size(arguments: Arguments) -> int:
    return sum(value.nbytes for value in arguments if isinstance(value, np.ndarray))


def main(make: Callable[[Job, TextIO], Worker] = Worker) -> int:
    # The events' channel is the stdout this process was given; everybody else's stdout becomes stderr.
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    job = Job.from_line(sys.argv[1])
    os.chdir(job.directory)
    worker: Worker | None = None
    try:
        worker = make(job, channel)
        worker.run(sys.stdin)
    except Exception as error:
        kind = "Nothing" if isinstance(error, Nothing) else type(error).__name__
        import traceback

        traceback.print_exc()
        channel.write(json.dumps({"event": "failed", "reason": f"{kind}: {error}"}) + "\n")
        channel.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
