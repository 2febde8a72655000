"""Which of the two compilers a function goes to."""

from __future__ import annotations

from typing import Any

import pytest

import weft

pytestmark = pytest.mark.native


def bare(a: Any, b: Any) -> Any:
    n = len(a)
    c = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(n):
                s += a[i][k] * b[k][j]
            c[i][j] = s
    return c


def documented(a: Any, b: Any) -> Any:
    """a product"""
    n = len(a)
    c = [[0.0] * n for _ in range(n)]
    "rows"
    for i in range(n):
        "columns"
        for j in range(n):
            s = 0.0
            for k in range(n):
                s += a[i][k] * b[k][j]
            c[i][j] = s
    return c


def test_a_docstring_does_not_decide() -> None:
    """Matrices as lists are for the compiler of arrays, with and without a short text beside the code."""
    a, b = [[1.0, 2.0], [3.0, 4.0]], [[0.5, 1.5], [2.5, 3.5]]
    kinds = []
    for function in (bare, documented):
        compiled = weft.jit(function, fallback="error", cache=False)
        assert compiled(a, b) == function(a, b)
        kinds.append(compiled.signatures)
    assert kinds[0] == kinds[1] == ["(list[list[float]], list[list[float]])"]


def test_hints_are_enough_for_plain_python() -> None:
    """`weft explain` compiles without a call, and must not tell of Python what a call would have compiled."""

    @weft.jit(cache=False)
    def tallied(n: int) -> dict[str, int]:
        found: dict[str, int] = {}
        for i in range(n):
            key = str(i % 3)
            found[key] = found.get(key, 0) + 1
        print(end="")
        return found

    @weft.jit(cache=False)
    def main() -> None:
        names = {}
        for i in range(3):
            names[str(i)] = i
        print(end="" if len(names) == 3 else "wrong")

    for function in (tallied, main):
        assert function.compile_hints()
        assert "native: 1 version, 0 native calls" in function.explain().short()
    assert tallied(4) == {"0": 2, "1": 1, "2": 1} and main() is None
    assert "1 native call" in tallied.explain().short()
