"""What containers and builtin functions ask of objects whose class defines it, as functions of their own."""

from __future__ import annotations

from typing import Any


def equal(a: Any, b: Any) -> Any:
    return True if a == b else False


def less(a: Any, b: Any) -> Any:
    return a < b


def less_equal(a: Any, b: Any) -> Any:
    return a <= b


def greater(a: Any, b: Any) -> Any:
    return a > b


def greater_equal(a: Any, b: Any) -> Any:
    return a >= b


def hashed(a: Any) -> Any:
    return hash(a)


def text(a: Any) -> Any:
    return repr(a)
