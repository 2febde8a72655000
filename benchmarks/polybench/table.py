"""The report in the terminal. In comes a `Report` of `runner.py`; out come the table of all kernels, the one of linear
algebra that starts from lists, and lines with means, compile times and limits.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.harness.model import KernelResult, Report, geometric_mean
from benchmarks.harness.table import milliseconds, times
from benchmarks.polybench.registry import FORMS, LINEAR_ALGEBRA, LISTS, OPERATORS, load, title
from benchmarks.polybench.runner import best_c, best_weft, seconds
from benchmarks.polybench.worker import CPYTHON, NUMPY, OPENMP, SERIAL, WEFT

Column = Callable[[KernelResult], "float | None"]
#: Forms whose times differ by no more than this are equally fast.
CLOSE = 0.20
#: Below this a call is too short for its time to be compared.
_SHORT = 2e-5


def _table(heading: str, columns: Iterable[str]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(title=heading, title_justify="left", pad_edge=False, box=SIMPLE_HEAD)
    for name in columns:
        made.add_column(name, justify="left" if name == "kernel" else "right", no_wrap=True)
    return made


def _setting(report: Report) -> str:
    settings = report.settings
    return f"size {settings.get('size')}, {settings.get('threads')} threads, commit {report.commit or 'unknown'}"


def _time(value: float | None) -> str:
    return "-" if value is None else milliseconds(value)


def _ratio(of: float | None, to: float | None) -> str:
    return "-" if of is None or to is None else times(of / to)


def default(kernel: KernelResult) -> str:
    """CPython's time; `~` if it was measured at a smaller size."""
    taken = seconds(kernel, CPYTHON)
    scaled = kernel.notes.get(CPYTHON, {}).get("scale", 1.0) != 1.0
    return "-" if taken is None else ("~" if scaled else "") + milliseconds(taken)


def spread(kernel: KernelResult) -> float | None:
    """The slowest form over the fastest."""
    found = [one for form in FORMS if (one := seconds(kernel, WEFT, form)) is not None]
    return max(found) / max(min(found), _SHORT) if len(found) > 1 else None


def schedules(kernel: KernelResult) -> str:
    """Which forms have the same schedule: those with the same letter."""
    letters: dict[str, str] = {}
    word = ""
    for form in FORMS:
        digest = kernel.notes.get(form, {}).get("schedule")
        word += "-" if digest is None else letters.setdefault(digest, "abc"[len(letters)])
    return word


def _compile(kernel: KernelResult) -> list[float]:
    return [kernel.notes[form]["compile"] for form in FORMS if "compile" in kernel.notes.get(form, {})]


def main_table(report: Report) -> Any:
    columns = (
        "kernel", "CPython lists", "NumPy", "C", "C OpenMP", "weft lists", "+convert", "weft loops", "weft operators",
        "C/lists", "C/loops", "C/oper.", "NumPy/oper.", "spread", "same", "compile", "of limit",
    )  # fmt: skip
    made = _table(f"PolyBench: milliseconds, {_setting(report)}", columns)
    for kernel in report.kernels:
        c = best_c(kernel)
        between, built = spread(kernel), _compile(kernel)
        conversion = kernel.notes.get(LISTS, {}).get("conversion")
        reached = "-" if kernel.fraction is None else f"{100 * kernel.fraction:.0f} %"
        made.add_row(
            title(kernel.kernel),
            default(kernel),
            _time(seconds(kernel, NUMPY)),
            _time(seconds(kernel, SERIAL)),
            _time(seconds(kernel, OPENMP)),
            _weft(kernel, LISTS),
            _time(conversion),
            *(_weft(kernel, form) for form in FORMS[1:]),
            *(_ratio(c, seconds(kernel, WEFT, form)) for form in FORMS),
            _ratio(seconds(kernel, NUMPY), seconds(kernel, WEFT, OPERATORS)),
            "-" if between is None else times(between) + ("" if between <= 1 + CLOSE else " !"),
            schedules(kernel),
            f"{1e3 * max(built):.0f}" if built else "-",
            reached + {"product": " flop", "streaming": " mem", "stencil": " mem"}.get(load(kernel.kernel).kind, ""),
        )
    return made


def _weft(kernel: KernelResult, form: str) -> str:
    attempt = next((one for one in kernel.of(WEFT) if one.form == form), None)
    return "-" if attempt is None else milliseconds(attempt.best) if attempt.right else attempt.status


def algebra_table(report: Report) -> Any:
    """Lists and NumPy as they are, and what weft makes of each."""
    columns = (
        "kernel", "CPython lists", "NumPy", "weft from lists", "with conversion", "weft from NumPy",
        "lists / weft from lists", "NumPy / weft from NumPy",
    )  # fmt: skip
    made = _table(f"Linear algebra from lists and from NumPy: milliseconds, {_setting(report)}", columns)
    known = {kernel.kernel: kernel for kernel in report.kernels}
    for name in LINEAR_ALGEBRA:
        if name not in known:
            continue
        kernel = known[name]
        mine, conversion = seconds(kernel, WEFT, LISTS), kernel.notes.get(LISTS, {}).get("conversion")
        whole = None if mine is None or conversion is None else mine + conversion
        made.add_row(
            title(name),
            default(kernel),
            _time(seconds(kernel, NUMPY)),
            _weft(kernel, LISTS),
            _time(whole),
            _weft(kernel, OPERATORS),
            _ratio(seconds(kernel, CPYTHON), whole),
            _ratio(seconds(kernel, NUMPY), seconds(kernel, WEFT, OPERATORS)),
        )
    return made


def _mean(report: Report, of: Column, to: Column) -> tuple[float | None, list[float]]:
    pairs = [(of(kernel), to(kernel)) for kernel in report.kernels]
    ratios = [one / other for one, other in pairs if one is not None and other is not None]
    return geometric_mean(ratios), ratios


def _form(framework: str, form: str | None = None) -> Column:
    return lambda kernel: seconds(kernel, framework, form)


def summary(report: Report) -> list[str]:
    lines = [
        "`~` scaled from a smaller size by operations; C in ratios is the better of serial and OpenMP;",
        "`same`: forms with one letter have one schedule; `!` forms differ by more than 20 %",
    ]
    for name, of in (("C", best_c), ("NumPy", _form(NUMPY)), ("CPython lists", _form(CPYTHON))):
        for form in FORMS:
            mean, ratios = _mean(report, of, _form(WEFT, form))
            if mean is not None:
                behind = sum(ratio < 1.0 for ratio in ratios)
                over = f"over {len(ratios)} kernels, {behind} below 1"
                lines.append(f"{name:14} / weft {form:10} {times(mean):>8} {over}")
    behind_c = [
        f"{title(kernel.kernel)} {times(c / mine)}"
        for kernel in report.kernels
        if (c := best_c(kernel)) is not None and (mine := best_weft(kernel)) is not None and c < mine
    ]
    lines.append(f"behind C in the best form: {', '.join(behind_c) or 'none'}")
    apart = [title(kernel.kernel) for kernel in report.kernels if (spread(kernel) or 1.0) > 1 + CLOSE]
    lines.append(f"forms more than 20 % apart: {', '.join(apart) or 'none'}")
    lines.append(f"forms with other schedules: {', '.join(_different(report)) or 'none'}")
    built = [value for kernel in report.kernels for value in _compile(kernel)]
    if built:
        slow = [title(kernel.kernel) for kernel in report.kernels if max(_compile(kernel), default=0.0) > 0.7]
        lines.append(
            f"compile time: median {1e3 * statistics.median(built):.0f} ms, most {1e3 * max(built):.0f} ms; "
            f"above 700 ms: {', '.join(slow) or 'none'}"
        )
    return lines


def _different(report: Report) -> list[str]:
    return [title(kernel.kernel) for kernel in report.kernels if len(set(schedules(kernel)) - {"-"}) > 1]


def failures(report: Report) -> list[str]:
    return [
        f"{title(kernel.kernel)}, {one.framework}, {one.form}: {one.status}: {one.reason[:200]}"
        for kernel in report.kernels
        for one in kernel.attempts
        if not one.right
    ]
