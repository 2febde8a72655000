"""Containers that a call changes and then lets go of: their last reference goes while changes are written back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plain.kernels import load

pytestmark = [pytest.mark.native, pytest.mark.skipif(not load(), reason="no run time of plain Python here")]

PROGRAM = """
import weft
from collections import deque

class Held:
    def __init__(self, thing): self.thing = thing

class Inner:
    def __init__(self): self.values = [1, 2, 3]

def listed(h):
    h.thing.append(5)
    h.thing = h.thing[:2]

def mapped(h):
    h.thing["b"] = 2
    h.thing = {"c": 3}

def in_a_set(h):
    h.thing.add(5)
    h.thing = {7}

def queued(h):
    h.thing.append(5)
    h.thing = deque([1])

def rows(h):
    h.thing[0].append(5)
    h.thing[0] = [1]

def dropped(h):
    h.thing[0].append(5)
    h.thing.pop(0)

def inside(h):
    h.thing.values.append(4)
    h.thing.values = h.thing.values[1:]
    h.thing = Inner()

MADE = {
    listed: lambda: [1, 2, 3, 4], mapped: lambda: {"a": 1}, in_a_set: lambda: {1, 2}, queued: lambda: deque([3, 4]),
    rows: lambda: [[1, 2], [3]], dropped: lambda: [[1, 2], [3]], inside: Inner,
}

def seen(thing):
    return thing.values if isinstance(thing, Inner) else thing

for function, make in MADE.items():
    native = weft.jit(function, fallback="error")
    for _ in range(30):
        mine, theirs = Held(make()), Held(make())
        native(mine)
        function(theirs)
        assert seen(mine.thing) == seen(theirs.thing), (function, seen(mine.thing))
        assert type(mine.thing) is type(theirs.thing)
print("done")
"""


def test_what_is_replaced_lives_until_its_change_is_made(tmp_path: Path) -> None:
    """Without a reference of its own the container was freed, and then written to."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    environment = {**os.environ, "PYTHONMALLOC": "debug"}
    result = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, env=environment, timeout=300)
    assert result.stdout == "done\n", result.stderr[-2000:]
