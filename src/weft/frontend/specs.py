"""What is known of each argument before compiling: its `Spec`.  In: actual arguments (or hints); out: hashable specs.

A spec is the part of an argument that generated code may rely on behind a guard: dtype, rank, layout and which extents
are 1 for an array, the type of a scalar, the value of a constant.  Two calls with equal specs share a version.
"""

from __future__ import annotations

from typing import Any, Union

import numpy as np

from weft.frontend.values import ItemType
from weft.ir.program import Layout
from weft.ir.types import DType, ScalarType, from_numpy, type_of_value
from weft.records import dataclass

SMALL = 1 << 40
_MAX_RANK = 8
#: The dispatcher keeps so many columns of numbers of one argument.
_MAX_COLUMNS = 16
_LETTERS = {DType.I64: "i", DType.F64: "f", DType.BOOL: "b", DType.C128: "c"}


@dataclass(frozen=True)
class ArraySpec:
    """An ndarray.  `ones[axis]`: the extent is 1 (broadcasting depends on it)."""

    dtype: DType
    ones: tuple[bool, ...]
    layout: Layout

    @property
    def rank(self) -> int:
        return len(self.ones)

    def __str__(self) -> str:
        extents = ", ".join("1" if one else ":" for one in self.ones)
        suffix = "" if self.layout is Layout.C else f" {self.layout.value}"
        return f"{self.dtype.value}[{extents}]{suffix}"


@dataclass(frozen=True)
class ListSpec:
    """Nested lists, rectangular, of one Python type."""

    type: ScalarType
    rank: int

    def __str__(self) -> str:
        return "list[" * self.rank + str(self.type) + "]" * self.rank


@dataclass(frozen=True)
class ContainerSpec:
    """A list of tuples, a list of lists of any lengths ("rows"), a dict or a set: the types of its items.

    Those of a dict are its keys; its values are of type `value`.
    """

    kind: str
    item: ItemType
    value: ItemType | None = None

    @property
    def template(self) -> str:
        """As weft.runtime.templates reads it."""
        item = _template(self.item)
        if self.kind in ("list", "rows"):
            return f"[{item}]" if self.kind == "list" else f"[[{item}]]"
        return "{" + item + ("}" if self.value is None else f":{_template(self.value)}}}")

    def __str__(self) -> str:
        inner = _spelled(self.item) + ("" if self.value is None else f", {_spelled(self.value)}")
        return f"list[list[{inner}]]" if self.kind == "rows" else f"{self.kind}[{inner}]"


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
class ObjectSpec:
    """An instance whose attributes are read; they become hidden arguments."""

    kind: type
    value: Any

    def __str__(self) -> str:
        return self.kind.__name__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectSpec) and self.kind is other.kind

    def __hash__(self) -> int:
        return hash(self.kind)


Spec = Union[ArraySpec, ListSpec, ContainerSpec, ArraysSpec, ScalarSpec, ConstSpec, SameSpec, ObjectSpec]


def layout_of(array: np.ndarray[Any, Any]) -> Layout:
    flags = array.flags
    if flags.c_contiguous:
        return Layout.C
    return Layout.F if flags.f_contiguous else Layout.STRIDED


def _array_spec(array: np.ndarray[Any, Any]) -> ArraySpec | None:
    dtype = from_numpy(array.dtype)
    if dtype is None or not 1 <= array.ndim <= _MAX_RANK or not array.flags.aligned:
        return None
    if any(stride % array.itemsize for stride in array.strides):
        return None
    return ArraySpec(dtype, tuple(extent == 1 for extent in array.shape), layout_of(array))


def _arrays_spec(value: list[Any]) -> ArraysSpec | None:
    """The spec of a list of arrays by their shapes; the guard checks the rest."""
    first = value[0]
    dtype = from_numpy(first.dtype)
    if dtype is None or not 1 <= first.ndim < _MAX_RANK:
        return None
    if any(type(item) is not np.ndarray or item.ndim != first.ndim for item in value):
        return None
    unequal = any(item.shape != first.shape for item in value)
    return None if unequal and first.ndim > 1 else ArraysSpec(dtype, first.ndim, unequal)


def _list_spec(value: list[Any]) -> ListSpec | ContainerSpec | ArraysSpec | None:
    """The spec of a list by its first element and the lengths of its rows; the guard checks the rest."""
    rank, item = 1, value[0] if value else 0.0  # an empty list is a list of anything
    if type(item) is np.ndarray:
        return _arrays_spec(value)
    if type(item) is list:
        ragged = _ragged_spec(value)
        if ragged is not None:
            return ragged
    while isinstance(item, list) and rank < _MAX_RANK:
        rank, item = rank + 1, item[0] if item else 0.0
    if type(item) is tuple and rank == 1:
        return _container("list", item)
    found = type_of_value(item)
    if found is None or not found.weak or found.dtype is DType.C128:
        return None
    return ListSpec(found, rank)


def _ragged_spec(value: list[Any]) -> ContainerSpec | None:
    """The spec of a list of lists whose lengths differ, or whose items are tuples."""
    if not all(type(row) is list for row in value):
        return None
    item = next((row[0] for row in value if row), None)
    uneven = any(len(row) != len(value[0]) for row in value)
    if item is None or not (uneven or type(item) is tuple):
        return None
    return _container("rows", item)


def _entries_spec(value: dict[Any, Any] | set[Any]) -> ContainerSpec | None:
    """The spec of a dict or set by its first entry."""
    key = next(iter(value), 0)  # an empty one: of anything
    if isinstance(value, set):
        found = _container("set", key)
    else:
        found = _container("dict", key, next(iter(value.values()), 0.0))
    return found if found is not None and set(_template(found.item)) <= set("i()") else None


def _container(kind: str, item: object, *held: object) -> ContainerSpec | None:
    layouts = [_item_type(part) for part in (item, *held)]
    if any(layout is None for layout in layouts):
        return None
    made = ContainerSpec(kind, *layouts)  # type: ignore[arg-type]
    columns = sum(letter in _LETTERS.values() for letter in made.template) + (kind == "rows")
    return made if columns <= _MAX_COLUMNS else None


def _item_type(item: object) -> ItemType | None:
    """The type of a number or of a tuple of numbers; None if it is neither."""
    if type(item) is tuple:
        parts = tuple(_item_type(part) for part in item)
        return None if None in parts or not parts else parts  # type: ignore[return-value]
    found = type_of_value(item)
    return found if found is not None and found.weak and found.dtype in _LETTERS else None


def _template(layout: ItemType) -> str:
    if isinstance(layout, tuple):
        return "(" + "".join(map(_template, layout)) + ")"
    return _LETTERS[layout.dtype]


def _spelled(layout: ItemType) -> str:
    if isinstance(layout, tuple):
        return f"tuple[{', '.join(map(_spelled, layout))}]"
    return str(layout)


def _constant(value: object) -> bool:
    if value is None or isinstance(value, (str, bytes, slice, type, np.dtype)) or value is Ellipsis:
        return not isinstance(value, slice)
    return isinstance(value, tuple) and all(_constant(v) or type(v) in (int, float, bool, complex) for v in value)


def spec_of(value: object) -> Spec:
    """The spec of one argument; anything without a native form is an object, of which only attributes can be read."""
    found: Spec | None = None
    if type(value) is np.ndarray:
        found = _array_spec(value)
    elif type(value) is list:
        found = _list_spec(value)
    elif type(value) is dict or type(value) is set:
        found = _entries_spec(value)
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
        if isinstance(value, (np.ndarray, list, dict, set)) and id(value) in seen:
            specs.append(SameSpec(seen[id(value)]))
            continue
        specs.append(spec_of(value))
        if not isinstance(specs[-1], ObjectSpec):
            seen[id(value)] = index
    return specs
