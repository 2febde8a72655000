"""The programs of docs/cluster.md and docs/howto/cluster.md run: on two ranks of MPI, and on Ray's workers here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.test_mpi import run_ranks

ROOT = Path(__file__).resolve().parents[2]

_FOR_MPI = """
import numpy as np
import weft

a = np.random.default_rng(1).random((600, 600))
b = a.copy()
given = a.copy()
"""
_AFTER_MPI = (
    """
first = np.random.default_rng(2).random(100)
assert np.array_equal(diffused(first), diffused.py_func(first))
""",
    """
other = given.copy()
jacobi.py_func(1000, given, other)
assert np.allclose(a, given)
""",
    """
if weft.comm.rank() == 0:
    assert np.array_equal(whole, a)
inside, outside = part.copy(), part.copy()
half_step(inside, outside, before, after)
assert np.isfinite(outside).all()
""",
)
# The address is that of a cluster which is not here: this machine takes its place.
_FOR_RAY = """
import numpy as np
import weft

plainly = weft.cluster.connect
weft.cluster.connect = lambda address, cpus_per_task: plainly(num_cpus=2, least_seconds=0.0)
x = np.random.default_rng(1).random((64, 16))
np.save("measured.npy", x)
"""
_AFTER_RAY = """
assert np.allclose(np.asarray(y), softmax.py_func(np.load("measured.npy")))
"""


def _blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return [found[1] for found in re.finditer(rf"^```{language}\n(.*?)^```", text, re.M | re.S)]


def _is_for_mpi(code: str) -> bool:
    return "mpi" in code or "weft.comm" in code


def test_every_program_is_run_by_one_of_these_tests() -> None:
    assert len(_blocks("cluster.md", "py")) == 5 and not _blocks("cluster.md", "python")
    assert sum(map(_is_for_mpi, _blocks("cluster.md", "py"))) == 2


@pytest.mark.native
def test_the_programs_for_mpi(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    codes = [code for code in (*_blocks("howto/cluster.md", "py"), *_blocks("cluster.md", "py")) if _is_for_mpi(code)]
    assert len(codes) == 3
    text = "\n".join(_FOR_MPI + code + after for code, after in zip(codes, _AFTER_MPI))
    (tmp_path / "guide.py").write_text(text, encoding="utf-8")
    done = run_ranks(2, str(tmp_path / "guide.py"))
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"


@pytest.mark.native
def test_the_programs_for_ray(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    pytest.importorskip("ray")
    codes = [code for code in _blocks("cluster.md", "py") if not _is_for_mpi(code)]
    (tmp_path / "guide.py").write_text("\n".join([_FOR_RAY, *codes, _AFTER_RAY]), encoding="utf-8")
    environment = {**subprocess_environment, "RAY_TMPDIR": os.environ.get("RAY_TMPDIR", str(tmp_path)[:40])}
    command = [sys.executable, "-W", "error::weft.FallbackWarning", "guide.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
