"""The head of a `for` loop that is under way.  In: a frame, seen by its own thread; out: the iterators on its stack and
an object in the place of one of them that is called when the loop comes to its head.

A loop comes to its head when it wants the next item: until then nothing is slower, however long the iteration takes.
Other threads must not look at the stack of a frame, which may run on between two of their instructions.
"""

from __future__ import annotations

import sys

from weft.heat.stacks import stacks_of
from weft.heat.standing import EXTENDED, line_at, loops_of

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    import types
    from collections.abc import Callable
    from typing import Any

_FRAME, _LOCALS = 24, 72  # bytes: where a frame object names its frame, and where the variables of a frame begin
#: What a loop may run over: taking an item of these runs no other code.
_KINDS: tuple[type, ...] = (
    type(iter(range(0))),
    type(iter([])),
    type(iter(())),
    type(iter("a")),
    type(iter("\u20ac")),
    enumerate,
)
_END = object()


def _heads(frame: types.FrameType) -> list[int]:
    """Where the heads of the `for` loops are that a frame is in, the outermost first."""
    from opcode import opmap

    last, text, found = frame.f_lasti, frame.f_code.co_code, []
    for at in sorted({first for first, end in loops_of(frame.f_code) if first <= last <= end}):
        while text[at] == EXTENDED:
            at += 2
        if text[at] == opmap["FOR_ITER"]:
            found.append(at)
    return found


def _slot(frame: types.FrameType, place: int) -> Any:
    """A place on the stack of a frame, counted from its bottom."""
    from ctypes import c_size_t

    code = frame.f_code
    cells = sum(name not in code.co_varnames for name in code.co_cellvars)
    variables = len(code.co_varnames) + cells + len(code.co_freevars)
    inner = c_size_t.from_address(id(frame) + _FRAME).value
    return c_size_t.from_address(inner + _LOCALS + 8 * (variables + place))


_as_known: list[bool] = []  # once it was looked


def is_as_known() -> bool:
    """Whether this Python keeps iterators where they are looked for: one of a loop of our own is there."""
    if not _as_known:
        _as_known.append(is_known_kind() and _finds_own())
    return _as_known[0]


def is_known_kind() -> bool:
    """Whether this is a version, and a kind of build, whose frames are known."""
    is_version = sys.implementation.name == "cpython" and sys.version_info[:2] == (3, 11)
    return is_version and sys.maxsize == 2**63 - 1 and not hasattr(sys, "getobjects")  # not one that traces references


def _finds_own() -> bool:
    own = iter((0,))
    for _ in own:
        return bool(_slot(sys._getframe(), 0).value == id(own))
    return False


def _held(frame: types.FrameType, place: int) -> Any:
    from ctypes import cast, py_object

    address = _slot(frame, place).value
    return cast(address, py_object).value if address else None


def iterators_of(frame: types.FrameType, at_head: bool = False) -> list[Any]:
    """The iterators of the `for` loops that a frame is in, the outermost first; None for one that may be gone by now.

    `at_head`: the frame is at the head of a loop, and has not taken an item as yet.
    """
    if not is_as_known():
        return []
    found = [None if place is None else _held(frame, place) for place in _places(frame, at_head)]
    return [one.iterator if type(one) is Head else one for one in found]


def _places(frame: types.FrameType, at_head: bool) -> list[int | None]:
    """Where on the stack the iterators of the loops are that a frame is in."""
    return stacks_of(frame.f_code).iterators_at(frame.f_lasti, _heads(frame), at_head)


def _put(frame: types.FrameType, place: int, value: object) -> None:
    """Have the stack hold another object instead."""
    from ctypes import py_object, pythonapi

    slot, before = _slot(frame, place), _held(frame, place)
    pythonapi.Py_IncRef(py_object(value))
    slot.value = id(value)
    pythonapi.Py_DecRef(py_object(before))


class Head:
    """In the place of an iterator, until the next item is wanted."""

    def __init__(
        self,
        iterator: Any,
        at: tuple[types.CodeType, int],
        place: int,
        reached: Callable[[types.FrameType], tuple[int, dict[str, Any], Any] | None],
    ) -> None:
        self.iterator, self.place = iterator, place
        self._at = at  # the code, and where in it the head of the loop is
        self._reached = reached

    def _is_asked_by(self, frame: types.FrameType) -> bool:
        """Whether the loop wants an item, and not somebody who has found this object (`gc.get_objects`)."""
        code, head = self._at
        is_head = frame.f_code is code and frame.f_lasti == head
        return is_head and bool(_slot(frame, self.place).value == id(self))

    def __iter__(self) -> Head:
        return self

    def __next__(self) -> Any:
        frame = sys._getframe(1)
        if not self._is_asked_by(frame):
            return next(self.iterator)
        jump = self._reached(frame)
        if jump is not None:
            line, variables, item = jump
            _send(frame, line, variables)
        else:
            item = next(self.iterator, _END)
            if item is _END:
                raise StopIteration  # this object is what the loop lets go of
        _put(frame, self.place, self.iterator)
        return item


def placed(
    frame: types.FrameType,
    line: int,
    depth: int,
    reached: Callable[[types.FrameType], tuple[int, dict[str, Any], Any] | None],
    at_head: bool = False,
) -> bool:
    """Have `reached` called at the head of a loop; False if the frame is in no such loop.

    It gives None, or the line at which Python goes on: with variables that are to be so then, and an item that can be
    assigned to the loop's own variables before.
    """
    if not is_as_known():
        return False
    heads, places = _heads(frame), _places(frame, at_head)
    if depth >= len(heads) or line_at(frame.f_code, heads[depth]) != line:
        return False
    place = places[depth]
    iterator = None if place is None else _held(frame, place)
    if place is None or type(iterator) not in _KINDS:
        return False
    _put(frame, place, Head(iterator, (frame.f_code, heads[depth]), place, reached))
    return True


def write_back(frame: types.FrameType, variables: dict[str, Any]) -> None:
    """Give variables of a frame other values."""
    from ctypes import c_int, py_object, pythonapi

    frame.f_locals.update(variables)  # after the others have been read anew
    pythonapi.PyFrame_LocalsToFast(py_object(frame), c_int(0))


def _send(frame: types.FrameType, line: int, variables: dict[str, Any]) -> None:
    """Have a frame go on at another line, from the next one on that it comes to."""

    def arrived(frame: types.FrameType, event: str, argument: object) -> Any:
        if event != "line":
            return arrived
        frame.f_locals.update(variables)
        try:
            frame.f_lineno = line  # type: ignore[misc]
        finally:
            sys.settrace(None)
            frame.f_trace = None
        return None

    frame.f_trace = arrived
    sys.settrace(lambda *_: None)
