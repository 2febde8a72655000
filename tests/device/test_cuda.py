"""The CUDA dialect: the text of kernels runs on an emulation of blocks and threads; nvcc takes it for two devices."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.device import emulation, programs, programs_complex
from weft.codegen import c_helpers, c_ops
from weft.device.dialect import CUDA, OPENCL
from weft.ir.types import DType

PROGRAMS = (*programs.PROGRAMS, *programs_complex.PROGRAMS)

NVCC = shutil.which("nvcc")


def _agree(one, other):
    if isinstance(other, tuple):
        return len(one) == len(other) and all(map(_agree, one, other))
    if other is None:
        return one is None
    return np.allclose(one, other, rtol=1e-5 if getattr(other, "dtype", None) in (np.float32, np.complex64) else 1e-12)


@pytest.mark.skipif(emulation.COMPILER is None, reason="there is no g++")
@pytest.mark.parametrize("function, make", PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_text_of_kernels_computes_what_numpy_does(function, make, tmp_path):
    ours, theirs = make(), make()
    done, result = emulation.run(function, ours, tmp_path)
    assert done
    assert _agree(result, function(*theirs))
    assert all(map(_agree, ours, theirs))


def test_stencils_go_through_local_memory():
    plan, _ = emulation.planned(programs.jacobi, (np.ones((40, 70)), np.ones((40, 70)), 3))
    # Rows and columns of a group, and one more each way, of float64.
    steps, whole = plan.kernels[:2], plan.kernels[2:]
    assert [kernel.local_bytes for kernel in steps] == [(4 + 2) * (64 + 2) * 8] * 2
    assert all(kernel.body.count("a[") + kernel.body.count("b[") == 2 for kernel in steps)
    # All steps of a small array in one kernel, with barriers between the two halves of a step.
    assert [kernel.mapping.value for kernel in whole] == ["groups"] and "k_barrier()" in whole[0].body
    there, _ = emulation.planned(programs.jacobi, (np.ones((40, 70)), np.ones((40, 70)), 3), barriers=False)
    assert not any(kernel.local_bytes for kernel in there.kernels)


def all_helpers(dialect: Any) -> str:
    """Every helper function of generated C, for every type, as a dialect has it."""
    used = c_ops.Used(pairs=True)
    for name in c_helpers.HELPERS:
        for dtype in DType:
            if not name.endswith("_checked") or dtype is DType.I64:
                try:
                    used.helper(name, dtype)
                except KeyError:
                    continue  # it has none for this type
    return dialect.unit("\n".join((*used.helpers.values(), *used.texts)), ())


def test_every_helper_is_opencl():
    """Names of C that are words of OpenCL, functions that it lacks: a kernel would not build."""
    cl = pytest.importorskip("pyopencl", reason="pyopencl is not installed")
    from weft.device import opencl

    if not opencl.devices():
        pytest.skip("there is no OpenCL device")
    text = all_helpers(OPENCL)
    assert text.count("static inline") > 200
    kernel = "__kernel void k(__global i64 *a) { a[0] = 1; }"
    cl.Program(opencl.current().context, f"{OPENCL.double}{text}\n{kernel}").build()


def _compiled(source: Path, flags: tuple[str, ...] = ()) -> None:
    for device in ("sm_80", "sm_90"):
        out = str(source.with_suffix(f".{device}"))
        command = [str(NVCC), f"-arch={device}", "-cubin", "-Werror", "all-warnings", *flags, "-o", out]
        done = subprocess.run([*command, str(source)], capture_output=True, text=True)
        assert done.returncode == 0, (done.stdout + done.stderr)[:3000]


@pytest.mark.skipif(NVCC is None, reason="there is no nvcc")
def test_nvcc_takes_every_helper(tmp_path):
    source = tmp_path / "helpers.cu"
    source.write_text(CUDA.double + all_helpers(CUDA))
    _compiled(source, ("-diag-suppress", "177"))  # nobody calls them


@pytest.mark.skipif(NVCC is None, reason="there is no nvcc")
def test_nvcc_takes_all_kernels_for_two_devices(tmp_path):
    texts = []
    for number, (function, make) in enumerate(PROGRAMS):
        plan, _ = emulation.planned(function, make())
        text = emulation.text_of(plan)
        for kernel in plan.kernels:
            text = text.replace(f" {kernel.name}(", f" p{number}_{kernel.name}(")
        texts.append(f"namespace p{number} {{\n{text}\n}}")
    source = tmp_path / "kernels.cu"
    source.write_text("\n".join(texts))
    for device in ("sm_80", "sm_90"):
        command = [str(NVCC), f"-arch={device}", "-cubin", "-Werror", "all-warnings", "-o", str(tmp_path / device)]
        done = subprocess.run([*command, str(source)], capture_output=True, text=True)
        assert done.returncode == 0, (done.stdout + done.stderr)[:3000]


def test_what_the_assembler_says_is_read():
    from tools.device_registers import Usage, parsed

    log = """ptxas info    : Compiling entry function 'k_kernel0' for 'sm_80'
ptxas info    : Function properties for k_kernel0
    16 bytes stack frame, 8 bytes spill stores, 24 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 3168 bytes smem, 400 bytes cmem[0]
"""
    assert parsed(log) == [Usage("k_kernel0", 40, 32, 3168)]
