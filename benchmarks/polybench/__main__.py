"""The command, `python -m benchmarks.polybench`. In come options; out come two tables, and the JSON that holds
everything.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path

from benchmarks.harness import environment
from benchmarks.harness.command import DONE, FAILED, PIPE_WIDTH, WRONG_REQUEST
from benchmarks.harness.model import KernelResult, Report
from benchmarks.harness.progress import progress
from benchmarks.harness.runner import Settings
from benchmarks.harness.table import limits
from benchmarks.polybench import table
from benchmarks.polybench.registry import FORMS, NAMES
from benchmarks.polybench.runner import FormRunner
from benchmarks.polybench.worker import CPYTHON, NUMPY, OPENMP, SERIAL, WEFT


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.polybench", description="PolyBench in three forms.")
    parser.add_argument("--size", choices=("S", "M", "L"), default="L")
    parser.add_argument("--kernels", help="names, with commas between; all without")
    parser.add_argument("--forms", help=f"of weft: {', '.join(FORMS)}; all without")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1.5, help="of repeats, for each attempt")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a first call, and for any other")
    parser.add_argument("--no-cpython", action="store_true", help="leave out CPython's lists")
    parser.add_argument("--processor-time", action="store_true", help="for a busy machine; needs --threads 1")
    parser.add_argument("--json", type=Path, help="the file that keeps everything, written after each kernel")
    parser.add_argument("--resume", action="store_true", help="go on with the file of --json")
    parser.add_argument("--show", action="store_true", help="only the tables of the file of --json")
    parser.add_argument("--keep", type=Path, help="a directory for the generated C and the lowered programs")
    return parser


def _chosen(text: str | None, known: tuple[str, ...], what: str) -> tuple[str, ...]:
    names = tuple(name for name in (text or "").replace("-", "_").split(",") if name)
    names = tuple(f"k{name}" if name in ("2mm", "3mm") else name for name in names)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"unknown {what} {unknown[0]!r}; known: {', '.join(known)}")
    return names or known


def _known(path: Path | None, settings: Settings) -> dict[str, KernelResult]:
    if path is None:
        raise ValueError("--resume needs --json, the file to go on with")
    if not path.is_file():
        return {}
    report = Report.from_json(json.loads(path.read_text(encoding="utf-8")))
    if any(report.settings.get(name) != value for name, value in vars(settings).items()):
        raise ValueError(f"{path} holds a run with other settings")
    return {kernel.kernel: kernel for kernel in report.kernels}


def _needs_core() -> None:
    """weft's numbers are those of native code: without its core they would be those of something else."""
    from weft.runtime.dispatch import core_problem

    problem = core_problem()
    if problem is not None:
        raise ValueError(f"there is nothing to measure: {problem}")


def _run(options: argparse.Namespace) -> int:
    _needs_core()
    kernels = _chosen(options.kernels, NAMES, "kernel")
    forms = _chosen(options.forms, FORMS, "form")
    if options.processor_time and options.threads != 1:
        raise ValueError("--processor-time counts the seconds of all threads: it needs --threads 1")
    settings = Settings(options.size, options.threads, options.seconds, options.limit)
    known = _known(options.json, settings) if options.resume else {}
    if not options.processor_time:
        environment.pin(settings.threads)

    def keep(report: Report) -> None:
        if options.json is not None:
            options.json.write_text(json.dumps(report.to_json(), indent=1) + "\n", encoding="utf-8")

    with progress((CPYTHON, NUMPY, SERIAL, OPENMP, WEFT), len(kernels)) as shown:
        runner = FormRunner(
            settings,
            (NUMPY, WEFT),
            shown,
            forms=forms,
            default=not options.no_cpython,
            processor_time=options.processor_time,
            keep=str(options.keep.resolve()) if options.keep else "",
        )
        report = runner.report(kernels, known, keep)
    show(report)
    return DONE if not table.failures(report) else FAILED


def show(report: Report) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    if not sys.stdout.isatty():
        console.width = PIPE_WIDTH
    console.print()
    console.print(table.main_table(report))
    for line in (*table.failures(report), *table.summary(report), limits(report)):
        console.print(line, markup=False)
    console.print()
    console.print(table.algebra_table(report))


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
        print("interrupted" + (f"; --resume goes on with {options.json}" if options.json else ""), file=sys.stderr)
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
