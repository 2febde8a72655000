"""Strings and bytes as arguments of recursive functions: whole, as parts, and taken from the function around."""

from __future__ import annotations

import pytest

import weft


def _mirrored(s, i, j):
    if i >= j:
        return True
    return s[i] == s[j] and _mirrored(s, i + 1, j - 1)


def _mirrored_parts(s):
    if len(s) <= 1:
        return True
    return s[0] == s[-1] and _mirrored_parts(s[1:-1])


def mirrored(s, t):
    return _mirrored(s, 0, len(s) - 1), _mirrored_parts(s), _mirrored_parts(t)


def distance(s, t):
    def between(i, j):
        if i == 0:
            return j
        if j == 0:
            return i
        differs = 0 if s[i - 1] == t[j - 1] else 1
        return min(between(i - 1, j) + 1, between(i, j - 1) + 1, between(i - 1, j - 1) + differs)

    return between(min(len(s), 5), min(len(t), 5))


def _count(s, c):
    if not s:
        return 0
    return (1 if s[0] == c else 0) + _count(s[1:], c)


def counted(s, t):
    return _count(s, "a"), _count(s + t, "a"), _count(s[::2], "b"), _count(t, t[:1]), _count("abca", "a")


def _splits(s):
    if s == "":
        return 1
    total = 0
    for n in range(1, 4):
        if n <= len(s) and s[:n] == "a" * n:
            total += _splits(s[n:])
    return total


def split(s, t):
    return _splits(s), _splits(t)


@pytest.mark.parametrize("function", [mirrored, distance, counted, split])
def test_strings(function):
    native = weft.jit(function, fallback="error")
    for s, t in (("abcba", "kitten"), ("aaaa", "sitt"), ("żółóż", "ab"), ("xy", "aaa"), ("", "")):
        assert native(s, t) == function(s, t)


def _sum(data, i):
    if i == len(data):
        return 0
    return data[i] + _sum(data, i + 1)


def sums(data):
    return _sum(data, 0), _sum(data[1:3], 0)


def test_bytes():
    native = weft.jit(sums, fallback="error")
    for data in (b"abcd", b"", bytes(range(200, 256))):
        assert native(data) == sums(data)


def _beyond(s, i):
    if s[i] == "z":
        return i
    return _beyond(s, i + 1)


def beyond(s):
    return _beyond(s, 0)


def test_past_the_end():
    native = weft.jit(beyond, fallback="error")
    assert native("abz") == 2
    with pytest.raises(IndexError, match="string index out of range"):
        native("ab")
