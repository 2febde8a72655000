"""Objects that a function makes and returns: their containers are Python's, by either compiler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import weft


@dataclass
class Held:
    flag: bool
    table: dict[int, int]
    rows: list[list[int]]


def made(b: bool) -> Any:
    return Held(True, {2: 1}, [[1], [2, 3]]) if b else Held(False, {}, [])


@pytest.mark.parametrize("plain", ["0", "1"])
def test_containers_of_an_object_that_is_returned(plain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_PLAIN", plain)
    compiled = weft.jit(made, fallback="silent")
    for given in (True, False):
        assert compiled(given) == made(given)
        assert type(compiled(given).table) is dict
