"""Random programs: the native result equals CPython's, and every pass keeps what the interpreter computes. The number
of programs is fixed and the choice reproducible; WEFT_FUZZ=n tries n new ones.
"""

from __future__ import annotations

import inspect
import os
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, note, settings

import weft
from tests.fuzz.generator import RandomProgram, programs
from tests.support import Outcome, compare, function_from_source, outcome

MORE = int(os.environ.get("WEFT_FUZZ", "0"))


def budget(examples: int) -> settings:
    return settings(
        max_examples=MORE or examples,
        derandomize=not MORE,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink] if MORE else [Phase.generate],
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )


def _agree(actual: Outcome, expected: Outcome, what: str, program: RandomProgram) -> None:
    # A variable set in a loop only under a condition is a NumPy float there, though Python may have left it a float.
    if type(expected.value) is float and type(actual.value) is np.float64:
        actual = replace(actual, value=float(actual.value))
    # Sums may be reassociated; data are chosen so that this seldom shows, and then only in the last places.
    why = compare(actual, expected, 1e-9, zero_signs=False)
    assert why is None, f"{what}: {why}\n{program.source}\n{program}"


@pytest.mark.timeout(0 if MORE else 600)
@given(program=programs())
@budget(100)
def test_native_equals_python(program: RandomProgram) -> None:
    function = function_from_source(program.source)
    expected = outcome(function, program.make())
    note(program.source)
    compiled = weft.jit(fallback="silent")(function)
    _agree(outcome(compiled, program.make()), expected, "first call", program)
    _agree(outcome(compiled, program.make()), expected, "second call", program)


@pytest.mark.timeout(0 if MORE else 600)
@given(program=programs())
@budget(60)
def test_every_pass_preserves_the_interpreters_result(program: RandomProgram) -> None:
    from weft.ir.interp import GuardFailed, IntegerOverflow, run
    from weft.pipeline import stages

    function = function_from_source(program.source)
    expected = outcome(function, program.make())
    names = tuple(inspect.signature(function).parameters)
    try:
        steps = stages(function, program.make())
    except weft.Unsupported:
        return
    for name, stage in steps:

        def interpret(*arguments: Any, stage: Any = stage) -> Any:
            return run(
                stage, {key: value for key, value in zip(names, arguments) if key in stage.params}, order="shuffled"
            )

        done = outcome(interpret, program.make())
        if isinstance(done.error, GuardFailed | IntegerOverflow):
            continue  # plain Python would run
        _agree(done, expected, f"interpreter after {name}", program)


def test_most_random_programs_are_compiled() -> None:
    """Programs that fall back to Python would make the comparison with Python empty."""
    native: list[bool] = []

    @given(program=programs())
    @budget(30)
    def collect(program: RandomProgram) -> None:
        compiled = weft.jit(fallback="silent")(function_from_source(program.source))
        outcome(compiled, program.make())
        native.append(compiled.stats["python_calls"] == 0)

    collect()
    assert np.mean(native) > 0.8


def test_the_generator_makes_programs_that_run() -> None:
    """Most programs end without an exception, and they differ: otherwise the tests above test little."""
    ran: list[bool] = []
    sources: set[str] = set()

    @given(program=programs())
    @settings(max_examples=60, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def collect(program: RandomProgram) -> None:
        done = outcome(function_from_source(program.source), program.make())
        assert not isinstance(done.error, SyntaxError | NameError | AttributeError), program.source
        ran.append(done.error is None)
        sources.add(program.source)

    collect()
    assert np.mean(ran) > 0.7
    assert len(sources) > 40
