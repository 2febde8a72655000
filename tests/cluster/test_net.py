"""Functions for a cluster whose planning fails in weft itself, or does not end: this machine runs the call."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import weft
from weft import steps
from weft.cluster import function as planning


def scaled(a: Any) -> Any:
    b = np.empty_like(a)
    for i in range(len(a)):
        b[i] = 2.0 * a[i]
    return b


@pytest.fixture(autouse=True)
def _as_users_run_it(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Mistakes of weft's are not raised, and no call is too small for a warning."""
    monkeypatch.delenv("WEFT_VERIFY", raising=False)
    monkeypatch.setattr(planning, "_is_small", lambda values: False)
    yield
    steps.trap = None


def reasons(**options: Any) -> list[str]:
    compiled: Any = weft.jit(target="ray", **options)(scaled)
    given = np.arange(8.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            np.testing.assert_array_equal(compiled(given), scaled(given))
    return [str(item.message) for item in caught if "on this machine" in str(item.message)]


@pytest.mark.parametrize("step", ["source", "build", "simplify", "hoist"])
def test_a_step_that_fails(step: str) -> None:
    def trap(name: str) -> None:
        if name == step:
            raise KeyError("of weft's own")

    steps.trap = trap
    told = reasons()
    assert len(told) == 1 and "an error inside weft: KeyError" in told[0]


def test_what_fails_behind_the_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise AttributeError("of weft's own")

    monkeypatch.setattr(planning, "make", fails)
    told = reasons()
    assert len(told) == 1 and "an error inside weft: AttributeError" in told[0]


def test_planning_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    def trap(name: str) -> None:
        nonlocal now
        now += 100.0 if name == "simplify" else 0.0

    monkeypatch.setattr(steps, "clock", lambda: now)
    steps.trap = trap
    told = reasons(compile_timeout=50)
    assert len(told) == 1 and "compiling takes longer than 50 s" in told[0]


def test_a_refusal_is_the_callers_to_see_where_fallback_is_an_error() -> None:
    with pytest.raises(weft.Unsupported):
        weft.jit(target="ray", fallback="error")(lambda a: a.nothing())(np.arange(8.0))
