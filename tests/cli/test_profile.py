"""`weft profile`: types and hot lines of a program, hints beside its source, in a copy and in a stub, and what
`weft build` makes of them.
"""

from __future__ import annotations

import ast
import json
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from weft.heat import hints, writing
from weft.heat.kinds import describe, joined

SCRIPT = '''"""Doc."""
from __future__ import annotations
import sys
import numpy as np

class Box:
    def __init__(self, v):
        self.v = v

    def total(self, k: int):
        return self.v * k

def norm(a, scale=1.0):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * scale
    return s

def rows(
    table, pairs,  # of numbers
    flag=None,
):
    return sum(sum(r) for r in table) + sum(p[1] for p in pairs.values())

def several(x):
    return x

def fails(x):
    raise ValueError(x)

def never(x):
    return x

if __name__ == "__main__":
    for k in range(400):
        norm(np.arange(1000.0))
    print(rows([[1, 2], [3]], {1: (2, 3.0)}), Box(2).total(3), several(1), several(2.0), several(None), sys.argv[1:])
    try:
        fails(3)
    except ValueError:
        pass
    sys.exit(4)
'''


def test_types_and_lines_are_told_and_the_script_is_left_alone(command, weft_command, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    plain = command("script.py", "--json", "x")
    result = weft_command("profile", "--json", "script.py", "--json", "x")
    assert (result.stdout, result.returncode) == (plain.stdout, 4), result.stderr
    data = json.loads(result.stderr[: result.stderr.rindex("}") + 1])
    found = {item["function"]: item for item in data["functions"]}
    assert found["norm"]["calls"] == 400
    assert found["norm"]["hints"] == {"a": "weft.f64[:]", "scale": "float", "return": "weft.f64"}
    assert found["rows"]["hints"] == {
        "table": "list[list[int]]",
        "pairs": "dict[int, tuple[int, float]]",
        "flag": "None",
        "return": "float",
    }
    assert found["several"]["hints"]["x"] == "float | int | None"
    assert found["fails"]["hints"] == {"x": "int"} and "never" not in found and "Box" not in found
    assert found["Box.total"]["hints"] == {"self": "Box", "k": "int", "return": "int"}
    assert data["lines"][0]["line"] in range(13, 18) and data["lines"][0]["share"] > 0.3
    kept = json.loads((tmp_path / "script.weft.json").read_text())
    assert kept["functions"]["norm"]["hints"]["a"] == "weft.f64[:]"


@pytest.mark.native
def test_the_tables_and_the_build_that_uses_them(weft_command, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    told = weft_command("profile", "script.py").stderr
    assert "norm (script.py:13)" in told and "s += a[i] * scale" in told and "wrote" in told
    built = weft_command("build", "script.py")
    assert built.returncode == 0 and "norm(f64[:], float)" in built.stdout, built.stderr
    assert "several(float | int | None)" in built.stdout and "Box.total(Box, int)" in built.stdout
    assert "never: stays Python (nothing was recorded of it)" in built.stderr
    (tmp_path / "script.py").write_text(SCRIPT.replace("s = 0.0", "s = 1.0"))
    changed = weft_command("build", "script.py")
    assert "norm: stays Python (it has changed since it was recorded)" in changed.stderr
    (tmp_path / "script.weft.json").write_text('{"format": 1, "functions": {"norm": 3}}')
    broken = weft_command("build", "script.py")
    assert broken.returncode == 1 and "script.weft.json cannot be used" in broken.stderr
    assert "Traceback" not in broken.stderr


def test_a_copy_with_hints_and_a_stub(weft_command, command, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    result = weft_command("profile", "--annotate", "hinted.py", "--stub", "script.pyi", "script.py")
    assert result.returncode == 4 and not (tmp_path / "script.weft.json").exists()
    hinted = (tmp_path / "hinted.py").read_text()
    assert "def norm(a: weft.f64[:], scale: float=1.0) -> weft.f64:" in hinted
    head = "    table: list[list[int]], pairs: dict[int, tuple[int, float]],  # of numbers\n    flag=None,\n) -> float:"
    assert head in hinted
    assert "def never(x):" in hinted and hinted.splitlines()[2] == "import weft"
    assert command("hinted.py").stdout == command("script.py").stdout
    stub = (tmp_path / "script.pyi").read_text()
    assert "def norm(a: weft.f64[:], scale: float=...) -> weft.f64: ..." in stub
    assert "class Box:\n    def __init__(self, v: int) -> None: ..." in stub
    ast.parse(stub)


def test_modules_of_the_program_are_recorded_beside_their_sources(weft_command, tmp_path):
    (tmp_path / "helper.py").write_text("def half(x):\n    return x / 2\n")
    (tmp_path / "script.py").write_text("import helper\nprint(helper.half(3))\n")
    assert weft_command("profile", "script.py").stdout == "1.5\n"
    kept = json.loads((tmp_path / "helper.weft.json").read_text())
    assert kept["functions"]["half"]["hints"] == {"x": "int", "return": "float"}


def test_bad_input(weft_command, tmp_path):
    assert weft_command("profile", "nowhere.py").returncode == 2
    (tmp_path / "broken.py").write_text("def f(:\n")
    broken = weft_command("profile", "broken.py")
    assert broken.returncode == 1 and "SyntaxError" in broken.stderr and "weft/" not in broken.stderr
    (tmp_path / "fails.py").write_text("def f(x):\n    return 1 / x\nf(0)\n")
    fails = weft_command("profile", "fails.py")
    assert fails.returncode == 1 and "ZeroDivisionError" in fails.stderr and "heat" not in fails.stderr
    unwritable = weft_command("profile", "--stub", "no/such/place.pyi", "fails.py")
    assert unwritable.returncode == 1 and "cannot be written" in unwritable.stderr


# --- MonkeyType -----------------------------------------------------------------------------------------------------


def _kind(name, *inner, module="builtins"):
    return {"module": module, "qualname": name, **({"elem_types": list(inner)} if inner else {})}


def test_types_from_a_store_of_monkeytype(weft_command, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    connection = sqlite3.connect(tmp_path / "monkeytype.sqlite3")
    connection.execute(
        "CREATE TABLE monkeytype_call_traces (created_at TEXT, module TEXT, qualname TEXT, arg_types TEXT,"
        " return_type TEXT, yield_type TEXT)"
    )
    integer, real = _kind("int"), _kind("float")
    table = _kind("List", _kind("List", real, module="typing"), module="typing")
    optional = _kind("Optional", integer, module="typing")
    anything = _kind("Any", module="typing")
    counter = _kind("DefaultDict", integer, integer, module="typing")
    rows = [
        ("script", "several", {"x": integer}, integer),
        ("script", "several", {"x": integer}, real),
        ("script", "rows", {"table": table, "pairs": _kind("Dict", integer, real, module="typing")}, real),
        ("script", "fails", {"x": optional}, None),
        ("script", "norm", {"a": _kind("ndarray", module="numpy"), "scale": real}, real),
        ("other", "never", {"x": integer}, integer),
        ("script", "Box.total", {"k": _kind("List", anything, module="typing"), "self": counter}, None),
        ("script", "Box.total", {"k": _kind("List", integer, module="typing"), "self": counter}, None),
    ]
    for module, name, arguments, result in rows:
        returned = None if result is None else json.dumps(result)
        values = ("2026-01-01", module, name, json.dumps(arguments), returned, None)
        connection.execute("INSERT INTO monkeytype_call_traces VALUES (?, ?, ?, ?, ?, ?)", values)
    connection.commit()
    connection.close()
    result = weft_command("profile", "--monkeytype", "monkeytype.sqlite3", "script.py")
    assert result.returncode == 0 and result.stdout == "", result.stderr
    kept = json.loads((tmp_path / "script.weft.json").read_text())["functions"]
    assert kept["several"]["hints"] == {"x": "int", "return": "float | int"}
    rows = kept["rows"]["hints"]
    assert rows["table"] == "list[list[float]]" and rows["pairs"] == "dict[int, float]"
    assert kept["fails"]["hints"] == {"x": "int | None"} and kept["norm"]["hints"]["a"] == "np.ndarray"
    assert "never" not in kept
    assert kept["Box.total"]["hints"] == {"k": "list[int]", "self": "defaultdict[int, int]"}
    (tmp_path / "text.sqlite3").write_text("no database")
    wrong = weft_command("profile", "--monkeytype", "text.sqlite3", "script.py")
    assert wrong.returncode == 1 and "is not a store of MonkeyType" in wrong.stderr
    assert weft_command("profile", "--monkeytype", "absent.sqlite3", "script.py").returncode == 1


def test_a_store_that_monkeytype_has_made(command, weft_command, tmp_path):
    pytest.importorskip("monkeytype")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")
    (tmp_path / "pack" / "kernels.py").write_text(
        "def total(values, scale):\n    s = 0.0\n    for v in values:\n        s += v * scale\n    return s\n"
        "def upto(n):\n    for i in range(n):\n        yield i\n"
    )
    (tmp_path / "main.py").write_text(
        "from pack.kernels import total, upto\nprint(total([1.0, 2.0], 3), total([], 3), list(upto(2)))\n"
    )
    made = command("-m", "monkeytype", "run", "main.py")
    assert made.returncode == 0 and (tmp_path / "monkeytype.sqlite3").is_file(), made.stderr
    result = weft_command("profile", "--monkeytype", "monkeytype.sqlite3", "pack/kernels.py")
    assert result.returncode == 0, result.stderr
    kept = json.loads((tmp_path / "pack" / "kernels.weft.json").read_text())["functions"]
    assert kept["total"]["hints"] == {"values": "list[float]", "scale": "int", "return": "float"}
    assert kept["upto"]["hints"] == {"n": "int"}
    built = weft_command("build", "pack/kernels.py")
    assert built.returncode == 0 and "total" in built.stdout + built.stderr, built.stderr
    check = "import sys; sys.path.insert(0, 'build'); import kernels; print(kernels.total([1.0, 2.0], 3))"
    assert command("-c", check, environment={"CC": "/bin/false"}).stdout == "9.0\n"


# --- the parts ------------------------------------------------------------------------------------------------------


class _Own:
    pass


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "int"),
        (True, "bool"),
        (None, "None"),
        ([], "list"),
        ([1, 2.0], "list[float | int]"),
        ([[1], []], "list[list[int]]"),
        ({1: [2.0]}, "dict[int, list[float]]"),
        ((1, "a"), "tuple[int, str]"),
        ({3}, "set[int]"),
        (np.ones((2, 3)), "weft.f64[:, :]"),
        (np.ones((2, 1), "f4"), "weft.f32[:, 1]"),
        (np.float32(1), "weft.f32"),
        (np.zeros(()), "np.ndarray"),
        (np.zeros(3, "U4"), "np.ndarray"),
        (np.ma.ones(3), "np.MaskedArray"),
        pytest.param(_Own(), "_Own", id="own"),
    ],
)
def test_types_as_text(value, text):
    assert describe(value) == text


def test_what_types_have_in_common():
    assert joined(["weft.f64[:, 1]", "weft.f64[1, :]"]) == "weft.f64[:, :]"
    assert joined(["weft.f64[:]", "weft.f64[:, :]"]) == "weft.f64[:, :] | weft.f64[:]"
    assert joined(["list", "list[int]", "None"]) == "list[int] | None"


def test_hints_are_data_and_never_run():
    assert repr(hints.hint_of("weft.f64[:, 3]")) == "weft.f64[:, 3]"
    assert hints.hint_of("dict[int, float]") == dict[int, float]
    for text in ("__import__('os')", "weft.jit", "a.b", "list[", "weft.f64[x]", "weft.f64[-1]", "Box"):
        assert hints.hint_of(text) is None, text
    assert hints.hint_of("int | None") == int | None and hints.hint_of("_Own", {"_Own": _Own}) is _Own
    assert not hints.can_be_written("Box") and hints.can_be_written("dict[int, weft.f64[:]] | None")


def test_annotations_land_where_they_belong():
    text = '@deco(lambda x: {1: 2})\ndef f(ä, b=(1, {2: 3}), *, c=")"):  # :\n    return ä\n'
    made = writing.annotated(text, {"f": {"ä": "int", "b": "tuple[int, int]", "c": "str", "return": "int"}})
    head = 'def f(ä: int, b: tuple[int, int]=(1, {2: 3}), *, c: str=")") -> int:  # :'
    assert made == f"@deco(lambda x: {{1: 2}})\n{head}\n    return ä\n"
    assert writing.annotated(text, {}) == text
    assert writing.annotated("x = 1\n", {"f": {"a": "weft.f64[:]"}}) == "x = 1\n"


def test_a_recorder_leaves_no_trace():
    code = "import sys, signal\nfrom weft.heat.recording import Recorder\nr = Recorder(); r.start(); r.stop()\n"
    code += "print(sys.getprofile(), signal.getsignal(signal.SIGPROF) is signal.SIG_DFL, signal.getitimer(2)[0])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert result.stdout == "None True 0.0\n", result.stderr


def test_a_look_at_the_stack_that_takes_longer_than_the_interval_is_not_interrupted_by_the_next():
    code = """
import time
from weft.heat.recording import Recorder
inside, deepest, looks = 0, 0, 0

class Slow(Recorder):
    def _sample(self, stacks):
        global inside, deepest, looks
        inside, looks = inside + 1, looks + 1
        deepest = max(deepest, inside)
        until = time.process_time() + 0.01
        while time.process_time() < until:
            pass
        inside -= 1

r = Slow(); r.start()
until = time.process_time() + 0.2
while time.process_time() < until:
    pass
r.stop()
print(deepest, looks > 1)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert result.stdout == "1 True\n", result.stderr
