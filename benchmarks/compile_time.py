"""The first call. Each program of a selection runs once in a fresh process whose cache knows the compiler and weft's
own native code but no program. "first" is the time from `import weft` to the first result, "next" that of a first call
after another function has been compiled in the process, "disk" the time from `import weft` to the result in a process
that finds the code on disk. numpy and the program itself are imported before. As in an installed package, weft's own
bytecode is there. Each figure is the least of some repetitions. "own" and "compiler" are processor times of "first",
"own disk" that of "disk". `--containers` takes programs over containers instead of numeric kernels. `--steps` tells
where the time of the cold call went, in one process: each step, and the processor time of weft and of the C compiler.

    python benchmarks/compile_time.py [--kernels jacobi_2d,softmax] [--containers] [--repeats 3] [--json FILE] [--steps]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

SELECTION = (
    "jacobi_1d", "jacobi_2d", "heat_3d", "fdtd_2d", "hdiff", "softmax", "matmul", "gesummv", "atax", "mandelbrot",
    "floyd_warshall",
    "forces", "csr_matvec", "crc16", "cholesky", "lu", "trisolve", "seidel_2d", "black_scholes", "histogram",
)  # fmt: skip
#: What is measured.
COLUMNS = ("first", "own", "compiler", "next", "disk", "own disk")


def program(name: str, form: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A program and its arguments."""
    if form == "plain":
        from tests.plain.programs_simulations import CASES

        return next((function, arguments) for function, arguments in CASES if function.__name__ == name)
    from tests.apps.kernels import KERNELS

    kernel = KERNELS[name]
    return kernel.forms[form], tuple(kernel.arguments(form, kernel.medium))


def compilers() -> float:
    """Processor time of the C compiler so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def first_call(name: str, form: str, warm: bool) -> tuple[float, float, float]:
    """Seconds of the first call of a program in this process: wall, own processor time, that of the C compiler."""
    import numpy as np

    function, arguments = program(name, form) if name else (_other, (np.ones(3),))
    if warm:
        import weft

        weft.jit(_other)(np.ones(3))
        weft.jit(_listed)([1, 2], {})
    before = time.perf_counter(), time.process_time(), compilers()
    import weft

    weft.jit(fallback="error")(function)(*arguments)
    after = time.perf_counter(), time.process_time(), compilers()
    wall, own, compiler = (b - a for a, b in zip(before, after))
    return wall, own, compiler


def _other(a):
    return a + 1.0


def _listed(items, found):
    for item in items:
        found[str(item)] = item
    return found


def _child(name: str, form: str, cache: Path, warm: bool) -> list[float] | None:
    environment = {**os.environ, "WEFT_CACHE_DIR": str(cache), "PYTHONPYCACHEPREFIX": str(cache.parent / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, __file__, "--one", name, form, "1" if warm else "0"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        print(f"  {name}-{form}: {(done.stderr.strip().splitlines() or ['died'])[-1][:150]}", file=sys.stderr)
        return None
    return [float(part) for part in done.stdout.strip().splitlines()[-1].split()]


def _measured(name: str, form: str, scratch: Path, repeats: int) -> dict[str, float] | None:
    """The least of some repetitions, each in caches of its own: copies of one that knows the compiler and the core."""
    rows: list[list[float]] = []
    for _ in range(repeats):
        caches = [scratch / kind for kind in ("first", "next")]
        for cache in caches:
            shutil.rmtree(cache, ignore_errors=True)
            shutil.copytree(scratch / "prepared", cache)
        found = [_child(name, form, *how) for how in ((caches[0], False), (caches[1], True), (caches[0], False))]
        first, later, disk = found
        if first is None or later is None or disk is None:
            return None
        rows.append([*first, later[0], *disk[:2]])
    return {column: min(row[place] for row in rows) for place, column in enumerate(COLUMNS)}


def _rows(programs: list[tuple[str, str]], scratch: Path, repeats: int) -> list[dict[str, Any]]:
    _child("", "", scratch / "prepared", True)
    rows: list[dict[str, Any]] = []
    for name, form in programs:
        found = _measured(name, form, scratch, repeats)
        if found is not None:
            rows.append({"kernel": name, "form": form, **found})
            _show(f"{name} {form}", found)
    return rows


def _show(label: str, found: dict[str, float]) -> None:
    print(f"{label:28}" + "".join(f"{1e3 * found[column]:10.0f}" for column in COLUMNS), flush=True)


def steps(names: list[str]) -> None:
    """Milliseconds of each step of compiling, over all kernels and forms, in this process."""
    from collections import Counter

    from tests.apps.kernels import KERNELS
    from weft import pipeline
    from weft.options import Options

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


def _chosen(names: str, containers: bool) -> list[tuple[str, str]]:
    """The programs to measure, by name and form."""
    if containers:
        from tests.plain.programs_simulations import CASES

        return [(function.__name__, "plain") for function, _ in CASES if not names or function.__name__ in names]
    from tests.apps.kernels import KERNELS

    chosen = names.split(",") if names else SELECTION
    return [(name, form) for name in chosen for form in ("numpy", "loops") if form in KERNELS[name].forms]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", default="")
    parser.add_argument("--containers", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--steps", action="store_true")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, form, warm = options.one
        print(*first_call(name, form, warm == "1"))
        return 0
    if options.steps:
        steps(options.kernels.split(",") if options.kernels else list(SELECTION))
        return 0
    print(f"{'milliseconds':28}" + "".join(f"{column:>10}" for column in COLUMNS))
    with tempfile.TemporaryDirectory() as scratch:
        rows = _rows(_chosen(options.kernels, options.containers), Path(scratch), options.repeats)
    if rows:
        _show("median", {column: statistics.median(row[column] for row in rows) for column in COLUMNS})
        _show("largest", {column: max(row[column] for row in rows) for column in COLUMNS})
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
