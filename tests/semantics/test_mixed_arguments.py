"""Tuples and dicts of several types as arguments: settings and states, read by constant keys and places."""

from __future__ import annotations

import copy
import functools
from collections import OrderedDict, defaultdict
from typing import Any

import numpy as np
import pytest

import weft


def by_place(p: Any, x: Any) -> Any:
    return p[0] * x + p[1] + p[-1].sum()


def unpacked(p: Any, x: Any) -> Any:
    scale, (low, high), weights = p
    return np.clip(scale * x, low, high) @ weights


def with_length(p: Any, x: Any) -> Any:
    total = 0.0
    for item in p:
        total += item[0] * x
    return total + len(p)


def settings(p: Any, x: Any) -> Any:
    return p["scale"] * x + p["shift"] if p["name"] == "line" else p["scale"] * x


def nested(p: Any, x: Any) -> Any:
    return x * p["solver"]["tolerance"] + p["grid"][1] - p["field"][0]


def writes(p: Any, x: Any) -> Any:
    p["old"][:] = p["new"]
    p["new"][1:-1] = 0.5 * (p["old"][2:] + p["old"][:-2]) * x
    return p["new"].sum()


FIELD = np.arange(5.0)
CASES = [
    (by_place, (2.0, 3, FIELD), FIELD),
    (unpacked, (2.0, (1, 4.5), FIELD), FIELD),
    (with_length, ((1.5, 2), (2.5, FIELD)), 2.0),
    (settings, {"scale": 2.0, "shift": 3, "name": "line"}, FIELD),
    (settings, {"scale": 2.0, "name": "other"}, FIELD),
    (nested, {"solver": {"tolerance": 1e-3, "steps": 5}, "grid": (3, 4.0), "field": FIELD}, FIELD),
    (writes, {"old": FIELD.copy(), "new": FIELD[::-1].copy(), "n": 3}, 2.0),
]


@functools.cache
def compiled(function: Any) -> Any:
    return weft.jit(fallback="error")(function)


@pytest.mark.parametrize(("function", "p", "x"), CASES, ids=[case[0].__name__ for case in CASES])
def test_as_python(function: Any, p: Any, x: Any) -> None:
    mine, theirs = copy.deepcopy(p), copy.deepcopy(p)
    expected = function(theirs, x)
    result = compiled(function)(mine, x)
    assert type(result) is type(expected)
    np.testing.assert_allclose(result, expected, rtol=1e-14)
    np.testing.assert_equal(mine, theirs)


def test_each_call_reads_again() -> None:
    function = weft.jit(settings)
    p: dict[str, Any] = {"scale": 2.0, "shift": 3, "name": "line"}
    assert function(p, 1.0) == 5.0
    p["scale"] = 4.0
    assert function(p, 1.0) == 7.0
    p["scale"] = np.float32(0.5)  # another type: another version
    assert function(p, 1.0) == 3.5
    p["name"] = "other"
    assert function(p, 1.0) == 0.5
    del p["scale"]
    with pytest.raises(KeyError, match="scale"):
        function(p, 1.0)


def test_tuples_of_another_length() -> None:
    function = weft.jit(with_length)
    assert function(((1.5, 2), (2.5, FIELD)), 2.0) == 10.0
    assert function(((1.5, 2), (2.5, FIELD), (1.0, FIELD)), 2.0) == 13.0
    with pytest.raises(IndexError):
        weft.jit(by_place)((), FIELD)


def test_other_kinds_of_dict_are_asked_as_python_asks() -> None:
    function = weft.jit(settings)
    missing: defaultdict[str, Any] = defaultdict(lambda: 1.5, name="line")
    assert function(missing, 2.0) == 4.5
    assert set(missing) == {"name", "scale", "shift"}
    assert function(OrderedDict(scale=2.0, shift=1, name="line"), 2.0) == 5.0


def test_one_array_in_two_places() -> None:
    both = {"old": FIELD.copy(), "n": 1}
    both["new"] = both["old"]
    again = copy.deepcopy(both)
    assert weft.jit(writes)(both, 2.0) == writes(again, 2.0)
    np.testing.assert_array_equal(both["old"], again["old"])  # type: ignore[arg-type]


def test_entries_that_the_function_sets() -> None:
    def count(p: Any) -> Any:
        p["calls"] = p["calls"] + 1
        return p["scale"] * p["calls"]

    p = {"calls": 0, "scale": 0.5}
    function = weft.jit(count)
    assert [function(p), function(p)] == [0.5, 1.0]
    assert p == {"calls": 2, "scale": 0.5}


def distance(p: Any, q: Any) -> Any:
    return ((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2) ** 0.5


def filled(shape: Any, value: Any) -> Any:
    return np.full(shape, value)


def summed(a: Any, axes: Any) -> Any:
    return a.sum(axis=axes)


def added(p: Any) -> Any:
    total = 0
    for item in p:
        total += item
    return total, len(p), p


@pytest.mark.usefixtures("array_compiler_only")
def test_tuples_of_other_numbers_share_a_version() -> None:
    """The first is compiled in; from the second on they are read by their items, unless they must be known."""
    of_points, of_shapes, of_axes, of_any = (weft.jit(fallback="error")(f) for f in (distance, filled, summed, added))
    for i in range(8):
        assert of_points((1.0, 2.0), (3.0, float(i))) == distance((1.0, 2.0), (3.0, float(i)))
        np.testing.assert_array_equal(of_shapes((i, 3), 2.0), np.full((i, 3), 2.0))
    assert len(of_points.versions) == len(of_shapes.versions) == 2
    cube = np.arange(24.0).reshape(2, 3, 4)
    for axes in ((0, 1), (1, 2), (0, 2), (0, 1, 2)):
        np.testing.assert_array_equal(of_axes(cube, axes), cube.sum(axis=axes))
    for p in ((1, 2, 3), (1, 2, 4), (5, 6), (1.0, 2), (1, 2, 9), (7, 8), (2.5, 1), (True, 1), (2**70, 1)):
        assert repr(of_any(p) if p[0] != 2**70 else weft.jit(added)(p)) == repr(added(p))
