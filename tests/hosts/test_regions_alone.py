"""Modules that stand alone: functions around statements without a native form, class methods, `*` and `**`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.hosts.alone import run_alone
from weft.cli import main

pytestmark = pytest.mark.native

MODULE = """
import os

import numpy as np

import weft

N = weft.symbol("N")
LOG = []


def note(*what):
    LOG.append(what)
    os.getpid()


def halves(x: weft.f64[N], k: int = 0) -> float:
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * x[i]
    note("halves", float(s))
    y = x * s
    t = 0.0
    for i in range(x.shape[0]):
        t += y[i + k]
    return t


def changed(x: weft.f64[N]) -> float:
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
    note("a", float(s))
    for i in range(x.shape[0]):
        x[i] += s
    note("b", float(x[0]))
    for i in range(x.shape[0]):
        s += x[i] * 2
    return s


def stepped(x: weft.f64[N], steps: int):
    y = x.copy()
    for k in range(steps):
        for i in range(1, len(y) - 1):
            y[i] = 0.5 * (y[i - 1] + y[i + 1])
        if k % 2 == 0:
            note(k, float(y[1]))
        total = 0.0
        for i in range(len(y)):
            total += y[i]
        y[0] = total
    return y, total


def words(text: str) -> list[str]:
    found: dict[str, int] = {}
    for word in text.split():
        found[word] = found.get(word, 0) + 1
    note(len(found))
    best: list[str] = []
    for word in found:
        if found[word] > 1:
            best.append(word)
    return best


def annotated(n: int) -> float:
    data: weft.f64[N] = np.asarray(os.getpid() * 0 + np.arange(float(n)))
    s = 0.0
    for i in range(data.shape[0]):
        s += data[i] * 2.0
    return s


def early(x: weft.f64[N]) -> float:
    if x.shape[0] == 0:
        note("empty")
        return -1.0
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
        if s > 100:
            note("large")
            break
    t = 0.0
    for i in range(x.shape[0]):
        t += x[i] * s
    return t


def total(*parts: float) -> float:
    s = 0.0
    for part in parts:
        s += part
    return s


def options(first: int, *rest: int, scale: int = 2, **named: int) -> int:
    s = first * scale + len(rest)
    for name in named:
        s += named[name]
    return s


class Base:
    factor = 2.0
    x: float

    def __init__(self, x: float):
        self.x = x

    @classmethod
    def made(cls, x: float) -> "Base":
        return cls(x + 1.0)

    @classmethod
    def weighted(cls, a: weft.f64[N]) -> float:
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i] * cls.factor
        return s

    def traced(self, xs: list[float]) -> float:
        s = 0.0
        for x in xs:
            s += x * self.x
        note(s)
        for x in xs:
            self.x += x
        return s + self.x


def bare(x: float):
    return eval("x") + sum(x for _ in range(3))
"""

HEAD = """
import numpy as np
import kernels_parts as k

def run(native, function, *arguments, **named):
    before = function.native_calls
    try:
        answer = function(*arguments, **named)
    except Exception as error:
        answer = repr(error)
    assert (function.native_calls > before) == native, (function.__name__, arguments, named)
    log, k.LOG[:] = list(k.LOG), []
    print(function.__name__, answer, log)

x = np.arange(5.0)
"""
CALLS = """
run(True, k.halves, x)
run(True, k.halves, x[::2])
run(True, k.halves, x, k=1)
run(True, k.changed, x)
print(x)
run(True, k.stepped, x, 3)
run(True, k.words, "a b a c b")
run(True, k.annotated, 5)
run(True, k.early, x)
run(True, k.early, x * 50)
run(False, k.early, x[:0])
run(True, k.total, 1.0, 2.0)
run(True, k.total)
run(True, k.total, *[0.5] * 40)
run(False, k.total, 1, 2.5)
run(True, k.options, 1)
run(True, k.options, 1, 2, 3, scale=5, more=4)
run(False, k.options, 1, more=2.5)
run(False, k.options)
run(False, k.options, 1, first=2)
run(True, k.Base.weighted, x)
base = k.Base.made(1.0)
print(type(base).__name__, base.x)
run(True, base.traced, [1.0, 2.0])
print(base.x)
class Derived(k.Base):
    factor = 3.0
run(False, Derived.weighted, x)
print(type(Derived.made(1.0)).__name__)
print(k.halves.__name__, k.halves.__doc__, k.bare(2.0))
"""


def in_python(source: str, calls: str) -> str:
    """What the same calls print where nothing is compiled."""
    import contextlib
    import io

    import numpy as np

    space: dict[str, object] = {"__name__": "kernels_parts"}
    exec(compile(source, "kernels_parts.py", "exec", dont_inherit=True), space)

    class Module:
        def __getattr__(self, name: str) -> object:
            return space[name]

    def run(native: bool, function: object, *arguments: object, **named: object) -> None:
        try:
            answer = function(*arguments, **named)  # type: ignore[operator]
        except Exception as error:
            answer = repr(error)
        log = space["LOG"]
        print(function.__name__, answer, list(log))  # type: ignore[attr-defined,call-overload]
        log.clear()  # type: ignore[attr-defined]

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(calls, "calls", "exec"), {"k": Module(), "np": np, "x": np.arange(5.0), "run": run})
    return out.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("parts")
    path = place / "kernels_parts.py"
    path.write_text(MODULE)
    assert main(["build", str(path), "-o", str(place / "built"), "--march", "native"]) == 0
    return place


def test_parts_are_native_and_answers_are_pythons(folder: Path) -> None:
    assert run_alone(HEAD + CALLS, folder, folder / "built") == in_python(MODULE, CALLS)


def test_errors_in_regions_have_lines_of_the_source(folder: Path) -> None:
    script = (
        HEAD + "import traceback\ntry:\n    k.halves(x, 2)\nexcept IndexError:\n    print(traceback.format_exc())\n"
    )
    told = run_alone(script, folder, folder / "built")
    line = 1 + MODULE[: MODULE.index("t += y[i + k]")].count("\n")
    assert f"line {line}" in told and "IndexError: index 5 is out of bounds for axis 0 with size 5" in told


def test_what_python_runs_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", str(folder / "kernels_parts.py"), "-o", str(folder / "again"), "--march", "native"]) == 0
    told = capsys.readouterr()
    assert "halves: Python runs some of it, compiled code the rest (line " in told.err
    assert "bare: stays Python" in told.err  # `eval` sees the variables of its function
    assert "Base.weighted(type[Base], f64[:])" in told.out and "Base.made(type[Base], float)" in told.out
    assert "halves.region_0(f64[:])" in told.out and "changed.region_1.region_0(f64, f64[:])" in told.out
    built, again = (folder / name / "kernels_parts.abi3.so" for name in ("built", "again"))
    assert built.read_bytes() == again.read_bytes()


RECORDED = """
import numpy as np


class Point:
    def __init__(self, x):
        self.x = x
        self.parts = np.zeros(3)

    def norm(self, k: int):
        s = 0.0
        for i in range(k):
            s += self.x * self.parts[i]
        return s


def listed(xs: list):
    s = 0.0
    for x in xs:
        s += x
    return s


def summed(xs: np.ndarray):
    return (xs * 2.0).sum()


def words(ws, n=3):
    found = {}
    for word in ws:
        found[word] = found.get(word, 0) + n
    return found


def either(x, y: int | None = None):
    return x if y is None else y


def moved(point):
    return point.x * 2


if __name__ == "__main__":
    listed([1.0]), summed(np.ones(4)), words(["a"]), either(1.0), either(2.0, 3)
    moved(Point(2.0)), Point(1.0).norm(2)
"""

CALLS_RECORDED = """
import numpy as np
import kernels_recorded as k
print(k.listed([1.0, 2.0]), k.summed(np.arange(3.0)), k.words(["a", "b", "a"]), k.either(1.0), k.either(1.0, 2))
point = k.Point(3.0)
point.parts[:] = 2
print(k.moved(point), point.norm(2))
functions = (k.listed, k.summed, k.words, k.either, k.moved, k.Point.norm)
print([function.native_calls for function in functions])
"""


def test_recorded_types_stand_in_for_hints_that_say_nothing_of_items(tmp_path: Path) -> None:
    path = tmp_path / "kernels_recorded.py"
    path.write_text(RECORDED)
    # In a process of its own: in one with thousands of tests behind it a look at a stack may take too long.
    subprocess.run([sys.executable, "-m", "weft", "profile", str(path)], check=True, capture_output=True)
    assert main(["build", str(path), "-o", str(tmp_path / "built"), "--march", "native"]) == 0
    told = run_alone(CALLS_RECORDED, tmp_path, tmp_path / "built").splitlines()
    assert told == ["3.0 6.0 {'a': 6, 'b': 3} 1.0 2", "6.0 12.0", "[1, 1, 1, 2, 1, 1]"]
    path.write_text(RECORDED.replace("    return s\n\n\ndef summed", "    return s + 1\n\n\ndef summed"))
    assert main(["build", str(path), "-o", str(tmp_path / "built"), "--march", "native"]) == 0
    changed = "import kernels_recorded as k\nprint(hasattr(k.listed, 'native_calls'), k.listed([1.0]))\n"
    assert run_alone(changed, tmp_path, tmp_path / "built") == "False 2.0\n"
