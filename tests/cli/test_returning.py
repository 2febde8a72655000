"""Where the end of a long call is waited for: at the next call from certain code, once, and nothing else changes."""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable
from typing import Any

import pytest

from weft.heat.loops import Entry, Loop
from weft.heat.returning import Returning, called_from, function_of

MAIN = threading.get_ident()


def work(n: int, *, base: int = 0) -> int:
    """Recursive."""
    if n < 0:
        raise ValueError(n)
    return base + n + (work(n - 1) if n else 0)


def caller(n: int) -> int:
    return work(n, base=1)


def other(n: int) -> int:
    return work(n, base=1)


def waiting(ends: list[str], code: types.CodeType = caller.__code__) -> Returning:
    return Returning(work, code, MAIN, lambda: ends.append("end"))


def test_the_end_of_the_next_call_from_there_is_told_once() -> None:
    own, ends = work.__code__, list[str]()
    hook = waiting(ends)
    assert hook.is_waiting and work.__code__ is not own
    assert other(3) == 7 and not ends and hook.is_waiting
    assert caller(3) == 7 and ends == ["end"] and not hook.is_waiting
    assert work.__code__ is own
    assert caller(3) == 7 and ends == ["end"]


def test_calls_may_come_before() -> None:
    own, ends = work.__code__, list[str]()
    hook = Returning(work, caller.__code__, MAIN, lambda: ends.append("end"), skipped=2)
    for expected in ([], [], ["end"], ["end"]):
        assert caller(3) == 7 and other(3) == 7
        assert ends == expected and hook.is_waiting != bool(ends)
    assert ends == ["end"] and work.__code__ is own


def test_a_call_that_raises_ends_as_well() -> None:
    own, ends = work.__code__, list[str]()
    waiting(ends)
    with pytest.raises(ValueError) as problem:
        caller(-1)
    assert ends == ["end"] and work.__code__ is own
    names = [entry.name for entry in problem.traceback]
    assert names[-2:] == ["caller", "work"] or "work" in names


def test_a_call_of_another_thread_is_another_call() -> None:
    own, ends = work.__code__, list[str]()
    hook = waiting(ends)
    thread = threading.Thread(target=caller, args=(2,))
    thread.start()
    thread.join()
    assert not ends and hook.is_waiting
    hook.give_up()
    assert work.__code__ is own and not hook.is_waiting
    assert caller(1) == 2 and not ends


def test_code_that_others_put_there_stays() -> None:
    own, ends = work.__code__, list[str]()
    hook = waiting(ends)
    changed = own.replace(co_name="changed")
    work.__code__ = changed
    try:
        assert not hook.is_waiting
        hook.give_up()
        assert work.__code__ is changed
    finally:
        work.__code__ = own


def test_the_function_of_a_call_is_found() -> None:
    found: list[Any] = []

    def look() -> None:
        top = sys._getframe()
        frame = top.f_back
        assert frame is not None and frame.f_back is not None
        found.append((called_from(frame.f_back, top), frame, called_from(top, top)))

    def middle() -> None:
        look()

    middle()
    above, frame, nothing = found[0]
    assert above is frame and nothing is None
    assert function_of(frame) is middle
    assert function_of(next(sys._getframe() for _ in range(1))) is None  # a generator


@pytest.mark.parametrize("calls", [1, 2, 3, 5, 6, 7, 12])
def test_a_loop_is_entered_when_its_long_call_is_over(monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    log: list[int] = []

    def long(k: int) -> int:
        return k

    def program() -> None:
        for k in range(60):
            for _ in range(1, calls):
                long(k)
            log.append(long(k))

    def entered(loop: Loop, frame: types.FrameType, ask: Callable[..., bool]) -> None:
        log.append(-1)

    monkeypatch.setattr(Loop, "enter", entered)
    monkeypatch.setattr(Entry, "_is_head", lambda self, frame: frame.f_lineno == first + 1)
    loop, first = Loop(program.__code__, globals()), program.__code__.co_firstlineno
    entry = Entry(loop, lambda *_: False)
    entry.begin_after(long, MAIN)
    before = sys.gettrace()
    sys.settrace(None)
    try:
        program()
        assert sys.gettrace() is None
    finally:
        sys.settrace(before)
    assert -1 in log and [k for k in log if k >= 0] == list(range(60)) and entry.is_over
