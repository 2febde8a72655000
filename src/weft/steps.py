"""The steps between a call and its answer, by name.  In: the name of a step that begins; out: nothing, or `OutOfTime`
when the time allowed for compiling is used up.

Everything that weft does for a call passes through `enter`: the passes, the front end, code generation, the tool chain,
the splitter, converters, the cache.  Tests make each step fail, or never end, by a `trap`: whatever the step, the call
gives Python's answer.  Steps that may take long also call `check` in their loops.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

#: Every step that has a name, and when it happens.
STEPS: dict[str, str] = {
    "decorate": "a function gets a dispatcher",
    "bind arguments": "the arguments of a call are put in the order of the parameters",
    "specs": "what is compiled for is read off the arguments",
    "overlap": "arguments that share memory are found",
    "source": "the source of a function is read",
    "directives": "transformations that were asked for are read",
    "cache key": "the place of a version in the disk cache is worked out",
    "restore": "a version is read from the disk cache",
    "keep": "a version is written to the disk cache",
    "recall": "a refusal is read from the disk cache",
    "remember": "a refusal is written to the disk cache",
    "form": "a form of a function with * or ** parameters is made",
    "build": "the front end makes a program",
    "plain": "a function is compiled as plain Python",
    "infer": "the types of plain Python are inferred",
    "emit": "C is written for plain Python",
    "generate C": "a lowered program becomes C",
    "generate Python": "an optimised program becomes Python",
    "C compiler": "C becomes a shared object",
    "load": "a shared object is loaded",
    "describe": "guards, arguments and results of a version are described",
    "install": "the dispatcher takes a version",
    "split": "regions are found around a statement that stays Python",
    "region": "a region becomes a function of its own",
    "read attributes": "an attribute of each object in an argument is read",
    "make result": "a Python object is made of the numbers of a kernel",
    "explain": "what became of a function is told",
}

#: What is told of each step that begins; for tests.
trap: Callable[[str], None] | None = None
clock: Callable[[], float] = time.monotonic

_deadline: ContextVar[float] = ContextVar("weft_deadline", default=math.inf)
_current: ContextVar[str] = ContextVar("weft_step", default="")
_watch: ContextVar[_Watch | None] = ContextVar("weft_watch", default=None)
#: Seconds that a step has to notice by itself that time is up.
PATIENCE = 1.0
#: The steps with which long work begins.
_LONG = frozenset({"build", "split", "explain"})
_PACKAGE = os.path.dirname(os.path.abspath(__file__))


class OutOfTime(Exception):
    """Compiling takes longer than the user allows; `step` is the one that was at work."""

    def __init__(self, step: str) -> None:
        super().__init__(f"out of time at the step {step!r}")
        self.step = step


def register(names: Iterable[str], when: str) -> None:
    """Add steps: passes have the names that the pipeline gives them."""
    STEPS.update((name, when) for name in names)


def enter(name: str) -> None:
    """A step begins."""
    _current.set(name)
    watch = _watch.get()
    if watch is not None:
        watch.enter(name)
    if trap is not None:
        trap(name)
    check()


def check() -> None:
    """`OutOfTime` if compiling has taken too long: steps that may take long ask in their loops."""
    if clock() > _deadline.get():
        raise OutOfTime(_current.get())


def remaining() -> float:
    """Seconds that are left; infinity without a limit."""
    return _deadline.get() - clock()


@contextlib.contextmanager
def budget(seconds: float) -> Iterator[None]:
    """Allow so many seconds for what is done inside; 0: any.

    A step that never asks (a loop inside one pass) is stopped a little later, by an exception from outside.
    """
    ends = math.inf if seconds == 0 else clock() + seconds
    token = _deadline.set(min(_deadline.get(), ends))
    watch = _Watch(seconds + max(PATIENCE, seconds / 10)) if seconds else None
    kept = _watch.set(watch or _watch.get())
    try:
        yield
    finally:
        if watch is not None:
            watch.end()
        _watch.reset(kept)
        _deadline.reset(token)


class _Watch:
    """A timer that stops the thread at work when time has long been up."""

    def __init__(self, seconds: float) -> None:
        self.thread = threading.get_ident()
        self.over, self.sent = False, False
        self.lock = threading.Lock()
        self.ends = time.monotonic() + seconds
        self.timer: threading.Timer | None = None

    def enter(self, name: str) -> None:
        """A step begins in this thread: deep programs are compiled in one of their own."""
        self.thread = threading.get_ident()
        if self.timer is None and name in _LONG:
            self._start(max(self.ends - time.monotonic(), 0.0))

    def _start(self, seconds: float) -> None:
        self.timer = threading.Timer(seconds, self._stop_work)
        self.timer.daemon = True
        with contextlib.suppress(RuntimeError):  # no more threads: steps still ask for themselves
            self.timer.start()

    def _stop_work(self) -> None:
        with self.lock:
            if not self.over and _is_at_work(self.thread):
                self.sent = True
                _raise_in(self.thread, _Interrupted)
                self._start(PATIENCE)  # somebody may have caught it

    def end(self) -> None:
        """The work is done: what was sent and has not arrived must not reach the program."""
        try:
            self.over = True
            with self.lock:
                if self.timer is not None:
                    self.timer.cancel()
                if self.sent:
                    _raise_in(self.thread, None)
        except _Interrupted:  # it arrives just now
            self.end()


class _Interrupted(OutOfTime):
    """The exception from outside, which the interpreter makes."""

    def __init__(self) -> None:
        super().__init__(_current.get())


def _raise_in(thread: int, kind: type[BaseException] | None) -> None:
    set_exception = ctypes.pythonapi.PyThreadState_SetAsyncExc
    set_exception(ctypes.c_ulong(thread), None if kind is None else ctypes.py_object(kind))


def _is_at_work(thread: int) -> bool:
    """Whether a function of weft is on the stack of a thread."""
    frame = sys._current_frames().get(thread)
    while frame is not None:
        if frame.f_code.co_filename.startswith(_PACKAGE):
            return True
        frame = frame.f_back
    return False


def watched(name: str, function: Any) -> Any:
    """A function that is a step while there is a trap, and itself otherwise: for those that calls wait for."""
    return function if trap is None else step(name)(function)


def step(name: str) -> Callable[[F], F]:
    """A function that is a step."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def entered(*args: Any, **kwargs: Any) -> Any:
            enter(name)
            return function(*args, **kwargs)

        return entered  # type: ignore[return-value]

    return decorate


# --- exceptions that are not weft's -----------------------------------------------------------------------------------


def from_handler(problem: BaseException) -> bool:
    """Whether one of the program's signal handlers has raised this: it came to run while weft was at work."""
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    codes = {_code_of(handler) for handler in handlers if callable(handler)} - {None}
    trace = problem.__traceback__
    while codes and trace is not None:
        if trace.tb_frame.f_code in codes:
            return True
        trace = trace.tb_next
    return False


def _code_of(handler: Any) -> Any:
    """The code that runs when a handler is called; None if that is not Python."""
    for _ in range(10):
        if isinstance(handler, functools.partial):
            handler = handler.func
        elif hasattr(handler, "__func__"):
            handler = handler.__func__
        elif hasattr(handler, "__code__"):
            return handler.__code__
        else:
            handler = type(handler).__call__
    return None
