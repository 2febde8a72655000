"""The progress of a search.  In: how many candidates were tried and the best time; out: a bar, if stderr is a terminal
(or one is asked for) and rich is installed, or below a notebook's cell; else a line for each improvement, if asked for,
or nothing.
"""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any

from weft.runtime.progress import below


class Bar:
    """A context manager around a search."""

    def __init__(self, name: str, seconds: float, wanted: bool | None) -> None:
        self.name, self.seconds = name, seconds
        self.below = None if wanted is False else below()
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self.best, self.count, self.start = 0.0, 0, perf_counter()
        self.bar: Any = None
        self.task: Any = None

    def __enter__(self) -> Bar:
        if self.wanted and self.below is None:
            try:
                from rich.console import Console
                from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
            except ImportError:
                return self
            columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
            self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self.bar.start()
            self.task = self.bar.add_task(f"tuning {self.name}", total=self.seconds)
        return self

    def better(self, seconds: float) -> None:
        """A new best time of a call."""
        self.best = seconds
        if self.bar is None and self.wanted and self.below is None:
            print(f"tuning {self.name}: {1e3 * seconds:.4g} ms", file=sys.stderr)
        self.tried(self.count)

    def tried(self, count: int) -> None:
        self.count = count
        text = f"tuning {self.name}: {count} tried, best {1e3 * self.best:.4g} ms"
        spent = min(perf_counter() - self.start, self.seconds)
        if self.below is not None:
            self.below.bar(text, spent, self.seconds)
        elif self.bar is not None:
            self.bar.update(self.task, completed=spent, description=text)

    def __exit__(self, *problem: object) -> None:
        if self.below is not None:
            self.below.erase()
        elif self.bar is not None:
            self.bar.stop()
