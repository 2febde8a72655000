"""The first call. Each kernel of a selection of the corpus is called once in a fresh process whose cache knows the
compiler and the native core but no kernel, after another function has been compiled there ("cold"), and again in a
fresh process that finds the code on disk ("from disk"); `process` is the same cold call as the very first thing the
process does. As in an installed package, weft's own bytecode is there. `--steps` tells where the time of the cold call
went, in one process: each step, and the processor time of weft and of the C compiler.

    python benchmarks/compile_time.py [--kernels jacobi_2d,softmax] [--json FILE] [--steps]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

SELECTION = (
    "jacobi_1d", "jacobi_2d", "heat_3d", "fdtd_2d", "hdiff", "softmax", "matmul", "gesummv", "atax", "mandelbrot",
    "floyd_warshall",
    "forces", "csr_matvec", "crc16", "cholesky", "lu", "trisolve", "seidel_2d", "black_scholes", "histogram",
)  # fmt: skip


def first_call(name: str, form: str, warm: bool) -> float:
    """Seconds of the first call of a kernel in this process."""
    import weft
    from tests.apps.kernels import KERNELS

    if warm:
        import numpy as np

        weft.jit(_other)(np.ones(3))
    if not name:
        return 0.0
    kernel = KERNELS[name]
    arguments = kernel.arguments(form, kernel.medium)
    function = weft.jit(fallback="error")(kernel.forms[form])
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def _other(a):
    return a + 1.0


def _child(name: str, form: str, cache: str, warm: bool) -> float | None:
    environment = {**os.environ, "WEFT_CACHE_DIR": cache, "PYTHONPYCACHEPREFIX": str(Path(cache).parent / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, __file__, "--one", name, form, "1" if warm else "0"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        print(f"  {name}-{form}: {(done.stderr.strip().splitlines() or ['died'])[-1][:150]}", file=sys.stderr)
        return None
    return float(done.stdout.strip().splitlines()[-1])


def _rows(names: list[str], scratch: Path) -> list[dict[str, object]]:
    """Each kernel and form measured in caches of its own, copies of one that knows the compiler and the core."""
    from tests.apps.kernels import KERNELS

    prepared = scratch / "prepared"
    _child("", "", str(prepared), True)
    rows: list[dict[str, object]] = []
    for name in names:
        for form in [form for form in ("numpy", "loops") if form in KERNELS[name].forms]:
            caches = [scratch / kind for kind in ("process", "cold")]
            for cache in caches:
                shutil.rmtree(cache, ignore_errors=True)
                shutil.copytree(prepared, cache)
            process = _child(name, form, str(caches[0]), False)
            cold = _child(name, form, str(caches[1]), True)
            disk = _child(name, form, str(caches[1]), True)
            if process is None or cold is None or disk is None:
                continue
            rows.append({"kernel": name, "form": form, "process": process, "cold": cold, "disk": disk})
            print(f"{name + ' ' + form:28}{1e3 * process:10.0f}{1e3 * cold:10.0f}{1e3 * disk:10.1f}", flush=True)
    return rows


def steps(names: list[str]) -> None:
    """Milliseconds of each step of compiling, over all kernels and forms, in this process."""
    import resource
    from collections import Counter

    from tests.apps.kernels import KERNELS
    from weft import pipeline
    from weft.options import Options

    def compilers() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    options = Options(fallback="error", cache=False)
    total: Counter[str] = Counter()
    print(f"{'milliseconds':28}{'wall':>8}{'weft':>8}{'compiler':>10}{'lines':>8}")
    for name in names:
        kernel = KERNELS[name]
        for form in [form for form in ("numpy", "loops") if form in kernel.forms]:
            arguments = kernel.arguments(form, kernel.medium)
            before = time.perf_counter(), time.process_time(), compilers()
            compiled = pipeline.compile(kernel.forms[form], arguments, options)
            after = time.perf_counter(), time.process_time(), compilers()
            wall, own, compiler = (1e3 * (b - a) for a, b in zip(before, after))
            lines = len((compiled.c_source or "").splitlines())
            print(f"{name + ' ' + form:28}{wall:8.0f}{own:8.0f}{compiler:10.0f}{lines:8}", flush=True)
            total.update(compiled.seconds)
    print("  ".join(f"{step} {1e3 * seconds:.0f}" for step, seconds in total.most_common()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", default=",".join(SELECTION))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--steps", action="store_true")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, form, warm = options.one
        print(first_call(name, form, warm == "1"))
        return 0
    if options.steps:
        steps(options.kernels.split(","))
        return 0
    print(f"{'milliseconds':28}{'process':>10}{'cold':>10}{'from disk':>10}")
    with tempfile.TemporaryDirectory() as scratch:
        rows = _rows(options.kernels.split(","), Path(scratch))
    if rows:
        median = {key: statistics.median(float(str(row[key])) for row in rows) for key in ("process", "cold", "disk")}
        print(f"{'median':28}{1e3 * median['process']:10.0f}{1e3 * median['cold']:10.0f}{1e3 * median['disk']:10.1f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
