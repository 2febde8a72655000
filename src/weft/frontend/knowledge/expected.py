"""What an argument may be, by the name of its parameter.  In: the arguments of a call; out: nothing, or Unsupported.

Entries read their arguments as NumPy means them; what NumPy would refuse must not reach them: None for a parameter
whose default is something else, a function for an axis, a list for a flag. Python then raises what NumPy raises.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.errors import Unsupported
from weft.frontend.values import Array, Object, Scalar, Tuple, Value, describe

if TYPE_CHECKING:
    from weft.frontend.emit import Emitter

#: Axes, and sequences of them.
_AXES = frozenset({"axis", "axes", "axis1", "axis2", "axisa", "axisb", "axisc", "source", "destination"})
#: Words of a few that NumPy knows.
_WORDS = frozenset({"norm", "mode", "order", "casting", "side", "kind", "method", "indexing", "UPLO"})
#: For these None is as good as leaving them out, whatever the default is.
_OPTIONAL = frozenset({"dtype", "order", "copy", "mode", "out", "like", "initial", "where", "keepdims"})
#: Functions that flatten their operand where the axis is None, although the default is another one.
_FLATTENING = ("sort", "argsort", "concatenate", "concat", "partition", "argpartition", "reduce", "trim_zeros")


def check(
    function: str, given: Mapping[str, Value], parameters: tuple[inspect.Parameter, ...] | None, emitter: Emitter
) -> None:
    """Refuse what no parameter of its name takes; `parameters` are those of the function, if Python can tell."""
    defaults = {p.name: p.default for p in parameters or ()}
    for name, value in given.items():
        if isinstance(value, Object) and value.value is None:
            taken = _takes_none(function, name, defaults)
        elif name in _AXES:
            taken = all(_is_axis(leaf) for leaf in _leaves(value))
        else:
            taken = name not in _WORDS or not isinstance(value, (Tuple, Array, Scalar))
        if not taken:
            shown = "None" if isinstance(value, Object) and value.value is None else describe(value)
            raise Unsupported(emitter.span, f"TypeError: {function}() with {shown} for {name}")


def _takes_none(function: str, name: str, defaults: Mapping[str, Any]) -> bool:
    default = defaults.get(name)
    if default is None or name in _OPTIONAL:
        return True
    if name in _AXES and function.rpartition(".")[2] in _FLATTENING:
        return True
    if default is inspect.Parameter.empty:
        return name not in _AXES
    return default is np._NoValue


def _leaves(value: Value) -> list[Value]:
    return [leaf for item in value.items for leaf in _leaves(item)] if isinstance(value, Tuple) else [value]


def _is_axis(value: Value) -> bool:
    if isinstance(value, Object):
        return value.value is None
    return not isinstance(value, Scalar) or (value.type.dtype.is_integer and value.type.dtype.kind != "b")
