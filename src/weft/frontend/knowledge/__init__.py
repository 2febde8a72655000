"""The knowledge base: what weft knows of library functions.  One declarative `Entry` a function: the object it stands
for, its parameters and what of them is covered, and how a call becomes IR.

Modules of this package define entries with `@native(...)`; `lookup` finds one for a Python object, `method` for a
method of arrays.  A module is loaded when a function is used that it has an entry for (`index`).  An argument that an
entry does not name is never ignored: the call is then Unsupported.  `weft support`, the page docs/support.md and the
generated tests read the same entries.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from weft.errors import Unsupported
from weft.frontend.arrays import boxed, hold_items
from weft.frontend.knowledge import expected, index
from weft.frontend.knowledge.kinds import known_kinds
from weft.frontend.masks import settled
from weft.frontend.values import Array, Mask, Object, Scalar, Tuple, Value, describe
from weft.ir.types import DType
from weft.records import dataclass
from weft.registry import KNOWN_ELSEWHERE

if TYPE_CHECKING:
    from weft.frontend.builder import Builder


@dataclass(frozen=True)
class Bound:
    """The arguments of one call by parameter name; absent ones are None."""

    builder: Builder
    name: str
    given: dict[str, Value]
    rest: tuple[Value, ...] = ()

    def get(self, name: str) -> Value | None:
        """An argument; None if it was not given or is the literal None."""
        value = self.given.get(name)
        return None if isinstance(value, Object) and value.value is None else value

    def need(self, name: str) -> Value:
        value = self.given.get(name)
        if value is None:
            raise Unsupported(self.builder.emitter.span, f"{self.name}() needs the argument {name}")
        return value


Build = Callable[[Bound], Value]

#: What looks itself at how many items a list has, since the type of the array may be given, or is no matter.
_OWN_LISTS = (np.array, np.asarray, np.shape, np.size, np.ndim)


Category = Literal["native", "library"]

#: The kinds of dtypes, as NumPy's letters: bool, signed, unsigned, floating, complex.
ALL_KINDS = "biufc"


#: The ranks of arrays that are no numbers.
ARRAYS = tuple(range(1, 9))

#: What is covered of arguments that many functions have, unless an entry says otherwise.
COMMON_LIMITS: dict[str, str] = {
    "dtype": "one to which NumPy casts the operands safely",
    "casting": "what NumPy does by default",
    "order": "C order, or that of the operand",
    "initial": "a number of the type of the result",
    "out": "an array whose dtype the result is cast to safely",
    "where": "along one axis or all of them",
}


@dataclass(frozen=True)
class Coverage:
    """What of a function an entry covers, where that is less than everything: what is outside takes the black-box path.

    category: "library" if the work is done by BLAS, LAPACK or an FFT library.
    kinds: the dtype kinds of the operands, which are the parameters without a default; others are refused.
    ranks: those of the first operand; None for any.
    only: for a parameter, the values that are covered, as they would be written, or a description in words.
    borrows: NumPy gives a view; natively it can be read at once, but not be kept.
    boxes: NumPy gives an array also where it is of rank 0, and no number.
    """

    category: Category = "native"
    kinds: str = ALL_KINDS
    ranks: tuple[int, ...] | None = None
    only: tuple[tuple[str, tuple[str, ...] | str], ...] = ()
    borrows: bool = False
    note: str = ""
    boxes: bool = False


@dataclass(frozen=True)
class Entry:
    """A library function: `parameters` in order (a name with a leading * takes the rest), `build` makes the value."""

    name: str
    parameters: tuple[str, ...]
    build: Build
    masks: bool = False  # the entry takes the elements chosen by a mask as they are; to others they are an array
    target: Any = None  # the function itself; of a method the attribute of np.ndarray
    is_method: bool = False
    coverage: Coverage = Coverage()

    @property
    def limits(self) -> dict[str, tuple[str, ...] | str]:
        """For the parameters that are covered in part: the values that are, or a description of them."""
        common = {name: words for name, words in COMMON_LIMITS.items() if name in self.parameters}
        return {**common, **dict(self.coverage.only)}

    @property
    def plain(self) -> tuple[str, ...]:
        """The parameters that take one argument each."""
        return tuple(name for name in self.parameters if not name.startswith("*"))

    def call(self, builder: Builder, args: Sequence[Value], kwargs: dict[str, Value]) -> Value:
        if not self.masks:
            args = [settled(value, builder.emitter) for value in args]
            kwargs = {key: settled(value, builder.emitter) for key, value in kwargs.items()}
        args, kwargs = known_kinds(builder, self, args, kwargs)
        given: dict[str, Value] = {}
        rest: tuple[Value, ...] = ()
        star = next((k for k, p in enumerate(self.parameters) if p.startswith("*")), None)
        if star is not None:
            rest, args = tuple(args[star:]), args[:star]
        named = [(self.positional(position), value) for position, value in enumerate(args)]
        for name, value in (*named, *((self.keyword(key), value) for key, value in kwargs.items())):
            if name is None or name in given:
                raise self._uncovered(builder, len(args), kwargs)
            given[name] = value
        missing = [name for name in operands(self) if name not in given] if _has_plain_signature(self) else []
        if missing:
            raise Unsupported(builder.emitter.span, f"TypeError: {self.name}() without the argument {missing[0]}")
        self._check_kinds(builder, (*(given[name] for name in operands(self) if name in given), *rest))
        expected.check(self.name, {**given, **self._starred(rest)}, signature(self), builder.emitter)
        self._hold_lists(builder, (*given.values(), *rest))
        value = self.build(Bound(builder, self.name, given, rest))
        numbers = not any(isinstance(each, (Array, Tuple)) for each in (*given.values(), *rest))
        value = _as_scalar(value, numbers or _is_number_type(self.target), builder)
        if any(isinstance(each, Scalar) and builder.emitter.is_boxed(each) for each in (*given.values(), *rest)):
            _hold_boxed(self, value, builder)
        of_number = self.is_method and not isinstance(given.get(self.parameters[0]), Array)
        return boxed(value, builder.emitter) if self.coverage.boxes and not of_number else value

    def _starred(self, rest: tuple[Value, ...]) -> dict[str, Value]:
        """What a parameter with a star takes, by its name."""
        return {p[1:]: Tuple(rest) for p in self.parameters if p.startswith("*") and rest}

    def _hold_lists(self, builder: Builder, values: Sequence[Value]) -> None:
        """Lists of integers that NumPy makes arrays of: one that is empty becomes an array of floats."""
        module = "numpy" if isinstance(self.target, np.ufunc) else str(getattr(self.target, "__module__", ""))
        if self.is_method or module.split(".")[0] != "numpy" or any(self.target is each for each in _OWN_LISTS):
            return
        for value in values:
            if isinstance(value, Array) and value.is_list and value.type.dtype is not DType.F64:
                hold_items(value.shape, builder.emitter)

    def _check_kinds(self, builder: Builder, values: Sequence[Value]) -> None:
        if self.coverage.kinds == ALL_KINDS:
            return
        for value in values:
            value = value.array if isinstance(value, Mask) else value
            if isinstance(value, Tuple):
                self._check_kinds(builder, value.items)
            elif isinstance(value, (Array, Scalar)) and value.type.dtype.kind not in self.coverage.kinds:
                raise Unsupported(builder.emitter.span, f"{self.name}() of {describe(value)}")

    def accepts(self, name: str) -> bool:
        """Whether the entry covers the parameter `name` of the function."""
        return name in self.plain or any(
            place.name == name and place.kind in (_POSITIONAL_ONLY, _EITHER) and self.positional(position) is not None
            for position, place in enumerate(signature(self) or ())
        )

    def _uncovered(self, builder: Builder, count: int, kwargs: Mapping[str, Value]) -> Unsupported:
        wrong = [name for name in kwargs if self.keyword(name) is None]
        what = f"the argument {wrong[0]} of {self.name}()" if wrong else f"{self.name}() with {count} arguments"
        return Unsupported(builder.emitter.span, what, "leave it out, or compute it in two steps")

    def positional(self, position: int) -> str | None:
        """The parameter that the argument at `position` is for; None if the entry does not cover it.

        The order is that of the function itself: an entry may leave out a parameter between two others.
        """
        declared = self.plain[position] if position < len(self.plain) else None
        real = signature(self)
        if real is None or any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in real):
            return declared
        places = [p for p in real if p.kind in (_POSITIONAL_ONLY, _EITHER)]
        if position >= len(places):
            return None
        place = places[position]
        if place.kind is _POSITIONAL_ONLY:
            return declared
        if place.name in self.plain:
            return place.name
        # The entry's own name for the same place.
        return declared if declared is not None and declared not in {p.name for p in real} else None

    def keyword(self, name: str) -> str | None:
        """The parameter that the keyword `name` is for; None if the entry does not cover it, or Python refuses it."""
        real = signature(self)
        if real is None or any(p.kind is inspect.Parameter.VAR_KEYWORD for p in real):
            if real is None and getattr(self.target, "__module__", None) in ("math", "cmath"):
                return None  # those that do not tell their signature take no keywords
            positional = {p.name for p in real or () if p.kind is _POSITIONAL_ONLY}
            return name if name in self.plain and name not in positional else None
        for position, place in enumerate(real):
            if place.name == name and place.kind is not _POSITIONAL_ONLY:
                return self.positional(position) if place.kind is _EITHER else (name if name in self.plain else None)
        return None


_POSITIONAL_ONLY = inspect.Parameter.POSITIONAL_ONLY
_EITHER = inspect.Parameter.POSITIONAL_OR_KEYWORD


@functools.cache
def signature(entry: Entry) -> tuple[inspect.Parameter, ...] | None:
    """The parameters of the function that an entry stands for; None where Python cannot tell."""
    try:
        return tuple(inspect.signature(entry.target).parameters.values())
    except (TypeError, ValueError):
        return None


def _is_number_type(target: object) -> bool:
    return isinstance(target, type) and issubclass(target, np.generic)


def _as_scalar(value: Value, numbers: bool, builder: Builder) -> Value:
    """A computed array of rank 0 is the number in it: NumPy turns most of them into scalars, and all those that come
    of `numbers` alone.
    """
    if not isinstance(value, Array) or value.rank or value.is_list:
        return value
    if value.view is None:
        return Scalar(value.element(()))
    numbers = numbers or not builder.emitter.buffers[value.view.buffer].rank
    return Scalar(builder.emitter.snapshot(value.element(()), "number")) if numbers else value


#: Python's functions that take the number in an array of rank 0, and the names of NumPy's that make views.
_OF_NUMBERS: tuple[Any, ...] = (float, int, bool, complex, abs, isinstance, range)
_SAME_METHODS = ("item", "sum", "prod", "min", "max", "mean", "any", "all")
_VIEWS = ("atleast_1d", "atleast_2d", "atleast_3d", "reshape", "ravel", "expand_dims", "broadcast_to")


def _hold_boxed(entry: Entry, value: Value, builder: Builder) -> None:
    """A function is given a number that NumPy has as an array of rank 0: what it gives must not depend on that."""
    target = entry.target
    if isinstance(target, np.ufunc) or target in _OF_NUMBERS or getattr(target, "__module__", "") == "math":
        return
    if _is_number_type(target):
        return
    named = entry.name.rpartition(".")[2]
    if entry.is_method and isinstance(value, Scalar) and named in _SAME_METHODS:
        return
    if isinstance(value, Array) and value.rank and named not in _VIEWS:
        return
    raise Unsupported(builder.emitter.span, f"{entry.name}() of an array of rank 0", "add [()]")


def _has_plain_signature(entry: Entry) -> bool:
    """Whether the parameters of the function are known one by one, and some have no default."""
    real = signature(entry)
    if real is None or any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in real):
        return False
    return any(p.default is p.empty and p.kind in (_POSITIONAL_ONLY, _EITHER) for p in real)


@functools.cache
def operands(entry: Entry) -> tuple[str, ...]:
    """The parameters that have no default: what the function works on."""
    real = signature(entry)
    if real is None:
        return entry.plain[:1]
    count = sum(p.default is p.empty and p.kind in (_POSITIONAL_ONLY, _EITHER) for p in real)
    return entry.plain[: max(count, 1)]


#: What has methods: arrays, and the numbers that come out of them.
_RECEIVERS = (np.ndarray, np.float64, np.int64)

_FUNCTIONS: dict[object, tuple[Any, Entry]] = {}
_METHODS: dict[str, Entry] = {}
#: The modules in which entries were declared: by the name of a function, or of a method.
declared_in: dict[str, set[str]] = {}
_loaded = False


def _key(thing: Any) -> object:
    """What identifies a function.  Each look at a method of a ufunc (np.add.at) makes a new object: it goes by name."""
    owner = getattr(thing, "__self__", None)
    return (id(owner), thing.__name__) if isinstance(owner, np.ufunc) else id(thing)


def native(
    *objects: Any,
    parameters: str,
    method: str | None = None,
    name: str | None = None,
    masks: bool = False,
    category: Category = "native",
    kinds: str = ALL_KINDS,
    ranks: tuple[int, ...] | None = None,
    only: Mapping[str, tuple[str, ...] | str] | None = None,
    borrows: bool = False,
    note: str = "",
    boxes: bool = False,
) -> Callable[[Build], Build]:
    """Declare that calls of `objects` (and the array method `method`) are built by the decorated function.

    What the entry does not cover of the function is declared here, too: see `Coverage`.
    """
    names = tuple(parameters.split())
    coverage = Coverage(category, kinds, ranks, tuple((only or {}).items()), borrows, note, boxes)
    caller = sys._getframe(1)
    while caller.f_code.co_name != "<module>" and caller.f_back is not None:
        caller = caller.f_back
    home = str(caller.f_globals["__name__"])

    def register(build: Build) -> Build:
        for called in (*map(index.name_of, objects), *((f".{method}",) if method is not None else ())):
            declared_in.setdefault(called, set()).add(home)
        for thing in objects:
            title = name or str(getattr(thing, "__name__", thing))
            _FUNCTIONS[_key(thing)] = (thing, Entry(title, names, build, masks, thing, False, coverage))
        if method is not None:
            target = next((getattr(kind, method) for kind in _RECEIVERS if hasattr(kind, method)), None)
            _METHODS[method] = Entry(method, names, build, masks, target, True, coverage)
        return build

    return register


def _load() -> None:
    """Load all entries."""
    global _loaded
    if not _loaded:
        for home in index.MODULES:
            importlib.import_module(f"{__name__}.{home}")
        _loaded = True


def load_for(thing: Any) -> None:
    """Load the entries among which that of a function is, if there is one."""
    if _loaded or _key(thing) in _FUNCTIONS:
        return
    for home in index.homes(index.name_of(thing)):
        importlib.import_module(f"{__name__}.{home}")
    if _key(thing) not in _FUNCTIONS and index.may_be_known(thing):
        _load()  # the index is of another version of the library


#: What makes entries of objects that weft itself has made for users, once they are asked for.
FINDERS: list[Callable[[Any], bool]] = []


def lookup(thing: Any) -> Entry | None:
    """The entry of a function object."""
    load_for(thing)
    home = KNOWN_ELSEWHERE.get(getattr(thing, "__module__", None) or "")
    if home is not None:
        importlib.import_module(home)
    found = _FUNCTIONS.get(_key(thing))
    if found is None and "scipy" in sys.modules:
        from weft.frontend.knowledge import scipy_entries

        if scipy_entries.load_for(thing):
            found = _FUNCTIONS.get(_key(thing))
    if found is None and any(finder(thing) for finder in FINDERS):
        found = _FUNCTIONS.get(_key(thing))
    return found[1] if found is not None else None


def method(name: str) -> Entry | None:
    """The entry of an array method."""
    for home in () if name in _METHODS else index.homes(f".{name}"):
        importlib.import_module(f"{__name__}.{home}")
    if name not in _METHODS and hasattr(np.ndarray, name):
        _load()
    return _METHODS.get(name)


def entries() -> list[Entry]:
    """Every entry of a library function, by name; helpers of weft's own definitions are left out."""
    _load()
    found = {entry for _, entry in _FUNCTIONS.values()} | set(_METHODS.values())
    public = [entry for entry in found if not str(getattr(entry.target, "__module__", "")).startswith("weft.")]
    return sorted(public, key=lambda entry: (entry.name, entry.is_method, str(entry.target)))
