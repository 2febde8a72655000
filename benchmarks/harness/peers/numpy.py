"""NumPy itself: the kernel as it stands, run by the interpreter."""

from __future__ import annotations

from benchmarks.harness.job import Job, Prepared
from benchmarks.kernels.registry import Arguments, Benchmark


def prepare(job: Job, benchmark: Benchmark, sample: Arguments) -> Prepared:
    return Prepared(lambda arguments: benchmark.plain(*arguments))
