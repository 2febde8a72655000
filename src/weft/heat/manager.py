"""Which functions of the program are worth compiling, and when.  In: samples of the stacks of all threads; out: `Spot`s
that become native one after the other, and the report.

A thread looks at the stacks from time to time and does nothing else while nothing is hot.  Everything that
takes the program's own time (a fork, loading the dispatcher) is counted, and allowed for a small part of the time.
"""

from __future__ import annotations

import _thread
import gc
import os
import sys
import time
import types
from time import perf_counter

from weft.heat import elsewhere, trampoline
from weft.heat.spots import Spot

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    from typing import Any

# A sample makes the program give way to another thread, which costs up to a third of a millisecond: the interval grows
# with the age of the program.
_INTERVAL, _SLOWEST, _GROWTH = 0.015, 0.1, 0.04
_HOT = 6  # samples
_DEPTH = 64
_SHARE, _CREDIT = 0.02, 0.1  # of the program's time, and seconds at its beginning
_BUSY = 0.3  # of an interval: below it the program is waiting for something
_REVIEW = 0.5
_YOUNG = 5.0  # seconds of the program
_PATIENCE = 20.0  # seconds in a function, before the program may wait while the parts of it that can be are compiled

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_MISSING: Any = object()


_LIBRARY = os.path.dirname(os.path.realpath(os.__file__)) + os.sep
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def is_users(file: str) -> bool:
    """Whether code of this file belongs to the program, rather than to Python, an installed package or weft."""
    if file.startswith("<"):
        return False
    path = os.path.realpath(file)
    return not path.startswith((_OWN, _LIBRARY)) and not any(part in path for part in _INSTALLED)


class Manager:
    """Watches one program from `start` to `stop`."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.spots: list[Spot] = []
        self.samples = 0
        self.trouble = ""
        self._table: dict[int, Spot | None] = {}
        self._tops: dict[int, int] = {}  # how often code was found at the top of a stack
        self._kept: list[types.CodeType] = []  # whose identities the table uses
        self._request: tuple[elsewhere.Request, Spot, Any] | None = None
        self._busy = False
        self._lock = _thread.allocate_lock()  # held while modules are imported: no fork of the program in between
        self._holds = False  # the lock, for a fork
        self._spent = 0.0
        self._running: bool = False
        self._began = self._reviewed = perf_counter()

    def start(self) -> None:
        self._running = True
        os.register_at_fork(
            before=self._before_fork, after_in_parent=self._after_fork, after_in_child=self._after_fork_in_child
        )
        _thread.start_new_thread(self._watch, ())

    def stop(self) -> None:
        """No more samples; a compilation under way is given up."""
        self._running = False
        request, self._request = self._request, None
        if request is not None:
            request[0].give_up()

    # --- forks of the program ---------------------------------------------------------------------------------------

    def _before_fork(self) -> None:
        if not elsewhere.making and self._running:
            self._lock.acquire()
            self._holds = True

    def _after_fork(self) -> None:
        if not elsewhere.making and self._holds:
            self._holds = False
            self._lock.release()

    def _after_fork_in_child(self) -> None:
        """A child of the program is watched as well; the compilation under way belongs to its parent."""
        if elsewhere.making or not self._running:
            return
        self._after_fork()
        request, self._request = self._request, None
        self._busy = False
        if request is not None:
            os.close(request[0].reader)
            if request[1].state == "asked":
                request[1].again()
        _thread.start_new_thread(self._watch, ())

    # --- watching ---------------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        own, process = _thread.get_ident(), os.getpid()
        interval, used = _INTERVAL, time.process_time()
        try:
            while self._running and os.getpid() == process:
                time.sleep(interval)
                now = time.process_time()
                is_busy, used = now - used > _BUSY * interval, now
                if is_busy:
                    self._sample(own, interval)
                self._settle()
                interval = min(max(_INTERVAL, _GROWTH * (perf_counter() - self._began)), _SLOWEST)
        except Exception as trouble:  # the program goes on as it is; the report says why nothing more was compiled
            self.trouble = f"{type(trouble).__name__}: {trouble}"
            self.stop()

    def _sample(self, own: int, interval: float) -> None:
        """Look at all stacks, and arm what is hot."""
        self.samples += 1
        for thread, top in sys._current_frames().items():
            if thread == own:
                continue
            self._look_below(top)
            frame: types.FrameType | None = top
            seen: set[int] = set()
            is_leaf, depth = True, 0
            while frame is not None and depth < _DEPTH:
                code = frame.f_code
                key = id(code)
                if key not in seen:
                    seen.add(key)
                    spot = self._table.get(key, _MISSING)
                    if spot is _MISSING:
                        spot = self._meet(code, frame.f_globals)
                    if spot is not None:
                        spot.sampled(id(frame), is_leaf, interval)
                        is_leaf = False
                        if spot.state == "seen" and spot.samples >= _HOT and self._affordable():
                            self._consider(spot)
                frame, depth = frame.f_back, depth + 1

    def _look_below(self, frame: types.FrameType) -> None:
        """Have functions measured that code at the top of a stack calls.

        Threads mostly change where NumPy lets another one have a turn, so that a short function without such a place
        is never found at work: its caller is, in the middle of a line.
        """
        code = frame.f_code
        count = self._tops[id(code)] = self._tops.get(id(code), 0) + 1
        if count % _HOT or not is_users(code.co_filename):
            return
        if count == _HOT:
            self._kept.append(code)
        for function in _callees(code, frame.f_globals):
            inner = function.__code__
            spot = self._table.get(id(inner), _MISSING)
            if spot is _MISSING:
                spot = self._meet(inner, function.__globals__)
            if spot is None or spot.state != "seen" or trampoline.unfit(inner) is not None or not has_loop(inner):
                continue
            if self._affordable():
                spot.arm(function, self._ask_first, perf_counter())

    def _meet(self, code: types.CodeType, namespace: dict[str, Any]) -> Spot | None:
        self._kept.append(code)
        spot = None
        if is_users(code.co_filename) and not _is_made(code):
            spot = Spot(code, namespace)
            self.spots.append(spot)
        self._table[id(code)] = spot
        return spot

    def _affordable(self) -> bool:
        return not self._busy and self._spent < _CREDIT + _SHARE * (perf_counter() - self._began)

    def _consider(self, spot: Spot) -> None:
        """Arm a hot function, or say why not."""
        reason = trampoline.unfit(spot.code)
        began = perf_counter()
        if reason is None and not has_loop(spot.code) and began - self._began < _YOUNG:
            spot.samples = 0  # what is left to gain over NumPy takes longer to pay for loading the dispatcher
            return
        function = None if reason else find_function(spot.code, spot.namespace)
        self._spent += perf_counter() - began
        if function is None:
            spot.leave(reason or "it was not found, or is made anew for each use")
            return
        spot.arm(function, self._ask_first)

    # --- compiling --------------------------------------------------------------------------------------------------

    def _ask_first(self, spot: Spot, values: tuple[Any, ...]) -> bool:
        return self._ask(spot, None, values, 0)

    def _ask(self, spot: Spot, kinds: Any, values: tuple[Any, ...], attempt: int) -> bool:
        """Begin to compile for the arguments of a call, on the program's own thread; False if that has to wait."""
        if self._busy or not self._running or not self._affordable():
            return False
        if spot.twin is None:
            return False
        if elsewhere.possible() is not None:
            if kinds is None:
                spot.answered(elsewhere.Answer(True), self._make_direct)
            return kinds is None
        self._busy = True
        began = perf_counter()
        try:
            request = elsewhere.start(spot.twin, values, self.options, attempt)
        except OSError as problem:
            self.trouble = f"no process for the compiler: {problem}"
            self._running = self._busy = False
            return False
        finally:
            self._spent += perf_counter() - began
        self._request = (request, spot, kinds)
        return True

    def _settle(self) -> None:
        """Take the compiler's answer if it is there."""
        now = perf_counter()
        if now - self._reviewed > _REVIEW:
            self._reviewed = now
            for spot in self.spots:
                spot.review()
                if spot.has_parts and spot.seconds > _PATIENCE and not self._busy:
                    with self._lock:
                        spot.in_parts(self._make_direct)
        pending = self._request
        if pending is None:
            return
        request, spot, kinds = pending
        answer = request.answer(0.0)
        if answer is None:
            return
        with self._lock:
            if kinds is None:
                spot.answered(answer, self._make)
            else:
                spot.native.told(kinds, answer)
        self._request = None
        self._busy = False

    def _make(self, spot: Spot) -> Any:
        from weft.heat.hot import HotFunction

        assert spot.twin is not None

        def ask(kinds: Any, values: tuple[Any, ...], attempt: int) -> bool:
            return self._ask(spot, kinds, values, attempt)

        return HotFunction(spot.twin, self.options, ask)

    def _make_direct(self, spot: Spot) -> Any:
        """Where there is no other process: compiled at the next call, which waits for it."""
        from weft.heat.hot import Counted
        from weft.options import make_options

        assert spot.twin is not None
        return Counted(spot.twin, make_options(self.options))


def _is_made(code: types.CodeType) -> bool:
    """Code that is no function of the user's: a module, or what weft has made of one."""
    name = str(getattr(code, "co_qualname", code.co_name))
    return name == "<module>" or "__weft_" in name or trampoline.is_passing_on(code)


def has_loop(code: types.CodeType) -> bool:
    """Whether the code, or a comprehension in it, jumps back."""
    from opcode import opmap

    backward = {number for name, number in opmap.items() if "JUMP_BACKWARD" in name or name == "JUMP_ABSOLUTE"}
    if not backward.isdisjoint(code.co_code[::2]):
        return True
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return any(item.co_name.startswith("<") and has_loop(item) for item in inner)


def _callees(code: types.CodeType, namespace: dict[str, Any]) -> list[types.FunctionType]:
    """Functions that code names: globals, and what belongs to modules among them."""
    named = [namespace.get(name) for name in code.co_names]
    modules = [item for item in named if isinstance(item, types.ModuleType)]
    named += [vars(module).get(name) for module in modules for name in code.co_names]
    plain = (_unwrapped(item) for item in named if callable(item) and not isinstance(item, type))
    return [item for item in plain if isinstance(item, types.FunctionType)]


def find_function(code: types.CodeType, namespace: dict[str, Any]) -> types.FunctionType | None:
    """The function object of a code object: by its name, or else among all objects; None if there are several."""
    parts = str(getattr(code, "co_qualname", code.co_name)).split(".")
    found: Any = namespace.get(parts[0])
    for part in parts[1:]:
        found = vars(found).get(part) if isinstance(found, type) else None
    plain = _unwrapped(found)
    if isinstance(plain, types.FunctionType) and plain.__code__ is code:
        return plain
    users = [item for item in gc.get_referrers(code) if isinstance(item, types.FunctionType) and item.__code__ is code]
    return users[0] if len(users) == 1 else None


def _unwrapped(found: Any) -> Any:
    """What a decorator, a property or a static method stands around."""
    for _ in range(10):
        if isinstance(found, types.FunctionType) and not hasattr(found, "__wrapped__"):
            return found
        found = getattr(found, "__wrapped__", None) or getattr(found, "__func__", None) or getattr(found, "fget", None)
    return found
