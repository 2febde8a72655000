"""The types and hot lines of a program.  In: a program that runs; out: for each of its functions the types of arguments
and results, how often it was called, and the lines at which samples found it.

Types are noted at the first calls of a function and then ever more rarely, so that a program can be recorded whole.
"""

from __future__ import annotations

import _thread
import dis
import signal
import sys
import threading
import time
import types
from collections.abc import Mapping
from typing import Any

from weft.heat.kinds import describe, joined
from weft.heat.manager import is_users

_INTERVAL = 0.002
_OPTIMIZED = 0x01  # as inspect.CO_OPTIMIZED
_ALWAYS = 16  # first calls whose types are noted
_RETURNS = {dis.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST") if name in dis.opmap}


class Recorded:
    """What is known of one function."""

    def __init__(self, code: types.CodeType) -> None:
        self.code = code
        self.calls = 0
        self.samples = 0
        self.arguments: dict[str, set[str]] = {}
        self.results: set[str] = set()

    @property
    def name(self) -> str:
        return str(getattr(self.code, "co_qualname", self.code.co_name))

    @property
    def parameters(self) -> tuple[str, ...]:
        return self.code.co_varnames[: self.code.co_argcount + self.code.co_kwonlyargcount]

    def hints(self) -> dict[str, str]:
        """The hint of each parameter, and of the result as `return`."""
        found = {name: joined(texts) for name, texts in self.arguments.items() if texts}
        if self.results:
            found["return"] = joined(self.results)
        return found

    def _due(self) -> bool:
        return self.calls <= _ALWAYS or not self.calls & (self.calls - 1)

    def called(self, values: dict[str, Any]) -> None:
        self.calls += 1
        if self._due():
            for name in self.parameters:
                if name in values:
                    self.arguments.setdefault(name, set()).add(describe(values[name]))

    def returned(self, value: Any, frame: types.FrameType) -> None:
        # A function that raises also "returns" None: its last instruction tells.
        if self._due() and self.code.co_code[frame.f_lasti] in _RETURNS:
            self.results.add(describe(value))


class Recorder:
    """Records from `start` to `stop`."""

    def __init__(self) -> None:
        self.functions: list[Recorded] = []
        self.lines: dict[tuple[str, int], int] = {}
        self.samples = 0
        self._table: dict[int, Recorded | None] = {}
        self._kept: list[types.CodeType] = []
        self._running = False
        self._in_tick = False
        self._users: dict[str, bool] = {}  # what `is_users` says of a file: it asks the file system

    def start(self) -> None:
        self._running = True
        if self._can_use_signals():
            # A thread is let in where others give way, which is inside library calls; a signal comes at any time.
            signal.signal(signal.SIGPROF, self._tick)
            signal.siginterrupt(signal.SIGPROF, False)
            signal.setitimer(signal.ITIMER_PROF, _INTERVAL, _INTERVAL)
        else:
            _thread.start_new_thread(self._watch, ())
        threading.setprofile(self._event)
        sys.setprofile(self._event)

    def _can_use_signals(self) -> bool:
        if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
            return False
        return signal.getsignal(signal.SIGPROF) is signal.SIG_DFL

    def stop(self) -> None:
        self._running = False
        if hasattr(signal, "setitimer") and signal.getsignal(signal.SIGPROF) == self._tick:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            signal.signal(signal.SIGPROF, signal.SIG_IGN)  # one that is on its way would end the process
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
        sys.setprofile(None)
        threading.setprofile(None)

    def _entry(self, code: types.CodeType) -> Recorded | None:
        key = id(code)
        if key not in self._table:
            self._kept.append(code)
            is_function = code.co_name.isidentifier() and code.co_flags & _OPTIMIZED  # and no body of a class
            wanted = is_function and is_users(code.co_filename)
            entry = self._table[key] = Recorded(code) if wanted else None
            if entry is not None:
                self.functions.append(entry)
        return self._table[key]

    def _event(self, frame: types.FrameType, event: str, value: Any) -> None:
        if event != "call" and event != "return":
            return
        entry = self._entry(frame.f_code)
        if entry is None:
            return
        if event == "call":
            entry.called(frame.f_locals)
        else:
            entry.returned(value, frame)

    def _watch(self) -> None:
        own, used = _thread.get_ident(), time.process_time()
        while self._running:
            time.sleep(_INTERVAL)
            now = time.process_time()
            is_busy, used = now - used > _INTERVAL / 4, now
            if is_busy:
                self._sample({thread: top for thread, top in sys._current_frames().items() if thread != own})

    def _tick(self, number: int, frame: types.FrameType | None) -> None:
        # A look at deep stacks may take longer than the timer's interval: ticks would interrupt it without end.
        if self._in_tick:
            return
        self._in_tick = True
        try:
            stacks: dict[int, types.FrameType | None] = {**sys._current_frames(), _thread.get_ident(): frame}
            self._sample(stacks)
        finally:
            self._in_tick = False

    def _is_users(self, file: str) -> bool:
        if file not in self._users:
            self._users[file] = is_users(file)
        return self._users[file]

    def _sample(self, stacks: Mapping[int, types.FrameType | None]) -> None:
        self.samples += 1
        for top in stacks.values():
            frame = top
            seen: set[int] = set()
            is_leaf = True
            while frame is not None:
                code = frame.f_code
                if is_leaf and self._is_users(code.co_filename):
                    place = (code.co_filename, frame.f_lineno or code.co_firstlineno)
                    self.lines[place] = self.lines.get(place, 0) + 1
                    is_leaf = False
                entry = self._table.get(id(code))
                if entry is not None and id(code) not in seen:
                    entry.samples += 1
                seen.add(id(code))
                frame = frame.f_back
