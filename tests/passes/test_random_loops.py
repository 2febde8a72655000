"""Random loop nests through all passes before the schedule: the interpreter must not see a difference."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from weft.passes import checks, forward, hoist, raise_loops, simplify

PASSES = (simplify.run, checks.run, raise_loops.run, simplify.run, forward.run, hoist.run, simplify.run)
HEAD = """
program f(a, b, c, d, k, x):
  size n = a.shape[0]
  param a: f64[n] C
  param b: f64[n, n] C
  param c: f64[n, n] C
  param d: i64[n] C
  param k: i64[n] C
  param x: f64
  local s: f64
  local t: f64
  local u: f64
  local m: i64
  local w: f64[n]
  output #0 = tuple(scalar s, scalar t, scalar m)
  guard 3 <= n else ValueError "n"

  s = 0.5_f64
  t = 1.5_f64
  u = 2.5_f64
  m = 3_i64
  alloc w
  w[q0] = a[q0] * 2.0_f64   for q0: 0 <= q0 < n
"""


class Writer:
    """Writes a program: every loop variable lies between 1 and n - 2, so that neighbours are in bounds."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        self.lines: list[str] = []

    def name(self) -> str:
        self.count += 1
        return f"i{self.count}"

    def line(self, depth: int, text: str) -> None:
        self.lines.append("  " * depth + text)

    def place(self, variables: list[str]) -> str:
        if variables and self.random.random() < 0.85:
            shift = self.random.choice(["", "", "", "", " - 1", " + 1"])
            return self.random.choice(variables) + shift
        return self.random.choice(["0", "1", "n - 1"])

    def leaf(self, variables: list[str]) -> str:
        kind = self.random.choice(["a", "w", "b", "c", "s", "t", "u", "x", "literal", "indirect"])
        if kind in "aw":
            return f"{kind}[{self.place(variables)}]"
        if kind in "bc":
            return f"{kind}[{self.place(variables)}, {self.place(variables)}]"
        if kind == "indirect":
            return f"a[int(k[{self.place(variables)}])]"
        return self.random.choice(["0.0_f64", "1.0_f64", "2.0_f64"]) if kind == "literal" else kind

    def value(self, variables: list[str], depth: int = 2) -> str:
        chance = self.random.random()
        if depth == 0 or chance < 0.35:
            return self.leaf(variables)
        left, right = self.value(variables, depth - 1), self.value(variables, depth - 1)
        if chance < 0.5:
            return f"select({self.condition(variables)}, {left}, {right})"
        if chance < 0.55:
            return f"exp(-abs({self.leaf(variables)}))"
        if chance < 0.62:
            inner = self.name()
            return f"(sum[{inner}: 1 <= {inner} < n - 1] {self.value([*variables, inner], depth - 1)})"
        return f"({left} {self.random.choice('+-*')} {right})"

    def condition(self, variables: list[str]) -> str:
        if variables and self.random.random() < 0.5:
            other = self.random.choice([*variables, "1", "2", "n - 2"])
            return f"{self.random.choice(variables)} {self.random.choice(['<', '<=', '>', '>=', '==', '!='])} {other}"
        return f"{self.leaf(variables)} < {self.leaf(variables)}"

    def bounds(self, variables: list[str]) -> tuple[str, str]:
        choices = [("1", "n - 1"), ("1", "n - 1")]
        if variables:
            choices += [(variables[-1], "n - 1"), ("1", variables[-1])]
        return self.random.choice(choices)

    def statement(self, depth: int, variables: list[str]) -> None:
        scalar, array = self.random.choice("stu"), self.random.choice("bc")
        kind = self.random.choice(
            "set set add least count scatter slice check vector vector work matrix matrix".split()
        )
        if kind == "set":
            self.line(depth, f"{scalar} = {self.value(variables)}")
        elif kind == "add":
            self.line(depth, f"{scalar} = {scalar} {self.random.choice('+-')} {self.value(variables, 1)}")
        elif kind == "least":
            entry = f"d[{self.place(variables)}]"
            self.line(depth, f"m = select({entry} < m, {entry}, m)")
        elif kind == "count":
            self.line(depth, f"m = m + d[{self.place(variables)}]")
        elif kind == "scatter":
            target = f"a[int(k[{self.place(variables)}])]"
            self.line(depth, f"{target} = {target} + {self.value(variables, 1)}")
        elif kind == "slice":
            inner, (low, high) = self.name(), self.bounds(variables)
            value = self.value([*variables, inner])
            self.line(
                depth, f"{array}[{self.place(variables)}, {inner}] = {value}   for {inner}: {low} <= {inner} < {high}"
            )
        elif kind == "check":
            limit = self.random.choice(["50.0_f64", "2.0_f64"])
            self.line(depth, f'check {self.leaf(variables)} < {limit} else ValueError "v"')
        elif kind in ("vector", "work"):
            self.line(depth, f"{'a' if kind == 'vector' else 'w'}[{self.place(variables)}] = {self.value(variables)}")
        else:
            target = f"{array}[{self.place(variables)}, {self.place(variables)}]"
            old = self.random.choice([target + " + ", ""])
            self.line(depth, f"{target} = {old}{self.value(variables)}")

    def block(self, depth: int, variables: list[str]) -> None:
        for _ in range(self.random.randint(1, 3)):
            chance = self.random.random()
            if len(variables) < 3 and depth < 4 and chance < 0.45:
                inner = self.name()
                low, high = self.bounds(variables)
                ranges = [f"{low} .. {high}"] * 6 + ["n - 2 .. 0 step -1", "1 .. n - 1 step 2"]
                self.line(depth, f"for {inner} in {self.random.choice(ranges)}:")
                self.block(depth + 1, [*variables, inner])
            elif depth < 5 and chance < 0.6:
                self.line(depth, f"if {self.condition(variables)}:")
                self.block(depth + 1, variables)
                if self.random.random() < 0.5:
                    self.line(depth, "else:")
                    self.block(depth + 1, variables)
                if variables and self.random.random() < 0.06:
                    self.line(depth, f"if {self.condition(variables)}:")
                    self.line(depth + 1, self.random.choice(["break", "continue", "return #0"]))
            else:
                self.statement(depth, variables)

    def program(self) -> str:
        self.block(1, [])
        self.line(1, "return #0")
        return HEAD + "\n".join(self.lines) + "\n"


def arguments(seed: int, n: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "a": rng.integers(-2, 3, n).astype(float),
        "b": rng.integers(-2, 3, (n, n)).astype(float),
        "c": rng.standard_normal((n, n)),
        "d": rng.integers(-3, 4, n),
        "k": rng.integers(0, n, n),
        "x": np.float64(1.5),
    }


@pytest.mark.parametrize("seed", range(40))
def test_random_loops(preserved, seed: int) -> None:
    preserved(Writer(seed).program(), *PASSES, calls=[arguments(seed, 5), arguments(seed, 3)], exact=False)


@pytest.mark.parametrize("seed", range(1000, 1020))
def test_random_loops_keep_every_bit_when_strict(preserved, seed: int) -> None:
    preserved(Writer(seed).program(), *PASSES, calls=[arguments(seed, 5)], fp="strict")
