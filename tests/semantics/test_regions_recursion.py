"""Recursive functions that are split into regions: their own name means there what it means in the original."""

from __future__ import annotations

import io
import os
from contextlib import redirect_stdout

import pytest

import weft


def hanoi(n, a, b, c, moves):
    if n == 0:
        return 0
    k = hanoi(n - 1, a, c, b, moves)
    moves.append((a, c))
    return k + 1 + hanoi(n - 1, b, a, c, moves)


def printing(n):
    total = 0.0
    for i in range(100):
        total += i * n
    print(n, end=" ")
    return total + (printing(n - 1) if n else 0)


def even(n):
    total = 0
    for i in range(10):
        total += i * n
    print("even", n)
    return total + (odd(n - 1) if n else 0)


def odd(n):
    total = 1
    for i in range(10):
        total += i * n
    print("odd", n)
    return total + (even(n - 1) if n else 0)


def logged(n, log, step=2, *, scale=3):
    total = 0
    for i in range(10):
        total += i * n * scale
    log.append("node %r" % total)
    return total + (logged(n - step, log, step, scale=scale) if n > 0 else 0)


CALLS = {
    "hanoi": (hanoi, (3, 0, 1, 2, [])),
    "printing": (printing, (3,)),
    "mutual": (even, (4,)),
    "defaults": (logged, (5, [])),
}


def _run(function, arguments):
    text = io.StringIO()
    with redirect_stdout(text):
        value = function(*arguments)
    return value, arguments, text.getvalue()


@pytest.mark.parametrize("name", CALLS)
def test_a_global_name(name):
    function, arguments = CALLS[name]
    compiled = weft.jit(function, fallback="silent")
    for _ in range(2):
        copies = [[*a] if isinstance(a, list) else a for a in arguments], [
            [*a] if isinstance(a, list) else a for a in arguments
        ]
        assert _run(compiled, copies[0]) == _run(function, copies[1])


@weft.jit(fallback="silent")
def decorated(n):
    total = 0
    for i in range(10):
        total += i * n
    print(n)
    return total + (decorated(n - 1) if n else 0)


def test_a_decorated_function():
    assert _run(decorated, (3,)) == (45 * 6, (3,), "3\n2\n1\n0\n")


def test_a_closure_and_a_replaced_name():
    def inner(n):
        total = 0
        for i in range(10):
            total += i * n
        print(n)
        return total + (inner(n - 1) if n else 0)

    plain = inner
    wanted = _run(plain, (3,))
    compiled = weft.jit(plain, fallback="silent")
    assert _run(compiled, (3,)) == wanted
    inner = lambda n: -1  # noqa: E731
    assert _run(compiled, (3,)) == _run(plain, (3,)) == (134, (3,), "3\n")
    inner = compiled
    assert _run(compiled, (3,)) == wanted


class Tree:
    def __init__(self, k):
        self.k = k
        self.__hidden = 2
        self.inner = Tree(k - 1) if k else None

    @weft.jit(fallback="silent")
    def total(self):
        found = 0
        for i in range(10):
            found += i * self.k
        print(self.k)
        return found + self.__hidden + (self.inner.total() if self.inner is not None else 0)


class Branch(Tree):
    @weft.jit(fallback="silent")
    def total(self):
        found = 0
        for i in range(10):
            found += i * self.k
        print("branch")
        return found + super().total()


def test_methods():
    assert _run(Tree(2).total, ())[::2] == (135 + 6, "2\n1\n0\n")
    assert _run(Branch(2).total, ())[::2] == (225 + 6, "branch\n2\n1\n0\n")


@weft.jit(fallback="silent", cache=False)
def opening(n):
    total = 0
    for i in range(10):
        total += i * n
    with open(os.devnull):
        pass
    return total + (opening(n - 1) if n else 0)


def test_the_name_of_a_split_function():
    assert opening(1) == 45
    split = getattr(opening._plain, "_split", opening._plain)  # it may still be compared with the function as a whole
    assert opening._regions and split is not opening.py_func
    assert split.__name__ == "opening" and split.__code__.co_name == "opening"


class _Counter:
    def __init__(self):
        self.__seen = 3

    def total(self, a):
        return sum(self.__scaled(x) for x in a)

    def __scaled(self, x):
        return x * self.__seen


def test_private_names_natively():
    counter = _Counter()
    compiled = weft.jit(_Counter.total, fallback="error")
    assert compiled(counter, [1, 2, 3]) == counter.total([1, 2, 3]) == 18
    assert compiled.stats["python_calls"] == 0
