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
from weft.api import jit
from weft.errors import Unsupported
from weft.frontend.source import load
from weft.frontend.specs import Spec
from weft.hosts import embedded, functions, methods, parted_functions, plain_functions, plain_parts, typed
from weft.hosts.expressions import NotPortable
from weft.hosts.functions import Function
from weft.hosts.hint_samples import NoSample
from weft.hosts.parted_functions import Parted
from weft.hosts.plain_functions import PlainFunction
from weft.options import Options
from weft.records import dataclass


@dataclass
class Found:
    arrays: tuple[Function, ...]
    plain: tuple[PlainFunction, ...]
    left: dict[str, str]  # functions that stay Python, with the reason
    parted: tuple[Parted, ...]  # those that run in regions: outer ones first


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
    return Found(tuple(search.arrays), tuple(search.plain), search.left, tuple(search.parted))


class _Search:
    """The functions of a module, one by one."""

    def __init__(self, namespace: dict[str, Any], known: Mapping[str, Any]) -> None:
        self._namespace, self._known = namespace, known
        self.arrays: list[Function] = []
        self.plain: list[PlainFunction] = []
        self.left: dict[str, str] = {}
        self.parted: list[Parted] = []

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
        self._trouble: list[Unsupported] = []  # what the compilers say, that of arrays first
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
            self._trouble.insert(0, problem)
        if samples is not None:
            found = self._add_plain(place, plain, samples, timed)
            if not found:
                return
            told = reason or found
        try:
            if timed and self._add_parted(place, plain, None if of_class else receiver, self._trouble):
                return
        except Exception as trouble:
            if net.is_meant(trouble, Options()):
                raise
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
            self._trouble.append(problem)
            return f"line {problem.span.line}: {problem.reason}"
        except NotPortable as problem:
            return str(problem)
        except Exception as trouble:
            if net.is_meant(trouble, Options()):
                raise
            return f"an error inside weft, {type(trouble).__name__}: {trouble}"
        self.plain.append(made)
        return ""

    def _add_parted(
        self, place: str, plain: types.FunctionType, receiver: type | None, trouble: list[Unsupported]
    ) -> bool:
        """Build a function around a statement that has no native form."""
        if not trouble:
            return False
        given = parted_functions.hints_of(plain, receiver)
        own = [each for each in trouble if each.span.file == plain.__code__.co_filename]
        for problem in sorted(own, key=lambda each: parted_functions.is_about_all(plain, each.span)):
            line, reason = parted_functions.line_in(plain, problem.span.line), problem.reason
            if not line:
                continue
            inner = _Search(self._namespace, self._known)
            made = parted_functions.parted(place, plain, given, line, f"line {line}: {reason}", inner.region)
            if made is not None:
                places = {region for region, _ in made.regions.values()}
                self.parted += [made, *inner.parted]
                self.arrays += inner.arrays
                self.plain += inner.plain
                self.left.update({name: why for name, why in inner.left.items() if name not in places})
                return True
        return False

    def region(self, place: str, function: types.FunctionType) -> tuple[Any, ...] | None:
        """Build a region; the hints of what it gives back, None if it stays Python."""
        self.arrays = [each for each in self.arrays if not _is_part(each.qualified, place)]
        self.plain = [each for each in self.plain if not _is_part(each.place, place)]
        self.parted = [each for each in self.parted if not _is_part(each.place, place)]
        self.left.pop(place, None)

        def over_arrays() -> Function:
            kinds = functions.hinted(function)
            if isinstance(kinds, str):
                raise LookupError(kinds)
            return functions.made(jit(function, fallback="error"), kinds, checked=False)

        self.add(place, function, None, over_arrays)
        given = list(function.__annotations__.values())
        for made in self.arrays:
            if made.qualified == place:
                return typed.of_program(made.versions[0].program_lowered, given) or ()
        for plainly in self.plain:
            if plainly.place == place:
                return _of_plain(plainly)
        return () if any(each.place == place for each in self.parted) else None


def _is_part(built: str, place: str) -> bool:
    """Whether something was built for a region, or for a part of it."""
    return built == place or built.startswith(f"{place}.")


def _of_plain(made: PlainFunction) -> tuple[Any, ...]:
    """The hints of the items of the tuple that it gives."""
    heads = [head.root() for head in made.versions[0].root.result]
    if len(heads) != 1 or heads[0].kind != "tuple":
        return ()
    found: list[Any] = []
    for part in heads[0].parts:
        try:
            found.append(typed.of_node(part))
        except typed.NoHint:
            found.append(None)
    return tuple(found)


def _placed(made: Function, place: str) -> Function:
    """A function that the module has under another name than it was made with."""
    return Function(**{**vars(made), "qualified": place})
