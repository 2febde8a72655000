"""Builds that begin once: what the builder needs to know it finds without starting again.  Each program was one for
which it did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import pipeline
from weft.frontend import builder
from weft.ir.text import show
from weft.ir.walk import walk


def scaled_or_given(a, n):
    b = a
    for _ in range(n):
        b = b * 2.0
    return b


def two_names_of_one(a, n):
    x, y = a, a
    for i in range(n):
        if i % 2:
            x = y * 1.0
        else:
            y = x * 2.0
    return x


def read_before_it_is_changed(a, n):
    def changed(by):
        a[0] += by
        return by

    return a[0] + changed(n) * a[0]


def array_before_it_is_changed(a, n):
    def changed(by):
        a[0] += by
        return by

    return (a * 2.0) - changed(n) * a


PROGRAMS = [scaled_or_given, two_names_of_one, read_before_it_is_changed, array_before_it_is_changed]


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The attempts at builds."""
    found: list[object] = []
    real = builder.run

    def run(attempt: Any) -> Any:
        found.append(attempt)
        return real(attempt)

    monkeypatch.setattr(builder, "run", run)
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_build_begins_once(program: Callable[..., Any], begun: list[object]) -> None:
    compiled = weft.jit(fallback="error")(program)
    for count in (0, 1, 2, 5):
        mine, theirs = np.arange(4.0), np.arange(4.0)
        result, expected = compiled(mine, count), program(theirs, count)
        assert np.array_equal(result, expected) and np.array_equal(mine, theirs)
        assert (result is mine) == (expected is theirs)
    assert len(begun) == 1


def test_flags_that_nobody_reads_are_not_written() -> None:
    """Only a variable that is returned needs to know whether it is still the argument."""

    def total(a, n):
        b = a
        for _ in range(n):
            b = b * 2.0
        return b.sum()

    returned = pipeline.compile(scaled_or_given, (np.arange(4.0), 3)).program_built
    summed = pipeline.compile(total, (np.arange(4.0), 3)).program_built
    assert "b_kept" in show(returned)
    assert "kept" not in show(summed) and len(list(walk(summed.body))) > 2
