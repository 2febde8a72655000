"""Lists inside containers, for the caller.  In: the numbers of containers as arrays, in which a list is its number
among all lists of its kind, and the items of those lists; out: the Python objects, each list once.

Lists that belong to arguments are the arguments' own: a container that gets one gets the very object.  What has become
of arguments is put into them, and objects that stand for the same values stay.
"""

from __future__ import annotations

import operator
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from weft.records import dataclass
from weft.runtime import templates, texts
from weft.runtime.templates import Held, Item, Listed, Perhaps, Template

_Column = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Later:
    """A part of a result that is made when all lists are known: a container by its template, and its columns."""

    template: str
    columns: tuple[_Column, ...]


def later(template: str, *columns: _Column) -> Later:
    return Later(template, columns)


@dataclass(frozen=True)
class _Kind:
    """All lists of one kind: where each begins, the columns of their items, and those that have been made."""

    starts: list[int]
    columns: list[_Column]
    made: list[Any]


class _Lists:
    """The lists of all kinds, by the template of their items."""

    def __init__(self, kinds: dict[Item, _Kind], codes: _Column | None = None) -> None:
        self.kinds = kinds
        self.codes = codes  # the code points of all strings

    def values(self, item: Item, columns: Iterator[_Column]) -> list[Any]:
        """The items that columns make."""
        if isinstance(item, tuple):
            return list(zip(*[self.values(part, columns) for part in item]))
        column = next(columns)
        if item == "N":
            return [None] * len(column)
        if isinstance(item, Perhaps):
            return self.perhaps(item.item, column, list(_taken(item.item, columns)))
        if item in ("s", "y"):
            return texts.taken("str" if item == "s" else "bytes", self.codes, column, next(columns))
        if isinstance(item, Held):
            return [self.array_at(item, number) for number in column.tolist()]
        if isinstance(item, (Listed, Template)):
            return [self.list_at(item, number) for number in column.tolist()]
        return list(column) if item == "n" else column.tolist()

    def list_at(self, item: Listed | Template, number: int) -> Any:
        """The list, dict or set of this number."""
        if number < 0:  # an empty one of which it was never known what it would hold
            return _new(item)
        kind = self.kinds[item]
        known = kind.made[number]
        if known is None:
            known = kind.made[number] = _new(item)
            contents = self.contents(item, number)
            (known.extend if isinstance(known, list) else known.update)(contents)
        return known

    def perhaps(self, item: Item, told: _Column, columns: list[_Column]) -> list[Any]:
        """The items that are there; None for the others, whose numbers mean nothing."""
        made = iter(self.values(item, iter([column[told] for column in columns])))
        return [next(made) if there else None for there in told.tolist()]

    def array_at(self, item: Held, number: int) -> _Column:
        """The array of this number."""
        kind = self.kinds[item]
        if kind.made[number] is None:
            *extents, elements = kind.columns
            part = elements[kind.starts[number] : kind.starts[number + 1]]
            if item.rank > 1:
                part = part.reshape([column[number] for column in extents])
            kind.made[number] = part.copy()
        made: _Column = kind.made[number]
        return made

    def contents(self, item: Listed | Template, number: int) -> Any:
        """What it holds: the items in a list, or a new dict."""
        kind = self.kinds[item]
        begin, end = kind.starts[number], kind.starts[number + 1]
        columns = iter([column[begin:end] for column in kind.columns])
        found = self.values(item.item, columns)
        if isinstance(item, Template) and item.value is not None:
            return dict(zip(found, self.values(item.value, columns)))
        return found

    def container(self, template: str, columns: tuple[_Column, ...]) -> Any:
        """A new container."""
        shape, numbers = templates.parsed(template), iter(columns)
        if shape.value is None:
            return shape.kind(self.values(shape.item, numbers))
        made = zip(self.values(shape.item, numbers), self.values(shape.value, numbers))
        return defaultdict(shape.factory, made) if shape.kind is defaultdict else shape.kind(dict(made))

    # --- arguments --------------------------------------------------------------------------------------------------

    def belongs(self, item: Item, values: Iterator[Any], bases: dict[Item, int]) -> None:
        """Note which lists are an argument's own: they were numbered from a base on, in the order met here."""
        if not templates.has_lists(item):
            return
        if isinstance(item, tuple):
            parts = list(zip(*values)) or [()] * len(item)
            for part, column in zip(item, parts):
                self.belongs(part, iter(column), bases)
            return
        assert isinstance(item, (Listed, Template))
        found = list(values)
        if not found:
            return  # of an empty argument's kinds, those that it never got are not known
        self.kinds[item].made[bases[item] : bases[item] + len(found)] = found
        bases[item] += len(found)
        self.belongs(item.item, (part for row in found for part in row), bases)
        if isinstance(item, Template) and item.value is not None:
            self.belongs(item.value, (part for row in found for part in row.values()), bases)

    def refresh(self, item: Listed | Template, first: int, last: int) -> list[Callable[[], None]]:
        """What has to be done so that the lists of these numbers hold what they now hold."""
        steps: list[Callable[[], None]] = []
        for number in range(first, last):
            old = self.kinds[item].made[number]
            new = self.contents(item, number)
            steps.append(lambda old=old, new=new: _change_any(old, new))  # type: ignore[misc]
        return steps


def _new(item: Listed | Template) -> Any:
    """An empty list, dict or set."""
    if isinstance(item, Listed):
        return []
    return defaultdict(item.factory) if item.kind is defaultdict else item.kind()


def change(target: list[Any], new: list[Any]) -> None:
    """A list gets other items; objects that stand for the same stay."""
    del target[len(new) :]
    for place, old in enumerate(target):
        if not _same(old, new[place]):
            target[place] = new[place]
    target.extend(new[len(target) :])


def _same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, dict, set, np.ndarray)):
        return one is other
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return templates.same(one, other)


def _change_any(target: Any, new: Any) -> None:
    if isinstance(target, list):
        change(target, new)
    elif isinstance(target, dict):
        if list(target) != list(new)[: len(target)]:
            dict.clear(target)
        for key, value in new.items():
            if key not in target or not _same(dict.__getitem__(target, key), value):
                dict.__setitem__(target, key, value)
    elif isinstance(target, deque):
        if len(target) != len(new) or not all(map(_same, target, new)):
            target.clear()
            target.extend(new)
    else:
        # A set either gets or loses items, never both: what it does in turn is left to Python from the start.
        for gone in target.difference(new):
            target.discard(gone)
        for item in new:
            target.add(item)


def settled(result: Any, plan: tuple[Any, ...], *rest: Any) -> Any:
    """The result of a call in which lists are held by containers, and what becomes of its arguments.

    `plan` is (templates of the items of each kind of lists, (template, changes) of each argument that has such lists,
    templates of arrays that are arguments and may be items, whether there are strings);
    `rest` are, for each kind, its columns, and for each argument: itself, the first numbers of its lists of each kind
    (in the order of the kinds), and the columns that it now has if it changes; for each array itself and its number, or
    -1; at last, if the plan says that there are strings, the code points of all of them.
    """
    kinds, arguments, arrays, has_texts = plan
    pieces = iter(rest)
    lists = _Lists({}, rest[-1] if has_texts else None)
    for text in kinds:
        item = templates.item_of(text)
        starts = next(pieces).tolist()
        columns = [next(pieces) for _ in _inner_columns(item)]
        lists.kinds[item] = _Kind(starts, columns, [None] * (len(starts) - 1))
    changes: list[tuple[Any, str, tuple[_Column, ...]]] = []
    steps: list[Callable[[], None]] = []
    spans: list[tuple[Any, int, int]] = []
    for template, changed in arguments:
        target = next(pieces)
        bases = {item: next(pieces) for item in lists.kinds}
        shape, before = templates.parsed(template), dict(bases)
        lists.belongs(shape.item, iter(target), bases)
        if shape.value is not None:
            lists.belongs(shape.value, iter(list(target.values())), bases)
        if changed:
            spans += [(item, before[item], bases[item]) for item in lists.kinds]
            outer = _own_columns(shape.item) + ([] if shape.value is None else _own_columns(shape.value))
            changes.append((target, template, tuple(next(pieces) for _ in outer)))
    for text in arrays:
        array, number = next(pieces), next(pieces)
        if number >= 0:
            lists.kinds[templates.item_of(text)].made[number] = array
    for item, first, last in spans:
        steps += lists.refresh(item, first, last)
    contents = [(target, lists.container(template, columns)) for target, template, columns in changes]
    made = _resolved(result, lists)
    for step in steps:
        step()
    for target, new in contents:
        _change_any(target, new)
    return made


def _inner_columns(item: Item) -> list[Item]:
    """The columns of all lists, or dicts, or arrays, of a kind."""
    if isinstance(item, Held):
        return [*("i" for _ in range(item.rank)), "n"]
    assert isinstance(item, (Listed, Template))
    value = item.value if isinstance(item, Template) else None
    return _own_columns(item.item) + ([] if value is None else _own_columns(value))


def _own_columns(item: Item) -> list[Item]:
    """A number each: a list is one, too, and a string is two."""
    if isinstance(item, tuple):
        return [leaf for part in item for leaf in _own_columns(part)]
    if isinstance(item, Perhaps):
        return ["b", *_own_columns(item.item)]
    return [item, item] if item in ("s", "y") else [item]


def _taken(item: Item, columns: Iterator[_Column]) -> Iterator[_Column]:
    """The columns of an item, out of more."""
    return (next(columns) for _ in _own_columns(item))


def _attributes_to_come(made: Any) -> list[tuple[str, Any]]:
    """The attributes of an object of the user's class that are to be made yet; an argument has none."""
    names = (*getattr(made, "__dict__", ()), *getattr(type(made), "__slots__", ()))
    held = [(name, getattr(made, name, None)) for name in names if not isinstance(made, type)]
    return [(name, part) for name, part in held if isinstance(part, Later) or _attributes_of_part(part)]


def _attributes_of_part(part: Any) -> bool:
    return type(part) in (list, tuple) and any(isinstance(one, Later) for one in part)


def _resolved(result: Any, lists: _Lists) -> Any:
    if isinstance(result, Later):
        if result.template.startswith("="):  # a list by its number
            item = templates.item_of(result.template[1:])
            if isinstance(item, Held):
                return lists.array_at(item, int(result.columns[0]))
            assert isinstance(item, (Listed, Template))
            return lists.list_at(item, int(result.columns[0]))
        return lists.container(result.template, result.columns)
    if not isinstance(result, list | tuple):
        for name, part in _attributes_to_come(result):
            object.__setattr__(result, name, _resolved(part, lists))
        return result
    parts = [_resolved(part, lists) for part in result]
    if all(map(operator.is_, parts, result)):
        return result  # nothing in it was to come: it may be an argument, which is returned as itself
    return type(result)._make(parts) if hasattr(result, "_make") else type(result)(parts)
