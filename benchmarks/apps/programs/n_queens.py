"""In how many ways n queens can stand on a board: backtracking by recursion over sets kept as bits."""

from __future__ import annotations

SIZES = {"S": (5,), "M": (8,), "L": (10,)}


def place(row, n, columns, falling, rising):
    if row == n:
        return 1
    count = 0
    for column in range(n):
        if columns >> column & 1 or falling >> (row + column) & 1 or rising >> (row - column + n) & 1:
            continue
        count += place(
            row + 1, n, columns | 1 << column, falling | 1 << (row + column), rising | 1 << (row - column + n)
        )
    return count


def n_queens(n):
    return place(0, n, 0, 0, 0)


def initialise(size):
    return size
