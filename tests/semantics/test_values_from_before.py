"""A value that was taken before a variable changed is the old one: in tuples, ranges, operands and comparisons."""

from __future__ import annotations

import pytest

import weft


def held_numbers(n):
    """What a tuple holds stays when the variable changes."""
    t, s = 1, 0
    for _ in range(n):
        pair = (t, 2)
        t += 1
        steps = range(t)
        t += 1
        s += pair[0] * pair[1] + len(steps)
        for k in steps:
            s += k
    items = [t, s]
    t += 5
    return s, items[0], t


def left_of_a_call(n):
    t = 1

    def add():
        nonlocal t
        t += n
        return t

    pair = (t, n)
    a = t + add()
    return a, t, pair[0], 0 < t < add() < t


@pytest.mark.parametrize("function", [held_numbers, left_of_a_call])
def test_values_from_before(function):
    compiled = weft.jit(fallback="error")(function)
    for n in (0, 1, 4):
        assert compiled(n) == function(n)
