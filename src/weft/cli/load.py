"""Modules of the user, for commands that look into them.  In: a path; out: the imported module and its functions."""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
import types
from pathlib import Path
from typing import Any

from weft.errors import WeftError


class CannotImport(WeftError):
    """The user's file failed while it was imported."""


def import_file(path: Path) -> types.ModuleType:
    """The module of a file, imported under its own name, with its directory on the path as for a script."""
    sys.path.insert(0, str(path.resolve().parent))
    name = path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not name.isidentifier():
        raise CannotImport(f"{path} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as problem:
        raise CannotImport(f"{problem.filename or path}:{problem.lineno or 1}: {problem.msg}") from problem
    except SystemExit as problem:
        raise CannotImport(f"importing {path} ended by sys.exit({problem.code!r})") from problem
    except Exception as problem:
        told = f"{_at(problem, path)}: {type(problem).__name__}: {problem}"
        raise CannotImport(f"importing {path} failed{told}") from problem
    return module


def _at(problem: Exception, path: Path) -> str:
    """The line of the file at which an exception left it; "" if it never reached one."""
    file = os.path.abspath(path)
    met = traceback.walk_tb(problem.__traceback__)
    lines = [line for frame, line in met if os.path.abspath(frame.f_code.co_filename) == file]
    return f" in line {lines[-1]}" if lines else ""


def is_distributed(function: Any) -> bool:
    """Whether a compiled function has a cluster as its target."""
    return bool(getattr(function, "__weft_distributed__", False))


def functions_of(module: types.ModuleType) -> dict[str, Any]:
    """The functions a module defines itself, in source order, compiled ones as they are and plain ones wrapped."""
    if os.environ.get("WEFT_DISABLE", "0") not in ("", "0"):
        raise CannotImport("weft is switched off by WEFT_DISABLE: unset it")
    from weft.api import jit

    found: dict[str, tuple[int, Any]] = {}
    for name, value in vars(module).items():
        plain = getattr(value, "py_func", value)
        if not isinstance(plain, types.FunctionType) or plain.__module__ != module.__name__:
            continue
        wrapped = value if hasattr(value, "py_func") else jit(value, fallback="silent")
        found[name] = (plain.__code__.co_firstlineno, wrapped)
    return {name: item for name, (_, item) in sorted(found.items(), key=lambda pair: pair[1][0])}
