"""The parent's end of one attempt. In comes a job; out comes a process that has compiled and checked its kernel and
takes turns, or the reason why there is none. Every wait has a limit, and a process that passes it is ended with all
that it has started.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.harness.job import Job
from benchmarks.harness.model import CRASHED, OK, SLOW, WRONG, Attempt, classify

ROOT = Path(__file__).resolve().parents[2]
#: Importing a framework and making the arguments is no part of the first call, but it must end.
START_SECONDS = 300.0
WORKER = "benchmarks.harness.worker"


class _Stop(Exception):
    """The attempt is over: with this status and reason."""


class Session:
    """`attempt` is what is known so far; a session that is `alive` takes turns."""

    def __init__(
        self, job: Job, python: str, environment: Mapping[str, str], limit: float, worker: str = WORKER
    ) -> None:
        self.job = job
        self.limit = limit
        self.attempt = Attempt(job.framework, job.form, OK)
        self.argument_bytes = 0
        self.facts: dict[str, Any] = {}
        self.alive = True
        job.path.mkdir(parents=True, exist_ok=True)
        self._log = (job.path / "log.txt").open("w+", encoding="utf-8", errors="replace")
        self._process = subprocess.Popen(
            [python, "-m", worker, job.to_line()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            cwd=ROOT,
            env=dict(environment),
            start_new_session=True,
        )
        self._events: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def prepare(self) -> None:
        """Wait until the kernel is compiled, called and checked."""
        try:
            self.argument_bytes = self._next(("arguments",), START_SECONDS, "the arguments take")["bytes"]
            compiled = self._next(("compiled",), self.limit, "compiling takes")
            self.attempt = replace(self.attempt, compile_seconds=compiled["seconds"], origin=compiled["origin"])
            left = max(1.0, self.limit - compiled["seconds"])
            first = self._next(("first",), left, "the first call takes")
            self.attempt = replace(self.attempt, first_call=first["seconds"], memory_first=first["memory"])
            self._next(("right",), START_SECONDS, "the check takes")
        except _Stop:
            self.close()

    def turn(self, seconds: float) -> None:
        self._ask(f"turn {seconds}", "times", seconds)

    def measure_memory(self) -> None:
        self._ask("memory", "memory", 0.0)

    def learn_facts(self) -> None:
        """Whatever else this kind of worker can tell."""
        self._ask("facts", "facts", 0.0)

    def _ask(self, command: str, answer: str, seconds: float) -> None:
        try:
            self._write(command)
            event = self._next((answer,), self.limit + seconds, "a call takes")
        except _Stop:
            self.close()
            return
        if answer == "times":
            self.attempt = replace(self.attempt, times=(*self.attempt.times, *event["seconds"]))
        elif answer == "facts":
            self.facts = event["facts"]
        else:
            self.attempt = replace(self.attempt, memory=event["bytes"])

    def close(self) -> None:
        """End the process, whatever it does, and remove its directory."""
        if not self.alive:
            return
        self.alive = False
        if self._process.poll() is None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._log):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue  # what was still to be written has no reader
        shutil.rmtree(self.job.path, ignore_errors=True)

    # --- events -----------------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._events.put(json.loads(line))
        self._events.put(None)

    def _write(self, command: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(command + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            self._end(CRASHED, self._last_words())

    def _next(self, wanted: tuple[str, ...], limit: float, what: str) -> dict[str, Any]:
        try:
            event = self._events.get(timeout=limit)
        except queue.Empty:
            self._end(SLOW, f"{what} longer than {self.limit:.0f} s")
            raise AssertionError from None
        if event is None:
            self._end(CRASHED, self._last_words())
        elif event["event"] == "failed":
            self._end(*classify(event["reason"]))
        elif event["event"] == "wrong":
            self._end(WRONG, event["reason"])
        assert event is not None and event["event"] in wanted, event
        return event

    def _end(self, status: str, reason: str) -> None:
        self.attempt = replace(self.attempt, status=status, reason=reason, times=())
        raise _Stop

    def _last_words(self) -> str:
        code = self._process.wait()
        self._log.seek(0)
        lines = [line for line in self._log.read().splitlines() if line.strip()]
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return f"{name}: {lines[-1][:200]}" if lines else name
