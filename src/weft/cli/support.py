"""`weft support`: what is native, with which arguments.  In: a name, or none for everything; out: a table."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from weft.cli import DONE, WRONG_REQUEST, complain, say
from weft.report import support
from weft.report.support import Row

_STYLES = {"native": "green", "library": "cyan", "Python": "dim"}


def show_support(name: str | None, as_json: bool, as_markdown: bool) -> int:
    """Print the table, or what is known of one name."""
    if as_markdown:
        print(support.page(), end="")
        return DONE
    table = support.rows()
    if name is not None:
        found = support.find(name, table)
        if not found:
            close = support.suggestions(name, table)
            hint = f"did you mean {', '.join(close)}?" if close else "`weft support` lists what there is"
            return complain(f"no function {name} in NumPy, math, cmath or among the builtins\n{hint}", WRONG_REQUEST)
        table = found
    if as_json:
        print(json.dumps([asdict(row) for row in table], indent=2))
    elif name is not None:
        for row in table:
            first, *rest = support.details(row)
            say(first, _STYLES[row.path])
            for line in rest:
                say("  " + line)
    else:
        for family, members in support.families(table).items():
            _print_family(support.heading(family), members)
    return DONE


def _print_family(title: str, members: Sequence[Row]) -> None:
    known = [row for row in members if row.path != "Python"]
    unknown = [row.name for row in members if row.path == "Python"]
    say(f"{title}: {len(known)} native, {len(unknown)} in Python", "bold")
    if sys.stdout.isatty():
        _rich_table(known)
    else:
        width = max((len(row.name) for row in known), default=0)
        for row in known:
            print(f"  {row.name:<{width}}  {row.path:<7}  {_arguments(row)}{_outside(row)}")
    if unknown:
        say("in Python: " + ", ".join(unknown), "dim")
    print()


def _rich_table(known: Sequence[Row]) -> None:
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        for row in known:
            print(f"  {row.name}  {row.path}  {_arguments(row)}{_outside(row)}")
        return
    table = Table("name", "path", "arguments", "in Python with", "dtypes", "limits", box=None, pad_edge=False)
    for row in known:
        outside = ", ".join(row.uncovered)
        table.add_row(row.name, row.path, _arguments(row), outside, row.dtypes, "; ".join(row.notes))
    Console(highlight=False).print(table, markup=False)


def _arguments(row: Row) -> str:
    return f"as {row.alias_of}" if row.alias_of else ", ".join(row.covered)


def _outside(row: Row) -> str:
    """What is not covered, for one line of plain text."""
    if row.alias_of:
        return ""
    parts = [f"not {', '.join(row.uncovered)}"] if row.uncovered else []
    parts += [f"only {row.dtypes}"] if row.dtypes not in ("", "all") else []
    return "".join(f"; {part}" for part in (*parts, *row.notes))
