"""A Python without weft.  In: a script; out: what it prints, run by this interpreter with NumPy and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy


def numpy_only(folder: Path) -> Path:
    """A folder for sys.path that holds NumPy alone."""
    place = folder / "numpy_only"
    if not place.exists():
        place.mkdir()
        home = Path(numpy.__file__).parent
        for name in ("numpy", "numpy.libs"):
            if (home.parent / name).exists():
                (place / name).symlink_to(home.parent / name)
    return place


def run_alone(script: str, folder: Path, modules: Path, **environment: str) -> str:
    """The output of a script that finds NumPy and the modules of a folder; it fails if it could find weft. No clock
    decides there which calls are native."""
    head = (
        f"import sys\nsys.path[:0] = [{str(modules)!r}, {str(numpy_only(folder))!r}]\n"
        "import importlib.util\nassert importlib.util.find_spec('weft') is None\n"
    )
    command = [sys.executable, "-I", "-S", "-c", head + script]
    told = {"WEFT_TIMED": "0", **environment}
    done = subprocess.run(command, env=told, capture_output=True, text=True, timeout=300, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
