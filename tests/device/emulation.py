"""A device for tests: kernels in CUDA's dialect, compiled by a C++ compiler with `cuda_emulation.h` and run here."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from weft.analysis.scopes import written_params
from weft.device import engine, split
from weft.device.dialect import CUDA
from weft.device.plan import Kernel, Plan, Source
from weft.frontend.source import load
from weft.frontend.specs import specs_of
from weft.options import Options

COMPILER = shutil.which("g++")
_HEADER = Path(__file__).with_name("cuda_emulation.h")


def planned(function: Any, arguments: tuple[Any, ...], barriers: bool = True) -> tuple[Plan, Any]:
    """The plan of a call, and how its arguments are named."""
    from weft import pipeline

    compiled = pipeline.front(load(function), specs_of(arguments), arguments, Options(), True, lower=False)
    return split.planned(compiled.program_optimised, Options(), [], barriers), compiled.built


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

    def __init__(self, plan: Plan, folder: Path) -> None:
        entries = "\n".join(map(_entry, plan.kernels))
        text = f'#include "{_HEADER}"\n{text_of(plan)}\n{entries}\n'
        stem = folder / hashlib.sha256(text.encode()).hexdigest()[:16]
        stem.with_suffix(".cpp").write_text(text)
        flags = ["-O1", "-ffp-contract=off", "-shared", "-fPIC", "-w"]
        subprocess.run([str(COMPILER), *flags, "-o", f"{stem}.so", f"{stem}.cpp"], check=True)
        library = ctypes.CDLL(f"{stem}.so")
        self.kernels = {kernel.name: library[f"launch_{kernel.name}"] for kernel in plan.kernels}

    def allocate(self, count: int, dtype: Any) -> Any:
        return np.empty(count, dtype)

    def clear(self, memory: Any) -> None:
        memory[...] = 0

    def send(self, memory: Any, array: Any) -> None:
        memory[...] = array.reshape(-1)

    def fetch(self, array: Any, memory: Any) -> None:
        array.reshape(-1)[...] = memory

    def launch(self, kernel: Any, total: tuple[int, ...], group: tuple[int, ...], arguments: list[Any]) -> None:
        kept = [value if isinstance(value, np.ndarray) else np.array([value]) for value in arguments]
        pointers = (ctypes.c_void_p * len(kept))(*(value.ctypes.data for value in kept))
        sizes = [(*shape, 1, 1)[:3] for shape in (tuple(t // g for t, g in zip(total, group)), group)]
        failed = kernel(pointers, *((ctypes.c_uint * 3)(*size) for size in sizes))
        assert not failed, "only some threads of a block came to a barrier"


def run(function: Any, arguments: tuple[Any, ...], folder: Path) -> tuple[bool, Any]:
    """A call on the emulated device: whether it was computed there, and its result."""
    plan, built = planned(function, arguments)
    device = Emulated(plan, folder)
    given = {name: value for name, value in zip(built.names, arguments) if name is not None}
    from weft.cluster.function import _sample_sizes

    numbers = _sample_sizes(plan.program, given)
    call = engine.Run(plan, device.kernels, device, numbers)
    call.take({name: value for name, value in given.items()})
    number = call.run()
    if number is None:
        return False, None
    for name in sorted(written_params(plan.program)):
        call.fetched(name, given[name])
    return True, call.result(number, given)
