"""A program of the hunt.  In: its text; out: functions that can be called, and fresh arguments for each call."""

from __future__ import annotations

import itertools
import linecache
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_COUNTER = itertools.count()

#: What programs may use without importing it, and how a test file says so.
IMPORTS = """\
import heapq
import itertools
import math
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass

import numpy as np
"""
_IMPORTED = compile(IMPORTS, "<imports>", "exec")


def namespace() -> dict[str, Any]:
    """A module with these imports, known by name as classes want it."""
    module = sys.modules["hunted"] = types.ModuleType("hunted")
    exec(_IMPORTED, vars(module))
    return vars(module)


@dataclass(frozen=True)
class Case:
    """`source` defines f, and what it needs; each of `calls` is the body of a function that returns f's arguments."""

    source: str
    calls: tuple[str, ...]
    name: str = ""

    def function(self) -> Callable[..., Any]:
        """The function f in a module of its own."""
        scope = namespace()
        file = f"<hunt {self.name} {next(_COUNTER)}>"
        linecache.cache[file] = (len(self.source), None, self.source.splitlines(keepends=True), file)
        exec(compile(self.source, file, "exec"), scope)
        made: Callable[..., Any] = scope["f"]
        return made

    def makers(self, scope: dict[str, Any]) -> list[Callable[[], tuple[Any, ...]]]:
        """For each call what makes its arguments; `scope` is the module of f, whose classes they may be of."""
        made = []
        for body in self.calls:
            text = "def make():\n" + "".join(f"    {line}\n" for line in body.splitlines())
            local: dict[str, Any] = {}
            exec(compile(text, "<arguments>", "exec"), scope, local)
            made.append(local["make"])
        return made
