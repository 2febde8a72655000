"""`weft build --emit`: source to source.  In: a file and calls to compile for; out: a module without weft.

Also `weft explain --steps`: the program as Python after each pass that changed it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weft.cli import DONE, FAILED, complain
from weft.cli.load import functions_of, import_file, is_distributed

#: What `--emit` writes, and where that is made.
KINDS = {"python": "forms", "c": "native", "cupy": "arrays", "opencl": "opencl", "ray": "tasks"}


def emit_module(path: Path, output: Path, kind: str, calls: Sequence[str]) -> int:
    """Write `output`/<module>.py; nothing is written if anything is wrong."""
    from weft import __version__
    from weft.cli.explain import compile_for
    from weft.emit import modules

    place = importlib.import_module(f"weft.emit.{KINDS[kind]}")
    form = place.PYTHON if kind == "python" else place.FORM
    module = import_file(path)
    # Of a function for a cluster or a device: its program.
    functions = {name: getattr(found, "local", found) for name, found in functions_of(module).items()}
    failed = compile_for(module.__dict__, functions, calls)
    if failed is not None:
        return complain(failed, FAILED)
    target = output / path.name
    if target.exists() and target.resolve() == path.resolve():
        return complain(f"{target} is the source itself: give another directory by -o", FAILED)
    versions = {name: modules.versions_of(function) for name, function in functions.items()}
    text = path.read_text(encoding="utf-8")
    made = modules.emitted(path.name, text, versions, __version__, form)
    if not made.variants:
        for name, reason in made.skipped.items():
            print(f"{name}: {reason}", file=sys.stderr)
        return complain(f"no function of {path} was compiled: give hints, or calls by --call", FAILED)
    output.mkdir(parents=True, exist_ok=True)
    target.write_text(made.text, encoding="utf-8")
    for name, count in made.variants.items():
        print(f"{name}: {count} variant{'s' if count > 1 else ''}")
    for name, reason in made.skipped.items():
        print(f"{name}: as written ({reason})", file=sys.stderr)
    for name, reason in made.notes.items():
        print(f"{name}: not for {kind} ({reason})", file=sys.stderr)
    print(f"wrote {target}")
    return DONE


def print_steps(functions: dict[str, Any]) -> None:
    """Each function's newest version as Python, after each pass that changed it."""
    for name, function in functions.items():
        local = function.local if is_distributed(function) else function
        if not local.versions:
            print(f"# {name}: compiled for no arguments; give hints, or calls by --call\n")
            continue
        for stage, text in steps_of(local):
            print(f"# --- {name}: {stage}\n{text}\n")


def steps_of(function: Any) -> list[tuple[str, str]]:
    """The program after each pass that changed it, as Python; as IR where it has no such form any more."""
    from weft import pipeline
    from weft.codegen.python import generate
    from weft.ir.text import show

    found: list[tuple[str, str]] = []
    before = None
    for name, program in pipeline.stages_of(function._pick(None).built, function.options):
        if program == before:
            continue
        before = program
        try:
            text = generate(program)
        except Exception:  # a library call, or a loop that only C knows
            text = show(program)
        if not found or found[-1][1] != text:
            found.append((name if name == "built" else f"after {name}", text))
    return found
