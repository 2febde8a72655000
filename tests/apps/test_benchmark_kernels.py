"""Every kernel of the benchmarks, in every form, gives what Python gives at a tiny size, natively but for a few;
and the forms of a kernel are the same mathematics.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from benchmarks.kernels import BENCHMARKS, BY_NAME, NAMES
from benchmarks.kernels.registry import Benchmark, forms_agree
from tests.support import same_as_plain

CASES = [
    (benchmark, form)
    for benchmark in BENCHMARKS
    for form in ("numpy", "loops", "lists")
    if form == "numpy" or (benchmark.loops is not None and (form == "loops" or benchmark.lists))
]


#: Forms that are not native as a whole, and why; the rest of each still is.
PARTLY: dict[tuple[str, str], str] = {}


def _nested(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize(("benchmark", "form"), CASES, ids=[f"{benchmark.name}-{form}" for benchmark, form in CASES])
def test_benchmark_equals_plain_python(benchmark: Benchmark, form: str) -> None:
    function = benchmark.plain if form == "numpy" else benchmark.loops
    assert function is not None

    def make() -> tuple[Any, ...]:
        arguments = benchmark.arguments("tiny")
        return tuple(_nested(value) for value in arguments) if form == "lists" else arguments

    native = (benchmark.name, form) not in PARTLY
    compiled = weft.jit(fallback="error" if native else "silent")(function)
    same_as_plain(compiled, function, make, benchmark.tolerance)
    assert (compiled.stats["python_calls"] == 0) == native


@pytest.mark.parametrize("name", [name for name, benchmark in BY_NAME.items() if benchmark.loops is not None])
def test_forms_are_the_same_mathematics(name: str) -> None:
    assert forms_agree(BY_NAME[name], "tiny")


def test_each_benchmark_has_one_name_and_every_size() -> None:
    assert len(BY_NAME) == len(BENCHMARKS) and list(NAMES) == sorted(NAMES)
    for benchmark in BENCHMARKS:
        assert set(benchmark.sizes) == {"tiny", "S", "M", "L"}
