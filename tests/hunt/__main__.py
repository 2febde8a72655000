"""`python -m tests.hunt`: workers run programs until the time is over; this process watches them.

A worker that dies has met a crash, one that says nothing for too long a hang: either is a finding, and a new worker
goes on with the next seed. The figures are printed now and then, and at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.hunt.case import Case
from tests.hunt.findings import Findings
from tests.hunt.grammar import choose

ROOT = Path(__file__).resolve().parents[2]
#: A worker is started afresh after so many programs: then it reads the versions of the last few from the disk cache.
_LIFE = 300
#: Seconds without a word from a worker before it counts as hanging.
_SILENCE = 150.0
_REPEATED = 12


class Slot:
    """One worker process and the seeds that it gets."""

    def __init__(self, hunt: Hunt, number: int) -> None:
        self.hunt = hunt
        self.cache = Path(tempfile.mkdtemp(prefix=f"weft-hunt-{number}-"))
        self.process: subprocess.Popen[str] | None = None
        self.replies: queue.Queue[str | None] = queue.Queue()
        self.done = 0
        self.native_seeds: list[tuple[int, dict[str, Any]]] = []

    def start(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WEFT_")}
        path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
        environment |= {"WEFT_CACHE_DIR": str(self.cache), "WEFT_VERIFY": "1", "WEFT_CALIBRATE": "0"}
        environment |= {"PYTHONPATH": path, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-X", "faulthandler", "-m", "tests.hunt.worker"]
        command += [str(self.hunt.native), str(self.hunt.plain)]
        command += [json.dumps(self.hunt.tastes)] if self.hunt.tastes else []
        log = (self.hunt.findings.folder / "workers.log").open("a")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=environment, cwd=ROOT
        )
        self.replies = queue.Queue()
        threading.Thread(target=self._listen, args=(self.process, self.replies), daemon=True).start()
        self.done = 0

    @staticmethod
    def _listen(process: subprocess.Popen[str], replies: queue.Queue[str | None]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            replies.put(line)
        replies.put(None)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.cache, ignore_errors=True)

    def ask(self, task: dict[str, Any]) -> list[dict[str, Any]]:
        """What a worker says to a task; the last word is `done`, `died` or `silent`."""
        if self.process is None:
            self.start()
        assert self.process is not None and self.process.stdin is not None
        said: list[dict[str, Any]] = []
        try:
            self.process.stdin.write(json.dumps(task) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            self.stop()
            return [{"event": "died", "code": None}]
        while True:
            try:
                line = self.replies.get(timeout=_SILENCE)
            except queue.Empty:
                self.stop()
                return [*said, {"event": "silent"}]
            if line is None:
                code = self.process.wait()
                self.stop()
                return [*said, {"event": "died", "code": code}]
            said.append(json.loads(line))
            if said[-1]["event"] == "done":
                return said

    def hunt_one(self, seed: int, mode: dict[str, Any] | None = None) -> None:
        task = {"task": "run", "seed": seed} | ({"mode": mode} if mode else {})
        said = self.ask(task)
        self.hunt.note(self, seed, said, restored=mode is not None)
        self.done += 1
        if self.done >= _LIFE:
            again, self.native_seeds = self.native_seeds[-_REPEATED:], []
            self.stop()
            for old, how in again:  # from the disk cache, in the next process
                self.hunt_one(old, how)


class Hunt:
    """The whole run: seeds are handed out, what comes back is counted and written down."""

    def __init__(
        self, folder: Path, native: float, plain: float, first: int, tastes: dict[str, float] | None = None
    ) -> None:
        self.findings = Findings(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.native, self.plain = native, plain
        self.tastes = tastes
        self.first = self.next = first
        self.counts: Counter[str] = Counter()
        self.classes: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()  # of the compiler of plain Python
        self.lock = threading.Lock()
        self.start = time.monotonic()

    def seed(self) -> int:
        with self.lock:
            self.next += 1
            return self.next - 1

    def note(self, slot: Slot, seed: int, said: list[dict[str, Any]], restored: bool) -> None:
        """Count what a worker said of a seed, and have what differs made smaller."""
        running: dict[str, Any] | None = None
        for word in said:
            if word["event"] == "mode":
                running = word
                if word["mode"]["backend"] in ("c", "plain") and not restored:
                    slot.native_seeds.append((seed, word["mode"]))
            elif word["event"] == "verdict":
                self._verdict(slot, seed, word, running, restored)
        last = said[-1]
        with self.lock:
            self.counts["programs"] += not restored and not last.get("dropped", False)
            self.counts["dropped"] += bool(last.get("dropped"))
        if last["event"] in ("died", "silent") and running is not None:
            kind = "crash" if last["event"] == "died" else "hang"
            self._found(slot, seed, running, kind, f"the process ended with {last.get('code')}", shrink=False)

    def _verdict(self, slot: Slot, seed: int, word: dict[str, Any], running: Any, restored: bool) -> None:
        verdict = word["verdict"]
        with self.lock:
            self.counts["runs"] += 1
            self.counts["native runs"] += verdict["native"]
            self.counts["from disk"] += restored
            self.counts[f"in {word['family']}"] += 1
            if verdict["refusal"]:
                self.refusals[re.sub(r"`[^`]*`", "`...`", verdict["refusal"])[:100]] += 1
            if verdict["slow"]:
                self.counts["slow"] += 1
        if verdict["kind"]:
            self._found(slot, seed, running, verdict["kind"], verdict["text"], shrink=True)

    def _found(self, slot: Slot, seed: int, running: dict[str, Any], kind: str, text: str, shrink: bool) -> None:
        case, mode = Case(**{**running["case"], "calls": tuple(running["case"]["calls"])}), running["mode"]
        with self.lock:
            self.classes[kind] += 1
            new = self.findings.is_new(kind, text)
        if not new:
            return
        if shrink and kind != "hang":
            said = slot.ask({"task": "shrink", "seed": seed, "case": running["case"], "mode": mode, "kind": kind})
            shrunk = next((word for word in said if word["event"] == "shrunk"), None)
            if shrunk is not None and shrunk["verdict"]["kind"] == kind:
                case = Case(**{**shrunk["case"], "calls": tuple(shrunk["case"]["calls"])})
                text = shrunk["verdict"]["text"]
        with self.lock:
            path = self.findings.write(seed, case, mode, kind, text)
            print(f"{kind}: seed {seed}, {path.name}: {text[:150]}", flush=True)

    def figures(self) -> str:
        spent = time.monotonic() - self.start
        counts = self.counts
        share = counts["native runs"] / max(counts["runs"], 1)
        wrong = sum(count for kind, count in self.classes.items() if kind not in ("crash", "hang"))
        parts = [
            f"{counts['programs']} programs ({counts['programs'] / max(spent, 1e-9):.1f}/s)",
            f"{counts['runs']} runs",
            f"{100 * share:.0f} % native",
            f"{wrong} wrong",
            f"{self.classes['crash']} crashes",
            f"{self.classes['hang']} hangs",
            f"{counts['slow']} slow",
            f"{counts['from disk']} from the disk cache",
            f"seeds {self.first} to {self.next - 1}",
        ]
        lines = [", ".join(parts)]
        if self.classes:
            lines.append("  " + ", ".join(f"{kind}: {count}" for kind, count in self.classes.most_common()))
        return "\n".join(lines)

    def summary(self) -> str:
        """The figures, what was refused most often, and where the findings are."""
        refused = [f"  refused {count} times: {reason}" for reason, count in self.refusals.most_common(20)]
        found = f"findings: {len(self.findings.files)} in {self.findings.folder}"
        return "\n".join([self.figures(), *refused, found])


def work(hunt: Hunt, number: int, end: float, last: int | None, stopped: threading.Event) -> None:
    slot = Slot(hunt, number)
    try:
        while time.monotonic() < end and not stopped.is_set():
            seed = hunt.seed()
            if last is not None and seed >= last:
                return
            slot.hunt_one(seed)
    finally:
        slot.close()


def _weights(text: str) -> dict[str, float]:
    """`entries=3,numeric=1` as a dictionary."""
    found = {name.strip(): float(weight) for name, weight in (each.split("=") for each in text.split(","))}
    choose(found)  # an unknown name is told here, not in a worker
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hunt", description=__doc__.split("\n\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=None, help="the first seed (else the time tells it)")
    parser.add_argument("--programs", type=int, default=None, help="stop after so many seeds")
    parser.add_argument("--native", type=float, default=0.15, help="the share of programs that the C compiler gets")
    parser.add_argument("--plain", type=float, default=0.3, help="the share of programs that are plain Python")
    parser.add_argument(
        "--tastes",
        type=_weights,
        default=None,
        metavar="NAME=WEIGHT,...",
        help="which tastes of programs, and how often (entries and knowledge cost a third of the others)",
    )
    parser.add_argument("--folder", type=Path, default=Path("hunted"), help="where tests of findings are written")
    chosen = parser.parse_args()
    first = chosen.seed if chosen.seed is not None else int(time.time()) * 1000
    hunt = Hunt(chosen.folder.resolve(), chosen.native, chosen.plain, first, chosen.tastes)
    end = time.monotonic() + 60 * chosen.minutes
    last = first + chosen.programs if chosen.programs is not None else None
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):  # the program at hand is ended, and the figures are told
        signal.signal(number, lambda *_: stopped.set())
    slots = range(chosen.workers)
    threads = [threading.Thread(target=work, args=(hunt, number, end, last, stopped)) for number in slots]
    for thread in threads:
        thread.start()
    told = time.monotonic()
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.5)
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(hunt.figures(), flush=True)
            (hunt.findings.folder / "figures.txt").write_text(hunt.summary() + "\n")
    print(hunt.summary())
    (hunt.findings.folder / "figures.txt").write_text(hunt.summary() + "\n")
    return 1 if hunt.classes else 0


if __name__ == "__main__":
    sys.exit(main())
