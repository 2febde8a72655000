"""Transformations in a file beside the source.  In: the directives of functions; out: `<module>.weft.toml`, which
people can read and edit, and from it the same directives again, as long as the functions are what they were.

    ["heat"]
    source = "5b1f0e9a3c1d2e4f"
    steps = [
        { do = "tile", loops = ["i", "j@3"], sizes = [32, 64] },
    ]
"""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weft.directives import Directive, from_data, to_data
from weft.errors import WeftError

SUFFIX = ".weft.toml"
_HEADER = """\
# Transformations that weft applies to functions of {name}; weft.transform(...).save() writes this file.
# Lines are counted from the `def` of a function, which is line 1.  Where the function has changed, nothing is applied.
"""


class Changed(Exception):
    """The function is not the one that the transformations were made for."""


def place(source_file: str) -> Path:
    """The file of transformations that belongs to a source file."""
    return Path(source_file).with_suffix(SUFFIX)


def digest(tree: ast.FunctionDef) -> str:
    """What tells whether the statements of a function, or their lines, have changed; comments do not matter."""
    lines = [node.lineno - tree.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    bare = ast.FunctionDef(**dict(ast.iter_fields(tree)))
    bare.decorator_list = []
    import hashlib  # a call from the disk cache does not need it

    return hashlib.sha256(repr((ast.dump(bare), lines)).encode()).hexdigest()[:16]


def read(file: Path, name: str, tree: ast.FunctionDef) -> tuple[Directive, ...]:
    """The directives kept for a function; Changed if it is not the same any more, ValueError if the file is wrong."""
    entry = _entries(file).get(name)
    if entry is None:
        return ()
    if entry.get("source") != digest(tree):
        raise Changed
    steps = entry.get("steps", [])
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise ValueError("its steps are not a list of tables")
    return tuple(from_data(step).moved(lambda where: where.moved(tree.lineno - 1)) for step in steps)


def write(
    file: Path,
    name: str,
    tree: ast.FunctionDef,
    directives: Sequence[Directive],
    measured: Mapping[str, Any] | None = None,
) -> None:
    """Keep the directives of a function, beside those of others; none: its entry is removed.

    `measured`: what was found about them, for people.
    """
    entries = dict(_entries(file))
    entries.pop(name, None)
    if directives:
        steps = [to_data(each.moved(lambda where: where.moved(1 - tree.lineno))) for each in directives]
        entries[name] = {"source": digest(tree), "steps": steps} | ({"measured": measured} if measured else {})
    if not entries:
        file.unlink(missing_ok=True)
        return
    text = _HEADER.format(name=file.name.removesuffix(SUFFIX) + ".py")
    for key in sorted(entries):
        text += f"\n[{json.dumps(key)}]\nsource = {_value(entries[key].get('source', ''))}\nsteps = [\n"
        text += "".join(f"    {_value(step)},\n" for step in entries[key].get("steps", []))
        text += "]\n"
        if isinstance(found := entries[key].get("measured"), Mapping):
            text += f"measured = {_value(found)}\n"
    _replace(file, text)


def _entries(file: Path) -> Mapping[str, Any]:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise ValueError(str(problem)) from None
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        found = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise ValueError(str(problem)) from None
    return {name: entry for name, entry in found.items() if isinstance(entry, dict)}


def _value(value: Any) -> str:
    """A value as TOML, on one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_value(each)}" for name, each in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(each) for each in value) + "]"
    return json.dumps(value)


def _replace(file: Path, text: str) -> None:
    """Write a file whole or not at all."""
    try:
        import tempfile

        handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=file.name)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.replace(temporary, file)
    except OSError as problem:
        raise WeftError(f"the transformations cannot be written to {file}: {problem}") from problem
