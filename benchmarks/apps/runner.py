"""A run over the applications. In come names and settings; out comes a `Report` whose results hold an attempt for each
column: CPython, Numba, Cython, C, weft on one thread and on as many as the settings say.

Each attempt has a process of its own (`worker.py`), is compared with CPython's result first, and takes turns with the
others, as in `harness.runner`.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.apps.worker import CPYTHON, CYTHON, NUMBA, WEFT, WEFT_THREADS, C
from benchmarks.harness import environment, machine
from benchmarks.harness.job import Job
from benchmarks.harness.model import ABSENT, Attempt, KernelResult, Work
from benchmarks.harness.runner import Runner, scratch
from benchmarks.harness.session import Session

_WORKER = "benchmarks.apps.worker"
COLUMNS = (CPYTHON, NUMBA, CYTHON, C, WEFT, WEFT_THREADS)
FORM = "as written"
#: Seconds of a call from which on one repeat tells enough of anything but weft.
_LONG = 0.8


@dataclass
class ApplicationRunner(Runner):
    columns: tuple[str, ...] = COLUMNS
    single: dict[str, Any] = field(default_factory=dict)  # the machine's limits on one thread

    def limits(self) -> dict[str, Any]:
        self.single = machine.larger(self.single, machine.limits(1)) if self.single else machine.limits(1)
        return machine.limits(self.settings.threads)

    def work(self, name: str) -> Work | None:
        return None

    def fraction(self, result: KernelResult, limits: dict[str, Any]) -> float | None:
        return None

    def run_kernel(self, name: str) -> KernelResult:
        with scratch() as directory, contextlib.ExitStack() as stack:
            sessions: list[Session] = []
            absent: list[Attempt] = []
            for column in self.columns:
                if self.base(column) in self.absent:
                    absent.append(Attempt(column, FORM, ABSENT, self.absent[self.base(column)]))
                    continue
                sessions.append(self.begin(name, column, directory, stack))
                if column == CPYTHON and not sessions[0].alive:
                    break  # nobody's result could be checked
            self.take_turns(sessions)
            return KernelResult(name, (*(session.attempt for session in sessions), *absent))

    def base(self, column: str) -> str:
        """The framework whose environment a column runs in."""
        return {NUMBA: "numba", WEFT: "weft", WEFT_THREADS: "weft"}.get(column, "numpy")

    def begin(self, name: str, column: str, directory: Path, stack: contextlib.ExitStack) -> Session:
        self.progress.attempt(column, FORM)
        place = directory / column
        base = self.base(column)
        threads = self.settings.threads if column == WEFT_THREADS else 1
        python = self.pythons.get(base, sys.executable)
        settings = environment.variables(base, threads, place, self.tree(base), Path(python))
        if base in self.seeds and self.seeds[base].is_dir():
            shutil.copytree(self.seeds[base], place / environment.CACHE)
        job = Job(name, column, FORM, self.settings.size, threads, str(place), str(directory / "expected"))
        session = Session(job, python, settings, self.settings.limit, _WORKER)
        stack.callback(session.close)
        session.prepare()
        first = session.attempt.first_call
        if session.alive and column == CPYTHON and first is not None and first >= _LONG:
            session.attempt = replace(session.attempt, times=(first,))
        return session

    def enough(self, session: Session) -> bool:
        long = self.base(session.job.framework) != "weft" and sum(session.attempt.times) >= _LONG
        return long or super().enough(session)

    def finish(self, session: Session) -> None:
        session.close()
