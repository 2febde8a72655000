"""What a run knows. In come the attempts of each framework at each kernel; out come times, ratios, geometric means and
the JSON that holds everything. Nothing here runs or prints.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

#: Version of the JSON's layout.
SCHEMA = 1

#: What became of an attempt: it ran and was right; the framework said no; the result differed; it took too long; the
#: process died; the framework is not installed; there is nothing to give it.
OK, REFUSED, WRONG, SLOW, CRASHED, ABSENT, NOTHING = (
    "ok", "refused", "wrong", "slow", "crashed", "not installed", "no form",
)  # fmt: skip


@dataclass(frozen=True)
class Attempt:
    """One framework on one form of one kernel. Seconds and bytes; `times` are the repeats after the first call."""

    framework: str
    form: str
    status: str
    reason: str = ""
    origin: str = ""  # the same source, a port by rule, a port by hand
    times: tuple[float, ...] = ()
    compile_seconds: float | None = None
    first_call: float | None = None  # compiling and running, nothing cached
    memory: int | None = None  # peak of one later call above what it began with
    memory_first: int | None = None  # peak of the first call, the compiler's own memory included

    @property
    def right(self) -> bool:
        return self.status == OK and bool(self.times)

    @property
    def best(self) -> float:
        return min(self.times)

    @property
    def median(self) -> float:
        return statistics.median(self.times)


@dataclass(frozen=True)
class Work:
    """What a kernel has to do at least: operations on elements, bytes of arguments and results read and written."""

    operations: float | None
    bytes: float
    single: bool = False  # whether the arithmetic is in single precision


@dataclass(frozen=True)
class KernelResult:
    kernel: str
    attempts: tuple[Attempt, ...]
    work: Work | None = None
    fraction: float | None = None  # of the machine's limit, reached by weft
    notes: dict[str, Any] = field(default_factory=dict)  # what a collection of kernels knows besides

    def of(self, framework: str) -> tuple[Attempt, ...]:
        return tuple(attempt for attempt in self.attempts if attempt.framework == framework)

    def chosen(self, framework: str) -> Attempt | None:
        """The fastest right attempt of a framework; if none is right, the one that came nearest."""
        mine = self.of(framework)
        right = [attempt for attempt in mine if attempt.right]
        if right:
            return min(right, key=lambda attempt: attempt.best)
        order = (SLOW, WRONG, CRASHED, REFUSED, ABSENT, NOTHING)
        return min(mine, key=lambda attempt: order.index(attempt.status), default=None)

    def seconds(self, framework: str) -> float | None:
        attempt = self.chosen(framework)
        return attempt.best if attempt is not None and attempt.right else None

    def ratio(self, framework: str, base: str = "weft") -> float | None:
        """How many times longer `framework` takes than `base`."""
        mine, theirs = self.seconds(framework), self.seconds(base)
        return None if mine is None or theirs is None else mine / theirs

    def best_peer(self, peers: Iterable[str]) -> tuple[str, float] | None:
        """The fastest of the others and its seconds."""
        times = [(seconds, peer) for peer in peers if (seconds := self.seconds(peer)) is not None]
        if not times:
            return None
        seconds, peer = min(times)
        return peer, seconds


@dataclass(frozen=True)
class Report:
    """A whole run."""

    frameworks: tuple[str, ...]
    kernels: tuple[KernelResult, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    commit: str = ""

    def peers(self, base: str = "weft") -> tuple[str, ...]:
        """Everybody but weft, of this commit or another."""
        return tuple(name for name in self.frameworks if name.split("@")[0] != base)

    def to_json(self) -> dict[str, Any]:
        return {"schema": SCHEMA, **asdict(self)}

    @staticmethod
    def from_json(data: dict[str, Any]) -> Report:
        if data.get("schema") != SCHEMA:
            raise ValueError(f"the layout of this JSON is {data.get('schema')}, not {SCHEMA}")
        kernels = tuple(_kernel(entry) for entry in data["kernels"])
        rest = {key: data[key] for key in ("settings", "machine", "versions", "commit")}
        return Report(tuple(data["frameworks"]), kernels, **rest)


def _kernel(entry: dict[str, Any]) -> KernelResult:
    attempts = tuple(Attempt(**{**one, "times": tuple(one["times"])}) for one in entry["attempts"])
    work = Work(**entry["work"]) if entry["work"] else None
    return KernelResult(entry["kernel"], attempts, work, entry["fraction"], entry.get("notes", {}))


def geometric_mean(values: Sequence[float]) -> float | None:
    return math.exp(statistics.fmean(math.log(value) for value in values)) if values else None


def mean_ratio(report: Report, framework: str, base: str = "weft") -> tuple[float | None, int]:
    """The geometric mean of a framework's ratios over the kernels both got right, and how many those are."""
    ratios = [ratio for kernel in report.kernels if (ratio := kernel.ratio(framework, base)) is not None]
    return geometric_mean(ratios), len(ratios)


def best_peer_ratios(report: Report, base: str = "weft") -> list[float]:
    """For each kernel that weft and somebody else got right: the best peer's time over weft's."""
    found = []
    for kernel in report.kernels:
        best, mine = kernel.best_peer(report.peers(base)), kernel.seconds(base)
        if best is not None and mine is not None:
            found.append(best[1] / mine)
    return found


def median_first_call(report: Report, framework: str) -> float | None:
    chosen = (kernel.chosen(framework) for kernel in report.kernels)
    calls = [one.first_call for one in chosen if one is not None and one.right and one.first_call is not None]
    return statistics.median(calls) if calls else None


def classify(error: str) -> tuple[str, str]:
    """Status and short reason of what a framework said when it failed."""
    text = " ".join(error.split())
    kind, _, message = text.partition(":")
    if kind in ("ModuleNotFoundError", "ImportError") and "benchmarks" not in message:
        return ABSENT, text[:200]
    if kind == "Nothing":
        return NOTHING, message.strip()
    return REFUSED, text[:300]


def short_label(attempt: Attempt | None) -> str:
    """One or two words for a cell of the table or the picture."""
    if attempt is None:
        return "-"
    if attempt.status == REFUSED:
        kind = attempt.reason.split(":")[0]
        return kind if kind.isidentifier() and len(kind) <= 22 else "refused"
    return "too slow" if attempt.status == SLOW else attempt.status
