"""Deep recursion is an exception and never a crash, whatever the size of the thread's stack. Each case runs in a child
process, since what it tests for would end the process.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """
import sys, threading
import numpy as np
import weft

jit = weft.jit(fallback="error")

@jit
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

@jit
def deep(n):
    return 0 if n == 0 else deep(n - 1) + 1

@jit
def dig(a, n):
    a[0] += 1.0
    return dig(a, n + 1) + 1

@jit
def even(n):
    return True if n == 0 else odd(n - 1)

@jit
def odd(n):
    return False if n == 0 else even(n - 1)

@jit
def local(x):
    a = np.zeros(400)
    b = np.zeros(400)
    for i in range(400):
        a[i] = x * i
        b[399 - i] = a[i] + 1.0
    return a[3] + b[5]

fib(10), deep(5), even(4), local(2.0)

def told(call, *arguments):
    try:
        return call(*arguments)
    except RecursionError as problem:
        return str(problem)[:32]

def work():
    calls = ((fib, 10), (local, 2.0), (deep, 50), (deep, 10**8), (even, 10**8), (dig, np.zeros(1), 0))
    print(*[told(*call) for call in calls], sep="|")

threading.stack_size(int(sys.argv[1]))
if len(sys.argv) > 2:
    work()
else:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""
TOO_DEEP = "maximum recursion depth exceeded"


def _said(directory: Path, environment: dict[str, str], *arguments: str, **how: Any) -> list[str]:
    script = directory / "deep.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False, **how)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().split("|")


@pytest.mark.native
@pytest.mark.parametrize("size", [65536, 262144, 0])
def test_deep_recursion_in_a_thread(size: int, tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    said = _said(tmp_path, subprocess_environment, str(size))
    assert said[3:] == [TOO_DEEP] * 3
    if size != 65536:  # where there is hardly a stack, anything may be too deep, and nothing may be the end
        assert said[:3] == ["55", str(2.0 * 3 + 2.0 * 394 + 1.0), "50"]


@pytest.mark.native
def test_deep_recursion_on_the_main_thread(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    """With a stack as small as under `ulimit -s 1024`."""
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, resource.RLIM_INFINITY))

    assert _said(tmp_path, subprocess_environment, "0", "main", preexec_fn=limit)[3:] == [TOO_DEEP] * 3
