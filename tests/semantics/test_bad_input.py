"""What goes wrong in a user's program goes wrong in the same way when it is compiled: the same class of exception with
the same text, raised at the same line of the same file, and the arguments as far changed as Python had changed them.

Each program is the text of a function `f` and of what it needs, with the text of its arguments. Those whose mistake
shows only when they run must be native; the others are named in LEFT_TO_PYTHON, and must end alike nevertheless.
"""

from __future__ import annotations

import os
import textwrap
import traceback
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import compare, function_from_source, outcome

NAMES: dict[str, Any] = {"np": np}

# --- one after the other: a name, the program, the arguments ---------------------------------------------------------

INDEX = {
    "array read": ("def f(a, i):\n    b = a * 2\n    return b[i]\n", "np.arange(5.0), 5"),
    "array read far below": ("def f(a, i):\n    return a[i]\n", "np.arange(5.0), -6"),
    "array write": ("def f(a, i):\n    a[0] = 9.0\n    a[i] = 1.0\n", "np.arange(5.0), 7"),
    "second axis": ("def f(a, i):\n    a[0, 0] = 9.0\n    return a[1, i]\n", "np.ones((3, 4)), 4"),
    "first axis in a loop": (
        """
        def f(a, n):
            for i in range(n):
                for j in range(3):
                    a[i, j] = a[i, j] + i
        """,
        "np.ones((3, 3)), 5",
    ),
    "neighbour at the border": (
        """
        def f(a, out):
            for i in range(len(a)):
                out[i] = a[i] + a[i + 1]
        """,
        "np.arange(6.0), np.zeros(6)",
    ),
    "behind a running write": (
        """
        def f(a, b):
            total = 0.0
            for i in range(len(b)):
                a[i] = total
                total += b[i]
            return total
        """,
        "np.zeros(3), np.ones(5)",
    ),
    "place from an array": (
        """
        def f(a, where):
            for i in range(len(where)):
                a[where[i]] += 1.0
        """,
        "np.zeros(4), np.array([0, 3, 1, 4, 2])",
    ),
    "list read": ("def f(xs, i):\n    xs[0] = 3.0\n    return xs[i]\n", "[1.0, 2.0], 2"),
    "list write": ("def f(xs, i):\n    xs[0] = 3.0\n    xs[i] = 4.0\n", "[1.0, 2.0], 2"),
    "list of lists": ("def f(xs, i):\n    xs[0][0] = 3.0\n    return xs[1][i]\n", "[[1.0], [2.0, 3.0]], 2"),
    "list that grows": (
        """
        def f(n, a):
            xs = []
            for i in range(n):
                xs.append(i * i)
                a[i] = xs[i]
            return xs[n]
        """,
        "4, np.zeros(4)",
    ),
    "pop of an empty list": (
        """
        def f(a, n):
            xs = [1, 2]
            for i in range(n):
                a[i] = xs.pop()
        """,
        "np.zeros(5), 4",
    ),
    "pop at a place": (
        "def f(a, k):\n    xs = [1, 2, 3]\n    xs.append(4)\n    a[0] = 1.0\n    return xs.pop(k)\n",
        "np.zeros(2), 9",
    ),
    "tuple": ("def f(a, i):\n    t = (1.0, 2.0, 3.0)\n    a[0] = 5.0\n    return t[i]\n", "np.zeros(2), 3"),
    "argument that gets items": ("def f(xs, n):\n    xs.append(7)\n    return xs[n]\n", "[1, 2], 5"),
    "heap": (
        """
        import heapq
        def f(a, n):
            heap = [3, 1]
            heapq.heapify(heap)
            for i in range(n):
                a[i] = heapq.heappop(heap)
        """,
        "np.zeros(4), 3",
    ),
    "deque": (
        """
        from collections import deque
        def f(a, n):
            d = deque()
            d.append(4)
            for i in range(n):
                a[i] = d.popleft()
        """,
        "np.zeros(4), 2",
    ),
    "shrinking list": (
        """
        def f(a):
            xs = [5, 6, 7]
            for i in range(3):
                a[i] = xs[i]
                xs.pop()
        """,
        "np.zeros(3)",
    ),
    "del": ("def f(a, i):\n    xs = [1, 2, 3]\n    a[0] = 1\n    del xs[i]\n    return xs\n", "np.zeros(1), 3"),
    "in an inlined function": (
        """
        def pick(a, i):
            return a[i]
        def f(a, i):
            a[0] = 2.0
            return pick(a, i) + 1.0
        """,
        "np.ones(3), 8",
    ),
    "in a comprehension": ("def f(a, n):\n    a[0] = 3.0\n    return [a[i] for i in range(n)]\n", "np.ones(3), 5"),
    "in a recursive function": (
        """
        def dig(a, i):
            a[i] = i
            return dig(a, i + 1)
        def f(a):
            return dig(a, 0)
        """,
        "np.zeros(5)",
    ),
    "in one of two branches": (
        """
        def f(a, i, up):
            if up:
                a[i] = 1.0
            else:
                a[i - 9] = 2.0
        """,
        "np.zeros(5), 3, False",
    ),
    "negative step": ("def f(a, i):\n    b = a[::-1]\n    b[0] = 5.0\n    b[i] = 1.0\n", "np.arange(4.0), 4"),
    "while": (
        """
        def f(a):
            i = 0
            while a[i] >= 0:
                a[i] = i
                i += 1
            return i
        """,
        "np.zeros(4)",
    ),
    "two statements on the way": (
        """
        def f(a, b, n):
            for i in range(n):
                a[i] = i
                b[i] = -i
        """,
        "np.zeros(6), np.zeros(3), 6",
    ),
    "string": ("def f(s, a, i):\n    a[0] = 1.0\n    return ord(s[i])\n", "'abc', np.zeros(1), 3"),
}

KEY = {
    "missing int": ("def f(a, k):\n    d = {1: 2, 3: 4}\n    a[0] = 1\n    return d[k]\n", "np.zeros(1), 2"),
    "missing float": ("def f(a, k):\n    d = {1.5: 2, 3.0: 4}\n    a[0] = 1\n    return d[k]\n", "np.zeros(1), 2.25"),
    "missing tuple": (
        "def f(a, k):\n    d = {(1, 2): 2, (3, 4): 4}\n    a[0] = 1\n    return d[k, 4]\n",
        "np.zeros(1), 1",
    ),
    "argument": ("def f(d, a, k):\n    a[0] = d[1]\n    a[1] = d[k]\n", "{1: 2.0}, np.zeros(2), 5"),
    "argument that gets entries": ("def f(d, k):\n    d[7] = 8\n    return d[k]\n", "{1: 2}, 5"),
    "update of nothing": ("def f(d, n):\n    for i in range(n):\n        d[i] += 1\n", "{0: 2, 1: 3}, 4"),
    "del": ("def f(a, k):\n    d = {1: 2}\n    a[0] = 3\n    del d[k]\n    return len(d)\n", "np.zeros(1), 4"),
    "pop": ("def f(a, k):\n    d = {1: 2}\n    a[0] = 3\n    return d.pop(k)\n", "np.zeros(1), 4"),
    "set remove": (
        "def f(a, k):\n    s = {1, 2}\n    a[0] = 3\n    s.remove(k)\n    return len(s)\n",
        "np.zeros(1), 4",
    ),
    "set pop": ("def f(a, n):\n    s = {1}\n    for i in range(n):\n        a[i] = s.pop()\n", "np.zeros(3), 3"),
    "popitem": (
        "def f(a, n):\n    d = {1: 2}\n    for i in range(n):\n        a[i] = d.popitem()[0]\n",
        "np.zeros(3), 3",
    ),
    "in an inlined function": (
        """
        def look(d, k):
            return d[k]
        def f(a, k):
            d = {1: 5}
            a[0] = 1.0
            return look(d, k)
        """,
        "np.zeros(1), 9",
    ),
    "string": ("def f(d, a, k):\n    a[0] = d['x']\n    a[1] = d[k]\n", "{'x': 1.0}, np.zeros(2), 'why'"),
}

VALUE = {
    "raise": (
        "def f(a, n):\n    a[0] = 1.0\n    if n > 3:\n        raise ValueError('too many')\n    return n\n",
        "np.zeros(2), 5",
    ),
    "raise with a number": (
        "def f(a, n):\n    a[0] = 1.0\n    if n > 3:\n        raise ValueError(n)\n    return n\n",
        "np.zeros(2), 5",
    ),
    "raise formatted": (
        "def f(a, n):\n    a[0] = 1.0\n    if n > 3:\n        raise ValueError(f'{n} is too many')\n    return n\n",
        "np.zeros(2), 5",
    ),
    "raise in a loop": (
        """
        def f(a):
            for i in range(len(a)):
                if a[i] < 0:
                    raise ValueError('negative')
                a[i] = a[i] ** 0.5
        """,
        "np.array([4.0, 9.0, -1.0, 16.0])",
    ),
    "raise in an inlined function": (
        """
        def root(x):
            if x < 0:
                raise ValueError('negative')
            return x ** 0.5
        def f(a):
            for i in range(len(a)):
                a[i] = root(a[i])
        """,
        "np.array([4.0, 9.0, -1.0, 16.0])",
    ),
    "math domain": ("import math\ndef f(a, x):\n    a[0] = 1.0\n    return math.sqrt(x)\n", "np.zeros(1), -1.0"),
    "math log of zero": ("import math\ndef f(a, x):\n    a[0] = 1.0\n    return math.log(x)\n", "np.zeros(1), 0.0"),
    "index of nothing": (
        "def f(a, k):\n    xs = [1, 2, 3]\n    a[0] = 1.0\n    return xs.index(k)\n",
        "np.zeros(1), 9",
    ),
    "remove of nothing": (
        "def f(a, k):\n    xs = [1, 2, 3]\n    a[0] = 1.0\n    xs.remove(k)\n    return xs\n",
        "np.zeros(1), 9",
    ),
    "max of nothing": (
        "def f(a, n):\n    a[0] = 1.0\n    return max([x for x in range(n) if x > 5])\n",
        "np.zeros(1), 3",
    ),
    "numpy max of nothing": ("def f(a, b):\n    a[0] = 1.0\n    return np.max(b)\n", "np.zeros(1), np.zeros(0)"),
    "shapes": ("def f(a, b):\n    a[0] = 1.0\n    return a + b\n", "np.zeros(4), np.zeros(3)"),
    "shapes of a store": ("def f(a, b):\n    a[0] = 1.0\n    a[:] = b\n", "np.zeros(4), np.zeros(3)"),
    "shapes of a product": ("def f(a, b):\n    a[0] = 1.0\n    return a @ b\n", "np.zeros((4, 2)), np.zeros((3, 4))"),
    "reshape": ("def f(a, n):\n    a[0] = 1.0\n    return a.reshape(n, 3)\n", "np.zeros(8), 2"),
    "range step": ("def f(a, s):\n    a[0] = 1.0\n    for i in range(0, 5, s):\n        a[i] = i\n", "np.zeros(6), 0"),
    "negative shift": ("def f(a, s):\n    a[0] = 1.0\n    return 3 << s\n", "np.zeros(1), -1"),
    "unpacking": ("def f(a, xs):\n    a[0] = 1.0\n    x, y = xs\n    return x + y\n", "np.zeros(1), [1.0, 2.0, 3.0]"),
    "unpacking too few": ("def f(a, xs):\n    a[0] = 1.0\n    x, y = xs\n    return x + y\n", "np.zeros(1), [1.0]"),
    "int of nan": ("def f(a, x):\n    a[0] = 1.0\n    return int(x)\n", "np.zeros(1), float('nan')"),
    "int of text": ("def f(a, s):\n    a[0] = 1.0\n    return int(s)\n", "np.zeros(1), 'seven'"),
    "chr": ("def f(a, x):\n    a[0] = 1.0\n    return len(chr(x))\n", "np.zeros(1), -1"),
}

OTHERS = {
    "division": ("def f(a, n):\n    a[0] = 1.0\n    return 5 / n\n", "np.zeros(1), 0"),
    "float division": ("def f(a, x):\n    a[0] = 1.0\n    return 5.0 / x\n", "np.zeros(1), 0.0"),
    "floor division": ("def f(a, n):\n    a[0] = 1.0\n    return 5 // n\n", "np.zeros(1), 0"),
    "float floor division": ("def f(a, x):\n    a[0] = 1.0\n    return 5.5 // x\n", "np.zeros(1), 0.0"),
    "modulo": ("def f(a, n):\n    a[0] = 1.0\n    return 5 % n\n", "np.zeros(1), 0"),
    "float modulo": ("def f(a, x):\n    a[0] = 1.0\n    return 5.5 % x\n", "np.zeros(1), 0.0"),
    "divmod": ("def f(a, n):\n    a[0] = 1.0\n    return divmod(7, n)\n", "np.zeros(1), 0"),
    "power": ("def f(a, x, n):\n    a[0] = 1.0\n    return x ** n\n", "np.zeros(1), 0.0, -1"),
    "modular power": ("def f(a, n):\n    a[0] = 1.0\n    return pow(3, 5, n)\n", "np.zeros(1), 0"),
    "division in a loop": (
        """
        def f(a, xs):
            total = 0
            for i in range(len(xs)):
                total += 100 // xs[i]
                a[i] = total
        """,
        "np.zeros(4), [5, 4, 0, 2]",
    ),
    "division in a recursive function": (
        """
        def down(a, n):
            a[n] = 10 // n
            return down(a, n - 1)
        def f(a):
            return down(a, 3)
        """,
        "np.zeros(5)",
    ),
    "overflow of math": ("import math\ndef f(a, x):\n    a[0] = 1.0\n    return math.exp(x)\n", "np.zeros(1), 1000.0"),
    "overflow of a power": ("def f(a, x):\n    a[0] = 1.0\n    return x ** 400.0\n", "np.zeros(1), 1e10"),
    "int of infinity": ("def f(a, x):\n    a[0] = 1.0\n    return int(x)\n", "np.zeros(1), float('inf')"),
    "assert": ("def f(a, n):\n    a[0] = 1.0\n    assert n > 0\n    return n\n", "np.zeros(1), 0"),
    "assert with text": (
        "def f(a, n):\n    a[0] = 1.0\n    assert n > 0, 'none left'\n    return n\n",
        "np.zeros(1), 0",
    ),
    "unbound variable": (
        "def f(a, n):\n    a[0] = 1.0\n    for i in range(n):\n        x = i\n    return x\n",
        "np.zeros(1), 0",
    ),
    "unbound in a branch": (
        "def f(a, n):\n    a[0] = 1.0\n    if n > 3:\n        x = 2.0\n    return x\n",
        "np.zeros(1), 0",
    ),
    "unbound loop variable": (
        "def f(a, n):\n    a[0] = 1.0\n    for i in range(n):\n        a[0] += i\n    return i\n",
        "np.zeros(1), 0",
    ),
    "deleted": ("def f(a):\n    a[0] = 1.0\n    x = a[0]\n    del x\n    return x\n", "np.zeros(1)"),
    "unknown name": ("def f(a):\n    a[0] = 1.0\n    return a[0] + nothing_of_this_name\n", "np.zeros(1)"),
    "unknown attribute": ("def f(a):\n    a[0] = 1.0\n    return a.sumup()\n", "np.zeros(1)"),
    "unknown attribute of a module": ("def f(a):\n    a[0] = 1.0\n    return np.sumup(a)\n", "np.zeros(1)"),
    "attribute of an object": (
        """
        class Point:
            def __init__(self, x):
                self.x = x
        def f(a):
            p = Point(2.0)
            a[0] = p.x
            return p.y
        """,
        "np.zeros(1)",
    ),
    "attribute of None": ("def f(a, p):\n    a[0] = 1.0\n    return p.x\n", "np.zeros(1), None"),
    "call with too few": (
        "def g(x, y):\n    return x + y\ndef f(a):\n    a[0] = 1.0\n    return g(a[0])\n",
        "np.zeros(1)",
    ),
    "call with too many": (
        "def g(x):\n    return x\ndef f(a):\n    a[0] = 1.0\n    return g(a[0], 2)\n",
        "np.zeros(1)",
    ),
    "call of a number": ("def f(a, n):\n    a[0] = 1.0\n    return n(a)\n", "np.zeros(1), 3"),
    "add of None": ("def f(a, p):\n    a[0] = 1.0\n    return p + 1\n", "np.zeros(1), None"),
    "float as index": ("def f(xs, x):\n    xs[0] = 2.0\n    return xs[x]\n", "[1.0, 2.0], 1.0"),
    "float as range": ("def f(a, x):\n    a[0] = 1.0\n    for i in range(x):\n        a[0] += i\n", "np.zeros(1), 2.0"),
    "length of a number": ("def f(a, n):\n    a[0] = 1.0\n    return len(n)\n", "np.zeros(1), 3"),
    "iteration over a number": ("def f(a, n):\n    a[0] = 1.0\n    for x in n:\n        a[0] += x\n", "np.zeros(1), 3"),
    "write to a tuple": ("def f(a, t):\n    a[0] = 1.0\n    t[0] = 2.0\n", "np.zeros(1), (1.0, 2.0)"),
    "comparison of complex": ("def f(a, z):\n    a[0] = 1.0\n    return z < 2.0\n", "np.zeros(1), 1j"),
    "shift of a float": ("def f(a, x):\n    a[0] = 1.0\n    return x << 2\n", "np.zeros(1), 1.0"),
    "next of nothing": (
        "def f(a, xs):\n    a[0] = 1.0\n    return next(x for x in xs if x > 9)\n",
        "np.zeros(1), [1, 2]",
    ),
    "next of an iterator": (
        "def f(a, xs):\n    a[0] = 1.0\n    run = iter(xs)\n    return next(run) + next(run)\n",
        "np.zeros(1), [1]",
    ),
    "frozen dataclass": (
        """
        from dataclasses import dataclass
        @dataclass(frozen=True)
        class Point:
            x: float
        def f(a):
            p = Point(2.0)
            a[0] = p.x
            p.x = 3.0
        """,
        "np.zeros(1)",
    ),
    "read-only array": (
        "def f(a, b):\n    a[0] = 1.0\n    b[0] = 2.0\n",
        "np.zeros(1), np.frombuffer(bytes(24))",
    ),
    "singular matrix": ("def f(a, m):\n    a[0] = 1.0\n    return np.linalg.inv(m)\n", "np.zeros(1), np.zeros((2, 2))"),
    "numpy integers that overflow": ("def f(a, n):\n    a[0] = n\n", "np.zeros(1, dtype=np.int8), 300"),
}

MUTATION = {
    "dict gets an entry": ("def f(d):\n    for k in d:\n        d[k + 10] = 1\n", "{1: 2, 3: 4}"),
    "dict loses an entry": ("def f(d):\n    for k in d:\n        del d[k]\n", "{1: 2, 3: 4}"),
    "dict of its own": (
        """
        def f(a):
            d = {1: 2, 3: 4}
            for k in d:
                a[0] += k
                d[k + 10] = 1
            return len(d)
        """,
        "np.zeros(1)",
    ),
    "items": ("def f(d):\n    for k, v in d.items():\n        d[k + v] = 1\n", "{1: 20, 3: 40}"),
    "set gets an item": ("def f(s):\n    for k in s:\n        s.add(k + 10)\n", "{1, 3}"),
    "set of its own": (
        """
        def f(a):
            s = {1, 3}
            for k in s:
                a[0] += k
                s.add(k + 10)
            return len(s)
        """,
        "np.zeros(1)",
    ),
    "deque": (
        """
        from collections import deque
        def f(a):
            d = deque([1, 2, 3])
            for k in d:
                a[0] += k
                d.append(k)
            return len(d)
        """,
        "np.zeros(1)",
    ),
    "list that grows meanwhile": (
        "def f(xs):\n    for x in xs:\n        if x < 4:\n            xs.append(x + 1)\n    return len(xs)\n",
        "[1, 2, 3]",
    ),
    "list that shrinks meanwhile": (
        "def f(xs):\n    for x in xs:\n        xs.pop()\n    return len(xs)\n",
        "[1, 2, 3, 4, 5]",
    ),
    "entry changed in place": ("def f(d):\n    for k in d:\n        d[k] = 1\n    return len(d)\n", "{1: 2, 3: 4}"),
}

RECURSION = {
    "without end": ("def f(n):\n    return f(n + 1) + 1\n", "0"),
    "without end, with effects": (
        "def dig(a, n):\n    a[0] = 1.0\n    return dig(a, n + 1) + 1\ndef f(a):\n    return dig(a, 0)\n",
        "np.zeros(1)",
    ),
    "two that call each other": (
        """
        def even(n):
            return odd(n + 1)
        def odd(n):
            return even(n + 1)
        def f(n):
            return even(n)
        """,
        "0",
    ),
}

TABLES = {"index": INDEX, "key": KEY, "value": VALUE, "others": OTHERS, "mutation": MUTATION, "recursion": RECURSION}
PROGRAMS = {f"{kind}: {name}": program for kind, table in TABLES.items() for name, program in table.items()}


# What cannot be right for these types, and what has no native form: Python itself then says what is wrong.
LEFT_TO_PYTHON = {
    "index: tuple",
    "index: string",
    "key: missing float",
    "key: string",
    "key: set pop",
    "key: popitem",
    "value: index of nothing",
    "value: range step",
    "value: int of text",
    "value: chr",
    "value: raise with a number",
    *(
        f"others: {name}"
        for name in OTHERS
        if name.startswith(("unknown", "call", "attribute", "unbound in", "deleted"))
    ),
    "others: add of None",
    "others: float as index",
    "others: float as range",
    "others: length of a number",
    "others: iteration over a number",
    "others: write to a tuple",
    "others: comparison of complex",
    "others: shift of a float",
    "others: next of an iterator",
    "others: frozen dataclass",
    "mutation: dict of its own",
    "mutation: set gets an item",
    "mutation: set of its own",
    "mutation: deque",
}


def _arguments(text: str) -> tuple[Any, ...]:
    found: tuple[Any, ...] = eval(f"({text},)", dict(NAMES))
    return found


def _place(error: BaseException, file: str) -> tuple[int, str]:
    """The last line of the program in a traceback, and the function that it is in; frames of weft must not follow."""
    frames = traceback.extract_tb(error.__traceback__)
    last = max(i for i, frame in enumerate(frames) if frame.filename == file)
    after = [frame.filename for frame in frames[last + 1 :] if os.sep + "weft" + os.sep in frame.filename]
    assert not after, frames
    return frames[last].lineno or 0, frames[last].name


def ends_alike(name: str, native: bool, backend: str = "auto") -> None:
    source, arguments = PROGRAMS[name]
    function = function_from_source(textwrap.dedent(source), namespace={"__name__": __name__})
    expected = outcome(function, _arguments(arguments))
    compiled = weft.jit(fallback="error" if native else "silent", backend=backend)(function)
    for call in range(2):
        actual = outcome(compiled, _arguments(arguments))
        if isinstance(actual.error, weft.WeftError):
            raise actual.error
        why = compare(actual, expected)
        assert why is None, f"call {call + 1}: {why}"
        if expected.error is not None:
            assert actual.error is not None
            assert actual.error.args == expected.error.args
            file = function.__code__.co_filename
            place, true_place = _place(actual.error, file), _place(expected.error, file)
            # Which of several functions reaches the end of the stack is a matter of its size.
            assert place[0] == true_place[0] or isinstance(expected.error, RecursionError)


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_program_ends_as_in_python(name: str) -> None:
    ends_alike(name, native=name not in LEFT_TO_PYTHON)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in LEFT_TO_PYTHON])
def test_program_ends_as_in_python_without_a_compiler(name: str) -> None:
    ends_alike(name, native=False, backend="python")


def test_every_name_of_what_is_left_to_python_is_a_program() -> None:
    assert set(PROGRAMS) >= LEFT_TO_PYTHON


def test_an_exception_in_an_inlined_function_of_another_file() -> None:
    helper = "\n\n\ndef root(x):\n    if x < 0:\n        raise ValueError('negative')\n    return x ** 0.5\n"
    root = function_from_source(helper, "root")
    source = "def f(a):\n    for i in range(len(a)):\n        a[i] = root(a[i])\n"
    function = function_from_source(source, namespace={"root": root})
    compiled = weft.jit(fallback="error")(function)
    for call in range(3):
        done = outcome(compiled, (np.array([4.0, 9.0, -1.0, 16.0]),))
        assert isinstance(done.error, ValueError) and str(done.error) == "negative"
        assert done.arguments[0].tolist() == [2.0, 3.0, -1.0, 16.0]
        last = traceback.extract_tb(done.error.__traceback__)[-1]
        assert (last.filename, last.lineno, last.name) == (root.__code__.co_filename, 6, "root")
    assert compiled.stats["python_calls"] == 0


def test_nothing_of_weft_is_shown_behind_the_line_of_the_call() -> None:
    function = function_from_source("def f(a, n):\n    for i in range(n):\n        a[i] = 10 // (3 - i)\n")
    compiled = weft.jit(fallback="error")(function)
    assert outcome(compiled, (np.zeros(5), 3)).error is None
    for _ in range(2):  # the first one makes a version for such values
        done = outcome(compiled, (np.zeros(5), 5))
    assert isinstance(done.error, ZeroDivisionError)
    frames = traceback.extract_tb(done.error.__traceback__)
    assert [(frame.filename, frame.lineno) for frame in frames[1:]] == [(function.__code__.co_filename, 3)]
    assert done.arguments[0].tolist() == [3.0, 5.0, 10.0, 0.0, 0.0]
