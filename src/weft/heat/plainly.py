"""Hot functions of plain Python.  In: a function and the arguments of a call; out: in the compiler's process, a kernel
in the disk cache and how long a native call of it takes; in the program, a function that runs such kernels.

The compiler's process is a copy of the program: a native call there, on the arguments at hand, changes nothing that
anybody sees.  So what a call costs, conversion of its arguments and all, is known before the program pays.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from time import thread_time
from typing import Any

from weft import forking, handlers, net
from weft.errors import Unsupported
from weft.heat.apart import Apart
from weft.heat.elsewhere import Answer, build_run_time
from weft.heat.fetched import Fetched
from weft.options import make_options
from weft.plain.function import OVERFLOW, PlainVersion
from weft.plain.runtime import MISS, NotCompiled, last

_MOST_REQUESTS = 4
_MOST_WIDE = 8  # attempts to find the lines on which integers need more than 64 bits
_LONGEST = 1.0  # seconds of a native call that is only made to be timed
_SURE, _JUST_SURE = 6.0, 1.3  # times as fast as Python: enough to know
_LEAST_COMPARED, _MOST_COMPARED = 0.02, 0.3  # seconds of Python
_ANOTHER = 8.0  # times faster than the call before: not the same work
_COLD = 1e-3  # seconds: a shorter call is timed again, since the first one has filled caches


def may_take(function: types.FunctionType, arguments: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Whether the compiler of plain Python is asked: there are no arrays, and no options of the other one.

    A program that works with NumPy has loops over numbers compiled by the other one, too, which makes vectors of them.
    """
    from weft.plain import choice

    if options.get("backend") or choice.uses_arrays(function, arguments):
        return False
    from weft.frontend.source import load

    return "numpy" not in sys.modules or choice.is_plain(function, load(function).tree, arguments)


def prepare(function: types.FunctionType, arguments: tuple[Any, ...], is_compared: bool = False) -> Answer:
    """Compile a version for these arguments, leave it in the disk cache, and time a call of it.

    `is_compared`: time a call in Python as well, as far as it takes to know which is faster.
    """
    build_run_time()
    native = Fetched(function)
    python = Apart(lambda limit: _seconds(function, arguments, limit)) if is_compared else None
    for _ in range(_MOST_WIDE):
        version = native.extend(arguments)
        call = _timed(version, arguments)
        if call is not None:
            bound, wide = not native.is_kept, sorted(native.wide)
            answer = Answer(True, signature=version.signature, plain=True, call=call, wide=wide, bound=bound)
            if python is not None and call:
                limit = max(_LEAST_COMPARED, min(_SURE * call, _MOST_COMPARED), call * _JUST_SURE)
                answer.each = python.seconds(limit)
                answer.gain = answer.each / call
            return answer
        why = last(version.call)
        if version.is_restored and not why.deopts:
            continue  # it is for arguments of other types
        if why.reason != OVERFLOW or not why.line or why.line in native.wide:
            break
        native.wide |= {why.line}
        native.versions.clear()
    return Answer(False, reason=f"a native call was given up: {why.reason}", line=why.line)


def _timed(version: PlainVersion, arguments: tuple[Any, ...]) -> float | None:
    """Seconds of a native call, 0.0 if it takes too long to wait for; None if the call was given up."""
    import signal

    def late(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, _LONGEST)
    best = _LONGEST
    try:
        for _ in range(3):
            began = thread_time()
            if version.call(*arguments, *version.hidden) is MISS:
                return None if best == _LONGEST else best
            taken = thread_time() - began
            if taken < best / _ANOTHER and best < _LONGEST:
                break  # the calls before have left it nothing to do
            best = min(best, taken)
            if best > _COLD:
                break
        return best
    except TimeoutError:
        return 0.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def _seconds(function: types.FunctionType, arguments: tuple[Any, ...], limit: float) -> float:
    """Seconds of a call in Python, or as many as it took until it was clear that a native one is faster."""
    import signal

    def late(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, late)
    best = limit
    for _ in range(3):
        began = thread_time()
        signal.setitimer(signal.ITIMER_PROF, limit)
        try:
            function(*arguments)
        except Exception:  # of this process, or since the arguments have been through a call
            if best == limit:
                best = thread_time() - began
            break
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
        taken = thread_time() - began
        if taken < best / _ANOTHER and best < limit:
            break  # the calls before have left it nothing to do
        best = min(best, taken)
        if best > _COLD:
            break
    return best


class HotPlain(Fetched):
    """A function whose versions are made elsewhere; `ask` has one made for the arguments of a call."""

    def __init__(
        self, function: types.FunctionType, options: dict[str, Any], ask: Callable[[Any, tuple[Any, ...], int], bool]
    ) -> None:
        super().__init__(function, self._fetch)
        self.py_func = function
        self.options = make_options(options)
        self.plain_calls = 0
        self._ask = ask
        self._requests = 0
        self._waiting = False
        self._reasons: list[str] = []

    @property
    def native_calls(self) -> int:
        return sum(version.calls for version in self.versions)

    @property
    def call_counts(self) -> list[int]:
        return [version.calls for version in self.versions]

    @property
    def signatures(self) -> list[str]:
        return [version.signature for version in self.versions]

    @property
    def stats(self) -> dict[str, Any]:
        return {"fallbacks": self._reasons}

    def _parts(self) -> tuple[HotPlain]:
        return (self,)

    def _fetch(self, values: tuple[Any, ...]) -> bool:
        """A version for these arguments from the disk cache; False, and a request for one, if it is not there."""
        self.plain_calls += 1
        if self._waiting or self.given_up or forking.is_working() or not forking.can_load():
            return False
        if self._requests > _MOST_REQUESTS:
            self.given_up = True
            return False
        try:
            with handlers.passing(), forking.working():
                self.fetch(values)
            self.plain_calls -= 1
            return True
        except NotCompiled:
            self._requests += 1
            self._waiting = self._ask("plain", values, 0)
        except Exception as trouble:
            if not isinstance(trouble, Unsupported) and net.is_meant(trouble, self.options):
                raise
            self._reasons.append(str(getattr(trouble, "reason", trouble)))
            self._requests += 1
        return False

    def told(self, kinds: Any, answer: Answer) -> None:
        """What became of a request; with a good answer the next call finds the version."""
        self._waiting = False
        self.is_bound |= answer.bound
        if not answer.good:
            self._reasons.append(answer.reason)
