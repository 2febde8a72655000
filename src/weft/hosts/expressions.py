"""Versions as Python text.  In: the descriptor of a version; out: an expression for the tuple that a dispatcher reads,
in a process that has the module but no weft; NotPortable, with the reason, if there is none.

    ns: the module's namespace    addresses: of kernels    module("numpy"): an import
    fact(...), made(...): see embedded.py
"""

from __future__ import annotations

import builtins
import functools
import math
import sys
import types
from typing import Any

import numpy as np

from weft.hosts import embedded
from weft.runtime import descriptor as D
from weft.runtime.dispatch import encode_version
from weft.standins import original

#: Modules of weft whose functions a version may call, to make containers for the caller and to read those it is given.
MAKERS = tuple(f"weft.runtime.{name}" for name in ("containers", "nested", "templates", "texts"))
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_ADDRESS, _RAISER, _KEEPALIVE, _TIMED, _FACTS = 0, 2, 9, 12, 14


class NotPortable(Exception):
    """Why a version cannot leave this process, or needs weft."""


def expression(version: D.Version, kernel: int, namespace: dict[str, Any], function: Any) -> str:
    """The text of one version, whose kernel has this number."""
    known = Values(namespace, version.facts)
    encoded = list(encode_version(D.Version(**{**vars(version), "facts": (), "keepalive": None, "function": 1})))
    parts = [known.text(part) if at not in (_ADDRESS, _RAISER, _KEEPALIVE) else "" for at, part in enumerate(encoded)]
    parts[_ADDRESS] = f"addresses[{kernel}]"
    rows = [f"({known.text(spec.type)}, {_message(spec)})" for spec in version.exceptions]
    parts[_RAISER] = f"raiser(({', '.join(rows)}{',' if rows else ''}))"
    parts[_KEEPALIVE], parts[_TIMED] = "None", "0"
    # In an order that is the same at each build: theirs is that of addresses.
    facts = sorted(f"*{text}" for fact in version.facts if (text := fact_text(fact, known, function)))
    parts[_FACTS] = f"rows({', '.join(facts)})"
    return f"({', '.join(parts)},)"


def _message(spec: D.ExceptionSpec) -> str:
    if isinstance(spec.message, tuple) and not all(type(part) in _PLAIN for part in spec.message):
        raise NotPortable("it raises an exception with arguments that are no plain values")
    return repr(spec.message)


class Values:
    """Python objects as expressions."""

    def __init__(self, namespace: dict[str, Any], facts: tuple[D.Fact, ...]) -> None:
        self.namespace = namespace
        self.functions = [fact.owner for fact in facts if isinstance(fact.owner, types.FunctionType)]
        self.home = namespace.get("__name__")

    def text(self, value: Any) -> str:
        if type(value) in (float, complex):
            return self._number(value)
        if type(value) in _PLAIN:
            return repr(value)
        if type(value) is tuple:
            return f"({', '.join(map(self.text, value))}{',' if value else ''})"
        if value is self.namespace:
            return "ns"
        if isinstance(value, np.dtype):
            return f"module('numpy').dtype({value.name!r})"
        return self.named(value)

    def _number(self, value: float | complex) -> str:
        if isinstance(value, complex):
            return f"complex({self._number(value.real)}, {self._number(value.imag)})"
        return repr(value) if math.isfinite(value) else f"float({str(value)!r})"

    def named(self, value: Any) -> str:
        """A class, function or module by where it is found."""
        value = getattr(value, "py_func", value)
        if isinstance(value, functools.partial):
            bound = ", ".join(map(self.text, value.args))
            return f"{self.named(value.func)[:-1]}, {bound})"
        if isinstance(value, types.FunctionType) and value.__module__ in MAKERS:
            return f"made('{value.__module__}:{value.__name__}')"
        if isinstance(value, types.ModuleType):
            return f"module({value.__name__!r})"
        if isinstance(value, types.CellType):
            return self._cell(value)
        home = getattr(value, "__module__", None) or ("numpy" if isinstance(value, np.ufunc) else None)
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
        if isinstance(value, types.FunctionType) and home == self.home and "<" in value.__qualname__:
            name = next((each for each, held in self._own_functions() if held is value), None)
        if not isinstance(home, str) or not isinstance(name, str) or "<" in name or home.partition(".")[0] == "weft":
            raise NotPortable(f"it depends on an object of class {type(value).__name__}")
        if home == "builtins" and getattr(builtins, name, None) is value:
            return name
        first, *rest = name.split(".")
        found: Any = self.namespace.get(first) if home == self.home else getattr(sys.modules.get(home), first, None)
        text = f"ns[{first!r}]" if home == self.home else f"module({home!r}).{first}"
        for part in rest:
            found, text = getattr(found, part, None), f"{text}.{part}"
            if isinstance(found, property) and found.fget is value:
                found, text = value, f"{text}.fget"
        if getattr(found, "__wrapped__", None) is value:  # as functools.lru_cache has it
            return f"{text}.__wrapped__"
        if getattr(found, "py_func", found) is not value:
            raise NotPortable(f"it depends on {name}, which is not found under its name")
        return text

    def _own_functions(self) -> list[tuple[str, types.FunctionType]]:
        """The functions that the module has under a name, whatever they were called when they were made."""
        found = [(name, embedded.function_of(value)) for name, value in self.namespace.items()]
        return [(name, plain) for name, plain in found if plain is not None]

    def _cell(self, value: types.CellType) -> str:
        for name, plain in self._own_functions():
            for free, cell in zip(plain.__code__.co_freevars, plain.__closure__ or ()):
                if cell is value:
                    return f"cell(ns[{name!r}], {free!r})"
        raise NotPortable("it reads a closure")

    def owner(self, value: Any) -> str:
        """What a fact is about: a namespace, a class, a function."""
        if type(value) is dict:
            if value is self.namespace:
                return "ns"
            name = value.get("__name__")
            if isinstance(name, str) and vars(sys.modules.get(name, sys)) is value:
                return f"vars(module({name!r}))"
            for function in self.functions:
                if function.__kwdefaults__ is value:
                    return f"{self.named(function)}.__kwdefaults__"
            raise NotPortable("it depends on a dict")
        return self.named(value)


def _is_made_here(owner: Any, known: Values) -> bool:
    """Whether an object is of the source that the file brings along: it is made there as it was when this was built."""
    return owner is known.namespace or getattr(owner, "__module__", None) == known.home


def fact_text(fact: D.Fact, known: Values, function: Any) -> str:
    """The text of a fact; "" for one that holds by itself: it is about the function itself, or about weft."""
    home = fact.owner.get("__name__", "") if type(fact.owner) is dict else getattr(fact.owner, "__module__", "") or ""
    own = (function, function.__kwdefaults__, sys.modules)
    if any(fact.owner is each for each in own) or home.partition(".")[0] == "weft":
        return ""
    owner = known.owner(fact.owner)
    expected = ""
    if fact.present:
        value: Any = original(fact.value) if isinstance(fact.value, types.CodeType) else fact.value
        how = "name"
        if type(value) in _PLAIN or isinstance(value, (np.generic, tuple)):
            how = "literal"
        elif isinstance(value, types.CodeType):
            how = "" if fact.owner.__module__ == known.home else "source"
            value = fact.owner
        elif isinstance(value, (dict, list, set)) and not _is_made_here(fact.owner, known):
            raise NotPortable(f"it depends on the container {fact.name}")
        if how == "source":  # of the function that the code belongs to
            owner = known.named(value)
            expected = f", {embedded.told(value.__code__, how)!r}"
        elif how:
            expected = f", {embedded.told(value, how)!r}"
    return f"fact({fact.kind!r}, {owner}, {fact.name!r}, {fact.present}{expected})"
