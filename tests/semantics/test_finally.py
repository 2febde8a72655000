"""`finally`: what it does after a `return` is seen in what is returned, as in Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.semantics.everyday import same


@dataclass
class Counter:
    count: int


def list_changes(n):
    log = []
    try:
        return log
    finally:
        log.append(1)


def list_changes_on_one_way(n):
    log = []
    try:
        if n == 2:
            return log
        log.append(0)
    finally:
        log.append(1)
    return log


def dict_changes(n):
    d = {}
    try:
        d["n"] = n
        return d
    finally:
        d["done"] = 1


def item_changes(n):
    xs = [0, 1, 2]
    try:
        return xs
    finally:
        xs[0] = n


def number_stays(n):
    count = n
    try:
        return count
    finally:
        count += 1


def number_beside_a_log(n):
    log = [0]
    total = 0
    for i in range(n):
        try:
            if i == 2:
                return total, i
            total += i
        finally:
            log.append(i)
            total += len(log)
    return total, -1


def return_overridden(n):
    try:
        return n
    finally:
        if n > 1:
            return -1


def inner_function(n):
    log = []

    def g():
        try:
            return log
        finally:
            log.append(n)

    return g(), len(log)


def break_passes(n):
    out = []
    for i in range(n):
        try:
            if i == 2:
                break
            if i == 1:
                continue
            out.append(i)
        finally:
            out.append(-i)
    return out


def raised_and_returned(n):
    out = []
    try:
        out.append(10 // n)
        return out
    except ZeroDivisionError:
        out.append(-1)
        return out
    finally:
        out.append(7)


def nested(n):
    out = []
    try:
        try:
            return out
        finally:
            out.append(1)
    finally:
        out.append(2)


def argument_changes(xs):
    try:
        return len(xs)
    finally:
        xs.append(9)


def argument_returned(xs):
    try:
        return xs
    finally:
        xs.append(9)


def attribute_changes(c):
    try:
        return c.count
    finally:
        c.count += 1


_OF_NUMBERS: list[Callable[..., Any]] = [
    list_changes,
    list_changes_on_one_way,
    dict_changes,
    item_changes,
    number_stays,
    number_beside_a_log,
    return_overridden,
    inner_function,
    break_passes,
    raised_and_returned,
    nested,
]


@pytest.mark.parametrize("function", _OF_NUMBERS, ids=lambda f: f.__name__)
def test_after_a_return(function: Callable[..., Any]) -> None:
    same(function, (2,), (0,), (4,), rounds=1)


def test_arguments_that_finally_changes() -> None:
    same(argument_changes, ([1, 2],), ([],))
    same(argument_returned, ([1, 2],), ([],))
    same(attribute_changes, (Counter(3),))
