"""Native code in the place of a loop that is under way.  In: a loop, and a frame at its head; out: the variables and
the iterator of the frame as the loop leaves them.

Loaded when there is something to enter: it brings the run time of plain Python with it.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from itertools import islice
from time import perf_counter
from typing import Any

from weft import forking, handlers, net
from weft.errors import Span, Unsupported
from weft.heat.apart import Apart
from weft.heat.elsewhere import Answer, build_run_time
from weft.heat.fetched import Fetched
from weft.heat.heads import iterators_of, write_back
from weft.heat.loops import Loop, following, timed, variables_of
from weft.heat.outline import Outline
from weft.options import make_options
from weft.plain.function import OVERFLOW, PlainVersion
from weft.plain.runtime import MISS, NotCompiled, last

_RANGES = type(iter(range(0)))
_ITEMS: Any = (type(iter([])), type(iter(())), type(iter("a")), type(iter("\u20ac")))
_MANY = 1 << 40
_MOST_REQUESTS = 4
_MOST_WIDE = 12  # attempts to find the lines on which integers need more than 64 bits
_RETREAT = 16
_LONGEST_TRIAL = 1.0  # seconds of the processor, of calls that are only made to be timed
_LONGEST_PLAIN = 0.3  # seconds of those of Python, which go on for longer if it is fast
_LATEST = 5.0  # seconds of such calls on a busy machine


# --- iterators ------------------------------------------------------------------------------------------------------


class Ranged:
    """What is left of a range, and how to move on in it."""

    def __init__(self, iterator: Any) -> None:
        self.iterator = iterator
        _, (self.whole,), *index = iterator.__reduce__()
        self.index = index[0] if index else 0

    @property
    def left(self) -> int:
        return max(0, len(self.whole) - self.index)

    def arguments(self, count: int) -> tuple[Any, ...]:
        return (self.whole[self.index : self.index + count],)

    def move(self, number: int, at: Any, count: int) -> None:
        """`number`: as the loop returned it; `at`: the last item; `count`: items of this part."""
        self.index = self.whole.index(at) + 1 if number else self.index + count
        self.iterator.__setstate__(self.index)


class Listed:
    """The items of a list or tuple that are left: it may grow or shrink meanwhile."""

    def __init__(self, iterator: Any) -> None:
        self.iterator = iterator
        found = iterator.__reduce__()
        self.items: Any = found[1][0] if len(found) > 2 else []
        self.index: int = found[2] if len(found) > 2 else 0

    @property
    def left(self) -> int:
        return max(0, len(self.items) - self.index)

    def arguments(self, count: int) -> tuple[Any, ...]:
        return (self.items, self.index, self.index + count)

    def move(self, number: int, at: Any, count: int) -> None:
        self.index = at if number < 0 else at + 1 if number else self.index + count
        self.iterator.__setstate__(self.index)


class Numbered(Listed):
    """An `enumerate` of such items: it can only be moved on by taking items."""

    def __init__(self, iterator: Any) -> None:
        _, (inner, number) = iterator.__reduce__()
        super().__init__(inner)
        self.iterator, self.offset = iterator, number - self.index

    def arguments(self, count: int) -> tuple[Any, ...]:
        return (*super().arguments(count), self.offset)

    def move(self, number: int, at: Any, count: int) -> None:
        before = self.index
        self.index = at if number < 0 else at + 1 if number else self.index + count
        taken = self.index - before + (number < 0)
        for _ in islice(self.iterator, taken):
            pass


class Counted:
    """A `while` loop: so many iterations more."""

    left = _MANY

    def arguments(self, count: int) -> tuple[Any, ...]:
        return (count,)

    def move(self, number: int, at: Any, count: int) -> None:
        if number < 0:
            self.left = 0


def _state(outline: Outline, frame: types.FrameType) -> Any:
    """What is left of the loop; None if it runs over something else than it was compiled for."""
    if outline.kind == "while":
        return Counted()
    iterator = iterators_of(frame, at_head=True)[outline.depth]
    if outline.kind == "range":
        return Ranged(iterator) if type(iterator) is _RANGES else None
    if outline.kind == "numbered":
        inner = iterator.__reduce__()[1][0] if type(iterator) is enumerate else None
        return Numbered(iterator) if type(inner) in _ITEMS else None
    return Listed(iterator) if type(iterator) in _ITEMS else None


# --- running --------------------------------------------------------------------------------------------------------


class Parts(Fetched):
    """The function of a loop, whose versions are in the disk cache."""

    def __init__(self, function: types.FunctionType) -> None:
        super().__init__(function)
        self.wanted = False  # a version that nobody has compiled yet
        self.taken = 0.0  # seconds of the last part
        self.reason = ""

    def part(self, values: tuple[Any, ...]) -> Any:
        """A part of the loop, or MISS: nothing has happened then."""
        while True:
            for version in self.versions:
                if version.is_current():
                    began = perf_counter()
                    found = version.call(*values, *version.hidden)
                    self.taken = perf_counter() - began
                    if found is not MISS:
                        return found
                    why = last(version.call)
                    self.reason = f"{why.reason} (line {why.line})" if why.line else str(why.reason)
                    if self._deoptimised(version, values):
                        return MISS
            if self.given_up or not self._fetch(values):
                return MISS

    def _fetch(self, values: tuple[Any, ...]) -> bool:
        if forking.is_working() or not forking.can_load():
            return False
        try:
            with handlers.passing(), forking.working():
                self.fetch(values)
            return True
        except NotCompiled:
            self.wanted = True
        except Unsupported as problem:
            self.reason, self.given_up = problem.reason, True
        except Exception as trouble:
            if net.is_meant(trouble, make_options({})):
                raise
            self.reason, self.given_up = str(trouble), True
        return False


def run(
    loop: Loop, frame: types.FrameType, ask: Callable[[Loop, dict[str, Any], int], bool]
) -> tuple[dict[str, Any], int]:
    """Run a loop natively from its head on, as far as that goes: its variables, and the line of the statement that
    leaves it, 0 if Python goes on at the head."""
    outline = loop.outline
    assert outline is not None
    state = _state(outline, frame)
    if state is None:
        loop.leave("it runs over something else than a range or a list")
        return {}, 0
    variables = frame.f_locals
    changed: dict[str, Any] = {}
    if any(name not in variables for name in outline.names):
        return {}, 0
    if loop.native is None:
        loop.native = Parts(outline.function)
    loop.native.wide |= loop.wide
    loop.native.is_bound |= loop.is_bound
    try:
        return changed, _in_parts(loop, state, frame, changed, ask)
    except BaseException as trouble:
        if net.is_meant(trouble, make_options({})):
            if changed:
                write_back(frame, changed)  # the iterator has moved: the handler of a signal sees both
            raise
        loop.leave(str(trouble))
        return changed, 0


def _in_parts(
    loop: Loop,
    state: Any,
    frame: types.FrameType,
    changed: dict[str, Any],
    ask: Callable[[Loop, dict[str, Any], int], bool],
) -> int:
    """Run a loop in parts that grow; the variables that they change are put into `changed`."""
    outline, variables = loop.outline, frame.f_locals
    assert outline is not None
    count, spent = 1, 0.0
    first: float | None = None  # seconds of one iteration, and of copying the variables
    while state.left:
        count = min(count, state.left)
        values = (*state.arguments(count), *(changed.get(name, variables[name]) for name in outline.names))
        found = loop.native.part(values)
        taken = loop.native.taken
        if found is MISS:
            if count > 1 and not loop.native.wanted:
                count = max(1, count // _RETREAT)
                continue
            _missed(loop, variables_of(frame, at_head=True) | changed, ask)
            return 0
        loop.state, loop.failures = "native", 0
        number, at, *results = found
        changed.update(zip(outline.results, results))
        state.move(number, at, count)
        if number > 0:
            loop.entries += 1
            line: int = outline.exits[number - 1]
            return line
        spent += taken
        first = taken if first is None or count == 1 else first
        count = following(count, taken, first, spent, loop.each)
    loop.entries += 1
    return 0


def _missed(loop: Loop, variables: dict[str, Any], ask: Callable[[Loop, dict[str, Any], int], bool]) -> None:
    """Not even one iteration: Python runs it."""
    if loop.native.wanted and loop.requests < _MOST_REQUESTS:
        loop.native.wanted = False
        loop.requests += 1
        loop.wide = loop.native.wide
        if ask(loop, variables, loop.line):
            loop.state = "asked"
        return
    if loop.native.given_up or loop.native.wanted:
        loop.leave(loop.native.reason or "its variables have other types each time")
    else:
        loop.failed(f"a native call was given up: {loop.native.reason}")


# --- in the compiler's process --------------------------------------------------------------------------------------


def prepared(outline: Outline, variables: dict[str, Any], wide: frozenset[int] = frozenset()) -> Answer:
    """Compile a loop for the variables of a frame that may be anywhere in it; leave it in the disk cache; time it."""
    build_run_time()
    native, plain = Fetched(outline.function), 0.0
    native.wide = wide
    python = Apart(lambda limit: _in_python(outline, variables, limit))
    for number in range(_MOST_WIDE):
        version = version_for(outline, variables, native)
        plain = plain if number else python.seconds(_LONGEST_PLAIN)
        try:
            call = _trial(outline, variables, version, plain)
            if not call:
                _iterate(outline, variables)
                call = _trial(outline, variables, version, plain)
            break
        except _Stranger:
            continue
        except _Overflow as problem:
            if problem.line in native.wide:
                raise Unsupported(_place(outline), f"a native call was given up: {OVERFLOW}", "") from None
            native.wide |= {problem.line}
            native.versions.clear()
    else:
        raise Unsupported(_place(outline), "integers beyond 64 bits on many lines", "")
    gain = plain / call if call else 0.0
    if gain < 1.0 and plain > _LONGEST_PLAIN / 2:
        gain = 0.0  # not even one iteration of Python was over
    answer = Answer(True, version.signature, line=outline.line, plain=True, call=call, gain=gain, each=plain)
    answer.wide, answer.bound = sorted(native.wide), not native.is_kept
    return answer


def version_for(outline: Outline, variables: dict[str, Any], native: Fetched) -> PlainVersion:
    """Native code of a loop for the variables of a frame, one more."""
    return native.extend((*_sample(outline, variables, 1), *(variables[name] for name in outline.names)))


def _sample(outline: Outline, variables: dict[str, Any], count: int) -> tuple[Any, ...]:
    if outline.kind == "while":
        return (count,)
    if outline.kind == "items":
        return (outline.sample, 0, count)
    if outline.kind == "numbered":
        return (outline.sample, 0, count, 0)
    return (range(outline.sample, outline.sample + count),)


def _trial(
    outline: Outline,
    variables: dict[str, Any],
    version: PlainVersion | None,
    plain: float = 0.0,
    limit: float = _LONGEST_TRIAL,
) -> float:
    """Seconds of an iteration, native or (without a version) in Python; `plain`: those of Python, if known."""
    import signal

    values = dict(variables)

    def part(count: int) -> bool:
        arguments = (*_sample(outline, values, count), *(values[name] for name in outline.names))
        found = outline.function(*arguments) if version is None else version.call(*arguments, *version.hidden)
        if found is MISS:
            why = last(version.call)  # type: ignore[union-attr]
            if version.is_restored and not why.deopts:  # type: ignore[union-attr]
                raise _Stranger
            if why.reason == OVERFLOW and why.line:
                raise _Overflow(why.line)
            raise _Missed(why.reason if count == 1 else "an exception")
        values.update(zip(outline.results, found[2:]))
        return bool(found[0] == 0)

    def late(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, _LATEST)
    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        return timed(part, plain, has_copies=version is not None)
    except (_Overflow, _Stranger):
        raise
    except _Missed as problem:
        reason = str(problem)
        if "exception" in reason:
            return 0.0  # as below
        raise Unsupported(_place(outline), f"a native call was given up: {reason}", "") from None
    except Exception:  # the frame may have been anywhere in an iteration: nothing can be told
        return 0.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def _iterate(outline: Outline, variables: dict[str, Any]) -> None:
    """Have Python do the rest of an iteration that had begun, as far as it can be repeated."""
    try:
        outline.function(*_sample(outline, variables, 1), *(variables[name] for name in outline.names))
    except Exception:
        return  # as far as it came


def _in_python(outline: Outline, variables: dict[str, Any], limit: float) -> float:
    """Of an iteration that had begun, a repetition may fail, and the next one succeed."""
    return _trial(outline, variables, None, limit=limit) or _trial(outline, variables, None, limit=limit)


def _place(outline: Outline) -> Span:
    return Span(outline.function.__code__.co_filename, outline.line, 0, outline.line, 0)


class _Overflow(Exception):
    """A part that deoptimised since an integer on this line needs more than 64 bits."""

    def __init__(self, line: int) -> None:
        self.line = line


class _Missed(Exception):
    """A part that deoptimised."""


class _Stranger(Exception):
    """A version of the disk cache that is for variables of other types."""
