"""Strings, classes, generators, exceptions, and what weft leaves to Python."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass

import numpy as np


def vowels(text):
    found = 0
    for c in text:
        if c in "aeiou":
            found += 1
    return found


def is_palindrome(text):
    low, high = 0, len(text) - 1
    while low < high:
        if text[low] != text[high]:
            return False
        low += 1
        high -= 1
    return True


def caesar(text, shift):
    out = ""
    for c in text:
        out += chr((ord(c) - 97 + shift) % 26 + 97) if "a" <= c <= "z" else c
    return out


def reverse(text):
    out = ""
    for c in text:
        out = c + out
    return out


def words_of(text):
    return [word.strip(".,").lower() for word in text.split()]


def longest_word(text):
    best = ""
    for word in text.split():
        if len(word) > len(best):
            best = word
    return best


def run_lengths(text):
    out, i = [], 0
    while i < len(text):
        j = i
        while j < len(text) and text[j] == text[i]:
            j += 1
        out.append((text[i], j - i))
        i = j
    return out


def joined(n):
    return ",".join([str(i) for i in range(n)])


def appended(n):
    text = ""
    for i in range(n):
        text += "ab"[i & 1]
    return text


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        last, row[0] = row[0], i
        for j in range(1, len(b) + 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a[i - 1] != b[j - 1]))
    return row[len(b)]


def balanced(text):
    stack = []
    for c in text:
        if c in "([":
            stack.append(c)
        elif c in ")]":
            if not stack or stack.pop() + c not in ("()", "[]"):
                return False
    return not stack


def roman(n):
    out = ""
    for value, mark in ((1000, "M"), (900, "CM"), (500, "D"), (100, "C"), (50, "L"), (10, "X"), (5, "V"), (1, "I")):
        while n >= value:
            out += mark
            n -= value
    return out


@dataclass
class Point:
    x: float
    y: float

    def length(self):
        return math.hypot(self.x, self.y)


class Stack:
    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)

    def pop(self):
        return self.items.pop()


def farthest(points):
    best = points[0]
    for point in points:
        if point.length() > best.length():
            best = point
    return best.x


def moved(point, dx):
    return Point(point.x + dx, point.y)


def stacked(n):
    stack = Stack()
    for i in range(n):
        stack.push(i)
    total = 0
    for _ in range(n):
        total += stack.pop()
    return total


def evens(n):
    def numbers():
        for i in range(n):
            if i % 2 == 0:
                yield i

    return sum(numbers())


def squares(n):
    return sum(i * i for i in range(n))


def pairs(items):
    return list(zip(items, items[1:]))


def safe_division(a, b):
    try:
        return a // b
    except ZeroDivisionError:
        return 0


def checked(items):
    good = 0
    for item in items:
        try:
            good += 10 // item
        except ZeroDivisionError:
            good -= 1
    return good


# --- left to Python, whole or in part -------------------------------------------------------------------------------


def noisy(x):
    return x + np.random.standard_normal() * 0


def ranges(n):
    return [range(n), n]


def parsed(text):
    return json.loads(text)


def matched(text):
    return re.findall(r"\d+", text)


def formatted(items):
    return [f"{item:>8.3f}" for item in items]


def fractions(n):
    from fractions import Fraction

    total = Fraction(0)
    for i in range(1, n):
        total += Fraction(1, i)
    return total


def big_factorial(n):
    result = 1
    for i in range(2, n + 1):
        result *= i
    return result


def any_types(items):
    return [type(item).__name__ for item in items]


def many_arguments(*args, **kwargs):
    return len(args) + len(kwargs)


def summed(*numbers):
    total = 0
    for number in numbers:
        total += number
    return total


def logged(a, log):
    total = 0
    for i in range(len(a)):
        total += i
    log.append(range(1))
    log.clear()
    for i in range(len(a)):
        a[i] = a[i] + total
    return total


def mixed(a, rows):
    keys = [range(k) for k in rows]
    best = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            best = max(best, a[i, j])
    return best, len(keys)


def per_row(a, log):
    out = []
    for i in range(a.shape[0]):
        log.append(range(1))
        log.clear()
        s = 0
        for j in range(a.shape[1]):
            s += a[i, j]
        out.append(s)
    return out


def cases():
    text = "the quick brown fox jumps over the lazy dog, "
    yield "strings", vowels, [(text,), (text * 40,)]
    yield "strings", is_palindrome, [("abcba",), ("ab" * 500 + "ba" * 500,)]
    yield "strings", caesar, [("abc xyz", 3), (text * 10, 3)]
    yield "strings", reverse, [("abcdef",), (text * 10,)]
    yield "strings", words_of, [(text,), (text * 20,)]
    yield "strings", longest_word, [(text,), (text * 20,)]
    yield "strings", run_lengths, [("aaabbc",), ("aaabbc" * 100,)]
    yield "strings", joined, [(5,), (500,)]
    yield "strings", appended, [(10,), (2000,)]
    yield "strings", edit_distance, [("kitten", "sitting"), (text, text[::-1])]
    yield "strings", balanced, [("([])",), ("([])" * 100,)]
    yield "strings", roman, [(9,), (3888,)]
    points = [Point(float(i % 7), float(i % 5)) for i in range(100)]
    yield "classes", farthest, [(points[:3],), (points,)]
    yield "classes", moved, [(points[0], 2.0)]
    yield "classes", stacked, [(5,), (500,)]
    yield "generators", evens, [(10,), (2000,)]
    yield "generators", squares, [(10,), (2000,)]
    yield "generators", pairs, [([1, 2, 3],), (list(range(500)),)]
    yield "exceptions", safe_division, [(7, 2), (7, 0)]
    yield "exceptions", checked, [([1, 0, 2],), ([1, 0, 2] * 100,)]
    yield "refused", noisy, [(1.0,)]
    yield "refused", ranges, [(3,)]
    yield "refused", parsed, [('{"a": [1, 2]}',)]
    yield "refused", matched, [("a1 b22",), ("a1 b22" * 50,)]
    yield "refused", formatted, [([1.5, 2.5],), ([1.5] * 100,)]
    yield "refused", fractions, [(3,), (20,)]
    yield "refused", big_factorial, [(5,), (30,), (300,)]
    yield "refused", any_types, [([1, "a", None],), ([1, 2.0] * 50,)]
    yield "refused", many_arguments, [(1, 2, 3)]
    yield "numeric", summed, [(1, 2, 3), tuple(range(50))]
    yield "regions", logged, [(np.arange(4), []), (np.arange(400), [])]
    yield "regions", mixed, [(np.arange(6).reshape(2, 3), [1]), (np.arange(900).reshape(30, 30), [1, 2])]
    yield "regions", per_row, [(np.arange(6).reshape(2, 3), []), (np.arange(4000).reshape(200, 20), [])]
