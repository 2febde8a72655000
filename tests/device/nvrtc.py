"""NVRTC, the compiler that CuPy calls: CUDA text in, what it says out.  No device is needed."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
from pathlib import Path
from typing import Any


def _candidates() -> list[str]:
    found: list[str] = []
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec is not None else []:
        found += map(str, sorted(Path(folder).glob("**/libnvrtc.so*")))
    system = ctypes.util.find_library("nvrtc")
    return found + ([system] if system else [])


def library() -> Any:
    """The library, or None if it is not installed."""
    for path in _candidates():
        try:
            for builtins in sorted(Path(path).parent.glob("libnvrtc-builtins.so.*")):
                ctypes.CDLL(str(builtins), ctypes.RTLD_GLOBAL)  # it looks for them by name alone
            return ctypes.CDLL(path)
        except OSError:
            continue
    return None


def compiled(nvrtc: Any, text: str, architecture: str) -> tuple[bool, str]:
    """Whether a text was compiled to code of a device, and all that the compiler said."""
    program = ctypes.c_void_p()
    given = (ctypes.byref(program), text.encode(), b"kernels.cu", 0, None, None)
    assert nvrtc.nvrtcCreateProgram(*given) == 0
    options = (ctypes.c_char_p * 2)(f"--gpu-architecture={architecture}".encode(), b"-fmad=false")
    done = nvrtc.nvrtcCompileProgram(program, len(options), options)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(max(size.value, 1))
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return done == 0, log.value.decode()
