"""Checked kernels find what they are for: an access outside of an array is an error that names it, whatever the kernel
does, and programs without a mistake give what they always give.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import differential_source, lines, made
from weft.codegen import c
from weft.codegen.c import CFeatures, CSource
from weft.ir.program import Block, Check, Program
from weft.ir.walk import map_sub_blocks
from weft.options import Options
from weft.runtime import toolchain, versions

pytestmark = pytest.mark.skipif(toolchain.find() is None, reason="no compiler")


def without_tests(program: Program) -> Program:
    """A program by a compiler that has forgotten to test anything."""

    def block(nodes: Block) -> Block:
        return tuple(map_sub_blocks(node, block) for node in nodes if not isinstance(node, Check))

    return replace(program, body=block(program.body), guards=(), functions=tuple(map(without_tests, program.functions)))


@pytest.fixture
def careless(monkeypatch: pytest.MonkeyPatch) -> None:
    generate = c.generate

    def changed(program: Program, options: Options, features: CFeatures | None = None) -> CSource:
        return generate(without_tests(program), options, features)

    monkeypatch.setattr(c, "generate", changed)


def read(a, i):
    total = 0.0
    for k in range(len(i)):
        total += a[i[k]]
    return total


def write(a, i):
    a[i] = 1.0
    return a


def rows(a, i):
    a[:, i] += 1.0
    return a


def searched(a, i):
    k = 0
    while a[k] < 100.0:
        k += i[0]
    return k


def gathered(a, i):
    return np.sqrt(a[i] + 1) * 2


FAR = np.array([0, 900])


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (read, (np.arange(5.0), FAR)),
        (write, (np.arange(5.0), FAR)),
        (write, (np.arange(5.0), -FAR)),
        (write, (np.arange(10.0)[::2], np.array([0, 7]))),
        (rows, (np.ones((4, 5)), FAR)),
        (searched, (np.arange(5.0), np.array([1]))),
        (gathered, (np.arange(5.0), np.repeat(FAR, 3))),
    ],
)
def test_accesses_outside_of_an_array(careless: None, function: Any, arguments: tuple[Any, ...]) -> None:
    compiled = weft.jit(fallback="error", cache=False, checked=True)(function)
    with pytest.raises(SystemError, match=r"inside weft: index -?\d+ is out of bounds for axis \d of the array"):
        compiled(*arguments)


PROGRAMS = [
    ["return a.sum() + (a * 2)[1:].max()"],
    ["b = a[a > 2]", "b[0] = 7", "return b, np.sort(b)"],
    ["return a.reshape(3, 4) @ a.reshape(4, 3)"],
    ["for i in range(1, len(a) - 1):", "    a[i] = (a[i - 1] + a[i + 1]) / 2", "return a"],
    ["xs = []", "for x in a:", "    if x > 3: xs.append(x)", "return xs"],
    ["k = 0", "while k < len(a) and a[k] < 5: k += 1", "return k"],
    ["d = {}", "for x in a: d[int(x) % 3] = d.get(int(x) % 3, 0.0) + x", "return d"],
    ["return np.linalg.solve(np.eye(3) * 2, a[:3]), np.where(a > 3, a, -a)"],
]


@pytest.mark.parametrize("body", PROGRAMS)
def test_programs_without_a_mistake(body: list[str]) -> None:
    for array in (np.arange(12.0), np.arange(24.0)[::2]):
        differential_source(lines("a", *body), made(array), checked=True, tolerance=1e-12)


def counted_up(n):
    return counted_up(n - 1) + [n] if n > 0 else [n]


def named(n):
    return named(n - 1) + f"{n}," if n > 0 else "begin"


def lists_of_calls(n):
    return [counted_up(k) for k in range(n)], [named(k) for k in range(n)]


def rows_of_calls(n):
    rows = []
    for k in range(n):
        rows.append(counted_up(k))
        rows[-1].append(k)
    return rows, len(rows[-1])


@pytest.mark.parametrize("function", [lists_of_calls, rows_of_calls, counted_up], ids=lambda f: f.__name__)
def test_memory_that_functions_share_has_its_size(function: Any) -> None:
    """A function that calls itself makes lists in memory of its caller's, and more of it where there is too little."""
    run = weft.jit(fallback="error", cache=False, checked=True)(function)
    for n in (1, 3, 40):
        assert run(n) == function(n)


def test_the_switch_is_part_of_the_key() -> None:
    keys = {versions.key_for(read, "", Options(checked=checked), 0) for checked in (True, False)}
    assert len(keys) == 2
