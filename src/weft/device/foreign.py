"""Arrays of other libraries as arguments.  In: a value that is no ndarray; out: where its elements are, and how results
become the same kind of array.

An array of the device's own library (pyopencl, CuPy, whatever shows `__cuda_array_interface__`) is used where it is.
One that speaks DLPack is read without a copy if it is in the host's memory, or in the device's.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.device.array import DeviceArray, Order, as_it_lies, order_of
from weft.device.plan import Refused
from weft.naming import home_of
from weft.records import dataclass

#: Device types of DLPack: memory that the processor reads, and that CUDA does.
_HOST, _CUDA = (1, 3), (2, 13)
_OWN = (np.ndarray, np.generic, int, float, complex, str, bytes, type(None))


@dataclass(frozen=True)
class Foreign:
    """`array`: a DeviceArray, or an ndarray over the same memory; `back`: what makes results of the same kind."""

    array: Any
    back: Callable[[Any], Any]


def taken(value: Any, current: Callable[[], Any]) -> Foreign | None:
    """What another library's array is for a device; None if the value is none."""
    if isinstance(value, _OWN):
        return None
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        try:
            device = current()
        except Refused:
            device = None
        found = None if device is None else device.adopted(value)
        if device is not None and found is not None:
            return Foreign(_owned(device, found, value), lambda result: _returned(result, device, value))
    if not hasattr(value, "__dlpack__") or not hasattr(value, "__dlpack_device__"):
        return None
    return _by_dlpack(value, current)


def _owned(device: Any, found: tuple[Any, tuple[int, ...], np.dtype[Any], Order], owner: Any) -> DeviceArray:
    memory, shape, dtype, order = found
    return DeviceArray(device, memory, shape, dtype, owner, order)


def _by_dlpack(value: Any, current: Callable[[], Any]) -> Foreign:
    kind = int(value.__dlpack_device__()[0])
    if kind in _HOST:
        array = np.from_dlpack(value)
        make = _maker(value)
        return Foreign(array, lambda result: value if result is array else make(result))
    device: Any = None
    if kind in _CUDA:
        with contextlib.suppress(Refused):
            device = current()
    if not hasattr(device, "cupy"):
        raise TypeError(
            f"an array of {type(value).__name__} on another device (DLPack's kind {kind}): copy it to the host"
        )
    array = device.cupy.from_dlpack(value)
    found = device.adopted(array)
    make = _maker(value)

    def back(result: Any) -> Any:
        return value if result.owner is array else make(_new(result, device, array))

    return Foreign(_owned(device, found, array), back)


def _returned(result: Any, device: Any, like: Any) -> Any:
    if isinstance(result, np.ndarray):
        # What the CPU has made, or a view, which has no form on the device.
        memory, order = device.allocate(max(result.size, 1), result.dtype), order_of(result)
        if result.size:
            device.send(memory, as_it_lies(result, order))
        return device.returned(memory, result.shape, result.dtype, order, like)
    return result.owner if result.owner is not None else _new(result, device, like)


def _new(result: DeviceArray, device: Any, like: Any) -> Any:
    return device.returned(result.memory, result.shape, result.dtype, result.order, like)


def _maker(value: Any) -> Callable[[Any], Any]:
    """`from_dlpack` of the library that a value is of; without one, results stay as they are."""
    space: Any = None
    if hasattr(value, "__array_namespace__"):
        space = value.__array_namespace__()
    else:
        space = sys.modules.get(home_of(type(value)).partition(".")[0])
    found: Callable[[Any], Any] = getattr(space, "from_dlpack", lambda array: array)
    return found
