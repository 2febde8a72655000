"""CUDA devices through CuPy.  In: kernels in CUDA C; out: a `Device` for the engine.  CuPy is loaded when a function
with this target is first called.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np

from weft.device.plan import Refused
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

    is_processor = False
    has_double = True

    def __init__(self) -> None:
        self.cupy = library()
        self.lock = Lock()
        self.process = os.getpid()

    @property
    def name(self) -> str:
        found = self.cupy.cuda.runtime.getDeviceProperties(self.cupy.cuda.Device().id)["name"]
        return found.decode() if isinstance(found, bytes) else str(found)

    def build(self, text: str) -> Any:
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
            raise Refused(f"{self.name} has no memory for {count * np.dtype(dtype).itemsize} bytes") from problem

    def clear(self, memory: Any) -> None:
        memory.fill(0)

    def copy(self, memory: Any) -> Any:
        return memory.copy()

    def send(self, memory: Any, array: Any) -> None:
        memory.set(array.reshape(-1))

    def fetch(self, array: Any, memory: Any) -> None:
        memory[: array.size].get(out=array.reshape(-1))

    def launch(self, kernel: Any, total: tuple[int, ...], group: tuple[int, ...], arguments: list[Any]) -> None:
        kernel(tuple(-(-count // size) for count, size in zip(total, group)), group, tuple(arguments))

    def adopted(self, value: Any) -> tuple[Any, tuple[int, ...], np.dtype[Any]] | None:
        """Memory, shape and dtype of an array of CuPy's, or of one that shows its memory to CUDA."""
        if not hasattr(value, "__cuda_array_interface__"):
            return None
        array = self.cupy.ascontiguousarray(self.cupy.asarray(value))
        return array.reshape(-1), array.shape, array.dtype

    def returned(self, memory: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """A result as the kind of array that came in."""
        return memory[: int(np.prod(shape))].reshape(shape)


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
