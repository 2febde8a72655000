"""A timeline of ranks.  In: what each rank notes of its stages and messages; out: one file in the format of Chrome's
trace viewer, with a row for each rank: computing, transfers that are waited for, and the time between them.

`with` is collective: clocks start together behind a barrier, and at the end rank 0 writes what all have noted.
"""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any

from weft.cluster import mpi_world


class MpiTrace:
    """`with MpiTrace(path):` records all calls on ranks inside it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.events: list[mpi_world.Event] = []
        self._start = 0.0

    def __enter__(self) -> MpiTrace:
        world = mpi_world.world()
        world.barrier()
        self._start = perf_counter()
        world.events = self.events
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        world = mpi_world.world()
        world.events = None
        if kind is not None:
            return  # other ranks may not come here
        own = [(name, start - self._start, end - self._start, size) for name, start, end, size in self.events]
        everyone = world.allgather(own)
        if world.rank == 0:
            found = [entry for rank, events in enumerate(everyone) for entry in _row(rank, events)]
            text = json.dumps({"traceEvents": found, "displayTimeUnit": "ms"})
            self.path.write_text(text, encoding="utf-8")
        world.barrier()


def _row(rank: int, events: list[mpi_world.Event]) -> list[dict[str, Any]]:
    """The entries of one rank: what it did, and where it did nothing of a call."""
    events = sorted(events, key=lambda event: event[1])
    gaps = [("idle", one[2], other[1], 0) for one, other in itertools.pairwise(events) if other[1] > one[2]]
    row = f"rank {rank}"
    return [
        {
            "name": name, "ph": "X", "pid": row, "tid": row, "ts": start * 1e6, "dur": (end - start) * 1e6,
            "args": {"bytes": size} if size else {},
        }
        for name, start, end, size in (*events, *gaps)
    ]  # fmt: skip
