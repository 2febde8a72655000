"""A cache never gives an old answer: each change to what a function means is seen by the next process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BASE = """
import numpy as np
import weft
from helper import scale

FACTOR = 2.0
TABLE = np.array([1.0, 2.0, 3.0])
LIMIT = 3

class Model:
    gain = 1.0

def make(offset):
    @weft.jit(fallback="error")
    def inner(a):
        return a + offset
    return inner

@weft.jit(fallback="error")
def f(a, extra=1.0):
    total = 0.0
    for i in range(LIMIT):
        total += a[i] * FACTOR + TABLE[i]
    return total + scale(a[0]) + extra

@weft.jit(fallback="error")
def g(model, a):
    return a * model.gain

print(float(f(np.arange(4.0) + 1)), make(1.0)(np.ones(2)).tolist(), g(Model(), np.ones(2)).tolist())
"""
HELPER = "def scale(x):\n    return x * 10.0\n"

CHANGES = {
    "body": ("a[i] * FACTOR + TABLE[i]", "a[i] * FACTOR - TABLE[i]"),
    "global": ("FACTOR = 2.0", "FACTOR = 3.0"),
    "type of a global": ("FACTOR = 2.0", "FACTOR = 3"),
    "global array": ("np.array([1.0, 2.0, 3.0])", "np.array([5.0, 2.0, 3.0])"),
    "dtype of a global array": ("np.array([1.0, 2.0, 3.0])", "np.array([5, 2, 3])"),
    "constant bound": ("LIMIT = 3", "LIMIT = 2"),
    "default": ("extra=1.0", "extra=2.5"),
    "closure": ("make(1.0)", "make(4.0)"),
    "attribute": ("gain = 1.0", "gain = 7.0"),
    "line moved": ("FACTOR = 2.0", "\n\n\nFACTOR = 2.0"),
    "argument dtype": ("np.arange(4.0) + 1", "np.arange(4) + 1"),
}


def _run(directory: Path, environment: dict[str, str], disabled: bool = False) -> str:
    extra = {"WEFT_DISABLE": "1"} if disabled else {"WEFT_CACHE_DIR": str(directory / "cache")}
    command = [sys.executable, str(directory / "script.py")]
    done = subprocess.run(command, env={**environment, **extra}, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("change", [*CHANGES, "callee"])
def test_a_change_is_seen(change: str, tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "script.py").write_text(BASE)
    before = _run(tmp_path, subprocess_environment)
    assert before == _run(tmp_path, subprocess_environment, disabled=True)
    if change == "callee":
        (tmp_path / "helper.py").write_text(HELPER.replace("10.0", "11.50"))
    else:
        old, new = CHANGES[change]
        assert old in BASE
        (tmp_path / "script.py").write_text(BASE.replace(old, new))
    after = _run(tmp_path, subprocess_environment)
    assert after == _run(tmp_path, subprocess_environment, disabled=True)
    if change not in ("line moved", "argument dtype"):
        assert after != before, "the change changes nothing: the test tests nothing"
