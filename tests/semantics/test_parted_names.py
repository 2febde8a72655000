"""A second name of an array keeps what it saw when the first one is rebound in a loop."""

from __future__ import annotations

import numpy as np
import pytest

import weft


def until_settled(matrix, eps):
    v = np.ones(matrix.shape[0])
    steps = 0
    while True:
        old = v
        v = 0.5 * (matrix @ v) + 0.1
        steps += 1
        if np.abs(v - old).max() < eps or steps > 50:
            break
    return v, steps


def shared_until_rebound(a, n):
    v = a + 1.0
    total = 0.0
    for k in range(n):
        old = v
        old[0] += 1.0  # seen through both names
        total += v[0]
        v = v * 2.0
        total += old[0] - v[0]
    return v, total


def part_of_it(a, n):
    v = a * 1.0
    total = 0.0
    for k in range(n):
        tail = v[1:]
        v = v + 1.0
        total += tail.sum() - v[1:].sum()
    return v, total


def in_a_tuple(a, n):
    v = a * 1.0
    total = 0.0
    for k in range(n):
        pair = (v, k)
        v = v + pair[0]
        total += pair[0].sum() + pair[1]
    return v, total


def on_one_path(a, n):
    v = a * 1.0
    total = 0.0
    for k in range(n):
        old = v
        if k % 2:
            v = v + 1.0
        total += (v - old).sum()
    return v, total


@pytest.mark.parametrize("function", [shared_until_rebound, part_of_it, in_a_tuple])
def test_a_second_name_keeps_the_old_contents(function):
    a = np.arange(5.0)
    expected = function(a.copy(), 4)
    got = weft.jit(fallback="error")(function)(a.copy(), 4)
    np.testing.assert_array_equal(got[0], expected[0])
    assert got[1] == expected[1]


def test_the_step_that_ends_an_iteration_is_measured_against_the_one_before():
    matrix = np.random.default_rng(5).random((4, 4)) / 4
    expected = until_settled(matrix, 1e-9)
    got = weft.jit(fallback="error")(until_settled)(matrix, 1e-9)
    np.testing.assert_allclose(got[0], expected[0], rtol=1e-14)
    assert got[1] == expected[1] > 2


def test_a_name_that_is_parted_on_one_path_only_is_right():
    a = np.arange(5.0)
    expected = on_one_path(a, 5)
    got = weft.jit(fallback="silent")(on_one_path)(a, 5)
    np.testing.assert_array_equal(got[0], expected[0])
    assert got[1] == expected[1]
