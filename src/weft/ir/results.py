"""What the Python caller gets.  In: a result tree of a program and the values at its leaves; out: Python objects.  The
interpreter, clusters and devices build their results here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from weft.errors import located
from weft.ir.expr import Dim, Expr
from weft.ir.program import ConstOut, NoneOut, Out, TupleOut, ViewOut

Array = np.ndarray[Any, Any]
#: The value of an expression where some dimensions have the given values.
Number = Callable[[Expr, Mapping[str, int]], int]


def assembled(out: Out, leaf: Callable[[Any], Any]) -> Any:
    """The object of a tree; `leaf` makes those that stand for memory: scalars, arrays, views, arguments."""
    if isinstance(out, TupleOut):
        items = [assembled(item, leaf) for item in out.items]
        if out.named:
            return located(out.named)(*items)
        return items if out.as_list else tuple(items)
    if isinstance(out, NoneOut):
        return None
    return ast.literal_eval(out.text) if isinstance(out, ConstOut) else leaf(out)


def listed(array: Array, weak: bool) -> list[Any]:
    """The nested list of an array's elements: numbers of Python's if `weak`, else NumPy's own, which `tolist` drops."""
    if weak:
        return array.tolist()  # type: ignore[no-any-return]
    return list(array) if array.ndim == 1 else [listed(row, weak) for row in array]


def view(array: Array, out: ViewOut, number: Number) -> Array:
    """The strided array over a buffer: base and strides follow from the index at the first points of each dimension."""
    dims = [dim for dim in out.dims if isinstance(dim, Dim)]
    assert len(dims) == len(out.dims), "a view has dense dimensions"
    spans = [range(number(dim.lo, {}), number(dim.hi, {}), dim.step) for dim in dims]
    shape = tuple(len(span) for span in spans)
    if 0 in shape:
        return np.empty(shape, dtype=array.dtype)

    def place(moved: int) -> list[int]:
        at = {d.var: s.start + s.step * (n == moved) for n, (d, s) in enumerate(zip(dims, spans))}
        return [number(e, at) for e in out.index]

    base = place(-1)
    assert all(0 <= i < extent for i, extent in zip(base, array.shape)), "a view begins outside of its array"
    start = array[tuple(slice(i, i + 1) for i in base)]
    strides = tuple(
        sum((i - first) * stride for i, first, stride in zip(place(position), base, array.strides))
        for position in range(len(spans))
    )
    return np.lib.stride_tricks.as_strided(start, shape, strides)
