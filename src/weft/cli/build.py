"""`weft build`: a module compiled ahead of time.  In: a file; out: a package that imports like it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from weft.cli import DONE, FAILED, complain
from weft.cli.load import functions_of, import_file, is_distributed


def build_module(path: Path, output: Path) -> int:
    """Compile every function with complete hints, its own or recorded ones, and write the package `output`/<module>."""
    from weft.ahead import Prebuilt, require_own, write
    from weft.heat import hints
    from weft.runtime.toolchain import find

    if find() is None:
        return complain("no C compiler works here: weft build needs one (weft doctor says why)", FAILED)
    package = output / path.stem
    require_own(package)
    module = import_file(path)
    versions: list[Prebuilt] = []
    skipped: dict[str, str] = {}
    recorded = hints.read(hints.place(path)) if hints.place(path).is_file() else {}
    for name, function in functions_of(module).items():
        if is_distributed(function):
            skipped[name] = "it runs on a cluster"
            continue
        reason = "its parameters have no complete hints"
        if not function.compile_hints() and recorded:
            kinds = hints.specs_for(function.py_func, recorded)
            reason = kinds if isinstance(kinds, str) else "it has no native form"
            if not isinstance(kinds, str):
                function.compile_hints(kinds)
        if function.versions:
            function.compile_overlapping()
        found = _native_versions(name, function)
        versions += found
        if not found:
            skipped[name] = reason
    refused = write(path, package, versions, {item.function: {} for item in versions})
    for item in versions:
        if item.function not in refused:
            print(f"{item.function}{item.signature}")
    for name, reason in skipped.items():
        print(f"{name}: left to the first call ({reason})", file=sys.stderr)
    for name in refused:
        print(f"{name}: left to the first call (it reads a closure or an object)", file=sys.stderr)
    print(f"wrote {package}")
    return DONE


def _native_versions(name: str, function: Any) -> list[Any]:
    from weft.ahead import Prebuilt

    found: list[Any] = []
    for version, signature in zip(function.versions, function.signatures):
        path = getattr(version.keepalive, "path", None)
        if version.native and path is not None:
            found.append(Prebuilt(name, signature, version, path))
    return found
