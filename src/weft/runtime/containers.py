"""Containers for the caller.  In: the numbers of a compiled list, deque, dict or set as columns, and how an item is
made of them (0 for a number, a tuple for a tuple); out: the Python object.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from operator import ne
from typing import Any, Union

Template = Union[int, tuple["Template", ...]]
Column = list[Any]


def _items(template: Template, columns: Iterator[Column]) -> Column:
    if isinstance(template, tuple):
        return list(zip(*[_items(part, columns) for part in template]))
    return next(columns)


def list_of(template: Template, *columns: Column) -> list[Any]:
    return _items(template, iter(columns))


def deque_of(template: Template, *columns: Column) -> deque[Any]:
    return deque(_items(template, iter(columns)))


def dict_of(key: Template, value: Template, *columns: Column) -> dict[Any, Any]:
    numbers = iter(columns)
    return dict(zip(_items(key, numbers), _items(value, numbers)))


def defaultdict_of(kind: str, key: Template, value: Template, *columns: Column) -> dict[Any, Any]:
    return defaultdict({"int": int, "float": float}[kind], dict_of(key, value, *columns))


def changed_list(result: Any, target: list[Any], template: Template, *columns: Column) -> Any:
    """The result of a call that has changed a list: it holds these items now."""
    target[:] = _items(template, iter(columns))
    return result


def changed_dict(result: Any, target: dict[Any, Any], key: Template, value: Template, *columns: Column) -> Any:
    """The result of a call that has changed a dict: it holds these entries now, in this order."""
    numbers = iter(columns)
    keys, values = _items(key, numbers), _items(value, numbers)
    if len(keys) < len(target) or any(map(ne, target, keys)):
        target.clear()
    target.update(zip(keys, values))
    return result


def changed_set(result: Any, target: set[Any], template: Template, *columns: Column) -> Any:
    """The result of a call that has added these items to a set, in this order."""
    for item in _items(template, iter(columns)):
        target.add(item)
    return result


def set_of(template: Template, *columns: Column) -> set[Any]:
    return set(_items(template, iter(columns)))
