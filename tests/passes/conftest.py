"""What the tests of the passes share: programs as text, and the oracle that a pass must not change."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft.ir import interp, text
from weft.ir.program import Program
from weft.ir.verify import verify
from weft.options import Options
from weft.passes import PassContext

Pass = Callable[[Program, PassContext], Program]


def same(left: Any, right: Any, exact: bool) -> None:
    if isinstance(left, tuple):
        assert isinstance(right, tuple) and len(left) == len(right)
        for a, b in zip(left, right):
            same(a, b, exact)
    elif left is not None:
        assert type(left) is type(right)
        if exact:
            np.testing.assert_array_equal(left, right)
        else:
            np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-12)


class Preserved:
    """Runs passes on a program given as text; every run on arguments compares the interpreter before and after."""

    def __init__(self) -> None:
        self.remarks: list[str] = []

    def __call__(
        self, source: str, *passes: Pass, calls: list[dict[str, Any]], exact: bool = True, fp: str = "numpy"
    ) -> Program:
        before = text.parse(source)
        verify(before)
        context = PassContext(Options(fp=fp))  # type: ignore[arg-type]
        after = before
        for one in passes:
            after = one(after, context)
            verify(after)
            assert text.parse(text.show(after)) == after
        self.remarks = [remark.message for remark in context.log]
        for arguments in calls:
            self.compare(before, after, arguments, exact)
        return after

    def compare(self, before: Program, after: Program, arguments: dict[str, Any], exact: bool) -> None:
        first, second = copy.deepcopy(arguments), copy.deepcopy(arguments)
        try:
            expected = interp.run(before, first)
        except (IndexError, ValueError, ZeroDivisionError) as error:
            with pytest.raises((interp.GuardFailed, type(error))) as caught:
                interp.run(after, second)
            if not isinstance(caught.value, interp.GuardFailed):
                for name in first:
                    same(first[name], second[name], exact)
            return
        same(expected, interp.run(after, second), exact)
        for name in first:
            same(first[name], second[name], exact)


@pytest.fixture
def preserved() -> Preserved:
    return Preserved()


def body_of(program: Program) -> str:
    """The statements alone, one a line."""
    shown = text.show(program)
    return shown.split("\n\n", 1)[1].strip()


@pytest.fixture
def body() -> Callable[[Program], str]:
    return body_of
