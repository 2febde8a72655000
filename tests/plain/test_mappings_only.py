"""`**` takes a mapping alone: pairs, texts and None are Python's TypeError."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from typing import Any

import pytest

import weft


def copied(x: Any) -> Any:
    return {**x}


def caught(x: Any) -> Any:
    try:
        return {"a": 1, **x, "b": 2}
    except TypeError as error:
        return str(error)


def passed(x: Any) -> Any:
    def inner(**named: Any) -> dict[str, Any]:
        return named

    try:
        return inner(**x)
    except TypeError as error:
        return str(error)


VALUES = [{"a": 1}, {}, [("a", 1)], [], ["ab"], "", "ab", None, 3, Counter("abca"), OrderedDict(z=1), defaultdict(int)]


def outcome(function: Any, value: Any) -> Any:
    try:
        return function(value)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("function", [copied, caught, passed])
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_two_stars_take_a_mapping(function: Any, value: Any) -> None:
    compiled = weft.jit(fallback="silent", cache=False)(function)
    for _ in range(3):
        found, expected = outcome(compiled, value), outcome(function, value)
        assert (type(found), found) == (type(expected), expected)
