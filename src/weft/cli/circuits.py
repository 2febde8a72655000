"""`weft build --emit hls` and `--emit intel`: functions as source for high-level synthesis.  In: a file whose functions
have complete hints; out: a file for each of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from weft.cli import DONE, FAILED, complain
from weft.cli.load import functions_of, import_file, is_distributed

_ENDINGS = {"hls": ".cpp", "intel": ".cl"}


def emit_circuits(path: Path, output: Path, form: str) -> int:
    """Write `output`/<function>.cpp or .cl for every function whose hints are complete; the exit code."""
    from weft.errors import Unsupported
    from weft.frontend.hints import specs_from_hints
    from weft.hls import emit

    written: list[Path] = []
    for name, function in functions_of(import_file(path)).items():
        kinds = None if is_distributed(function) else specs_from_hints(function.py_func)
        if kinds is None:
            print(f"{name}: its parameters have no complete hints", file=sys.stderr)
            continue
        try:
            made = emit(function, kinds, form)
        except Unsupported as problem:
            complain(str(problem), FAILED)
            continue
        output.mkdir(parents=True, exist_ok=True)
        written.append(output / f"{name}{_ENDINGS[form]}")
        written[-1].write_text(made.text, encoding="utf-8")
        print(f"wrote {written[-1]}")
    if not written:
        return complain(f"{path} has no function that can be a circuit", FAILED)
    return DONE
