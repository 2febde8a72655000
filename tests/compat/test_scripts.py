"""`python -m weft.compat`: unmodified programs that import numba."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = """
import sys
import numba, numpy as np
from numba import njit, types
from numba.core import types as core_types
from numba.typed import List
from numba.extending import register_jitable
import numba.experimental

@register_jitable
def square(x):
    return x * x

@njit("float64(float64[:])", cache=True)
def total(a):
    s = 0.0
    for x in a:
        s += square(x)
    return s

if __name__ == "__main__":
    print(total(np.arange(4.0)), total.signatures, sys.argv[1:])
    sys.exit(3)
"""


def _run(arguments: list[str], environment: dict[str, str], where: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "weft.compat", *arguments]
    return subprocess.run(command, env=environment, cwd=where, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("way", ["script", "module"])
def test_a_program_runs(way: str, tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    (tmp_path / "program.py").write_text(_SCRIPT)
    given = ["program.py", "a"] if way == "script" else ["-m", "program", "a"]
    done = _run(given, subprocess_environment, tmp_path)
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("14.0 ['(f64[:])'] ['a']")
    assert done.stderr.count("weft.compat: signatures") == 1
    assert not _run(["--quiet", *given], subprocess_environment, tmp_path).stderr


def test_wrong_requests(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    for given in ([], ["-x"], ["nowhere.py"]):
        done = _run(given, subprocess_environment, tmp_path)
        assert done.returncode == 2 and done.stderr.startswith("weft: "), done.stderr


def test_install_after_numba_says_so(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    (tmp_path / "numba.py").write_text("")
    code = "import numba, weft.compat\nweft.compat.install()"
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, env=subprocess_environment, cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert "RuntimeError: numba has been imported already" in done.stderr
