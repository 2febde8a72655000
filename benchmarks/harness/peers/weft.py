"""weft: the kernel as it stands. Everything must be native: falling back to Python would be a stated failure."""

from __future__ import annotations

from benchmarks.harness.job import Job, Nothing, Prepared
from benchmarks.harness.peers import LOOPS
from benchmarks.kernels.registry import Arguments, Benchmark


def prepare(job: Job, benchmark: Benchmark, sample: Arguments) -> Prepared:
    from weft.api import jit

    function = benchmark.loops if job.form == LOOPS else benchmark.plain
    if function is None:
        raise Nothing("the kernel has no loop form")
    compiled = jit(fallback="error")(function)
    return Prepared(lambda arguments: compiled(*arguments))
