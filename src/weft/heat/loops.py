"""Loops that are under way.  In: the frame of one, and what the compiler says of it; out: native code that takes over
the loop in the middle, at its head, and gives it back to Python at its end.

A program whose `main` is called once, or that has no functions at all, never calls anything that could be replaced.
Its outermost hot loop is outlined and compiled elsewhere, for the variables at hand (`outline.py`).  Then the main
thread is asked to trace that one frame.  At the head of the loop, where everything the loop knows is in variables and
in its iterator, the trace function runs the native loop, writes the variables, moves the iterator on and ends the
trace: Python finds an iterator at its end, or a condition that is false, and goes on behind the loop.

The native loop runs in parts that grow with what they have done: one that deoptimises costs a part of it.
"""

from __future__ import annotations

import sys
from time import process_time, thread_time

from weft.heat.elsewhere import Answer, refusal
from weft.heat.heads import is_known_kind, iterators_of, placed, write_back
from weft.heat.standing import ITERATOR, line_of

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    import types
    from collections.abc import Callable
    from typing import Any

    from weft.heat.outline import Outline

_WAIT = 0.1  # seconds of the thread that a traced frame may take to come to the head of the loop
_MOST_WAITS = 12
_WAITING = 0.03  # of the time of the program: what may be spent on the way to the heads of loops
_SLOW = 0.1  # seconds of an iteration in Python
_MOST_FAILURES = 3  # parts that deoptimise, one after the other
_MOST_TRIALS = 3
_GAIN = 1.15
_ENOUGH = 0.02  # seconds of a part of a loop that is timed
_MOST_PARTS = 12
_GROWTH, _FAST_GROWTH = 4, 16  # of parts that are timed
_SURE = 3.0  # times as fast as Python: enough to know
_ALIKE = 1.5  # times as long: no more than the copies
_FIRST_PART = 0.02  # seconds
_SHARE = 0.5  # of the time in native code so far: how long the next part may take
_OVERHEADS = 5.0  # times what the shortest part takes: how long the next part may take


def supported() -> bool:
    """Whether loops can be entered here: it takes the layout of frames, which is known of one version of CPython."""
    return is_known_kind()


def variables_of(frame: types.FrameType, at_head: bool = False) -> dict[str, Any]:
    """The variables of a frame, and under names of their own what its loops run over."""
    found = iterators_of(frame, at_head)
    return {f"{ITERATOR}{depth}": one for depth, one in enumerate(found) if one is not None} | frame.f_locals


class Loop:
    """One loop of the program: seen --> asked --> ready --> native, or left with a reason."""

    def __init__(self, code: types.CodeType, namespace: dict[str, Any]) -> None:
        self.code, self.namespace = code, namespace
        self.state = "asked"
        self.reason = self.remedy = ""
        self.line = 0
        self.signature = ""
        self.gain = 0.0
        self.each = 0.0  # seconds of a native iteration, as it was timed elsewhere
        self.seconds = 0.0  # of native code
        self.watched = 0.0  # seconds of Python, by the samples
        self.entries = 0
        self.requests = 1
        self.samples = 0  # since it was asked for in vain
        self.strange = 0  # times at which it could not be entered where it was
        self.waits = 0
        self.waited = 0.0  # seconds on the way to its head, in vain
        self.is_slow = False  # an iteration takes so long that what is inside it is looked at as well
        self.failures = 0
        self.is_awaited = False  # its head will be noticed
        self.is_inside = False  # native code runs
        self.wide: frozenset[int] = frozenset()  # lines on which integers need more than 64 bits
        self.is_bound = False  # its versions cannot be restored without the compiler
        self.outline: Outline | None = None
        self.native: Any = None

    @property
    def name(self) -> str:
        return str(getattr(self.code, "co_qualname", self.code.co_name))

    @property
    def is_unknown(self) -> bool:
        """Whether nobody could tell what native code would gain, and it is worth asking again."""
        return self.state in ("ready", "early") and not self.gain and not self.entries and self.can_wait

    @property
    def saved(self) -> float:
        """Seconds that native code has saved the program, by what was timed elsewhere."""
        return self.seconds * max(self.gain - 1.0, 0.0) if self.state == "native" else 0.0

    @property
    def can_wait(self) -> bool:
        return self.requests < _MOST_TRIALS

    def leave(self, reason: str, remedy: str = "") -> None:
        self.state, self.reason, self.remedy = "left", reason, remedy

    def answered(self, answer: Answer) -> None:
        """The compiler's answer."""
        self.line = answer.line
        if answer.early:
            self.state, self.reason, self.remedy = "early", answer.reason, answer.remedy
            return
        if not answer.good:
            self.leave(answer.reason, answer.remedy)
            return
        self.signature, self.gain, self.each = answer.signature, answer.gain, answer.call
        self.is_slow = answer.each > _SLOW
        self.wide, self.is_bound = frozenset(answer.wide), answer.bound
        if answer.gain and answer.gain < _GAIN:
            self.leave(f"compiled it is not faster ({answer.gain:.2f}x)")
            return
        self.state = "ready"

    # --- entering ---------------------------------------------------------------------------------------------------

    def prepare(self, variables: dict[str, Any], line: int) -> bool:
        """Have the function of the loop at hand, without native code as yet."""
        from weft.errors import Unsupported
        from weft.heat.outline import Outline, outlines

        try:
            found = outlines(self.code, self.namespace, variables, line)
        except Unsupported as problem:
            self.leave(problem.reason, problem.remedy)
            return False
        here = [one for one in found if isinstance(one, Outline) and one.line == self.line]
        self.outline = here[0] if here else None
        return self.outline is not None

    def enter(
        self, frame: types.FrameType, ask: Callable[[Loop, dict[str, Any], int], bool]
    ) -> tuple[dict[str, Any], int]:
        """Run the loop from its head on; `ask` has code compiled for variables of other types.  What it gives back is
        told by `entering.run`."""
        from weft.heat.entering import run

        began = thread_time()
        self.is_inside = True
        try:
            return run(self, frame, ask)
        finally:
            self.is_inside = False
            self.seconds += thread_time() - began

    def failed(self, reason: str) -> None:
        self.failures += 1
        if self.failures >= _MOST_FAILURES:
            self.leave(reason)


class Entry:
    """The main thread on its way to the head of a loop."""

    def __init__(self, loop: Loop, ask: Callable[[Loop, dict[str, Any], int], bool]) -> None:
        self.loop, self.ask = loop, ask
        self.is_over = False
        self._frame: types.FrameType | None = None
        self._until = 0.0

    def begin(self) -> None:
        """On the main thread, between two instructions of the program: have the head of the loop noticed."""
        loop = self.loop
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code is not loop.code:
            frame = frame.f_back
        if frame is None or sys.gettrace() is not None or frame.f_trace is not None:
            self.is_over = True
            return
        if loop.outline is None and not loop.prepare(variables_of(frame), line_of(frame)):
            loop.strange += 1
            self.is_over = True
            return
        outline = loop.outline
        assert outline is not None, "it was prepared"
        can_send = outline.target is not None or not outline.exits
        if outline.kind != "while" and can_send and placed(frame, outline.line, outline.depth, self._reached):
            loop.is_awaited = self.is_over = True  # from now on nothing is traced
            return
        if loop.waited > _WAITING * process_time():
            self.is_over = True
            return
        self._frame, self._until = frame, thread_time() + _WAIT
        frame.f_trace = self._local
        sys.settrace(self._called)

    def _reached(self, frame: types.FrameType) -> tuple[int, dict[str, Any], Any] | None:
        """At the head of a `for` loop."""
        loop, outline = self.loop, self.loop.outline
        loop.is_awaited = False
        if outline is None or sys.gettrace() is not None or frame.f_trace is not None:
            return None
        changed, line = loop.enter(frame, self.ask)
        if changed:
            write_back(frame, changed)
        if not line:
            return None
        names = (outline.target,) if isinstance(outline.target, str) else outline.target or ()
        item = None if isinstance(outline.target, str) else (None,) * len(names)
        return line, {name: changed[name] for name in names}, item

    def _called(self, frame: types.FrameType, event: str, argument: object) -> None:
        """Another function is called meanwhile: it is not traced."""
        if thread_time() > self._until:
            self._end()
            self.loop.waits += 1
            self.loop.waited += _WAIT
            if self.loop.waits >= _MOST_WAITS:
                self.loop.leave("its iterations take too long to wait for one")

    def _local(self, frame: types.FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        if event == "return":
            self._end()
            return None
        if event == "line" and not self.is_over and self._is_head(frame):
            self.is_over = True
            try:
                changed, line = self.loop.enter(frame, self.ask)
                frame.f_locals.update(changed)
                if line:
                    frame.f_lineno = line  # type: ignore[misc]
            finally:
                self._end()
            return None
        if thread_time() > self._until:
            self._called(frame, event, argument)
        return None if self.is_over else self._local

    def _is_head(self, frame: types.FrameType) -> bool:
        outline = self.loop.outline
        if outline is None or frame.f_lineno != outline.line:
            return False
        return outline.kind == "while" or frame.f_code.co_code[frame.f_lasti] == _for_iter()

    def _end(self) -> None:
        sys.settrace(None)
        self.is_over = True
        if self._frame is not None:
            self._frame.f_trace = None
            self._frame = None


_opcode = 0


def _for_iter() -> int:
    global _opcode
    if not _opcode:
        from opcode import opmap

        _opcode = opmap["FOR_ITER"]
    return _opcode


# --- asking the main thread -----------------------------------------------------------------------------------------

_calls: list[Any] = []  # that the main thread has been asked for: their C functions must live until then


def on_main_thread(work: Callable[[], None]) -> bool:
    """Have something done by the main thread, soon, between two instructions; False if it has too much to do."""
    import ctypes

    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)

    def run(_: object) -> int:
        _calls[:] = _calls[-4:]
        work()
        return 0

    call = kind(run)
    _calls.append(call)
    return int(ctypes.pythonapi.Py_AddPendingCall(call, None)) == 0


# --- in the compiler's process ----------------------------------------------------------------------------------------


def compiled(
    code: types.CodeType,
    namespace: dict[str, Any],
    variables: dict[str, Any],
    line: int,
    wide: frozenset[int],
    can_wait: bool = False,
) -> Answer:
    """Compile the outermost loop around a line that can be compiled, leave it in the disk cache, and time it.

    `can_wait`: the next iteration of an outer loop is better than an inner loop now.
    """
    from weft.errors import Unsupported
    from weft.heat.entering import prepared
    from weft.heat.outline import Outline, Unbound, outlines

    problem: Unsupported | None = None
    slow: Answer | None = None
    for one in outlines(code, namespace, variables, line):
        if isinstance(one, Unbound) and can_wait and slow is None:
            return Answer(False, reason=one.reason, line=one.span.line, early=True)
        if not isinstance(one, Outline):
            problem = problem or one
            continue
        try:
            answer = prepared(one, variables, wide)
        except Unsupported as refused:
            problem = problem or refused
            continue
        if answer.each < _SLOW and (slow is None or answer.gain > _GAIN):
            return answer
        slow = slow or answer
    if slow is not None:
        return slow
    if problem is None:
        return Answer(False, reason="no loop was found")
    return refusal(problem)


def timed(run: Callable[[int], bool], plain: float = 0.0, has_copies: bool = True) -> float:
    """Seconds of one iteration: `run` executes so many, and says whether there are more; 0 if nothing can be told.

    Given the seconds that Python takes for one, it is enough to know that this is much faster, copies and all.

    What a part costs however short it is (variables are copied in and out) is not counted: parts grow, unless it
    `has_copies` of no variables. Where a part
    ends by TimeoutError an iteration takes at least what the part took so far, divided among all of it.
    """
    count, first = 1, 0.0
    for number in range(_MOST_PARTS):
        began = thread_time()
        try:
            goes_on = run(count)
        except TimeoutError:
            return (thread_time() - began) / count
        taken = thread_time() - began
        if goes_on and not has_copies and taken > _ENOUGH:
            return taken / count
        if count > 1 and goes_on and plain * count > _SURE * taken:
            return taken / count
        if count > 1 and goes_on and taken > max(_ENOUGH, 3 * first):
            return (taken - first) / (count - 1)
        if not goes_on:
            return 0.0
        first = first or taken
        # Where the copies are all that is seen, each further part is one more of them.
        count *= _FAST_GROWTH if number and taken < _ALIKE * first else _GROWTH
        if plain and not number:
            count = max(count, int((_SURE + 1.0) * first / plain))
    return 0.0


def following(count: int, taken: float, first: float, spent: float, expected: float = 0.0) -> int:
    """Iterations of the next part, after one of `count` that took so many seconds; `first`: of one iteration.

    `expected`: seconds of an iteration as it was timed elsewhere, copies and all; 0 if it was not.

    What a part costs however short it is must be a small share of it, and what is lost if it deoptimises a share of
    what was spent so far.
    """
    if count == 1 and not expected:
        return 2  # the difference tells an iteration from the copies
    each = max(taken - first, 0.0) / (count - 1) if count > 1 else expected
    growth = _FAST_GROWTH * count if count > 1 or not expected else 1 << 40
    most = max(_FIRST_PART, _SHARE * spent, _OVERHEADS * first)
    return max(1, int(max(most - first, each) / each if each * growth > most else growth))
