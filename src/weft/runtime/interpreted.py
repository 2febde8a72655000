"""The dispatcher in plain Python: the reference for the native one, and the one used where that cannot be built.

In: calls, and versions whose code is a Python function. Out: the result of the first version whose guards the call
passes, or of `_miss`. The guards are those of the native dispatcher, word for word; kernels are not run from here.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

import numpy as np

from weft.runtime import sharing, templates
from weft.runtime.descriptor import (
    EACH,
    KEY,
    LEFT,
    LENGTH,
    NO_DEFAULT,
    NOT_KEY,
    NOT_OWN,
    STATUS_GUARD,
    ArrayParam,
    AttrParam,
    ConstParam,
    ContainerParam,
    DirectParam,
    GlobalParam,
    GuardFailed,
    HiddenParam,
    ListParam,
    MemoryParam,
    ObjectParam,
    Profile,
    SameAsParam,
    ScalarParam,
    Signature,
    Version,
    validate,
)
from weft.runtime.holding import ABSENT, holds, same_constant
from weft.runtime.ways import Way, Ways

_PYTHON_TYPES: dict[str, type] = {"int": int, "bool": bool, "float": float, "complex": complex}

#: The flag of arrays that are writeable with a warning (`np.broadcast_arrays`), which only NumPy itself can give.
_WARN_ON_WRITE = 1 << 31


@functools.cache
def scalar_type(kind: str) -> type:
    """The exact type behind a scalar kind."""
    if kind in _PYTHON_TYPES:
        return _PYTHON_TYPES[kind]
    return np.dtype(kind.removeprefix("np.")).type


class Dispatcher:
    """A callable that runs the first of its versions whose guards a call passes, those for fewer arguments first and
    among equals the most recently used."""

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        self.misses = 0
        self.guard_failures = 0
        self.may_run_plain = 0
        self._plain: Callable[..., Any] | None = None  # what runs where `_miss` leaves a call to Python
        self._plain_calls = 0
        self._installed: list[Version] = []
        self._counts: list[int] = []
        self._refusals: list[int] = []
        self._generality: list[int] = []
        self._order: list[int] = []
        self._watched: tuple[Any, ...] = (None, None, None, None)  # the function this is of, and what it was made from
        self._ways = Ways()
        self._slower: dict[int, Way] = {}  # versions that plain Python has taken the place of

    def watch(self, function: Callable[..., Any]) -> None:
        """Call `_renew` as soon as this function has other code or defaults."""
        self._watched = (function, function.__code__, function.__defaults__, _values_of(function.__kwdefaults__))

    def sign(self, signature: Signature) -> None:
        """Bind calls by another signature from now on; there are no versions."""
        self.signature = signature

    def _renew(self) -> None:
        raise NotImplementedError("a dispatcher says in `_renew` what a change of its function means")

    def add_version(self, version: Version, generality: int = 0) -> int:
        """Install a version; it is tried before those that are as general or more. Returns its index."""
        validate(version, self.signature)
        if version.native:
            raise TypeError("a native version needs the native core")
        self._installed.append(version)
        self._counts.append(0)
        self._refusals.append(0)
        self._generality.append(generality)
        self._put_first(len(self._installed) - 1)
        return len(self._installed) - 1

    def _set_form(self, count: int, form: Dispatcher) -> None:
        """Send calls of `count` arguments without names to another dispatcher: here `_miss` goes on doing so."""

    def _put_first(self, index: int) -> None:
        """In front of versions as general as this one, behind those made for fewer arguments."""
        own = self._generality[index]
        self._order.insert(sum(self._generality[other] < own for other in self._order), index)

    def clear_versions(self) -> None:
        """Remove all versions."""
        self._installed, self._counts, self._order = [], [], []
        self._ways.clear()
        self._slower.clear()
        self._refusals, self._generality = [], []

    @property
    def versions(self) -> tuple[Version, ...]:
        """In order of installation."""
        return tuple(self._installed)

    @property
    def call_counts(self) -> tuple[int, ...]:
        """Calls of each version, in order of installation."""
        return tuple(self._counts)

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """What is known of the calls of each version, in order of installation."""
        times = (self._times(index) for index in range(len(self._refusals)))
        return tuple(Profile(refused, (), (), *both) for refused, both in zip(self._refusals, times))

    def _times(self, index: int) -> tuple[int, int]:
        """Nanoseconds of a call of a version and of a plain one, if that has taken its place."""
        way = self._slower.get(index)
        if way is None or not way.is_timed:
            return 0, 0
        generated, plain = way.times
        return int(1e9 * generated), int(1e9 * plain)

    def _miss(self, args: tuple[object, ...], kwargs: dict[str, object], status: int | None) -> Any:
        raise NotImplementedError("a dispatcher says in `_miss` what a call without a version does")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function, code, defaults, named = self._watched
        if function is not None and (
            function.__code__ is not code
            or function.__defaults__ is not defaults
            or (function.__kwdefaults__ is not named and _values_of(function.__kwdefaults__) != named)
        ):
            self._renew()
        known = None if kwargs else self._ways.by_types.get(tuple(map(type, args)))
        way = self._ways.way(args, kwargs) if known is None else known
        way.calls += 1
        if way.calls >= way.again:
            way.ask_again()
        plain = self._plain
        if way.to_plain and (not way.is_timed or self.may_run_plain) and type(plain) is types.FunctionType:
            self._plain_calls += 1
            return way.watched(plain, args, kwargs) if way.is_timed else plain(*args, **kwargs)
        bound = bind(self.signature, args, kwargs) if self._installed and not self.signature.variadic else None
        refused = False
        for index in tuple(self._order) if bound is not None else ():
            version = self._installed[index]
            values = None if bound is None else fitting_values(version, bound)
            if values is None:
                continue
            declined = False
            is_timed = self.may_run_plain and version.exact and type(self._plain) is types.FunctionType
            if is_timed and way.is_plain_s_turn:
                assert self._plain is not None
                self._plain_calls += 1
                self._slower[index] = way
                return way.plain(self._plain, args, kwargs)
            function = cast("Callable[..., Any]", version.function)
            try:
                return way.generated(function, values) if is_timed else function(*values)
            except GuardFailed:
                declined = refused = True
                self._refusals[index] += 1
            finally:
                self._counts[index] += not declined
                if not declined:
                    self._order.remove(index)
                    self._put_first(index)
        # Outside the handler: what Python raises then is no consequence of the guard.
        if refused:
            self.guard_failures += 1
        else:
            self.misses += 1
        answer = self._miss(args, kwargs, STATUS_GUARD if refused else None)
        if answer is not LEFT or self._plain is None:
            return answer
        if not refused:
            way.left()
        self._plain_calls += 1
        return self._plain(*args, **kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)


def _values_of(named: dict[str, Any] | None) -> list[Any] | None:
    """Keyword defaults as they are: they can change. By identity, as whatever they are may compare in another way."""
    return None if named is None else [_Same(value) for value in named.values()]


class _Same:
    """An object that is held, and equal to itself alone."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    __hash__ = None  # type: ignore[assignment]


def bind(signature: Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any] | None:
    """All values in order, or None if the call is not one that Python would accept."""
    names = signature.names
    if len(args) > len(names) - signature.keyword_only:
        return None
    bound: list[Any] = [*args, *signature.defaults[len(args) :]]
    given = set(names[: max(len(args), signature.positional_only)])
    positions = {name: position for position, name in enumerate(names)}
    for name, value in kwargs.items():
        if name in given or name not in positions:
            return None
        bound[positions[name]] = value
    return None if any(value is NO_DEFAULT for value in bound) else bound


def fitting_values(version: Version, bound: list[Any]) -> list[Any] | None:
    """The values of all parameters, hidden ones behind, if they pass the guards; else None."""
    if not all(map(holds, version.facts)):
        return None
    values = list(bound)
    met: list[Any] = []
    params: list[DirectParam] = []
    for param, value in zip(version.params, bound, strict=True):
        if not fits(param, value, values, met):
            return None
        params.append(param)
    for hidden in version.hidden:
        value = fetch(hidden, values)
        if value is ABSENT or not fits(hidden.param, value, values, met):
            return None
        values.append(value)
        params.append(hidden.param)
    written = any(isinstance(p, (ListParam, ContainerParam)) and (p.written or p.changed) for p in params)
    if written and len({id(item) for item in met}) != len(met):
        return None
    return values if _arrays_apart(params, values) else None


def _arrays_apart(params: list[DirectParam], values: list[Any]) -> bool:
    """Arrays in lists are copied: where arrays are written they must not be seen through two names."""
    stacks = [
        (param, value)
        for param, value in zip(params, values)
        if isinstance(param, ContainerParam) and templates.arrays_of(param.template) is not None
    ]
    plain = [(param, value) for param, value in zip(params, values) if isinstance(param, ArrayParam)]
    in_lists = any(param.written for param, _ in stacks)
    if not stacks or not (in_lists or any(param.written for param, _ in plain)):
        return True
    return templates.apart([value for _, value in stacks], [value for _, value in plain], in_lists)


def _fetch_part(value: Any, part: str) -> Any:
    """One step along the path of an AttrParam: as fetch_part of native/guards.c."""
    if part == LENGTH:
        return len(value) if type(value) is tuple else ABSENT
    if part.startswith(KEY):
        return value.get(part[1:], ABSENT) if type(value) is dict else ABSENT
    if part.startswith(EACH):
        return templates.attribute_of_each(part[1:], value)
    if part.startswith(NOT_KEY):
        return templates.not_key(part[1:], value)
    if part.startswith(NOT_OWN):
        return templates.not_own(part[1:], value)
    return value[int(part)] if part.isdigit() else getattr(value, part)


def fetch(hidden: HiddenParam, values: list[Any]) -> Any:
    """The present value of a hidden parameter; what cannot be read is absent, and plain Python meets the same error."""
    try:
        if isinstance(hidden, AttrParam):
            value = values[hidden.index]
            for part in hidden.parts:
                value = _fetch_part(value, part)
            return value
        if isinstance(hidden, GlobalParam):
            if hidden.name in hidden.namespace:
                return hidden.namespace[hidden.name]
            builtins = hidden.namespace["__builtins__"]
            return builtins[hidden.name] if isinstance(builtins, dict) else getattr(builtins, hidden.name)
        return hidden.cell.cell_contents
    except Exception:
        return ABSENT


def fits(param: DirectParam, value: Any, values: list[Any], met: list[Any]) -> bool:
    """Whether a value passes one guard; every list object (dict, set) of a list parameter is added to `met`."""
    if isinstance(param, ArrayParam):
        return _array_fits(param, value)
    if isinstance(param, ScalarParam):
        return type(value) is scalar_type(param.kind) and _is_int64(value)
    if isinstance(param, ListParam):
        return _list_fits(param, value, met)
    if isinstance(param, ContainerParam):
        return templates.fits(param.template, value, met)
    if isinstance(param, ConstParam):
        return same_constant(value, param.value)
    if isinstance(param, SameAsParam):
        return value is values[param.index]
    if isinstance(param, MemoryParam):
        return value.dtype.num == param.typenum and sharing.fill(sharing.parse(param.layout), values) is not None
    if isinstance(param, ObjectParam):
        return param.type is None or type(value) is param.type
    raise TypeError(f"not a parameter descriptor: {param!r}")


def _is_int64(value: object) -> bool:
    """True of everything but a Python int that needs more than a word."""
    return type(value) is not int or -(2**63) <= value < 2**63


def _array_fits(param: ArrayParam, value: Any) -> bool:
    if type(value) is not np.ndarray or value.dtype.num != param.typenum or value.ndim != param.rank:
        return False
    flags = value.flags
    return (
        value.dtype.isnative
        and bool(flags.aligned)
        and (not param.written or (not flags.num & _WARN_ON_WRITE and bool(flags.writeable)))
        and not (param.written and sharing.holds_twice(value))
        and all(stride % value.itemsize == 0 for stride in value.strides)
    )


def _list_fits(param: ListParam, value: Any, met: list[Any]) -> bool:
    leaf = _PYTHON_TYPES[param.kind]
    shape: list[int] = []
    level = value
    for _ in range(param.rank):
        if level is not None and type(level) is not list:
            return False
        shape.append(len(level) if level else 0)
        level = level[0] if level else None

    def leaves(item: Any, depth: int) -> Iterator[bool]:
        if depth == param.rank:
            yield type(item) is leaf and _is_int64(item)
        elif type(item) is not list or len(item) != shape[depth]:
            yield False
        else:
            met.append(item)
            for part in item:
                yield from leaves(part, depth + 1)

    return all(leaves(value, 0))
