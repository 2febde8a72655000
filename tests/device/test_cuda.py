"""The CUDA dialect: the text of kernels runs on an emulation of blocks and threads; nvcc takes it for two devices."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

from tests.device import emulation
from tests.device.programs import PROGRAMS

NVCC = shutil.which("nvcc")


def _agree(one, other):
    if isinstance(other, tuple):
        return len(one) == len(other) and all(map(_agree, one, other))
    if other is None:
        return one is None
    return np.allclose(one, other, rtol=1e-5 if getattr(other, "dtype", None) == np.float32 else 1e-12)


@pytest.mark.skipif(emulation.COMPILER is None, reason="there is no g++")
@pytest.mark.parametrize("function, make", PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_text_of_kernels_computes_what_numpy_does(function, make, tmp_path):
    ours, theirs = make(), make()
    done, result = emulation.run(function, ours, tmp_path)
    assert done
    assert _agree(result, function(*theirs))
    assert all(map(_agree, ours, theirs))


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
