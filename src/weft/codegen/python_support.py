"""What generated Python calls and NumPy has not.  In: scalars or arrays; out: the same kind, total as IR values are."""

from __future__ import annotations

import threading
from ast import literal_eval as literal_eval
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from weft.errors import located as located
from weft.ir.ops import OPERATIONS
from weft.ir.routines import run_routine as run_routine


class _Running(threading.local):
    """What the calls that this thread runs have copied: the originals by the identity of their copies."""

    def __init__(self) -> None:
        self.originals: dict[int, object] = {}


_running = _Running()


@contextmanager
def standing_for(pairs: Iterable[tuple[object, object]]) -> Iterator[None]:
    """While generated code runs: the arrays it gets, and the arguments that they are copies of."""
    before = _running.originals
    _running.originals = before | {id(copy): own for copy, own in pairs}
    try:
        yield
    finally:
        _running.originals = before


def original(copy: object) -> object:
    """The argument that an array is a copy of."""
    return _running.originals.get(id(copy), copy)


def _elementwise(operation: str) -> Any:
    evaluate = OPERATIONS[operation].evaluate

    def function(values: Any) -> Any:
        if not isinstance(values, np.ndarray):
            return evaluate(np.float64(values) if isinstance(values, float) else values)
        flat = [evaluate(value) for value in values.ravel()]
        return np.array(flat, dtype=values.dtype).reshape(values.shape)

    function.__name__ = operation
    return function


erf = _elementwise("erf")
erfc = _elementwise("erfc")
gamma = _elementwise("gamma")
lgamma = _elementwise("lgamma")


def ldexp(value: Any, exponent: Any) -> Any:
    """value * 2**exponent, the exponent a whole number kept as a float."""
    return OPERATIONS["ldexp"].evaluate(*_floating(value, exponent))


def mantissa(value: Any) -> Any:
    return OPERATIONS["mantissa"].evaluate(*_floating(value))


def exponent(value: Any) -> Any:
    return OPERATIONS["exponent"].evaluate(*_floating(value))


def norm2(x: Any, y: Any) -> Any:
    """The length of a vector, as math.hypot has it."""
    return OPERATIONS["norm2"].evaluate(*_floating(x, y))


def norm3(x: Any, y: Any, z: Any) -> Any:
    return OPERATIONS["norm3"].evaluate(*_floating(x, y, z))


def remainder(left: Any, right: Any) -> Any:
    """The remainder to the nearest multiple."""
    return OPERATIONS["remainder"].evaluate(*_floating(left, right))


def _floating(*values: Any) -> list[Any]:
    of = np.result_type(*(value for value in values))
    return [np.asarray(value, dtype=of)[()] for value in values]


def bitcount(value: Any) -> Any:
    """The ones in the binary form of |value|."""
    return abs(value).bit_count() if type(value) is int else OPERATIONS["bitcount"].evaluate(value)


def foreign(op: str, *args: Any) -> Any:
    """A function of another library."""
    return OPERATIONS[op].evaluate(*map(_inexact, args))


def _inexact(value: Any) -> Any:
    return np.float64(value) if isinstance(value, (int, float)) else value


def ratio(left: Any, right: Any) -> Any:
    """left / right of integers, rounded once."""
    return OPERATIONS["ratio"].evaluate(left, right)


def make_complex(real: Any, imag: Any) -> Any:
    """A complex number (or array) from its parts; `real + 1j * imag` would lose infinities, NaN and signed zeros."""
    parts = np.broadcast_arrays(np.asarray(real), np.asarray(imag))
    single = parts[0].dtype == np.float32 and parts[1].dtype == np.float32
    result = np.empty(parts[0].shape, dtype=np.complex64 if single else np.complex128)
    result.real, result.imag = parts
    return result if result.ndim else result[()]


def truncated_mod(dividend: int, divisor: int) -> int:
    """The remainder with the dividend's sign; 0 for a zero divisor."""
    return 0 if divisor == 0 else abs(dividend) % abs(divisor) * (-1 if dividend < 0 else 1)


def place_of(op: str, values: Any, axis: int | None = None) -> Any:
    """The first place of an extreme; 0 where there are no values."""
    if values.size:
        return getattr(values, op)(axis=axis)
    return np.zeros(() if axis is None else np.delete(values.shape, axis), np.int64)[()]


def sign(value: int) -> int:
    return (value > 0) - (value < 0)


def linear_view(base: Any, index: Callable[..., tuple[int, ...]], ranges: tuple[range, ...]) -> Any:
    """The view of `base` whose element (i, j, ...) is base[index(ranges[0][i], ...)], linear in memory."""
    shape = tuple(len(steps) for steps in ranges)
    if 0 in shape:
        return np.empty(shape, dtype=base.dtype)

    def offset(*at: int) -> int:
        return sum(place * stride for place, stride in zip(index(*at), base.strides))

    first = [steps[0] for steps in ranges]
    start = offset(*first)
    strides = []
    for axis, steps in enumerate(ranges):
        moved = [steps[min(1, len(steps) - 1)] if k == axis else at for k, at in enumerate(first)]
        strides.append(offset(*moved) - start)
    last = [steps[-1] for steps in ranges]
    linear = offset(*last) - start == sum(stride * (len(steps) - 1) for stride, steps in zip(strides, ranges))
    if not linear and not base.flags.c_contiguous:
        return linear_view(np.ascontiguousarray(base), index, ranges)  # its order in memory allows none
    corner = base[tuple(slice(place, place + 1) for place in index(*first))]
    return np.lib.stride_tricks.as_strided(corner, shape, strides)
