"""JAX on the processor, in double precision where NumPy is: a port of `benchmarks/ports` if there is one, else one by
rule, its loops rolled or, where that cannot be traced, unrolled. Integers are static; the memory of written arguments
is donated. Copies to and from the device are not timed, and a call ends when its results are ready.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.job import BY_HAND, BY_RULE, Job, Nothing, Prepared
from benchmarks.harness.peers import PORT, ROLLED, jax_rule
from benchmarks.harness.sources import gather, load_text
from benchmarks.kernels.registry import Arguments, Benchmark


def prepare(job: Job, benchmark: Benchmark, sample: Arguments) -> Prepared:
    import jax

    gathered = gather(benchmark.plain)
    signature = jax_rule.signatures(gathered)[gathered.name]
    written = [signature.parameters.index(name) for name in signature.written]
    donated = [position for position in written if isinstance(sample[position], np.ndarray)]
    if job.form == PORT:
        from benchmarks.ports import jax_port

        function = jax_port(job.kernel)
        if function is None:
            raise Nothing("the kernel has no port by hand")
    else:
        text = jax_rule.port(gathered, rolled=job.form == ROLLED)
        function = getattr(load_text(text, job.path, "jax_kernel"), gathered.name)
    static = [position for position, value in enumerate(sample) if isinstance(value, int)]
    jitted = jax.jit(function, static_argnums=static, donate_argnums=donated)
    dynamic = [position for position in range(len(sample)) if position not in static]

    def stage(arguments: Arguments) -> Any:
        moved = tuple(jax.device_put(arguments[position]) for position in dynamic)
        return arguments, jax.block_until_ready(moved)

    def call(staged: Any) -> Any:
        return jax.block_until_ready(compiled(*staged[1]))

    def finish(result: Any, staged: Any) -> tuple[Any, Arguments]:
        value, changed = jax.tree.map(np.asarray, result)
        arguments = list(staged[0])
        for position, array in zip(written, changed):
            arguments[position] = array
        return value, tuple(arguments)

    filled = list(sample)
    for position, array in zip(dynamic, stage(sample)[1]):
        filled[position] = array
    compiled = jitted.lower(*filled).compile()
    return Prepared(call, BY_HAND if job.form == PORT else BY_RULE, stage, finish)
