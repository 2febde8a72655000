"""Containers with strings in them, as arguments.  In: a list, dict or set and the template of what it holds; out: the
same container with a number in place of each string, and the strings by their numbers, each once.

    template := "[" item "]" | "{" item "}" | prefix "{" item ":" item "}"       prefix := "" | "C" | "Di" | "Df" | ...
    item     := "s" | "i" | "f" | "b" | "c" | "(" item... ")" | template

    {"a": ["b", "a"]}    -->    {0: [1, 0]}, ["a", "b"]

A set becomes a list, in its order: that of numbers would be another.  What does not fit the template is a LookupError,
and what does not fit in its numbers is found by the guards (weft.runtime.templates).
"""

from __future__ import annotations

import functools
import itertools
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from weft.runtime.templates import FACTORIES

#: What gives the numbered form of an item, by the numbers of strings.
_Convert = Callable[[Iterable[Any], Callable[[str], int]], list[Any]]

_last = threading.local()


def structure_of(template: str, value: Any) -> Any:
    """The numbered form of a container; `names_of` then gives its strings."""
    if not value:
        raise LookupError("nothing in it")  # so it is none of the other arguments, which hold something else
    numbers: defaultdict[str, int] = defaultdict(itertools.count().__next__)
    try:
        (made,) = _parsed(template)([value], numbers.__getitem__)
    except (TypeError, ValueError) as problem:
        raise LookupError(f"no {template}") from problem
    if not set(map(type, numbers)) <= {str}:
        raise LookupError("something else among strings")
    _last.names = list(numbers)
    return made


def names_of(value: Any) -> list[str]:
    """The strings of the container that has just been numbered."""
    names: list[str] = _last.names
    _last.names = []
    return names


@functools.lru_cache(maxsize=256)
def _parsed(template: str) -> _Convert:
    convert, rest = _item(template)
    assert not rest, template
    return convert


def _item(text: str) -> tuple[_Convert, str]:
    """What converts all items of one place at once, and the rest of the template."""
    if text[0] in "ifbc":
        return lambda items, number: list(items), text[1:]
    if text[0] == "s":
        return lambda items, number: list(map(number, items)), text[1:]
    if text[0] == "(":
        parts, rest = [], text[1:]
        while rest[0] != ")":
            part, rest = _item(rest)
            parts.append(part)
        return functools.partial(_tuples, tuple(parts)), rest[1:]
    if text[0] == "[":
        inner, rest = _item(text[1:])
        return functools.partial(_runs, list, inner), rest[1:]
    prefix, _, rest = text.partition("{")
    key, rest = _item(rest)
    if rest[0] == "}":
        return functools.partial(_runs, set, key), rest[1:]
    held, rest = _item(rest[1:])
    return functools.partial(_dicts, prefix, key, held), rest[1:]


def _of_kind(items: Iterable[Any], kind: type) -> list[Any]:
    found = list(items)
    if not set(map(type, found)) <= {kind}:
        raise LookupError(f"not of type {kind.__name__} alone")
    return found


def _tuples(parts: tuple[_Convert, ...], items: Iterable[Any], number: Callable[[str], int]) -> list[Any]:
    found = _of_kind(items, tuple)
    if not set(map(len, found)) <= {len(parts)}:
        raise LookupError("tuples of another length")
    if not found:
        return []
    return list(zip(*(part(column, number) for part, column in zip(parts, zip(*found)))))


def _runs(kind: type, inner: _Convert, items: Iterable[Any], number: Callable[[str], int]) -> list[Any]:
    """Lists, or sets as lists: what they hold is converted in one go."""
    found = _of_kind(items, kind)
    numbered = iter(inner(itertools.chain.from_iterable(found), number))
    return [list(itertools.islice(numbered, len(one))) for one in found]


def _dicts(
    prefix: str, key: _Convert, held: _Convert, items: Iterable[Any], number: Callable[[str], int]
) -> list[Any]:
    kind: type = Counter if prefix == "C" else defaultdict if prefix else dict
    found = _of_kind(items, kind)
    factory = FACTORIES[prefix[1]] if kind is defaultdict else None
    if factory is not None and any(one.default_factory is not factory for one in found):
        raise LookupError("another default")
    keys = iter(key(itertools.chain.from_iterable(found), number))
    values = iter(held(itertools.chain.from_iterable(one.values() for one in found), number))
    made = []
    for one in found:
        count = len(one)
        new: dict[Any, Any] = {} if kind is dict else Counter() if factory is None else defaultdict(factory)
        dict.update(new, zip(itertools.islice(keys, count), itertools.islice(values, count)))
        made.append(new)
    return made
