"""The CUDA dialect: the text of kernels runs on an emulation of blocks and threads; nvcc takes it for two devices."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

from tests.device import emulation, programs, programs_complex

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
