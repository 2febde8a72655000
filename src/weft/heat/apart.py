"""Something timed on the state that a process has now.  In: work, and later how long it may take; out: the seconds it
took.

In the compiler's process a call is made twice, natively and in Python. The first one may use up what the second would
work on: a queue is empty, an iterator at its end.  So a copy of the process is put aside before.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable

_PATIENCE = 20.0  # times the limit, on a busy machine


class Apart:
    """A copy of this process that waits until it is told to begin."""

    def __init__(self, work: Callable[[float], float]) -> None:
        reader, self._begin = os.pipe()
        self._end, writer = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            try:
                os.close(self._begin)
                told = os.read(reader, 64)
                if told:
                    os.write(writer, repr(work(float(told))).encode())
            finally:
                os._exit(0)
        os.close(reader)
        os.close(writer)

    def seconds(self, limit: float) -> float:
        """What the work took, given a limit; 0 if nobody can tell."""
        os.write(self._begin, repr(limit).encode())
        ready, _, _ = select.select([self._end], [], [], 1.0 + _PATIENCE * limit)
        try:
            return float(os.read(self._end, 64)) if ready else 0.0
        except ValueError:
            return 0.0
        finally:
            self.close()

    def close(self) -> None:
        """End it, whether it has begun or not."""
        if self._begin >= 0:
            os.close(self._begin)
            os.close(self._end)
            self._begin = -1
            os.kill(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)
