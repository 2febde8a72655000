"""Types from a store of MonkeyType.  In: its SQLite file; out: hints of functions, as if they had been recorded here.
The package itself is not needed.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from weft.errors import WeftError
from weft.heat.kinds import joined

_CONTAINERS = {
    "List": "list", "Set": "set", "Dict": "dict", "Tuple": "tuple", "FrozenSet": "frozenset",
    "DefaultDict": "defaultdict",
}  # fmt: skip


def read(store: Path, source: Path) -> dict[str, dict[str, str]]:
    """The hints of the functions of a source file, by qualified name; WeftError if the file is no such store."""
    if not store.is_file():
        raise WeftError(f"no such file: {store}")
    query = "SELECT qualname, arg_types, return_type, yield_type FROM monkeytype_call_traces WHERE module IN (?, ?)"
    found: dict[str, dict[str, set[str]]] = {}
    try:
        connection = sqlite3.connect(f"{store.resolve().as_uri()}?mode=ro", uri=True)
        try:
            modules = {name for (name,) in connection.execute("SELECT DISTINCT module FROM monkeytype_call_traces")}
            module = next((name for name in _names(source) if name in modules), "__main__")
            for name, arguments, result, yielded in connection.execute(query, (module, "__main__")):
                entry = found.setdefault(name, {})
                for parameter, kind in json.loads(arguments).items():
                    entry.setdefault(parameter, set()).add(_text(kind))
                if result and not yielded:
                    entry.setdefault("return", set()).add(_text(json.loads(result)))
        finally:
            connection.close()
    except (sqlite3.Error, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise WeftError(f"{store} is not a store of MonkeyType: {problem}") from None
    return {name: {key: joined(texts) for key, texts in entry.items()} for name, entry in found.items()}


def _names(source: Path) -> list[str]:
    """The names that a file may have as a module, the longest first: which of its folders are packages is not known."""
    parts = [part for part in source.resolve().with_suffix("").parts if part != "__init__"]
    return [".".join(parts[first:]) for first in range(len(parts))]


def _text(kind: dict[str, Any]) -> str:
    """{"module": "typing", "qualname": "List", "elem_types": [...]} --> list[float]"""
    module, name = kind["module"], kind["qualname"]
    inner = [_text(item) for item in kind.get("elem_types") or []]
    if inner and all(item == "Any" for item in inner):
        inner = []  # an empty container
    if name == "NoneType":
        return "None"
    if module == "typing" and name in ("Union", "Optional"):
        return joined([*inner, *(["None"] if name == "Optional" else [])])
    name = _CONTAINERS.get(name, name) if module == "typing" else name
    if module in ("builtins", "typing"):
        return f"{name}[{', '.join(inner)}]" if inner else str(name)
    return f"{'np' if module == 'numpy' else module}.{name}"
