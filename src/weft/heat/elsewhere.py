"""Compiling in a process of its own.  In: a function and the arguments of a call; out, later: whether there is a
version for them in the disk cache, or why not.

The process is forked, so that it knows the function's globals and arguments as they are, and does nothing but compile:
it has no files, no output and no terminal, and ends without cleaning up.  The program goes on meanwhile on its own
processor and its own interpreter lock.
"""

from __future__ import annotations

import gc
import os
import select
import sys
from time import perf_counter

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    import types
    from typing import Any, NoReturn

_LIMIT = 120.0  # seconds a compilation may take
_LARGE = 0.25  # part of the machine's memory above which a process is not doubled, be it only in name


class Answer:
    """What became of a request: whether a version is in the disk cache; if not, why, and on which line."""

    def __init__(self, good: bool, signature: str = "", reason: str = "", line: int = 0, seconds: float = 0.0) -> None:
        self.good, self.signature, self.reason, self.line, self.seconds = good, signature, reason, line, seconds


class Request:
    """A compilation under way: the pipe that its answer comes through, and since when."""

    def __init__(self, reader: int, group: int) -> None:
        self.reader, self.group, self.since = reader, group, perf_counter()

    def answer(self, wait: float) -> Answer | None:
        """The answer, if it comes within `wait` seconds."""
        ready, _, _ = select.select([self.reader], [], [], wait)
        if not ready:
            if perf_counter() - self.since > _LIMIT:
                self.give_up()
                return Answer(False, reason="compiling took too long")
            return None
        text = b""
        while part := os.read(self.reader, 1 << 16):
            text += part
        self._close()
        import json

        try:
            return Answer(**json.loads(text))
        except (ValueError, TypeError):
            return Answer(False, reason="the compiler ended without an answer")

    def give_up(self) -> None:
        """End the process, and what it has started; its session holds nothing else."""
        from signal import SIGKILL

        if self.reader >= 0:
            self._close()
            try:
                os.killpg(self.group, SIGKILL)
            except (ProcessLookupError, PermissionError):
                return  # it has ended by itself

    def _close(self) -> None:
        os.close(self.reader)
        self.reader = -1


#: Set while such a process is made: what watches forks of the program must not take it for one.
making = False


def possible() -> str | None:
    """Why a process of its own cannot be had here; None if it can."""
    if sys.platform != "linux":
        return "this system has no cheap fork"
    try:
        with open("/proc/self/statm", "rb") as stream:
            resident = int(stream.read().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return "the program's memory is too large to fork" if resident > _LARGE * os.sysconf("SC_PHYS_PAGES") else None


def start(function: types.FunctionType, arguments: tuple[Any, ...], options: dict[str, Any], attempt: int) -> Request:
    """Begin to compile `function` for these arguments, which are needed only until this returns."""
    global making
    reader, writer = os.pipe()
    making = True
    try:
        # Two forks: the one in between ends at once, so that the program never finds a child that it has not made.
        child = os.fork()
        if child == 0:
            _between(writer, function, arguments, options, attempt)
    finally:
        making = False
    os.close(writer)
    os.waitpid(child, 0)
    try:
        group = int(os.read(reader, 16))
    except ValueError:
        group = 0
    if group <= 1:
        os.close(reader)
        raise OSError("no process could be made")
    return Request(reader, group)


def _between(
    writer: int, function: types.FunctionType, arguments: tuple[Any, ...], options: dict[str, Any], attempt: int
) -> NoReturn:
    try:
        if os.fork() == 0:
            _work(writer, function, arguments, options, attempt)
    finally:
        os._exit(0)


def _work(
    writer: int, function: types.FunctionType, arguments: tuple[Any, ...], options: dict[str, Any], attempt: int
) -> NoReturn:
    import json
    import signal

    try:
        gc.disable()  # a collection would touch, and so copy, all memory; and run finalizers of the program
        os.setsid()
        os.write(writer, str(os.getpid()).ljust(16).encode())
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _leave_files(writer)
        os.nice(2)
        os.environ["WEFT_CALIBRATE"] = "0"
        sys.settrace(None)
        sys.setprofile(None)
        answer = _compile(function, arguments, options, attempt)
        os.write(writer, json.dumps(vars(answer)).encode())
    finally:
        os._exit(0)


def _leave_files(writer: int) -> None:
    """Whoever waits for the end of a pipe or socket of the program must not wait for this process."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    try:
        opened = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        opened = list(range(3, 1024))
    for descriptor in opened:
        if descriptor > 2 and descriptor != writer:
            try:
                os.close(descriptor)
            except OSError:
                continue  # the listing's own


def _compile(
    function: types.FunctionType, arguments: tuple[Any, ...], options: dict[str, Any], attempt: int
) -> Answer:
    from weft.errors import WeftError

    began = perf_counter()
    try:
        from weft.heat.hot import prepare

        answer = prepare(function, arguments, options, attempt)
    except WeftError as problem:
        reason = str(getattr(problem, "reason", problem))
        answer = Answer(False, reason=reason, line=getattr(getattr(problem, "span", None), "line", 0))
    except BaseException as problem:
        answer = Answer(False, reason=f"an error inside weft: {type(problem).__name__}: {problem}")
    answer.seconds = perf_counter() - began
    return answer
