"""A cache never gives an old answer: each change to what a function means is seen by the next process."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

BASE = """
import numpy as np
import weft
from helper import scale

FACTOR = 2.0
TABLE = np.array([1.0, 2.0, 3.0])
LIMIT = 3

class Model:
    gain = 1.0

def make(offset):
    @weft.jit(fallback="error")
    def inner(a):
        return a + offset
    return inner

@weft.jit(fallback="error")
def f(a, extra=1.0):
    total = 0.0
    for i in range(LIMIT):
        total += a[i] * FACTOR + TABLE[i]
    return total + scale(a[0]) + extra

@weft.jit(fallback="error")
def g(model, a):
    return a * model.gain

print(float(f(np.arange(4.0) + 1)), make(1.0)(np.ones(2)).tolist(), g(Model(), np.ones(2)).tolist())
"""
HELPER = "def scale(x):\n    return x * 10.0\n"

CHANGES = {
    "body": ("a[i] * FACTOR + TABLE[i]", "a[i] * FACTOR - TABLE[i]"),
    "global": ("FACTOR = 2.0", "FACTOR = 3.0"),
    "type of a global": ("FACTOR = 2.0", "FACTOR = 3"),
    "global array": ("np.array([1.0, 2.0, 3.0])", "np.array([5.0, 2.0, 3.0])"),
    "dtype of a global array": ("np.array([1.0, 2.0, 3.0])", "np.array([5, 2, 3])"),
    "constant bound": ("LIMIT = 3", "LIMIT = 2"),
    "default": ("extra=1.0", "extra=2.5"),
    "closure": ("make(1.0)", "make(4.0)"),
    "attribute": ("gain = 1.0", "gain = 7.0"),
    "line moved": ("FACTOR = 2.0", "\n\n\nFACTOR = 2.0"),
    "argument dtype": ("np.arange(4.0) + 1", "np.arange(4) + 1"),
}


def _run(directory: Path, environment: dict[str, str], disabled: bool = False) -> str:
    extra = {"WEFT_DISABLE": "1"} if disabled else {"WEFT_CACHE_DIR": str(directory / "cache")}
    command = [sys.executable, str(directory / "script.py")]
    done = subprocess.run(command, env={**environment, **extra}, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("change", [*CHANGES, "callee"])
def test_a_change_is_seen(change: str, tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "script.py").write_text(BASE)
    before = _run(tmp_path, subprocess_environment)
    assert before == _run(tmp_path, subprocess_environment, disabled=True)
    if change == "callee":
        (tmp_path / "helper.py").write_text(HELPER.replace("10.0", "11.50"))
    else:
        old, new = CHANGES[change]
        assert old in BASE
        (tmp_path / "script.py").write_text(BASE.replace(old, new))
    after = _run(tmp_path, subprocess_environment)
    assert after == _run(tmp_path, subprocess_environment, disabled=True)
    if change not in ("line moved", "argument dtype"):
        assert after != before, "the change changes nothing: the test tests nothing"


#: Functions of one module, each with what it uses, and what is edited before the next process; "" for nothing.
SURROUNDINGS: dict[str, tuple[str, str, str]] = {
    "helper in a loop": (
        """\
def h1(x): return x * 2
@weft.jit
def f1(a):
    s = 0.0
    for i in range(a.size): s += h1(a[i])
    return s
""",
        "x * 2",
        "x * 5",
    ),
    "helper of a helper": (
        """\
def g2(x): return x + 1
def h2(x): return g2(x)
@weft.jit
def f2(a): return h2(a[0])
""",
        "x + 1",
        "x + 7",
    ),
    "class attribute": (
        """\
class C3: N = 2
@weft.jit
def f3(a): return a[0] * C3.N
""",
        "N = 2",
        "N = 9",
    ),
    "inherited attribute": (
        """\
class B4: N = 2
class C4(B4): pass
@weft.jit
def f4(a): return a[0] * C4.N
""",
        "N = 2",
        "N = 9",
    ),
    "class in a class": (
        """\
class C5:
    class I: N = 2
@weft.jit
def f5(a): return a[0] * C5.I.N
""",
        "N = 2",
        "N = 9",
    ),
    "method": (
        """\
class C6:
    def m(self, x): return x + 2
@weft.jit
def f6(a): return C6().m(a[0])
""",
        "x + 2",
        "x + 9",
    ),
    "default of a helper": (
        """\
def h7(x, k=2): return x * k
@weft.jit
def f7(a): return h7(a[0])
""",
        "k=2",
        "k=9",
    ),
    "keyword default": (
        """\
def h8(x, *, k=2): return x * k
@weft.jit
def f8(a): return h8(a[0])
""",
        "k=2",
        "k=9",
    ),
    "closure of a helper": (
        """\
def make9(k):
    def h(x): return x * k
    return h
h9 = make9(2)
@weft.jit
def f9(a): return h9(a[0])
""",
        "make9(2)",
        "make9(9)",
    ),
    "enumeration": (
        """\
import enum
class E10(enum.IntEnum):
    A = 2
@weft.jit
def f10(a): return a[0] + E10.A
""",
        "A = 2",
        "A = 9",
    ),
    "builtin": (
        """\
if 0: abs = None
@weft.jit
def f11(a): return abs(a[0] - 9)
""",
        "if 0: abs = None",
        "def abs(x): return 9",
    ),
    "partial": (
        """\
import functools
def g12(x, k): return x * k
h12 = functools.partial(g12, k=2)
@weft.jit
def f12(a): return h12(a[0])
""",
        "k=2",
        "k=9",
    ),
    "dataclass": (
        """\
import dataclasses
@dataclasses.dataclass
class D13:
    x: float
    y: float = 2.0
@weft.jit
def f13(a): return D13(a[0]).y
""",
        "= 2.0",
        "= 9.0",
    ),
    "named tuple": (
        """\
import typing
class N14(typing.NamedTuple):
    x: float
    y: float = 2.0
@weft.jit
def f14(a): return N14(a[0]).y
""",
        "= 2.0",
        "= 9.0",
    ),
    "another name for a function": (
        """\
import math
root15 = math.sqrt
@weft.jit
def f15(a): return root15(a[0])
""",
        "math.sqrt",
        "math.exp",
    ),
    "global behind a builtin": (
        """\
K16 = 2
@weft.jit
def f16(a): return a[0] * max(K16, 1)
""",
        "K16 = 2",
        "K16 = 9",
    ),
    "decorated helper": (
        """\
def twice17(f):
    def w(x): return 2 * f(x)
    return w
@twice17
def h17(x): return x
@weft.jit
def f17(a): return h17(a[0])
""",
        "2 * f(x)",
        "9 * f(x)",
    ),
    "operator": (
        """\
class V18:
    def __init__(self, x): self.x = x
    def __add__(self, o): return self.x + 2
@weft.jit
def f18(a): return V18(a[0]) + 1
""",
        "self.x + 2",
        "self.x + 9",
    ),
    "nothing": (
        """\
class C19: N = 2
def h19(x): return x * C19.N
@weft.jit
def f19(a): return h19(a[0])
""",
        "",
        "",
    ),
    "nothing either": (
        """\
import math
@weft.jit
def f20(a): return np.sum(a) + math.sqrt(a[0])
""",
        "",
        "",
    ),
}


def _program(edited: bool) -> str:
    parts = ["import numpy as np", "import weft", "a = np.arange(4.0) + 1"]
    for title, (text, old, new) in SURROUNDINGS.items():
        assert old in text
        name = re.findall(r"def (f\d+)\(a\)", text)[0]
        shown = f"print({title!r}, float({name}(a)), [*getattr({name}, 'stats', {{}}).get('fallbacks', [])])"
        parts += [text.replace(old, new) if edited and old else text, shown]
    known = "[v for v in getattr(f, '_compiled', []) if 'disk cache' in v.seconds]"
    counts = f"[len({known}) for f in (f19, f20)] if hasattr(f19, '_compiled') else [1, 1]"
    parts.append(f"print('from the cache:', {counts})")
    return "\n".join(parts)


def test_edited_surroundings_are_seen(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    (tmp_path / "script.py").write_text(_program(edited=False))
    before = _run(tmp_path, subprocess_environment)
    plain = _run(tmp_path, subprocess_environment, disabled=True)
    assert before.splitlines()[:-1] == plain.splitlines()[:-1]
    (tmp_path / "script.py").write_text(_program(edited=True))
    after = _run(tmp_path, subprocess_environment)
    assert after == _run(tmp_path, subprocess_environment, disabled=True)
    changed = [one != other for one, other in zip(before.splitlines(), after.splitlines())]
    assert changed == [bool(old) for _, old, _ in SURROUNDINGS.values()] + [True]
