"""`weft tune`: faster loops for the functions that a program calls.  In: a program with functions under `weft.jit`;
out: what `weft.tune` finds for each of them, with the arguments of its longest call, kept beside the sources.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import weft
from weft.cli import DONE, FAILED, complain, say
from weft.cli.run import Program, execute
from weft.errors import WeftError

#: Calls of a function that may still turn out to be its longest.
_CALLS = 50


class Noted:
    """A compiled function that remembers the arguments of its longest call, as they were before it."""

    def __init__(self, function: Any) -> None:
        functools.update_wrapper(self, function.py_func)
        self.function = function
        self.args: tuple[Any, ...] | None = None
        self.longest, self.calls = 0.0, 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs or self.calls >= _CALLS:
            return self.function(*args, **kwargs)
        self.calls += 1
        copied = copy.deepcopy(args)
        start = perf_counter()
        result = self.function(*args)
        taken = perf_counter() - start
        if self.calls == 2 or taken > self.longest or self.args is None:  # the first call has compiled
            self.args, self.longest = copied, taken if self.calls > 1 else 0.0
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)


def tune_program(program: Program, seconds: float, names: Sequence[str], save: bool) -> int:
    """Run a program, then tune what it called; the exit code."""
    noted: list[Noted] = []
    plain: Any = weft.jit

    def jit(function: Any = None, /, **options: Any) -> Any:
        def decorate(target: Callable[..., Any]) -> Any:
            made = plain(target, **options)
            if not hasattr(made, "transforms"):
                return made  # for a cluster or a device, or weft is switched off
            noted.append(Noted(made))
            return noted[-1]

        return decorate if function is None else decorate(function)

    weft.jit = jit
    try:
        code = execute(program, lambda: None)
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else DONE if left.code is None else FAILED
    finally:
        weft.jit = plain
    if code != DONE:
        return complain("the program failed, so nothing is tuned", code)
    return _tuned(noted, seconds, names, save)


def _tuned(noted: Sequence[Noted], seconds: float, names: Sequence[str], save: bool) -> int:
    known = [each.function.py_func.__qualname__ for each in noted]
    for name in names:
        if name not in known:
            listed = f"it has {', '.join(known)}" if known else "it has none"
            return complain(f"the program has no function {name} under weft.jit; {listed}", FAILED)
    wanted = [each for each in noted if not names or each.function.py_func.__qualname__ in names]
    called = [each for each in wanted if each.args is not None]
    if not called:
        reason = "none of its functions is under weft.jit" if not noted else "it calls none of them by position"
        return complain(f"the program has nothing to tune: {reason}", FAILED)
    from weft.tuning import tune

    failed = False
    for each in called:
        try:
            found = tune(each.function, *(each.args or ()), seconds=seconds, save=save)
        except WeftError as problem:
            failed = True
            complain(f"{each.function.py_func.__qualname__} cannot be tuned: {problem}", FAILED)
            continue
        say(str(found))
        if found.interrupted:
            break
    return FAILED if failed else DONE
