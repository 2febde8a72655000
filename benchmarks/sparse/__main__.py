"""The command, `python -m benchmarks.sparse`. In come options; out come a table and the JSON that holds everything.

Each pattern of each size has a process for each number of threads, which all libraries are held to (`children.py`); it
goes through the programs, and the columns take turns in each, after their results were compared with SciPy's. What
would take longer than a program may, or than is left for all, is left out and named. The bandwidth of the machine is
measured in the same run.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import environment, machine
from benchmarks.harness.limits import bandwidth_at
from benchmarks.harness.table import milliseconds, times
from benchmarks.sparse.children import Asked, answers
from benchmarks.sparse.measure import COLUMNS, LEFT_OUT, SCIPY, WEFT
from benchmarks.sparse.patterns import PATTERNS
from benchmarks.sparse.programs import PROGRAMS

#: Rows at most where SciPy forms a dense matrix of all rows and columns.
MOST_ROWS_DENSE = 10_000
#: Entries at most: with more rows there are fewer in each.
MOST_ENTRIES = 8_000_000
#: A column takes about so many times as long as a call: the first one, the comparison, the repeats.
CALLS = 3


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sparse", description="Sparse and dense in one program.")
    parser.add_argument("--rows", default="10000,100000,1000000", help="numbers of rows, with commas between")
    parser.add_argument("--entries", type=int, default=16, help=f"of a row, on average; of all up to {MOST_ENTRIES:,}")
    parser.add_argument("--threads", type=int, default=2, help="besides one")
    parser.add_argument("--programs", help=f"names, with commas between, of {', '.join(PROGRAMS)}; all without")
    parser.add_argument("--patterns", help=f"of {', '.join(PATTERNS)}; all without")
    parser.add_argument("--seconds", type=float, default=0.1, help="of repeats, for each column")
    parser.add_argument("--limit", type=float, default=15.0, help="seconds for one program on one pattern")
    parser.add_argument("--budget", type=float, default=660.0, help="seconds for all; what is left then is left out")
    parser.add_argument("--json", type=Path, help="the file that keeps everything, written after each process")
    parser.add_argument("--show", action="store_true", help="only the table of the file of --json")
    return parser


def _chosen(text: str | None, known: Sequence[str], what: str) -> list[str]:
    names = [name.strip() for name in (text or "").split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise ValueError(f"unknown {what} {name!r}; known: {', '.join(known)}")
    return names or list(known)


def _sizes(text: str) -> list[int]:
    sizes = sorted({int(part) for part in text.split(",")})
    if sizes[0] < 1:
        raise ValueError(f"{sizes[0]} rows; at least one")
    return sizes


def _each(options: argparse.Namespace, size: int) -> int:
    return int(min(options.entries, max(1, MOST_ENTRIES // size)))


def _entries(options: argparse.Namespace, result: Mapping[str, Any]) -> int:
    return int(result["rows"]) * _each(options, int(result["rows"]))


def _left_out(smaller: Mapping[str, Any] | None, times: float, limit: float) -> tuple[str, list[str]]:
    """Why a program is not measured with `times` as many entries, by what it took with fewer (empty if it is), and the
    columns that are left out at least: each may take an equal part of the limit."""
    if smaller is None:
        return "", []
    if smaller.get("problem"):
        return "left out, as with fewer rows", []
    part, slow = limit / len(COLUMNS), []
    for column, found in smaller["columns"].items():
        if found.get("problem") == LEFT_OUT or (found.get("times") and CALLS * times * min(found["times"]) > part):
            slow.append(column)
    return ("left out: SciPy takes too long" if SCIPY in slow else ""), slow


def run(options: argparse.Namespace) -> dict[str, Any]:
    start = time.monotonic()
    names = _chosen(options.programs, list(PROGRAMS), "program")
    patterns = _chosen(options.patterns, list(PATTERNS), "pattern")
    sizes = _sizes(options.rows)
    environment.pin(options.threads)
    counts = [1] + ([options.threads] if options.threads > 1 else [])
    bandwidth = {str(count): machine.limits(count).get("bandwidth", {}) for count in counts}
    report: dict[str, Any] = {"machine": machine.description(), "bandwidth": bandwidth, "results": []}
    before: dict[tuple[str, str, int], dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as directory:
        for size in sizes:
            for pattern in patterns:
                for count in counts:
                    asked = Asked(pattern, size, _each(options, size), count)
                    now: dict[str, list[str]] = {}
                    for name in names:
                        if PROGRAMS[name].small and size > MOST_ROWS_DENSE and size != sizes[0]:
                            continue
                        smaller = before.get((name, pattern, count))
                        more = 0.0 if smaller is None else size * asked.each / _entries(options, smaller)
                        why, slow = _left_out(smaller, more, options.limit)
                        if time.monotonic() - start > options.budget:
                            why = "left out: the time was up"
                        if why:
                            report["results"].append(asked.empty(name, why))
                        else:
                            now[name] = slow
                    print(f"{size} rows, {pattern}, {count} threads", file=sys.stderr, flush=True)
                    until = start + options.budget
                    for result in answers(asked, now, options.seconds, options.limit, until, Path(directory)):
                        before[result["program"], pattern, count] = result
                        report["results"].append(result)
                    if options.json is not None:
                        report["seconds"] = time.monotonic() - start
                        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    report["seconds"] = time.monotonic() - start
    return report


def best(result: Mapping[str, Any] | None, column: str) -> float | None:
    found = (result or {}).get("columns", {}).get(column, {})
    return min(found["times"]) if found.get("times") and not found.get("problem") else None


def _cell(result: Mapping[str, Any] | None, column: str) -> str:
    seconds = best(result, column)
    if seconds is not None:
        return milliseconds(seconds)
    problem = (result or {}).get("columns", {}).get(column, {}).get("problem", "")
    return "-" if problem in ("", "not installed", "no port", LEFT_OUT) else "failed"


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
    made = Table(title="Sparse and dense: milliseconds", title_justify="left", pad_edge=False, box=SIMPLE_HEAD)
    heads = ["program", "pattern", "rows"]
    heads += [f"{column} {count}" for column in COLUMNS for count in counts]
    heads += [f"{column}/weft {count}" for column in COLUMNS[:-1] for count in counts]
    heads += [f"of bandwidth {count}" for count in counts]
    for head in heads:
        made.add_column(head, justify="left" if head in heads[:2] else "right", no_wrap=True)
    found = {(r["program"], r["rows"], r["pattern"], r["threads"]): r for r in report["results"]}
    places = {name: place for place, name in enumerate(PROGRAMS)}
    cells = dict.fromkeys((r["program"], r["rows"], r["pattern"]) for r in report["results"])
    for program, rows, pattern in sorted(cells, key=lambda cell: (places.get(cell[0], 0), cell[1])):
        of = {count: found.get((program, rows, pattern, count)) for count in counts}
        made.add_row(
            program,
            pattern,
            str(rows),
            *(_cell(of[count], column) for column in COLUMNS for count in counts),
            *(_ratio(best(of[count], column), best(of[count], WEFT)) for column in COLUMNS[:-1] for count in counts),
            *(_of_bandwidth(report, of[count]) for count in counts),
        )
    return made


def failures(report: Mapping[str, Any]) -> list[str]:
    lines = []
    for result in report["results"]:
        where = f"{result['program']}, {result['rows']} rows, {result['pattern']}, {result['threads']} threads"
        if result.get("problem"):
            lines.append(f"{where}: {result['problem']}")
        for column, found in result["columns"].items():
            if found.get("problem") and found["problem"] not in ("not installed", "no port", LEFT_OUT):
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
    for count, rates in report["bandwidth"].items():
        if rates:
            console.print(f"bandwidth, {count} threads: {bandwidth_at(rates, 1 << 28) / 1e9:.1f} GB/s of 256 MB")
    console.print(f"all of it took {report.get('seconds', 0.0):.0f} s")


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
