"""Numbers that the clock chooses.  In: a function and `tune={"BLOCK": [128, 256]}`; out: an object that is called like
the function, runs the first calls of each kind of arguments with one number after the other, and keeps the fastest.

A number is a parameter with a default, or a name that the function looks up in its module.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

from weft.errors import OptionError
from weft.forking import Lock
from weft.options import Options

#: Timed calls with each number; one more, which compiles, goes before.
TRIALS = 2


class Tuned:
    """A compiled function with numbers to choose."""

    __weft_distributed__ = True

    def __init__(self, function: Any, options: Options, compiled: Callable[[Any, Options], Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self.options = function, options
        self.inner = compiled(function, replace(options, tune=()))
        self._compiled = compiled
        #: Of names that comments use, too: a function for each choice, compiled with its numbers.
        self._own: dict[tuple[tuple[str, int], ...], Any] = {}
        names = [name for name, _ in options.tune]
        parameters = inspect.signature(function).parameters
        self.parameters = [name for name in names if name in parameters]
        self.globals = [name for name in names if name not in parameters]
        for name in self.parameters:
            if parameters[name].default is inspect.Parameter.empty:
                raise OptionError(f"option tune: the parameter {name!r} of {function.__name__} needs a default")
        for name in self.globals:
            if name not in function.__code__.co_names:
                raise OptionError(f"option tune: {function.__name__} does not use {name!r}")
        rows = [[(name, value) for value in values] for name, values in options.tune]
        self.choices = [dict(choice) for choice in itertools.product(*rows)]
        self.times: dict[Any, list[list[float]]] = {}
        self.chosen: dict[Any, dict[str, int]] = {}
        self._lock = Lock()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if any(name in kwargs for name in self.parameters) or self._given(args):
            return self.inner(*args, **kwargs)  # the caller has chosen
        key = tuple(map(_kind, (*args, *kwargs.items())))
        chosen = self.chosen.get(key)
        if chosen is not None:
            return self._run(chosen, args, kwargs)[1]
        times = self.times.setdefault(key, [[] for _ in self.choices])
        number = min(range(len(times)), key=lambda k: len(times[k]))
        seconds, result = self._run(self.choices[number], args, kwargs)
        times[number].append(seconds)
        if all(len(taken) > TRIALS for taken in times):
            self.chosen[key] = self.choices[min(range(len(times)), key=lambda k: min(times[k][1:]))]
        return result

    def _given(self, args: tuple[Any, ...]) -> bool:
        """Whether a number is among the positional arguments."""
        return any(name in self.parameters for name in [*inspect.signature(self.py_func).parameters][: len(args)])

    def _run(self, choice: dict[str, int], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[float, Any]:
        own = {name: choice[name] for name in self.parameters}
        inner = self._function(choice)
        if not self.globals:
            return _timed(inner, args, {**kwargs, **own})
        space = self.py_func.__globals__
        with self._lock:  # the name is the module's: no other call may choose meanwhile
            for name in self.globals:
                if space.get(name) != choice[name]:
                    space[name] = choice[name]
            return _timed(inner, args, {**kwargs, **own})

    def _function(self, choice: dict[str, int]) -> Any:
        """The function for a choice: its own where comments use one of the names."""
        if not self._in_comments:
            return self.inner
        key = tuple(choice.items())
        if key not in self._own:
            told = replace(self.options, tune=tuple((name, (value,)) for name, value in key))
            self._own[key] = self._compiled(self.py_func, told)
        self.inner = self._own[key]  # what explains itself
        return self._own[key]

    @functools.cached_property
    def _in_comments(self) -> bool:
        steering = getattr(self.inner, "local", self.inner)._steering
        return bool(steering.named() & {name for name, _ in self.options.tune})

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["inner"], name)

    @property
    def stats(self) -> dict[str, Any]:
        """As of the function itself, with the numbers that were chosen."""
        return {**self.inner.stats, "tuned": [dict(choice) for choice in self.chosen.values()]}

    def __repr__(self) -> str:
        return f"<{self.inner!r}, tuned in {', '.join(name for name, _ in self.options.tune)}>"


def _timed(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[float, Any]:
    start = perf_counter()
    result = function(*args, **kwargs)
    return perf_counter() - start, result


def _kind(value: Any) -> Any:
    return type(value), getattr(value, "shape", None), getattr(value, "dtype", None)
