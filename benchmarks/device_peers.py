"""Devices: weft's functions against kernels written by hand for pyopencl, on arrays that are on the device.

    python -m benchmarks.device_peers [--seconds 0.3] [--json FILE]

Ten shapes: element-wise expressions (`ElementwiseKernel`) and reductions (`ReductionKernel`), small and large, one and
two dimensions.  Both sides get arrays of pyopencl and leave results there; a round is a call and the end of the queue.
The answers are compared first.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

import weft


@dataclass(frozen=True)
class Case:
    """`plain` in NumPy; `theirs` makes the function that a person writes for pyopencl."""

    name: str
    shapes: tuple[tuple[int, ...], ...]
    plain: Callable[..., Any]
    theirs: Callable[[Any], Callable[..., Any]]
    dtype: Any = np.float64


def _axpy(a: Any, b: Any) -> Any:
    return a * 2.0 + b * b - 1.0


def _chain(a: Any, b: Any) -> Any:
    return np.sqrt(a * a + b * b) / (1.0 + np.abs(a - b))


def _wave(a: Any, b: Any) -> Any:
    return np.exp(-a * a) * b


def _clip(a: Any, b: Any) -> Any:
    return np.where(a > b, a - b, 0.0)


def _total(a: Any) -> Any:
    return np.sum(a)


def _squares(a: Any, b: Any) -> Any:
    return np.sum((a - b) * (a - b))


def _largest(a: Any) -> Any:
    return np.max(a)


def _elementwise(expression: str) -> Callable[[Any], Callable[..., Any]]:
    def made(queue: Any) -> Callable[..., Any]:
        from pyopencl.array import empty_like
        from pyopencl.elementwise import ElementwiseKernel

        kernel = ElementwiseKernel(queue.context, "double *z, double *a, double *b", f"z[i] = {expression}", "theirs")

        def call(a: Any, b: Any) -> Any:
            out = empty_like(a)
            kernel(out, a, b)
            return out

        return call

    return made


def _reduction(neutral: str, reduce: str, mapped: str, arguments: str) -> Callable[[Any], Callable[..., Any]]:
    def made(queue: Any) -> Callable[..., Any]:
        from pyopencl.reduction import ReductionKernel

        kernel = ReductionKernel(
            queue.context, np.float64, neutral=neutral, reduce_expr=reduce, map_expr=mapped, arguments=arguments
        )
        return lambda *given: kernel(*given)

    return made


_ONE, _TWO = "double *a", "double *a, double *b"
_AXPY = _elementwise("a[i] * 2.0 + b[i] * b[i] - 1.0")
_SUM = _reduction("0", "a+b", "a[i]", _ONE)
CASES = (
    Case("a * 2 + b * b - 1, 1,000", ((1000,),) * 2, _axpy, _AXPY),
    Case("a * 2 + b * b - 1, 1,000,000", ((1_000_000,),) * 2, _axpy, _AXPY),
    Case(
        "sqrt(a * a + b * b) / (1 + |a - b|), 500 x 500",
        ((500, 500),) * 2,
        _chain,
        _elementwise("sqrt(a[i] * a[i] + b[i] * b[i]) / (1.0 + fabs(a[i] - b[i]))"),
    ),
    Case("exp(-a * a) * b, 200,000", ((200_000,),) * 2, _wave, _elementwise("exp(-a[i] * a[i]) * b[i]")),
    Case("a - b where a > b, 1000 x 300", ((1000, 300),) * 2, _clip, _elementwise("a[i] > b[i] ? a[i] - b[i] : 0.0")),
    Case("a * 2 + b * b - 1, 3,000,000", ((3_000_000,),) * 2, _axpy, _AXPY),
    Case("sum, 10,000", ((10_000,),), _total, _SUM),
    Case("sum, 2,000,000", ((2_000_000,),), _total, _SUM),
    Case(
        "sum of squares of differences, 300,000",
        ((300_000,),) * 2,
        _squares,
        _reduction("0", "a+b", "(a[i] - b[i]) * (a[i] - b[i])", _TWO),
    ),
    Case("max, 1,000,000", ((1_000_000,),), _largest, _reduction("-INFINITY", "fmax(a, b)", "a[i]", _ONE)),
)


def _taken(call: Callable[[], Any], seconds: float) -> float:
    best, end = math.inf, perf_counter() + seconds
    while perf_counter() < end:
        start = perf_counter()
        call()
        best = min(best, perf_counter() - start)
    return best


def _number(value: Any) -> Any:
    return value.get() if hasattr(value, "get") else np.asarray(value)


def measured(case: Case, seconds: float) -> dict[str, Any]:
    """One row: seconds of weft and of the kernel written by hand, a call on resident arrays."""
    from pyopencl import array

    from weft.device import opencl

    device = opencl.current()
    rng = np.random.default_rng(7)
    here = [rng.random(shape) for shape in case.shapes]
    there = [array.to_device(device.queue, value) for value in here]
    ours, theirs = weft.jit(case.plain, target="opencl", fallback="error"), case.theirs(device.queue)
    expected = case.plain(*here)
    for call in (ours, theirs):
        assert np.allclose(_number(call(*there)), expected, rtol=1e-10), case.name
    reduces = np.ndim(expected) == 0

    def round_of(call: Callable[..., Any]) -> Callable[[], Any]:
        def ended() -> None:
            result = call(*there)
            if reduces:
                _number(result)  # a person looks at a sum
            device.queue.finish()

        return ended

    return {
        "case": case.name,
        "weft": _taken(round_of(ours), seconds),
        "by hand": _taken(round_of(theirs), seconds),
    }


def main(given: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.3, help="for each side of each case")
    parser.add_argument("--cases", type=int, default=len(CASES))
    parser.add_argument("--json", default="")
    parsed = parser.parse_args(given)
    rows = [measured(case, parsed.seconds) for case in CASES[: parsed.cases]]
    print(f"{'us a call, arrays on the device':<50}{'weft':>10}{'by hand':>10}{'ratio':>8}")
    for row in rows:
        times = f"{row['weft'] * 1e6:>10.0f}{row['by hand'] * 1e6:>10.0f}"
        print(f"{row['case']:<50}{times}{row['by hand'] / row['weft']:>8.2f}")
    ahead = sum(row["weft"] < row["by hand"] for row in rows)
    print(f"weft is ahead on {ahead} of {len(rows)}")
    if parsed.json:
        with open(parsed.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
