"""Pickled functions of `__main__`, or of another function, keep their globals, closures and defaults."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

WRITER = """
import math, pickle, sys
import numpy as np
import weft

FACTOR = 3.0
TABLE = np.arange(3.0)

def helper(x): return x * FACTOR

@weft.jit
def with_global(x): return x * FACTOR

@weft.jit
def with_helper(x): return helper(x) + 1

@weft.jit
def with_array(i): return TABLE[i]

@weft.jit
def with_module(x): return math.sqrt(x)

@weft.jit
def with_defaults(x, k=4.0, *, m=5.0): return x * k + m

@weft.jit
def countdown(n): return 0 if n <= 0 else 1 + countdown(n - 1)

def make(k):
    def inner(x): return x * k
    return weft.jit(inner), weft.jit(lambda x: inner(x) + k)

made, around = make(7.0)
FUNCTIONS = [with_global, with_helper, with_array, with_module, with_defaults, countdown, made, around]
ARGUMENTS = [2.0, 2.0, 1, 4.0, 2.0, 5, 2.0, 2.0]
if __name__ == "__main__":
    print([float(f(x)) for f, x in zip(FUNCTIONS, ARGUMENTS)])
    assert pickle.loads(pickle.dumps(with_global)) is with_global
    with open("functions.pickle", "wb") as stream:
        pickle.dump((FUNCTIONS, ARGUMENTS), stream)
"""
READER = """
import pickle
with open("functions.pickle", "rb") as stream:
    functions, arguments = pickle.load(stream)
print([float(f(x)) for f, x in zip(functions, arguments)])
print([f.stats["fallbacks"] for f in functions])
"""


def _run(directory: Path, environment: dict[str, str], text: str) -> list[str]:
    (directory / "script.py").write_text(text)
    command = [sys.executable, "script.py"]
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_functions_of_a_script_keep_what_they_use(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    written = _run(tmp_path, subprocess_environment, WRITER)
    read = _run(tmp_path, subprocess_environment, READER)
    assert read[0] == written[0] == str([6.0, 7.0, 1.0, 2.0, 13.0, 5.0, 14.0, 21.0])
    assert read[1] == str([[]] * 8)


def test_a_function_of_a_module_is_found_by_its_name() -> None:
    import weft
    import weft.demo

    made = weft.jit(weft.demo.main)
    again = pickle.loads(pickle.dumps(made))
    assert again.py_func is weft.demo.main
