"""Functions of plain Python to be built.  In: functions and methods whose hints say all types; out: their C.

The compiler of plain Python learns types from samples of arguments, which are made of hints (`hint_samples`). A version
whose integers may leave 64 bits gets a second one behind it that expects this everywhere.
"""

from __future__ import annotations

import contextlib
import enum
import inspect
import itertools
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from weft.errors import Unsupported
from weft.frontend.hints import array_by_use
from weft.hosts.functions import NO_HINTS
from weft.hosts.hint_samples import NoSample, Samples
from weft.plain import choice
from weft.plain.compiling import Front, front
from weft.records import dataclass

#: Versions of one function.
_MOST: Final = 8
#: Arithmetic whose result may leave 64 bits, and its line: a sum with a constant is a counter.
_GROWING: Final = (
    re.compile(r"\bwp_(?:mul|pow|shl)_ii\(.*?, (\d+)\)"),
    re.compile(r"\bwp_(?:add|sub)_ii\((?:(?!LL\b)[^;])*?, (\d+)\)"),
)
_BEYOND: Final = 1 << 70
_VARIADIC: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True)
class PlainFunction:
    """A function with versions as plain Python; `place` is where the module has it. `timed`: it runs as Python again
    where that is faster."""

    place: str
    timed: bool
    plain: types.FunctionType
    versions: tuple[Front, ...]


def samples(
    plain: types.FunctionType, known: Mapping[str, Any], receiver: type | None = None, of_class: bool = False
) -> list[list[Any]]:
    """Samples of each parameter by its hint; NoSample if a hint is missing or says too little. `receiver`: the class of
    a method, which is the first argument itself if the method is `of_class`."""
    found: list[list[Any]] = []
    try:
        hints = inspect.get_annotations(plain, eval_str=True)
    except Exception as problem:
        raise NoSample(f"its hints cannot be read ({problem})") from problem
    made = Samples(known)
    parameters = inspect.signature(plain).parameters.items()
    # In the order of variables: `*` and `**` come last.
    for at, (name, parameter) in enumerate(sorted(parameters, key=lambda each: each[1].kind in _VARIADIC)):
        if parameter.kind in _VARIADIC:
            if name not in hints:
                raise NoSample(f"its parameter {parameter} has no hint")
            is_rest = parameter.kind is parameter.VAR_POSITIONAL
            kind, parts = (tuple, (hints[name], ...)) if is_rest else (dict, (str, hints[name]))
            gathered = types.GenericAlias(kind, parts)
            found.append(made.of(gathered))
        elif at == 0 and receiver is not None:
            found.append([receiver] if of_class else made.of(receiver))
        elif (array := array_by_use(plain, name, hints.get(name))) is not None:
            found.append([np.zeros((2,) * array.rank, array.dtype.numpy)])
        elif name in hints:
            found.append(made.of(hints[name]))
        else:
            raise NoSample(NO_HINTS)
    return found


def goes_first(plain: types.FunctionType, tree: Any, found: Sequence[Sequence[Any]]) -> bool:
    """Whether such calls are plain Python under `weft.jit`, too, before the compiler of arrays is asked."""
    values = tuple(each[0] for each in found)
    if choice.uses_foreign(plain, values) or choice.uses_arrays(plain, values):
        return False
    return choice.is_plain(plain, tree, values)


def made(place: str, plain: types.FunctionType, found: Sequence[Sequence[Any]], timed: bool) -> PlainFunction:
    """The versions of a function; `Unsupported` if there is none."""
    values = tuple(each[0] for each in found)
    if choice.uses_foreign(plain, values):
        raise Unsupported(_span(plain), "it names what only the compiler of arrays knows")
    # Each function, and each member of an enumeration, is a type of its own: it is compiled in.
    apart = [[[value] for value in each] if _are_constants(each) else [each] for each in found]
    versions: list[Front] = []
    refused: Unsupported | None = None
    for chosen in itertools.islice(itertools.product(*apart), _MOST):
        try:
            versions.append(front(plain, chosen))
        except Unsupported as problem:
            refused = refused or problem
    if refused is not None and not versions:
        raise refused
    if all(len(each) == 1 for each in apart):
        versions += _wider(plain, [each[0] for each in apart], versions[0])
    return PlainFunction(place, timed, plain, tuple(versions))


def _wider(plain: types.FunctionType, found: Sequence[Sequence[Any]], narrow: Front) -> Iterator[Front]:
    """The version for integers of any size, if some may grow: where there is more than counting."""
    lines = {int(line) for pattern in _GROWING for line in pattern.findall(narrow.source)}
    if not lines:
        return
    whole = [[*each, _BEYOND] if any(type(value) is int for value in each) else each for each in found]
    with contextlib.suppress(Unsupported):
        yield front(plain, whole, frozenset(lines))


def _are_constants(values: Sequence[Any]) -> bool:
    return all(isinstance(value, (types.FunctionType, enum.Enum)) for value in values)


def _span(plain: types.FunctionType) -> Any:
    from weft.errors import Span

    code = plain.__code__
    return Span(code.co_filename, code.co_firstlineno, 0, code.co_firstlineno, 0)
