"""Methods of str, over searching and slices."""

from __future__ import annotations

from typing import Any


def partition(text: Any, separator: Any) -> Any:
    if len(separator) == 0:
        raise ValueError("empty separator")
    at = text.find(separator)
    if at < 0:
        return text, "", ""
    return text[:at], separator, text[at + len(separator) :]


def rpartition(text: Any, separator: Any) -> Any:
    if len(separator) == 0:
        raise ValueError("empty separator")
    at = text.rfind(separator)
    if at < 0:
        return "", "", text
    return text[:at], separator, text[at + len(separator) :]


def list_text(values: Any) -> Any:
    return "[" + ", ".join([repr(item) for item in values]) + "]"


def tuple_text(values: Any) -> Any:
    if len(values) == 1:
        return "(" + repr(values[0]) + ",)"
    return "(" + ", ".join([repr(item) for item in values]) + ")"


def dict_text(values: Any) -> Any:
    return "{" + ", ".join([repr(key) + ": " + repr(item) for key, item in values.items()]) + "}"


def set_text(values: Any) -> Any:
    if not values:
        return "set()"
    return "{" + ", ".join([repr(item) for item in values]) + "}"
