"""The command, `python -m benchmarks.apps`. In come options; out come the table, and the JSON that holds everything."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path

from benchmarks.apps import table
from benchmarks.apps.registry import NAMES
from benchmarks.apps.runner import COLUMNS, ApplicationRunner
from benchmarks.apps.worker import CPYTHON, WEFT, WEFT_THREADS
from benchmarks.harness import environment
from benchmarks.harness.command import DONE, FAILED, PIPE_WIDTH, WRONG_REQUEST
from benchmarks.harness.model import Report
from benchmarks.harness.progress import progress
from benchmarks.harness.runner import Settings


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.apps", description="Whole applications.")
    parser.add_argument("--size", choices=("S", "M", "L"), default="L")
    parser.add_argument("--kernels", help="names, with commas between; all without")
    parser.add_argument("--peers", help=f"columns besides CPython and weft, of {', '.join(COLUMNS[1:-2])}; all without")
    parser.add_argument("--threads", type=int, default=2, help="of the last column; the others have one")
    parser.add_argument("--seconds", type=float, default=1.5, help="of repeats, for each attempt")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for a first call, and for any other")
    parser.add_argument("--json", type=Path, help="the file that keeps everything, written after each application")
    parser.add_argument("--show", action="store_true", help="only the table of the file of --json")
    return parser


def _chosen(text: str | None, known: tuple[str, ...], what: str) -> tuple[str, ...]:
    names = tuple(name for name in (text or "").replace("-", "_").split(",") if name)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"unknown {what} {unknown[0]!r}; known: {', '.join(known)}")
    return names or known


def _run(options: argparse.Namespace) -> int:
    names = _chosen(options.kernels, NAMES, "application")
    peers = _chosen(options.peers, COLUMNS[1:-2], "peer")
    settings = Settings(options.size, options.threads, options.seconds, options.limit)
    columns = (CPYTHON, *peers, WEFT, *((WEFT_THREADS,) if options.threads > 1 else ()))
    environment.pin(settings.threads)

    def keep(report: Report) -> None:
        report.machine["bandwidth_ratio"] = _bandwidth(report, runner)
        if options.json is not None:
            options.json.write_text(json.dumps(report.to_json(), indent=1) + "\n", encoding="utf-8")

    with progress(columns, len(names)) as shown:
        runner = ApplicationRunner(settings, ("numpy", "numba", "weft"), shown, columns=columns)
        report = runner.report(names, {}, keep)
    show(report)
    return DONE if not any(", weft" in line for line in table.failures(report)) else FAILED


def _bandwidth(report: Report, runner: ApplicationRunner) -> float | None:
    """How much more memory several threads move than one, at the largest working set that was measured."""
    several, one = report.machine.get("limits") or {}, runner.single
    if not several or not one:
        return None
    largest = max(several["bandwidth"], key=float)
    return float(several["bandwidth"][largest] / one["bandwidth"][largest])


def show(report: Report) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    if not sys.stdout.isatty():
        console.width = PIPE_WIDTH
    console.print()
    console.print(table.main_table(report))
    for line in (*table.failures(report), *table.summary(report)):
        console.print(line, markup=False)


def _show_file(path: Path | None) -> int:
    if path is None or not path.is_file():
        raise ValueError("--show needs --json, the file of a run")
    show(Report.from_json(json.loads(path.read_text(encoding="utf-8"))))
    return DONE


def main() -> int:
    # Ended from outside, a run still ends its workers.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = _options().parse_args()
    try:
        return _show_file(options.json) if options.show else _run(options)
    except ValueError as problem:
        print(problem, file=sys.stderr)
        return WRONG_REQUEST
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
