"""The command. In come the options of `weft bench`; out come the table, the JSON and the picture, and an exit code:
0 done, 1 a kernel that weft gets wrong or not at all, 2 a wrong request.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
from pathlib import Path
from typing import Any

from benchmarks.harness import compare, environment, table
from benchmarks.harness.model import KernelResult, Report
from benchmarks.harness.peers import FRAMEWORKS
from benchmarks.harness.progress import progress
from benchmarks.harness.runner import Runner, Settings
from benchmarks.kernels import NAMES, load

DONE, FAILED, WRONG_REQUEST = 0, 1, 2
#: Columns of a table in a pipe, which has no width of its own.
PIPE_WIDTH = 240
NARROWEST = 124


class WrongRequest(Exception):
    pass


def main(options: argparse.Namespace) -> int:
    # Ended from outside, a run still ends its workers and removes what it has put aside.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return _calibrate(options) if options.calibrate else _run(options)
    except WrongRequest as problem:
        print(f"weft: {problem}", file=sys.stderr)
        return WRONG_REQUEST
    except KeyboardInterrupt:
        kept = f"; --resume goes on with {options.json}" if options.json else ""
        print(f"weft: interrupted{kept}", file=sys.stderr)
        return FAILED


def _run(options: argparse.Namespace) -> int:
    kernels = chosen_kernels(options.kernels)
    old = _other_commit(options.against)
    frameworks = chosen_frameworks(options.peers if options.peers or not old else "none", old)
    settings = Settings(options.size, options.threads, options.seconds, options.limit)
    known = _known(options.json, settings, frameworks) if options.resume else {}
    environment.pin(settings.threads)
    with contextlib.ExitStack() as stack:
        trees = {old: stack.enter_context(compare.checkout(old.split("@")[1]))} if old else {}
        shown = stack.enter_context(progress(frameworks, len(kernels)))
        runner = Runner(settings, frameworks, shown, trees)
        report = runner.report(kernels, known, lambda current: _keep(current, options.json))
    _show(report, old)
    if options.picture:
        _draw(report, options.picture)
    return DONE if all(kernel.seconds("weft") is not None for kernel in report.kernels) else FAILED


def chosen_kernels(text: str | None) -> list[str]:
    names = [name for name in (text or "").split(",") if name] or list(NAMES)
    for name in names:
        try:
            load(name, hand=False)
        except KeyError:
            raise WrongRequest(f"unknown kernel {name!r}; known: {', '.join(NAMES)}") from None
    return names


def chosen_frameworks(text: str | None, old: str | None) -> tuple[str, ...]:
    """NumPy and weft always, the peers that are asked for in between, another commit of weft at the end."""
    peers = [name for name in FRAMEWORKS if name not in ("numpy", "weft")]
    wanted = (
        peers if text in (None, "", "all") else [] if text == "none" else [name for name in text.split(",") if name]
    )
    unknown = [name for name in wanted if name not in FRAMEWORKS]
    if unknown:
        raise WrongRequest(f"unknown peer {unknown[0]!r}; known: {', '.join(peers)}")
    return ("numpy", *(name for name in peers if name in wanted), "weft", *([old] if old else []))


def _other_commit(name: str | None) -> str | None:
    if not name:
        return None
    commit = compare.resolve(name)
    if commit is None:
        raise WrongRequest(f"git knows no commit {name!r}")
    return f"weft@{commit}"


def _known(path: Path | None, settings: Settings, frameworks: tuple[str, ...]) -> dict[str, KernelResult]:
    """The kernels that an interrupted run with the same settings has already written down."""
    if path is None:
        raise WrongRequest("--resume needs --json, the file to go on with")
    if not path.is_file():
        return {}
    report = Report.from_json(json.loads(path.read_text(encoding="utf-8")))
    same = all(report.settings.get(name) == value for name, value in vars(settings).items())
    if not same or report.frameworks != frameworks:
        raise WrongRequest(f"{path} holds a run with other settings or peers")
    return {kernel.kernel: kernel for kernel in report.kernels}


def _keep(report: Report, path: Path | None) -> None:
    if path is not None:
        path.write_text(json.dumps(report.to_json(), indent=1) + "\n", encoding="utf-8")


def _show(report: Report, old: str | None) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    # Rather a line that the terminal folds than a column that is not there.
    console.width = max(console.width, NARROWEST) if sys.stdout.isatty() else PIPE_WIDTH
    console.print()
    console.print(compare.table(report, old) if old else table.table(report, console.width))
    for line in table.failures(report):
        console.print(line, markup=False, style="dim")
    console.print()
    for line in table.summary(report):
        console.print(line, markup=False)
    if old:
        console.print(compare.summary(report, old), markup=False)
    console.print(table.limits(report), markup=False)
    console.print(", ".join(f"{name} {version}" for name, version in report.versions.items()), markup=False)


def _draw(report: Report, path: Path) -> None:
    try:
        from benchmarks.harness.picture import draw

        draw(report, path)
    except ImportError as problem:
        raise WrongRequest(f"no picture: {problem}; pip install 'weft[bench]'") from None
    print(f"picture: {path}")


class _Quiet:
    """No progress: `--calibrate` prints its own lines."""

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: None


def _calibrate(options: argparse.Namespace) -> int:
    """NumPy's times at every size, against what the sizes stand for."""
    aims = {"S": 0.010, "M": 0.100, "L": 1.0}
    environment.pin(options.threads)
    print(f"{'milliseconds':28}" + "".join(f"{size + f' (aim {1e3 * aim:.0f})':>16}" for size, aim in aims.items()))
    for name in chosen_kernels(options.kernels):
        cells = []
        for size, aim in aims.items():
            settings = Settings(size, options.threads, min(options.seconds, 0.5), options.limit)
            runner = Runner(settings, ("numpy",), _Quiet())
            runner.pythons["numpy"] = sys.executable
            attempt = runner.run_kernel(name).chosen("numpy")
            if attempt is None or not attempt.right:
                cells.append(f"{'-' if attempt is None else attempt.status:>16}")
                continue
            off = attempt.best / aim
            cells.append(f"{1e3 * attempt.best:>12.1f}{' ***' if not 1 / 3 <= off <= 3 else '    '}")
        print(f"{name:28}" + "".join(cells), flush=True)
    return DONE
