"""A timeline of a run.  In: what the driver and the workers of an engine note; out: a file in the format of Chrome's
trace viewer: tasks by worker, transfers, waiting.
"""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from time import perf_counter, time
from types import TracebackType
from typing import Any


class Trace:
    """`with Trace(path):` records all distributed calls inside it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.events: list[dict[str, Any]] = []
        self._offset = 0.0

    def __enter__(self) -> Trace:
        from weft.cluster import ray_engine

        self._offset = time() - perf_counter()
        self._engine = ray_engine.engine()
        self._engine.observer = self.note
        self._engine.timings = []
        return self

    def note(self, kind: str, text: str, start: float, end: float) -> None:
        """Something that the driver did."""
        self.add(kind, "driver", start + self._offset, end + self._offset, {"what": text})

    def add(self, name: str, row: str, start: float, end: float, more: dict[str, Any]) -> None:
        when = {"ts": start * 1e6, "dur": (end - start) * 1e6}
        self.events.append({"name": name, "ph": "X", "pid": row, "tid": row, **when, "args": more})

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        timings = self._engine.timings or []
        self._engine.observer = None
        self._engine.timings = None
        for timing in self._engine.get(timings) if kind is None else ():
            if timing is not None:
                self.add(timing.name, timing.place, timing.start, timing.end, {"loading": timing.loading})
        self._idle()
        text = json.dumps({"traceEvents": self.events, "displayTimeUnit": "ms"})
        self.path.write_text(text, encoding="utf-8")

    def _idle(self) -> None:
        """The time between the tasks of a worker."""
        rows: dict[str, list[dict[str, Any]]] = {}
        for event in self.events:
            if event["pid"] != "driver":
                rows.setdefault(event["pid"], []).append(event)
        for row, events in rows.items():
            events.sort(key=lambda event: event["ts"])
            for before, after in itertools.pairwise(events):
                end = before["ts"] + before["dur"]
                if after["ts"] > end:
                    self.add("idle", row, end / 1e6, after["ts"] / 1e6, {})
