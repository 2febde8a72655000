"""Methods of collections.Counter, as plain Python that is compiled for the types of a counter."""

from __future__ import annotations

from typing import Any


def most_common(counter: Any) -> Any:
    return sorted(counter.items(), key=lambda item: item[1], reverse=True)


def most_common_few(counter: Any, n: Any) -> Any:
    # For one item CPython takes the maximum, else nlargest: both have the order of a stable sort.
    return sorted(counter.items(), key=lambda item: item[1], reverse=True)[: max(n, 0)]


def elements(counter: Any) -> Any:
    for key, number in counter.items():
        for _ in range(number):
            yield key


def total(counter: Any) -> Any:
    return sum(counter.values())


def add(made: Any, one: Any, other: Any) -> None:
    for key, number in one.items():
        new = number + other[key]
        if new > 0:
            made[key] = new
    for key, number in other.items():
        if key not in one and number > 0:
            made[key] = number


def subtract(made: Any, one: Any, other: Any) -> None:
    for key, number in one.items():
        new = number - other[key]
        if new > 0:
            made[key] = new
    for key, number in other.items():
        if key not in one and number < 0:
            made[key] = 0 - number


def union(made: Any, one: Any, other: Any) -> None:
    for key, number in one.items():
        theirs = other[key]
        new = theirs if number < theirs else number
        if new > 0:
            made[key] = new
    for key, number in other.items():
        if key not in one and number > 0:
            made[key] = number


def intersection(made: Any, one: Any, other: Any) -> None:
    for key, number in one.items():
        theirs = other[key]
        new = number if number < theirs else theirs
        if new > 0:
            made[key] = new
