"""`weft.bench`, and what notebooks show of functions and programs."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import weft
from weft.comparing import Comparison


def _doubled(a: Any, found: Any) -> Any:
    for i in range(a.shape[0]):
        a[i] = 2 * a[i]
    found.append(a.shape[0])
    return a.sum()


def test_both_ways_start_from_the_same_arguments() -> None:
    a, found = np.arange(100.0), [1]
    compared = weft.bench(weft.jit(_doubled, fallback="silent"), a, found, seconds=0.01)
    assert compared.equal and a[1] == 1.0 and found == [1]
    assert compared.weft > 0 and compared.python > 0 and compared.first >= compared.weft
    assert str(compared).startswith("_doubled: ") and "<table" in compared._repr_html_()


def test_a_difference_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong:
        py_func = staticmethod(lambda x: x + 1)
        signatures = ("(int)",)

        def __call__(self, x: int) -> int:
            return x + 2

    compared = weft.bench(Wrong(), 1, seconds=0.001)
    assert not compared.equal and "differ" in str(compared)


@pytest.mark.native
def test_a_function_and_its_program_are_drawn() -> None:
    @weft.jit(fallback="error")
    def total(a: Any) -> Any:
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i] * a[i]
        return s

    assert "call it once" in total._repr_html_()
    total(np.arange(9.0))
    assert "(f64[:])" in total._repr_html_()
    drawn = total.program()._repr_html_()
    assert drawn.count("<details") == 3 and "for i: 0 &lt;= i" in drawn and "<script" not in drawn


def test_no_version_is_explained() -> None:
    made = weft.jit(lambda: open("/dev/null").close(), fallback="silent")
    with pytest.raises(weft.WeftError, match="call it once"):
        made.inspect("c")
    made()
    with pytest.raises(weft.WeftError, match="no native version"):
        made.inspect("c")


@pytest.mark.parametrize(
    ("weft_seconds", "told"), [(1.0, "1 times"), (0.08, "12.5 times"), (0.00007245, "13,800 times"), (0.0, "inf times")]
)
def test_ratios_are_told_without_an_exponent(weft_seconds: float, told: str) -> None:
    found = Comparison("f", 1.0, weft_seconds, 1.0, True, True)
    assert f"f: {told} the speed" in str(found) and f"f: {told} the speed" in found._repr_html_()


@pytest.mark.native
def test_conditions_of_a_drawn_program_are_shown() -> None:
    @weft.jit(fallback="error")
    def chosen(a: Any, n: Any) -> Any:
        if n > 3:
            for i in range(a.shape[0]):
                a[i] = a[i] / n
        else:
            a[0] = 1.0
        return a

    chosen(np.arange(9.0), 4)
    drawn = chosen.program()._repr_html_()
    assert re.search(r">if [^<]*\bn\b", drawn) and ">else<" in drawn and ">if<" not in drawn
