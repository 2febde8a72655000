"""A device for tests: kernels in CUDA's dialect, compiled by a C++ compiler with `cuda_emulation.h` and run here."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import re
import shutil
import subprocess
import types
from pathlib import Path
from typing import Any

import numpy as np

from weft.analysis.scopes import written_params
from weft.cluster.function import Version, fit
from weft.device import engine, split
from weft.device.dialect import CUDA
from weft.device.plan import Kernel, Plan, Source
from weft.device.prepared import Prepared
from weft.frontend.source import load
from weft.frontend.specs import specs_of
from weft.options import Options

COMPILER = shutil.which("g++")
HEADER = Path(__file__).with_name("cuda_emulation.h")


def planned(
    function: Any, arguments: tuple[Any, ...], barriers: bool = True, library: bool = False
) -> tuple[Plan, Any]:
    """The plan of a call, and how its arguments are named."""
    from weft import pipeline

    compiled = pipeline.front(load(function), specs_of(arguments), arguments, Options(), True, lower=False)
    return split.planned(compiled.program_optimised, Options(), [], barriers, library), compiled.built


def text_of(plan: Plan) -> str:
    return CUDA.unit(plan.helpers, plan.kernels)


def _entry(kernel: Kernel) -> str:
    """A C function that unpacks the arguments of a launch."""
    passed = []
    for number, argument in enumerate(kernel.arguments):
        pointer = argument.source in (Source.MEMORY, Source.SCRATCH, Source.FLAG)
        passed.append(f"({argument.type} *)a[{number}]" if pointer else f"*({argument.type} *)a[{number}]")
    call = f"static void call_{kernel.name}(void **a) {{ {kernel.name}({', '.join(passed)}); }}"
    launch = f"return k_launch(call_{kernel.name}, a, grid, block);"
    return f'{call}\nextern "C" int launch_{kernel.name}(void **a, unsigned *grid, unsigned *block) {{ {launch} }}'


class Emulated:
    """What the engine asks of a device."""

    def __init__(self, plan: Plan, folder: Path, counted: bool = False) -> None:
        entries = "\n".join(map(_entry, plan.kernels))
        kernels = text_of(plan)
        if counted:
            kernels = re.sub(r"__shared__ (\w+) (\w+)", r"static k_counted<\1> \2", kernels)
            entries += '\nextern "C" long *k_of_counts() { return k_counts; }'
        text = f'#include "{HEADER}"\n{kernels}\n{entries}\n'
        stem = folder / hashlib.sha256(text.encode()).hexdigest()[:16]
        stem.with_suffix(".cpp").write_text(text)
        flags = ["-O1", "-ffp-contract=off", "-shared", "-fPIC", "-w"]
        subprocess.run([str(COMPILER), *flags, "-o", f"{stem}.so", f"{stem}.cpp"], check=True)
        library = ctypes.CDLL(f"{stem}.so")
        if counted:
            library.k_of_counts.restype = ctypes.POINTER(ctypes.c_long * 2)
            self.counts = library.k_of_counts().contents
        self.kernels = {kernel.name: library[f"launch_{kernel.name}"] for kernel in plan.kernels}

    def allocate(self, count: int, dtype: Any) -> Any:
        return np.empty(count, dtype)

    def clear(self, memory: Any) -> None:
        memory[...] = 0

    def send(self, memory: Any, array: Any) -> None:
        memory[...] = array.reshape(-1)

    begin = send

    def settle(self) -> None:
        pass

    def fetch(self, array: Any, memory: Any) -> None:
        array.reshape(-1)[...] = memory

    @contextlib.contextmanager
    def lent(self, loans: Any, here: bool) -> Any:
        """NumPy stands in for CuPy: its functions, not its generalised ufuncs, compute."""
        module = np if here else types.SimpleNamespace(**{**vars(np), "__name__": "stand-in"})
        yield module, [loan.memory[: loan.count] for loan in loans]

    def launch(self, kernel: Any, total: tuple[int, ...], group: tuple[int, ...], arguments: list[Any]) -> None:
        kept = [value if isinstance(value, np.ndarray) else np.array([value]) for value in arguments]
        pointers = (ctypes.c_void_p * len(kept))(*(value.ctypes.data for value in kept))
        sizes = [(*shape, 1, 1)[:3] for shape in (tuple(t // g for t, g in zip(total, group)), group)]
        failed = kernel(pointers, *((ctypes.c_uint * 3)(*size) for size in sizes))
        assert not failed, "only some threads of a block came to a barrier"


def run(function: Any, arguments: tuple[Any, ...], folder: Path, library: bool = False) -> tuple[bool, Any]:
    """A call on the emulated device: whether it was computed there, and its result."""
    plan, built = planned(function, arguments, library=library)
    device = Emulated(plan, folder)
    version = Version(plan, built.specs, built.names, tuple(built.hidden), None, 0.0)
    fitting = fit(version, arguments)
    assert fitting is not None
    given = fitting.given
    call = engine.Run(Prepared(plan), device.kernels, device, fitting.numbers)
    call.take(given)
    number = call.run()
    if number is None:
        return False, None
    call.written({name: given[name] for name in sorted(written_params(plan.program))})
    return True, call.result(number, given)


def local_traffic(function: Any, arguments: tuple[Any, ...], folder: Path) -> tuple[int, int, Any]:
    """How often a call reads and writes local memory, and what it launched and moved."""
    plan, built = planned(function, arguments)
    device = Emulated(plan, folder, counted=True)
    fitting = fit(Version(plan, built.specs, built.names, tuple(built.hidden), None, 0.0), arguments)
    assert fitting is not None
    call = engine.Run(Prepared(plan), device.kernels, device, fitting.numbers)
    call.take(fitting.given)
    assert call.run() is not None
    return device.counts[0], device.counts[1], call.counts
