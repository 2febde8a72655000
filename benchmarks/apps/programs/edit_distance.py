"""Levenshtein's distance of two texts, row by row."""

from __future__ import annotations

import random

SIZES = {"S": (30, 40), "M": (600, 700), "L": (3000, 3300)}


def edit_distance(first, second):
    previous = list(range(len(second) + 1))
    for i in range(1, len(first) + 1):
        current = [i]
        for j in range(1, len(second) + 1):
            if first[i - 1] == second[j - 1]:
                current.append(previous[j - 1])
            else:
                current.append(1 + min(previous[j - 1], previous[j], current[j - 1]))
        previous = current
    return previous[len(second)]


def initialise(size):
    generator = random.Random(21)
    first, second = size
    letters = "abcdefgh"
    return "".join(generator.choices(letters, k=first)), "".join(generator.choices(letters, k=second))
