"""Everyday programs over strings: compiled, in regions and from the disk cache of another process, against Python."""

from __future__ import annotations

import copy
import subprocess
import sys

import pytest

import weft
from tests.semantics.agreement import alike
from tests.semantics.everyday_text_tables import PROGRAMS


def _outcome(function, arguments):
    try:
        return "value", function(*arguments), arguments
    except Exception as error:
        return type(error).__name__, error.args, arguments


@pytest.mark.parametrize(("function", "calls"), PROGRAMS, ids=[function.__name__ for function, _ in PROGRAMS])
def test_agrees(function, calls):
    compiled = weft.jit(function, fallback="silent")
    for arguments in (*calls, calls[0]):
        wanted = _outcome(function, copy.deepcopy(arguments))
        found = _outcome(compiled, copy.deepcopy(arguments))
        assert alike(found, wanted), (arguments, found, wanted)


_ALL = """
import copy, sys, weft
from tests.semantics.everyday_text_tables import PROGRAMS
from tests.semantics.test_everyday_strings import _outcome
from tests.semantics.agreement import alike
for function, calls in PROGRAMS[:: int(sys.argv[1])]:
    native = weft.jit(function, fallback="silent")
    for arguments in calls:
        wanted, found = (_outcome(f, copy.deepcopy(arguments)) for f in (function, native))
        assert alike(found, wanted), (function.__name__, arguments, found, wanted)
"""


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("every", [26, pytest.param(1, marks=pytest.mark.slow)])
def test_in_a_second_process(every, tmp_path, monkeypatch):
    """What one process has kept serves the next."""
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", _ALL, str(every)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
