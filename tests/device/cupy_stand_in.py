"""CuPy for tests, as far as weft asks it: kernels run on the emulation of blocks and threads, arrays are NumPy's behind
a class that is as strict as CuPy's.  So all of `target="cuda"` runs where there is no device.

Strict means: numbers are as wide as the kernel takes them, a launch fits a device, no array of the host gets in.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
import subprocess
import tempfile
import types
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from tests.device.emulation import COMPILER, HEADER
from tests.device.module import Array, Module

_KERNEL = re.compile(r'extern "C" __global__ void (\w+)\(([^)]*)\)')
_MOST_GROUPS = (2**31 - 1, 65535, 65535)


class _Parameter:
    def __init__(self, text: str) -> None:
        words = text.replace("*", " * ").split()
        self.pointer, self.type = "*" in words, words[0]


class _Function:
    """One kernel of a module."""

    num_regs, local_size_bytes, shared_size_bytes = 32, 0, 0

    def __init__(self, entry: Any, parameters: list[_Parameter], sizes: dict[str, int]) -> None:
        self.entry, self.parameters, self.sizes = entry, parameters, sizes

    def __call__(self, grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
        assert len(arguments) == len(self.parameters)
        assert all(0 < count <= most for count, most in zip(grid, _MOST_GROUPS)), f"a grid of {grid}"
        assert 0 < int(np.prod(block)) <= 1024, f"a block of {block}"
        cells: list[Any] = []
        for value, parameter in zip(arguments, self.parameters):
            if parameter.pointer:
                assert isinstance(value, Array)
                cells.append(value._data)
            else:
                # CuPy passes Python's own numbers in eight bytes, NumPy's as they are.
                cells.append(np.array([value], value.dtype if isinstance(value, np.generic) else None))
                assert cells[-1].dtype.itemsize == self.sizes[parameter.type], f"{value!r} for a {parameter.type}"
        pointers = (ctypes.c_void_p * len(cells))(*(cell.ctypes.data for cell in cells))
        shapes = [(ctypes.c_uint * 3)(*(*shape, 1, 1)[:3]) for shape in (grid, block)]
        assert not self.entry(pointers, *shapes), "only some threads of a block came to a barrier"


class RawModule:
    def __init__(self, *, code: str, options: tuple[str, ...] = (), backend: str = "nvrtc") -> None:
        self.code = code
        assert all(option.startswith("-") for option in options)

    def compile(self) -> None:
        self.parameters: dict[str, list[_Parameter]] = {}
        entries: list[str] = []
        for name, head in _KERNEL.findall(self.code):
            found = [_Parameter(text) for text in head.split(",") if text.strip()]
            self.parameters[name] = found
            given = [f"({p.type} *)a[{n}]" if p.pointer else f"*({p.type} *)a[{n}]" for n, p in enumerate(found)]
            entries.append(f"static void call_{name}(void **a) {{ {name}({', '.join(given)}); }}")
            head = f'extern "C" int launch_{name}(void **a, unsigned *grid, unsigned *block)'
            entries.append(f"{head} {{ return k_launch(call_{name}, a, grid, block); }}")
        used = sorted({each.type for found in self.parameters.values() for each in found})
        entries.append(f'extern "C" const unsigned k_sizes[] = {{ {", ".join(f"sizeof({t})" for t in used)} }};')
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "kernels.cpp"
            source.write_text("\n".join((f'#include "{HEADER}"', self.code, *entries)))
            flags = ["-O1", "-ffp-contract=off", "-shared", "-fPIC", "-w"]
            command = [str(COMPILER), *flags, "-o", f"{folder}/kernels.so", str(source)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise cuda.compiler.CompileException(done.stderr)
            self.library = ctypes.CDLL(f"{folder}/kernels.so")
        self.sizes = dict(zip(used, (ctypes.c_uint * len(used)).in_dll(self.library, "k_sizes")))

    def get_function(self, name: str) -> _Function:
        return _Function(self.library[f"launch_{name}"], self.parameters[name], self.sizes)


class _RuntimeError(RuntimeError):
    pass


class CompileException(Exception):
    pass


class OutOfMemoryError(MemoryError):
    pass


class _Event:
    def record(self) -> None:
        self.when = perf_counter()

    def synchronize(self) -> None:
        assert self.when


cuda: Any = types.SimpleNamespace(
    Event=_Event,
    get_elapsed_time=lambda begin, end: (end.when - begin.when) * 1e3,
    runtime=types.SimpleNamespace(
        CUDARuntimeError=_RuntimeError,
        getDeviceCount=lambda: 1,
        getDeviceProperties=lambda number: {"name": b"emulated"},
    ),
    Device=lambda: types.SimpleNamespace(id=0),
    compiler=types.SimpleNamespace(CompileException=CompileException),
    memory=types.SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
)


class _CuPy(Module):
    __name__ = "cupy"

    RawModule = RawModule

    def __init__(self) -> None:
        super().__init__()
        self.cuda = cuda

    def asarray(self, value: Any) -> Any:
        if not isinstance(value, Array) and hasattr(value, "__cuda_array_interface__"):
            shown = types.SimpleNamespace(__array_interface__=value.__cuda_array_interface__)
            return Array(np.asarray(shown))
        return super().asarray(value)

    def empty(self, shape: Any, dtype: Any = float) -> Any:
        found = np.empty(shape, dtype)
        found.view(np.uint8).fill(0xA5)  # whoever reads what nobody wrote is seen
        return Array(found)


@contextlib.contextmanager
def _errstate(**_: Any) -> Iterator[None]:
    yield


def modules() -> dict[str, Any]:
    """What stands in `sys.modules` while a test runs."""
    return {"cupy": _CuPy(), "cupyx": types.SimpleNamespace(errstate=_errstate)}
