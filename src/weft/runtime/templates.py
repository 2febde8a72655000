"""Containers as arguments.  In: a Python list, dict or set and the template of what it holds; out: its numbers as
columns, and the other way round.  The native dispatcher does the same in C (native/containers.c).

    template := "[" item "]" | "[[" item "]]" | "{" item "}" | "{" item ":" item "}" | "<" type ":" rank ">" | "<<...>>"
    item     := "i" | "f" | "b" | "c" | "(" item... ")"

A list of items, a list of lists of items of any lengths, a set, a dict.  Each number of an item is a column.  The rows
of a list of lists follow one another in the columns; one more column, before the others, tells where each of them
begins, and where the last one ends.  "<12:2>" is a list of arrays of NumPy's type 12 and rank 2, all of one shape, as
an array with one more axis; "<<12:1>>" one of arrays of any lengths, as two columns.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, Final, Union

import numpy as np

from weft.records import dataclass

#: The number of an item, by its letter; or the parts of a tuple.
Item = Union[str, tuple["Item", ...]]

#: The native dispatcher keeps so many columns of one argument.
MAX_COLUMNS: Final = 16

_TYPES: Final[dict[str, type]] = {"i": int, "f": float, "b": bool, "c": complex}
_DTYPES: Final = {"i": np.dtype(np.int64), "f": np.dtype(np.float64), "b": np.dtype(bool), "c": np.dtype(np.complex128)}


@dataclass(frozen=True)
class Template:
    """A template taken apart: `value` is there for a dict only, whose keys are `item`."""

    kind: type
    item: Item
    value: Item | None = None
    ragged: bool = False

    @property
    def columns(self) -> str:
        """The letters of all columns, from left to right."""
        numbers = leaves(self.item) + ("" if self.value is None else leaves(self.value))
        return "i" + numbers if self.ragged else numbers


def leaves(item: Item) -> str:
    """The letters of the numbers of an item."""
    return item if isinstance(item, str) else "".join(map(leaves, item))


@functools.cache
def parsed(template: str) -> Template:
    """ValueError if it is none."""
    ends = {"[": "]", "{": "}"}
    if len(template) < 3 or ends.get(template[0]) != template[-1]:
        raise ValueError(f"not a template: {template!r}")
    inner = template[1:-1]
    ragged = template[0] == "[" and inner[0] == "["
    if ragged:
        if inner[-1] != "]":
            raise ValueError(f"not a template: {template!r}")
        inner = inner[1:-1]
    key, colon, value = inner.partition(":")
    if colon and template[0] == "[":
        raise ValueError(f"not a template: {template!r}")
    kind = list if template[0] == "[" else dict if colon else set
    made = Template(kind, _item(key), _item(value) if colon else None, ragged)
    if len(made.columns) > MAX_COLUMNS:
        raise ValueError(f"more than {MAX_COLUMNS} columns: {template!r}")
    return made


def _item(text: str) -> Item:
    stack: list[list[Item]] = [[]]
    for letter in text:
        if letter == "(":
            stack.append([])
        elif letter == ")" and len(stack) > 1 and stack[-1]:
            done = tuple(stack.pop())
            stack[-1].append(done)
        elif letter in _TYPES:
            stack[-1].append(letter)
        else:
            raise ValueError(f"not an item of a template: {text!r}")
    if len(stack) != 1 or len(stack[0]) != 1:
        raise ValueError(f"not an item of a template: {text!r}")
    return stack[0][0]


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
    arrays = arrays_of(template)
    if arrays is not None:
        return 6 if arrays.unequal else 1 + 2 * (arrays.rank + 1)
    return 3 * len(parsed(template).columns)


# --- does a value fit -----------------------------------------------------------------------------------------------


def fits(template: str, value: Any, met: list[Any]) -> bool:
    """Whether a container holds what its template says; every container that can be changed is added to `met`."""
    arrays = arrays_of(template)
    if arrays is not None:
        return _arrays_fit(arrays, value)
    shape = parsed(template)
    if type(value) is not shape.kind:
        return False
    items: Any = value
    met.append(value)
    if shape.ragged:
        for row in items:
            if type(row) is not list:
                return False
            met.append(row)
            if not all(_item_fits(shape.item, item) for item in row):
                return False
        return True
    if isinstance(value, dict):
        assert shape.value is not None
        return all(_item_fits(shape.item, key) for key in value) and all(
            _item_fits(shape.value, item) for item in value.values()
        )
    return all(_item_fits(shape.item, item) for item in items)


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


def _item_fits(item: Item, value: Any) -> bool:
    if isinstance(item, str):
        return type(value) is _TYPES[item] and (type(value) is not int or -(2**63) <= value < 2**63)
    return type(value) is tuple and len(value) == len(item) and all(map(_item_fits, item, value))


# --- in and out -----------------------------------------------------------------------------------------------------


def columns_of(template: str, value: Any) -> list[np.ndarray[Any, Any]]:
    """The columns of a container that fits."""
    arrays = arrays_of(template)
    if arrays is not None and arrays.unequal:
        return [np.cumsum([0, *map(len, value)], dtype=np.int64), np.concatenate(value)]
    if arrays is not None:
        return [np.stack(value)]
    shape = parsed(template)
    if shape.ragged:
        starts = np.zeros(len(value) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in value], out=starts[1:])
        return [starts, *_columns(shape.item, [item for row in value for item in row])]
    if isinstance(value, dict):
        assert shape.value is not None
        return [*_columns(shape.item, list(value)), *_columns(shape.value, list(value.values()))]
    return list(_columns(shape.item, list(value)))


def _columns(item: Item, values: list[Any]) -> Iterator[np.ndarray[Any, Any]]:
    if isinstance(item, str):
        yield np.array(values, dtype=_DTYPES[item])
        return
    for place, part in enumerate(item):
        yield from _columns(part, [value[place] for value in values])


def items_of(item: Item, columns: Iterator[list[Any]]) -> list[Any]:
    """The items that columns of Python numbers make."""
    if isinstance(item, str):
        return next(columns)
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
    new = items_of(shape.item, iter([column.tolist() for column in columns[1 if shape.ragged else 0 :]]))
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
