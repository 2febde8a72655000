"""Tasks in plain Python: a merge sort whose halves are sorted side by side, and all solutions of the queens' puzzle."""

import numpy as np

import weft


@weft.jit
def merge_sort(a, spare, lo, hi):
    if hi - lo < 2:
        return
    middle = (lo + hi) // 2
    with weft.finish():
        with weft.task():
            merge_sort(a, spare, lo, middle)
        merge_sort(a, spare, middle, hi)
    i, j = lo, middle
    for k in range(lo, hi):
        if i < middle and (j >= hi or a[i] <= a[j]):
            spare[k] = a[i]
            i += 1
        else:
            spare[k] = a[j]
            j += 1
    for k in range(lo, hi):
        a[k] = spare[k]


@weft.jit
def queens(n, row, columns, up, down):
    if row == n:
        return 1
    counts = np.zeros(32, dtype=np.int64)
    with weft.finish():
        for k in range(n):
            if not (columns >> k & 1 or up >> (row + k) & 1 or down >> (row - k + n) & 1):
                with weft.task():
                    counts[k] = queens(n, row + 1, columns | 1 << k, up | 1 << (row + k), down | 1 << (row - k + n))
    return int(counts.sum())


def main():
    a = np.random.default_rng(0).random(3000)
    expected = np.sort(a)
    merge_sort(a, np.empty_like(a), 0, len(a))
    print("same answer:", np.array_equal(a, expected) and queens(7, 0, 0, 0, 0) == 40)


if __name__ == "__main__":
    main()
