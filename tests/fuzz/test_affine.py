"""Random affine programs: every pass keeps what the interpreter computes, in any order of parallel iterations, and the
native result equals CPython's, also for a second size of the arguments.  The number of programs is fixed and the choice
reproducible; WEFT_FUZZ=n tries n new ones.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note

import weft
from tests.fuzz.affine import AffineProgram, affine_programs
from tests.fuzz.lowered import lowered
from tests.fuzz.test_random_programs import MORE, budget
from tests.support import Outcome, arrays_in, compare, function_from_source, outcome

# Beyond this the fractions are no longer exact in a double, and sums depend on their order.
LARGEST = 2.0**40


def _exact(done: Outcome) -> bool:
    numbers = [np.asarray(x) for x in (*arrays_in(done.value), *arrays_in(done.arguments)) if x is not None]
    numbers = [x for x in numbers if x.dtype.kind == "f" and x.size]
    return all(bool(np.all(np.abs(x) < LARGEST)) for x in numbers)


def _plain(value: Any) -> Any:
    """Numbers that Python may have left a float or a NumPy float, by which way a loop went, compare as numbers."""
    if isinstance(value, tuple):
        return tuple(_plain(item) for item in value)
    return value.item() if isinstance(value, np.generic) else value


def _agree(actual: Outcome, expected: Outcome, what: str, program: AffineProgram) -> None:
    actual, expected = (replace(done, value=_plain(done.value)) for done in (actual, expected))
    why = compare(actual, expected, 1e-9, zero_signs=False)
    assert why is None, f"{what}: {why}\n{program.source}\n{program}"


@pytest.mark.timeout(0 if MORE else 600)
@given(program=affine_programs())
@budget(60)
def test_native_equals_python(program: AffineProgram) -> None:
    _native(program)


@pytest.mark.timeout(0 if MORE else 600)
@given(program=affine_programs())
@budget(40)
def test_every_pass_preserves_the_interpreters_result(program: AffineProgram) -> None:
    _interpreted(program)


@pytest.mark.timeout(0 if MORE else 600)
@given(program=affine_programs())
@budget(40)
def test_native_equals_python_on_the_ways_of_large_programs(program: AffineProgram) -> None:
    with lowered():
        _native(program)


@pytest.mark.timeout(0 if MORE else 600)
@given(program=affine_programs())
@budget(40)
def test_every_pass_on_the_ways_of_large_programs(program: AffineProgram) -> None:
    with lowered():
        _interpreted(program)


def _native(program: AffineProgram) -> None:
    function = function_from_source(program.source)
    note(program.source)
    # Not from the disk: its keys do not tell the limits apart.
    compiled = weft.jit(fallback="silent", cache=False)(function)
    for size in program.sizes:
        expected = outcome(function, program.make(size))
        if _exact(expected):
            _agree(outcome(compiled, program.make(size)), expected, f"native, size {size}", program)


def _interpreted(program: AffineProgram) -> None:
    from weft.ir.interp import GuardFailed, IntegerOverflow, run
    from weft.pipeline import stages

    function = function_from_source(program.source)
    names = tuple(inspect.signature(function).parameters)
    try:
        steps = stages(function, program.make(program.sizes[0]))
    except weft.Unsupported:
        return
    for size in program.sizes:
        expected = outcome(function, program.make(size))
        if not _exact(expected):
            continue
        for name, stage in steps:

            def interpret(*arguments: Any, stage: Any = stage) -> Any:
                values = {key: value for key, value in zip(names, arguments) if key in stage.params}
                return run(stage, values, order="shuffled")

            done = outcome(interpret, program.make(size))
            if isinstance(done.error, GuardFailed | IntegerOverflow):
                continue  # plain Python would run
            _agree(done, expected, f"interpreter after {name}, size {size}", program)


def test_affine_programs_are_native() -> None:
    """Programs that fall back to Python would make the comparison with Python empty."""
    native: list[bool] = []

    @given(program=affine_programs())
    @budget(20)
    def collect(program: AffineProgram) -> None:
        compiled = weft.jit(fallback="silent")(function_from_source(program.source))
        outcome(compiled, program.make(program.sizes[0]))
        native.append(compiled.stats["python_calls"] == 0)

    collect()
    assert np.mean(native) > 0.9
