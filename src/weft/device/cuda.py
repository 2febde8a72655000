"""CUDA devices through CuPy.  In: kernels in CUDA C; out: a `Device` for the engine.  CuPy is loaded when a function
with this target is first called.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from weft.device.array import Order, order_of
from weft.device.dialect import CUDA
from weft.device.plan import NoRoom, Refused
from weft.device.targets import DeviceTarget
from weft.forking import Lock


@functools.cache
def library() -> Any:
    """CuPy; `Refused` says what to install."""
    try:
        import cupy
    except ImportError as problem:
        raise Refused("CuPy is not installed: pip install cupy-cuda13x (or the wheel of your CUDA)") from problem
    return cupy


def devices() -> list[Any]:
    """The numbers of all CUDA devices of this machine."""
    cupy = library()
    try:
        return list(range(cupy.cuda.runtime.getDeviceCount()))
    except cupy.cuda.runtime.CUDARuntimeError:
        return []  # no driver


class Cuda:
    """The current CUDA device, in CuPy's current stream; memory comes from CuPy's pool."""

    #: Groups along each dimension of a launch.
    most_groups = (2**31 - 1, 65535, 65535)
    is_processor = False
    has_library = True
    has_double = True

    def __init__(self) -> None:
        self.cupy = library()
        self.lock = Lock()
        self.process = os.getpid()

    @property
    def name(self) -> str:
        found = self.cupy.cuda.runtime.getDeviceProperties(self.cupy.cuda.Device().id)["name"]
        return found.decode() if isinstance(found, bytes) else str(found)

    def build(self, text: str, types: Any = None) -> Any:
        try:
            module = self.cupy.RawModule(code=text, options=("-fmad=false",))
            module.compile()
        except self.cupy.cuda.compiler.CompileException as problem:
            raise Refused(f"{self.name} does not build the kernels: {str(problem).splitlines()[0]}") from problem
        return _Kernels(module)

    def allocate(self, count: int, dtype: Any) -> Any:
        try:
            return self.cupy.empty(count, dtype)
        except self.cupy.cuda.memory.OutOfMemoryError as problem:
            raise NoRoom(f"{self.name} has no memory for {count * np.dtype(dtype).itemsize} bytes") from problem

    def clear(self, memory: Any) -> None:
        memory.fill(0)

    def copy(self, memory: Any) -> Any:
        return memory.copy()

    def send(self, memory: Any, array: Any) -> None:
        memory.set(array.reshape(-1))

    begin = send  # CuPy overlaps only what lies in pinned memory

    def settle(self) -> None:
        """All arguments are there."""

    def fetch(self, array: Any, memory: Any) -> None:
        memory[: array.size].get(out=array.reshape(-1))

    def usage(self, kernel: Any) -> str:
        """What the assembler says that a thread, or block, of a kernel takes."""
        spilled = f", {kernel.local_size_bytes} bytes of them spilled" if kernel.local_size_bytes else ""
        return f"{kernel.num_regs} registers{spilled} and {kernel.shared_size_bytes} bytes of shared memory"

    @contextlib.contextmanager
    def lent(self, loans: Sequence[Any], here: bool) -> Iterator[tuple[Any, list[Any]]]:
        """Memory as arrays of CuPy's, for its libraries; `here`: copies as NumPy's, for what only that has."""
        arrays = [loan.memory[: loan.count] for loan in loans]
        if not here:
            yield self.cupy, arrays
            return
        copies = [array.get() for array in arrays]
        yield np, copies
        for loan, array, copy in zip(loans, arrays, copies):
            if loan.written:
                array.set(copy)

    def launch(self, kernel: Any, total: tuple[int, ...], group: tuple[int, ...], arguments: list[Any]) -> Any:
        begin, end = self.cupy.cuda.Event(), self.cupy.cuda.Event()
        begin.record()
        kernel(tuple(-(-count // size) for count, size in zip(total, group)), group, tuple(arguments))
        end.record()

        def seconds() -> float:
            end.synchronize()
            return float(self.cupy.cuda.get_elapsed_time(begin, end)) * 1e-3

        return seconds

    def adopted(self, value: Any) -> tuple[Any, tuple[int, ...], np.dtype[Any], Order] | None:
        """Memory, shape, dtype and order of an array of CuPy's, or of one that shows its memory to CUDA."""
        if not hasattr(value, "__cuda_array_interface__"):
            return None
        array = self.cupy.asarray(value)
        order = order_of(array)
        flat = self.cupy.ascontiguousarray(array.T if order == "F" else array).reshape(-1)
        return flat, array.shape, array.dtype, order

    def store(self, owner: Any, memory: Any, order: Order) -> None:
        """Elements into the memory of an array of another library's."""
        array = self.cupy.asarray(owner)
        array[...] = memory[: array.size].reshape(array.shape, order=order)

    def span(self, owner: Any) -> tuple[Any, int, int]:
        """Where the elements of an array may be; all of CUDA's memory has one address space."""
        array = self.cupy.asarray(owner)
        reach = [(size - 1) * stride for size, stride in zip(array.shape, array.strides)]
        first = array.data.ptr + sum(step for step in reach if step < 0)
        past = array.data.ptr + sum(step for step in reach if step > 0) + array.itemsize
        return None, first, past if array.size else first

    def is_same(self, one: Any, other: Any) -> bool:
        return one is other

    def returned(self, memory: Any, shape: tuple[int, ...], dtype: np.dtype[Any], order: Order, like: Any) -> Any:
        """A result as the kind of array that came in."""
        return memory[: int(np.prod(shape))].reshape(shape, order=order)


class _Kernels(dict[str, Any]):
    """The functions of a module, each fetched when it is first launched."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        self.module = module

    def __missing__(self, name: str) -> Any:
        self[name] = found = self.module.get_function(name)
        return found


@functools.cache
def _made() -> Cuda:
    return Cuda()


def current() -> Cuda:
    if not devices():
        raise Refused("no CUDA device was found: is its driver installed?")
    return _made()


TARGET = DeviceTarget("cuda", CUDA, __name__)
