"""OpenCL devices through pyopencl.  In: kernels in OpenCL C; out: a `Device` for the engine.  Nothing is loaded before
a function with this target is called.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np

from weft.device.plan import Refused
from weft.forking import Lock

#: The environment variable that chooses among several devices, by number.
CHOICE = "WEFT_OPENCL_DEVICE"


@functools.cache
def library() -> Any:
    """pyopencl; `Refused` says what to install."""
    try:
        import pyopencl
    except ImportError as problem:
        raise Refused("pyopencl is not installed: pip install 'weft[opencl]'") from problem
    return pyopencl


def devices() -> list[Any]:
    """All OpenCL devices of this machine, accelerators before processors."""
    cl = library()
    try:
        platforms = cl.get_platforms()
    except cl.LogicError:
        return []  # the loader knows no driver
    found = [device for platform in platforms for device in platform.get_devices()]
    return sorted(found, key=lambda device: bool(device.type & cl.device_type.CPU))


class OpenCL:
    """One device with its queue.  Memory comes from a pool, so that a call in a loop asks the driver for nothing."""

    def __init__(self, device: Any) -> None:
        cl = library()
        self.cl, self.device = cl, device
        self.context = cl.Context([device])
        self.queue = cl.CommandQueue(self.context)
        from pyopencl.tools import ImmediateAllocator, MemoryPool

        self.pool = MemoryPool(ImmediateAllocator(self.queue))
        self.lock = Lock()
        self.process = os.getpid()

    @property
    def name(self) -> str:
        return str(self.device.name).strip()

    @property
    def is_processor(self) -> bool:
        return bool(self.device.type & self.cl.device_type.CPU)

    @property
    def has_double(self) -> bool:
        return bool(self.device.double_fp_config)

    def build(self, text: str) -> dict[str, Any]:
        """The kernels of a program by name; `Refused` with the compiler's first line if it does not take them."""
        try:
            program = self.cl.Program(self.context, text).build(options=["-cl-std=CL1.2", "-w"])
        except self.cl.RuntimeError as problem:
            raise Refused(f"{self.name} does not build the kernels: {_first_error(str(problem))}") from problem
        return {kernel.function_name: kernel for kernel in program.all_kernels()}

    def allocate(self, count: int, dtype: Any) -> Any:
        try:
            return self.pool.allocate(count * np.dtype(dtype).itemsize)
        except (self.cl.MemoryError, self.cl.LogicError) as problem:
            raise Refused(f"{self.name} has no memory for {count * np.dtype(dtype).itemsize} bytes") from problem

    def clear(self, memory: Any) -> None:
        self.cl.enqueue_fill_buffer(self.queue, memory, np.uint8(0), 0, memory.size)

    def copy(self, memory: Any) -> Any:
        made = self.pool.allocate(memory.size)
        self.cl.enqueue_copy(self.queue, made, memory, byte_count=memory.size)
        return made

    def send(self, memory: Any, array: Any) -> None:
        self.cl.enqueue_copy(self.queue, memory, array, is_blocking=True)

    def fetch(self, array: Any, memory: Any) -> None:
        self.cl.enqueue_copy(self.queue, array, memory, is_blocking=True)

    def adopted(self, value: Any) -> tuple[Any, tuple[int, ...], np.dtype[Any]] | None:
        """Memory, shape and dtype of an array of pyopencl's own kind."""
        from pyopencl import array

        if not isinstance(value, array.Array) or not value.flags.c_contiguous or value.context != self.context:
            return None
        return value.base_data if not value.offset else value.copy().base_data, value.shape, value.dtype

    def returned(self, memory: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """A result as the kind of array that came in."""
        from pyopencl import array

        return array.Array(self.queue, shape, dtype, data=memory)

    def launch(self, kernel: Any, total: tuple[int, ...], group: tuple[int, ...], arguments: list[Any]) -> None:
        kernel.set_args(*arguments)
        self.cl.enqueue_nd_range_kernel(self.queue, kernel, total, group)


def _first_error(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if "error" in line), text.strip().splitlines()[0])


_made: dict[int, OpenCL] = {}
_lock = Lock()


def current() -> OpenCL:
    """The device that kernels run on: the first, or the one that WEFT_OPENCL_DEVICE names by its number."""
    found = devices()
    if not found:
        raise Refused("no OpenCL device was found: install a driver, or pip install pocl-binary-distribution")
    text = os.environ.get(CHOICE, "0")
    number = int(text) if text.isdigit() else -1
    if not 0 <= number < len(found):
        raise Refused(f"{CHOICE}={text!r} names none of {len(found)} devices")
    with _lock:
        # A device does not survive a fork: the child makes its own.
        key = hash((os.getpid(), number))
        if key not in _made:
            _made[key] = OpenCL(found[number])
        return _made[key]
