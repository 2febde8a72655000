"""`weft.debug`, `weft.explain_recompiles`, and line tables for perf and gdb."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft.codegen.lines import with_lines


@weft.jit(fallback="silent")
def ratio(a: Any, b: Any) -> Any:
    c = a - b
    d = c / c
    return d + 1.0


@weft.jit(fallback="silent")
def item(a: Any, i: Any) -> Any:
    return a[i]


@weft.jit(fallback="silent")
def least(a: Any) -> Any:
    found = np.inf
    for x in a:
        if x < found:
            found = x
    return found


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_first_nan_ends_the_call_with_its_line_and_values() -> None:
    one = np.ones(3)
    assert np.isnan(ratio(one, one)).all()
    with pytest.raises(FloatingPointError) as told, weft.debug():
        ratio(one, one)
    text = str(told.value)
    assert "d[0] is nan" in text and "d = c / c" in text and f"{__file__}:" in text and "c = [0. 0. 0.]" in text


def test_afterwards_functions_are_native_again() -> None:
    a = np.arange(4.0)
    own = weft.jit(item.py_func, fallback="silent")  # no other test has called it
    assert own(a, 2) == 2.0
    with weft.debug():
        assert own(a, 1) == 1.0
        with pytest.raises(IndexError):
            own(a, 9)
    assert own(a, 3) == 3.0
    assert own.stats["calls"] == {"(f64[:], int)": 1} and own.stats["python_calls"] == 2


def test_nan_that_was_there_before_is_no_fault() -> None:
    with weft.debug():
        assert item(np.array([np.nan, 1.0]), 1) == 1.0
        assert least(np.array([3.0, 2.0])) == 2.0


def test_recompiles_name_what_changed() -> None:
    @weft.jit(fallback="error")
    def added(a: Any, b: Any) -> Any:
        return a + b

    added(1, 2)
    added(1.5, 2)
    added(np.ones(3), 2)
    found = weft.explain_recompiles(added)
    assert [why for *_, why in found.versions] == [
        "the first call",
        "other types: argument 1: int -> float",
        "other types: argument 1: float -> f64[:]",
    ]
    assert str(found).startswith("added: compiled 3 times")
    with pytest.raises(TypeError, match="not compiled"):
        weft.explain_recompiles(len)


@pytest.mark.native
def test_versions_of_plain_python_are_told_too() -> None:
    def longest(words: Any) -> Any:
        best = ""
        for word in words:
            if len(word) > len(best):
                best = word
        return best

    made = weft.jit(longest, fallback="error")
    assert made(["a", "bcd"]) == "bcd" and made(("a", "bc")) == "bc"
    told = str(weft.explain_recompiles(made))
    assert told.startswith("longest: compiled 2 times") and "the first call" in told and "other types" in told


def test_a_call_that_raised_is_told() -> None:
    """It is not said of a function that was called that it waits for a call."""

    @weft.jit
    def raced(a: Any) -> Any:
        for i in weft.prange(1, len(a)):
            a[i] = a[i - 1] + 1.0
        return a

    assert "call it once" in raced.explain().short()
    with pytest.raises(weft.ParallelError):
        raced(np.ones(5))
    told = raced.explain().short()
    assert "not compiled: its calls raise an error" in told and "an error: `a[i]` is written" in told
    assert "try: read from a copy" in told and "call it once" not in told + str(raced.explain()) + repr(raced)
    assert "an error:" in raced._repr_html_() + raced.explain()._repr_html_()


def test_lines_of_the_source() -> None:
    own = ["int own(int i) {", "  return i;", "}"]
    rows = ["int f(void) {", "  /* heat.py:7 */", "  int a = 1;", "#pragma omp simd", "  a = 2; /* other.py:3 */"]
    text = "\n".join([*own, *rows, "  return a;", "}", *own, ""])
    assert with_lines(text, "/somewhere/heat.py").splitlines() == [
        *own,
        '#line 7 "/somewhere/heat.py"',
        "int f(void) {",
        '#line 7 "/somewhere/heat.py"',
        "  /* heat.py:7 */",
        '#line 7 "/somewhere/heat.py"',
        "  int a = 1;",
        "#pragma omp simd",
        "  a = 2; /* other.py:3 */",
        "  return a;",
        "}",
        *own,
    ]


@pytest.mark.native
def test_native_code_knows_the_names_and_lines_of_the_user(
    tmp_path: Path, subprocess_environment: dict[str, str]
) -> None:
    """Both compilers: symbols bear the function's name, and the line table names its lines and no others."""
    script = tmp_path / "heated.py"
    script.write_text(
        "import numpy as np, weft\n"
        "@weft.jit(fallback='error')\n"
        "def total(a):\n"
        "    s = 0.0\n"
        "    for x in a:\n"
        "        s += x * x\n"
        "    return s\n"
        "@weft.jit(fallback='error')\n"
        "def counted(texts):\n"
        "    found = {}\n"
        "    for text in texts:\n"
        "        found[text] = found.get(text, 0) + 1\n"
        "    return found\n"
        "assert total(np.arange(4.0)) == 14.0\n"
        "assert counted(['a', 'b', 'a']) == {'a': 2, 'b': 1}\n"
        "print(total._compiled[0].library)\n"
        "maps = [line.split()[-1] for line in open('/proc/self/maps')]\n"
        "print(next(name for name in maps if name.endswith('/plain.so')))\n"
    )
    if not Path("/proc/self/maps").exists():
        pytest.skip("no /proc to ask for loaded libraries")
    environment = {**subprocess_environment, "WEFT_PERF": "1"}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    for library, name, own in zip(done.stdout.split(), ("weft_total", "weft_counted"), (range(2, 8), range(8, 14))):
        data = Path(library).read_bytes()
        assert b"heated.py" in data and b".debug_line" in data and name.encode() in data
        if shutil.which("objdump") is None:
            continue
        table = subprocess.run(["objdump", "--dwarf=decodedline", library], capture_output=True, text=True).stdout
        lines = {int(row[1]) for row in re.findall(r"^(heated\.py) +(\d+)", table, re.M)}
        assert lines and lines <= set(own), lines


def test_debug_stops_at_a_result_that_is_no_number() -> None:
    @weft.jit(cache=False)
    def share(a: Any, k: int) -> Any:
        return a[k] / a[0]

    with pytest.raises(FloatingPointError, match="the result is nan") as stop, np.errstate(all="ignore"), weft.debug():
        share(np.zeros(3), 1)
    assert "return a[k] / a[0]" in str(stop.value)
    with weft.debug():
        assert share(np.ones(3), 1) == 1.0
        assert np.isnan(share(np.array([1.0, np.nan]), 1))  # it was in the argument
