"""Textbook algorithms over what the other modules leave out: matrices of lists, intervals, tries, simulation."""

from __future__ import annotations

import random

import numpy as np


def spiral(rows):
    out = []
    rows = [list(row) for row in rows]
    while rows:
        out.extend(rows.pop(0))
        rows = [list(row) for row in zip(*rows)][::-1]
    return out


def merge_intervals(intervals):
    out = []
    for low, high in sorted(intervals):
        if out and low <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return out


def longest_increasing(items):
    best = [1] * len(items)
    for i in range(len(items)):
        for j in range(i):
            if items[j] < items[i] and best[j] + 1 > best[i]:
                best[i] = best[j] + 1
    return max(best)


def common_subsequence(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


def life(cells, steps):
    n, m = cells.shape
    for _ in range(steps):
        new = np.zeros_like(cells)
        for i in range(n):
            for j in range(m):
                around = 0
                for di in (-1, 0, 1):
                    for dj in (-1, 0, 1):
                        if di or dj:
                            around += cells[(i + di) % n, (j + dj) % m]
                new[i, j] = 1 if around == 3 or (around == 2 and cells[i, j]) else 0
        cells = new
    return cells


def trie(words):
    root = {}
    for word in words:
        node = root
        for c in word:
            node = node.setdefault(c, {})
        node["$"] = True
    return len(root)


def hanoi(n, source="a", target="c", spare="b"):
    if n == 0:
        return []
    return [*hanoi(n - 1, source, spare, target), (source, target), *hanoi(n - 1, spare, target, source)]


def subsets(items):
    out = [[]]
    for item in items:
        out += [[*found, item] for found in out]
    return out


def random_walk(steps, seed):
    draw = random.Random(seed)
    place = 0
    for _ in range(steps):
        place += draw.choice((-1, 1))
    return place


def moving_average(items, width):
    out, window = [], 0.0
    for i, item in enumerate(items):
        window += item
        if i >= width:
            window -= items[i - width]
        out.append(window / min(i + 1, width))
    return out


def min_max(items):
    low = high = items[0]
    for item in items:
        if item < low:
            low = item
        elif item > high:
            high = item
    return low, high


def transposed_sum(a):
    total = 0
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            total += a[i, j]
    return total


def polynomial(coefficients, x):
    value = 0.0
    for c in coefficients:
        value = value * x + c
    return value


def bits(n):
    out = []
    while n:
        out.append(n & 1)
        n >>= 1
    return out[::-1]


def cases():
    numbers = random.Random(3).sample(range(10000), 400)
    grid = np.random.default_rng(4).integers(0, 2, (16, 16))
    words = [f"{n:x}" for n in numbers]
    yield "lists", spiral, [([[1, 2], [3, 4]],), ([list(range(12))] * 12,)]
    yield "lists", merge_intervals, [([(1, 3), (2, 6)],), ([(n, n + 9) for n in numbers],)]
    yield "lists", longest_increasing, [(numbers[:4],), (numbers[:60],), (numbers,)]
    yield "strings", common_subsequence, [("abcde", "ace"), ("abcde" * 12, "ace" * 12)]
    yield "arrays", life, [(grid[:4, :4].copy(), 1), (grid, 2)]
    yield "dicts", trie, [(words[:3],), (words,)]
    yield "recursion", hanoi, [(2,), (7,)]
    yield "lists", subsets, [([1, 2],), (list(range(8)),)]
    yield "refused", random_walk, [(5, 1), (500, 1)]
    yield "lists", moving_average, [([1.0, 2.0, 3.0], 2), ([float(n) for n in numbers], 5)]
    yield "lists", min_max, [(numbers[:3],), (numbers[:50],), (numbers,)]
    yield "arrays", transposed_sum, [(grid[:2, :3].copy(),), (grid,)]
    yield "numeric", polynomial, [([1.0, 2.0], 0.5), ([1.0, 2.0, 3.0] * 30, 0.5)]
    yield "numeric", bits, [(5,), (2**40 + 12345,)]
