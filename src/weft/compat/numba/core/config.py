"""`numba.config`: settings that programs read and write.  DISABLE_JIT is obeyed by functions that are decorated later;
the others are kept, and change nothing.
"""

from __future__ import annotations

import os

#: `NUMBA_DISABLE_JIT=1` and `numba.config.DISABLE_JIT = True`: decorators give the function back.
DISABLE_JIT = int(os.environ.get("NUMBA_DISABLE_JIT", "0") or 0)
NUMBA_NUM_THREADS = int(os.environ.get("NUMBA_NUM_THREADS", "0") or 0) or os.cpu_count() or 1
NUMBA_DEFAULT_NUM_THREADS = NUMBA_NUM_THREADS
THREADING_LAYER = os.environ.get("NUMBA_THREADING_LAYER", "default")
THREADING_LAYER_PRIORITY = ["tbb", "omp", "workqueue"]
CACHE_DIR = os.environ.get("NUMBA_CACHE_DIR", "")
CPU_NAME = os.environ.get("NUMBA_CPU_NAME", "")
ENABLE_CUDASIM = 0
CUDA_USE_NVIDIA_BINDING = 0
BOUNDSCHECK = 1
DEBUG = 0
OPT = 3
FASTMATH = 0
FULL_TRACEBACKS = 0
SHOW_HELP = 0
COLOR_SCHEME = "no_color"
CAPTURED_ERRORS = "new_style"
DEVELOPER_MODE = 0


def reload_config() -> None:
    """Read NUMBA_DISABLE_JIT again."""
    global DISABLE_JIT
    DISABLE_JIT = int(os.environ.get("NUMBA_DISABLE_JIT", "0") or 0)
