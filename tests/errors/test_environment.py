"""Bad surroundings, each in its own process: no compiler, a broken or unwritable cache, Ctrl-C in a long kernel."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = """
import numpy as np
import weft

@weft.jit(fallback={fallback!r})
def f(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return a + b, total

r, t = f(np.arange(5.0), np.ones(5))
assert r.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0] and t == 10.0, (r, t)
print("right")
"""


def _run(
    tmp_path: Path, environment: dict[str, str], source: str = PROGRAM, fallback: str = "warn"
) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "script.py"
    script.write_text(source.replace("{fallback!r}", repr(fallback)))
    return subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=600)


def test_no_compiler_at_all(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    environment = {**subprocess_environment, "PATH": "", "WEFT_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop("CC", None)
    done = _run(tmp_path, environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "right"


OBJECTS = """
import time

import weft

class Ball:
    def __init__(self, x):
        self.x = x

@weft.jit
def moved(balls):
    for ball in balls:
        ball.x += 1.0
    return sum(ball.x for ball in balls)

@weft.jit
def timed(n):
    started = time.perf_counter()
    total = 0
    for i in range(n):
        total += i
    return total if started else 0

print(moved([Ball(0.0), Ball(1.0)]), timed(10))
told = [function.explain().short() for function in (moved, timed)]
print([text.count("left to Python:") for text in told], ["weft[zig]" in text for text in told])
"""


def test_without_a_compiler_that_is_the_one_thing_to_tell(
    tmp_path: Path, subprocess_environment: dict[str, str]
) -> None:
    """Each line of plain Python would be native with a compiler: no other remedy helps."""
    environment = {**subprocess_environment, "PATH": "", "WEFT_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop("CC", None)
    done = _run(tmp_path, environment, OBJECTS)
    values, told = done.stdout.splitlines()
    assert values == "3.0 45"
    if "no C compiler works here" in done.stderr:  # the wheel of ziglang may be installed
        assert done.stderr.count("FallbackWarning") == 1 and "weft[zig]" in done.stderr
        assert told == "[1, 1] [True, True]"
    else:
        assert not done.stderr and told == "[0, 0] [False, False]"


def test_compiler_that_is_killed(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    killer = tmp_path / "gcc"
    killer.write_text("#!/bin/sh\nkill -9 $$\n")
    killer.chmod(0o755)
    environment = {**subprocess_environment, "CC": str(killer), "WEFT_CACHE_DIR": str(tmp_path / "cache")}
    done = _run(tmp_path, environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "right"


@pytest.mark.native
def test_corrupted_cache(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    cache = tmp_path / "cache"
    environment = {**subprocess_environment, "WEFT_CACHE_DIR": str(cache)}
    assert _run(tmp_path, environment).stdout.strip() == "right"
    files = [path for path in cache.rglob("*") if path.is_file()]
    assert files, "the first run left nothing in the cache"
    for path in files:
        path.chmod(0o644)
        path.write_bytes(b"garbage" * 10)
    done = _run(tmp_path, environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "right"


def test_truncated_cache(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    cache = tmp_path / "cache"
    environment = {**subprocess_environment, "WEFT_CACHE_DIR": str(cache)}
    assert _run(tmp_path, environment).stdout.strip() == "right"
    for path in [path for path in cache.rglob("*") if path.is_file()]:
        path.chmod(0o644)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    done = _run(tmp_path, environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "right"


def test_cache_directory_that_cannot_be_made(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("not a directory")
    environment = {**subprocess_environment, "WEFT_CACHE_DIR": str(blocker / "cache")}
    done = _run(tmp_path, environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "right"
    assert done.stderr.count("CacheWarning") <= 2  # one warning: its class may be printed with the source line


def test_disabled_by_the_environment(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    environment = {**subprocess_environment, "WEFT_DISABLE": "1", "WEFT_CACHE_DIR": str(tmp_path / "cache")}
    done = _run(tmp_path, environment)
    assert done.stdout.strip() == "right", done.stderr
    assert not (tmp_path / "cache").exists()


LONG = """
import numpy as np, sys
import weft

@weft.jit(fallback="error")
def spin(n, m):
    x = 1
    for i in range(n):
        for j in range(m):
            x = (x * 1103515245 + 12345) % 2147483648
    return x

@weft.jit(fallback="error")
def sweep(a, n):
    for _ in range(n):
        a[1:-1] = 0.5 * (a[:-2] + a[2:])

@weft.jit(fallback="error")
def wait(a):
    count = 0
    while a[0] < 1.0:
        count = (count + 1) % 1000
    return count

@weft.jit(fallback="error")
def add(a, n):
    a[0] = 1.0
    for i in range(n):
        a[1] += a[0] * 1e-9
    return a[1]

@weft.jit(fallback="error")
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

add(np.ones(2), 3)
fib(3)
spin(3, 4)
sweep(np.ones(100), 3)
wait(np.ones(2))
calls = {
    "spin": lambda: spin(2**35, 2**30),
    "sweep": lambda: sweep(np.ones(100_000), 2**38),
    "wait": lambda: wait(np.zeros(2)),
    "add": lambda: add(np.ones(2), 10**12),
    "fib": lambda: fib(90),
}
print("ready", flush=True)
try:
    calls[sys.argv[1]]()
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def _processor_seconds(process: int) -> float:
    """What a process has used of the processors; 0 where that is not known."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.native
@pytest.mark.parametrize("which", ["spin", "sweep", "wait", "add", "fib"])
def test_control_c_is_answered_within_a_second(
    which: str, tmp_path: Path, subprocess_environment: dict[str, str]
) -> None:
    script = tmp_path / "long.py"
    script.write_text(LONG)
    child = subprocess.Popen(
        [sys.executable, str(script), which],
        env={**subprocess_environment, "WEFT_CACHE_DIR": os.environ["WEFT_CACHE_DIR"]},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == "ready"
        time.sleep(0.5)
        assert child.poll() is None, "the kernel ended by itself: the test tests nothing"
        before = _processor_seconds(child.pid)
        child.send_signal(signal.SIGINT)
        said = child.stdout.read().strip()
        _, _, used = os.wait4(child.pid, 0)
        assert said == "interrupted"
        # Of the processor, not of the clock: others may keep it busy. A second is the aim, for each of the threads.
        assert used.ru_utime + used.ru_stime - before < 10.0
    finally:
        child.kill()
        child.wait()
