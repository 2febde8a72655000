"""A refusal is known to the next process, until anything that the analysis may have looked at has changed."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft import steps

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("array_compiler_only")]

LIMIT = 3


class Part:
    def __init__(self, size: int) -> None:
        self.size = size

    def ends(self):
        return [range(self.size)]


def helper(n):
    return [range(n), n]


def other_helper(n):
    return [range(n + 1), n]


def refused(n):
    return helper(n + LIMIT)


def of_part(part):
    return part.ends()


def built(function: Any, *args: Any) -> bool:
    """Whether a new process would analyse the function for these arguments."""
    met: list[str] = []
    compiled: Any = weft.jit(function, fallback="silent")
    steps.trap = met.append
    try:
        assert str(compiled(*args)) == str(function(*args))
    finally:
        steps.trap = None
    assert compiled.stats["fallbacks"]
    return "build" in met


@pytest.fixture(autouse=True)
def _own(private_cache: Path) -> None:
    pass


def test_a_refusal_is_not_worked_out_again() -> None:
    assert built(refused, 2)
    assert not built(refused, 2)
    assert built(refused, True)


def test_it_tells_the_same() -> None:
    told = []
    for _ in range(2):
        with pytest.warns(weft.FallbackWarning) as found:
            weft.jit(refused)(2)
        told.append([str(item.message) for item in found])
    assert told[0] == told[1]


def test_another_helper_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    assert built(refused, 2)
    monkeypatch.setattr(helper, "__code__", other_helper.__code__)
    assert built(refused, 2)


def test_another_constant_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    assert built(refused, 2)
    monkeypatch.setitem(globals(), "LIMIT", 4)
    assert built(refused, 2)


def test_another_method_of_an_argument_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    assert built(of_part, Part(2))
    assert not built(of_part, Part(2))
    monkeypatch.setattr(Part, "ends", lambda self: [range(self.size + 1)])
    assert built(of_part, Part(2))


def test_another_body_is_looked_at() -> None:
    again = types.FunctionType(refused.__code__, globals(), "refused")
    assert built(refused, 2)
    assert not built(again, 2)
    again.__code__ = of_part.__code__
    assert built(again, Part(2))


def test_an_error_inside_weft_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WEFT_VERIFY", raising=False)

    def trap(entered: str) -> None:
        if entered == "simplify":
            raise RuntimeError

    def doubled(n):
        return n + n

    steps.trap = trap
    try:
        assert weft.jit(doubled, fallback="silent")(2) == 4
    finally:
        steps.trap = None
    compiled: Any = weft.jit(doubled, fallback="error")
    assert compiled(2) == 4


def in_parts(a, seen):
    for i in range(a.shape[0]):
        a[i] = a[i] + 1
    seen.append(range(LIMIT))
    for i in range(a.shape[0]):
        a[i] = a[i] * LIMIT
    return a


def test_regions_are_restored() -> None:
    def steps_met() -> set[str]:
        met: list[str] = []
        compiled: Any = weft.jit(in_parts, fallback="silent")
        steps.trap = met.append
        try:
            assert compiled(np.arange(4), []).tolist() == [3, 6, 9, 12]
        finally:
            steps.trap = None
        assert [sum(region.call_counts) for region in compiled._regions] == [1, 1]
        return set(met)

    assert {"build", "keep"} <= steps_met()
    assert not {"build", "C compiler"} & steps_met()
