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


class Branch:
    def __init__(self, value: int, left: Any = None, right: Any = None) -> None:
        self.value, self.left, self.right = value, left, right


@weft.jit(fallback="error", cache=False)
def height(root: Any) -> int:
    return 1 + max(height(root.left), height(root.right)) if root else 0


@weft.jit(fallback="error", cache=False)
def sorted_by_halves(items: list[Any]) -> list[Any]:
    if len(items) < 2:
        return items
    pivot = items.pop(len(items) // 2)
    low, high = [i for i in items if i <= pivot], [i for i in items if i > pivot]
    return [*sorted_by_halves(low), pivot, *sorted_by_halves(high)]


@weft.jit(fallback="error", cache=False)
def heights(roots: list[Any]) -> dict[str, int]:
    table = {"height": height, "twice": lambda root: 2 * height(root)}
    return {name: sum(map(found, roots)) for name, found in table.items()}


def test_calls_of_decorated_functions_are_calls_of_the_functions_in_them() -> None:
    """A decorated function that calls itself, or another decorated one, does so by the decorated name."""
    tree = Branch(1, Branch(2, None, Branch(3)), Branch(4))
    assert height(tree) == height(tree) == 3
    assert sorted_by_halves([3, 1, 2]) == [1, 2, 3] and sorted_by_halves(["b", "a"]) == ["a", "b"]
    assert heights([tree, Branch(0)]) == {"height": 4, "twice": 8}
    for function in (height, sorted_by_halves, heights):
        assert function.stats["python_calls"] == 0


@weft.vectorize
def halved(x: Any) -> Any:
    return x / 2


def test_a_ufunc_is_no_function_of_python() -> None:
    """Its result is a number of NumPy, not the one that its Python function gives."""

    def labelled(values: list[int]) -> dict[str, Any]:
        return {str(value): halved(value) for value in values}

    compiled = weft.jit(labelled, cache=False)
    for _ in range(2):
        found, expected = compiled([1, 2]), labelled([1, 2])
        assert found == expected and list(map(type, found.values())) == list(map(type, expected.values()))
