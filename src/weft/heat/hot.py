"""Compiled functions that never make their caller wait.  In: a plain function; out: a `Jitted` that takes its versions
from the disk cache, where another process puts them, and runs plain Python until they are there.

Importing this module loads the dispatcher: it is imported once there is something to run.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from weft import plainly, restored
from weft.errors import Unsupported
from weft.frontend import specs
from weft.heat.elsewhere import Answer, refusal
from weft.jitted import Jitted
from weft.options import make_options
from weft.runtime import versions

_MOST_ATTEMPTS = 3


class Counted(Jitted):
    """A compiled function that says how its calls went."""

    @property
    def plain_calls(self) -> int:
        """Calls that found no version, neither of the whole nor of a part."""
        return 0 if self._regions else self._plain_calls

    @property
    def native_calls(self) -> int:
        """Calls that ran a version, of the whole or of a part."""
        return sum(sum(part.call_counts) for part in self._parts())


class HotFunction(Counted):
    """A compiled function whose versions are made elsewhere; `ask` has one made for the arguments of a call."""

    def __init__(
        self,
        function: types.FunctionType,
        options: dict[str, Any],
        ask: Callable[[Any, tuple[Any, ...], int], bool],
    ) -> None:
        super().__init__(function, make_options(options))
        self._ask = ask
        self._asked: set[Any] = set()

    def _extend(self, values: tuple[Any, ...]) -> bool:
        """A version for these arguments from the disk cache; False, and a request for one, if it is not there."""
        kinds = tuple(specs.specs_of(values))
        with self._lock:
            attempt = self._keys.get(kinds, 0)
            if kinds in self._refused or kinds in self._asked or attempt >= _MOST_ATTEMPTS:
                return False
            if self._from_disk(kinds, values, attempt):
                return True
            if self._ask(kinds, values, attempt):
                self._asked.add(kinds)
            return False

    def _from_disk(self, kinds: tuple[Any, ...], values: tuple[Any, ...], attempt: int) -> bool:
        stored = restored.key_of(self, kinds, attempt)
        if stored is None or not restored.restore(self, stored, kinds, values, attempt):
            return False
        self._keys[kinds] = attempt + 1
        return True

    def told(self, kinds: Any, answer: Answer) -> None:
        """What became of a request; with a good answer the next call finds the version."""
        with self._lock:
            self._asked.discard(kinds)
            if not answer.good:
                self._refused[kinds] = Unsupported(self._place(), answer.reason, "")


def prepare(function: types.FunctionType, arguments: tuple[Any, ...], options: dict[str, Any], attempt: int) -> Answer:
    """Compile a version for these arguments and leave it in the disk cache."""
    made = Jitted(function, make_options(options))
    kinds = tuple(specs.specs_of(arguments))
    made._keys[kinds] = attempt
    made._plain_failures = plainly.MAX_FAILURES  # that has been tried
    if not made._extend(arguments):
        problem = made._refused.get(kinds)
        if problem is None:
            return Answer(False, reason="the C compiler failed, or the version would be no other")
        return refusal(problem)
    stored = restored.key_of(made, kinds, attempt)
    if stored is None or versions.restore(stored, function, restored.cells(made)) is None:
        return Answer(False, reason="its code is bound to objects of this process")
    return Answer(True, signature=made.signatures[-1])
