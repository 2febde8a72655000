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
    from collections.abc import Callable, Iterator
    from typing import Any, NoReturn

    from weft.errors import Unsupported

_LIMIT = 120.0  # seconds a compilation may take
_PAGE, _SHARED_PAGE = 2.5e-6, 1.2e-7  # seconds: what the program writes while both have it is copied, page by page
_LARGE = 0.25  # part of the machine's memory above which a process is not doubled, be it only in name


class Answer:
    """What became of a request: whether a version is in the disk cache; if not, why, and on which line.

    `plain`: it is one of the compiler of plain Python; `call`: seconds of a native call, 0 if that was not tried.
    `gain`: how many times faster a loop is, 0 if that is not known; `line` is then that of the loop.
    `wide`: lines on which integers need more than 64 bits.  `early`: a loop in its first iteration may be good later.
    `bound`: the disk cache has but the machine code; what belongs to it has no form that outlives a process.
    `remedy`: what to do about the reason.
    `of`: which of several things was compiled.  `each`: seconds of Python that it would replace, 0 if not known.
    """

    def __init__(
        self,
        good: bool,
        signature: str = "",
        reason: str = "",
        line: int = 0,
        seconds: float = 0.0,
        plain: bool = False,
        call: float = 0.0,
        gain: float = 0.0,
        wide: list[int] | None = None,
        early: bool = False,
        bound: bool = False,
        of: int = 0,
        each: float = 0.0,
        remedy: str = "",
    ) -> None:
        self.remedy = remedy
        self.early, self.bound, self.of, self.each = early, bound, of, each
        self.good, self.signature, self.reason, self.line, self.seconds = good, signature, reason, line, seconds
        self.plain, self.call, self.gain, self.wide = plain, call, gain, wide or []


class Request:
    """A compilation under way: the pipe that its answer comes through, and since when."""

    def __init__(self, reader: int, group: int) -> None:
        self.reader, self.group, self.since = reader, group, perf_counter()
        self.trouble = ""
        self._text = b""  # of an answer that has not come whole

    def answer(self, wait: float) -> Answer | None:
        """The answer, if it comes within `wait` seconds, to a request that has one."""
        found = self.answers(wait)
        if found:
            return found[0]
        return Answer(False, reason=self.trouble or "the compiler ended without an answer") if self.is_over else None

    def answers(self, wait: float) -> list[Answer]:
        """What has come since, or comes within `wait` seconds; then look whether the request `is_over`."""
        ready, _, _ = select.select([self.reader], [], [], wait)
        if not ready:
            if perf_counter() - self.since > _LIMIT:
                self.give_up()
                self.trouble = "compiling took too long"
            return []
        part = os.read(self.reader, 1 << 16)
        *lines, self._text = (self._text + part).split(b"\n")
        if not part:
            self._close()
        import json

        try:
            return [Answer(**json.loads(line)) for line in lines if line]
        except (ValueError, TypeError):
            return []

    @property
    def is_over(self) -> bool:
        """Whether no further answer will come."""
        return self.reader < 0

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
    return "the program's memory is too large to fork" if _pages()[0] > _LARGE * os.sysconf("SC_PHYS_PAGES") else None


def copying() -> float:
    """Seconds that a process of its own costs the program: Python writes on most pages that it looks at."""
    resident, files = _pages()
    return _PAGE * max(resident - files, 0) + _SHARED_PAGE * resident


def _pages() -> tuple[int, int]:
    """Pages of memory that the program has, and those of them that are files; 0 if that is not known."""
    try:
        with open("/proc/self/statm", "rb") as stream:
            found = stream.read().split()
            return int(found[1]), int(found[2])
    except (OSError, ValueError, IndexError):
        return 0, 0


if TYPE_CHECKING:
    #: What the compiler's process does: one answer, or several, one after the other.
    Work = Callable[[], Answer | Iterator[Answer]]


def start(work: Work) -> Request:
    """Begin to compile in another process; what `work` uses of the program is needed only until this returns."""
    global making
    reader, writer = os.pipe()
    making = True
    try:
        # Two forks: the one in between ends at once, so that the program never finds a child that it has not made.
        child = os.fork()
        if child == 0:
            _between(writer, work)
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


def _between(writer: int, work: Work) -> NoReturn:
    try:
        if os.fork() == 0:
            _work(writer, work)
    finally:
        os._exit(0)


def _work(writer: int, work: Work) -> NoReturn:
    import json
    import signal

    try:
        gc.disable()  # a collection would touch, and so copy, all memory; and run finalizers of the program
        os.setsid()
        os.write(writer, str(os.getpid()).ljust(16).encode())
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _leave_files(writer)
        os.environ["WEFT_CALIBRATE"] = "0"
        sys.settrace(None)
        sys.setprofile(None)
        found = compiled(work)
        for answer in [found] if isinstance(found, Answer) else found:
            os.write(writer, json.dumps(vars(answer)).encode() + b"\n")
    finally:
        os._exit(0)


def build_run_time() -> None:
    """Have the run time of plain Python built, if this machine has none yet, in a session of its own.

    It is built once, and takes longer than many a program: one that ends meanwhile must not end that, or the next run
    would begin again.
    """
    from weft.plain import runtime

    if sys.platform != "linux" or runtime.is_built():
        return
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            _leave_files(-1)
            runtime.load()
        finally:
            os._exit(0)
    os.waitpid(child, 0)


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


def prepare(function: types.FunctionType, arguments: tuple[Any, ...], options: dict[str, Any], attempt: int) -> Answer:
    """Plain Python needs neither NumPy nor the dispatcher; what it refuses may be for the array compiler."""
    from weft.errors import Unsupported
    from weft.heat import plainly

    refused: Unsupported | None = None
    if plainly.may_take(function, arguments, options):
        try:
            return plainly.prepare(function, arguments)
        except Unsupported as problem:
            refused = problem
            if "numpy" not in sys.modules and not _is_numeric(arguments):
                raise
    from weft.heat.hot import prepare

    answer = prepare(function, arguments, options, attempt)
    if not answer.good and refused is not None:
        answer = refusal(refused)
    return answer


def _is_numeric(values: tuple[Any, ...]) -> bool:
    """Numbers and lists of them, which the array compiler takes as well."""
    return all(type(v) in (int, float, bool, complex) or (type(v) is list and _is_numeric((*v[:1],))) for v in values)


def refusal(problem: Unsupported) -> Answer:
    """The answer that a compiler refuses."""
    from weft.errors import advice

    remedy = advice(problem.reason, problem.remedy)
    return Answer(False, reason=problem.reason, line=problem.span.line, remedy=remedy)


def compiled(work: Callable[[], Any]) -> Any:
    """What `work` answers; if it fails, an answer that says why."""
    from weft.errors import Unsupported, WeftError

    began = perf_counter()
    try:
        answer = work()
    except Unsupported as problem:
        answer = refusal(problem)
    except WeftError as problem:
        reason = str(getattr(problem, "reason", problem))
        answer = Answer(False, reason=reason, remedy=getattr(problem, "remedy", ""))
    except BaseException as problem:
        answer = Answer(False, reason=f"an error inside weft: {type(problem).__name__}: {problem}")
    if isinstance(answer, Answer):
        answer.seconds = perf_counter() - began
    return answer
