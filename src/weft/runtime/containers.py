"""Containers for the caller.  In: the numbers of a compiled list, deque or dict as columns, and how an item is
made of them (0 for a number, -1 for one of two types, which is three columns: the number as one, as the other, and
whether it is the other; a tuple for a tuple, with "=module|name" first for a named one); out: the Python object.
"""

from __future__ import annotations

import importlib
from collections import deque
from collections.abc import Iterator
from operator import ne
from typing import Any, Union

from weft.runtime import templates, texts

Template = Union[int, str, tuple["Template", ...]]
Column = list[Any]
_MOST_INT32 = 2**31 - 1


def _items(template: Template, columns: Iterator[Column]) -> Column:
    if isinstance(template, tuple):
        if isinstance(template[0], str):
            make = _class_of(template[0])._make
            return list(map(make, zip(*[_items(part, columns) for part in template[1:]])))
        return list(zip(*[_items(part, columns) for part in template]))
    if template == -1:
        ones, others, told = next(columns), next(columns), next(columns)
        return [other if is_other else one for one, other, is_other in zip(ones, others, told)]
    return next(columns)


def _class_of(mark: str) -> Any:
    """The class of named tuples that a template names: "=module|name"."""
    module, _, name = mark[1:].partition("|")
    return getattr(importlib.import_module(module), name)


def list_of(template: Template, *columns: Column) -> list[Any]:
    return _items(template, iter(columns))


def objects_of(
    title: str, names: tuple[str, ...], parts: tuple[Template, ...], rows: Column, *columns: Column
) -> list[Any]:
    """A list of objects of a class, each made once: which of all of them, and the attributes of all."""
    kind, numbers = _class_of(title), iter(columns)
    attributes = [_items(part, numbers) for part in parts]
    made: dict[int, Any] = {}
    for row in rows:
        if row not in made:
            made[row] = kind.__new__(kind)
            made[row].__dict__.update(zip(names, [column[row] for column in attributes]))
    return [made[row] for row in rows]


def deque_of(template: Template, *columns: Column) -> deque[Any]:
    return deque(_items(template, iter(columns)))


def dict_of(key: Template, value: Template, *columns: Column) -> dict[Any, Any]:
    numbers = iter(columns)
    return dict(zip(_items(key, numbers), _items(value, numbers)))


def dict_by_names(names: tuple[str, ...], *items: Any) -> dict[str, Any]:
    return dict(zip(names, items))


def changed_list(result: Any, target: list[Any], template: str, *columns: Any) -> Any:
    """The result of a call that has changed a list: it holds these items now."""
    core = _core()
    if core is not None:
        core.weft_change_list(target, template.encode(), columns)
    else:
        new = templates.items_of(templates.parsed(template).item, iter([column.tolist() for column in columns]))
        del target[len(new) :]
        for place, old in enumerate(target):
            if not templates.same(old, new[place]):
                target[place] = new[place]
        target.extend(new[len(target) :])
    return result


def changed_object(result: Any, target: Any, places: tuple[tuple[str, ...], tuple[str, ...]], *values: Any) -> Any:
    """The result of a call that has assigned to attributes of an object, or of one that it refers to."""
    path, names = places
    for part in path:
        target = getattr(target, part)
    for name, value in zip(names, values):
        held = getattr(target, name)
        if type(held) is not type(value) or not templates.same(held, value):
            setattr(target, name, value)
    return result


def changed_objects(result: Any, targets: list[Any], first: int, names: tuple[str, ...], *columns: Any) -> Any:
    """The result of a call that has assigned to attributes of the objects in a list, which are those from one on."""
    for name, column in zip(names, columns):
        for target, value in zip(targets, column.tolist()[first:]):
            held = getattr(target, name)
            if type(held) is not type(value) or not templates.same(held, value):
                setattr(target, name, value)
    return result


def changed_deque(result: Any, target: deque[Any], template: str, *columns: Any) -> Any:
    """The result of a call that has changed a deque: it holds these items now."""
    new = templates.items_of(templates.parsed(template).item, iter([column.tolist() for column in columns]))
    if len(new) != len(target) or not all(map(templates.same, target, new)):
        target.clear()
        target.extend(new)
    return result


def changed_dict(result: Any, target: dict[Any, Any], template: str, *columns: Any) -> Any:
    """The result of a call that has changed a dict: it holds these entries now, in this order."""
    shape = templates.parsed(template)
    core = _core()
    if core is not None:
        core.weft_change_dict(target, template.encode(), columns, len(templates.leaves(shape.item)))
        return result
    assert shape.value is not None
    numbers = iter([column.tolist() for column in columns])
    keys, values = templates.items_of(shape.item, numbers), templates.items_of(shape.value, numbers)
    if len(keys) < len(target) or any(map(ne, target, keys)):
        target.clear()
    target.update(zip(keys, values))
    return result


def refilled_dict(result: Any, target: dict[Any, Any], new: dict[Any, Any]) -> Any:
    """The result of a call that has changed a dict, which holds these entries now, in this order."""
    if len(new) < len(target) or any(map(ne, target, new)):
        target.clear()
    target.update(new)
    return result


def refilled_list(result: Any, target: list[Any], new: list[Any]) -> Any:
    """The result of a call that has changed a list, which holds these items now; equal ones stay as they are."""
    target[:] = [old if templates.same(old, item) else item for old, item in zip(target, new)] + new[len(target) :]
    return result


def _core() -> Any:
    """The native core's library, where there is one."""
    from weft.runtime import dispatch

    core = dispatch.load_core()
    return None if core is None else core.library


def one_of(one: Any, other: Any, is_one: bool) -> Any:
    """A number that is of one of two types."""
    return one if is_one else other


def sparse_of(title: str, first: Any, second: Any, data: Any, rows: int, columns: int) -> Any:
    """SciPy's object of the class `title`, made of its own arrays."""
    import scipy.sparse

    kind = getattr(scipy.sparse, title)
    if not title.startswith("coo"):
        return kind((data, second, first), shape=(rows, columns), copy=False)
    if any(part.dtype != "int32" for part in (first, second)) or max(rows, columns) > _MOST_INT32:
        return kind((data, (first, second)), shape=(rows, columns), copy=False)
    # The constructor would look for places out of bounds, four times through all of them: there are none.
    made = kind((rows, columns), dtype=data.dtype)
    made.row, made.col, made.data = first, second, data
    made.has_canonical_format = False
    return made


def sparse_banded(title: str, offsets: Any, data: Any, rows: int, columns: int) -> Any:
    """SciPy's matrix of several diagonals."""
    import scipy.sparse

    return getattr(scipy.sparse, title)((data, offsets), shape=(rows, columns), copy=False)


def sparse_coordinates(*parts: Any) -> Any:
    """SciPy's sparse array of one or three dimensions: coordinates, values, extents."""
    import scipy.sparse

    rank = len(parts) // 2
    return scipy.sparse.coo_array((parts[rank], tuple(parts[:rank])), shape=parts[rank + 1 :], copy=False)


def sparse_diagonal(data: Any, is_array: bool) -> Any:
    """SciPy's matrix of one diagonal."""
    import scipy.sparse

    kind = scipy.sparse.dia_array if is_array else scipy.sparse.dia_matrix
    return kind((data, [0]), shape=(len(data), len(data)), copy=False)


def matrix_of(dense: Any) -> Any:
    """An object of class numpy.matrix."""
    import numpy as np

    return np.asmatrix(dense)


def with_texts(maker: str, codes: Any, constants: int, *rest: Any) -> Any:
    """A container with strings in it: two columns tell of each where it begins among the `codes`, and its length."""
    numbers = iter(rest[constants:])
    columns: list[Column] = []

    def plain(template: Any) -> Any:
        if isinstance(template, tuple):
            return tuple(map(plain, template))
        if isinstance(template, str) and template.startswith("="):
            return template
        if template in ("str", "bytes"):
            columns.append(texts.taken(template, codes, next(numbers), next(numbers)))
            return 0
        if isinstance(template, str) and ":" in template:
            columns.append([texts.member_of(template, place) for place in next(numbers).tolist()])
            return 0
        if template == 0:
            columns.append(next(numbers))
        return template

    made = [plain(template) for template in rest[:constants]]
    return globals()[maker](*made, *columns)


#: Those that make new objects and change nothing.
MAKERS = frozenset(
    {list_of, objects_of, deque_of, dict_of, dict_by_names, one_of}
    | {sparse_of, sparse_banded, sparse_coordinates, sparse_diagonal, matrix_of}
    | {texts.text_of, texts.bytes_of, texts.bytearray_of, texts.member_of, texts.taken}
)
