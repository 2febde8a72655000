"""Containers as arguments.  In: a Python list, dict or set and the template of what it holds; out: its numbers as
columns, and the other way round.  The native dispatcher does the same in C (native/containers.c).

    template := "[" item "]" | "d[" item "]" | "{" item "}" | dict | "<" type ":" rank ">" | "<<...>>"
    dict     := ("" | "C" | "Di" | "Df" | "Dl" | "Ds" | "Dd") "{" item ":" item "}"
    item     := "i" | "f" | "b" | "c" | "(" item... ")" | "[" item "]" | "{" item "}" | dict
    result   := item | "n" | "s" | "y" | "N" | "?" result | "<" type ":" rank ":" memory ">"

A list of items, a deque, a set, a dict, a Counter, a defaultdict of int, float, list, set or dict.  Each number of an
item is a column.  Lists, sets and dicts that are items follow one another in the columns of their own items; one more
column, before those, tells where each of them begins, and where the last one ends.  "<12:2>" is a list of arrays of
NumPy's type 12 and rank 2, all of one shape, as an array with one more axis; "<<12:1>>" one of arrays of any lengths,
as two columns.  Items of results only: NumPy's numbers, strings, bytes, None, something or None, arrays.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from typing import Any, Final, Union

import numpy as np

from weft.records import dataclass
from weft.runtime import texts


@dataclass(frozen=True)
class Listed:
    """A list of items, as an item."""

    item: Item


@dataclass(frozen=True)
class Held:
    """An array, as an item: its type by NumPy's number, its rank, and in which of two memories it is."""

    typenum: int
    rank: int
    memory: int


@dataclass(frozen=True)
class Perhaps:
    """An item or None."""

    item: Item


#: The number of an item, by its letter; the parts of a tuple; a list; a dict or set; an array; something or None.
Item = Union[str, tuple["Item", ...], Listed, "Template", Held, Perhaps]

#: The native dispatcher keeps so many columns of one argument.
MAX_COLUMNS: Final = 16

_TYPES: Final[dict[str, type]] = {"i": int, "f": float, "b": bool, "c": complex}
_DTYPES: Final = {"i": np.dtype(np.int64), "f": np.dtype(np.float64), "b": np.dtype(bool), "c": np.dtype(np.complex128)}


#: What makes the default of a defaultdict, by its letter.
FACTORIES: Final[dict[str, type]] = {"i": int, "f": float, "l": list, "s": set, "d": dict}


@dataclass(frozen=True)
class Template:
    """A template taken apart: `value` is there for a dict only, whose keys are `item`."""

    kind: type
    item: Item
    value: Item | None = None
    factory: type | None = None

    @property
    def ragged(self) -> bool:
        """Whether it is a list of lists, but not of lists of lists."""
        return self.kind is list and isinstance(self.item, Listed) and not has_lists(self.item.item)

    @property
    def columns(self) -> str:
        """The letters of all columns, from left to right."""
        return leaves(self.item) + ("" if self.value is None else leaves(self.value))


def leaves(item: Item) -> str:
    """The letters of the columns of an item."""
    if isinstance(item, Listed):
        return "i" + leaves(item.item)
    if isinstance(item, Template):
        return "i" + item.columns
    if isinstance(item, Held):
        return "i"
    if isinstance(item, Perhaps):
        return "b" + leaves(item.item)
    return item if isinstance(item, str) else "".join(map(leaves, item))


def has_lists(item: Item | None) -> bool:
    return any(map(has_lists, item)) if isinstance(item, tuple) else isinstance(item, (Listed, Template))


@functools.cache
def parsed(template: str) -> Template:
    """ValueError if it is none."""
    made, place = _container(template, 0)
    if place != len(template):
        raise ValueError(f"not a template: {template!r}")
    if len(made.columns) > MAX_COLUMNS:
        raise ValueError(f"more than {MAX_COLUMNS} columns: {template!r}")
    return made


def _container(text: str, place: int) -> tuple[Template, int]:
    """The container that begins at a place, and where it ends; ValueError if it is none."""
    start = min((found for found in (text.find(bracket, place) for bracket in "[{") if found >= 0), default=len(text))
    prefix, opening = text[place:start], text[start : start + 1]
    kinds = {"": list, "d": deque} if opening == "[" else {"": dict, "C": Counter}
    factory = FACTORIES.get(prefix[1:]) if prefix.startswith("D") and opening == "{" else None
    kind = defaultdict if factory is not None else kinds.get(prefix)
    item, end = _item(text, start + 1)
    value = None
    if kind not in (list, deque) and text[end : end + 1] == ":":
        value, end = _item(text, end + 1)
    elif kind is dict:
        kind = set
    closes = text[end : end + 1] == {"[": "]", "{": "}"}.get(opening, "")
    if kind is None or not closes or (value is None and kind not in (list, deque, set)):
        raise ValueError(f"not a template: {text!r}")
    return Template(kind, item, value, factory), end + 1


@functools.cache
def item_of(text: str) -> Item:
    """The item that a text stands for; ValueError if it is none."""
    item, place = _item(text, 0)
    if place != len(text):
        raise ValueError(f"not an item of a template: {text!r}")
    return item


def _item(text: str, place: int) -> tuple[Item, int]:
    """The item that begins at a place, and where it ends."""
    letter = text[place : place + 1]
    if letter in _TYPES or letter in ("n", "s", "y", "N"):
        return letter, place + 1
    if letter == "?":
        item, place = _item(text, place + 1)
        return Perhaps(item), place
    if letter == "[":
        item, place = _item(text, place + 1)
        if text[place : place + 1] == "]":
            return Listed(item), place + 1
    if letter == "(":
        parts: list[Item] = []
        place += 1
        while text[place : place + 1] not in (")", ""):
            item, place = _item(text, place)
            parts.append(item)
        if parts and place < len(text):
            return tuple(parts), place + 1
    if letter in ("{", "C", "D"):
        return _container(text, place)
    if letter == "<" and ">" in text[place:]:
        end = text.index(">", place)
        return Held(*map(int, text[place + 1 : end].split(":"))), end + 1
    raise ValueError(f"not an item of a template: {text!r}")


@dataclass(frozen=True)
class Arrays:
    """The template of a list of arrays taken apart; `unequal`: their lengths differ."""

    typenum: int
    rank: int
    unequal: bool


@functools.cache
def arrays_of(template: str) -> Arrays | None:
    """None for the template of anything else."""
    if not template.startswith("<"):
        return None
    typenum, _, rank = template.strip("<>").partition(":")
    made = Arrays(int(typenum), int(rank), template.startswith("<<"))
    known = 0 <= made.typenum <= 16 or made.typenum == 23
    if not known or not 1 <= made.rank <= 30 or (made.unequal and made.rank != 1):
        raise ValueError(f"not a template of arrays: {template!r}")
    return made


def words(template: str) -> int:
    """How many words of the block a container takes."""
    if template in texts.TEMPLATES:
        return texts.words(template)
    arrays = arrays_of(template)
    if arrays is not None:
        return 6 if arrays.unequal else 1 + 2 * (arrays.rank + 1)
    return 3 * len(parsed(template).columns)


# --- does a value fit -----------------------------------------------------------------------------------------------


def fits(template: str, value: Any, met: list[Any]) -> bool:
    """Whether a container holds what its template says; every container that can be changed is added to `met`."""
    if template in texts.TEMPLATES:
        return texts.fits(template, value, met)
    arrays = arrays_of(template)
    if arrays is not None:
        return _arrays_fit(arrays, value)
    return _container_fits(parsed(template), value, met)


def _container_fits(shape: Template, value: Any, met: list[Any]) -> bool:
    if type(value) is not shape.kind or not _same_kind(shape, value):
        return False
    met.append(value)
    held: Any = value
    if not all(_item_fits(shape.item, item, met) for item in held):
        return False
    return shape.value is None or all(_item_fits(shape.value, item, met) for item in held.values())


def _same_kind(shape: Template, value: Any) -> bool:
    """Whether a deque has no greatest length, and a defaultdict makes the defaults it should."""
    if isinstance(value, deque):
        return value.maxlen is None
    return not isinstance(value, defaultdict) or value.default_factory is shape.factory


def _arrays_fit(arrays: Arrays, value: Any) -> bool:
    if type(value) is not list or not value:
        return False
    for item in value:
        if type(item) is not np.ndarray or item.dtype.num != arrays.typenum or item.ndim != arrays.rank:
            return False
        if not item.dtype.isnative or not item.flags.aligned:
            return False
    return arrays.unequal or all(item.shape == value[0].shape for item in value)


def apart(lists: list[list[Any]], others: list[Any], written: bool) -> bool:
    """Whether no array of a list shares memory with another array of a call that writes some; `written`: of a list."""
    copied = [array for arrays in lists for array in arrays]
    if written and any(not array.flags.writeable or array.flags.num & 1 << 31 for array in copied):
        return False
    for place, array in enumerate(copied):
        among = copied[:place] if written else []
        if any(np.may_share_memory(array, other) for other in (*others, *among)):
            return False
    return True


def _item_fits(item: Item, value: Any, met: list[Any]) -> bool:
    if isinstance(item, str):
        return type(value) is _TYPES[item] and (type(value) is not int or -(2**63) <= value < 2**63)
    if isinstance(item, Listed):
        if type(value) is not list:
            return False
        met.append(value)
        inner = item.item
        return all(_item_fits(inner, part, met) for part in value)
    if isinstance(item, Template):
        return _container_fits(item, value, met)
    if isinstance(item, (Held, Perhaps)):
        return False  # in results only
    if type(value) is not tuple or len(value) != len(item):
        return False
    return all(_item_fits(part, one, met) for part, one in zip(item, value))


# --- in and out -----------------------------------------------------------------------------------------------------


def columns_of(template: str, value: Any) -> list[np.ndarray[Any, Any]]:
    """The columns of a container that fits."""
    if template in texts.TEMPLATES:
        return texts.columns_of(template, value)
    arrays = arrays_of(template)
    if arrays is not None and arrays.unequal:
        return [np.cumsum([0, *map(len, value)], dtype=np.int64), np.concatenate(value)]
    if arrays is not None:
        return [np.stack(value)]
    shape = parsed(template)
    if isinstance(value, dict):
        assert shape.value is not None
        return [*_columns(shape.item, list(value)), *_columns(shape.value, list(value.values()))]
    return list(_columns(shape.item, list(value)))


def _columns(item: Item, values: list[Any]) -> Iterator[np.ndarray[Any, Any]]:
    if isinstance(item, str):
        yield np.array(values, dtype=_DTYPES[item])
        return
    if isinstance(item, Listed):
        yield np.cumsum([0, *map(len, values)], dtype=np.int64)
        yield from _columns(item.item, [part for row in values for part in row])
        return
    if isinstance(item, Template):
        yield np.cumsum([0, *map(len, values)], dtype=np.int64)
        yield from _columns(item.item, [part for row in values for part in row])
        if item.value is not None:
            yield from _columns(item.value, [part for row in values for part in row.values()])
        return
    assert isinstance(item, tuple)  # arrays are items of results only
    for place, part in enumerate(item):
        yield from _columns(part, [value[place] for value in values])


def items_of(item: Item, columns: Iterator[list[Any]]) -> list[Any]:
    """The items that columns of Python numbers make."""
    if isinstance(item, str):
        return next(columns)
    assert isinstance(item, tuple)  # lists in containers are made by weft.runtime.nested
    return list(zip(*[items_of(part, columns) for part in item]))


def copy_out(template: str, value: list[Any], columns: list[np.ndarray[Any, Any]]) -> None:
    """The items of a list (of lists) that differ from the columns are replaced, in the list itself."""
    arrays = arrays_of(template)
    if arrays is not None:
        for place, array in enumerate(value):
            new = columns[1][columns[0][place] : columns[0][place + 1]] if arrays.unequal else columns[0][place]
            array[...] = new
        return
    shape = parsed(template)
    item = shape.item.item if isinstance(shape.item, Listed) else shape.item
    new = items_of(item, iter([column.tolist() for column in columns[1 if shape.ragged else 0 :]]))
    rows = value if shape.ragged else [value]
    start = 0
    for row in rows:
        for place, old in enumerate(row):
            if not same(old, new[start + place]):
                row[place] = new[start + place]
        start += len(row)


def same(one: Any, other: Any) -> bool:
    """Equal to the last bit: zeros have signs, and a NaN is one."""
    if isinstance(one, tuple):
        return all(map(same, one, other))
    if isinstance(one, float | complex):
        return np.array(one).tobytes() == np.array(other).tobytes()
    return bool(one == other)


def attribute_of_each(name: str, items: Any) -> list[Any]:
    """An attribute of all items of a list of different objects of one class; LookupError if it is no such list."""
    if type(items) is not list or not items:
        raise LookupError("no list of objects")
    kind = type(items[0])
    if any(type(item) is not kind for item in items):
        raise LookupError("objects of several classes")
    if not issubclass(kind, tuple) and len(set(map(id, items))) < len(items):
        raise LookupError("one object in two places")
    return [getattr(item, name) for item in items]


def not_key(key: str, held: Any) -> bool:
    """Whether a dict does not have a key."""
    return type(held) is dict and key not in held


def not_own(name: str, items: Any) -> bool:
    """Whether no item of a list has an attribute of its own by this name."""
    return not any(name in getattr(item, "__dict__", ()) for item in items)
