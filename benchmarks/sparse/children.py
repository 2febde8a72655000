"""The processes that measure. In come a pattern, a size, a number of threads and names of programs; out comes what
`measure.py` says of each of them, or what became of it: a process that takes too long for a program is ended, and
another one goes on behind that program.
"""

from __future__ import annotations

import json
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from benchmarks.harness import environment

#: Seconds to import everything, and for a million rows to be made.
START = 30.0


@dataclass(frozen=True)
class Asked:
    pattern: str
    rows: int
    each: int
    threads: int

    def empty(self, program: str, problem: str) -> dict[str, Any]:
        return {"program": program, **asdict(self), "columns": {}, "problem": problem}


def answers(
    asked: Asked, names: Mapping[str, Sequence[str]], seconds: float, limit: float, until: float, directory: Path
) -> Iterator[dict[str, Any]]:
    """A result for each name, without the columns it maps to. `limit`: seconds a program; `until`: the end of all."""
    waiting = dict(names)
    while waiting:
        for result in _of_one_process(asked, dict(waiting), seconds, limit, until, directory):
            del waiting[result["program"]]
            yield result


def _of_one_process(
    asked: Asked, names: Mapping[str, Sequence[str]], seconds: float, limit: float, until: float, directory: Path
) -> Iterator[dict[str, Any]]:
    """Results as long as the process gives some; for the last one it may be what went wrong."""
    settings = environment.variables("weft", asked.threads, directory, environment.ROOT, Path(sys.executable))
    settings["NUMBA_CACHE_DIR"] = str(directory / "numba")
    numbers = [asked.pattern, str(asked.rows), str(asked.each), str(seconds)]
    programs = ["/".join((name, *without)) for name, without in names.items()]
    command = [sys.executable, "-m", "benchmarks.sparse.measure", *numbers, *programs]
    with tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen(command, env=settings, stdout=subprocess.PIPE, stderr=said, text=True)
        assert child.stdout is not None
        try:
            allowed = limit + START
            for name in names:
                left = until - time.monotonic()
                if left <= 0:
                    yield asked.empty(name, "left out: the time was up")
                    continue
                line = _line(child.stdout, min(allowed, left))
                if line is None:
                    why = "left out: the time was up" if left < allowed else f"more than {limit:.0f} s"
                    yield asked.empty(name, why)
                    return
                if not line:
                    child.wait()
                    said.seek(0)
                    words = said.read().strip().splitlines() or [f"it ended with {child.returncode}"]
                    yield asked.empty(name, words[-1][:300])
                    return
                yield dict(json.loads(line))
                allowed = limit
        finally:
            child.kill()
            child.wait()
            child.stdout.close()


def _line(stream: IO[str], seconds: float) -> str | None:
    """The next line; nothing at the end, None if it takes too long. The process writes whole lines."""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        return stream.readline() if selector.select(seconds) else None
