"""Recorded hints beside the source.  In: the hints of functions; out: `<module>.weft.json`, and from it what
`weft build` compiles for.  A function that has changed since it was recorded has no hints.

The text of a hint is read as data, never evaluated.
"""

from __future__ import annotations

import ast
import collections
import inspect
import json
import types
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Union

import numpy as np

from weft.errors import WeftError
from weft.frontend import hints as front
from weft.frontend.source import load
from weft.frontend.specs import Spec
from weft.ir.types import DType
from weft.transform_file import digest

SUFFIX = ".weft.json"
_FORMAT = 1
_KINDS = (bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset)
_NAMES: dict[str, Any] = {
    **{kind.__name__: kind for kind in _KINDS},
    **{kind.__name__: kind for kind in (collections.deque, collections.Counter, collections.OrderedDict)},
}
#: Hints that leave open what is inside.
_BARE = (list, dict, set, tuple, frozenset, np.ndarray, collections.deque, object, Any)
_DTYPES = {dtype.value: front.DTypeHint(dtype) for dtype in DType}


def place(source: str | Path) -> Path:
    """The file of hints that belongs to a source file."""
    return Path(source).with_suffix(SUFFIX)


def definitions(tree: ast.AST, prefix: str = "") -> dict[str, ast.FunctionDef]:
    """The functions of a module by their qualified names, without those inside functions."""
    found: dict[str, ast.FunctionDef] = {}
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            found[prefix + node.name] = node
        elif isinstance(node, ast.ClassDef):
            found |= definitions(node, f"{prefix}{node.name}.")
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            found |= definitions(node, prefix)
    return found


def write(source: Path, hints: Mapping[str, Mapping[str, str]], file: Path | None = None) -> Path:
    """Keep the hints of a source file's functions; OSError if that cannot be."""
    known = definitions(ast.parse(source.read_bytes()))
    entries = {
        name: {"source": digest(known[name]), "hints": dict(found)} for name, found in hints.items() if name in known
    }
    target = file or place(source)
    target.write_text(json.dumps({"format": _FORMAT, "functions": entries}, indent=1) + "\n", encoding="utf-8")
    return target


def read(file: Path) -> dict[str, Any]:
    """The entries of a file of hints; WeftError if it is none."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        if data["format"] != _FORMAT:
            raise ValueError("made by another weft")
        entries: dict[str, Any] = data["functions"]
        for entry in entries.values():
            if not isinstance(entry["source"], str) or not all(isinstance(t, str) for t in entry["hints"].values()):
                raise ValueError("not hints")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise WeftError(f"{file} cannot be used: {problem}") from None
    return entries


def specs_for(function: Callable[..., Any], entries: Mapping[str, Any]) -> list[Spec] | str:
    """The specs that a function's recorded hints stand for; the reason if there are none to compile for."""
    entry = entries.get(function.__qualname__)
    if entry is None:
        return "nothing was recorded of it"
    if entry["source"] != digest(load(function).tree):
        return "it has changed since it was recorded"
    found: list[Spec] = []
    for name in inspect.signature(function).parameters:
        text = entry["hints"].get(name, "")
        spec = front.spec_of_hint(hint_of(text))
        if spec is None:
            return f"its parameter {name} was {text or 'not recorded'}"
        found.append(spec)
    return found


def complete(function: types.FunctionType, entries: Mapping[str, Any]) -> None:
    """Give parameters without hints, and with hints such as `list`, those that were recorded."""
    entry = entries.get(function.__qualname__)
    if entry is None or entry["source"] != digest(load(function).tree):
        return
    try:
        known = inspect.get_annotations(function, eval_str=True)
    except (NameError, TypeError, AttributeError, SyntaxError):
        known = dict(function.__annotations__)
    for name in inspect.signature(function).parameters:
        found = hint_of(entry["hints"].get(name, ""), function.__globals__) if known.get(name, Any) in _BARE else None
        if found is not None:
            function.__annotations__[name] = found


def hint_of(text: str, namespace: Mapping[str, Any] = types.MappingProxyType({})) -> Any:
    """The hint that a text spells; None for what no version can be compiled for. `namespace`: where its classes are."""
    try:
        return _hint(ast.parse(text, mode="eval").body, namespace)
    except (SyntaxError, ValueError, LookupError, TypeError, RecursionError, MemoryError):
        return None


def _hint(node: ast.expr, space: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        found = _NAMES.get(node.id) or space[node.id]
        if isinstance(found, type):
            return found
    if isinstance(node, ast.Constant) and node.value is None:
        return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return Union[_hint(node.left, space), _hint(node.right, space)]
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "weft":
        return _DTYPES[node.attr]
    if isinstance(node, ast.Subscript):
        owner = _hint(node.value, space)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if isinstance(owner, front.DTypeHint):
            return owner[tuple(_extent(part) for part in parts)]
        inner = tuple(... if _is_ellipsis(part) else _hint(part, space) for part in parts)
        return owner[inner if len(inner) > 1 else inner[0]]
    raise ValueError(ast.dump(node))


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _extent(node: ast.expr) -> Any:
    if isinstance(node, ast.Slice) and node.lower is node.upper is node.step is None:
        return slice(None)
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    raise ValueError(ast.dump(node))


def can_be_written(text: str, names: Iterable[str] = ()) -> bool:
    """Whether a hint means the same in any module that imports weft: it names nothing of the program."""
    allowed = {*_NAMES, *names, "str", "bytes", "frozenset", "None", "weft"}
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return all(node.id in allowed for node in ast.walk(tree) if isinstance(node, ast.Name))
