"""Functions to be built.  In: a compiled function with hints; out: its programs, lowered but for no processor yet.

Without arguments at hand, samples of the hinted shapes tell which sizes are equal (`shapes`).
"""

from __future__ import annotations

import collections.abc
import inspect
import typing
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from weft import pipeline
from weft.analysis.scopes import hands_over
from weft.compiled import Compiled
from weft.errors import Span, Unsupported
from weft.frontend.hints import extents_of, spec_of_hint, specs_from_hints
from weft.frontend.source import Source, load
from weft.frontend.specs import ArraySpec, ContainerSpec, FunctionSpec, ListSpec, ScalarSpec, Spec
from weft.frontend.values import ListOf
from weft.hosts.shapes import Constraints, Samples, constraints
from weft.ir.program import HAND_BACK, Check, Layout, Program, Role
from weft.ir.walk import walk
from weft.records import dataclass
from weft.steering import Steering


@dataclass(frozen=True)
class Function:
    """A function with the versions that are built of it: the first is for arrays in C order."""

    name: str
    qualified: str
    plain: Callable[..., Any]
    parameters: tuple[str, ...]
    constraints: Constraints
    versions: tuple[Compiled, ...]
    source: Source
    options: Any

    @property
    def span(self) -> Span:
        return self.source.span(self.source.tree)


#: Why a function is not built that says nothing of its parameters.
NO_HINTS = "its parameters have no complete hints"


def hinted(
    function: Any, recorded: Callable[[Any], list[Spec] | str] | None = None, pointers: bool = False
) -> list[Spec] | str:
    """The specs of a function's arguments by its own hints, or by those that were recorded; the reason if neither.

    `pointers`: the host can pass functions.
    """
    kinds = specs_from_hints(function)
    if kinds is not None:
        return kinds
    hints = hints_of(function)
    taken = [name for name, hint in hints.items() if is_callable(hint) and name != "return"]
    if taken and pointers:
        found = [_with_functions(hints.get(name)) for name in inspect.signature(function).parameters]
        if None not in found:
            return [kind for kind in found if kind is not None]
    if taken:
        told = "Callable[[float], float] with hints of all other parameters" if pointers else "a function of the module"
        return f"its parameter {taken[0]} is a function: make it {told}"
    if recorded is not None:
        return recorded(function)
    return NO_HINTS


def _with_functions(hint: Any) -> Spec | None:
    """The spec of a hint, or of a function of floats."""
    if not is_callable(hint):
        return spec_of_hint(hint)
    inner = typing.get_args(hint)
    if len(inner) != 2 or not isinstance(inner[0], list) or any(part is not float for part in (*inner[0], inner[1])):
        return None
    return FunctionSpec(len(inner[0]))


def hints_of(function: Any) -> dict[str, Any]:
    try:
        return inspect.get_annotations(function, eval_str=True)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return {}


def is_callable(hint: Any) -> bool:
    return hint is Callable or typing.get_origin(hint) is collections.abc.Callable


def made(
    function: Any,
    kinds: Sequence[Spec],
    *,
    general: bool = True,
    receiver: Any = None,
    samples: Samples | None = None,
    checked: bool = True,
    alone: bool = False,
) -> Function:
    """The programs of a function; `Unsupported` if it has none.

    `general`: a further version takes arrays of any strides and numbers of any size, and tests in their places what the
    first one asks at entry.  `receiver`: a sample of `self`.  `checked`: all sizes that hints name must be found among
    the sizes of arguments.  `alone`: the last version has no Python behind it, and raises whatever is to be raised.
    """
    plain = function.py_func
    source = load(plain)
    names = tuple(inspect.signature(plain).parameters)
    extents = extents_of(plain)
    asked = constraints(extents, source.span(source.tree)) if checked else Constraints()
    samples = Samples(extents) if samples is None else samples
    steering = Steering(plain, lambda: source)

    def version(chosen: Sequence[Spec], first: bool, last: bool) -> Compiled:
        values = samples.of(names, chosen)
        if receiver is not None:
            values[0] = receiver
        directives = steering.directives(lenient=not first)
        return pipeline.front(source, chosen, values, function.options, first, directives, guarded=first, alone=last)

    versions = [version(kinds, True, alone and not general)]
    lowered = versions[0].program_lowered
    if general and (is_selective(lowered) or (alone and asks_python(lowered))):
        try:
            versions.append(version([_any(kind) for kind in kinds], False, alone))
        except Unsupported:  # what only the first one can do
            versions = [version(kinds, True, True)] if alone else versions
    return Function(plain.__name__, plain.__qualname__, plain, names, asked, tuple(versions), source, function.options)


def asks_python(program: Program) -> bool:
    """Whether there are tests that leave it to Python to raise."""
    checks = [n for part in (program, *program.functions) for n in walk(part.body) if isinstance(n, Check)]
    return any(check.exception == HAND_BACK or hands_over(check) for check in checks)


def is_selective(program: Program) -> bool:
    """Whether a kernel refuses calls: it has guards, or takes one layout."""
    strict = any(buffer.role is Role.PARAM and buffer.layout is not Layout.STRIDED for buffer in program.buffers)
    return bool(program.guards or program.symbols or program.disjoint) or strict


def _any(kind: Spec) -> Spec:
    """The most general spec of an argument of that type."""
    if isinstance(kind, ArraySpec):
        return replace(kind, layout=Layout.STRIDED)
    if isinstance(kind, ListSpec) and kind.rank == 2:
        return ContainerSpec("list", ListOf(kind.type))  # rows of any lengths
    return replace(kind, small=False) if isinstance(kind, ScalarSpec) else kind
