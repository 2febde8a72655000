"""Pythran: the same source with the types of the arguments in an `export` comment, compiled ahead of time with OpenMP
for this processor.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from benchmarks.harness.job import Job, Nothing, Prepared
from benchmarks.harness.peers import LOOPS
from benchmarks.harness.sources import gather
from benchmarks.kernels.registry import Arguments, Benchmark

FLAGS = ("-O3", "-march=native", "-fopenmp", "-DUSE_XSIMD")


def prepare(job: Job, benchmark: Benchmark, sample: Arguments) -> Prepared:
    import pythran

    function = benchmark.loops if job.form == LOOPS else benchmark.plain
    if function is None:
        raise Nothing("the kernel has no loop form")
    export = f"#pythran export {function.__name__}({', '.join(map(type_name, sample))})"
    text = gather(function).text(head=export)
    name = "pythran_kernel"
    (job.path / f"{name}.py").write_text(text, encoding="utf-8")
    built = pythran.compile_pythranfile(
        str(job.path / f"{name}.py"), extra_compile_args=list(FLAGS), extra_link_args=["-fopenmp"]
    )
    compiled = getattr(_load(name, built), function.__name__)
    return Prepared(lambda arguments: compiled(*arguments))


def type_name(value: Any) -> str:
    """A type as Pythran's export comments spell it."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name}[{','.join(':' * value.ndim)}]"
    if isinstance(value, np.generic):
        return str(value.dtype.name)
    return type(value).__name__


def _load(name: str, path: str) -> Any:
    import importlib.util

    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
