"""`weft profile`: a program recorded.  In: a script or module with its arguments, or a store of MonkeyType; out: tables
of types and hot lines on stderr, and hints beside the source, in a copy of it or in a stub.
"""

from __future__ import annotations

import json
import linecache
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.cli import DONE, WRONG_REQUEST, complain
from weft.cli.run import Program, execute
from weft.errors import WeftError
from weft.heat import hints as kept

if TYPE_CHECKING:
    from weft.heat.recording import Recorder

_MOST_FUNCTIONS, _MOST_LINES = 30, 15
_Hints = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Outputs:
    """Where hints go: a copy of the source, a stub, another file than the one beside the source; or nowhere."""

    annotate: Path | None = None
    stub: Path | None = None
    sidecar: Path | None = None
    as_json: bool = False


def profile_program(program: Program, outputs: Outputs) -> int:
    """Record a program; its exit code.  SystemExit passes through, after the tables."""
    from weft.heat.recording import Recorder

    recorder = Recorder()
    has_ended = False

    def ended() -> None:
        nonlocal has_ended
        if not has_ended:
            has_ended = True
            recorder.stop()
            sys.stdout.flush()
            _tell(recorder, program, outputs)

    recorder.start()
    try:
        return execute(program, ended)
    finally:
        ended()


def profile_store(store: Path, source: Path, outputs: Outputs) -> int:
    """The types of a MonkeyType store as hints of `source`."""
    from weft.heat import monkeytype

    if not source.is_file():
        return complain(f"no such file: {source}", WRONG_REQUEST)
    found = monkeytype.read(store, source)
    if not found:
        return complain(f"{store} holds nothing of the module {source.stem}", WRONG_REQUEST)
    for name, types in found.items():
        print(f"{name}({_parameters(types)})", file=sys.stderr)
    _write(source, found, outputs)
    return DONE


# --- files ----------------------------------------------------------------------------------------------------------


def _write(source: Path, found: _Hints, outputs: Outputs) -> None:
    """Hints of one source file, wherever they are wanted; of the program's main file if there are several."""
    from weft.heat import writing

    try:
        text = source.read_text(encoding="utf-8")
        if outputs.annotate is not None:
            _put(outputs.annotate, writing.annotated(text, found))
        if outputs.stub is not None:
            _put(outputs.stub, writing.stub(text, found))
        if outputs.sidecar is not None or (outputs.annotate is None and outputs.stub is None):
            print(f"wrote {kept.write(source, found, outputs.sidecar)}", file=sys.stderr)
    except (OSError, UnicodeDecodeError, SyntaxError) as problem:
        raise WeftError(f"the hints of {source} cannot be written: {problem}") from None


def _put(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    print(f"wrote {file}", file=sys.stderr)


# --- tables ---------------------------------------------------------------------------------------------------------


def _tell(recorder: Recorder, program: Program, outputs: Outputs) -> None:
    if outputs.as_json:
        print(json.dumps(_data(recorder), indent=1), file=sys.stderr)
    else:
        _tables(recorder)
    by_file: dict[str, dict[str, dict[str, str]]] = {}
    for item in recorder.functions:
        hints = by_file.setdefault(os.path.realpath(item.code.co_filename), {})
        if item.calls and item.hints():
            hints[item.name] = item.hints()
    main = os.path.realpath(program.file)
    for file, found in by_file.items():
        if file == main:
            _write(Path(file), found, outputs)
        elif found and outputs == Outputs(as_json=outputs.as_json):  # modules of the program, each beside its source
            _write(Path(file), found, Outputs())


def _data(recorder: Recorder) -> dict[str, Any]:
    taken = max(recorder.samples, 1)
    functions = [
        {
            "function": item.name,
            "file": item.code.co_filename,
            "line": item.code.co_firstlineno,
            "calls": item.calls,
            "share": item.samples / taken,
            "hints": item.hints(),
        }
        for item in recorder.functions
    ]
    lines = [{"file": file, "line": line, "share": count / taken} for (file, line), count in recorder.lines.items()]
    return {"functions": functions, "lines": sorted(lines, key=lambda item: -float(item["share"]))}


def _parameters(hints: Mapping[str, str]) -> str:
    return ", ".join(f"{name}: {hint}" for name, hint in hints.items() if name != "return")


def _tables(recorder: Recorder) -> None:
    from rich.console import Console
    from rich.table import Table

    taken = max(recorder.samples, 1)
    console = Console(stderr=True, highlight=False)
    functions = sorted((f for f in recorder.functions if f.calls), key=lambda f: (-f.samples, -f.calls))
    table = Table(title="functions", title_justify="left", box=None, padding=(0, 1))
    for title in ("time", "calls", "function", "types"):
        table.add_column(title, justify="right" if title in ("time", "calls") else "left", overflow="fold")
    for item in functions[:_MOST_FUNCTIONS]:
        hints = item.hints()
        result = f" -> {hints['return']}" if "return" in hints else ""
        place = f"{os.path.basename(item.code.co_filename)}:{item.code.co_firstlineno}"
        row = (f"{item.samples / taken:.0%}", str(item.calls), f"{item.name} ({place})", _parameters(hints) + result)
        table.add_row(*(_plain(text) for text in row))
    console.print(table)
    if len(functions) > _MOST_FUNCTIONS:
        console.print(f"... and {len(functions) - _MOST_FUNCTIONS} functions more")
    hot = sorted(recorder.lines.items(), key=lambda pair: -pair[1])[:_MOST_LINES]
    if hot:
        table = Table(title="lines", title_justify="left", box=None, padding=(0, 1))
        for title in ("time", "line", "source"):
            table.add_column(title, justify="right" if title == "time" else "left", overflow="fold")
        for (file, line), count in hot:
            text = linecache.getline(file, line).strip()
            cells = (f"{count / taken:.0%}", f"{os.path.basename(file)}:{line}", text)
            table.add_row(*(_plain(item) for item in cells))
        console.print(table)


def _plain(text: str) -> Any:
    """Text in which brackets are no markup."""
    from rich.text import Text

    return Text(text)
