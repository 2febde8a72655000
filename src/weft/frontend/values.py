"""What an expression of the user's program denotes while it is being built: scalars, arrays (views or still lazy),
tuples, Python objects known at compile time.

An `Array` is a shape and a function from index expressions to the element: slices, transposes and broadcasts compose
that function and never copy.  If the array is a view of a buffer, `view` says so; then it can be written, too.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from collections.abc import Iterable as Iterable_
from dataclasses import field
from typing import Any, Union

from weft.ir.expr import ZERO, Expr, Read
from weft.ir.types import FLOAT, INT, ScalarType
from weft.records import dataclass

Index = tuple[Expr, ...]

#: A loop over a tuple of no more items than this has its body once for each; longer ones go into memory.
MOST_COPIES = 64


@dataclass(frozen=True)
class Scalar:
    """One value; its expression is pure."""

    expr: Expr

    @property
    def type(self) -> ScalarType:
        return self.expr.type


@dataclass(frozen=True)
class View:
    """Element (i, j, ...) of the array is element index((i, j, ...)) of the buffer."""

    buffer: str
    index: Callable[[Index], Index]
    whole: bool = False  # the array is the buffer itself, not a part or a permutation of it
    argument: int | None = None  # the array is this argument of the call, in memory that others lie in, too
    number: Expr | None = field(default=None, compare=False)  # which it is of the arrays that containers hold


@dataclass(frozen=True)
class Part:
    """The `name` ("real" or "imag") of each complex element of a view."""

    view: View
    type: ScalarType
    name: str


@dataclass(frozen=True)
class Growing:
    """The memory of a list whose length changes: the names of its buffers (one for each number in an item), of larger
    ones to come, and of scalars: how many items there are, how many have room, and for a deque, where the first one is.

    Of a list in a list these three are arrays, and it is number `row` in them; `shared` is the memory of all of them.
    """

    data: tuple[str, ...]
    spare: tuple[str, ...]
    length: str
    capacity: str
    head: str | None = None
    row: Expr | None = None
    shared: Growing | None = None
    sparse: bool = False  # parts of it may never have been written
    limit: Expr | None = None  # how many items a deque may have

    @property
    def size(self) -> Expr:
        """How many items there are."""
        return Read(self.length, () if self.row is None else (self.row,), INT)


@dataclass(frozen=True)
class Array:
    shape: tuple[Expr, ...]
    type: ScalarType
    element: Callable[[Index], Expr]
    view: View | None = None
    is_list: bool = False
    cost: int = 0  # operations to compute one element, when it is not simply read
    borrowed: bool = False  # NumPy would give a view here and weft has none: good for reading at once, not for keeping
    growing: Growing | None = None  # a list whose length changes
    origin: str | None = None  # the buffer that is read anew each time: as a view of it that cannot be written
    part: Part | None = None  # the real or imaginary parts of a view, to be written through it
    turned: bool = False  # no view, and NumPy has its axes in another order in memory
    before: Regrouped | None = None  # the array as it was before it was reshaped
    fixed: bool = False  # NumPy lets nobody write it, whoever owns its memory

    @property
    def rank(self) -> int:
        return len(self.shape)


@dataclass(frozen=True)
class Regrouped:
    """An array that another is a reshaped form of: the same elements in the same order.  `place` leads from an index
    into it to that of the same element in the other."""

    array: Array
    place: Callable[[Index], Index]


@dataclass(frozen=True)
class Mask:
    """`array[condition]` with a boolean array: only its update in place and its reductions have a native form."""

    array: Array
    condition: Array


@dataclass(frozen=True)
class Flat:
    """`array.flat`: the elements in C order, one after the other."""

    array: Array


@dataclass(frozen=True)
class Tuple:
    items: tuple[Value, ...]
    is_list: bool = False
    key: tuple[int, str] | None = field(default=None, compare=False)  # of an empty list that may grow
    is_deque: bool = field(default=False, compare=False)
    named: type | None = None  # the class of named tuples it is of
    site: tuple[int, str] | None = field(default=None, compare=False)  # of an empty list: where it is made


@dataclass(frozen=True)
class ListOf:
    """The type of a list that is an item of another container; as long as nothing is put into it, where it is made."""

    item: ItemType | None
    site: tuple[int, str] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class ArrayOf:
    """The type of an array in a container: which it is of all arrays of its type and rank.  `lent`: it may be a part of
    an argument."""

    type: ScalarType
    rank: int
    lent: bool = False


@dataclass(frozen=True)
class OptionOf:
    """The type of an item that may be None: whether it is there, and its numbers, zeros if it is not.  `item` is None
    as long as nothing but None is put there, and `site` tells where the list of them is made."""

    item: ItemType | None
    site: tuple[int, str] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class ArraysOf:
    """The memory of all arrays of one type and rank in containers, as opposed to that of lists of them."""

    of: ArrayOf


@dataclass(frozen=True)
class TextType:
    """The type of a string in a container: two numbers, where it begins among all strings, and its length."""

    kind: str


@dataclass(frozen=True)
class EitherType:
    """The type of a number in a container that is of one of two types, `one` or `other`: two numbers, the value as a
    `held`, which has room for both, and whether it is an `other`."""

    one: ScalarType
    other: ScalarType

    @property
    def held(self) -> ScalarType:
        return INT if self.one.dtype.is_integer else FLOAT


@dataclass(frozen=True)
class ObjectType:
    """The type of an object in a container: which it is of all objects of its class."""

    kind: type


class NamedParts(tuple[Any, ...]):
    """The type of a named tuple in a container: those of its parts, and its class."""

    named: type | None

    def __new__(cls, parts: Iterable_[Any], named: type | None = None) -> NamedParts:
        made = super().__new__(cls, parts)
        made.named = named
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedParts) and other.named is self.named and tuple(self) == tuple(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.named, tuple(self)))


#: The type of an item: of a number, of the parts of a tuple, of a list, of an array, of something or
#: None, of a string, of a member of an enumeration, of an object.
ItemType = Union[
    ScalarType, tuple["ItemType", ...], ListOf, ArrayOf, OptionOf, TextType, EitherType, ObjectType
]

#: Things that share memory: lists, by what they hold; arrays.
HeapKind = Union[ItemType, ArraysOf]


@dataclass(frozen=True)
class Heap:
    """The memory of all lists in containers that hold one type of items: the items, and a row for each list that tells
    where it begins, how long it is and how long it may become.  Of dicts and sets the items are entries, and there are
    the places of all their indices.  Of arrays the items are elements, and a row tells where
    one begins and its shape."""

    cells: Growing
    rows: Growing
    index: Growing | None = None


@dataclass(frozen=True)
class Loaded:
    """An argument whose lists are among those of their kind: from which number on, by what they hold."""

    name: str
    param: str
    template: str
    kinds: tuple[HeapKind, ...]
    first: dict[HeapKind, Expr] = field(compare=False)


@dataclass(frozen=True)
class Records:
    """A list of tuples (or a deque of anything): each number of an item has a buffer of its own."""

    growing: Growing
    item: ItemType
    is_deque: bool = False


@dataclass(frozen=True)
class Rows:
    """An argument that is a list of lists of any lengths: the names of the buffer that tells where each begins (and the
    last one ends), and of those with the numbers of their items, one row after the other."""

    starts: str
    data: tuple[str, ...]
    count: Expr
    item: ItemType
    of_arrays: bool = False  # the rows are arrays


@dataclass(frozen=True)
class Stack:
    """An argument that is a list of arrays of one shape: the array with one more axis that they are copied into."""

    array: Array


@dataclass(frozen=True)
class Table:
    """The memory of a dict or set: its entries (the first `keys` numbers of one are its key, the last tells whether it
    is there), the names of the index buffer, and of scalars: how many places that has, and how many entries there are.
    """

    entries: Growing
    index: str
    places: str
    live: str
    keys: int
    unseen: tuple[int, ...] = ()  # numbers of a key that tell of what type it is: equal keys may differ in them


@dataclass(frozen=True)
class Dict:
    """A dict; without a table as long as nothing is known of its entries."""

    table: Table | None
    key: ItemType | None
    item: ItemType | None
    place: tuple[int, str] = field(compare=False)


@dataclass(frozen=True)
class Range:
    """A range; `parallel`: the user says that iterations over it do not need each other."""

    lo: Expr
    hi: Expr
    step: Expr
    parallel: bool = False


@dataclass(frozen=True)
class Grid:
    """All combinations of several ranges, as `weft.map[0:n, 0:m]` gives them."""

    ranges: tuple[Range, ...]


@dataclass(frozen=True)
class Slice:
    lo: Value | None
    hi: Value | None
    step: Value | None


@dataclass(frozen=True)
class Iterable:
    """A composed iteration: enumerate, zip, reversed, ndindex. `item(q)` is the value of trip q, 0 <= q < trips.

    If the loop changes one of the buffers `watches`, trip q is the end unless `alive(q)`.
    """

    trips: Expr
    item: Callable[[Expr], Value]
    alive: Callable[[Expr], Expr] | None = None
    watches: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Object:
    """A Python object known at compile time: a module, function, dtype, string, None, ...

    `argument`: the position of the argument that it is, if that is a string, which may also be taken as data.
    """

    value: Any
    argument: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Text:
    """A str, bytes or bytearray: `length` characters of a buffer of code points, from `start` on, `step` apart.

    A single character may be nothing but its `code`; of a `literal` the buffer is chosen when it is needed.
    """

    kind: str
    length: Expr
    buffer: str = ""
    start: Expr = ZERO
    step: int = 1
    code: Expr | None = None
    literal: str | None = None
    grows: str = ""  # the variable of which it is the value, if that gets longer strings


@dataclass(frozen=True)
class Maybe:
    """`held` if `there`, else None."""

    there: Expr
    held: Value


@dataclass(frozen=True)
class Instance:
    """An object of the run time whose attributes are read: a path of names from an argument."""

    argument: int
    path: tuple[str, ...]
    sample: Any


@dataclass(frozen=True, eq=False)
class Struct:
    """An object that the function made: what each attribute holds (a slot for a number, else a value)."""

    kind: type
    fields: dict[str, Any]
    block: list[Any] | None = None  # while it is being made: where its attributes may be set for the first time
    row: Expr | None = None  # which it is of all objects of its class, which are in memory side by side
    instance: Instance | None = None  # the argument that it is
    home: list[Any] | None = None  # where it was made: what is there later runs whenever it exists


@dataclass(frozen=True, eq=False)
class Keyed:
    """A dict that the function made, all of whose keys are constant strings: an attribute of `entries` for each."""

    entries: Struct


@dataclass(frozen=True)
class Method:
    """A method of a value, not yet called."""

    receiver: Value
    name: str


@dataclass(frozen=True, eq=False)
class Super:
    """super() in a method of the class `kind`: `base` by the classes behind it."""

    base: Struct
    kind: type


@dataclass(frozen=True)
class Closure:
    """A function defined inside the function being compiled; its free names are those of the place of definition."""

    tree: ast.FunctionDef | ast.Lambda
    scope: Any = field(compare=False, repr=False)  # the Scope of that place
    defaults: dict[str, Value] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class PythonFunction:
    """A function of the user's, to be inlined."""

    function: types.FunctionType


@dataclass(frozen=True)
class Recursive:
    """A nested function inside its own body; the names it takes from around it are parameters there."""

    source: Any = field(repr=False)  # its Source, with these parameters
    captured: tuple[str, ...]
    shared: tuple[str, ...] = ()  # those of them that it gives other values


@dataclass(frozen=True)
class Keywords:
    """What `**` parameters hold."""

    items: dict[str, Value]


@dataclass(frozen=True)
class Partial:
    """A function with some of its arguments: functools.partial."""

    function: Value
    args: tuple[Value, ...]
    kwargs: dict[str, Value]


@dataclass(frozen=True, eq=False)
class Generator:
    """A generator that nothing has been taken from: the function, the values of its parameters, the loops around the
    place where it was made, and whether it has been used since.
    """

    tree: ast.FunctionDef = field(repr=False)
    values: dict[str, Value]
    source: Any = field(repr=False)
    parent: Any = field(repr=False)
    loops: tuple[object, ...]
    used: list[bool]


@dataclass(frozen=True, eq=False)
class Caught:
    """An exception that a handler has caught: which of the checks of a block (interrupts.Exits) have raised it."""

    exits: Any = field(repr=False)
    places: tuple[int, ...]


Value = Union[
    Scalar, Array, Mask, Flat, Text, Tuple, Records, Rows, Stack, Dict, Struct, Keyed, Range, Grid, Slice,
    Iterable, Object, Maybe, Instance, Method, Closure, PythonFunction, Recursive, Caught, Generator, Keywords, Partial,
    Super,
]  # fmt: skip


def told(values: Iterable_[Value]) -> str:
    """The types of several values: "float, f64 of rank 1"."""
    return ", ".join(map(describe, values)) or "nothing"


def describe(value: Value) -> str:
    """The type of a value in words of the user's."""
    if isinstance(value, Scalar):
        return str(value.type).removeprefix("py")  # Python's bool, as opposed to NumPy's
    if isinstance(value, Array):
        return ("list" if value.is_list else value.type.dtype.value) + f" of rank {value.rank}"
    if isinstance(value, Text):
        return value.kind
    if isinstance(value, Tuple):
        items = ", ".join(describe(item) for item in value.items)
        kind = "deque" if value.is_deque else "list" if value.is_list else "tuple"
        return f"({items})" if kind == "tuple" and items else f"{kind} of {items}" if items else f"empty {kind}"
    if isinstance(value, (Dict, Keyed)):
        return "dict"
    if isinstance(value, Records):
        return "deque" if value.is_deque else f"list of {'arrays' if isinstance(value.item, ArrayOf) else 'tuples'}"
    if isinstance(value, Rows):
        rows = value.item.kind if isinstance(value.item, TextType) else "lists"
        return f"list of {'arrays' if value.of_arrays else rows}"
    if isinstance(value, Stack):
        return "list of arrays"
    if isinstance(value, Struct):
        return f"an object of type {value.kind.__name__}"
    if isinstance(value, Instance):
        dtype = getattr(value.sample, "dtype", None)
        told = f"an object of type {type(value.sample).__name__}"
        return told if dtype is None else f"{told}, dtype {str(dtype)[:40]}"
    if isinstance(value, Maybe):
        return f"None or {describe(value.held)}"
    if isinstance(value, Object):
        return getattr(value.value, "__name__", None) or repr(value.value)
    return type(value).__name__.lower()
