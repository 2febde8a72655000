"""Random programs over variables that are None or a number: branches, loops, exceptions; the same as in CPython."""

from __future__ import annotations

import os
import random

import pytest

import weft
from tests.support import function_from_source

NAMES = ("a", "b", "c")
#: Programs a run: some by default, as many new ones as asked for otherwise.
COUNT = int(os.environ.get("WEFT_FUZZ", "10"))
FIRST = 0 if "WEFT_FUZZ" not in os.environ else random.randrange(10**6)


def _value(draw: random.Random) -> str:
    name = draw.choice(NAMES)
    number = str(draw.randint(0, 5))
    choice = f"({name} + 1 if {name} is not None else {draw.choice(['None', '2'])})"
    return draw.choice([name, name, "None", number, f"n + {number}", choice])


def _test(draw: random.Random) -> str:
    one, other, number = draw.choice(NAMES), draw.choice(NAMES), draw.randint(0, 5)
    return draw.choice([
        f"{one} is None", f"{one} is not None", one, f"not {one}", f"{one} is not None and {one} > {number}",
        f"{one} is None or {one} < {number}", f"{one} is not None and {other} is not None and {one} < {other}",
        f"total > {number}", f"{one} == {number}", f"n % 2 == {number % 2}", f"({one} is None) == ({other} is None)",
    ])  # fmt: skip


def _use(draw: random.Random) -> str:
    name = draw.choice(NAMES)
    ways = ["1", f"{name} or 7", f"{name} if {name} is not None else 3", f"({name} is None) * 2 + 1"]
    return f"total += {draw.choice([*ways, name] if draw.random() < 0.3 else ways)}"


def _block(draw: random.Random, indent: int, depth: int, in_loop: bool) -> list[str]:
    lines: list[str] = []
    pad = "    " * indent
    for _ in range(draw.randint(1, 3)):
        kind = draw.random()
        inner = indent + 1, depth - 1
        if kind < 0.3:
            lines.append(f"{pad}{draw.choice(NAMES)} = {_value(draw)}")
        elif kind < 0.38:
            one, other = draw.sample(NAMES, 2)
            lines.append(f"{pad}{one}, {other} = {other}, {_value(draw)}")
        elif kind < 0.55 or (kind < 0.93 and not depth):
            lines.append(pad + _use(draw))
        elif kind < 0.75:
            lines += [f"{pad}if {_test(draw)}:", *_block(draw, *inner, in_loop)]
            if draw.random() < 0.6:
                lines += [f"{pad}else:", *_block(draw, *inner, in_loop)]
        elif kind < 0.88:
            lines += [f"{pad}for i{indent} in range(n % {draw.randint(2, 4)} + 1):", *_block(draw, *inner, True)]
        elif kind < 0.93:
            lines += [f"{pad}try:", *_block(draw, *inner, in_loop), f"{pad}    if {_test(draw)}:"]
            lines += [f"{pad}        raise ValueError('left')", f"{pad}except ValueError:"]
            lines += _block(draw, *inner, in_loop)
        elif in_loop:
            lines += [f"{pad}if {_test(draw)}:", f"{pad}    {draw.choice(['break', 'continue'])}"]
        else:
            lines.append(pad + _use(draw))
    return lines


def _outcome(function, n):
    try:
        return repr(function(n))
    except TypeError as problem:
        return str(problem)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_as_cpython(seed):
    draw = random.Random(seed)
    first = [f"    {name} = {draw.choice(['None', '2', 'n'])}" for name in NAMES]
    body = [*first, *_block(draw, 1, 3, False), "    return a, b, c, total", ""]
    source = "\n".join(["def f(n):", "    total = 0", *body])
    plain = function_from_source(source)
    native = weft.jit(plain, fallback="silent")
    for n in range(7):
        assert _outcome(native, n) == _outcome(plain, n), source
