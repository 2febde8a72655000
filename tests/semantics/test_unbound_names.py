"""Names without a value: where Python raises UnboundLocalError or NameError, so does the compiled function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.semantics.everyday import same


def rebound_variable(n):
    for i in range(n):
        i += 10
    return i


def rebound_item(xs):
    for x in xs:
        x = x * 2
    return x


def rebound_after_a_value(n):
    z = 0
    for z in range(n):
        z = z * 2
    return z


def inner_rebound(n):
    for i in range(n):
        for j in range(i):
            j += 2
    return i, j


def read_only_if_it_ran(n):
    for i in range(n):
        i += 1
    if n > 0:
        return i
    return 0


def deleted_in_branch(n):
    x = 5
    if n:
        del x
    return x


def deleted_in_loop(n):
    x = 1
    for i in range(n):
        if i == 2:
            del x
        else:
            x = i
    return x


def deleted_twice(n):
    x = n
    for _ in range(n):
        del x
    return n


def deleted_and_set_again(n):
    total = 0
    for i in range(n):
        x = i
        total += x
        del x
    return total


def deleted_under_a_closure(n):
    x = 1

    def get():
        return x

    if n:
        del x
    return get()


def handler_unsets(n):
    e = 3
    try:
        1 // n
    except ZeroDivisionError as e:  # noqa: F841
        pass
    return e


def handler_unsets_in_loop(n):
    e = 5
    for i in range(n):
        try:
            e += 10 // (i - 2)
        except ZeroDivisionError as e:  # noqa: F841
            pass
    return e


def two_handlers(n):
    r = 0
    try:
        r = 10 // n
    except ZeroDivisionError as err:  # noqa: F841
        r = -1
    try:
        r += 5 // (n - 1)
    except ZeroDivisionError as err:  # noqa: F841
        r = -2
    return r


def handler_unsets_before_a_region(n, a):
    e = 3
    total = 0.0
    for x in a:
        total += x
    try:
        total += 1 // n
    except ZeroDivisionError as e:  # noqa: F841
        total = -1.0
    print(total)
    for x in a:
        total += x * e
    return total


def free_in_function(n):
    if n:
        y = 1

    def g():
        return y

    return g()


def free_in_lambda(n):
    if n:
        z = 4
    return (lambda u: u + z)(1)


def free_in_comprehension(n):
    if n:
        q = 2.5
    return [q for _ in range(2)]


def called_too_early(n):
    def g():
        return z

    if n > 3:
        return g()
    z = 2
    return g()


def only_annotated(n):
    x: int
    if n:
        x = 3
    return x


def named_in_comprehension(xs):
    doubled = [y := x * 2 for x in xs]
    return y, doubled


def left_by_break(n):
    while n > 3:
        if n == 7:
            break
        w = n
        n -= 1
    else:
        return n
    return w


_NUMBERS = [(0,), (1,), (2,), (3,), (5,), (9,)]
_OF_NUMBERS: list[Callable[..., Any]] = [
    rebound_variable,
    rebound_after_a_value,
    inner_rebound,
    read_only_if_it_ran,
    deleted_in_branch,
    deleted_in_loop,
    deleted_twice,
    deleted_and_set_again,
    deleted_under_a_closure,
    handler_unsets,
    handler_unsets_in_loop,
    two_handlers,
    free_in_function,
    free_in_lambda,
    free_in_comprehension,
    called_too_early,
    only_annotated,
    left_by_break,
]


@pytest.mark.parametrize("function", _OF_NUMBERS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("first", [0, 3])
def test_names_that_numbers_decide_on(function: Callable[..., Any], first: int) -> None:
    same(function, *_NUMBERS[first:], *_NUMBERS[:first], rounds=1)


@pytest.mark.parametrize("function", [rebound_item, named_in_comprehension], ids=lambda f: f.__name__)
def test_names_that_lists_decide_on(function: Callable[..., Any]) -> None:
    same(function, ([1, 2],), ([],), ([1.5],))


def test_a_region_does_not_hide_that_a_name_is_unset() -> None:
    same(handler_unsets_before_a_region, (1, [1.0, 2.0]), (0, [1.0, 2.0]))
