"""Which functions of the program are worth compiling, and when.  In: samples of the stacks of all threads; out: `Spot`s
that become native one after the other, and the report.

A thread looks at the stacks from time to time and does nothing else while nothing is hot.  Everything that
takes the program's own time (samples, a fork, loading the dispatcher) is counted, and allowed for a small part of the
time that the program has run: however soon it ends, it has lost no more than that.
"""

from __future__ import annotations

import _thread
import os
import sys
import time
import types
from time import perf_counter

from weft.heat import elsewhere, trampoline
from weft.heat.loops import Loop, supported
from weft.heat.remembered import Note
from weft.heat.snapshot import Snapshot
from weft.heat.spots import Spot
from weft.heat.underway import UnderWay

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    from typing import Any

# A sample makes the program give way to another thread, which costs up to a third of a millisecond: the interval grows
# with the age of the program.
_INTERVAL, _SLOWEST, _GROWTH = 0.015, 0.1, 0.04
_TURN = 1e-4  # seconds that the program waits for a sample, beside those of the sample itself
_HOT = 4  # samples
_DEPTH = 64
_SHARE = 0.05  # of the time the program has run: what may be spent on it
_SHARE_SAVED = 0.3  # of what native code has saved
_AHEAD = 0.02  # seconds: what may be spent before the program has run for long enough
_FORK = 0.001  # seconds: a process for the compiler, without the pages that it makes the program copy
_COMPILING = 1.0  # seconds of a processor, which the program pays for where no other is idle
_LOADING, _LOADING_NUMPY = 0.065, 0.11  # seconds: the dispatcher, and what it needs
_RESTORING = 0.01  # seconds: a version from the disk
_RESTORING_PLAIN = 0.03  # seconds: one of plain Python, whose C is generated again
_MOST_PENDING = 2  # compilers at work
_DELIBERATION = 0.04  # seconds: functions that are measured at the same time are compared
_LONGEST_DELIBERATION = 0.5  # seconds, while others are called
_STAKE = 0.5  # of the time that a function has taken: what may be spent when it is known to gain
_LEAST_CORES = 0.2
_BUSY = 0.1  # of an interval: below it the program is waiting for something
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

    def __init__(
        self, options: dict[str, Any], lock: _thread.LockType | None = None, main: int = 0, note: Note | None = None
    ) -> None:
        self.options = options
        self.note = note or Note("")
        self.loops = UnderWay(self, main)
        self.spots: list[Spot] = []
        self.samples = 0
        self.trouble = ""
        self._table: dict[int, Spot | None] = {}
        self._tops: dict[int, int] = {}  # how often code was found at the top of a stack
        self._kept: list[types.CodeType] = []  # whose identities the table uses
        self._pending: list[_Pending] = []
        # Held while this thread is at work, which may import modules: no fork of the program in between.
        self._lock = lock or _thread.allocate_lock()
        self._spent = 0.0  # seconds of the program's own threads
        self._found: list[tuple[Spot, elsewhere.Answer]] = []  # functions of a stack, compiled: loading has to wait
        self._turns = 0
        self._ours = 0.0  # seconds of the watching thread
        self._cores = 0.0  # that the program kept busy during the last interval
        self._is_child = False
        self.compiles_stacks = supported() and elsewhere.possible() is None
        self._running: bool = True
        self._began = self._reviewed = perf_counter()

    def stop(self) -> None:
        """No more samples; a compilation under way is given up."""
        self._running = False
        pending, self._pending = self._pending, []
        for asked in pending:
            asked.request.give_up()

    def release(self) -> None:
        """Hold nothing of the program, while the watching thread still sleeps."""
        self.spots, self._table, self._kept = [], {}, []
        self.loops = UnderWay(self, 0)

    def forked(self, main: int = 0) -> None:
        """In a child of the program, which is watched as well: the compilation under way belongs to its parent."""
        pending, self._pending = self._pending, []
        self._is_child = True
        self._began, self._spent, self._turns = perf_counter(), 0.0, 0
        self._ours = 0.0
        for asked in pending:
            if not asked.request.is_over:
                os.close(asked.request.reader)
            if isinstance(asked.spot, Snapshot):
                self.loops.over(asked.spot)
            if isinstance(asked.spot, Spot) and asked.spot.state == "asked":
                asked.spot.again()
        self.loops = UnderWay(self, main)

    # --- watching ---------------------------------------------------------------------------------------------------

    def watch(self) -> None:
        """Sample until `stop`, on this thread."""
        own, process = _thread.get_ident(), os.getpid()
        interval, used = _INTERVAL, time.process_time()
        try:
            while True:
                time.sleep(interval)
                now = time.process_time()
                self._cores, used = (now - used) / interval, now
                with self._lock:
                    if not self._running or os.getpid() != process:
                        return  # the program is over
                    if self._cores > _BUSY:
                        self._sample(own, interval)
                    self._settle()
                self._turns += 1
                self._ours = time.thread_time()
                interval = min(max(_INTERVAL, _GROWTH * time.process_time()), _SLOWEST)
                interval /= min(max(self._cores, _LEAST_CORES), 1.0)  # a busy machine: by the program's own time
        except Exception as trouble:  # the program goes on as it is; the report says why nothing more was compiled
            self.trouble = f"{type(trouble).__name__}: {trouble}"
            self.stop()

    def _sample(self, own: int, interval: float) -> None:
        """Look at all stacks, and arm what is hot."""
        self.samples += 1
        for thread, top in sys._current_frames().items():
            if thread == own:
                continue
            self.loops.look(thread, top, interval * min(self._cores, 1.0))
            is_measured = thread != self.loops.main or not self.asks_for_stacks()
            if is_measured:
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
                        spot.sampled(is_leaf, interval)
                        is_leaf = False
                        if spot.state == "seen" and spot.samples >= _HOT and is_measured:
                            self._consider(spot)
                elif self._table.get(key) is not None:
                    self._table[key].is_recursive = True  # type: ignore[union-attr]
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
            if spot is None or spot.state != "seen" or trampoline.unfit(inner) is not None:
                continue
            if trampoline.has_loop(inner) and self.can_ask():
                spot.arm(function, self._ask_first, perf_counter())

    def _meet(self, code: types.CodeType, namespace: dict[str, Any]) -> Spot | None:
        self._kept.append(code)
        spot = None
        if is_users(code.co_filename) and not _is_made(code):
            spot = Spot(code, namespace)
            self.spots.append(spot)
            self._recall(spot)
        self._table[id(code)] = spot
        return spot

    def _recall(self, spot: Spot) -> None:
        """A function that was native in the last run: it has been compiled, and what it gains is known."""
        noted = self.note.function(spot.code)
        if noted is None or trampoline.unfit(spot.code) is not None:
            return
        function = trampoline.find_function(spot.code, spot.namespace)
        if function is not None:
            spot.arm(function, self._ask_first)
            spot.plain.calls, spot.plain.seconds = 1, noted.plain
            answer = elsewhere.Answer(True, plain=True, call=noted.native, wide=noted.wide)
            spot.answered(answer, self._make_plain)

    def affordable(self, seconds: float) -> bool:
        """Whether the program may lose so much more of its time."""
        spent = self._spent + self._ours + self._turns * _TURN
        saved = sum(spot.saved for spot in self.spots) + self.loops.saved
        return spent + seconds < _AHEAD + _SHARE * time.process_time() + _SHARE_SAVED * saved

    def can_ask(self) -> bool:
        """Whether a compilation may begin: it costs a fork, and its own time as well if no processor is idle."""
        if len(self._pending) >= _MOST_PENDING:
            return False
        has_idle = not self._is_child and self._cores < _processors() - 0.5
        forking = _FORK + elsewhere.copying()
        return self.affordable(forking if has_idle else forking + _COMPILING)

    def asks_for_stacks(self) -> bool:
        """Whether hot functions are compiled as they are found on the stack: where arrays are at work, and the choice
        among functions depends on what NumPy takes, their calls are measured first."""
        return self.compiles_stacks and "numpy" not in sys.modules

    def hot_spot(self, code: types.CodeType) -> Spot | None:
        """A function that was sampled often enough, if nobody has asked for it and calls of it can be passed on."""
        spot = self._table.get(id(code))
        if spot is None or spot.state != "seen" or spot.samples < _HOT:
            return None
        reason = trampoline.unfit(code)
        if reason is not None:
            spot.leave(reason)
            return None
        return spot

    def _consider(self, spot: Spot) -> None:
        """Arm a hot function, or say why not."""
        if not self.can_ask():
            return
        reason = trampoline.unfit(spot.code)
        began = perf_counter()
        is_short = "numpy" in sys.modules and not trampoline.has_loop(spot.code)
        if reason is None and is_short and began - self._began < _YOUNG:
            spot.samples = 0  # what is left to gain over NumPy takes longer to pay for loading the dispatcher
            return
        function = None if reason else trampoline.find_function(spot.code, spot.namespace)
        self._spent += perf_counter() - began
        if function is None:
            spot.leave(reason or "it was not found, or is made anew for each use")
            return
        spot.arm(function, self._ask_first)

    # --- compiling --------------------------------------------------------------------------------------------------

    def _ask_first(self, spot: Spot, values: tuple[Any, ...]) -> bool | None:
        """Compile what takes long, or was chosen; the choice among the others waits until more is known."""
        return self._ask(spot, None, values, 0) if spot.is_long or spot.is_chosen else None

    def _choose(self, now: float) -> None:
        """Have the outermost hot function compiled of those that were measured: its calls hold those of the others."""
        ready = [spot for spot in self.spots if spot.state == "ready"]
        if not ready or not self.can_ask():
            return
        waited = now - min(spot.since for spot in ready)
        if waited < _DELIBERATION or (waited < _LONGEST_DELIBERATION and any(s.is_being_measured for s in self.spots)):
            return
        if any(asked.kinds is None and asked.answer is None for asked in self._pending):
            return  # if that one gains, these may no longer be hot
        most = max(spot.total for spot in ready)
        chosen = max((spot for spot in ready if 2 * spot.total >= most), key=lambda spot: spot.plain.mean)
        chosen.is_chosen = True
        chosen.rearm()

    def _ask(self, spot: Spot, kinds: Any, values: tuple[Any, ...], attempt: int) -> bool:
        """Begin to compile for the arguments of a call, on the program's own thread; False if that has to wait."""
        is_sure = kinds is not None and spot.expected_gain > 1.0 and len(self._pending) < _MOST_PENDING
        if not self._running or spot.twin is None or not (is_sure or self.can_ask()):
            return False
        if elsewhere.possible() is not None:
            if kinds is None and self.affordable(_COMPILING):
                spot.answered(elsewhere.Answer(True), self._make_direct)
                return True
            return False
        twin, options = spot.twin, self.options
        return self.begin(lambda: elsewhere.prepare(twin, values, options, attempt), spot, kinds)

    def begin(self, work: elsewhere.Work, spot: Any, kinds: Any, is_locked: bool = False) -> bool:
        """Have the compiler's process do something, for a spot or a loop; False if that has to wait."""
        # A process that is made while this one imports something would wait for that for ever.
        if not is_locked and not self._lock.acquire(blocking=False):
            return False
        began = time.thread_time()
        try:
            request = elsewhere.start(work)
        except OSError as problem:
            self.trouble = f"no process for the compiler: {problem}"
            self._running = False
            return False
        finally:
            if not is_locked:
                self._lock.release()
            # Not what a busy machine adds.
            self._spent += max(time.thread_time() - began, _FORK) + elsewhere.copying()
        self._pending.append(_Pending(request, spot, kinds))
        return True

    def _settle(self) -> None:
        """Take the compiler's answer if it is there and there is time for what follows."""
        now = perf_counter()
        if now - self._reviewed > _REVIEW:
            self._reviewed = now
            for spot in self.spots:
                spot.review()
                if spot.has_parts and spot.seconds > _PATIENCE and not self._pending:
                    spot.in_parts(self._make_direct)
        for asked in list(self._pending):
            if isinstance(asked.spot, Snapshot):
                self._take(asked, asked.spot)
                continue
            if asked.answer is None:
                asked.answer = asked.request.answer(0.0)
            if isinstance(asked.spot, Loop):
                if asked.answer is not None:
                    self._pending.remove(asked)
                    asked.spot.answered(asked.answer)
            elif asked.answer is not None and self._can_follow(asked.spot, asked.answer):
                self._pending.remove(asked)
                self._follow(asked, asked.answer)
        for spot, answer in list(self._found):
            if self._can_follow(spot, answer):
                self._found.remove((spot, answer))
                self._adopt(spot, answer)
        self._choose(now)

    def _take(self, asked: _Pending, snapshot: Snapshot) -> None:
        """What the compiler has said of a stack since."""
        for answer in asked.request.answers(0.0):
            snapshot.answered.add(answer.of)
            owner = snapshot.candidates[answer.of].owner
            if isinstance(owner, Loop):
                owner.answered(answer)
            elif answer.early:
                owner.again()
            else:
                owner.plain.calls, owner.plain.seconds = 1, answer.each
                self._found.append((owner, answer))
        if asked.request.is_over:
            self._pending.remove(asked)
            self.loops.over(snapshot)

    def _adopt(self, spot: Spot, answer: elsewhere.Answer) -> None:
        began = perf_counter()
        function = trampoline.find_function(spot.code, spot.namespace) if answer.good else None
        self._spent += perf_counter() - began
        if function is None:
            spot.leave(answer.reason or "it was not found, or is made anew for each use", answer.remedy)
        else:
            spot.adopt(function, answer, self._make_plain if answer.plain else self._make)

    def _can_follow(self, spot: Spot, answer: elsewhere.Answer) -> bool:
        """Whether there is time for what an answer leads to, or its gain pays for it."""
        if not answer.good or not spot.is_worth(answer.call):
            return True
        loading = loading_time(answer.plain)
        return self.affordable(loading) or (answer.call > 0.0 and loading < _STAKE * spot.seconds)

    def _follow(self, asked: _Pending, answer: elsewhere.Answer) -> None:
        if asked.kinds is not None:
            asked.spot.native.told(asked.kinds, answer)
            return
        asked.spot.answered(answer, self._make_plain if answer.plain else self._make)
        if asked.spot.state == "trial":  # what it calls may no longer be hot
            for spot in self.spots:
                if spot.state == "ready":
                    spot.again()

    def _make_plain(self, spot: Spot) -> Any:
        from weft.heat.plainly import HotPlain

        assert spot.twin is not None

        def ask(kinds: Any, values: tuple[Any, ...], attempt: int) -> bool:
            return self._ask(spot, kinds, values, attempt)

        native = HotPlain(spot.twin, self.options, ask)
        native.wide, native.is_bound = spot.wide, spot.is_bound
        return native

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


class _Pending:
    """A request to the compiler: its spot, its kinds of arguments (None: the first), its answer if there is one."""

    def __init__(self, request: elsewhere.Request, spot: Any, kinds: Any) -> None:
        self.request, self.spot, self.kinds = request, spot, kinds
        self.answer: elsewhere.Answer | None = None  # what it leads to may have to wait


def loading_time(is_plain: bool) -> float:
    """Seconds until a compiled function can be called in this process."""
    if is_plain:
        return _RESTORING_PLAIN + (0.0 if "weft.heat.plainly" in sys.modules else _LOADING)
    if "weft.heat.hot" in sys.modules:
        return _RESTORING
    return _LOADING + _RESTORING + (0.0 if "numpy" in sys.modules else _LOADING_NUMPY)


def _processors() -> int:
    """Those this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _is_made(code: types.CodeType) -> bool:
    """Code that is no function of the user's: a module, or what weft has made of one."""
    name = str(getattr(code, "co_qualname", code.co_name))
    return name == "<module>" or "__weft_" in name or trampoline.is_passing_on(code)


def _callees(code: types.CodeType, namespace: dict[str, Any]) -> list[types.FunctionType]:
    """Functions that code names: globals, and what belongs to modules among them."""
    named = [namespace.get(name) for name in code.co_names]
    modules = [item for item in named if isinstance(item, types.ModuleType)]
    named += [vars(module).get(name) for module in modules for name in code.co_names]
    plain = (trampoline.unwrapped(item) for item in named if callable(item) and not isinstance(item, type))
    return [item for item in plain if isinstance(item, types.FunctionType)]
