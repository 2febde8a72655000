"""Type hints as hints.  In: the annotations of a function; out: the specs to compile for ahead of time (None if any is
missing or says too little).  Whatever a hint says, the guards of the version decide at each call.

    x: float, n: int, a: NDArray[np.float32] (the rank by its use in the function),
    weft.f64[N, N + 2] with N = weft.symbol("N"), weft.f64[:, 3], list[list[float]], np.float32, str, list[str],
    dict[str, int]
"""

from __future__ import annotations

import ast
import inspect
import typing
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.frontend.items import types_in
from weft.frontend.sizes import SizeSum, SymbolicSize, sum_of
from weft.frontend.source import load
from weft.frontend.specs import ArraySpec, ContainerSpec, ListSpec, ScalarSpec, Spec, TextDictSpec, TextSpec
from weft.frontend.values import ItemType, ListOf, TextType
from weft.ir.program import Layout
from weft.ir.types import COMPLEX, FLOAT, INT, PYBOOL, DType, ScalarType, from_numpy
from weft.records import dataclass


def symbol(name: str) -> SymbolicSize:
    """A named size for shape hints: N = weft.symbol("N"); then N + 2 and 2 * N - 1 are sizes, too."""
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"weft.symbol({name!r}): the name must be a Python identifier")
    return SymbolicSize(name)


@dataclass(frozen=True)
class ArrayHint:
    """dtype[shape]: an array of known dtype and rank."""

    dtype: DType
    shape: tuple[Any, ...]

    def __repr__(self) -> str:
        extents = ", ".join(":" if e is None else str(e) for e in self.shape)
        return f"weft.{self.dtype.value}[{extents}]"


@dataclass(frozen=True)
class DTypeHint:
    """weft.f64 and its like: a scalar by itself, an array with brackets."""

    dtype: DType

    def __getitem__(self, shape: Any) -> ArrayHint:
        extents = shape if isinstance(shape, tuple) else (shape,)
        return ArrayHint(self.dtype, tuple(self._extent(e) for e in extents))

    def _extent(self, extent: Any) -> Any:
        if isinstance(extent, slice) and extent == slice(None):
            return None
        if isinstance(extent, (SymbolicSize, SizeSum)) or (isinstance(extent, int) and extent >= 0):
            return extent
        raise TypeError(f"a shape hint is made of symbols, sums of them, integers and ':', not {extent!r}")

    def __repr__(self) -> str:
        return f"weft.{self.dtype.value}"


b1, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, c64, c128 = (DTypeHint(dtype) for dtype in DType)

_PYTHON = {int: ScalarSpec(INT, True), float: ScalarSpec(FLOAT), complex: ScalarSpec(COMPLEX), bool: ScalarSpec(PYBOOL)}


def extents_of(function: Callable[..., Any]) -> dict[str, tuple[SizeSum | None, ...]]:
    """What the shape hints of parameters say of their extents; None where a hint leaves one open."""
    hints = inspect.get_annotations(function, eval_str=True)
    return {
        name: tuple(None if e is None else sum_of(e) for e in hint.shape)
        for name, hint in hints.items()
        if isinstance(hint, ArrayHint) and name != "return"
    }


def spec_of_hint(hint: Any) -> Spec | None:
    """The spec that a hint stands for; None if it says too little."""
    if isinstance(hint, type) and hint in _PYTHON:
        return _PYTHON[hint]
    if hint in (str, bytes, bytearray, list[str], list[bytes]):
        inner = typing.get_args(hint)
        return TextSpec(inner[0].__name__ if inner else hint.__name__, many=bool(inner))
    if hint in (dict[str, int], dict[str, float], dict[str, bool], dict[str, str]):
        value = typing.get_args(hint)[1]
        return TextDictSpec(TextType("str") if value is str else _PYTHON[value].type)
    if isinstance(hint, ArrayHint):
        return ArraySpec(hint.dtype, tuple(e == 1 for e in hint.shape), Layout.C)
    if isinstance(hint, DTypeHint):
        return ScalarSpec(ScalarType(hint.dtype))
    if isinstance(hint, type):
        try:
            dtype = from_numpy(hint)
        except TypeError:
            return None
        return None if dtype is None or not hasattr(hint, "dtype") else ScalarSpec(ScalarType(dtype))
    return _list_hint(hint)


def _list_hint(hint: Any) -> Spec | None:
    rank = 0
    while typing.get_origin(hint) is list:
        rank, hint = rank + 1, typing.get_args(hint)[0]
    if rank and isinstance(hint, type) and hint in (int, float, bool):
        return ListSpec(_PYTHON[hint].type, rank)
    return _container_hint(hint, rank)


def _container_hint(hint: Any, rank: int) -> Spec | None:
    """Lists of tuples (and lists of them), dicts."""
    kind, inner = typing.get_origin(hint), typing.get_args(hint)
    if rank in (1, 2) and kind is tuple:
        parts = [_item_hint(hint)]
        return None if parts[0] is None else ContainerSpec("list", parts[0] if rank == 1 else ListOf(parts[0]))
    if rank or kind is not dict:
        return None
    key, held = map(_item_hint, inner)
    if key is None or held is None or any(of.dtype is not DType.I64 for of in types_in(key)):
        return None
    return ContainerSpec("dict", key, held)


def _item_hint(hint: Any) -> ItemType | None:
    if isinstance(hint, type) and hint in (int, float, bool):
        return _PYTHON[hint].type
    inner = typing.get_args(hint)
    if typing.get_origin(hint) is not tuple or not inner or Ellipsis in inner:
        return None
    parts = tuple(_item_hint(part) for part in inner)
    return None if None in parts else parts  # type: ignore[return-value]


def _array_hint(hint: Any) -> DType | None:
    """The dtype of NDArray[dtype]; None for any other hint."""
    if typing.get_origin(hint) is not np.ndarray:
        return None
    inner = typing.get_args(typing.get_args(hint)[-1])
    try:
        return from_numpy(inner[0]) if inner else None
    except TypeError:
        return None


def rank_by_use(tree: ast.FunctionDef, name: str) -> int:
    """How many axes the function seems to expect of an array argument, by its subscripts and shape; 1 if none says."""
    rank = 1
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            rank = max(rank, _subscript_rank(node, name))
        elif isinstance(node, ast.Assign) and _is_shape(node.value, name):
            rank = max([rank, *(len(t.elts) for t in node.targets if isinstance(t, ast.Tuple))])
        elif isinstance(node, ast.Attribute) and node.attr == "T" and _names(node.value, name):
            rank = max(rank, 2)
    return rank


def _names(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_shape(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "shape" and _names(node.value, name)


def _subscript_rank(node: ast.Subscript, name: str) -> int:
    """a[i, j] --> 2, a[i][j] --> 2, a.shape[1] --> 2"""
    index = node.slice
    if _is_shape(node.value, name):
        known = index.value if isinstance(index, ast.Constant) and isinstance(index.value, int) else -1
        return known + 1 if known >= 0 else 1
    items = index.elts if isinstance(index, ast.Tuple) else [index]
    own = sum(1 for item in items if not (isinstance(item, ast.Constant) and item.value in (None, Ellipsis)))
    if _names(node.value, name):
        return own
    if isinstance(node.value, ast.Subscript):
        inner = _subscript_rank(node.value, name)
        return inner + own if inner > 0 else 0
    return 0


def numbers_of(kinds: Sequence[Spec]) -> tuple[Any, ...] | None:
    """One value for each parameter, if all are Python's numbers: of containers nobody knows what will be in them."""
    if not all(isinstance(kind, ScalarSpec) and kind.type.weak for kind in kinds):
        return None
    return tuple(kind.type.python(1) for kind in kinds if isinstance(kind, ScalarSpec))


def specs_from_hints(function: Callable[..., Any]) -> list[Spec] | None:
    """The specs of all parameters from their hints; None if one is missing or cannot be understood.

    A hint that leaves the rank open (NDArray[dtype]) takes it from how the function uses the array; np.ndarray, which
    leaves the dtype open as well, says too little.
    """
    try:
        hints = inspect.get_annotations(function, eval_str=True)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return None
    found: list[Spec] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            return None  # calls tell how many there are
        kind = array_by_use(function, name, hints.get(name)) or spec_of_hint(hints.get(name))
        if kind is None:
            return None
        found.append(kind)
    return found


def array_by_use(function: Any, name: str, hint: Any) -> ArraySpec | None:
    """The spec of a parameter `NDArray[dtype]`, with the rank that the function seems to expect; None of others."""
    dtype = _array_hint(hint)
    return None if dtype is None else ArraySpec(dtype, (False,) * rank_by_use(load(function).tree, name), Layout.C)
