"""A compiler as a child process. In come a command, a directory and an environment; out comes what it said. It may
fail, hang or be killed, and the user may press Ctrl-C: each is reported as itself, and no process is left behind.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from weft import steps
from weft.errors import CompileError
from weft.runtime.progress import telling

DEFAULT_TIMEOUT = 120.0


def _timeout() -> float:
    """Seconds for one run of the compiler, and no more than are left for the whole."""
    try:
        asked = float(os.environ.get("WEFT_COMPILE_TIMEOUT", ""))
        limit = max(0.1, asked) if asked else math.inf
    except ValueError:
        limit = DEFAULT_TIMEOUT
    return max(0.1, min(limit, steps.remaining()))


def _end(process: subprocess.Popen[str]) -> None:
    """End the compiler with the programs it started (cc1, ld): they share its process group."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.communicate()


def _wait(processes: Sequence[subprocess.Popen[str]], name: str, limit: float) -> list[str]:
    """Wait for the compiler; only a person at a terminal who has waited a second is told about it."""
    with telling(name):
        return [process.communicate(timeout=None if limit == math.inf else limit)[0] for process in processes]


def run(*commands: Sequence[str], directory: Path, name: str, environment: Mapping[str, str]) -> str:
    """Run a compiler in `directory`, for several commands side by side; what it said, or a `CompileError`."""
    processes: list[subprocess.Popen[str]] = []
    limit = _timeout()
    try:
        for command in commands:
            processes.append(_start(command, directory, environment))
        logs = _wait(processes, name, limit)
    except subprocess.TimeoutExpired:
        for process in processes:
            _end(process)
        compiler = Path(commands[0][0]).name
        raise CompileError(
            f"the C compiler {compiler} gave no answer for {name} within {limit:g} s and was stopped",
            "a longer limit with WEFT_COMPILE_TIMEOUT=seconds, or another compiler with CC=...",
            commands[0],
        ) from None
    except BaseException:
        for process in processes:
            _end(process)
        raise
    for process, command, log in zip(processes, commands, logs):
        _judge(process.returncode, command, name, log)
    return "".join(logs)


def _start(command: Sequence[str], directory: Path, environment: Mapping[str, str]) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            list(command),
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=os.name == "posix",
        )
    except OSError as problem:
        reason = f"the C compiler {Path(command[0]).name} cannot be started: {problem.strerror or problem}"
        raise CompileError(reason, "run `weft doctor` to see which compilers work here", command) from problem


def _judge(status: int, command: Sequence[str], name: str, log: str) -> None:
    """A `CompileError` if a compiler has failed or was killed."""
    compiler = Path(command[0]).name
    # The driver of gcc survives when cc1 is killed: it then reports the signal and ends with an ordinary status.
    killed = re.search(r"(Killed|Terminated) signal terminated program|: Killed \(program \w+\)", log)
    if status < 0 or (status > 0 and killed):
        how = f" by {signal.Signals(-status).name}" if status < 0 else ""
        remedy = "free some memory and call again: nothing was kept of the unfinished compilation"
        raise CompileError(f"the C compiler {compiler} was killed{how} while compiling {name}", remedy, command, log)
    if status > 0:
        reason = f"the C compiler {compiler} failed on {name} (status {status})"
        raise CompileError(reason, "run `weft doctor`; WEFT_BACKEND=python goes on without a compiler", command, log)
