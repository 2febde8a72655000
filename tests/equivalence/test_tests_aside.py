"""Lists raise where arrays give an infinity: apart from the tests for that, both forms are one program."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from weft.ir.canonical import canonical
from weft.ir.program import Block, Check, Loop, Program
from weft.ir.text import show
from weft.ir.walk import map_sub_blocks, walk
from weft.passes.simplifying.deadcode import remove
from weft.pipeline import stages


def solve(lower, b, x):
    n = len(b)
    for i in range(n):
        x[i] = b[i]
        for j in range(i):
            x[i] -= lower[i][j] * x[j]
        x[i] = x[i] / lower[i][i]


def solve_backwards(upper, b, x):
    n = len(b)
    for i in range(n - 1, -1, -1):
        w = b[i]
        for j in range(i + 1, n):
            w -= upper[i][j] * x[j]
        x[i] = w / upper[i][i]


def lu(a, b, x):
    n = len(b)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i][j] -= a[i][k] * a[k][j]
            a[i][j] /= a[j][j]
        for j in range(i, n):
            for k in range(i):
                a[i][j] -= a[i][k] * a[k][j]


def cholesky_lists(a, b, x):
    n = len(b)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i][j] -= a[i][k] * a[j][k]
            a[i][j] /= a[j][j]
        for k in range(i):
            a[i][i] -= a[i][k] * a[i][k]
        a[i][i] = math.sqrt(a[i][i])


def cholesky(a, b, x):
    n = len(b)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i][j] -= a[i][k] * a[j][k]
            a[i][j] /= a[j][j]
        for k in range(i):
            a[i][i] -= a[i][k] * a[i][k]
        a[i][i] = np.sqrt(a[i][i])


def recurrences(a, b, x):
    n = len(b)
    for i in range(1, n):
        for j in range(1, n):
            pivot = 0.5 * a[i][j - 1] + b[j]
            a[i][j] = b[j] / pivot
            x[i] = x[i] + a[i][j] / pivot


def normalised_lists(a, b, x):
    n = len(b)
    for j in range(n):
        x[j] = 0.0
        for i in range(n):
            x[j] += a[i][j] * a[i][j]
        x[j] = math.sqrt(x[j])
        for i in range(n):
            a[i][j] = a[i][j] / x[j]


def normalised(a, b, x):
    n = len(b)
    for j in range(n):
        x[j] = 0.0
        for i in range(n):
            x[j] += a[i][j] * a[i][j]
        x[j] = np.sqrt(x[j])
        for i in range(n):
            a[i][j] = a[i][j] / x[j]


def without_tests(block: Block) -> Block:
    return tuple(map_sub_blocks(node, without_tests) for node in block if not isinstance(node, Check))


def programs(function: Any, arguments: tuple[Any, ...]) -> tuple[Program, str]:
    """The optimised program, and its text without checks; 64-bit floats of lists under the name of those of arrays."""
    program = dict(stages(function, arguments))["tidy"]
    bare = remove(replace(program, body=without_tests(program.body), disjoint=(), guards=()))
    return program, show(canonical(bare)).partition("\n\n")[2].replace("_f64", "")


PAIRS = [
    (solve, solve),
    (solve_backwards, solve_backwards),
    (lu, lu),
    (cholesky_lists, cholesky),
    (recurrences, recurrences),
    (normalised_lists, normalised),
]


@pytest.mark.parametrize(("lists", "arrays"), PAIRS, ids=[pair[1].__name__ for pair in PAIRS])
def test_lists_and_arrays_become_one_program(lists: Any, arrays: Any) -> None:
    rng = np.random.default_rng(0)
    given = rng.random((6, 6)) + 6 * np.eye(6), rng.random(6) + 1.0, np.zeros(6)
    tested, one = programs(lists, tuple(value.tolist() for value in given))
    plain, other = programs(arrays, given)
    assert one == other
    assert not [node for node in walk(plain.body) if isinstance(node, Check)]
    # Whatever is tested is tested behind the loops.
    inside = [node for loop in walk(tested.body) if isinstance(loop, Loop) for node in walk(loop.body)]
    assert not [node for node in inside if isinstance(node, Check)]
    assert [node for node in tested.body if isinstance(node, Check)]
