"""Rows of few elements with functions in them: several rows at once, with the answers of one after the other."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from tests.support import differential, outcome


def log_sums(x):
    m = x.max(axis=1)
    s = np.exp(x - m[:, None]).sum(1)
    return m + np.log(s), np.exp(x - m[:, None]) / s[:, None]


def angles(x):
    out = np.empty(x.shape)
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            out[i, k] = np.sin(x[i, k]) * np.cos(x[i, 0])
    return out.sum(axis=-1), out


def lengths(x):
    d = x[:, None] - x[None, :]
    return np.sqrt((d**2).sum(-1)), np.tanh(d).min(axis=2)


def in_place(x):
    x[1:] = np.exp(-np.abs(x[:-1]))
    return x


@pytest.mark.parametrize("function", [log_sums, angles, lengths, in_place])
@pytest.mark.parametrize("columns", [1, 2, 3, 7, 8])
def test_short_rows(function, columns):
    for rows in (0, 1, 5, 31, 32, 33, 127, 128, 129, 300):
        rng = np.random.default_rng(rows)
        for dtype, order in ((np.float64, "C"), (np.float32, "C"), (np.float64, "F")):
            x = np.asarray(rng.normal(size=(rows, columns)), dtype=dtype, order=order)
            if rows > 4:
                x[2, 0], x[3, -1], x[4] = np.nan, np.inf, -np.inf
            tolerance = 2e-5 if dtype is np.float32 else 1e-13
            differential(function, lambda x=x: (x.copy(order="K"),), tolerance=tolerance, native=False, calls=1)


def test_equal_elements_give_equal_values_wherever_they_stand():
    compiled = weft.jit(fallback="error")(log_sums)
    row = np.array([0.3, -1.7, 0.9])
    results = [compiled(np.tile(row, (rows, 1))) for rows in (1, 31, 32, 200)]
    assert len({value for sums, _ in results for value in sums}) == 1
    assert len({value for _, shares in results for value in shares[:, 1]}) == 1


def test_in_order_with_strict_sums():
    x = np.random.default_rng(0).normal(size=(200, 3))
    got = outcome(weft.jit(fp="strict")(log_sums), (x,)).value
    for one, other in zip(got, log_sums(x)):
        assert np.all(np.abs(one - other) <= 4 * np.spacing(np.abs(other)))
