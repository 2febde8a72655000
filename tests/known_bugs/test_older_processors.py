"""Code for processors without AVX, which any processor runs: it leaves the floating-point unit as Python needs it."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import numpy as np
import weft

@weft.jit(fallback="error")
def greatest(a, out):
    m, n = -np.inf, 0
    for i in range(len(a)):
        if a[i] > m:
            m = a[i]
            n = i
    out[0] = m
    return m, n

a = np.arange(4.0)
for _ in range(20):
    found = greatest(a, np.zeros(1))
    # Both are computed in numbers of type long double: NaN, where registers that they share were left marked as used.
    print(repr(found[0]), np.longdouble(2) + 1 == 3, found[1])
"""


@pytest.mark.native
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="MMX is of x86")
def test_numbers_of_type_long_double_after_a_call(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    (tmp_path / "older.py").write_text(PROGRAM, encoding="utf-8")
    environment = {**subprocess_environment, "WEFT_MARCH": "x86-64-v2"}
    done = subprocess.run(
        [sys.executable, str(tmp_path / "older.py")], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.splitlines()) == {"np.float64(3.0) True 3"}
