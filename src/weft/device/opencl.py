"""OpenCL devices through pyopencl.  In: kernels in OpenCL C; out: a `Device` for the engine.  Nothing is loaded before
a function with this target is called.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from weft.device import strangers
from weft.device.array import Order, as_it_lies, brought, order_of
from weft.device.dialect import OPENCL
from weft.device.plan import LIMIT, NoRoom, Refused, most_bytes
from weft.device.targets import DeviceTarget
from weft.forking import Lock
from weft.ir.types import from_numpy

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


def _all_devices() -> list[Any]:
    cl = library()
    try:
        platforms = cl.get_platforms()
    except cl.LogicError:
        return []  # the loader knows no driver
    return [device for platform in platforms for device in platform.get_devices()]


@functools.cache
def _build_error(device: Any) -> str:
    """Why the device builds no kernel at all, "" if it does.

    A driver may be older than the processor: PoCL 3.0 lists a device for it, whose compiler stops at an unknown target.
    """
    cl = library()
    try:
        context = cl.Context([device])
        cl.Program(context, "__kernel void trial(__global int *a) { a[get_global_id(0)] = 1; }").build()
    except cl.Error as problem:
        return f"{str(device.name).strip()} builds no kernels: {_first_error(str(problem))}"
    return ""


def devices() -> list[Any]:
    """The OpenCL devices of this machine that build kernels, accelerators before processors."""
    found = [device for device in _all_devices() if not _build_error(device)]
    kind = library().device_type.CPU
    return sorted(found, key=lambda device: bool(device.type & kind))


class OpenCL:
    """One device with its queue.  Memory comes from a pool, so that a call in a loop asks the driver for nothing."""

    def __init__(self, device: Any) -> None:
        cl = library()
        self.cl, self.device = cl, device
        self.units = int(device.max_compute_units)
        self.context = cl.Context([device])
        self.queue = cl.CommandQueue(self.context, properties=cl.command_queue_properties.PROFILING_ENABLE)
        # Arguments travel in a queue of their own, beside kernels that do not need them.
        self.transfers = cl.CommandQueue(self.context)
        self.arriving: dict[Any, Any] = {}  # by memory that no kernel has waited for: the end of its transfer
        self.begun: list[Any] = []
        self.newest: Any = None
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

    def build(self, text: str, types: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """The kernels of a program by name; `Refused` with the compiler's first line if it does not take them.

        `types`: those of the numbers among their arguments, with which pyopencl packs them 50 times faster."""
        try:
            program = self.cl.Program(self.context, text).build(options=["-cl-std=CL1.2", "-w"])
        except self.cl.RuntimeError as problem:
            raise Refused(f"{self.name} does not build the kernels: {_first_error(str(problem))}") from problem
        found = {kernel.function_name: kernel for kernel in program.all_kernels()}
        for name, kernel in found.items():
            if name in types:
                kernel.set_scalar_arg_dtypes(types[name])
        return found

    def allocate(self, count: int, dtype: Any) -> Any:
        size = count * np.dtype(dtype).itemsize
        reason = f"{self.name} has no memory for {size} bytes"
        if self.pool.active_bytes + size > most_bytes():
            raise NoRoom(f"{reason}: {LIMIT} allows {most_bytes()} in all")
        try:
            return self.pool.allocate(size)
        except (self.cl.MemoryError, self.cl.LogicError) as problem:
            raise NoRoom(reason) from problem

    def clear(self, memory: Any) -> None:
        with self._present():
            self.newest = self.cl.enqueue_fill_buffer(self.queue, memory, np.uint8(0), 0, memory.size)

    def copy(self, memory: Any) -> Any:
        made = self.allocate(memory.size, np.uint8)
        with self._present():
            self.newest = self.cl.enqueue_copy(self.queue, made, memory, byte_count=memory.size)
        return made

    def send(self, memory: Any, array: Any) -> None:
        with self._present():
            self.cl.enqueue_copy(self.queue, memory, array, is_blocking=True)

    def begin(self, memory: Any, array: Any) -> None:
        """Send an array while the host goes on; kernels that use it wait for it, and so does `settle`."""
        with self._present():
            # The memory may have been another array's, which a kernel is still at work on.
            after = [self.newest] if self.newest is not None else None
            event = self.cl.enqueue_copy(self.transfers, memory, array, is_blocking=False, wait_for=after)
            self.transfers.flush()
        self.arriving[memory] = event
        self.begun.append(event)

    def settle(self) -> None:
        """Wait until all arguments have arrived: then their owners may change them."""
        begun, self.begun = self.begun, []
        self.arriving.clear()
        with self._present():
            for event in begun:
                event.wait()

    def fetch(self, array: Any, memory: Any) -> None:
        if self.arriving:
            self.settle()  # it may be what has just been sent
        with self._present():
            self.cl.enqueue_copy(self.queue, array, memory, is_blocking=True)

    @property
    def has_library(self) -> bool:
        """Whether library calls find their operands where they are: a processor's memory is the host's."""
        return self.is_processor

    @contextlib.contextmanager
    def lent(self, loans: Sequence[Any], here: bool) -> Iterator[tuple[Any, list[Any]]]:
        """Memory as arrays of NumPy's: that very memory on a processor, else copies that go back if they change."""
        arrays: list[Any] = []
        self.settle()
        if not self.is_processor:
            for loan in loans:
                arrays.append(np.empty(loan.count, loan.dtype))
                if loan.count:
                    self.fetch(arrays[-1], loan.memory)
            yield np, arrays
            for loan, array in zip(loans, arrays):
                if loan.written and loan.count:
                    self.send(loan.memory, array)
            return
        flags = self.cl.map_flags.READ | self.cl.map_flags.WRITE
        try:
            with self._present():
                for loan in loans:
                    shape = (max(loan.count, 1),)
                    arrays.append(self.cl.enqueue_map_buffer(self.queue, loan.memory, flags, 0, shape, loan.dtype)[0])
            yield np, [array[: loan.count] for loan, array in zip(loans, arrays)]
        finally:
            with self._present():
                for array in arrays:
                    array.base.release(self.queue)

    @contextlib.contextmanager
    def _present(self) -> Iterator[None]:
        """Whatever a driver says about a device that is gone, or has no room, is a reason to compute elsewhere."""
        try:
            yield
        except self.cl.Error as problem:
            raise Refused(f"{self.name} failed: {str(problem).splitlines()[0]}") from problem

    def adopted(self, value: Any) -> tuple[Any, tuple[int, ...], np.dtype[Any], Order] | None:
        """Memory, shape, dtype and order of an array of pyopencl's own kind."""
        from pyopencl import array

        if not isinstance(value, array.Array) or from_numpy(value.dtype) is None:
            return None
        if self._reaches(value):
            memory = value.base_data if not value.offset else value.copy().base_data
            return memory, value.shape, value.dtype, order_of(value)
        with self._present():
            here = strangers.elements(self.cl, value)
        memory, order = self.allocate(max(here.size, 1), here.dtype), order_of(here)
        if here.size:
            self.send(memory, as_it_lies(here, order))
        return memory, here.shape, here.dtype, order

    def _reaches(self, value: Any) -> bool:
        """Whether kernels can use an array of pyopencl's where it is."""
        return bool(value.context == self.context and value.flags.forc)

    def store(self, owner: Any, memory: Any, order: Order) -> None:
        """Elements into the memory of an array of pyopencl's, of which they may be a part."""
        with self._present():
            if not self._reaches(owner):
                strangers.fill(self.cl, owner, brought(self, memory, owner.shape, owner.dtype, order))
                return
            self.cl.enqueue_copy(
                self.queue, owner.base_data, memory, byte_count=owner.nbytes, dst_offset=owner.offset
            ).wait()  # queues of others know nothing of ours

    def span(self, owner: Any) -> tuple[Any, int, int]:
        """The memory of an array of pyopencl's, and its first and past byte there."""
        return owner.base_data, *strangers.reach(owner)

    def is_same(self, one: Any, other: Any) -> bool:
        return one is not None and other is not None and bool(one.int_ptr == other.int_ptr)

    def returned(self, memory: Any, shape: tuple[int, ...], dtype: np.dtype[Any], order: Order, like: Any) -> Any:
        """A result as the kind of array that came in, in the context of that one."""
        from pyopencl import array

        if like.context != self.context:
            return array.to_device(strangers.queue_of(self.cl, like), brought(self, memory, shape, dtype, order))
        return array.Array(self.queue, shape, dtype, order=order, data=memory)

    def usage(self, kernel: Any) -> str:
        """What the driver says that a work-item, or group, of a kernel takes."""
        info = self.cl.kernel_work_group_info
        with self._present():
            private = kernel.get_work_group_info(info.PRIVATE_MEM_SIZE, self.device)
            local = kernel.get_work_group_info(info.LOCAL_MEM_SIZE, self.device)
        return f"{private} bytes of private and {local} of local memory"

    def launch(self, kernel: Any, total: tuple[int, ...], group: tuple[int, ...], arguments: list[Any]) -> Any:
        after = self._awaited(arguments) if self.arriving else None
        with self._present():
            kernel.set_args(*arguments)
            event = self.newest = self.cl.enqueue_nd_range_kernel(self.queue, kernel, total, group, wait_for=after)

        def seconds() -> float:
            with self._present():
                event.wait()  # a call whose results stay here returns before its kernels end
                return float(event.profile.end - event.profile.start) * 1e-9

        return seconds

    def _awaited(self, arguments: list[Any]) -> list[Any]:
        """The transfers that bring what a kernel uses; whatever comes after this kernel need not wait for them."""
        kind = self.cl.MemoryObjectHolder
        return [self.arriving.pop(one) for one in arguments if isinstance(one, kind) and one in self.arriving]


def _first_error(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if "error" in line), text.strip().splitlines()[0])


_made: dict[int, OpenCL] = {}
_lock = Lock()


def current() -> OpenCL:
    """The device that kernels run on: the first, or the one that WEFT_OPENCL_DEVICE names by its number."""
    found = devices()
    if not found:
        useless = [error for error in map(_build_error, _all_devices()) if error]
        if useless:
            raise Refused(f"{useless[0]}; install a newer driver, such as Debian's pocl-opencl-icd")
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


TARGET = DeviceTarget("opencl", OPENCL, __name__)
