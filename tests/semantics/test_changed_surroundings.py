"""What a function uses besides its arguments changes between calls, and the compiled one sees it, as Python does."""

from __future__ import annotations

import builtins
import itertools
import linecache
import math
from typing import Any

import numpy as np
import pytest

import weft

_COUNTER = itertools.count()

#: Title: the program, the call, and what changes before each further call.
PROGRAMS: dict[str, tuple[str, str, list[str]]] = {
    "a class attribute": (
        """\
class C: N = 3
def f(a):
    s = 0.0
    for i in range(C.N): s += a[i]
    return s
""",
        "f(a)",
        [
            "C.N = 4",
            "C.N = 3",
            "del C.N\nclass C: N = 2",
        ],
    ),
    "an inherited attribute": (
        """\
class B: K = 2.0
class C(B): pass
class D(C): pass
def f(x): return x * D.K
""",
        "f(3.0)",
        [
            "B.K = 5.0",
            "C.K = 7.0",
            "del C.K",
            "D.K = 1.0",
        ],
    ),
    "another base": (
        """\
class A: K = 2
class B: K = 3
class C(A): pass
def f(x): return x * C.K
""",
        "f(3)",
        [
            "C.__bases__ = (B,)",
        ],
    ),
    "a class in a class": (
        """\
class C:
    class Inner:
        N = 3
def f(x): return x + C.Inner.N
""",
        "f(1)",
        [
            "C.Inner.N = 9",
            "class Other: N = 20\nC.Inner = Other",
        ],
    ),
    "an attribute behind an object's own": (
        """\
class P:
    K = 2.0
    def m(self, x): return x * self.K
p = P()
q = P()
def f(p, x): return p.m(x) + p.K
""",
        "f(p, 3.0)",
        [
            "P.K = 4.0",
            "p.K = 10.0",
            "p = q",
            "q.m = lambda x: x - 1.0",
            "del q.m",
        ],
    ),
    "a method": (
        """\
class P:
    def m(self, x): return x * 2
def f(x): return P().m(x)
""",
        "f(3)",
        [
            "P.m = lambda self, x: x - 1",
            "P.__init__ = lambda self: None",
            "P.m.__code__ = (lambda self, x: x * x).__code__",
        ],
    ),
    "static and class methods": (
        """\
class P:
    K = 2
    @staticmethod
    def s(x): return x + 1
    @classmethod
    def c(cls, x): return x * cls.K
def f(x): return P.s(x) + P.c(x) + P().s(x)
""",
        "f(3)",
        [
            "P.s = staticmethod(lambda x: x + 100)",
            "P.K = 5",
            "P.c = classmethod(lambda cls, x: -x)",
        ],
    ),
    "a property": (
        """\
class P:
    def __init__(self, v): self.v = v
    @property
    def twice(self): return 2 * self.v
def f(x): return P(x).twice
""",
        "f(3)",
        [
            "P.twice = property(lambda self: 3 * self.v)",
            "P.twice = 4",
            "P.v = property(lambda self: 1, lambda self, v: None)",
        ],
    ),
    "an operator": (
        """\
class V:
    def __init__(self, x): self.x = x
    def __add__(self, o): return V(self.x + o.x)
def f(x): return (V(x) + V(1)).x
""",
        "f(3)",
        [
            "V.__add__ = lambda self, o: V(self.x * 10)",
            "V.__init__ = lambda self, x: setattr(self, 'x', -x)",
        ],
    ),
    "assignments that a class sees to": (
        """\
class V:
    def __init__(self, x): self.x = x
def f(x):
    v = V(x)
    v.x = v.x + 1
    return v.x
""",
        "f(3)",
        [
            "V.__setattr__ = lambda self, n, v: object.__setattr__(self, n, v * 2)",
            "del V.__setattr__",
            "V.__getattribute__ = lambda self, n: 77",
            "del V.__getattribute__",
        ],
    ),
    "a helper": (
        """\
def h(x): return x * 2
def f(a):
    s = 0.0
    for i in range(a.size): s += h(a[i])
    return s
""",
        "f(a)",
        [
            "def h(x): return x * 5",
            "h.__code__ = (lambda x: x + 1).__code__",
            "def h(x): return x * 2",
        ],
    ),
    "a helper of a helper": (
        """\
def g(x): return x + 1
def h(x): return g(x) * 2
def f(x): return h(x)
""",
        "f(3.0)",
        [
            "def g(x): return x + 10",
            "K = 4\ndef g(x): return x + K",
            "K = 5",
        ],
    ),
    "defaults of a helper": (
        """\
def h(x, k=2, *, m=1): return x * k + m
def f(x): return h(x)
""",
        "f(3)",
        [
            "h.__defaults__ = (5,)",
            "h.__kwdefaults__ = {'m': 7}",
            "h.__kwdefaults__['m'] = 8",
        ],
    ),
    "defaults of the function": (
        """\
def f(x, k=2, *, m=1): return x * k + m
""",
        "f(3)",
        [
            "plain.__defaults__ = (5,)",
            "plain.__kwdefaults__ = {'m': 7}",
            "plain.__kwdefaults__['m'] = 8",
        ],
    ),
    "the code of the function": (
        """\
def f(x): return x * 2
def g(x): return x - 2
""",
        "f(3)",
        [
            "plain.__code__ = g.__code__",
            "plain.__code__ = (lambda x: x * x).__code__",
        ],
    ),
    "a closure": (
        """\
def make():
    k = 2
    def h(x): return x * k
    def change(v):
        nonlocal k
        k = v
    return h, change
h, change = make()
def f(x): return h(x)
""",
        "f(3)",
        [
            "change(5)",
            "change(2.5)",
        ],
    ),
    "a builtin": (
        """\
def f(x): return abs(x)
""",
        "f(-3)",
        [
            "abs = lambda x: x * 100",
            "del abs",
            "def abs(x): return 1",
        ],
    ),
    "a function of a module": (
        """\
import math
import types
m = types.ModuleType('m')
m.sin = math.sin
def f(x): return m.sin(x) + math.sqrt(x)
""",
        "f(4.0)",
        [
            "m.sin = math.cos",
            "m.sin = lambda x: x",
        ],
    ),
    "a module for another": (
        """\
import math
def f(x): return math.sqrt(x)
""",
        "f(4.0)",
        [
            "import types\nmath = types.SimpleNamespace(sqrt=lambda x: x * 2)",
            "import cmath as math",
        ],
    ),
    "a partial": (
        """\
import functools
def g(x, k): return x * k
h = functools.partial(g, k=3)
def f(x): return h(x)
""",
        "f(2)",
        [
            "h = functools.partial(g, k=4)",
            "h.keywords['k'] = 5",
            "def g(x, k): return 0\nh = functools.partial(g, k=1)",
        ],
    ),
    "a dataclass": (
        """\
import dataclasses
@dataclasses.dataclass
class P:
    x: float
    y: float = 2.0
def f(x): return P(x).y * P(x).x
""",
        "f(3.0)",
        [
            "P.__init__ = lambda self, x: (setattr(self, 'x', x), setattr(self, 'y', 9.0))[0]",
            "P.x = property(lambda self: 1.0, lambda self, v: None)",
        ],
    ),
    "an enumeration": (
        """\
import enum
class E(enum.IntEnum):
    A = 1
    B = 2
def f(x): return x + E.B
""",
        "f(1)",
        [
            "class E(enum.IntEnum):\n    A = 1\n    B = 5",
        ],
    ),
    "super": (
        """\
class A:
    def m(self, x): return x + 1
class B(A):
    def m(self, x): return super().m(x) * 2
def f(x): return B().m(x)
""",
        "f(3)",
        [
            "A.m = lambda self, x: x + 50",
            "class Z:\n    def m(self, x): return -x\nB.__bases__ = (Z,)",
        ],
    ),
    "items that hide a method": (
        """\
class P:
    def __init__(self, x): self.x = x
    def m(self): return self.x * 2
ps = [P(1), P(2)]
def f(ps):
    s = 0
    for p in ps: s += p.m()
    return s
""",
        "f(ps)",
        [
            "ps[1].m = lambda: 100",
            "ps = [P(3)]",
            "P.m = lambda self: self.x * 3",
        ],
    ),
    "a constant that was a list": (
        """\
K = 2
def f(x): return x * K
""",
        "f(3)",
        [
            "K = [1, 2]",
            "K = 2.0",
            "K = '-'",
        ],
    ),
}


@pytest.mark.parametrize("title", PROGRAMS)
def test_a_change_is_seen(title: str) -> None:
    program, call, changes = PROGRAMS[title]
    file = f"<weft-surroundings-{next(_COUNTER)}>"
    linecache.cache[file] = (len(program), None, program.splitlines(keepends=True), file)
    space: dict[str, Any] = {"np": np, "__name__": "weft_surroundings", "a": np.arange(1.0, 5.0)}
    exec(compile(program, file, "exec", dont_inherit=True), space)
    plain = space["plain"] = space["f"]
    native = weft.jit(plain, fallback="silent")
    for change in ["", *changes, ""]:
        exec(change, space)
        for _ in range(2):
            found = [eval(call, {**space, "f": function}) for function in (plain, native)]
            assert repr(found[1]) == repr(found[0]), f"after {change!r}"


def test_replaced_functions_of_numpy_and_python(monkeypatch: pytest.MonkeyPatch) -> None:
    def plain(a: Any) -> Any:
        return np.sum(a) + math.sqrt(a[0]) + absolute(a[1])  # type: ignore[name-defined]  # noqa: F821

    monkeypatch.setattr(builtins, "absolute", abs, raising=False)
    native = weft.jit(plain, fallback="silent")
    a = np.array([4.0, -3.0])
    assert native(a) == plain(a) == 6.0
    for owner, name in ((np, "sum"), (math, "sqrt"), (builtins, "absolute")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, lambda x: 1000.0)
            assert native(a) == plain(a)
        assert native(a) == plain(a) == 6.0


@pytest.mark.usefixtures("array_compiler_only")
def test_versions_come_back_with_what_they_were_made_from() -> None:
    class Settings:
        count = 1

    def plain(x: Any) -> Any:
        return x * Settings.count

    native = weft.jit(plain, fallback="error")
    for count in (1, 2, 1, 2, 1, 2):
        Settings.count = count
        assert native(3) == 3 * count
    assert len(native.signatures) == 2


def test_a_loaded_array_may_be_another_one() -> None:
    space: dict[str, Any] = {"__name__": "weft_arrays"}
    text, file = "def f(i):\n    return T[i]\n", "<weft-arrays>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), space)
    native = weft.jit(space["f"], fallback="error")
    for start in (1.0, 5.0, 7.0):
        space["T"] = np.arange(start, start + 3)
        assert native(1) == start + 1
    assert len(native.signatures) == 1
