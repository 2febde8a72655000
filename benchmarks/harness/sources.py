"""The source that a peer is given. In comes a kernel's function; out comes the text of a module that holds it and the
functions it calls, with the imports and constants they use and nothing else, so that a decorator can be put on each.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
import textwrap
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Gathered:
    """Functions in the order in which they need each other, the kernel last."""

    name: str
    imports: tuple[str, ...]
    functions: tuple[tuple[str, str], ...]  # names and texts

    def text(self, decorator: str = "", head: str = "", helper_decorator: str | None = None) -> str:
        """The module, `decorator` before the kernel and `helper_decorator` (or the same) before the others."""
        before_helper = decorator if helper_decorator is None else helper_decorator
        parts = [line for line in (head, *self.imports) if line]
        for name, body in self.functions:
            line = decorator if name == self.name else before_helper
            parts.append(f"\n\n{line}\n{body}" if line else f"\n\n{body}")
        return "\n".join(parts) + "\n"


def gather(function: Callable[..., Any]) -> Gathered:
    imports: dict[str, None] = {}
    functions: dict[str, str] = {}
    _visit(function, imports, functions)
    return Gathered(function.__name__, tuple(imports), tuple(functions.items()))


def _visit(function: Any, imports: dict[str, None], functions: dict[str, str]) -> None:
    body = textwrap.dedent(inspect.getsource(function)).rstrip()
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    for name in sorted(used & function.__globals__.keys()):
        value = function.__globals__[name]
        if value is function:
            continue  # it calls itself
        if isinstance(value, types.ModuleType):
            imports[f"import {value.__name__}" + ("" if value.__name__ == name else f" as {name}")] = None
        elif isinstance(value, types.FunctionType):
            if name not in functions:
                _visit(value, imports, functions)
        elif isinstance(value, type) or callable(value):
            imports[f"from {value.__module__.split('.')[0]} import {name}"] = None
        else:
            imports[f"{name} = {value!r}"] = None
    functions[function.__name__] = body


def load_text(text: str, directory: Path, name: str) -> types.ModuleType:
    """A module from text, kept as a file, since frameworks read the source of what they compile."""
    path = directory / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where Numba looks for a function that calls itself
    spec.loader.exec_module(module)
    return module
