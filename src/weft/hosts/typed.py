"""Hints of what compiled code gives back.  In: the results of a program of the compiler of arrays, or a type that the
compiler of plain Python has inferred; out: hints from which further code can be built.

    ScalarOut of a float   -->   float        list[int | None] as a type   -->   list[int | None]
"""

from __future__ import annotations

import collections
import functools
import operator
import typing
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from weft.frontend.hints import ArrayHint, DTypeHint
from weft.ir.program import ArgumentOut, ArrayOut, NoneOut, Out, Program, ScalarOut, TupleOut, ViewOut
from weft.ir.types import COMPLEX, FLOAT, INT, PYBOOL, DType, ScalarType, from_numpy
from weft.plain.types import Head, Node

_PYTHON: Final[Mapping[ScalarType, type]] = {INT: int, FLOAT: float, COMPLEX: complex, PYBOOL: bool}
_NAMED: Final[Mapping[str, Any]] = {
    **{kind.__name__: kind for kind in (int, float, bool, complex, str, bytes, bytearray)}, "none": type(None),
}  # fmt: skip
_NUMBERS: Final = frozenset(_PYTHON.values())
_GENERIC: Final[Mapping[str, Any]] = {
    **{kind.__name__: kind for kind in (list, set, frozenset, dict, collections.deque, collections.OrderedDict)},
    "Counter": collections.Counter,
}  # fmt: skip


class NoHint(Exception):
    """No hint says what this type is."""


def of_program(program: Program, given: Sequence[Any]) -> tuple[Any, ...] | None:
    """The hints of the items of a tuple that every return gives; None if their numbers differ. `given`: those of
    parameters. Where one return gives a number of Python's and another one of NumPy's (a sum over nothing is 0.0), the
    latter is what is usual."""
    found = [tuple(_of_tree(program, item, given) for item in _items(tree)) for tree in program.results]
    if len({len(items) for items in found}) != 1:
        return None
    return tuple(max(hints, key=lambda hint: isinstance(hint, (ArrayHint, DTypeHint))) for hints in zip(*found))


def _items(tree: Out) -> tuple[Out, ...]:
    return tree.items if isinstance(tree, TupleOut) and not tree.as_list and not tree.named else ()


def _of_tree(program: Program, tree: Out, given: Sequence[Any]) -> Any:
    """The hint of one result; None if there is none."""
    if isinstance(tree, ArgumentOut):
        return given[tree.index] if tree.index < len(given) else None
    if isinstance(tree, NoneOut):
        return type(None)
    if not isinstance(tree, (ScalarOut, ArrayOut, ViewOut)):
        return None
    buffer = next(buffer for buffer in program.buffers if buffer.name == tree.buffer)
    scalar = _PYTHON.get(buffer.type, DTypeHint(buffer.type.dtype))
    if isinstance(tree, ScalarOut):
        return scalar
    rank = len(tree.dims) if isinstance(tree, ViewOut) else len(buffer.shape)
    if isinstance(tree, ArrayOut) and tree.as_list:
        return functools.reduce(lambda inner, _: list[inner], range(rank), scalar)  # type: ignore[valid-type]
    return ArrayHint(buffer.type.dtype, (None,) * rank)


def of_node(node: Node) -> Any:
    """The hint of an inferred type; NoHint if there is none."""
    found = [_of_head(head.root()) for head in node]
    of_numpy = [hint for hint in found if isinstance(hint, (ArrayHint, DTypeHint))]
    if not found or len(of_numpy) > 1 or (of_numpy and not _NUMBERS.issuperset(set(found) - set(of_numpy))):
        raise NoHint
    return of_numpy[0] if of_numpy else functools.reduce(operator.or_, found)


def _element(name: str) -> DType:
    found = from_numpy(np.dtype(name))
    if found is None:
        raise NoHint
    return found


def _of_head(head: Head) -> Any:
    kind = head.kind
    if kind in _NAMED:
        return _NAMED[kind]
    if kind == "obj":
        return head.key[1].cls
    if kind == "ndarray":
        return ArrayHint(_element(str(head.key[1])), (None,) * int(head.key[2]))
    if kind.startswith("np."):
        return DTypeHint(_element(kind[3:]))
    if kind == "tuple":
        if head.key[2] is not None:
            return head.key[2]
        return tuple[tuple(map(of_node, head.parts))]  # type: ignore[misc]
    if kind == "vtuple":
        return tuple[of_node(head.part()), ...]  # type: ignore[misc]
    if kind in _GENERIC:
        made = _GENERIC[kind]
        count = 2 if kind in ("dict", "OrderedDict") else 1
        parts = tuple(of_node(head.part(at)) for at in range(count))
        return typing.cast(Any, made)[parts]
    raise NoHint
