"""The name of an exception handler has no value once the handler is left, whichever way that is."""

# ruff: noqa: F821, F841

from __future__ import annotations

import pytest

from weft.plain.function import Native
from weft.plain.runtime import load

pytestmark = pytest.mark.skipif(load() is None, reason="no C compiler")


def falls_through(n):
    e = 3
    try:
        1 // n
    except ZeroDivisionError as e:
        pass
    try:
        return [e]
    except UnboundLocalError:
        return "unbound"


def leaves_a_loop(n):
    e = "before"
    for k in range(3):
        try:
            1 // (n - k)
        except ZeroDivisionError as e:
            if k == 1:
                continue
            break
    try:
        return str(e)
    except UnboundLocalError:
        return "unbound"


def raises_another(n):
    e = [n]
    try:
        try:
            1 // n
        except ZeroDivisionError as e:
            [][n]
    except IndexError:
        pass
    try:
        return e[0]
    except UnboundLocalError:
        return "unbound"


def is_nested(n):
    try:
        1 // n
    except ZeroDivisionError as e:
        try:
            [][n]
        except IndexError as e:
            pass
        try:
            return str(e)
        except UnboundLocalError:
            return "unbound"
    return "none"


def set_in_its_handler(n):
    try:
        1 // n
    except ZeroDivisionError as e:
        e = 7
    try:
        return str(e)
    except UnboundLocalError:
        return "unbound"


def deleted_in_its_handler(n):
    e = 1
    try:
        1 // n
    except ZeroDivisionError as e:
        del e
    try:
        return str(e)
    except UnboundLocalError:
        return "unbound"


def deleted_in_the_body(n):
    x = 5
    try:
        del x
        1 // n
    except ZeroDivisionError:
        pass
    try:
        return x
    except UnboundLocalError:
        return "unbound"


def of_a_parameter(n, e):
    try:
        1 // n
    except ZeroDivisionError as e:
        pass
    try:
        return str(e)
    except UnboundLocalError:
        return "unbound"


def captured(n):
    e = "outer"

    def look():
        try:
            return e
        except NameError:
            return "unbound"

    try:
        1 // n
    except ZeroDivisionError as e:
        pass
    return look()


@pytest.mark.parametrize(
    "function",
    [
        falls_through,
        leaves_a_loop,
        raises_another,
        is_nested,
        set_in_its_handler,
        deleted_in_its_handler,
        deleted_in_the_body,
        of_a_parameter,
        captured,
    ],
)
def test_names_of_handlers(function):
    native = Native(function)
    native.extend((0, 2.5)[: function.__code__.co_argcount])
    for n in (0, 1, 2, 0):
        arguments = (n, 2.5)[: function.__code__.co_argcount]
        assert native(*arguments) == function(*arguments)
