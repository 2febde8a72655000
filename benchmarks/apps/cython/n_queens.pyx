# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
cdef long place(long row, long n, long columns, long falling, long rising):
    cdef long count = 0, column
    if row == n:
        return 1
    for column in range(n):
        if columns >> column & 1 or falling >> (row + column) & 1 or rising >> (row - column + n) & 1:
            continue
        count += place(
            row + 1, n, columns | 1L << column, falling | 1L << (row + column), rising | 1L << (row - column + n)
        )
    return count


def n_queens(long n):
    return place(0, n, 0, 0, 0)
