"""What is known of each argument before compiling: its `Spec`.  In: actual arguments (or hints); out: hashable specs.

A spec is the part of an argument that generated code may rely on behind a guard: dtype, rank, layout and which extents
are 1 for an array, the type of a scalar, the value of a constant.  Two calls with equal specs share a version.
"""

from __future__ import annotations

import enum
import functools
import itertools
import types
from collections import deque
from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar, Union

import numpy as np

from weft.frontend.items import has_lists
from weft.frontend.values import ItemType, ListOf, TextType
from weft.ir.program import Layout
from weft.ir.types import DType, ScalarType, from_numpy, type_of_value
from weft.naming import home_of
from weft.records import dataclass

SMALL = 1 << 40
_NUMBERS = (int, float, bool, complex)
MAX_RANK = 8
#: The dispatcher keeps so many columns of numbers of one argument.
_MAX_COLUMNS = 16
_LETTERS = {DType.I64: "i", DType.F64: "f", DType.BOOL: "b", DType.C128: "c"}


@dataclass(frozen=True)
class ArraySpec:
    """An ndarray.  `ones[axis]`: the extent is 1 (broadcasting depends on it).  `repeats`: an element may be in it
    twice, so that it must not be written.  One of rank 0 is a parameter of a single element, seen without its axis."""

    dtype: DType
    ones: tuple[bool, ...]
    layout: Layout
    repeats: bool = False

    @property
    def rank(self) -> int:
        return len(self.ones)

    def __str__(self) -> str:
        extents = ", ".join("1" if one else ":" for one in self.ones)
        suffix = "" if self.layout is Layout.C else f" {self.layout.value}"
        return f"{self.dtype.value}[{extents}]{suffix}{' repeated' if self.repeats else ''}"


@dataclass(frozen=True)
class ListSpec:
    """Nested lists, rectangular, of one Python type."""

    type: ScalarType
    rank: int

    def __str__(self) -> str:
        return "list[" * self.rank + str(self.type) + "]" * self.rank


@dataclass(frozen=True)
class ContainerSpec:
    """A list of tuples or lists, a deque or a dict: the types of its items.

    Those of a dict are its keys; its values are of type `value`.
    """

    kind: str
    item: ItemType
    value: ItemType | None = None
    #: There are no defaultdicts and Counters among them, as C hosts ask.
    factory: ClassVar[str] = ""
    counts: ClassVar[bool] = False

    @property
    def has_lists(self) -> bool:
        return has_lists(self.item) or has_lists(self.value)

    @property
    def is_rows(self) -> bool:
        """A list of lists, but not of lists of lists."""
        return self.kind == "list" and isinstance(self.item, ListOf) and not has_lists(self.item.item)

    @property
    def template(self) -> str:
        """As weft.runtime.templates reads it."""
        item = _template(self.item)
        if self.kind in ("list", "deque"):
            return f"[{item}]" if self.kind == "list" else f"d[{item}]"
        return f"{{{item}:{_template(self.value)}}}"

    def __str__(self) -> str:
        inner = _spelled(self.item) + ("" if self.value is None else f", {_spelled(self.value)}")
        return f"{self.kind}[{inner}]"


@dataclass(frozen=True)
class ArraysSpec:
    """A list of arrays of one dtype and rank; of one shape, unless they are of rank 1 and `unequal`."""

    dtype: DType
    rank: int
    unequal: bool

    @property
    def template(self) -> str:
        """As weft.runtime.templates reads it."""
        inner = f"{self.dtype.typenum}:{self.rank}"
        return f"<<{inner}>>" if self.unequal else f"<{inner}>"

    def __str__(self) -> str:
        return f"list[{self.dtype.value}[{', '.join(':' * self.rank)}]]"


@dataclass(frozen=True)
class TextSpec:
    """A str, bytes or bytearray, or (`many`) a list of such, by its characters."""

    kind: str
    many: bool = False

    @property
    def template(self) -> str:
        """As weft.runtime.texts reads it."""
        letter = {"str": "s", "bytes": "y", "bytearray": "Y"}[self.kind]
        return f"[{letter}]" if self.many else letter

    def __str__(self) -> str:
        return f"list[{self.kind}]" if self.many else self.kind


@dataclass(frozen=True)
class TextDictSpec:
    """A dict whose keys are strings, by the type of its values."""

    value: ScalarType | TextType

    @property
    def template(self) -> str:
        """As weft.runtime.texts reads it."""
        return "{s:" + ("s" if isinstance(self.value, TextType) else _LETTERS[self.value.dtype]) + "}"

    def __str__(self) -> str:
        return f"dict[str, {'str' if isinstance(self.value, TextType) else self.value}]"


#: Specs of arguments that fill several parameters, one a column.
COLUMNS = (ContainerSpec, ArraysSpec, TextSpec, TextDictSpec)


@dataclass(frozen=True)
class ScalarSpec:
    """A Python or NumPy scalar.  `small`: an int below 2**40 in magnitude, fit to be a size or an index."""

    type: ScalarType
    small: bool = False

    def __str__(self) -> str:
        return str(self.type)


@dataclass(frozen=True)
class ConstSpec:
    """A value compiled in: None, a string, a tuple of numbers, or an argument that must be known to compile."""

    value: Any

    def __str__(self) -> str:
        return f"={self.value!r}"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ConstSpec) and type(self.value) is type(other.value) and bool(self.value == other.value)
        )

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True)
class SameSpec:
    """The very same array as an earlier argument."""

    index: int

    def __str__(self) -> str:
        return f"same as argument {self.index}"


@dataclass(frozen=True)
class MemberSpec:
    """An argument in memory that it shares: its number, the axis of the memory that each of its axes is along, and, as
    one example of a call, where it starts, its shape and its steps.
    """

    argument: int
    writeable: bool
    axes: tuple[int, ...]
    ones: tuple[bool, ...]
    same: int | None  # the earlier member that has the very same elements
    fixed: tuple[int | None, ...]  # steps that are so short that they are compiled in
    start: tuple[int, ...] = field(compare=False, repr=False)
    shape: tuple[int, ...] = field(compare=False, repr=False)
    steps: tuple[int, ...] = field(compare=False, repr=False)


def member_of_any(argument: int, kind: ArraySpec) -> MemberSpec:
    """An array in a line of elements, wherever it starts; one that is known to be in C order has its own there."""
    steps = [SMALL] * kind.rank
    if kind.layout is Layout.C:
        steps[-1] = 1
    fixed = tuple(0 if one else step if step == 1 else None for one, step in zip(kind.ones, steps))
    shape = tuple(1 if one else SMALL for one in kind.ones)
    return MemberSpec(argument, True, (0,) * kind.rank, kind.ones, None, fixed, (SMALL,), shape, tuple(steps))


@dataclass(frozen=True)
class MemorySpec:
    """The memory that several arguments lie in, as one array around all of them; `shape` is an example."""

    dtype: DType
    rank: int
    layout: Layout
    text: str  # as weft.runtime.sharing reads it
    members: tuple[MemberSpec, ...]
    shape: tuple[int, ...] = field(compare=False, repr=False)


@dataclass(frozen=True)
class SharedSpec:
    """An array that is written and overlaps other arguments, or that overlaps such a one: a view of their memory."""

    memory: MemorySpec
    member: int

    def __str__(self) -> str:
        own = self.memory.members[self.member]
        extents = ", ".join("1" if one else ":" for one in own.ones)
        kind = f"{self.memory.dtype.value}[{extents}]"
        if own.same is not None:
            return f"{kind} with the elements of argument {self.memory.members[own.same].argument}"
        others = [str(part.argument) for part in self.memory.members if part is not own]
        return f"{kind} overlapping argument {' and '.join(others)}"


@dataclass(frozen=True)
class ObjectSpec:
    """An instance whose attributes are read; they become hidden arguments."""

    kind: type
    value: Any

    @functools.cached_property
    def detail(self) -> str:
        """What tells versions for objects of one class apart: the dtypes of a sparse matrix."""
        if not home_of(self.kind).startswith("scipy.sparse"):
            return ""
        parts = [getattr(self.value, name, None) for name in ("data", "indices", "row")]
        return ", ".join(part.dtype.name for part in parts if isinstance(part, np.ndarray))

    def keep(self, light: Callable[[Any], Any]) -> None:
        """Go on with a stand-in for the object, which may be as large as memory: keys live as long as the function."""
        self.detail  # noqa: B018 -- read from the object while it is there
        object.__setattr__(self, "value", light(self.value))

    @property
    def key(self) -> str:
        """What stands for it in the key of a stored version."""
        return f"object {home_of(self.kind)}.{self.kind.__qualname__} {self.detail}"

    def __str__(self) -> str:
        return self.kind.__name__ + (f"[{self.detail}]" if self.detail else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectSpec) and self.kind is other.kind and self.detail == other.detail

    def __hash__(self) -> int:
        return hash((self.kind, self.detail))


@dataclass(frozen=True)
class FunctionSpec:
    """A function of the host's, of so many floats, that gives a float."""

    count: int

    def __str__(self) -> str:
        return f"Callable[[{', '.join(['float'] * self.count)}], float]"


Spec = Union[
    ArraySpec, ListSpec, ContainerSpec, ArraysSpec, TextSpec, TextDictSpec, ScalarSpec, ConstSpec, SameSpec, ObjectSpec,
    MemorySpec, SharedSpec, FunctionSpec,
]  # fmt: skip


def layout_of(array: np.ndarray[Any, Any]) -> Layout:
    flags = array.flags
    if flags.c_contiguous:
        return Layout.C
    return Layout.F if flags.f_contiguous else Layout.STRIDED


def _array_spec(array: np.ndarray[Any, Any]) -> ArraySpec | None:
    dtype = from_numpy(array.dtype)
    if dtype is None or array.ndim > MAX_RANK or not array.flags.aligned:
        return None
    if any(stride % array.itemsize for stride in array.strides):
        return None
    return ArraySpec(dtype, tuple(extent == 1 for extent in array.shape), layout_of(array))


def _arrays_spec(value: list[Any]) -> ArraysSpec | None:
    """The spec of a list of arrays by their shapes; the guard checks the rest."""
    first = value[0]
    dtype = from_numpy(first.dtype)
    if dtype is None or not 1 <= first.ndim < MAX_RANK:
        return None
    if any(type(item) is not np.ndarray or item.ndim != first.ndim for item in value):
        return None
    unequal = any(item.shape != first.shape for item in value)
    return None if unequal and first.ndim > 1 else ArraysSpec(dtype, first.ndim, unequal)


def _list_spec(value: list[Any]) -> ListSpec | ContainerSpec | ArraysSpec | TextSpec | None:
    """The spec of a list of numbers of one kind, by its first element and the lengths of its rows; the guard checks
    these. Items of other kinds (None where a number is missing) would make it fail at each call."""
    rank, item = 1, value[0] if value else 0.0  # an empty list is a list of anything
    if type(item) is np.ndarray:
        return _arrays_spec(value)
    if type(item) in (str, bytes):
        alike = all(type(other) is type(item) for other in value)
        return TextSpec(type(item).__name__, many=True) if alike else None
    if type(item) in (list, tuple) and not _is_rectangular(value):
        return _container("list", value)
    while isinstance(item, list) and rank < MAX_RANK:
        rank, item = rank + 1, item[0] if item else 0.0
    found = type_of_value(item)
    if found is None or not found.weak or found.dtype is DType.C128 or not _are_alike(value, rank, type(item)):
        return None
    return ListSpec(found, rank)


def _are_alike(values: list[Any], rank: int, kind: type) -> bool:
    """Whether all items are of this class, or lists of such."""
    if rank > 1:
        return all(type(row) is list and _are_alike(row, rank - 1, kind) for row in values)
    return set(map(type, values)) <= {kind}


def _is_rectangular(value: list[Any], depth: int = 1) -> bool:
    """Whether lists of lists have one length at each level, down to numbers: such a list is an array."""
    if depth > MAX_RANK:
        return True  # a list in itself, most likely: no array, but no container either
    if not all(type(row) is list and len(row) == len(value[0]) for row in value):
        return False
    deeper = [part for row in value for part in row[:1] if type(part) in (list, tuple)]
    if not deeper:
        return True
    parts = [part for row in value for part in row]
    return type(parts[0]) is list and _is_rectangular(parts, depth + 1)


def _entries_spec(value: dict[Any, Any]) -> ContainerSpec | None:
    """The spec of a dict by its first entries; an empty one is of anything."""
    found = _container("dict", list(itertools.islice(value, 1)) or [0], list(value.values()) or [0.0])
    return found if found is not None and set(_template(found.item)) <= set("ifb()") else None


def _container(kind: str, items: list[Any], held: list[Any] | None = None) -> ContainerSpec | None:
    item = _item_type(items)
    value = None if held is None else _item_type(held)
    if item is None or (held is not None and value is None):
        return None
    letters = _template(item) + ("" if value is None else _template(value))
    columns = sum(letter in _LETTERS.values() or letter in "[{" for letter in letters)
    return ContainerSpec(kind, item, value) if columns <= _MAX_COLUMNS else None


def _item_type(items: list[Any], depth: int = 0) -> ItemType | None:
    """The type of items, by the first of them; None if it has no native form.

    They are numbers, tuples or lists; of lists that are all empty any type would do.
    """
    item = items[0] if items else 0
    if depth > MAX_RANK:
        return None
    if type(item) is tuple:
        if any(type(other) is not tuple or len(other) != len(item) for other in items):
            return None
        parts = tuple(_item_type([other[place] for other in items], depth + 1) for place in range(len(item)))
        return None if None in parts or not parts else parts  # type: ignore[return-value]
    if type(item) is list:
        if any(type(other) is not list for other in items):
            return None
        inner = _item_type([part for other in items for part in other], depth + 1)
        return None if inner is None else ListOf(inner)
    found = type_of_value(item)
    return found if found is not None and found.weak and found.dtype in _LETTERS else None


def _template(layout: ItemType | None) -> str:
    if isinstance(layout, tuple):
        return "(" + "".join(map(_template, layout)) + ")"
    if isinstance(layout, ListOf):
        return f"[{_template(layout.item)}]"
    assert isinstance(layout, ScalarType)
    return _LETTERS[layout.dtype]


def _spelled(layout: ItemType | None) -> str:
    if isinstance(layout, tuple):
        return f"tuple[{', '.join(map(_spelled, layout))}]"
    return f"list[{_spelled(layout.item)}]" if isinstance(layout, ListOf) else str(layout)


def _constant(value: object) -> bool:
    if value is None or isinstance(value, (str, bytes, slice, type, np.dtype, enum.Enum)) or value is Ellipsis:
        return not isinstance(value, slice)
    if is_function(value):
        return True
    return isinstance(value, tuple) and all(_constant(v) or type(v) in (int, float, bool, complex) for v in value)


def is_numbers(value: object) -> bool:
    """Whether a constant is a tuple of numbers, or of such tuples."""
    return type(value) is tuple and bool(value) and all(type(v) in (int, float) or is_numbers(v) for v in value)


def is_function(value: object) -> bool:
    """Whether an argument is a function, which is compiled in: the user's own, or one of a library."""
    if isinstance(value, types.BuiltinFunctionType):
        return isinstance(value.__self__, types.ModuleType)  # not a method of some object
    if isinstance(value, functools.partial):
        given = (*value.args, *value.keywords.values())
        return is_function(value.func) and all(type(part) in _NUMBERS for part in given)
    plain = getattr(value, "py_func", value)
    return isinstance(plain, (types.FunctionType, np.ufunc))


def spec_of(value: object) -> Spec:
    """The spec of one argument; anything without a native form is an object, of which only attributes can be read."""
    found: Spec | None = None
    if type(value) is np.ndarray:
        found = _array_spec(value)
    elif type(value) is list:
        found = _list_spec(value)
    elif type(value) is dict and type(next(iter(value), None)) is not str:
        found = _entries_spec(value)
    elif type(value) is deque:
        found = _container("deque", list(value)) if value.maxlen is None else None
    elif type(value) is bytearray:
        found = TextSpec("bytearray")
    else:
        scalar = type_of_value(value)
        if scalar is not None:
            small = isinstance(value, int) and scalar.dtype is not DType.BOOL and abs(value) < SMALL
            fits = not (scalar.weak and scalar.dtype is DType.I64) or -(2**63) <= int(value) < 2**63  # type: ignore[call-overload]
            found = ScalarSpec(scalar, small) if fits else None
        elif _constant(value):
            found = ConstSpec(value)
    return ObjectSpec(type(value), value) if found is None else found


def specs_of(arguments: tuple[object, ...]) -> list[Spec]:
    """Specs of all arguments, the same array passed twice noticed."""
    seen: dict[int, int] = {}
    specs: list[Spec] = []
    for index, value in enumerate(arguments):
        if isinstance(value, (np.ndarray, list, dict, set, deque)) and id(value) in seen:
            specs.append(SameSpec(seen[id(value)]))
            continue
        specs.append(spec_of(value))
        if not isinstance(specs[-1], ObjectSpec):
            seen[id(value)] = index
    return specs
