"""`numba.typed`: List and Dict.  They give plain lists and dicts, which weft compiles; the types that Numba wants to be
told are what the program puts into them.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import GenericAlias
from typing import Any


def _new_list(items: Iterable[Any] = (), lsttype: Any = None) -> list[Any]:
    """List(), List([1, 2])"""
    return list(items)


def _empty_list(item_type: Any, allocated: int = 0) -> list[Any]:
    """List.empty_list(types.int64)"""
    return []


def _new_dict(items: Any = (), dcttype: Any = None, n_keys: int = 0) -> dict[Any, Any]:
    """Dict(), Dict({1: 2})"""
    return dict(items)


def _empty_dict(key_type: Any, value_type: Any, n_keys: int = 0) -> dict[Any, Any]:
    """Dict.empty(key_type=types.int64, value_type=types.float64)"""
    return {}


class _OfLists(type):
    """`List(...)` is a list, and a list is an instance of it; `List[int]` is an annotation."""

    def __call__(cls, items: Iterable[Any] = (), *, lsttype: Any = None) -> list[Any]:
        return list(items)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, list)

    def __getitem__(cls, item_type: Any) -> GenericAlias:
        return GenericAlias(list, item_type)


class List(metaclass=_OfLists):
    """`numba.typed.List`"""

    # weft compiles a call of an object that has a `py_func` as a call of that.
    py_func = staticmethod(_new_list)
    empty_list = staticmethod(_empty_list)


class _OfDicts(type):
    """`Dict(...)` is a dict, and a dict is an instance of it."""

    def __call__(cls, items: Any = (), *, dcttype: Any = None, n_keys: int = 0) -> dict[Any, Any]:
        return dict(items)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, dict)

    def __getitem__(cls, kinds: tuple[Any, Any]) -> GenericAlias:
        return GenericAlias(dict, kinds)


class Dict(metaclass=_OfDicts):
    """`numba.typed.Dict`"""

    py_func = staticmethod(_new_dict)
    empty = staticmethod(_empty_dict)
