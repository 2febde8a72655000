"""A call that was refused is left to Python without asking again: calls are counted, no clock is looked at."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import weft
from weft.frontend import regions
from weft.jitted import Jitted

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("array_compiler_only")]


def counting(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[Any]:
    calls: list[Any] = []
    original = getattr(owner, name)

    def counted(*args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        return original(*args, **kwargs)

    monkeypatch.setattr(owner, name, counted)
    return calls


def refused(x, n=2):
    return [range(3), x, n]


def refused_by_keyword(x, *, scale=1):
    return [range(3), x * scale]


def refused_star(x, *rest):
    return [range(3), x, rest]


@pytest.mark.parametrize(
    ("function", "args", "kwargs"),
    [
        (refused, (1.5,), {}),
        (refused, (1.5,), {"n": 4}),
        (refused_by_keyword, (2,), {"scale": 3}),
        (refused_star, (1, 2, 3), {}),
    ],
)
def test_a_refused_kind_is_asked_about_a_few_times(monkeypatch, function, args, kwargs) -> None:
    asked = counting(monkeypatch, Jitted, "_extend")
    compiled: Any = weft.jit(function, fallback="silent")
    for _ in range(60):
        assert compiled(*args, **kwargs) == function(*args, **kwargs)
    assert len(asked) < 8
    assert compiled.stats["python_calls"] >= 60
    for _ in range(2000):
        compiled(*args, **kwargs)
    assert len(asked) < 12  # it is asked again when there were eight times as many


def test_each_kind_is_asked_about_on_its_own(monkeypatch) -> None:
    asked = counting(monkeypatch, Jitted, "_extend")
    compiled: Any = weft.jit(refused, fallback="silent")
    for _ in range(10):
        compiled(1)
    before = len(asked)
    compiled(1.5)
    assert len(asked) == before + 1


def test_a_refused_function_is_split_once(monkeypatch) -> None:
    splits = counting(monkeypatch, regions, "split")
    compiled: Any = weft.jit(refused, fallback="silent")
    for value in (1, 1.5, True, "text", None, 2j):
        compiled(value)
    assert len(splits) == 1


def test_another_kind_of_a_refused_function_is_compiled() -> None:
    def twice(x):
        return x + x

    compiled: Any = weft.jit(twice, fallback="silent")
    for _ in range(10):
        assert compiled(Fraction(1, 3)) == Fraction(2, 3)
    assert compiled(2.5) == 5.0
    assert compiled.signatures == ["(float)"]


def test_an_error_of_a_refused_call_is_pythons() -> None:
    compiled: Any = weft.jit(refused, fallback="silent")
    for _ in range(10):
        compiled(1)
        with pytest.raises(TypeError, match="refused\\(\\) got an unexpected keyword argument 'other'"):
            compiled(1, other=2)
    assert compiled.stats["python_calls"] == 20


def test_fallback_error_is_raised_at_every_call() -> None:
    compiled: Any = weft.jit(refused, fallback="error")
    for _ in range(10):
        with pytest.raises(weft.errors.Unsupported):
            compiled(1)
