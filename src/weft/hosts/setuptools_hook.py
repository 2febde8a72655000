"""Compiled functions in a user's wheel.  In: the modules that a project names in its pyproject.toml; out: setuptools
builds each as an extension module that needs no weft (`weft build`), beside its source.

    [build-system]
    requires = ["setuptools>=77", "weft"]
    build-backend = "setuptools.build_meta"

    [tool.weft]
    modules = ["waves/kernels.py"]

setuptools calls `finalize` for every project that is built where weft is installed: one that names no modules is left
alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from weft.errors import WeftError
from weft.hosts.extension import SUFFIX

#: The oldest interpreter that the modules are for, as wheels spell it.
_OLDEST = "cp310"


def finalize(distribution: Any) -> None:
    """The entry point: have the modules of [tool.weft] built."""
    settings = _settings(Path("pyproject.toml"))
    if settings is not None:
        add_modules(distribution, settings.get("modules", []), settings.get("march"))


def _settings(file: Path) -> dict[str, Any] | None:
    try:
        text = file.read_text(encoding="utf-8")
    except OSError:
        return None
    if "[tool.weft]" not in text:
        return None
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    found: dict[str, Any] | None = tomllib.loads(text).get("tool", {}).get("weft")
    return found


def add_modules(distribution: Any, modules: Any, march: str | None = None) -> None:
    """Have setuptools build these source files as extension modules; WeftError if they cannot be."""
    from setuptools import Extension

    if not isinstance(modules, list) or not modules or not all(isinstance(each, str) for each in modules):
        raise WeftError("[tool.weft] in pyproject.toml: modules is a list of files, such as ['waves/kernels.py']")
    directories = distribution.package_dir or {}
    made = []
    for path in modules:
        if not Path(path).is_file():
            raise WeftError(f"[tool.weft] in pyproject.toml names {path}, which is no file")
        made.append(Extension(_dotted(path, directories), [path], py_limited_api=True))
    distribution.ext_modules = [*(distribution.ext_modules or []), *made]
    distribution.cmdclass["build_ext"] = _command(distribution.get_command_class("build_ext"), modules, march)
    # One wheel for all interpreters from the oldest on.
    distribution.get_option_dict("bdist_wheel").setdefault("py_limited_api", ("pyproject.toml", _OLDEST))


def _dotted(path: str, directories: dict[str, str]) -> str:
    """The name of a module by its place: src/waves/kernels.py is waves.kernels, if packages are in src."""
    root = directories.get("", "")
    if not root and Path(path).parts[0] == "src":
        root = "src"
    parts = Path(os.path.relpath(path, root) if root else path).with_suffix("").parts
    return ".".join(parts)


def _command(base: Any, modules: list[str], march: str | None) -> Any:
    """The project's own command to build extensions, which leaves weft's modules to weft."""

    class BuildExtensions(base):  # type: ignore[misc]
        def build_extension(self, extension: Any) -> None:
            if list(extension.sources) and extension.sources[0] in modules:
                compile_module(Path(extension.sources[0]), Path(self.get_ext_fullpath(extension.name)), march)
            else:
                super().build_extension(extension)

    return BuildExtensions


def compile_module(source: Path, target: Path, march: str | None = None) -> None:
    """Build one module, in a process of its own: it is imported there."""
    if not target.name.endswith(SUFFIX):
        raise WeftError(f"extension modules for several versions of Python are named *{SUFFIX}, not {target.name}")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "weft", "build", "--host", "python", str(source), "-o", folder]
        done = subprocess.run([*command, *(["--march", march] if march else [])], check=False)
        if done.returncode != 0:
            raise WeftError(f"{source} could not be built (see above)")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Path(folder) / f"{source.stem}{SUFFIX}", target)
        target.chmod(0o755)
