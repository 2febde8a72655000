"""`python -m weft.compat [-m] script.py ...`: a script or module with weft in Numba's place.  In: its path or name and
its arguments; out: what it does by itself, and on stderr at most one line for each thing that Numba would do otherwise.
"""

from __future__ import annotations

import sys

from weft import compat, warned
from weft.cli import WRONG_REQUEST, complain
from weft.cli.run import Program, execute, module_program, script_program

_USAGE = """usage: python -m weft.compat [--quiet] script.py [arguments]
       python -m weft.compat [--quiet] -m module [arguments]"""


def main(given: list[str]) -> int:
    """Run one program; its exit code."""
    quiet = given[:1] == ["--quiet"]
    given = given[quiet:]
    if given[:1] in (["-h"], ["--help"]):
        print(_USAGE)
        return 0
    is_module = given[:1] == ["-m"]
    given = given[is_module:]
    if not given or given[0].startswith("-"):
        return complain(_USAGE, WRONG_REQUEST)
    compat.install()
    found: Program | int = (module_program if is_module else script_program)(given[0], given[1:])
    if isinstance(found, int):
        return found
    warned.summarise()
    try:
        return execute(found, lambda: _tell(quiet))
    finally:
        _tell(quiet)


def _tell(quiet: bool) -> None:
    """The notes, once."""
    lines = [] if quiet else [*warned.summary(), *compat.note_text()]
    for line in lines:
        print(f"weft.compat: {line}", file=sys.stderr)
    compat.clear()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
