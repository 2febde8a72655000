"""`numba.cuda`: there is no device.  Kernels can be defined, `is_available()` is False, a launch says what to do."""

from __future__ import annotations

from typing import Any, NoReturn

from weft.compat.numba.core.errors import UnsupportedError

_REMEDY = "weft makes kernels of plain loops: @weft.jit(target='cuda'), see docs/device.md"


class CudaSupportError(RuntimeError):
    """What Numba raises without a device."""


class Kernel:
    """A function that only a device could run."""

    def __init__(self, function: Any) -> None:
        self.py_func = None
        self.function = function
        self.__name__ = getattr(function, "__name__", "kernel")

    def __getitem__(self, launch: Any) -> NoReturn:
        raise CudaSupportError(f"{self.__name__} is a kernel of numba.cuda and there is no device for it: {_REMEDY}")

    def __call__(self, *args: Any, **keys: Any) -> Any:
        return self[()]


def jit(*args: Any, **options: Any) -> Any:
    """`@cuda.jit`: a kernel that can be defined."""
    if args and callable(args[0]) and not hasattr(args[0], "return_type") and hasattr(args[0], "__code__"):
        return Kernel(args[0])
    return Kernel


def is_available() -> bool:
    """False"""
    return False


def detect() -> bool:
    """False"""
    return False


def list_devices() -> NoReturn:
    """There are none."""
    raise CudaSupportError(f"there is no device for numba.cuda: {_REMEDY}")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise UnsupportedError(f"numba.cuda.{name} needs a device: {_REMEDY}")

    return refuse
