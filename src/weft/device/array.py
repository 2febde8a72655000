"""Arrays that stay on a device.  In: the caller's array, or memory that kernels have filled; out: a `DeviceArray`,
which becomes an ndarray when Python looks at it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.records import dataclass

Array = np.ndarray[Any, Any]


@dataclass
class DeviceArray:
    """A contiguous array in device memory.  Functions for the same device take it as it is and give such arrays."""

    device: Any
    memory: Any
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    #: The array of another library whose memory this is, or is a copy of: what changes goes back there.
    owner: Any = None

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
        array = np.empty(self.shape, self.dtype)
        if array.size:
            self.device.fetch(array, self.memory)
        return array

    def become(self, memory: Any) -> None:
        """What kernels made of it, which nobody else has."""
        if self.owner is None:
            self.memory = memory
        elif self.size:
            self.device.store(self.owner, memory)

    def take(self, array: Array) -> None:
        """Elements from the host."""
        if not array.size:
            return
        memory = self.memory if self.owner is None else self.device.allocate(array.size, array.dtype)
        self.device.send(memory, array)
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

    value = np.ascontiguousarray(array)
    if from_numpy(value.dtype) is None:
        raise TypeError(f"an array of {value.dtype} has no form on a device")
    device = device_of(target)
    memory = device.allocate(max(value.size, 1), value.dtype)
    if value.size:
        device.send(memory, value)
    return DeviceArray(device, memory, value.shape, value.dtype)
