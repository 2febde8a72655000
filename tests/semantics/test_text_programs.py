"""Small programs over strings as people write them, native and equal to CPython."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import pytest

from tests.semantics.test_strings import same


def parse_integers(n):
    total = 0
    for k in range(n):
        m = int(hex(k)[2:], 16)
        if m != k:
            return -1
        total += m
    return total


def parsed_by_hand(s):
    value = 0
    for c in s:
        digit = ord(c) - ord("0")
        if digit < 0 or digit > 9:
            raise ValueError("not a digit")
        value = value * 10 + digit
    return value


def plants(axiom, n):
    rules = {"F": "F+F-[F]", "X": "F[X]"}
    s = axiom
    for _ in range(n):
        s = "".join(rules.get(c, c) for c in s)
    return len(s), s


def edit_distance(s, t):
    n, m = len(s), len(t)
    previous = list(range(m + 1))
    for i in range(1, n + 1):
        current = [i] + [0] * m
        for j in range(1, m + 1):
            cost = 0 if s[i - 1] == t[j - 1] else 1
            current[j] = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost)
        previous = current
    return previous[m]


def caesar(s, k):
    out = []
    for c in s:
        if c.isupper():
            out.append(chr((ord(c) - 65 + k) % 26 + 65))
        elif c.islower():
            out.append(chr((ord(c) - 97 + k) % 26 + 97))
        else:
            out.append(c)
    return "".join(out)


def is_palindrome(s):
    i, j = 0, len(s) - 1
    while i < j:
        if s[i].lower() != s[j].lower():
            return False
        i += 1
        j -= 1
    return s == s[::-1]


def run_lengths(s):
    if not s:
        return ""
    out = ""
    previous = s[0]
    n = 1
    for c in s[1:]:
        if c == previous:
            n += 1
        else:
            out += previous + str(n)
            previous = c
            n = 1
    return out + previous + str(n)


def boyer_moore(text, pattern):
    last = {}
    for i in range(len(pattern)):
        last[pattern[i]] = i
    n, m = len(text), len(pattern)
    i = 0
    found = []
    while i <= n - m:
        j = m - 1
        while j >= 0 and pattern[j] == text[i + j]:
            j -= 1
        if j < 0:
            found.append(i)
            i += 1
        else:
            i += max(1, j - last.get(text[i + j], -1))
    return found


def common_part(a, b):
    best = 0
    end = 0
    lengths = [0] * (len(b) + 1)
    for i in range(1, len(a) + 1):
        diagonal = 0
        for j in range(1, len(b) + 1):
            above = lengths[j]
            if a[i - 1] == b[j - 1]:
                lengths[j] = diagonal + 1
                if lengths[j] > best:
                    best = lengths[j]
                    end = i
            else:
                lengths[j] = 0
            diagonal = above
    return a[end - best : end]


def from_roman(s):
    values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    total = 0
    for i in range(len(s)):
        value = values[s[i]]
        if i + 1 < len(s) and values[s[i + 1]] > value:
            total -= value
        else:
            total += value
    return total


def to_roman(n):
    signs = ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"))
    out = ""
    for value, sign in (*signs, (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        while n >= value:
            out += sign
            n -= value
    return out


def reverse_complement(s):
    other = {"A": "T", "T": "A", "C": "G", "G": "C"}
    return "".join(other[c] for c in reversed(s))


def anagrams(words):
    groups = {}
    for word in words:
        key = "".join(sorted(word))
        groups[key] = groups.get(key, 0) + 1
    return groups


def postfix(s):
    stack = []
    for token in s.split():
        if token == "+":
            b = stack.pop()
            stack.append(stack.pop() + b)
        elif token == "*":
            b = stack.pop()
            stack.append(stack.pop() * b)
        else:
            stack.append(int(token))
    return stack[0]


def table(text):
    total = 0.0
    rows = 0
    for line in text.split("\n"):
        if not line.startswith("#") and len(line) > 0:
            rows += 1
            for field in line.split(","):
                total += float(field)
    return total, rows


def fields(text):
    found = []
    for line in text.split(";"):
        found += line.split(",")
    return found


def events(n):
    """Tuples are ordered by their strings where their numbers are the same."""
    waiting = [(2.0, "b"), (1.0, "a"), (1.0, "A")]
    heapq.heapify(waiting)
    heapq.heappush(waiting, (n, "aa"))
    first, name = heapq.heappop(waiting)
    second, other = heapq.heappop(waiting)
    return first, name, second, other


DNA = "".join("ACGT"[(i * i + i // 7) % 4] for i in range(300))
PROGRAMS: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
    (parse_integers, [(0,), (500,)]),
    (parsed_by_hand, [("",), ("12345",), ("12x",)]),
    (plants, [("F", 4), ("X", 3), ("", 2)]),
    (edit_distance, [("kitten", "sitting"), ("", "abc"), ("日本語", "日本")]),
    (caesar, [("Hello, World!", 3), ("xyz", -29), ("", 1)]),
    (is_palindrome, [("abcba",), ("Abba",), ("",), ("ab",)]),
    (run_lengths, [("aaabbc",), ("",), ("x",), ("日日本",)]),
    (boyer_moore, [(DNA, "ACG"), ("here is a simple example", "example"), ("a", "ab")]),
    (common_part, [("hello world", "yellow"), ("", "a"), ("日本語", "x本語")]),
    (from_roman, [("MCMXCIV",), ("",), ("III",)]),
    (to_roman, [(1994,), (0,), (3888,)]),
    (reverse_complement, [(DNA,), ("",)]),
    (anagrams, [(["abc", "bca", "x", "cab"],), (["ß"],)]),
    (postfix, [("3 4 + 2 *",), ("7",)]),
    (events, [(1.0,), (3.0,)]),
    (fields, [("a,b;c",), ("",)]),
    (table, [("1.5,2\n# no\n3,4.25\n",), ("",), ("7",)]),
]


@pytest.mark.parametrize(("program", "calls"), PROGRAMS, ids=[program.__name__ for program, _ in PROGRAMS])
def test_a_program(program: Callable[..., Any], calls: list[tuple[Any, ...]]) -> None:
    same(program, *calls)
