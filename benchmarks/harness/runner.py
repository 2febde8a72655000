"""A run. In come kernels, frameworks and settings; out comes a `Report`, kernel by kernel.

For each kernel NumPy goes first: everybody's result is compared with its own. Every attempt has a process of its own,
which compiles, calls once and is checked; then those that are right take turns on the clock, so that a noisy neighbour
hurts all of them alike. Where the arguments of all of them together would fill the memory, each finishes alone.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from benchmarks.harness import environment, machine
from benchmarks.harness.job import Job
from benchmarks.harness.model import ABSENT, Attempt, KernelResult, Report, Work
from benchmarks.harness.peers import PLAIN, framework_of
from benchmarks.harness.session import Session

TURNS = 5
#: Times an attempt's arguments: the originals, the copies of a repeat, results and what the framework needs.
_MEMORY_FACTOR = 4
_LOAD_CORE = "from weft.runtime import dispatch; dispatch.load_core()"


class Progress(Protocol):
    def say(self, text: str) -> None: ...
    def kernel(self, name: str) -> None: ...
    def attempt(self, framework: str, form: str) -> None: ...
    def finished(self, result: KernelResult) -> None: ...


@dataclass(frozen=True)
class Settings:
    size: str = "M"
    threads: int = 2
    seconds: float = 1.5  # of repeats, for each attempt
    limit: float = 60.0  # for a first call, and for any other


@dataclass
class Runner:
    settings: Settings
    frameworks: tuple[str, ...]  # columns, NumPy first
    progress: Progress
    trees: dict[str, Path] = field(default_factory=dict)  # checkouts of other commits, by column
    pythons: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    seeds: dict[str, Path] = field(default_factory=dict)  # caches that hold weft's own native core and nothing else

    def find_frameworks(self) -> None:
        """An interpreter for every framework; the reason for those that have none."""
        for name in self.frameworks:
            python, reason = environment.interpreter(framework_of(name), self.progress.say)
            if python is None:
                self.absent[name] = reason
                self.progress.say(f"{name}: {reason}")
            else:
                self.pythons[name] = python

    def report(self, kernels: Sequence[str], known: dict[str, KernelResult], keep: Callable[[Report], None]) -> Report:
        """Run the kernels that are not `known` already; `keep` is called with what is there after each."""
        with scratch() as seeds:
            self.find_frameworks()
            self.seed_caches(seeds)
            return self._report(kernels, known, keep)

    def _report(self, kernels: Sequence[str], known: dict[str, KernelResult], keep: Callable[[Report], None]) -> Report:
        report = Report(
            self.frameworks,
            (),
            settings=vars(self.settings) | {"turns": TURNS},
            machine=machine.description(),
            versions=machine.versions({framework_of(name).package: python for name, python in self.pythons.items()}),
            commit=machine.commit(),
        )
        self.progress.say("measuring the machine's limits")
        limits = self.limits()
        report.machine["limits"] = limits
        for name in kernels:
            result = known.get(name)
            if result is None:
                self.progress.kernel(name)
                result = self.run_kernel(name)
                result = replace(result, work=self.work(name))
            result = replace(result, fraction=self.fraction(result, limits))
            report = replace(report, kernels=(*report.kernels, result))
            keep(report)
            self.progress.finished(result)
        # The machine may have been busy at the start: a limit is the most that was ever reached.
        report.machine["limits"] = machine.larger(limits, self.limits())
        limits = report.machine["limits"]
        done = tuple(replace(result, fraction=self.fraction(result, limits)) for result in report.kernels)
        report = replace(report, kernels=done)
        keep(report)
        return report

    def limits(self) -> dict[str, Any]:
        return machine.limits(self.settings.threads)

    def work(self, name: str) -> Work | None:
        return machine.work(name, self.settings.size)

    def fraction(self, result: KernelResult, limits: dict[str, Any]) -> float | None:
        """Of the machine's limit."""
        return machine.fraction(result.work, limits, result.seconds("weft"))

    def seed_caches(self, directory: Path) -> None:
        """Build weft's dispatcher once for each tree: it belongs to the installation, not to a first call."""
        for name in self.frameworks:
            if framework_of(name).name == "weft" and name in self.pythons:
                place = directory / name
                settings = environment.variables(name, 1, place, self.tree(name), Path(self.pythons[name]))
                subprocess.run([self.pythons[name], "-c", _LOAD_CORE], env=settings, cwd=environment.ROOT, check=False)
                self.seeds[name] = place / environment.CACHE

    def tree(self, framework: str) -> Path:
        return self.trees.get(framework, environment.ROOT)

    def run_kernel(self, name: str) -> KernelResult:
        with scratch() as directory, contextlib.ExitStack() as stack:
            sessions: list[Session] = []
            absent: list[Attempt] = []
            alone = False
            for framework in self.frameworks:
                if framework in self.absent:
                    absent.append(Attempt(framework, PLAIN, ABSENT, self.absent[framework]))
                    continue
                for forms in framework_of(framework).rounds:
                    tried = [self.start(name, framework, form, directory, stack) for form in forms]
                    sessions += tried
                    if any(session.alive for session in tried):
                        break
                if framework == "numpy":
                    alone = not self.all_fit(sessions[0])
                    if not sessions[0].alive:
                        break  # nobody's result could be checked
                if alone:
                    self.take_turns(tried)
            if not alone:
                self.take_turns(sessions)
            return KernelResult(name, (*(session.attempt for session in sessions), *absent))

    def start(self, kernel: str, framework: str, form: str, directory: Path, stack: contextlib.ExitStack) -> Session:
        """A session that has compiled and checked its kernel, or failed; `stack` ends it in any case."""
        self.progress.attempt(framework, form)
        place = directory / f"{framework}-{form}".replace(" ", "-").replace(",", "")
        python = self.pythons.get(framework, sys.executable)
        settings = environment.variables(framework, self.settings.threads, place, self.tree(framework), Path(python))
        if framework in self.seeds and self.seeds[framework].is_dir():
            shutil.copytree(self.seeds[framework], place / environment.CACHE)
        job = Job(
            kernel, framework, form, self.settings.size, self.settings.threads, str(place), str(directory / "expected")
        )
        session = Session(job, python, settings, self.settings.limit)
        stack.callback(session.close)
        session.prepare()
        return session

    def take_turns(self, sessions: Sequence[Session]) -> None:
        share = self.settings.seconds / TURNS
        for _ in range(TURNS):
            for session in sessions:
                if session.alive and not self.enough(session):
                    self.take_turn(session, share)
        for session in sessions:
            self.finish(session)

    def take_turn(self, session: Session, seconds: float) -> None:
        session.turn(seconds)

    def enough(self, session: Session) -> bool:
        """A slow one has had its seconds before the others; two calls it has in any case."""
        return sum(session.attempt.times) >= self.settings.seconds and len(session.attempt.times) >= 2

    def finish(self, session: Session) -> None:
        if session.alive and session.attempt.best < self.settings.limit / 2:
            session.measure_memory()
        session.close()

    def all_fit(self, reference: Session) -> bool:
        """Whether the arguments of every attempt can be held at once."""
        attempts = sum(max(map(len, framework_of(name).rounds)) for name in self.frameworks)
        return attempts * _MEMORY_FACTOR * reference.argument_bytes < environment.memory() / 2


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="weft-bench-"))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)
