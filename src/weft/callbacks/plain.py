"""Ufuncs without a compiler.  In: a function of numbers; out: an object that is called as the compiled ufunc is, and
computes element by element in Python: under WEFT_DISABLE=1, and where no C compiler works.

The function gets NumPy scalars here, too; results have the types of the signature, or those that NumPy finds in them.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.callbacks.signatures import Loop
from weft.runtime import dispatch, toolchain


def is_needed() -> bool:
    """Whether nothing can be compiled here, or nothing is to be."""
    if os.environ.get("WEFT_DISABLE", "0") not in ("", "0"):
        return True
    return toolchain.find() is None or dispatch.load_core() is None


class PlainUfunc:
    """A ufunc whose loop is Python's own."""

    def __init__(self, function: Callable[..., Any], count: int, loops: Sequence[Loop] = ()) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self.nin, self._loops = function, count, tuple(loops)

    def _inner(self, count: int = 1) -> np.ufunc:
        made: np.ufunc = np.frompyfunc(self.py_func, self.nin, count)
        return made

    def _operands(self, values: Sequence[Any]) -> tuple[list[Any], tuple[Any, ...] | None]:
        """The arguments as arrays of NumPy scalars, and the types of the results if a signature tells them."""
        arrays = [np.asarray(value) for value in values]
        for loop in self._loops:
            types = [dtype.numpy for dtype in loop.inputs]
            if all(np.can_cast(array.dtype, of) for array, of in zip(arrays, types)):
                results = tuple(dtype.numpy for dtype in loop.outputs) or None
                return [_boxed(array.astype(of)) for array, of in zip(arrays, types)], results
        if self._loops:
            raise TypeError(f"ufunc {self.py_func.__name__!r} has no loop for arguments of these types")
        common = np.result_type(*values)
        weak = [array.astype(common) if type(v) in (int, float, complex) else array for array, v in zip(arrays, values)]
        return [_boxed(array) for array in weak], None

    def __call__(self, *args: Any, out: Any = None, where: Any = True, dtype: Any = None) -> Any:
        operands, types = self._operands(args[: self.nin])
        shape = np.broadcast_shapes(*(operand.shape for operand in operands), np.shape(where))
        chosen = np.broadcast_to(where, shape)
        spread = [np.broadcast_to(operand, shape)[chosen] for operand in operands]
        rows = [self.py_func(*values) for values in zip(*spread)]
        several = bool(rows) and isinstance(rows[0], tuple)
        columns = list(zip(*rows)) if several else [rows]
        outs = out if isinstance(out, tuple) else (out,) * (out is not None) or args[self.nin :]
        made = []
        for place, column in enumerate(columns):
            found = np.array(column, dtype or (types[place] if types else None))
            target = outs[place] if place < len(outs) else np.empty(shape, found.dtype)
            target[chosen] = found
            made.append(target if outs or shape else target[()])
        return tuple(made) if several else made[0]

    def reduce(self, array: Any, axis: int = 0, **_: Any) -> Any:
        return self._combined("reduce", array, axis)

    def accumulate(self, array: Any, axis: int = 0, **_: Any) -> Any:
        return self._combined("accumulate", array, axis)

    def _combined(self, how: str, array: Any, axis: int) -> Any:
        (operand, _), types = self._operands((array, array))
        found = getattr(self._inner(), how)(operand, axis=axis)
        return np.array(found.tolist() if isinstance(found, np.ndarray) else found, types[0] if types else None)[()]

    def outer(self, left: Any, right: Any) -> Any:
        left, right = np.asarray(left), np.asarray(right)
        return self(left.reshape(left.shape + (1,) * right.ndim), right)

    def __repr__(self) -> str:
        return f"<weft.vectorize {self.py_func.__qualname__}, in Python>"


def _boxed(array: Any) -> Any:
    """The same elements as NumPy scalars, each an object."""
    made = np.empty(array.size, object)
    for place, value in enumerate(array.ravel()):
        made[place] = value
    return made.reshape(array.shape)
