"""Numba: the same source, `@njit` on the kernel and on the functions it calls; with `parallel=True` as well, and there
the loops with `prange` that a user of Numba writes by hand.
"""

from __future__ import annotations

import warnings

from benchmarks.harness.job import BY_HAND, SAME, Job, Nothing, Prepared
from benchmarks.harness.peers import HAND, LOOPS
from benchmarks.harness.sources import gather, load_text
from benchmarks.kernels.registry import Arguments, Benchmark


def prepare(job: Job, benchmark: Benchmark, sample: Arguments) -> Prepared:
    import numba

    parallel = job.framework == "numba-parallel"
    function = {LOOPS: benchmark.loops, HAND: benchmark.parallel}.get(job.form, benchmark.plain)
    if function is None:
        raise Nothing(f"the kernel has no {job.form}")
    decorator = "@numba.njit(parallel=True)" if parallel else "@numba.njit"
    text = gather(function).text(decorator, "import numba")
    warnings.simplefilter("ignore", numba.NumbaPerformanceWarning)
    compiled = getattr(load_text(text, job.path, "numba_kernel"), function.__name__)
    compiled.compile(tuple(numba.typeof(value) for value in sample))
    return Prepared(lambda arguments: compiled(*arguments), BY_HAND if job.form == HAND else SAME)
