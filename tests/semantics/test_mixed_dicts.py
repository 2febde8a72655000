"""Dicts of several types of values that a function makes: results under names."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import weft


def summary(x: Any) -> Any:
    extent = (x.min(), x.max())
    return {"mean": x.mean(), "n": len(x), "low": x[x < 0.5], "name": "all", "nothing": None, "range": extent}


def step_by_step(x: Any) -> Any:
    out = {}
    out["total"] = float(x.sum())
    out["squares"] = x * x
    out["n"] = 0
    for value in x:
        if value > 0.5:
            out["n"] += 1
    out["squares"][0] = out["n"]
    out["squares"] *= 2.0
    return out


def inner(x: Any) -> Any:
    part = {"rows": x.shape[0], "values": x[::2].copy()}
    return {"part": part, "both": [1, 2.5], "ok": "rows" in part and "columns" not in part, "size": len(part)}


def read_back(x: Any) -> Any:
    p = {"scale": 2, "shift": 0.5, "mask": x > 0.5}
    if p["scale"] > 1:
        p["shift"] = 1.5
    return np.where(p["mask"], p["scale"] * x, p["shift"]) + p.get("offset", 1) + p.get("scale")


def two_of_them(x: Any) -> Any:
    return {"a": x.sum(), "b": 1}, {"a": 1, "b": x}


def through_a_function(x: Any) -> Any:
    def options(scale: Any) -> Any:
        return {"scale": scale, "weights": x}

    one = options(2)
    return one["scale"] * one["weights"].sum()


def a_second_name(x: Any) -> Any:
    one = {"n": 1, "x": x.copy()}
    other = one
    other["n"] = 5
    other["x"][0] = 9.0
    return one


FUNCTIONS = [summary, step_by_step, inner, read_back, two_of_them, through_a_function, a_second_name]


def held_alike(mine: Any, theirs: Any) -> None:
    assert type(mine) is type(theirs)
    if isinstance(theirs, dict):
        assert list(mine) == list(theirs)
        mine, theirs = list(mine.values()), list(theirs.values())
    if isinstance(theirs, (list, tuple)):
        assert len(mine) == len(theirs)
        for one, other in zip(mine, theirs):
            held_alike(one, other)
    elif isinstance(theirs, np.ndarray):
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=1e-14)
    elif isinstance(theirs, float):
        assert mine == pytest.approx(theirs, rel=1e-14)
    else:
        assert mine == theirs


@functools.cache
def compiled(function: Any) -> Any:
    return weft.jit(fallback="error")(function)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("size", [1, 7, 100])
def test_as_python(function: Any, size: int) -> None:
    x = np.random.default_rng(size).random(size)
    held_alike(compiled(function)(x.copy()), function(x.copy()))


def picked(x: Any, name: str) -> Any:
    held = {"sum": x.sum(), "n": len(x), "x": x}
    return held[name]


def walked(x: Any) -> Any:
    held = {"sum": x.sum(), "n": len(x)}
    return [key + str(type(value).__name__) for key, value in held.items()]


def set_in_a_branch(x: Any) -> Any:
    held = {"n": len(x), "x": x}
    if x[0] > 0.5:
        held["large"] = True
    return held


def missing(x: Any) -> Any:
    held = {"n": len(x), "x": x}
    return held["m"]


def compared(x: Any) -> Any:
    one, other = {"n": len(x), "a": 1.0}, {"n": len(x), "a": 1.0}
    return one == other, bool(one), isinstance(one, dict), one is other


@pytest.mark.filterwarnings("ignore::weft.FallbackWarning")
def test_what_stays_with_python() -> None:
    x = np.linspace(0, 1, 5)
    large = x[::-1].copy()
    for name in ("sum", "n"):
        held_alike(weft.jit(picked)(x, name), picked(x, name))
    assert weft.jit(picked)(x, "x") is x
    for function in (walked, set_in_a_branch, compared):
        for argument in (x, large):
            held_alike(weft.jit(function)(argument), function(argument))
    with pytest.raises(KeyError, match="m"):
        weft.jit(missing)(x)
