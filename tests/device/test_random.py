"""Random programs on devices: OpenCL by PoCL, and the text for CUDA on an emulation of blocks and threads. WEFT_FUZZ=n
tries n new ones."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note

import weft
from tests.device import emulation
from tests.fuzz.generator import RandomProgram, programs
from tests.fuzz.test_random_programs import MORE, _agree, budget
from tests.support import function_from_source, opencl_device, outcome
from weft.device.plan import Refused
from weft.errors import WeftError


@pytest.mark.timeout(0 if MORE else 900)
def test_random_programs_on_opencl() -> None:
    opencl_device()
    ran: list[bool] = []

    @given(program=programs())
    @budget(30)
    def agree(program: RandomProgram) -> None:
        function = function_from_source(program.source)
        expected = outcome(function, program.make())
        note(program.source)
        compiled = weft.jit(target="opencl", fallback="silent")(function)
        _agree(outcome(compiled, program.make()), expected, "first call", program)
        _agree(outcome(compiled, program.make()), expected, "second call", program)
        ran.append(any(version.last is not None for version in compiled.versions()))

    agree()
    assert np.mean(ran) > 0.6


class NotComputed(Exception):
    """The program has no form on a device, or its guards or tests failed: Python runs it."""


def _emulated(function: Any) -> Any:
    def call(*arguments: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                done, result = emulation.run(function, arguments, Path(folder))
            except (Refused, WeftError, AssertionError) as reason:
                if "barrier" in str(reason):
                    raise
                raise NotComputed(str(reason)) from reason
        if not done:
            raise NotComputed("a kernel complained")
        return result

    return call


@pytest.mark.skipif(emulation.COMPILER is None, reason="there is no g++")
@pytest.mark.timeout(0 if MORE else 900)
def test_random_programs_in_the_dialect_of_cuda() -> None:
    ran: list[bool] = []

    @given(program=programs())
    @budget(30)
    def agree(program: RandomProgram) -> None:
        function = function_from_source(program.source)
        expected = outcome(function, program.make())
        note(program.source)
        done = outcome(_emulated(function), program.make())
        ran.append(not isinstance(done.error, NotComputed))
        if ran[-1]:
            _agree(done, expected, "emulated", program)

    agree()
    assert np.mean(ran) > 0.4
