"""The time inside a kernel, apart from what happens around it. Between weft's dispatcher and every kernel that it loads
comes a function of our own, which looks at the clock before and after: what a call takes besides is compiling, and the
conversion of lists.
"""

from __future__ import annotations

import ctypes
import dataclasses
import shutil
import subprocess
from pathlib import Path
from typing import Any

_SOURCE = """
#include <stdint.h>
#include <time.h>

typedef int64_t (*kernel_type)(const void *, int64_t *);
kernel_type target;
double seconds;
int32_t which;

static double now(void)
{
    struct timespec t;
    clock_gettime(which ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

int64_t kernel(const void *runtime, int64_t *words)
{
    double start = now();
    int64_t status = target(runtime, words);
    seconds += now() - start;
    return status;
}
"""


class Clock:
    """Every kernel that weft loads from now on is measured."""

    def __init__(self, directory: Path, processor_time: bool) -> None:
        from weft.runtime import dispatch

        source, self.library = directory / "clock.c", directory / "clock.so"
        source.write_text(_SOURCE, encoding="utf-8")
        compiler = shutil.which("gcc") or shutil.which("cc") or "cc"
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", str(self.library), str(source)], check=True)
        self.processor_time = processor_time
        self._counters: list[ctypes.c_double] = []
        self._load: Any = dispatch.load_kernel
        dispatch.load_kernel = self._loaded

    def _loaded(self, path: Any, symbol: str = "kernel") -> Any:
        found = self._load(path, symbol)
        # A copy under a name of its own has variables of its own.
        copy = self.library.with_name(f"clock-{len(self._counters)}.so")
        shutil.copyfile(self.library, copy)
        between = ctypes.CDLL(str(copy))
        ctypes.c_void_p.in_dll(between, "target").value = found.address
        ctypes.c_int32.in_dll(between, "which").value = self.processor_time
        self._counters.append(ctypes.c_double.in_dll(between, "seconds"))
        address = ctypes.cast(between.kernel, ctypes.c_void_p).value
        assert address
        return dataclasses.replace(found, address=address)

    def take(self) -> float:
        """Seconds inside kernels since the last time."""
        total = sum(counter.value for counter in self._counters)
        for counter in self._counters:
            counter.value = 0.0
        return total
