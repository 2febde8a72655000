"""The knowledge base: what weft knows of library functions.  One declarative `Entry` a function: the objects it stands
for, its parameters, and how a call becomes IR.

Modules of this package define entries with `@native(...)`; `lookup` finds one for a Python object, `method` for a
method of arrays.  An argument that an entry does not name is never ignored: the call is then Unsupported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.errors import Unsupported
from weft.frontend.masks import settled
from weft.frontend.values import Object, Value

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


@dataclass(frozen=True)
class Entry:
    """A library function: `parameters` in order (a name with a leading * takes the rest), `build` makes the value."""

    name: str
    parameters: tuple[str, ...]
    build: Build
    masks: bool = False  # the entry takes the elements chosen by a mask as they are; to others they are an array

    def call(self, builder: Builder, args: Sequence[Value], kwargs: dict[str, Value]) -> Value:
        span = builder.emitter.span
        if not self.masks:
            args = [settled(value, builder.emitter) for value in args]
            kwargs = {key: settled(value, builder.emitter) for key, value in kwargs.items()}
        given: dict[str, Value] = {}
        rest: tuple[Value, ...] = ()
        plain = [p for p in self.parameters if not p.startswith("*")]
        if any(p.startswith("*") for p in self.parameters):
            position = next(k for k, p in enumerate(self.parameters) if p.startswith("*"))
            rest = tuple(args[position:])
            args = args[:position]
        if len(args) > len(plain):
            raise Unsupported(span, f"{self.name}() with {len(args)} arguments")
        for name, value in zip(plain, args):
            given[name] = value
        for name, value in kwargs.items():
            if name not in plain or name in given:
                raise Unsupported(
                    span, f"the argument {name} of {self.name}()", "leave it out, or compute it in two steps"
                )
            given[name] = value
        return self.build(Bound(builder, self.name, given, rest))


_FUNCTIONS: dict[object, tuple[Any, Entry]] = {}
_METHODS: dict[str, Entry] = {}
_loaded = False


def _key(thing: Any) -> object:
    """What identifies a function.  Each look at a method of a ufunc (np.add.at) makes a new object: it goes by name."""
    owner = getattr(thing, "__self__", None)
    return (id(owner), thing.__name__) if isinstance(owner, np.ufunc) else id(thing)


def native(
    *objects: Any, parameters: str, method: str | None = None, name: str | None = None, masks: bool = False
) -> Callable[[Build], Build]:
    """Declare that calls of `objects` (and the array method `method`) are built by the decorated function."""

    def register(build: Build) -> Build:
        for thing in objects:
            title = name or str(getattr(thing, "__name__", thing))
            _FUNCTIONS[_key(thing)] = (thing, Entry(title, tuple(parameters.split()), build, masks))
        if method is not None:
            _METHODS[method] = Entry(method, tuple(parameters.split()), build, masks)
        return build

    return register


def _load() -> None:
    global _loaded
    if not _loaded:
        from weft.frontend.knowledge import (  # noqa: F401
            assembling,
            counting,
            creation,
            grids,
            linear,
            python,
            reductions,
            scans,
            selecting,
            shaping,
            sorting,
            ufuncs,
        )

        _loaded = True


def lookup(thing: Any) -> Entry | None:
    """The entry of a function object."""
    _load()
    found = _FUNCTIONS.get(_key(thing))
    return found[1] if found is not None else None


def method(name: str) -> Entry | None:
    """The entry of an array method."""
    _load()
    return _METHODS.get(name)


def entries() -> list[Entry]:
    """Every entry, by name."""
    _load()
    return sorted({entry for _, entry in _FUNCTIONS.values()} | set(_METHODS.values()), key=lambda entry: entry.name)
