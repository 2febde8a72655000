"""Core against its oracle: the printed Core of a function, run by CPython, does what the function does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plain import specimens_expressions, specimens_flow  # noqa: F401 (they add to the table)
from tests.plain.oracle import outcome, recompiled
from tests.plain.specimens import CASES


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=[function.__name__ for function, _ in CASES])
def test_specimen(function: Any, arguments: tuple[Any, ...]) -> None:
    expected = outcome(function, arguments)
    assert outcome(recompiled(function), arguments) == expected
