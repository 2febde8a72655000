"""perf, py-spy, gdb and coverage.py, where they are installed, on a program with native code."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="no /proc to ask for loaded libraries"),
]

SCRIPT = """\
import sys
import numpy as np
import weft

@weft.jit(fallback="error")
def spin(a, n):
    for k in range(n):
        for i in range(a.size):
            a[i] = a[i] * 0.5 + 1.0
    return a

@weft.jit(fallback="error")
def counted(texts):
    found = {}
    for text in texts:
        found[text] = found.get(text, 0) + 1
    return found

spin(np.ones(1000), 3)
counted(["a", "b", "a"])
print("ready", flush=True)
if len(sys.argv) > 1:
    spin(np.ones(1000), int(sys.argv[1]))
else:
    sys.stdin.readline()
"""


def tool(name: str) -> str:
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


@pytest.fixture
def script(tmp_path: Path) -> str:
    (tmp_path / "spun.py").write_text(SCRIPT)
    return str(tmp_path / "spun.py")


@pytest.fixture
def environment(subprocess_environment: dict[str, str]) -> dict[str, str]:
    return {**subprocess_environment, "WEFT_PERF": "1"}


def started(script: str, environment: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    program = subprocess.Popen(
        [sys.executable, script, *arguments],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert program.stdout is not None and program.stdout.readline() == "ready\n"
    return program


def gdb(*arguments: str, environment: dict[str, str]) -> str:
    command = [tool("gdb"), "-q", "-batch", "-nx", *arguments]
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240
    )
    told = done.stdout + done.stderr
    if "ptrace" in told and "not permitted" in told:
        pytest.skip("processes cannot be traced here")
    return told


def test_gdb_stops_at_a_line_of_the_user(script: str, environment: dict[str, str]) -> None:
    asked = ["set breakpoint pending on", "tbreak spun.py:9", "break weft_counted", "run", "bt 1", "continue", "bt 1"]
    environment["WEFT_NUM_THREADS"] = "1"
    commands = [word for command in asked for word in ("-ex", command)]
    told = gdb(*commands, "--args", sys.executable, script, "0", environment=environment)
    assert re.search(rf"weft_spin\w* \(.* at {re.escape(script)}:9$", told, re.M), told
    assert re.search(rf"weft_counted \(.* at {re.escape(script)}:13$", told, re.M), told


@pytest.mark.parametrize("perf", ["0", "1"])
def test_gdb_attaches_to_a_program_that_runs(script: str, environment: dict[str, str], perf: str) -> None:
    """It opens every loaded library by its name: one that is a descriptor of another process let it wait for ever."""
    environment["WEFT_PERF"] = perf
    with started(script, environment) as program:
        told = gdb("-p", str(program.pid), "-ex", "info line weft_spin", environment=environment)
        program.communicate("\n")
    assert "detached" in told
    assert (f'of "{script}"' in told) is (perf == "1"), told


def test_py_spy_shows_lines_of_native_code(script: str, environment: dict[str, str]) -> None:
    command = [tool("py-spy"), "dump", "--native", "--pid"]
    with started(script, environment, str(10**13)) as program:
        try:
            for _ in range(60):
                done = subprocess.run([*command, str(program.pid)], capture_output=True, text=True, timeout=60)
                if "ermission" in done.stderr or "not permitted" in done.stderr:
                    pytest.skip("processes cannot be traced here")
                if "weft_spin" in done.stdout:
                    break
                time.sleep(0.5)
        finally:
            program.kill()
    assert "weft_spin" in done.stdout and "spun.py:" in done.stdout and "<module>" in done.stdout, done.stdout


def test_perf_names_functions_and_lines(script: str, environment: dict[str, str], tmp_path: Path) -> None:
    data = str(tmp_path / "perf.data")
    command = [tool("perf"), "record", "-e", "cpu-clock", "-o", data, "--", sys.executable, script, str(10**7)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    if done.returncode != 0:
        pytest.skip(f"perf cannot measure here: {done.stderr[-200:]}")
    told = subprocess.run(
        [tool("perf"), "script", "-i", data, "-F", "ip,sym,srcline"], capture_output=True, text=True, timeout=240
    ).stdout
    samples = [pair for pair in zip(told.splitlines(), told.splitlines()[1:]) if "weft_spin" in pair[0]]
    assert samples, told[-1000:]
    assert all(line.strip().startswith("spun.py:") for _, line in samples), samples[:5]


def test_coverage_sees_every_line_of_plain_functions(
    script: str, subprocess_environment: dict[str, str], tmp_path: Path
) -> None:
    pytest.importorskip("coverage", reason="coverage.py is not installed")
    environment = {**subprocess_environment, "WEFT_DISABLE": "1", "COVERAGE_FILE": str(tmp_path / "data")}
    run = [sys.executable, "-m", "coverage"]
    subprocess.run([*run, "run", script, "1"], env=environment, check=True, timeout=240, stdout=subprocess.DEVNULL)
    subprocess.run(
        [*run, "json", "--include", script, "-o", str(tmp_path / "json")], env=environment, check=True, timeout=240
    )
    (found,) = json.loads((tmp_path / "json").read_text())["files"].values()
    assert found["missing_lines"] == [25]
