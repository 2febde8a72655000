"""Everyday programs on containers do under weft what they do in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.semantics.everyday import same
from tests.semantics.everyday_programs import CASES


@pytest.mark.parametrize(("function", "calls"), CASES, ids=[function.__name__ for function, _ in CASES])
def test_program(function: Callable[..., Any], calls: tuple[tuple[Any, ...], ...]) -> None:
    same(function, *calls, rounds=1)
