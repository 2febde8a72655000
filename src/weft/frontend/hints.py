"""Type hints as hints.  In: the annotations of a function; out: the specs to compile for ahead of time (None if any is
missing or says too little).  Whatever a hint says, the guards of the version decide at each call.

    x: float, n: int, a: np.ndarray (dtype float64, rank unknown: not enough), NDArray[np.float64] (rank unknown),
    weft.f64[N, M] with N = weft.symbol("N"), weft.f64[:, 3], list[list[float]], np.float32
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from weft.frontend.specs import ArraySpec, ListSpec, ScalarSpec, Spec
from weft.ir.program import Layout
from weft.ir.types import COMPLEX, FLOAT, INT, PYBOOL, DType, ScalarType, from_numpy


@dataclass(frozen=True)
class SymbolicSize:
    """A size that is only known by name; equal names are equal sizes."""

    name: str


def symbol(name: str) -> SymbolicSize:
    """A named size for shape hints: N = weft.symbol("N")."""
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"weft.symbol({name!r}): the name must be a Python identifier")
    return SymbolicSize(name)


@dataclass(frozen=True)
class ArrayHint:
    """dtype[shape]: an array of known dtype and rank."""

    dtype: DType
    shape: tuple[Any, ...]

    def __repr__(self) -> str:
        extents = ", ".join(":" if e is None else e.name if isinstance(e, SymbolicSize) else str(e) for e in self.shape)
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
        if isinstance(extent, SymbolicSize) or (isinstance(extent, int) and extent >= 0):
            return extent
        raise TypeError(f"a shape hint is made of symbols, integers and ':', not {extent!r}")

    def __repr__(self) -> str:
        return f"weft.{self.dtype.value}"


b1, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, c64, c128 = (DTypeHint(dtype) for dtype in DType)

_PYTHON = {int: ScalarSpec(INT, True), float: ScalarSpec(FLOAT), complex: ScalarSpec(COMPLEX), bool: ScalarSpec(PYBOOL)}


def spec_of_hint(hint: Any) -> Spec | None:
    """The spec that a hint stands for; None if it says too little."""
    if isinstance(hint, type) and hint in _PYTHON:
        return _PYTHON[hint]
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
    return None


def specs_from_hints(function: Callable[..., Any]) -> list[Spec] | None:
    """The specs of all parameters from their hints; None if one is missing."""
    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError, AttributeError):
        return None
    found: list[Spec] = []
    for name in inspect.signature(function).parameters:
        kind = spec_of_hint(hints[name]) if name in hints else None
        if kind is None:
            return None
        found.append(kind)
    return found
