"""Arrays that stay on a device.  In: the caller's array, or memory that kernels have filled; out: a `DeviceArray`,
which becomes an ndarray when Python looks at it.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from weft.records import dataclass

Array = np.ndarray[Any, Any]
Order = Literal["C", "F"]


def order_of(array: Any) -> Order:
    """The order in which a copy of an array lies on a device: that of the array, if it has one of the two."""
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


def as_it_lies(array: Array, order: Order) -> Array:
    """The elements as a contiguous array of C's order, whose memory is that of the array in the given order."""
    return np.ascontiguousarray(array.T if order == "F" else array)


def brought(device: Any, memory: Any, shape: tuple[int, ...], dtype: Any, order: Order) -> Array:
    """The elements of device memory as a new ndarray."""
    array = np.empty(shape, dtype, order)
    if array.size:
        device.fetch(array.T if order == "F" else array, memory)
    return array


@dataclass
class DeviceArray:
    """A contiguous array in device memory.  Functions for the same device take it as it is and give such arrays."""

    device: Any
    memory: Any
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    #: The array of another library whose memory this is, or is a copy of: what changes goes back there.
    owner: Any = None
    #: How elements lie in memory.
    order: Order = "C"

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def get(self) -> Array:
        """The elements as an ndarray."""
        return brought(self.device, self.memory, self.shape, self.dtype, self.order)

    def become(self, memory: Any) -> None:
        """What kernels made of it, which nobody else has."""
        if self.owner is None:
            self.memory = memory
        elif self.size:
            self.device.store(self.owner, memory, self.order)

    def take(self, array: Array) -> None:
        """Elements from the host."""
        if not array.size:
            return
        memory = self.memory if self.owner is None else self.device.allocate(array.size, array.dtype)
        self.device.send(memory, as_it_lies(array, self.order))
        self.become(memory)

    def shares(self, other: DeviceArray) -> bool:
        """Whether the two may have elements in common."""
        if self.device is not other.device:
            return False
        one, another = (
            (array.memory, 0, array.nbytes) if array.owner is None else array.device.span(array.owner)
            for array in (self, other)
        )
        return self.device.is_same(one[0], another[0]) and one[1] < another[2] and another[1] < one[2]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("an array on a device becomes an ndarray only by a copy")
        return self.get() if dtype is None else self.get().astype(dtype)

    def __getitem__(self, index: Any) -> Any:
        return self.get()[index]

    def __repr__(self) -> str:
        return f"<array of {self.dtype} {self.shape} on {self.device.name}>"


def put(array: Any, target: str = "opencl") -> DeviceArray:
    """A copy of an array on the device of a target: `weft.device.put(a)`."""
    from weft.device.targets import device_of
    from weft.ir.types import from_numpy

    value = np.asarray(array)
    if from_numpy(value.dtype) is None:
        raise TypeError(f"an array of {value.dtype} has no form on a device")
    device = device_of(target)
    memory = device.allocate(max(value.size, 1), value.dtype)
    if value.size:
        device.send(memory, as_it_lies(value, order_of(value)))
    return DeviceArray(device, memory, value.shape, value.dtype, order=order_of(value))
