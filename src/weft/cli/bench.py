"""`weft bench`.  In: its options; out: the exit code of the harness in `benchmarks/`, which lies beside `src` in a
checkout and is no part of an installed weft.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

import weft


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kernels", metavar="NAMES", help="separated by commas (default: all)")
    parser.add_argument(
        "--size", default="M", choices=("tiny", "S", "M", "L"), help="about 10 ms, 100 ms, 1 s of NumPy"
    )
    peers = "separated by commas, of numba, numba-parallel, pythran, jax, dace; or all, or none (default: all)"
    parser.add_argument("--peers", metavar="NAMES", help=peers)
    parser.add_argument("--threads", type=int, default=2, help="for every library (2)")
    parser.add_argument("--seconds", type=float, default=1.5, help="of repeats for each attempt (1.5)")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a first call, compiling included (60)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything here, after each kernel")
    parser.add_argument("--resume", action="store_true", help="go on with the run in the file of --json")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="a heat map as PNG")
    parser.add_argument("--against", metavar="COMMIT", help="compare with weft of another commit")
    parser.add_argument("--calibrate", action="store_true", help="only print NumPy's times at each size")


def find_root() -> Path | None:
    """The checkout with the benchmarks: where we are, or where this weft lies."""
    places = (Path.cwd(), Path(weft.__file__).resolve().parents[2])
    return next((place for place in places if (place / "benchmarks" / "harness").is_dir()), None)


def run(options: argparse.Namespace) -> int | None:
    """The exit code, or None if there are no benchmarks here."""
    root = find_root()
    if root is None:
        return None
    sys.path.insert(0, str(root))
    code: int = importlib.import_module("benchmarks.harness.command").main(options)
    return code
