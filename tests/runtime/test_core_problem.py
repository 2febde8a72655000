"""A compiler that works but cannot build the native core: weft says so once and kindly, goes on in its Python back end,
and `weft doctor` and the benchmarks know about it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from weft.runtime import toolchain

ROOT = Path(__file__).resolve().parent.parent.parent

# Only the core is linked with threads.
COMPILER = """#!/bin/sh
for word in "$@"; do
    if [ "$word" = -pthread ]; then echo "kernel.c:1: error: no threads here" >&2; exit 1; fi
done
exec {command} "$@"
"""

SCRIPT = """
import warnings
import numpy as np
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    import weft

    @weft.jit(fallback="error")
    def f(a):
        return 2.0 * a

    @weft.jit
    def g(a):
        return a + 1.0

    assert f(np.ones(3)).tolist() == [2.0, 2.0, 2.0] and g(np.ones(1)).tolist() == [2.0]
print(*[f"{warning.category.__name__}: {warning.message}" for warning in seen], sep="\\n")
from weft.runtime.doctor import facts
print([(fact.status, fact.text, fact.remedy) for fact in facts() if fact.topic == "core"])
"""


@pytest.fixture
def environment(tmp_path: Path, subprocess_environment: dict[str, str]) -> dict[str, str]:
    chain = toolchain.find()
    assert chain is not None
    compiler = tmp_path / "cc"
    compiler.write_text(COMPILER.format(command=" ".join(chain.command)))
    compiler.chmod(0o755)
    return {**subprocess_environment, "CC": str(compiler), "WEFT_CACHE_DIR": str(tmp_path / "cache")}


def _run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, timeout=600, check=False, cwd=ROOT
    )


@pytest.mark.native
@pytest.mark.skipif(os.name != "posix", reason="there is no core on such a system")
def test_one_kind_warning_and_the_right_answer(tmp_path: Path, environment: dict[str, str]) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = _run([str(script)], environment)
    assert done.returncode == 0, done.stderr
    *said, facts = done.stdout.splitlines()
    text = "\n".join(said)
    assert text.count("CoreWarning: the native core cannot be used: ") == 1
    assert "no threads here" in text
    assert "weft doctor" in said[-1]
    assert len(said) <= 15
    assert "('bad', 'the native core cannot be used" in facts


@pytest.mark.native
@pytest.mark.skipif(os.name != "posix", reason="there is no core on such a system")
def test_nothing_is_measured(environment: dict[str, str]) -> None:
    done = _run(["-m", "benchmarks.polybench", "--kernels", "atax", "--size", "S"], environment)
    assert done.returncode == 2
    assert "there is nothing to measure: the native core cannot be used" in done.stderr
