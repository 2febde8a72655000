"""Strings that recursive functions make, keep in containers and return: one pool for all functions of a program."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import weft
from tests.semantics.agreement import alike


def subsets(w):
    out = []

    def go(i, cur):
        if i == len(w):
            out.append(cur)
            return
        go(i + 1, cur)
        go(i + 1, cur + w[i])

    go(0, "")
    return out


def parentheses(w):
    out = []
    n = min(len(w), 4)

    def go(s, o, c):
        if len(s) == 2 * n:
            out.append(s)
            return
        if o < n:
            go(s + "(", o + 1, c)
        if c < o:
            go(s + ")", o, c + 1)

    go("", 0, 0)
    return out


def grown(w):
    def go(s, k):
        return s if k == 0 else go(s + w[0] + "ab", k - 1)

    return go("", len(w)) if w else ""


def slices(w):
    out = []

    def go(i):
        if i < len(w):
            out.append(w[i:])
            go(i + 1)

    go(0)
    return out


def numbers(w):
    out = []

    def go(k):
        if k:
            out.append(str(k) + w)
            go(k - 1)

    go(len(w))
    return out


def by_length(w):
    found = {}

    def go(i, cur):
        found[i] = cur
        if i < len(w):
            go(i + 1, cur + w[i])

    go(0, w[:1])
    return found


def counted(w):
    found = {}

    def go(i, cur):
        found[cur] = found.get(cur, 0) + 1
        if i < len(w):
            go(i + 1, cur + w[i])
            go(i + 1, w[i])

    go(0, "")
    return found


def seen(w):
    found = set()

    def go(s):
        if s in found:
            return
        found.add(s)
        for i in range(len(s)):
            go(s[:i] + s[i + 1 :])

    go(w)
    return sorted(found)


def reversed_(s):
    if not s:
        return ""
    return reversed_(s[1:]) + s[0]


def reversed_by_halves(s):
    return s if len(s) < 2 else reversed_by_halves(s[len(s) // 2 :]) + reversed_by_halves(s[: len(s) // 2])


def permutations(s):
    if len(s) <= 1:
        return [s]
    out = []
    for i in range(len(s)):
        for p in permutations(s[:i] + s[i + 1 :]):
            out.append(s[i] + p)
    return out


def digits(w):
    def binary(n):
        if n < 2:
            return str(n)
        return binary(n // 2) + str(n % 2)

    return binary(len(w)), binary(1000)


def moves(w):
    out = []

    def go(n, a, b, c):
        if n:
            go(n - 1, a, c, b)
            out.append((n, a + c))
            go(n - 1, b, a, c)

    go(min(3, len(w)), "A", "żB", "C" + w)
    return out


def pairs(w):
    def go(i):
        if i == len(w):
            return "", 0
        text, count = go(i + 1)
        return w[i] + text, count + 1

    return go(0)


def perhaps(w):
    def first(i):
        if i == len(w):
            return None
        if w[i] > "b":
            return w[i] + "!"
        return first(i + 1)

    found = first(0)
    return "none" if found is None else found


def even(s):
    return "e" if not s else odd(s[1:]) + "e"


def odd(s):
    return "o" if not s else even(s[1:]) + "o"


def mutual(w):
    return even(w), odd(w)


@dataclass
class Node:
    name: str
    size: int


def objects(w):
    nodes = []

    def go(i, name):
        nodes.append(Node(name, i))
        if i < len(w):
            go(i + 1, name + w[i])

    go(0, "x")
    return [(node.name, node.size) for node in nodes]


def lists_of_lists(w):
    out = []

    def go(i, parts):
        if i == len(w):
            out.append(parts + ["end"])
            return
        go(i + 1, parts + [w[i] + str(i)])

    go(0, [])
    return out


def fixed(w):
    def count(s, c):
        return 0 if not s else (1 if s[0] == c else 0) + count(s[1:], c)

    return count(w, "a"), count(w, "b"), count(w + "ab", "ż")


def several_pools(w):
    """Temporary strings of functions that only give numbers."""

    def longest(i, best):
        if i == len(w):
            return best
        part = w[i:] + w[:i]
        return longest(i + 1, max(best, len(part + w)))

    return longest(0, 0)


def literals_as_keys(w):
    found = {"alpha": 0, "beta": 0}

    def go(i):
        if i < len(w):
            found["alpha" if w[i] < "c" else "beta"] += 1
            found["gamma" + w[i]] = i
            go(i + 1)

    go(0)
    return found


FUNCTIONS = [
    subsets, parentheses, grown, slices, numbers, by_length, counted, seen, reversed_, reversed_by_halves,
    permutations, digits, moves, pairs, perhaps, mutual, objects, lists_of_lists, fixed, several_pools,
    literals_as_keys,
]  # fmt: skip
WORDS = ("abc", "", "a", "żó\U0001f600", "a\0b", "bcda", "\ud800x")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_agrees(function):
    compiled = weft.jit(function, fallback="silent")
    for word in WORDS:
        assert alike(compiled(word), function(word)), word


@pytest.mark.parametrize("function", [subsets, parentheses, grown, counted, reversed_, permutations, moves, pairs])
def test_natively(function):
    compiled = weft.jit(function, fallback="error")
    assert alike(compiled("abca"), function("abca"))
    assert compiled.stats["python_calls"] == 0


def test_much_text():
    """The pool grows inside of calls, and the callers see it where it then is."""
    compiled = weft.jit(subsets, fallback="error")
    assert compiled("abcdefghijklm") == subsets("abcdefghijklm")


def grows_with_every_call(n):
    def go(s, t, u, k):
        return len(s) + len(t) + len(u) if k == 0 else go(s + "a", t + "bc", "d" + u, k - 1)

    return go("", "x", "yy", n)


def test_few_versions_for_strings_that_grow():
    """A function is not built for each constant that a parameter could get."""
    compiled = weft.jit(grows_with_every_call, fallback="error")
    assert compiled(7) == grows_with_every_call(7)
    assert compiled.stats["python_calls"] == 0
