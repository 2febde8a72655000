"""What of a module is built, and by which compiler.  In: a module and its functions; out: those of the compiler of
arrays, those of plain Python, and why the others stay as they are.

The choice is that of `weft.jit`: containers, strings and objects go to plain Python at once, anything else if the
compiler of arrays refuses it.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

from weft import net
from weft.errors import Unsupported
from weft.frontend.source import load
from weft.frontend.specs import Spec
from weft.hosts import embedded, functions, methods, plain_functions, plain_parts
from weft.hosts.expressions import NotPortable
from weft.hosts.functions import Function
from weft.hosts.hint_samples import NoSample
from weft.hosts.plain_functions import PlainFunction
from weft.options import Options
from weft.records import dataclass


@dataclass
class Found:
    arrays: tuple[Function, ...]
    plain: tuple[PlainFunction, ...]
    left: dict[str, str]  # functions that stay Python, with the reason


def found(
    module: types.ModuleType,
    known: Mapping[str, Any],
    recorded: Callable[[Any], list[Spec] | str] | None,
    general: bool,
    named_only: bool,
) -> Found:
    """What is built. `recorded`: types that were seen; `general`: as for `functions.made`; `named_only`: no methods."""
    search = _Search(vars(module), known)
    for name, function in known.items():
        place = name if "<" in function.py_func.__qualname__ else function.py_func.__qualname__

        def over_arrays(function: Any = function) -> Function:
            kinds = functions.hinted(function.py_func, recorded)
            if isinstance(kinds, str):
                raise LookupError(kinds)
            return functions.made(function, kinds, general=general, checked=False)

        search.add(place, function.py_func, None, over_arrays, function.options.fallback != "error")
    for kind in vars(module).values() if not named_only else ():
        if not isinstance(kind, type) or kind.__module__ != module.__name__:
            continue
        for name, value in vars(kind).items():
            plain = embedded.function_of(value)
            if plain is None or (name.startswith("__") and name not in methods.CALLED):
                continue
            if plain.__code__.co_filename != module.__file__:
                continue  # made by `dataclass`, `namedtuple`, `Enum` and their like
            form = type(value)

            def of_class(kind: type = kind, plain: Any = plain, form: type = form) -> Function:
                return methods.made(kind, plain, form, general)

            receiver = None if form is staticmethod else kind
            search.add(plain.__qualname__, plain, receiver, of_class, of_class=form is classmethod)
    return Found(tuple(search.arrays), tuple(search.plain), search.left)


class _Search:
    """The functions of a module, one by one."""

    def __init__(self, namespace: dict[str, Any], known: Mapping[str, Any]) -> None:
        self._namespace, self._known = namespace, known
        self.arrays: list[Function] = []
        self.plain: list[PlainFunction] = []
        self.left: dict[str, str] = {}

    def add(
        self,
        place: str,
        plain: types.FunctionType,
        receiver: type | None,
        over_arrays: Callable[[], Function],
        timed: bool = True,
        of_class: bool = False,
    ) -> None:
        """Build a function, or note what is in the way. `over_arrays` raises LookupError without types."""
        reason = ""
        samples: list[list[Any]] | None = None
        try:
            samples = plain_functions.samples(plain, self._known, receiver, of_class)
        except NoSample as problem:
            reason = str(problem)
        # Of a receiver the compiler of arrays reads what a method uses; plain Python copies all of it.
        if samples is not None and receiver is None and self._goes_first(plain, samples):
            reason = self._add_plain(place, plain, samples, timed)
            if not reason:
                return
            samples = None
        try:
            made = over_arrays()
            self.arrays.append(made if made.qualified == place else _placed(made, place))
            return
        except LookupError as problem:
            told = str(problem.args[0])  # what was recorded says more than that hints are missing
            told, reason = (reason or told) if told == functions.NO_HINTS else told, ""
        except Unsupported as problem:
            told = reason = f"line {problem.span.line}: {problem.reason}"
        if samples is not None:
            found = self._add_plain(place, plain, samples, timed)
            if not found:
                return
            told = reason or found
        self.left[place] = told

    def _goes_first(self, plain: types.FunctionType, samples: list[list[Any]]) -> bool:
        try:
            return plain_functions.goes_first(plain, load(plain).tree, samples)
        except Unsupported:
            return False

    def _add_plain(self, place: str, plain: types.FunctionType, samples: list[list[Any]], timed: bool) -> str:
        """Build a function as plain Python; why not, or ""."""
        try:
            made = plain_functions.made(place, plain, samples, timed)
            for version in made.versions:
                plain_parts.version_text(version, 0, self._namespace, plain)
        except Unsupported as problem:
            return f"line {problem.span.line}: {problem.reason}"
        except NotPortable as problem:
            return str(problem)
        except Exception as trouble:
            if net.is_meant(trouble, Options()):
                raise
            return f"an error inside weft, {type(trouble).__name__}: {trouble}"
        self.plain.append(made)
        return ""


def _placed(made: Function, place: str) -> Function:
    """A function that the module has under another name than it was made with."""
    return Function(**{**vars(made), "qualified": place})
