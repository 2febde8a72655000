"""`a += b` of a list that is an argument changes the caller's list, also in a loop, by whichever compiler."""

from __future__ import annotations

import pytest

import weft


def added_in_a_loop(a):
    for i in range(3):
        a += [i]


def doubled_in_a_loop(a):
    for _ in range(5):
        a += a


def added_through_another_name(a):
    b = a
    for i in range(2):
        b += [i, i]


def doubled(a):
    a += a
    return len(a)


@pytest.mark.parametrize("plain", ["0", "1"])
@pytest.mark.parametrize("function", [added_in_a_loop, doubled_in_a_loop, added_through_another_name, doubled])
def test_the_caller_sees_the_change(function, plain, monkeypatch):
    monkeypatch.setenv("WEFT_PLAIN", plain)
    compiled = weft.jit(function, fallback="silent")
    for start in ([3], [1.5, 2.5], []):
        mine, theirs = list(start), list(start)
        assert compiled(mine) == function(theirs)
        assert mine == theirs
