"""Arguments and results of a function as a C host has them: plain data, each with its words in the block of a call."""

from __future__ import annotations

from typing import Any, Union

from weft.hosts.handles import Handle
from weft.ir.types import DType, ScalarType
from weft.records import dataclass


@dataclass(frozen=True)
class ArrayArgument:
    name: str
    dtype: DType
    rank: int
    written: bool
    word: int


@dataclass(frozen=True)
class ScalarArgument:
    name: str
    type: ScalarType
    word: int


@dataclass(frozen=True)
class FunctionArgument:
    """A pointer to a function of so many doubles that gives a double."""

    name: str
    count: int
    word: int


@dataclass(frozen=True)
class HandleArgument:
    """A list, string or dict: where the words of its columns are (of rows: where they begin, and then their items).

    `even`: rows of one length, as a matrix.  `written`: its items are changed in place; `changed`: it gets others.
    """

    name: str
    kind: Handle
    words: tuple[int, ...]
    written: bool
    changed: bool = False
    even: bool = False


@dataclass(frozen=True)
class ConstantArray:
    """An array of the module that is compiled in."""

    name: str
    value: Any
    word: int


@dataclass(frozen=True)
class ConstantScalar:
    """A number of the module, which the program reads at each call."""

    value: Any
    word: int


Argument = Union[ArrayArgument, ScalarArgument, FunctionArgument, HandleArgument]


@dataclass(frozen=True)
class Fill:
    """How a column of a handle is made of new arrays, by a function of native/handles.c and the slots that it takes:

    column: numbers; rows: of a matrix; parts: items, where each part begins, lengths; numbered: lists by their numbers.
    """

    how: str
    slots: tuple[int, ...]


@dataclass(frozen=True)
class Contents:
    """What a handle holds: a copy of an argument, a constant text, single numbers, or columns made of new arrays."""

    argument: HandleArgument | None = None
    text: str | bytes | None = None
    numbers: tuple[Given, ...] | None = None
    fills: tuple[Fill, ...] = ()


@dataclass(frozen=True)
class Change:
    """A list or dict argument gets other items."""

    argument: HandleArgument
    contents: Contents


@dataclass(frozen=True)
class Given:
    """Where one leaf of a result comes from, on one way out: a word, the slot of a new array, an argument; or a
    constant."""

    word: int | None = None
    slot: int | None = None
    argument: ArrayArgument | None = None
    constant: Any = None
    contents: Contents | None = None  # of a handle


@dataclass(frozen=True)
class Result:
    """One number or array that a call gives back: what it is, and where it comes from for each return of the function
    by its number."""

    name: str
    type: ScalarType
    rank: int | None  # None: a number, or a handle
    given: tuple[Given, ...]
    kind: Handle | None = None


@dataclass(frozen=True)
class Interface:
    arguments: tuple[Argument, ...]
    constants: tuple[ConstantArray | ConstantScalar, ...]
    results: tuple[Result, ...]
    slots: tuple[int, ...]
    words: int
    changes: tuple[tuple[Change, ...], ...] = ()  # of arguments, for each return
