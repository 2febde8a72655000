"""The report in the terminal. In comes a `Report` of `runner.py`; out come the table, means and failures."""

from __future__ import annotations

from typing import Any

from benchmarks.apps.registry import load, title
from benchmarks.apps.worker import CPYTHON, CYTHON, NUMBA, WEFT, WEFT_THREADS, C
from benchmarks.harness.model import NOTHING, KernelResult, Report, geometric_mean
from benchmarks.harness.table import milliseconds, times


def _time(kernel: KernelResult, column: str) -> str:
    attempt = next(iter(kernel.of(column)), None)
    if attempt is None or attempt.status == NOTHING:
        return "-"
    return milliseconds(attempt.best) if attempt.right else attempt.status


def _ratio(kernel: KernelResult, of: str, to: str) -> str:
    found = kernel.ratio(of, to)
    return "-" if found is None else times(found)


def main_table(report: Report) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    settings = report.settings
    threads = settings.get("threads")
    heading = f"Applications: milliseconds, size {settings.get('size')}, commit {report.commit or 'unknown'}"
    made = Table(title=heading, title_justify="left", pad_edge=False, box=SIMPLE_HEAD)
    columns = (
        "application", "CPython", "Numba", "Cython", "C", "weft", f"weft, {threads} threads", "CPython/weft",
        "Numba/weft", "Cython/weft", "weft/C", f"1/{threads} threads", "Intrepydd's", "first call",
    )  # fmt: skip
    for name in columns:
        made.add_column(name, justify="left" if name == "application" else "right", no_wrap=True)
    for kernel in report.kernels:
        published = load(kernel.kernel).intrepydd
        first = next((one.first_call for one in kernel.of(WEFT) if one.right), None)
        made.add_row(
            title(kernel.kernel),
            *(_time(kernel, column) for column in (CPYTHON, NUMBA, CYTHON, C, WEFT, WEFT_THREADS)),
            *(_ratio(kernel, column, WEFT) for column in (CPYTHON, NUMBA, CYTHON)),
            _ratio(kernel, WEFT, C),
            _ratio(kernel, WEFT, WEFT_THREADS),
            "-" if published is None else times(published),
            "-" if first is None else milliseconds(first),
        )
    return made


def summary(report: Report) -> list[str]:
    lines = ["Intrepydd's: how many times faster than CPython, as published; everything else is measured here."]
    for column in (CPYTHON, NUMBA, CYTHON):
        ratios = [ratio for kernel in report.kernels if (ratio := kernel.ratio(column, WEFT)) is not None]
        mean = geometric_mean(ratios)
        if mean is not None:
            behind = [title(kernel.kernel) for kernel in report.kernels if (kernel.ratio(column, WEFT) or 1.0) < 1.0]
            ahead = f"ahead of weft: {', '.join(behind) or 'none'}"
            lines.append(f"{column:8} / weft {times(mean):>8} over {len(ratios)}; {ahead}")
    slower = [
        f"{title(kernel.kernel)} {times(ratio)}"
        for kernel in report.kernels
        if (ratio := kernel.ratio(WEFT, C)) is not None and ratio > 1.2
    ]
    lines.append(f"more than 1.2 times C: {', '.join(slower) or 'none'}")
    short = [
        f"{title(kernel.kernel)} {times(ratio)} (Intrepydd {times(published)})"
        for kernel in report.kernels
        if (published := load(kernel.kernel).intrepydd) is not None
        and (ratio := kernel.ratio(CPYTHON, WEFT)) is not None
        and ratio < published
    ]
    lines.append(f"below Intrepydd's ratio: {', '.join(short) or 'none'}")
    bandwidth = report.machine.get("bandwidth_ratio")
    if bandwidth:
        threads = report.settings.get("threads")
        lines.append(f"the machine's own bandwidth on {threads} threads over one: {bandwidth:.2f}")
    return lines


def failures(report: Report) -> list[str]:
    return [
        f"{title(kernel.kernel)}, {one.framework}: {one.status}: {one.reason[:200]}"
        for kernel in report.kernels
        for one in kernel.attempts
        if not one.right and one.status != NOTHING
    ]
