"""Regions of a function that falls back: names that have no value yet where a region begins."""

from __future__ import annotations

import numpy as np
import pytest

import weft


def last_of_a_loop(a, steps):
    print(end="")
    b = a * 2.0
    for step in range(steps):
        last = b + step
        b = last * 0.5
    return b, last


def set_in_a_branch(a, steps):
    print(end="")
    for step in range(steps):
        if a[step] > 0.5:
            found = step
            total = a[: step + 1].sum()
    return found, total


def set_by_an_iteration_before(a, steps):
    rows = []
    for step in range(steps):
        print(end="")
        b = a * step + 1.0
        if step > 1:
            b = b + former * 2.0 - 1.0  # noqa: F821
        former = b * 0.5  # noqa: F841
        rows.append(b.sum())
    return rows


def set_before(a, steps):
    if steps > 2:
        scale = 3.0
    print(end="")
    b = a * 2.0
    for _ in range(steps):
        b = b * scale + a - 1.0 * a
        scale = 2.0
    return b


CASES = [last_of_a_loop, set_in_a_branch, set_by_an_iteration_before, set_before]


@pytest.mark.parametrize("function", CASES)
@pytest.mark.parametrize("steps", [0, 1, 2, 4])
def test_a_name_without_a_value_is_reported_as_python_does(function, steps):
    a = np.array([0.1, 0.2, 0.7, 0.9])
    compiled = weft.jit(fallback="silent")(function)
    for _ in range(5):
        try:
            expected = function(a, steps)
        except UnboundLocalError as error:
            with pytest.raises(UnboundLocalError, match=str(error).replace("(", r"\(")):
                compiled(a, steps)
        else:
            for one, other in zip(compiled(a, steps), expected, strict=True):
                assert np.array_equal(one, other)


@pytest.mark.native
def test_a_loop_that_sets_what_is_returned_is_a_region():
    compiled = weft.jit(fallback="silent")(last_of_a_loop)
    compiled(np.ones(1000), 40)
    assert [part for part in compiled._regions if part.signatures]


_kept = None


def set_a_global(a, steps):
    global _kept
    print(end="")
    for step in range(steps):
        _kept = a * step + 1.0 - a
    return _kept


def test_globals_that_a_region_sets_are_set_for_all():
    compiled = weft.jit(fallback="silent")(set_a_global)
    compiled(np.ones(3), 3)
    assert _kept is not None and _kept.tolist() == [2.0, 2.0, 2.0]
