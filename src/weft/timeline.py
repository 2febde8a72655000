"""Where one call of a compiled function spends its time, measured.  In: the function and arguments; out: a `Timeline`:
the regions that ran natively and the statements between them that ran as Python, with start and length.

    f.timeline(a, b)      runs the call once (its effects are real); `.result` is what it returned
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from time import perf_counter
from typing import Any, Literal

Kind = Literal["native", "python", "compile"]
_WIDTH = 40
#: Events that are drawn one by one.
_MOST = 12
_COLOURS = {"native": "#2e8b57", "python": "#c0504d", "compile": "#8a8f98"}


@dataclass(frozen=True)
class Event:
    """A part of the call: what it is, the lines of the source, and when it began and ended, in seconds."""

    kind: Kind
    what: str
    start: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.start


@dataclass(frozen=True)
class Timeline:
    """One call, in order; `str` draws it."""

    function: str
    seconds: float
    events: tuple[Event, ...]
    result: Any = field(default=None, repr=False)

    def __str__(self) -> str:
        rows = [f"{self.function}: {_duration(self.seconds)}"]
        total = self.seconds or 1.0
        for event in self.events:
            first = int(_WIDTH * event.start / total)
            length = max(1, round(_WIDTH * event.seconds / total))
            bar = (" " * first + "#" * length)[:_WIDTH]
            rows.append(f"  {event.kind:<8}{_duration(event.seconds):>9} |{bar:<{_WIDTH}}| {event.what}")
        return "\n".join(rows)

    def __repr__(self) -> str:
        return str(self)

    def totals(self) -> list[tuple[Kind, str, float, int]]:
        """What ran, how it is called, its seconds altogether and how often it ran; the longest first."""
        found: dict[tuple[Kind, str], list[float]] = {}
        for event in self.events:
            found.setdefault((event.kind, event.what), []).append(event.seconds)
        rows = [(kind, what, sum(times), len(times)) for (kind, what), times in found.items()]
        return sorted(rows, key=lambda row: -row[2])

    def lines(self, most: int = 5) -> list[str]:
        """The totals as text."""
        times = [f"  {kind:<8}{_duration(seconds):>9}  {what}{_often(n)}" for kind, what, seconds, n in self.totals()]
        return [f"one call, measured: {_duration(self.seconds)}", *times[:most]]

    def _repr_html_(self) -> str:
        total = self.seconds or 1.0
        rows = ""
        for event in self._drawn():
            left, width = 100 * event.start / total, max(0.4, 100 * event.seconds / total)
            bar = f"margin-left: {left:.2f}%; width: {min(width, 100 - left):.2f}%; background: {_COLOURS[event.kind]}"
            rows += (
                f"<tr><td>{event.kind}</td><td>{_duration(event.seconds)}</td>"
                f'<td style="width: 50%"><div style="height: 12px; border-radius: 2px; {bar}"></div></td>'
                f'<td style="text-align: left">{escape(event.what)}</td></tr>'
            )
        head = f"{escape(self.function)}: {_duration(self.seconds)}"
        return f'<table style="width: 100%"><caption>{head}</caption>{rows}</table>'

    def _drawn(self) -> tuple[Event, ...]:
        """The events; of a loop that goes in and out of native code many times their sums, side by side."""
        if len(self.events) <= _MOST:
            return self.events
        found, at = [], 0.0
        for kind, what, seconds, count in self.totals():
            found.append(Event(kind, what + _often(count), at, at + seconds))
            at += seconds
        return tuple(found)


def _often(count: int) -> str:
    return "" if count == 1 else f" ({count} times)"


def _duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def measured(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Timeline:
    """Run a call of a `Jitted` once, with its regions timed."""
    events: list[tuple[float, float, str]] = []
    before, native = _compile_seconds(function), _native_calls(function)
    with _timed(function, events), _preparing(function) as prepared:
        began = perf_counter()
        result = function(*args, **kwargs)
        ended = perf_counter()
    name = function.py_func.__name__
    ran = _native_calls(function) > native
    compiling = max(0.0, min(_compile_seconds(function) - before, ended - began))
    if compiling and prepared and ran and not events:
        compiling = prepared[-1] - began  # also what a process does once: weft's own native code is loaded, or built
    found: list[Event] = []
    at = 0.0
    if compiling:
        found.append(Event("compile", "a version for these arguments was made", 0.0, compiling))
        at = compiling
    if not events:
        found.append(Event("native" if ran else "python", f"all of {name}", at, ended - began))
    for start, end, what in events:
        if start - began > at:
            found.append(Event("python", "statements between regions", at, start - began))
        at = end - began
        found.append(Event("native", what, max(start - began, 0.0), at))
    if events and ended - began > at:
        found.append(Event("python", "statements after the last region", at, ended - began))
    return Timeline(name, ended - began, tuple(found), result)


def _versions(function: Any) -> Iterator[Any]:
    """All that was compiled: of arrays and of plain Python, of the function and of its regions."""
    for part in function._parts():
        yield from part._compiled
        yield from part._plain_versions()


def _compile_seconds(function: Any) -> float:
    return float(sum(version.seconds.get("total", 0.0) for version in _versions(function)))


def _native_calls(function: Any) -> int:
    plain = sum(version.calls for version in function._plain_versions())
    return int(plain + sum(function.call_counts) + sum(map(_native_calls, function._made_forms())))


@contextmanager
def _timed(function: Any, events: list[tuple[float, float, str]]) -> Iterator[None]:
    """Put a clock around each region that the function was split into."""
    split = getattr(function._plain, "_split", function._plain)
    cells = [cell for cell in getattr(split, "__closure__", None) or () if _held(cell) in function._regions]
    for cell in cells:
        cell.cell_contents = _clocked(cell.cell_contents, events)
    try:
        yield
    finally:
        for cell in cells:
            cell.cell_contents = cell.cell_contents.__wrapped__


@contextmanager
def _preparing(function: Any) -> Iterator[list[float]]:
    """The times at which a version for the arguments of a call had been made, and native code was about to run."""
    ends: list[float] = []
    plain = function._found

    def found(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = plain(args, kwargs)
        ends.append(perf_counter())
        return call

    function._found = found
    try:
        yield ends
    finally:
        del function._found


def _held(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _clocked(region: Any, events: list[tuple[float, float, str]]) -> Callable[..., Any]:
    tree = region._source.tree
    lines = [node.lineno for node in tree.body]
    last = max((getattr(node, "end_lineno", None) or node.lineno for node in tree.body), default=0)
    what = f"lines {min(lines)} to {last}" if lines and min(lines) != last else f"line {last}"

    def call(*args: Any, **kwargs: Any) -> Any:
        start = perf_counter()
        try:
            return region(*args, **kwargs)
        finally:
            events.append((start, perf_counter(), what))

    call.__wrapped__ = region  # type: ignore[attr-defined]
    return call
