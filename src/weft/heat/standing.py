"""Which loop the main thread is in.  In: its stack, sample by sample; out: the frame of the outermost loop, and how
often it was found there.

From the bottom of the stack up, frames are the same from sample to sample as long as none of them is in a loop and each
is still at the same call.  The first one that is in a loop is what everything above it is called from.  If that loop
stays Python, frames above it are looked for that are found again and again.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    import types
    from collections.abc import Callable

#: Among the variables of a frame: the iterators of its `for` loops, the outermost first.
ITERATOR = "__weft_iterator_"
_STAYING = 5  # samples, from which on a frame above other loops is taken for one that stays
_DEPTH = 256

_loops: dict[int, tuple[types.CodeType, list[tuple[int, int]]]] = {}
_backward: set[int] = set()
EXTENDED = 0x90  # EXTENDED_ARG


def loops_of(code: types.CodeType) -> list[tuple[int, int]]:
    """First and last byte of the loops of a code object, by its jumps backward."""
    known = _loops.get(id(code))
    if known is not None:
        return known[1]
    if not _backward:
        from opcode import opmap

        _backward.update(n for name, n in opmap.items() if "JUMP_BACKWARD" in name and "NO_INTERRUPT" not in name)
    found, argument, text = [], 0, code.co_code
    for at in range(0, len(text), 2):
        argument = argument << 8 | text[at + 1]
        if text[at] in _backward:
            found.append((at + 2 - 2 * argument, at))
        if text[at] != EXTENDED:
            argument = 0
    _loops[id(code)] = (code, found)  # the code is held, so that no other gets its number
    return found


def loop_at(frame: types.FrameType) -> int:
    """The first byte of the outermost loop that a frame is in; -1 if it is in none."""
    last = frame.f_lasti
    return min((first for first, end in loops_of(frame.f_code) if first <= last <= end), default=-1)


def line_of(frame: types.FrameType) -> int:
    """The line that a frame is at; where a loop jumps back, which has none, that of the innermost loop's head."""
    if frame.f_lineno:
        return frame.f_lineno
    last = frame.f_lasti
    begun = (first for first, end in loops_of(frame.f_code) if first <= last <= end)
    return line_at(frame.f_code, max(begun, default=0))


def line_at(code: types.CodeType, at: int) -> int:
    """The line of an instruction; 0 if it has none."""
    return next((line for begin, end, line in code.co_lines() if begin <= at < end and line), 0)


def _has_no_statements(code: types.CodeType) -> bool:
    """Whether this is a comprehension or a lambda function: no loop in it could be entered at its head."""
    return code.co_name[0] == "<" and code.co_name != "<module>"


class Place:
    """A frame on the stack of one sample: the loop it is in, if that may be entered, and in how many samples it was."""

    def __init__(self, frame: types.FrameType, key: tuple[int, int] | None, count: int, is_base: bool) -> None:
        self.frame, self.key, self.count = frame, key, count
        self.is_base = is_base  # it is called from no loop: likely not again


class Standing:
    """The main thread from sample to sample."""

    def __init__(self, is_users: Callable[[str], bool]) -> None:
        self._is_users = is_users
        self._users: dict[int, bool] = {}
        self._calls: list[tuple[int, int]] = []  # the frames of the last sample, and the call that each was at
        self._counts: dict[tuple[int, int], int] = {}
        self._staying: dict[int, tuple[types.CodeType, int]] = {}

    def candidates(self, top: types.FrameType) -> list[tuple[types.FrameType, tuple[int, int], int]]:
        """Frames in loops, the outermost first: the frame, which loop it is, and in how many samples it was there."""
        return [(one.frame, one.key, one.count) for one in self.places(top) if one.key is not None]

    def places(self, top: types.FrameType) -> list[Place]:
        """All frames of a stack, the outermost first."""
        stack: list[types.FrameType] = []
        frame: types.FrameType | None = top
        while frame is not None and len(stack) < _DEPTH:
            if frame.f_code.co_filename.startswith("<frozen importlib"):
                return []  # a process made now would wait for what is being imported
            stack.append(frame)
            frame = frame.f_back
        if frame is not None:
            return []
        calls: list[tuple[int, int]] = []
        found: list[Place] = []
        staying = {}
        is_base = True
        for place, frame in enumerate(reversed(stack)):
            code = frame.f_code
            before = self._staying.get(id(frame))
            count = before[1] + 1 if before is not None and before[0] is code else 1
            staying[id(frame)] = (code, count)
            first = loop_at(frame) if is_base or count >= _STAYING else -1
            if first >= 0 and self._belongs(code) and not _has_no_statements(code):
                key = (id(code), first)
                self._counts[key] = self._counts.get(key, 0) + 1
                found.append(Place(frame, key, self._counts[key], is_base))
            else:
                found.append(Place(frame, None, 0, is_base))
            call = (id(frame), frame.f_lasti)
            calls.append(call)
            is_base = is_base and first < 0 and place < len(self._calls) and self._calls[place] == call
        self._calls, self._staying = calls, staying
        return found

    def _belongs(self, code: types.CodeType) -> bool:
        known = self._users.get(id(code))
        if known is None:
            known = self._users[id(code)] = self._is_users(code.co_filename)
        return known
