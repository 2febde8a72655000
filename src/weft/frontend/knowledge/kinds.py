"""Numbers of which only the run time knows whether they are Python's or NumPy's, given to library functions.  In: a
call's arguments; out: the same, with such numbers as mere values where the function does not tell the two apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.errors import Unsupported
from weft.frontend.mixed import from_either, kinds_of
from weft.frontend.values import Array, Scalar, Tuple, Value

if TYPE_CHECKING:
    from weft.frontend.builder import Builder
    from weft.frontend.knowledge import Entry

#: Functions of builtins that give the same for equal numbers.
_BY_VALUE: frozenset[Any] = frozenset({int, float, bool, complex, range, slice, str, chr, len})
#: Those that hand on the very object, and know of the choice.
_HAND_ON: frozenset[Any] = frozenset({min, max, abs})
#: Modules whose functions move objects, and are defined by what the user could have written.
_MOVING = ("heapq", "bisect", "_heapq", "_bisect", "itertools", "collections", "_collections")


def known_kinds(
    builder: Builder, entry: Entry, args: Sequence[Value], kwargs: dict[str, Value]
) -> tuple[Sequence[Value], dict[str, Value]]:
    """The arguments as a function may take them; Unsupported if its result depended on what is not known."""
    if not builder.mixed_exprs or not any(_unknown(builder, value) for value in (*args, *kwargs.values())):
        return args, kwargs
    target = entry.target
    module = str(getattr(target, "__module__", None) or "")
    if not entry.is_method and (_is_in(target, _HAND_ON) or module in _MOVING):
        return args, kwargs
    by_value = not entry.is_method and (_is_in(target, _BY_VALUE) or module == math.__name__)
    if not by_value and not _same_in_numpy(builder, entry, module, [*args, *kwargs.values()]):
        reason = f"{entry.name}() of a number that is either Python's or NumPy's"
        raise Unsupported(builder.emitter.span, reason, "use int() or float()")
    plain = [_plain(builder, value) for value in args]
    return plain, {name: _plain(builder, value) for name, value in kwargs.items()}


def _same_in_numpy(builder: Builder, entry: Entry, module: str, values: list[Value]) -> bool:
    """Whether NumPy makes the same of a Python number: there is no other operand, and both have the same precision."""
    if entry.is_method or not (isinstance(entry.target, np.ufunc) or module.split(".")[0] == "numpy"):
        return False
    unknown = [value for value in values if isinstance(value, Scalar) and _unknown(builder, value)]
    others = [value for value in values if isinstance(value, (Array, Scalar)) and value not in unknown]
    if others or len(unknown) > 1:
        return False
    nested = (item for value in values if isinstance(value, Tuple) for item in value.items)
    found = [*unknown, *(item for item in nested if isinstance(item, Scalar) and _unknown(builder, item))]
    return all(len({kind.dtype for kind in kinds_of(builder, value.expr)}) == 1 for value in found)


def _unknown(builder: Builder, value: Value) -> bool:
    if isinstance(value, Tuple):
        return any(_unknown(builder, item) for item in value.items)
    return isinstance(value, Scalar) and from_either(builder, value.expr)


def _plain(builder: Builder, value: Value) -> Value:
    if isinstance(value, Tuple):
        return replace(value, items=tuple(_plain(builder, item) for item in value.items))
    if not isinstance(value, Scalar) or not _unknown(builder, value):
        return value
    copied: Callable[..., Any] = replace  # another expression of the same value, of which no choice is known
    return Scalar(copied(value.expr))


def _is_in(target: Any, known: frozenset[Any]) -> bool:
    return any(target is one for one in known)
