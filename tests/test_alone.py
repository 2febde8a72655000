"""Tests that set Python's trace or profile function, in a process of their own: in one that has run thousands of other
tests such a function now and then never gets to its first event.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.skipif("WEFT_TEST_ALONE" in os.environ, reason="is that process")
def test_tests_that_trace() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", "alone and not slow"]
    files = [str(ROOT / "tests" / name) for name in ("cli/test_loops.py", "apps/test_compile_budget.py")]
    environment = {**os.environ, "WEFT_TEST_ALONE": "1"}
    done = subprocess.run([*command, *files], capture_output=True, text=True, env=environment, timeout=500, cwd=ROOT)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert "passed" in done.stdout
