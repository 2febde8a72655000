"""Modules compiled ahead of time.  In: a module's file and versions of its functions; out: a package that imports like
the module and brings its machine code along (`write`), and, at import, that code installed (`load`).

    build/heat/  __init__.py  source.py  manifest.json  core.so  step-1.so ...

Importing needs no compiler.  The code is used if weft, the interpreter, the processor and the checksums are those of
the build; otherwise functions are compiled at their first call.  Without weft the package is the plain module.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import types
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from weft import __version__, transform_file
from weft.errors import CacheWarning, CompileError
from weft.folders import INIT_FILE, MANIFEST, checksum, replaced, require_own, write_manifest
from weft.runtime import trusted
from weft.runtime.descriptor import Version

__all__ = ["CORE", "SOURCE", "Prebuilt", "load", "require_own", "write"]

SOURCE = "source.py"
CORE = "core.so"
_FORMAT = 1

_INIT = '''"""{module}, compiled ahead of time by weft {version}; its source is in source.py."""

import pathlib as _pathlib

_directory = _pathlib.Path(__file__).parent
try:
    from weft.ahead import load as _load
except ImportError:
    _source = _directory / "source.py"
    exec(compile(_source.read_text(encoding="utf-8"), str(_source), "exec"))
else:
    _load(globals(), _directory)
'''


@dataclass(frozen=True)
class Prebuilt:
    """One version to ship: the function it belongs to, its signature for people, its descriptor and its library."""

    function: str
    signature: str
    version: Version
    library: Path


def write(source: Path, package: Path, versions: list[Prebuilt], options: Mapping[str, dict[str, Any]]) -> list[str]:
    """Write the package; the names of functions whose versions cannot leave this process are returned.

    `options` are those of each compiled function, given again to `jit` at import. The package is written beside its
    place and renamed; a folder in that place that is not weft's own stays, and is a WeftError.
    """
    return replaced(package, lambda staged: _fill(staged, source, versions, options))


def _fill(
    staged: Path, source: Path, versions: list[Prebuilt], options: Mapping[str, dict[str, Any]]
) -> list[str]:
    from weft.runtime.portable import portable

    (staged / SOURCE).write_bytes(source.read_bytes())
    transforms = transform_file.place(str(source))
    if transforms.is_file():  # for what has to be compiled again where the package is used
        shutil.copyfile(transforms, transform_file.place(str(staged / SOURCE)))
    (staged / INIT_FILE).write_text(_INIT.format(module=source.stem, version=__version__), encoding="utf-8")
    functions: dict[str, Any] = {}
    refused: list[str] = []
    for item in versions:
        made_from = (fact.owner for fact in item.version.facts if fact.kind == "code")
        data = portable(item.version, owner=next(made_from, None))  # the function itself comes first
        if data is None:
            refused.append(item.function)
            continue
        entry = functions.setdefault(item.function, {"options": options.get(item.function, {}), "versions": []})
        name = f"{item.function}-{len(entry['versions']) + 1}.so"
        shutil.copyfile(item.library, staged / name)
        entry["versions"].append({"signature": item.signature, "library": name, "descriptor": data})
    core = _core_path()
    if core is not None and functions:
        shutil.copyfile(core, staged / CORE)
    write_manifest(staged, {"format": _FORMAT, "made_for": _circumstances(), "functions": functions})
    return refused


def load(namespace: dict[str, Any], directory: Path) -> None:
    """Execute the module's source in `namespace`, then put compiled functions in the place of plain ones."""
    source = directory / SOURCE
    exec(compile(source.read_text(encoding="utf-8"), str(source), "exec", dont_inherit=True), namespace)
    manifest, problem = _manifest(directory)
    if problem:
        message = f"{directory}: {problem}; its functions are compiled when they are called"
        warnings.warn(message, CacheWarning, stacklevel=3)
    for name, entry in manifest.get("functions", {}).items():
        plain = namespace.get(name)
        if plain is None or not (isinstance(plain, types.FunctionType) or hasattr(plain, "py_func")):
            continue
        checksums = {} if problem else manifest["checksums"]
        namespace[name] = _compiled(plain, entry, directory, namespace, checksums)


def _manifest(directory: Path) -> tuple[dict[str, Any], str]:
    """What the package holds, and why its code cannot be used ("" if it can)."""
    try:
        with os.fdopen(trusted.opened(directory / MANIFEST), "rb") as stream:
            manifest: dict[str, Any] = json.load(stream)
        if manifest.get("format") != _FORMAT:
            return {}, "made by another weft"
        libraries = [item["library"] for entry in manifest["functions"].values() for item in entry["versions"]]
        return manifest, _unusable(directory, manifest, libraries)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as trouble:
        return {}, f"its manifest cannot be read ({trouble})"


def _unusable(directory: Path, manifest: Mapping[str, Any], libraries: list[str]) -> str:
    """Why the code of a package cannot be used; "" if it can."""
    for name in libraries:
        if not manifest["checksums"].get(name):
            return f"there is no checksum of {name}"
    for name, expected in manifest["checksums"].items():
        if PurePath(name).name != name:
            return f"{name} is outside of its folder"
        try:
            if checksum(directory / name) != expected:
                return f"{name} is not the file that was built"
        except OSError as problem:
            return f"{name} cannot be read ({problem.strerror or problem})"
    now = _circumstances()
    for topic, expected in manifest["made_for"].items():
        if now.get(topic) != expected:
            return f"built for another {topic}"
    return ""


def _compiled(
    plain: Any, entry: Mapping[str, Any], directory: Path, namespace: dict[str, Any], checksums: Mapping[str, str]
) -> Any:
    """A compiled function with the versions of the package; without `checksums` its code is not used."""
    from weft.runtime.dispatch import load_kernel, offer_core
    from weft.runtime.portable import restored

    if CORE in checksums:
        offer_core(directory / CORE, checksums[CORE])
    from weft.api import jit  # chooses the dispatcher when it is imported: the core must have been offered

    function = plain if hasattr(plain, "py_func") else jit(plain, **entry["options"])
    if not checksums or not hasattr(function, "install"):
        return function
    for item in entry["versions"]:
        try:
            kernel = load_kernel(directory / item["library"], checksum=checksums[item["library"]])
            version = restored(item["descriptor"], kernel.address, namespace, kernel, owner=function.py_func)
        except (CompileError, LookupError):
            continue  # it cannot be loaded here, or was made from other things: compiled when it is called
        if version.location is not None:
            here = replace(version.location, file=str(directory / SOURCE))
            version = replace(version, location=here)
        function.install(version, item["signature"])
    return function


def _core_path() -> Path | None:
    from weft.runtime.dispatch import load_core

    core = load_core()
    return None if core is None else core.path


def _circumstances() -> dict[str, str]:
    """What machine code depends on besides its source."""
    from weft.runtime.toolchain import cpu_identity

    return {
        "weft": __version__,
        "interpreter": f"{sys.implementation.cache_tag}-{sys.platform}",
        "processor": hashlib.blake2b(cpu_identity().encode(), digest_size=16).hexdigest(),
    }
