"""min and max of tuples and of strings: by Python's order, the first of equals."""

from __future__ import annotations

from typing import Any

import pytest

import weft


def running(n: int) -> Any:
    best, least = (0, 0), (9, 9)
    for i in range(n):
        best = max(best, (i * 7 % 5, i))
        least = min(least, (i * 3 % 4, -i), (7, 7))
    return best, least


def of_two_types(n: int) -> Any:
    return min((3, n), (n, 3)), max((1.5, n), (1.5, 2), (0.5, 9))


def of_a_list(items: Any) -> Any:
    return max(items), min(items)


def of_a_generator(n: int) -> Any:
    return max((i * 7 % 5, i) for i in range(n)), min([(i % 3, i) for i in range(n)])


def of_strings(one: str, other: str) -> Any:
    return max(one, other), min(one, other, "m")


CASES = [
    (running, (9,)),
    (running, (0,)),
    (of_two_types, (4,)),
    (of_a_list, ([(1, 2), (3, 4), (3, 1)],)),
    (of_a_list, ([(float("nan"), 1.0), (2.0, 3.0), (2.0, float("nan"))],)),
    (of_a_generator, (9,)),
    (of_strings, ("ab", "c")),
    (of_strings, ("", "n")),
]


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_as_python(function: Any, arguments: tuple[Any, ...]) -> None:
    assert repr(weft.jit(fallback="error")(function)(*arguments)) == repr(function(*arguments))


def test_of_nothing() -> None:
    with pytest.raises(ValueError, match="empty"):
        weft.jit(of_a_generator)(0)
