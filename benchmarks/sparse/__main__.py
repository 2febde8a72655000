"""The command, `python -m benchmarks.sparse`. In come options; out come a table and the JSON that holds everything.

Each program on each pattern has a process for each number of threads, which all libraries are held to; the columns take
turns in it, after their results were compared with SciPy's. The bandwidth of the machine is measured in the same run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import environment, machine
from benchmarks.harness.limits import bandwidth_at
from benchmarks.harness.table import milliseconds, times
from benchmarks.sparse.measure import COLUMNS, WEFT
from benchmarks.sparse.patterns import PATTERNS
from benchmarks.sparse.programs import PROGRAMS

#: Rows at most where SciPy forms a dense matrix of all rows and columns.
MOST_ROWS_DENSE = 10_000


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sparse", description="Sparse and dense in one program.")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--entries", type=int, default=16, help="of a row, on average")
    parser.add_argument("--threads", type=int, default=2, help="besides one")
    parser.add_argument("--programs", help=f"names, with commas between, of {', '.join(PROGRAMS)}; all without")
    parser.add_argument("--patterns", help=f"of {', '.join(PATTERNS)}; all without")
    parser.add_argument("--seconds", type=float, default=1.0, help="of repeats, for each column")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one program on one pattern")
    parser.add_argument("--json", type=Path, help="the file that keeps everything, written after each program")
    parser.add_argument("--show", action="store_true", help="only the table of the file of --json")
    return parser


def _chosen(text: str | None, known: Sequence[str], what: str) -> list[str]:
    names = [name.strip() for name in (text or "").split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise ValueError(f"unknown {what} {name!r}; known: {', '.join(known)}")
    return names or list(known)


def _asked(name: str, pattern: str, rows: int, threads: int, options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as directory:
        settings = environment.variables(
            "weft", threads, Path(directory), environment.ROOT, Path(sys.executable)
        )
        arguments = [name, pattern, str(rows), str(options.entries), str(options.seconds)]
        command = [sys.executable, "-m", "benchmarks.sparse.measure", *arguments]
        base: dict[str, Any] = {"program": name, "pattern": pattern, "rows": rows, "threads": threads, "columns": {}}
        try:
            done = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=options.limit)
        except subprocess.TimeoutExpired:
            return {**base, "problem": f"more than {options.limit:.0f} s"}
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        return {**base, "problem": (done.stderr.strip().splitlines() or ["it ended without a word"])[-1][:300]}
    return dict(json.loads(lines[-1]))


def run(options: argparse.Namespace) -> dict[str, Any]:
    environment.pin(options.threads)
    counts = [1] + ([options.threads] if options.threads > 1 else [])
    bandwidth = {str(count): machine.limits(count).get("bandwidth", {}) for count in counts}
    report: dict[str, Any] = {"machine": machine.description(), "bandwidth": bandwidth, "results": []}
    for name in _chosen(options.programs, list(PROGRAMS), "program"):
        rows = min(options.rows, MOST_ROWS_DENSE) if PROGRAMS[name].small else options.rows
        for pattern in _chosen(options.patterns, list(PATTERNS), "pattern"):
            for count in counts:
                print(f"{name}, {pattern}, {count} threads", file=sys.stderr, flush=True)
                report["results"].append(_asked(name, pattern, rows, count, options))
            if options.json is not None:
                options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return report


def best(result: Mapping[str, Any] | None, column: str) -> float | None:
    found = (result or {}).get("columns", {}).get(column, {})
    return min(found["times"]) if found.get("times") and not found.get("problem") else None


def _cell(result: Mapping[str, Any] | None, column: str) -> str:
    seconds = best(result, column)
    if seconds is not None:
        return milliseconds(seconds)
    problem = (result or {}).get("columns", {}).get(column, {}).get("problem", "")
    return "-" if problem in ("", "not installed", "no port") else "failed"


def _ratio(one: float | None, other: float | None) -> str:
    return "-" if one is None or other is None else times(one / other)


def _of_bandwidth(report: Mapping[str, Any], result: Mapping[str, Any] | None) -> str:
    """The part of the machine's bandwidth that weft's least traffic takes."""
    seconds, rates = best(result, WEFT), report["bandwidth"].get(str((result or {}).get("threads")), {})
    moved = (result or {}).get("bytes")
    if seconds is None or not moved or not rates:
        return "-"
    return f"{100 * moved / seconds / bandwidth_at(rates, moved):.0f} %"


def table(report: Mapping[str, Any]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    counts = sorted({result["threads"] for result in report["results"]})
    most = counts[-1]
    made = Table(title="Sparse and dense: milliseconds", title_justify="left", pad_edge=False, box=SIMPLE_HEAD)
    heads = ["program", "pattern", "rows"]
    heads += [f"{column} {count}" for column in COLUMNS for count in counts]
    heads += [f"{column}/weft {count}" for column in COLUMNS[:-1] for count in counts]
    heads += [f"of bandwidth {count}" for count in counts]
    for head in heads:
        made.add_column(head, justify="left" if head in heads[:2] else "right", no_wrap=True)
    found = {(r["program"], r["pattern"], r["threads"]): r for r in report["results"]}
    for program, pattern in dict.fromkeys((r["program"], r["pattern"]) for r in report["results"]):
        of = {count: found.get((program, pattern, count)) for count in counts}
        made.add_row(
            program,
            pattern,
            str((of[most] or {}).get("rows", "")),
            *(_cell(of[count], column) for column in COLUMNS for count in counts),
            *(_ratio(best(of[count], column), best(of[count], WEFT)) for column in COLUMNS[:-1] for count in counts),
            *(_of_bandwidth(report, of[count]) for count in counts),
        )
    return made


def failures(report: Mapping[str, Any]) -> list[str]:
    lines = []
    for result in report["results"]:
        where = f"{result['program']}, {result['pattern']}, {result['threads']} threads"
        if result.get("problem"):
            lines.append(f"{where}: {result['problem']}")
        for column, found in result["columns"].items():
            if found.get("problem") and found["problem"] not in ("not installed", "no port"):
                lines.append(f"{where}, {column}: {found['problem']}")
    return lines


def show(report: Mapping[str, Any]) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    if not sys.stdout.isatty():
        console.width = 260
    console.print(table(report))
    for line in failures(report):
        console.print(line, markup=False)
    console.print("of bandwidth: what must be moved at least, over what the machine moves in this run")


def main() -> int:
    options = _options().parse_args()
    try:
        if options.show:
            if options.json is None or not options.json.is_file():
                raise ValueError("--show needs --json, the file of a run")
            report = json.loads(options.json.read_text(encoding="utf-8"))
        else:
            report = run(options)
    except ValueError as problem:
        print(problem, file=sys.stderr)
        return 2
    show(report)
    return 1 if any(f", {WEFT}: " in line for line in failures(report)) else 0


if __name__ == "__main__":
    sys.exit(main())
