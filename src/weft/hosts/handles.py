"""Lists, strings and dicts of a C host.  In: the kinds of containers that functions take or give; out: an opaque type
for each, and its accessors: their declarations for every language, and their C over native/handles.c.

    list[float]             weft_list_float          list[list[int]]   weft_rows_int
    str, bytes, list[str]   weft_str, weft_bytes, weft_list_str
    dict[str, float]        weft_dict_str_float      dict[str, list[int]]   weft_dict_str_list_int
    set[int]                weft_set_int             tuple[str, int]        weft_tuple2_str_int
"""

from __future__ import annotations

import collections
import collections.abc
import typing
from collections.abc import Iterable
from typing import Any, Final

from weft.frontend.hints import DTypeHint
from weft.frontend.specs import ContainerSpec, ListSpec, Spec, TextDictSpec, TextSpec
from weft.frontend.values import ListOf
from weft.ir.types import DType, ScalarType
from weft.records import dataclass

#: Items by their names: the C type of each, and its size.
_ITEMS: dict[str, tuple[str, int]] = {
    "int": ("int64_t", 8),
    "float": ("double", 8),
    "bool": ("bool", 1),
    "byte": ("uint8_t", 1),
    "str": ("int32_t", 4),
}
_NAMES = {DType.I64: "int", DType.F64: "float", DType.BOOL: "bool"}
_LETTERS: Final = {"int": "i", "float": "d", "bool": "b", "byte": "y", "str": "s"}
_NUMBERS: Final = ("int", "float", "bool")
_DICTS: Final = (dict, collections.OrderedDict, collections.Counter, collections.abc.Mapping)
#: Fields of a tuple.
MOST_FIELDS: Final = 8


@dataclass(frozen=True)
class Handle:
    """A kind of container: "list" of items, "rows" of numbers, "str", "bytes", "dict" of keys `item` and values
    `value`, "set", "tuple" of `fields`, or "tuples": a list of such.

    An item is a name of `_ITEMS`, another kind of handle, or, for keys, the names of a tuple of numbers. An `item` of
    "" belongs to an empty container of which no type is known.
    """

    form: str
    item: Leaf
    value: Leaf = ""
    fields: tuple[Leaf, ...] = ()

    @property
    def name(self) -> str:
        """As its accessors are called."""
        if self.form in ("str", "bytes"):
            return self.form
        if self.fields:
            return f"{'list_' if self.form == 'tuples' else ''}{named(self.fields)}"
        return "_".join(part for part in (self.form, named(self.item), named(self.value)) if part)

    @property
    def type(self) -> str:
        """The opaque type in C."""
        return f"weft_{self.name}"

    @property
    def python(self) -> str:
        """As Python's hints spell it."""
        item = spelled(self.fields or self.item)
        if self.form == "dict":
            return f"dict[{item}, {spelled(self.value)}]"
        forms = {"list": f"list[{item}]", "rows": f"list[list[{item}]]", "set": f"set[{item}]", "tuple": item}
        return {**forms, "tuples": f"list[{item}]"}.get(self.form, self.form)

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """What is in each column."""
        return self.fields or ((self.item, self.value) if self.form == "dict" else (self.item,))

    @property
    def columns(self) -> tuple[tuple[int, bool], ...]:
        """The bytes of a number in each column, and whether an entry is a row of them."""
        if self.form in ("str", "bytes"):
            return ((size_of(self.item), False),)
        return tuple((size_of(leaf), is_row(leaf) or self.form == "rows") for leaf in self.leaves)

    @property
    def inner(self) -> tuple[Handle, ...]:
        """The kinds of containers that it holds."""
        return tuple(leaf for leaf in self.leaves if isinstance(leaf, Handle))

    @property
    def made(self) -> str:
        """The C of a new, empty one."""
        return f"new_handle(&weft_kind_{self.name})"

    def described(self) -> str:
        """The table of its columns, as native/handle_columns.c has it."""
        rows = []
        for leaf, (size, has_rows) in zip(self.leaves, self.columns):
            inner = f"&weft_kind_{leaf.name}" if isinstance(leaf, Handle) else "NULL"
            letters = "".join(_LETTERS[each] for each in leaf) if isinstance(leaf, tuple) else ""
            letter = "h" if isinstance(leaf, Handle) else "k" if letters else _LETTERS[str(leaf)]
            rows.append(f"{{'{letter}', {size}, {int(has_rows)}, {inner}, \"{letters}\"}}")
        form = {"bytes": "y", "set": "e", "tuples": "c"}.get(self.form, self.form[0])
        return f"static const weft_kind weft_kind_{self.name} = {{'{form}', {len(rows)}, {{{', '.join(rows)}}}}};"


Leaf = str | Handle | tuple[str, ...]

STR = Handle("str", "str")
BYTES = Handle("bytes", "byte")


def named(leaf: Leaf | tuple[Leaf, ...]) -> str:
    if isinstance(leaf, tuple):
        return "_".join((f"tuple{len(leaf)}", *map(named, leaf)))
    return leaf.name if isinstance(leaf, Handle) else leaf


def spelled(leaf: Leaf | tuple[Leaf, ...]) -> str:
    """As hints have it."""
    if isinstance(leaf, tuple):
        return f"tuple[{', '.join(map(spelled, leaf))}]"
    return leaf.python if isinstance(leaf, Handle) else leaf


def size_of(leaf: Leaf) -> int:
    """The bytes of a number."""
    return _ITEMS[leaf][1] if isinstance(leaf, str) else 8


def item_type(leaf: Leaf) -> str:
    """The type in C of a number."""
    return _ITEMS[leaf][0] if isinstance(leaf, str) else "int64_t"


def is_row(leaf: Leaf) -> bool:
    """Whether an entry of a column is several numbers."""
    return leaf == "str" or isinstance(leaf, tuple)


def item_name(of: ScalarType) -> str | None:
    """Numbers that lists and dicts hold; None for others."""
    return _NAMES.get(of.dtype)


def handle_of(kind: Spec) -> Handle | None:
    """The kind of handle that a spec is passed by; None if there is none."""
    if isinstance(kind, ListSpec):
        item = item_name(kind.type)
        return Handle("list" if kind.rank == 1 else "rows", item) if item and kind.rank <= 2 else None
    if isinstance(kind, TextSpec) and kind.kind in ("str", "bytes"):
        whole = STR if kind.kind == "str" else BYTES
        return whole if not kind.many else Handle("list", "str") if kind.kind == "str" else None
    if isinstance(kind, TextDictSpec):
        value = item_name(kind.value) if isinstance(kind.value, ScalarType) else "str"
        return Handle("dict", "str", value) if value else None
    if not isinstance(kind, ContainerSpec) or kind.factory or kind.counts:
        return None
    if kind.kind == "list" and isinstance(kind.item, ListOf) and isinstance(kind.item.item, ScalarType):
        item = item_name(kind.item.item)
        return Handle("rows", item) if item else None
    if kind.kind == "dict" and isinstance(kind.item, ScalarType) and isinstance(kind.value, ScalarType):
        key, value = item_name(kind.item), item_name(kind.value)
        return Handle("dict", key, value) if key and value else None
    return None


def handle_of_hint(hint: Any) -> Handle | None:
    """The kind of handle that values of a hint are passed by; None if there is none."""
    if hint in (str, bytes):
        return STR if hint is str else BYTES
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in _DICTS and inner:
        value = leaf_of_hint(int if origin is collections.Counter else inner[1])
        key = _key_of_hint(inner[0])
        return Handle("dict", key, value) if key and value else None
    if origin in (set, frozenset, collections.abc.Set) and inner:
        key = _key_of_hint(inner[0])
        return Handle("set", key) if key else None
    if origin is tuple and Ellipsis not in inner:
        fields = tuple(leaf for part in inner if (leaf := leaf_of_hint(part)))
        return Handle("tuple", "", "", fields) if 0 < len(fields) == len(inner) <= MOST_FIELDS else None
    if origin not in (list, tuple, collections.abc.Sequence, collections.abc.Iterable):
        return None
    item = leaf_of_hint(inner[0])
    if isinstance(item, Handle) and item.form == "list" and item.item in _NUMBERS:
        return Handle("rows", item.item)
    if isinstance(item, Handle) and item.form == "tuple":
        return Handle("tuples", "", "", item.fields)
    return Handle("list", item) if item else None


def leaf_of_hint(hint: Any) -> Leaf | None:
    """What stands for values of a hint in a container."""
    if isinstance(hint, DTypeHint):  # a number of NumPy's is as good as one of Python's
        return _NAMES.get(hint.dtype)
    if hint in (int, float, bool, str):
        return str(hint.__name__)
    return handle_of_hint(hint)


def _key_of_hint(hint: Any) -> Leaf | None:
    if typing.get_origin(hint) is tuple:
        parts = tuple(leaf_of_hint(part) for part in typing.get_args(hint))
        found = tuple(part for part in parts if isinstance(part, str) and part in _NUMBERS)
        return found if 0 < len(found) == len(parts) <= MOST_FIELDS else None
    leaf = leaf_of_hint(hint)
    return leaf if isinstance(leaf, str) else None


def in_order(kinds: Iterable[Handle]) -> list[Handle]:
    """Kinds and those that they hold, each once, inner ones first."""
    found: dict[Handle, None] = {}

    def visit(kind: Handle) -> None:
        for inner in kind.inner:
            visit(inner)
        found[kind] = None

    for kind in sorted(kinds, key=lambda kind: kind.name):
        visit(kind)
    return list(found)
