"""Arguments for which None means that they are left out: also where only the run time knows whether they are None."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import pytest

from weft.plain.function import Native
from weft.plain.runtime import load
from weft.plain.told import Refusal

pytestmark = pytest.mark.skipif(load() is None, reason="no C compiler")


def rounded(x: Any) -> Any:
    try:
        return round(2.567, x), round(1234, x)
    except TypeError:
        return "caught"


def bounded(x: Any) -> Any:
    try:
        found = list(collections.deque([1, 2, 3], x))
        return found, collections.Counter("aab").most_common(x)
    except TypeError:
        return "caught"


def searched(x: Any) -> Any:
    try:
        return (
            "a-b-a".find("a", x),
            "a-b".index("b", x),
            "a-b-a".count("a", x),
            "ab".startswith("b", x),
            "a-b".rfind("a", 0, x),
        )
    except TypeError:
        return "caught"


def powered(x: Any) -> Any:
    try:
        return pow(3, 4, x)
    except TypeError:
        return "caught"


def sliced(x: Any) -> Any:
    values = [1, 2, 3, 4]
    try:
        values[::x] = [7, 8]
    except ValueError:
        values.append(0)
    return values, values[x:], "abcd"[:x], (1, 2, 3)[::x]


def sized(x: Any) -> Any:
    try:
        return bytes(x), bytearray(x) if x is not None else None
    except TypeError:
        return "caught"


def printed(x: Any) -> Any:
    mark = "-" if x else None
    text = " a-b " if x else "  "
    return text.strip(mark), text.split(mark), text.rsplit(mark, 1), "ab\ncd".splitlines(bool(x))


def keyed(x: Any) -> Any:
    key = None if x is None else lambda value: -value
    try:
        return sorted([1, 3, 2], key=key), max([1, 3, 2], key=key), min([1, 3, 2], key=key), list(filter(key, [0, 1]))
    except TypeError:
        return "caught"


def reversed_by(x: Any) -> Any:
    try:
        return sorted([1, 3, 2], reverse=x)
    except TypeError:
        return "caught"


def outcome(function: Callable[[Any], Any], value: Any) -> Any:
    try:
        found = function(value)
        return type(found), found
    except Exception as error:
        return type(error), str(error)


FUNCTIONS = [rounded, bounded, searched, powered, sliced, sized, printed, keyed, reversed_by]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_none_is_as_good_as_nothing(function: Callable[[Any], Any]) -> None:
    def either(flag: bool, a: Any, b: Any) -> Any:
        return function(a if flag else b)

    taken = 0
    for one, other in ((2, None), ("a", None), (True, 2), (None, 1.5)):
        compiled = Native(either)
        try:
            compiled.extend((True, one, other))
        except Refusal:
            continue
        taken += 1
        for flag in (True, False, True):
            expected = outcome(function, one if flag else other)
            try:
                found = compiled(flag, one, other)
                seen = type(found), found
            except Exception as error:
                seen = type(error), str(error)
            assert seen == expected, (one, other, flag)
    assert taken
