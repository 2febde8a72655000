"""What a person sees while a run goes on: on a terminal a bar that tells the kernel, the framework and the form in
hand, above it the finished kernels; in a pipe a line for each finished kernel.
"""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

from benchmarks.harness.model import KernelResult
from benchmarks.harness.table import line


class Lines:
    """For pipes and logs."""

    def __init__(self, frameworks: tuple[str, ...], total: int) -> None:
        self.frameworks = frameworks
        self.total = total
        self.done = 0

    def __enter__(self) -> Lines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def say(self, text: str) -> None:
        print(text, flush=True)

    def kernel(self, name: str) -> None:
        """A kernel begins: a log hears of it when it is finished."""

    def attempt(self, framework: str, form: str) -> None:
        """An attempt begins."""

    def finished(self, result: KernelResult) -> None:
        self.done += 1
        print(f"[{self.done}/{self.total}] {line(result, self.frameworks)}", flush=True)


class Bar(Lines):
    """For a terminal."""

    def __init__(self, frameworks: tuple[str, ...], total: int) -> None:
        super().__init__(frameworks, total)
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), transient=True
        )
        self._task: Any = self._bar.add_task("starting", total=total)
        self._name = ""

    def __enter__(self) -> Bar:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def say(self, text: str) -> None:
        self._bar.console.print(text, markup=False, highlight=False)

    def kernel(self, name: str) -> None:
        self._name = name
        self._bar.update(self._task, description=name)

    def attempt(self, framework: str, form: str) -> None:
        self._bar.update(self._task, description=f"{self._name}: {framework}, {form}")

    def finished(self, result: KernelResult) -> None:
        self.done += 1
        self.say(line(result, self.frameworks))
        self._bar.update(self._task, completed=self.done)


def progress(frameworks: tuple[str, ...], total: int) -> Lines:
    return (Bar if sys.stdout.isatty() else Lines)(frameworks, total)
