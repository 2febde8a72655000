"""Arrays of pyopencl's that kernels cannot use where they are: those of another context, and those with gaps.  In: such
an array; out: its elements on the host, and new elements in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.device.array import Array, order_of


def queue_of(cl: Any, value: Any) -> Any:
    """A queue that reaches an array's memory, behind what its own queue does with it."""
    return value.queue if value.queue is not None else cl.CommandQueue(value.context)


def reach(value: Any) -> tuple[int, int]:
    """The first and past byte of an array in its memory."""
    if not value.size:
        return value.offset, value.offset
    steps = [(extent - 1) * stride for extent, stride in zip(value.shape, value.strides)]
    first = value.offset + sum(step for step in steps if step < 0)
    return first, value.offset + sum(step for step in steps if step > 0) + value.dtype.itemsize


def elements(cl: Any, value: Any) -> Array:
    """A copy on the host, in the order that the array has."""
    order = order_of(value)
    if not value.size:
        return np.empty(value.shape, value.dtype, order)
    return np.array(_window(cl, value)[1], order=order)


def fill(cl: Any, value: Any, array: Array) -> None:
    """New elements; what lies between them stays as it is."""
    if value.size:
        raw, view = _window(cl, value)
        view[...] = array
        cl.enqueue_copy(queue_of(cl, value), value.base_data, raw, dst_offset=reach(value)[0], is_blocking=True)


def _window(cl: Any, value: Any) -> tuple[Array, Array]:
    """The bytes that an array reaches, and the array over them."""
    first, past = reach(value)
    raw = np.empty(past - first, np.uint8)
    cl.enqueue_copy(queue_of(cl, value), raw, value.base_data, src_offset=first, is_blocking=True)
    view: Array = np.ndarray(value.shape, value.dtype, raw, value.offset - first, value.strides)
    return raw, view
