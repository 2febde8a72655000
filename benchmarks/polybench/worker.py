"""One attempt at a PolyBench kernel, in a process of its own: `harness.worker` over the forms of this collection.

For weft the clock also stands inside the kernel: from lists, the times are those of the kernel, and what a call takes
besides is the conversion; what the first call takes besides is compiling.
"""

from __future__ import annotations

import hashlib
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from benchmarks.harness.job import Job, Prepared
from benchmarks.harness.worker import MOST_REPEATS, Worker, main
from benchmarks.kernels.registry import Arguments, agree, copies
from benchmarks.polybench import textbook
from benchmarks.polybench.clock import Clock
from benchmarks.polybench.registry import LISTS, OPERATORS, Kernel, load, nested
from benchmarks.polybench.schedule import signature

NUMPY, CPYTHON, SERIAL, OPENMP, WEFT = "numpy", "cpython", "c", "c-openmp", "weft"
#: Calls in a turn, unless they take so many seconds: the first one finds the data of other processes in the caches.
_AT_LEAST = 3
_LONG = 0.5


class FormWorker(Worker):
    def __init__(self, job: Job, out: TextIO) -> None:
        self.kernel: Kernel = load(job.kernel)
        super().__init__(job, out)
        self.clock: Clock | None = None
        self.compiled: Any = None
        self.start_up = 0.0
        self.besides: list[float] = []  # of each call: seconds outside of the kernel

    def now(self) -> float:
        """Seconds on the wall, or of the processor: this process and the compilers that it has run."""
        if not self.job.processor_time:
            return time.perf_counter()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + used.ru_utime + used.ru_stime

    def described(self) -> Kernel:
        return self.kernel

    def preparing(self) -> Callable[[Job, Any, Arguments], Prepared]:
        if self.job.framework == WEFT:
            self._load_weft()
            return self._weft
        return self._c if self.job.framework in (SERIAL, OPENMP) else self._plain

    def _load_weft(self) -> None:
        """A compiler is loaded once for a process: this is no part of what a kernel's first call takes."""
        from weft.api import jit

        start = time.perf_counter()
        jit(fallback="error")(_other)([1.0, 2.0])
        self.start_up = time.perf_counter() - start
        self.clock = Clock(self.job.path, self.job.processor_time)

    def _weft(self, job: Job, kernel: Kernel, sample: Arguments) -> Prepared:
        from weft.api import jit

        self.compiled = jit(fallback="error")(kernel.forms[job.form])
        return self._prepared(lambda staged: self._counted(self.compiled, staged))

    def _plain(self, job: Job, kernel: Kernel, sample: Arguments) -> Prepared:
        function = kernel.forms[job.form]
        return self._prepared(lambda staged: function(*staged))

    def _prepared(self, call: Callable[[Any], Any]) -> Prepared:
        if self.job.form != LISTS:
            return Prepared(call)
        return Prepared(call, stage=lambda arguments: tuple(nested(value) for value in arguments))

    def _c(self, job: Job, kernel: Kernel, sample: Arguments) -> Prepared:
        function = textbook.build(kernel.name, job.path, parallel=job.framework == OPENMP)
        size, shapes = kernel.sizes[job.size], kernel.shapes(job.size)

        def stage(arguments: Arguments) -> Any:
            return arguments, textbook.results(shapes, arguments)

        def finish(value: Any, staged: Any) -> tuple[Any, Arguments]:
            arguments, returned = staged
            return (None if not returned else returned[0] if len(returned) == 1 else returned), arguments

        return Prepared(lambda staged: function(size, *staged[0], *staged[1]), stage=stage, finish=finish)

    def _counted(self, function: Callable[..., Any], staged: Any) -> Any:
        assert self.clock is not None
        self.clock.take()
        start = self.now()
        value = function(*staged)
        self.besides.append(self.now() - start - self.clock.take())
        return value

    def turn(self, prepared: Prepared, seconds: float) -> list[float]:
        converted = self.job.framework == WEFT and self.job.form == LISTS
        times: list[float] = []
        deadline = time.perf_counter() + seconds
        while (
            not times
            or (len(times) < _AT_LEAST and sum(times) < _LONG)
            or (time.perf_counter() < deadline and len(times) < MOST_REPEATS)
        ):
            staged = prepared.stage(copies(self.arguments))
            start = self.now()
            value = prepared.call(staged)
            times.append(self.now() - start - (self.besides[-1] if converted else 0.0))
            del value, staged
        return times

    def check(self, value: Any, arguments: Arguments) -> str:
        if self.job.framework != CPYTHON:
            return super().check(value, arguments)
        # CPython is measured at a size of its own, where NumPy has left no result.
        given = self.kernel.arguments(self.job.size)
        expected = self.kernel.forms[OPERATORS](*given)
        right = agree((value, arguments), (expected, given), self.kernel.tolerance)
        return "" if right else "the result differs from NumPy's"

    def facts(self) -> dict[str, Any]:
        if self.compiled is None:
            return {}
        from weft.ir.text import show

        first, *later = self.besides
        around = min(later) if later else 0.0
        version = self.compiled._pick(None)
        plan = signature(version.program_lowered, self.arguments)
        if keep := self.job.keep:
            place = Path(keep)
            place.mkdir(parents=True, exist_ok=True)
            stem = f"{self.kernel.name}-{self.job.form}"
            (place / f"{stem}.c").write_text(self.compiled.inspect("c"), encoding="utf-8")
            (place / f"{stem}.ir").write_text(show(version.program_lowered), encoding="utf-8")
            (place / f"{stem}.schedule").write_text(plan, encoding="utf-8")
        return {
            "compile": first - around,
            "start_up": self.start_up,
            "conversion": around if self.job.form == LISTS else 0.0,
            "schedule": hashlib.sha256(plan.encode()).hexdigest(),
            "stages": version.seconds,
        }


def _other(values):
    return values[0] + values[1]


if __name__ == "__main__":
    sys.exit(main(FormWorker))
