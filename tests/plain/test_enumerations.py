"""Members of enumerations by name."""

from __future__ import annotations

import enum
from typing import Any

import pytest

import weft
from tests.plain.kernels import load

pytestmark = [pytest.mark.native, pytest.mark.skipif(not load(), reason="no run time of plain Python here")]


class Colour(enum.Enum):
    RED = 1
    GREEN = 2
    BLUE = "b"
    CRIMSON = 1  # another name of RED


def counted(names: list[str]) -> Any:
    found: dict[Any, int] = {}
    for name in names:
        found[Colour[name]] = found.get(Colour[name], 0) + 1
    return found, Colour["RED"]


def caught(names: list[str]) -> Any:
    found = []
    for name in names:
        try:
            found.append(Colour[name].value)
        except KeyError as problem:
            found.append(str(problem))
    return found


@pytest.mark.parametrize("function", [counted, caught])
def test_members_by_name(function: Any) -> None:
    compiled = weft.jit(function, fallback="silent")
    for names in (["RED", "BLUE"], ["CRIMSON", "RED", "GREEN"], ["NONE"], [], ["GREEN"]):
        try:
            expected = repr(function(names))
        except KeyError as problem:
            with pytest.raises(KeyError) as ours:
                compiled(names)
            assert ours.value.args == problem.args
            continue
        assert repr(compiled(names)) == expected
    assert any(compiled.stats["calls"].values()), compiled.stats
