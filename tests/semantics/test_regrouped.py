"""Arrays that are reshaped and stored: by the axes they had before, where that saves a division for each element."""

from __future__ import annotations

import numpy as np
import pytest

import weft


def rounds(x, steps):
    """Rows of pairs become pairs of rows, in another order each time."""
    n = x.shape[0]
    y = x.copy()
    for s in range(steps):
        blocks = 2**s
        width = n // (2 * blocks)
        pairs = y.reshape(blocks, 2, width)
        z = np.empty((2, blocks, width), dtype=x.dtype)
        z[0] = pairs[:, 0] + pairs[:, 1]
        z[1] = pairs[:, 0] - pairs[:, 1]
        y = z.reshape(n)
    return y


def into_parts(x, out, rows, columns):
    """Into a strided target, and arrays of another rank."""
    table = x[: rows * columns].reshape(rows, columns) * 2
    out[: rows * columns] = table.reshape(rows * columns)
    out[::2][: rows * columns] = table.T.reshape(rows * columns)
    return table.reshape(columns, rows), table.ravel()


@pytest.mark.parametrize("dtype", [np.float64, np.complex64, np.int32])
def test_reshaped_arrays_that_loops_carry(dtype):
    compiled = weft.jit(fallback="error")(rounds)
    for n, steps in ((16, 4), (24, 3), (2, 1), (0, 2), (5, 0)):
        x = np.arange(n).astype(dtype)
        np.testing.assert_array_equal(compiled(x, steps), rounds(x, steps))
    with pytest.raises(ValueError):
        compiled(np.arange(6).astype(dtype), 2)
    text = compiled.inspect("ir")
    assert not [line for line in text.splitlines() if "%" in line and "for" in line], text


def test_targets_of_reshaped_arrays():
    compiled = weft.jit(fallback="error")(into_parts)
    for rows, columns in ((3, 4), (1, 5), (4, 1), (0, 3)):
        given = [(np.arange(20.0), np.zeros(50)) for _ in range(2)]
        got = compiled(*given[0], rows, columns)
        expected = into_parts(*given[1], rows, columns)
        for mine, theirs in zip((*got, *given[0]), (*expected, *given[1])):
            np.testing.assert_array_equal(mine, theirs)
