"""Quicksort by recursion, in place. One of Julia's microbenchmarks."""

from __future__ import annotations

import random

SIZES = {"S": (300,), "M": (20000,), "L": (400000,)}
JULIA = True


def sort_between(values, low, high):
    i, j = low, high
    while i < high:
        pivot = values[(low + high) // 2]
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if low < j:
            sort_between(values, low, j)
        low = i
        j = high


def quicksort(values):
    sort_between(values, 0, len(values) - 1)


def initialise(size):
    (number,) = size
    generator = random.Random(18)
    return ([generator.random() for _ in range(number)],)
