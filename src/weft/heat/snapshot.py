"""All of a stack compiled in one process.  In: the main thread's frames at one moment; out: from the compiler's process
an answer for each loop that is under way and each function that was called, the outermost first.

The process is a copy of the program at that moment: it has the variables of every frame, so that no function needs to
be called again first.  What is compiled holds all that it calls: an answer that gains, and soon, is the last one.
"""

from __future__ import annotations

from weft.heat import elsewhere, loops, trampoline
from weft.heat.elsewhere import Answer
from weft.heat.standing import line_of

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    import types
    from collections.abc import Iterator
    from typing import Any

    from weft.heat.spots import Spot

_GAIN = 2.0  # of something compiled, for which nothing inside it is asked
_SLOW = 0.1  # seconds of Python: what takes longer is not over soon enough to wait for
_MOST = 8  # candidates, of which compiling each may fail late


class Candidate:
    """A loop or a function on a stack."""

    def __init__(self, frame: types.FrameType, owner: loops.Loop | Spot, key: tuple[int, int] | None) -> None:
        self.owner = owner
        self.key = key or (0, 0)  # of a loop
        self.code, self.namespace, self.line = frame.f_code, frame.f_globals, line_of(frame)
        self.variables: dict[str, Any] = loops.variables_of(frame)

    def compiled(self) -> Answer:
        """In the compiler's process."""
        if isinstance(self.owner, loops.Loop):
            owner = self.owner
            return loops.compiled(self.code, self.namespace, self.variables, self.line, owner.wide, owner.can_wait)
        from weft.heat import plainly

        code = self.code
        function = trampoline.find_function(code, self.namespace)
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if function is None:
            return Answer(False, reason="it was not found, or is made anew for each use")
        if not all(name in self.variables for name in names):
            return Answer(False, reason="an argument of it is gone", early=True)
        return plainly.prepare(function, tuple(self.variables[name] for name in names), is_compared=True)


class Snapshot:
    """A request for several things: those without an answer are as they were."""

    def __init__(self, candidates: list[Candidate]) -> None:
        self.candidates = candidates[:_MOST]
        self.answered: set[int] = set()

    def answers(self) -> Iterator[Answer]:
        """In the compiler's process."""
        for number, candidate in enumerate(self.candidates):
            answer = elsewhere.compiled(candidate.compiled)
            answer.of = number
            yield answer
            if answer.good and answer.gain > _GAIN and answer.each < _SLOW:
                return

    def begun(self) -> None:
        """The process has been made: nothing of the program is held here."""
        for candidate in self.candidates:
            candidate.variables = {}

    def left_over(self) -> list[Candidate]:
        """Those that have no answer."""
        return [one for number, one in enumerate(self.candidates) if number not in self.answered]
