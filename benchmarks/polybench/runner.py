"""A run over PolyBench. In come kernels and settings; out comes a `Report` whose results hold an attempt for each
column: NumPy's operators, textbook C serial and with OpenMP, weft from each form, and CPython's lists at size "M".

Each attempt has a process of its own (`worker.py`), is compared with NumPy's result first, and takes turns with the
others, as in `harness.runner`.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.harness import environment, machine
from benchmarks.harness.job import Job
from benchmarks.harness.limits import PROCESSOR_TIME, bandwidth_at
from benchmarks.harness.model import Attempt, KernelResult, Work
from benchmarks.harness.runner import Runner, scratch
from benchmarks.harness.session import Session
from benchmarks.polybench.registry import FORMS, LISTS, OPERATORS, load
from benchmarks.polybench.worker import CPYTHON, NUMPY, OPENMP, SERIAL, WEFT

_WORKER = "benchmarks.polybench.worker"
TEXTBOOK = "textbook"
#: Every measured pair of who runs and what, the reference first.
COLUMNS = ((NUMPY, OPERATORS), (SERIAL, TEXTBOOK), (OPENMP, TEXTBOOK), *((WEFT, form) for form in FORMS))
#: CPython needs some hundred times longer than C: it runs at this size, and its time is scaled by the operations.
SMALLER = "M"
#: Seconds of a call from which on its first repeat, or the first call of what compiles beforehand, tells enough.
_LONG = 0.8
#: Seconds before a turn: the threads of a library or of OpenMP in the process before may go on spinning for a while.
_PAUSE = 0.15


@dataclass
class FormRunner(Runner):
    forms: tuple[str, ...] = FORMS
    default: bool = True  # whether CPython's lists are measured
    keep: str = ""  # a directory for generated code
    processor_time: bool = False  # on one thread of a busy machine
    _learned: dict[str, dict[str, Any]] = field(default_factory=dict)

    def limits(self) -> dict[str, Any]:
        return machine.limits(self.settings.threads, *([PROCESSOR_TIME] if self.processor_time else []))

    def work(self, name: str) -> Work:
        kernel = load(name)
        return Work(kernel.work(self.settings.size), kernel.moved(self.settings.size) or 0.0)

    def fraction(self, result: KernelResult, limits: dict[str, Any]) -> float | None:
        """Products against the measured product, everything that streams against the bandwidth of its working set; more
        than 1 for a stencil whose steps share the cache.
        """
        taken, kernel = best_weft(result), load(result.kernel)
        if taken is None or not limits or result.work is None or result.work.operations is None:
            return None
        if kernel.traffic is None:
            return float(result.work.operations / taken / limits["double"])
        return result.work.bytes / taken / bandwidth_at(limits["bandwidth"], result.notes["bytes"])

    def run_kernel(self, name: str) -> KernelResult:
        self._learned = {}
        with scratch() as directory, contextlib.ExitStack() as stack:
            columns = [column for column in COLUMNS if self.wanted(*column)]
            sessions: list[Session] = []
            alone = False
            for framework, form in columns:
                session = self.begin(name, framework, form, self.settings.size, directory, stack)
                sessions.append(session)
                if framework == NUMPY:
                    alone = not self.together(session, len(columns))
                    if not session.alive:
                        break
                if alone:
                    self.take_turns([session])
            if not alone:
                self.take_turns(sessions)
            attempts = [session.attempt for session in sessions]
            if self.default:
                attempts.append(self.cpython(name, directory, stack))
            notes = {**self._learned, "bytes": sessions[0].argument_bytes}
            return KernelResult(name, tuple(attempts), notes=notes)

    def wanted(self, framework: str, form: str) -> bool:
        if framework == OPENMP:
            return self.settings.threads > 1
        return framework != WEFT or form in self.forms

    def begin(
        self, name: str, framework: str, form: str, size: str, directory: Path, stack: contextlib.ExitStack
    ) -> Session:
        self.progress.attempt(framework, form)
        place = directory / f"{framework}-{form}"
        base = WEFT if framework == WEFT else NUMPY
        python = self.pythons.get(base, sys.executable)
        settings = environment.variables(base, self.settings.threads, place, self.tree(base), Path(python))
        if framework == WEFT and WEFT in self.seeds and self.seeds[WEFT].is_dir():
            shutil.copytree(self.seeds[WEFT], place / environment.CACHE)
        job = Job(
            kernel=name,
            framework=framework,
            form=form,
            size=size,
            threads=self.settings.threads,
            directory=str(place),
            expected=str(directory / "expected"),
            keep=self.keep,
            processor_time=self.processor_time,
        )
        session = Session(job, python, settings, self.settings.limit, _WORKER)
        stack.callback(session.close)
        session.prepare()
        first, compiled = session.attempt.first_call, session.attempt.compile_seconds
        if session.alive and framework != WEFT and first is not None and compiled is not None:
            if first - compiled >= _LONG:
                session.attempt = replace(session.attempt, times=(first - compiled,))
        return session

    def together(self, reference: Session, count: int) -> bool:
        """Whether the arguments of every attempt can be held at once; as lists they need five times the memory."""
        held = 4 * count * reference.argument_bytes + (16 * reference.argument_bytes if LISTS in self.forms else 0)
        return held < environment.memory() / 2

    def take_turn(self, session: Session, seconds: float) -> None:
        if self.settings.threads > 1:
            time.sleep(_PAUSE)
        super().take_turn(session, seconds)

    def enough(self, session: Session) -> bool:
        """Others than weft may take seconds for a call: one tells enough."""
        long = session.job.framework != WEFT and sum(session.attempt.times) >= _LONG
        return long or super().enough(session)

    def finish(self, session: Session) -> None:
        if session.alive and session.job.framework == WEFT:
            session.learn_facts()
            self._learned[session.job.form] = session.facts
        session.close()

    def cpython(self, name: str, directory: Path, stack: contextlib.ExitStack) -> Attempt:
        """The first call of plain Python on lists, scaled to the size of the run."""
        session = self.begin(name, CPYTHON, LISTS, SMALLER, directory, stack)
        attempt, alive = session.attempt, session.alive
        session.close()
        if not alive or attempt.first_call is None:
            return attempt
        kernel = load(name)
        scale = kernel.work(self.settings.size) / kernel.work(SMALLER)
        self._learned[CPYTHON] = {"measured": attempt.first_call, "size": SMALLER, "scale": scale}
        return replace(attempt, times=(attempt.first_call * scale,))


def seconds(result: KernelResult, framework: str, form: str | None = None) -> float | None:
    """The least time of a column."""
    found = (one for one in result.of(framework) if form is None or one.form == form)
    attempt = next(found, None)
    return attempt.best if attempt is not None and attempt.right else None


def best_c(result: KernelResult) -> float | None:
    """The better of textbook C without and with threads."""
    return min((one for one in (seconds(result, SERIAL), seconds(result, OPENMP)) if one is not None), default=None)


def best_weft(result: KernelResult) -> float | None:
    return min((one for form in FORMS if (one := seconds(result, WEFT, form)) is not None), default=None)
