"""`python -m weft` is the command `weft`."""

from __future__ import annotations

import subprocess
import sys

from weft import __version__


def test_the_module_is_the_command() -> None:
    asked = subprocess.run([sys.executable, "-m", "weft", "--version"], capture_output=True, text=True, timeout=600)
    assert (asked.returncode, asked.stdout.split()[-1]) == (0, __version__)
    wrong = subprocess.run([sys.executable, "-m", "weft", "no-such"], capture_output=True, text=True, timeout=600)
    assert wrong.returncode == 2 and "no-such" in wrong.stderr
