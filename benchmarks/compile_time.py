"""The first call. Each kernel of a selection of the corpus is called once in a fresh process with an empty cache,
after another function has been compiled there ("cold"), and again in a fresh process that finds the code on disk
("from disk"); `process` is the same cold call as the very first thing the process does.

    python benchmarks/compile_time.py [--kernels jacobi_2d,softmax] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
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

    kernel = KERNELS[name]
    arguments = kernel.arguments(form, kernel.medium)
    if warm:
        import numpy as np

        weft.jit(_other)(np.ones(3))
    function = weft.jit(fallback="error")(kernel.forms[form])
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def _other(a):
    return a + 1.0


def _child(name: str, form: str, cache: str, warm: bool) -> float | None:
    environment = {**os.environ, "WEFT_CACHE_DIR": cache}
    command = [sys.executable, __file__, "--one", name, form, "1" if warm else "0"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        print(f"  {name}-{form}: {(done.stderr.strip().splitlines() or ['died'])[-1][:150]}", file=sys.stderr)
        return None
    return float(done.stdout.strip().splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", default=",".join(SELECTION))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, form, warm = options.one
        print(first_call(name, form, warm == "1"))
        return 0
    from tests.apps.kernels import KERNELS

    print(f"{'milliseconds':28}{'process':>10}{'cold':>10}{'from disk':>10}")
    rows = []
    for name in options.kernels.split(","):
        for form in [form for form in ("numpy", "loops") if form in KERNELS[name].forms]:
            with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
                process = _child(name, form, one, False)
                cold = _child(name, form, other, True)
                disk = _child(name, form, other, True)
            if process is None or cold is None or disk is None:
                continue
            rows.append({"kernel": name, "form": form, "process": process, "cold": cold, "disk": disk})
            print(f"{name + ' ' + form:28}{1e3 * process:10.0f}{1e3 * cold:10.0f}{1e3 * disk:10.1f}", flush=True)
    if rows:
        median = {key: statistics.median(float(row[key]) for row in rows) for key in ("process", "cold", "disk")}
        print(f"{'median':28}{1e3 * median['process']:10.0f}{1e3 * median['cold']:10.0f}{1e3 * median['disk']:10.1f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
