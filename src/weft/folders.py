"""Folders that `weft build` writes.  In: what is to stand in a folder; out: the folder in its place, in one step, and
never in the place of something that weft has not written.

A manifest in the folder names its files with their checksums: it is the mark of weft's own.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from weft.errors import WeftError
from weft.runtime import trusted

MANIFEST = "manifest.json"
INIT_FILE = "__init__.py"
#: Stands in the manifest: a folder without it was not written here, and is never removed.
MARK = "weft build"
#: Files that a user may have edited.
_TEXTS = (".py", ".toml", ".h", ".hpp", ".f90", ".pc", ".cmake")
T = TypeVar("T")


def replaced(folder: Path, fill: Callable[[Path], T]) -> T:
    """Have a folder filled beside its place, and renamed into it; what `fill` gives.

    A folder in that place that is not weft's own stays, and is a WeftError.
    """
    require_own(folder)
    staged = _beside(folder)
    try:
        staged.mkdir(parents=True)
        try:
            result = fill(staged)
            require_own(folder)
            _take_place(staged, folder)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
    except OSError as problem:
        raise WeftError(f"{folder} cannot be written: {problem.strerror or problem}") from problem
    return result


def write_manifest(folder: Path, content: dict[str, Any]) -> None:
    """The manifest of a folder that is filled otherwise."""
    own = {file: checksum(folder / file) for file in files(folder) if file != INIT_FILE}
    manifest = {"written_by": MARK, "checksums": own} | content
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")


def files(folder: Path) -> list[str]:
    """The files below a folder, without what Python has compiled."""

    def below(place: Path) -> Iterator[str]:
        for path in sorted(place.iterdir()):
            if path.is_dir() and not path.is_symlink():
                if path.name != "__pycache__":
                    yield from below(path)
            else:
                yield path.relative_to(folder).as_posix()

    return list(below(folder))


def require_own(folder: Path) -> None:
    """WeftError if a new folder in that place would remove what `weft build` did not write."""
    if not os.path.lexists(folder):
        return
    foreign = _foreign(folder)
    if foreign:
        raise WeftError(f"{folder} stays as it is: {foreign}. Remove it, or choose another folder with -o")


def _foreign(folder: Path) -> str:
    """What in the place of a folder is not weft's own; "" if all of it is."""
    if folder.is_symlink() or not folder.is_dir():
        return "it is no folder that `weft build` has written"
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        written = manifest["checksums"] if manifest["written_by"] == MARK else None
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        written = None
    if not isinstance(written, dict):
        return "`weft build` has not written it"
    try:
        for name in files(folder):
            if name not in (*written, INIT_FILE, MANIFEST):
                return f"it holds {name}, which `weft build` has not written"
            found = checksum(folder / name) if name.endswith(_TEXTS) else ""
            if found != written.get(name, found) and name.endswith(_TEXTS):
                return f"its {name} was edited"
    except OSError as problem:
        return f"it cannot be read ({problem.strerror or problem})"
    return ""


def _beside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}-{os.getpid()}-{os.urandom(4).hex()}")


def _take_place(staged: Path, folder: Path) -> None:
    """Rename a new folder into its place; an older one goes only when the new one is there."""
    if not folder.exists():
        staged.rename(folder)
        return
    former = _beside(folder)
    folder.rename(former)
    try:
        staged.rename(folder)
    except OSError:
        former.rename(folder)
        raise
    shutil.rmtree(former, ignore_errors=True)


def checksum(file: Path) -> str:
    """The checksum of a file that nobody else can write."""
    with os.fdopen(trusted.opened(file), "rb") as stream:
        return trusted.checksum(stream.read())
