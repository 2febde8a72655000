"""Random programs of nested try, loops over ranges and generators, branches, and everything that leaves them: native
code gives CPython's result, exception and effects.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

import weft
from tests.support import compare, function_from_source, outcome

CLASSES = (
    "ZeroDivisionError",
    "ValueError",
    "IndexError",
    "(KeyError, ValueError)",
    "Exception",
    "ArithmeticError",
    "LookupError",
)
HEAD = """import math
def steps(n):
    k = 0
    while k < n:
        if k == 2:
            k += 1
            continue
        yield k
        k += 1
def helper(a, b):
    try:
        if a > 5:
            return a - b
        c = a // (b % 4)
    except ZeroDivisionError:
        return -1
    else:
        c += 1
    finally:
        a = 3
    return c
def f(x, y, t):
"""
EXPRESSIONS = ("x", "y", "x + 1", "y - x", "3", "x * y % 7", "t[0]", "len(t)", "y // 2")


class Writer:
    """Writes one program; the same seed gives the same text."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def expression(self) -> str:
        return self.random.choice(EXPRESSIONS)

    def simple(self) -> str:
        self.count += 1
        number = self.random.randrange(20)
        return self.random.choice(
            [
                f"t[{number % 6}] += {self.expression()}",
                f"x = {self.expression()}",
                f"y = {self.expression()}",
                f"x = {number} // (y % 3)",
                "x = t[y % 8]",
                f"t[(x + y) % 9] = {self.count}",
                "x = int(math.sqrt((y % 5) - 1))",
                "x = helper(x, y)",
            ]
        )

    def block(self, depth: int, looping: bool, indent: str) -> list[str]:
        count = self.random.randint(1, 3)
        return [line for _ in range(count) for line in self.statement(depth, looping, indent)]

    def statement(self, depth: int, looping: bool, indent: str) -> list[str]:
        kind = self.random.random()
        if depth <= 0 or kind < 0.35:
            return [indent + self.simple()]
        if kind < 0.45:
            ways = ["raise ValueError('m')", "raise IndexError('i')", "raise ValueError(f'v {x}')", "return x"]
            ways += ["break", "continue"] * 2 if looping else []
            return [f"{indent}if {self.expression()} % 4 == 1:", f"{indent}    {self.random.choice(ways)}"]
        if kind < 0.55:
            lines = [f"{indent}if {self.expression()} % 3 == 1:", *self.block(depth - 1, looping, indent + "    ")]
            return [*lines, f"{indent}else:", *self.block(depth - 1, looping, indent + "    ")]
        if kind < 0.68:
            return self.loop(depth, indent)
        return self.attempt(depth, looping, indent)

    def loop(self, depth: int, indent: str) -> list[str]:
        self.count += 1
        run = self.random.choice(["range(3)", "steps(4)", "range(y % 4)", "(1, 5, 2)"])
        return [f"{indent}for i{self.count} in {run}:", *self.block(depth - 1, True, indent + "    ")]

    def attempt(self, depth: int, looping: bool, indent: str) -> list[str]:
        inner = indent + "    "
        lines = [f"{indent}try:", *self.block(depth - 1, looping, inner)]
        handlers = self.random.randint(0, 2)
        for _ in range(handlers):
            lines += [f"{indent}except {self.random.choice(CLASSES)}:", *self.block(depth - 1, looping, inner)]
            lines += [f"{inner}raise"] if self.random.random() < 0.25 else []
        if handlers and self.random.random() < 0.4:
            lines += [f"{indent}else:", *self.block(depth - 1, looping, inner)]
        if not handlers or self.random.random() < 0.35:
            lines += [f"{indent}finally:", inner + self.simple()]
        return lines


def program(seed: int) -> Callable[..., Any]:
    lines = Writer(seed).block(3, False, "    ")
    return function_from_source(HEAD + "\n".join(lines) + "\n    return x + 10 * y\n")


SEEDS = range(int(os.environ.get("WEFT_FUZZ", "0")) or 24)


@pytest.mark.parametrize("first", range(0, len(SEEDS), 8))
def test_everything_that_leaves_a_block(first: int) -> None:
    native = 0
    for seed in SEEDS[first : first + 8]:
        function = program(seed)
        compiled = weft.jit(fallback="error")(function)
        for x, y in ((1, 2), (0, 0), (5, 3), (2, 7)):
            arguments = (x, y, [1, 2, 3, 4, 5, 6])
            actual = outcome(compiled, deepcopy(arguments))
            if isinstance(actual.error, weft.Unsupported):
                break
            why = compare(actual, outcome(function, deepcopy(arguments)))
            assert why is None, f"seed {seed}, {arguments}: {why}"
        else:
            native += 1
    assert native >= 6
