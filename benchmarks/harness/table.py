"""The report in the terminal. In comes a `Report`; out come a table of kernels x frameworks, the geometric means, and
a line for every failure.
"""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.harness.model import (
    ABSENT,
    NOTHING,
    REFUSED,
    KernelResult,
    Report,
    best_peer_ratios,
    geometric_mean,
    mean_ratio,
    median_first_call,
    short_label,
)


def milliseconds(seconds: float) -> str:
    value = 1e3 * seconds
    digits = 3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f}"


def times(ratio: float) -> str:
    return f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.1f}x" if ratio < 100 else f"{ratio:.0f}x"


def _style(ratio: float) -> str:
    return "red" if ratio < 0.8 else "yellow" if ratio < 1.0 else "green"


#: Columns that the full table takes for each framework, and for the rest of a row.
_FULL, _BESIDES = 18, 62


def width_of(report: Report) -> int:
    return _BESIDES + _FULL * len(report.frameworks)


def table(report: Report, width: int = 10_000) -> Any:
    """Milliseconds and, in brackets, how many times weft's; where that is too wide, only the latter. A failure is a
    word.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    setting = f"size {report.settings.get('size')}, {report.settings.get('threads')} threads"
    full = width >= width_of(report)
    shown = "milliseconds (times weft's)" if full else "times weft's time"
    title = f"{shown}, minimum of repeats, {setting}, commit {report.commit or 'unknown'}"
    made = Table(
        title=title, title_justify="left", pad_edge=False, box=SIMPLE_HEAD, padding=(0, 0, 0, 1) if not full else (0, 1)
    )
    made.add_column("kernel", no_wrap=True)
    for name in report.frameworks:
        made.add_column(name if full else name.replace("-", "-\n"), justify="right", no_wrap=True)
    made.add_column("best peer", no_wrap=True)
    made.add_column("of limit", justify="right")
    for kernel in report.kernels:
        cells = [_cell(kernel, name, full) for name in report.frameworks]
        best, mine = kernel.best_peer(report.peers()), kernel.seconds("weft")
        if best is None or mine is None:
            versus = Text("-")
        else:
            versus = Text(f"{best[0]} {times(best[1] / mine)}", style=_style(best[1] / mine))
        reached = "-" if kernel.fraction is None else f"{100 * kernel.fraction:.0f} %"
        made.add_row(kernel.kernel, *cells, versus, reached)
    return made


def _cell(kernel: KernelResult, framework: str, full: bool) -> Any:
    from rich.text import Text

    attempt = kernel.chosen(framework)
    if attempt is None or not attempt.right:
        word = "refused" if attempt is not None and attempt.status == REFUSED and not full else short_label(attempt)
        return Text(word, style="dim red")
    ratio = kernel.ratio(framework)
    text = milliseconds(attempt.best)
    if framework == "weft" or ratio is None:
        return Text(text, style="bold" if framework == "weft" else "")
    return Text(f"{text} ({times(ratio)})" if full else times(ratio), style=_style(ratio) if ratio < 1 else "")


def summary(report: Report) -> list[str]:
    """Geometric means, the worst kernels, first calls, memory."""
    lines = []
    for name in report.frameworks:
        mean, count = mean_ratio(report, name)
        first = median_first_call(report, name)
        begun = "" if first is None else f"; median first call {first:.2f} s"
        if name != "weft" and mean is not None:
            lines.append(f"{name:16} {times(mean):>8} weft's time over {count} kernels that both get right{begun}")
        elif name == "weft":
            right = sum(kernel.seconds("weft") is not None for kernel in report.kernels)
            lines.append(f"{name:16} {right} of {len(report.kernels)} kernels right{begun}")
    ratios = best_peer_ratios(report)
    mean = geometric_mean(ratios)
    if mean is not None:
        below = sum(ratio < 0.8 for ratio in ratios)
        lines.append(f"{'best peer':16} {times(mean):>8} weft's time; {below} of {len(ratios)} kernels below 0.80x")
    more = _more_memory(report)
    if more:
        lines.append(f"more memory than NumPy in a call: {', '.join(more)}")
    reached = [kernel.fraction for kernel in report.kernels if kernel.fraction is not None]
    if reached:
        lines.append(f"of the machine's limit: median {100 * statistics.median(reached):.0f} %")
    return lines


def _more_memory(report: Report) -> list[str]:
    """Kernels in which a call of weft needs more memory than NumPy's; a megabyte is noise."""
    found = []
    for kernel in report.kernels:
        mine, theirs = kernel.chosen("weft"), kernel.chosen("numpy")
        if mine and theirs and mine.memory is not None and theirs.memory is not None:
            if mine.memory > theirs.memory + (1 << 20):
                found.append(f"{kernel.kernel} ({mine.memory / 1e6:.0f} against {theirs.memory / 1e6:.0f} MB)")
    return found


def failures(report: Report) -> list[str]:
    """A line for each framework that got a kernel wrong or not at all, with the reason of each form."""
    lines = []
    for kernel in report.kernels:
        for name in report.frameworks:
            attempts = [attempt for attempt in kernel.of(name) if attempt.status not in (ABSENT, NOTHING)]
            if any(attempt.right for attempt in attempts):
                continue
            lines += [f"{kernel.kernel}, {name}, {one.form}: {one.status}: {one.reason[:160]}" for one in attempts]
    return lines


def limits(report: Report) -> str:
    found = report.machine.get("limits") or {}
    if not found:
        return "the machine's limits could not be measured"
    rates = sorted((int(size), rate) for size, rate in found["bandwidth"].items())
    streams = ", ".join(f"{rate / 1e9:.0f} GB/s at {_size(size)}" for size, rate in rates)
    return f"limits: {streams}; {found['double'] / 1e9:.0f} GFLOP/s double, {found['single'] / 1e9:.0f} single"


def _size(count: int) -> str:
    return f"{count >> 20} MB" if count >= 1 << 20 else f"{count >> 10} kB"


def line(result: KernelResult, frameworks: tuple[str, ...]) -> str:
    """A finished kernel in one line, for a log."""
    cells = []
    for name in frameworks:
        attempt = result.chosen(name)
        right = attempt is not None and attempt.right
        cells.append(f"{name} {milliseconds(attempt.best) if right and attempt else short_label(attempt)}")
    reached = "" if result.fraction is None else f" | {100 * result.fraction:.0f} % of the limit"
    return f"{result.kernel:26} {' | '.join(cells)}{reached}"
