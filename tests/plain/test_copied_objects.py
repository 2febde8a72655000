"""Classes whose objects were copied or pickled: both leave a note in the class, which changes nothing."""

from __future__ import annotations

import copy
import pickle
from collections import namedtuple
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

import weft
from tests.plain.kernels import load

pytestmark = [pytest.mark.native, pytest.mark.skipif(not load(), reason="no run time of plain Python here")]

Point = namedtuple("Point", "x y")


class Place(NamedTuple):
    x: int
    y: int


@dataclass
class Data:
    x: int
    y: int


class Plain:
    def __init__(self, x: int, y: int) -> None:
        self.x, self.y = x, y


def sums(points: Any) -> Any:
    found: dict[int, int] = {}
    for p in points:
        found[p.x] = found.get(p.x, 0) + p.y
    return found, points[0]


@pytest.mark.parametrize("cls", [Point, Place, Data, Plain])
def test_classes_stay_native_when_objects_are_copied(cls: Any) -> None:
    points = [cls(1, 2), cls(3, 4), cls(1, 5)]
    before, after = weft.jit(sums, fallback="silent"), weft.jit(sums, fallback="silent")
    for _ in range(2):
        assert before(points)[0] == {1: 7, 3: 4}
    copy.deepcopy(points)
    pickle.loads(pickle.dumps(points))
    for function in (before, after):
        for _ in range(2):
            found, first = function(points)
            assert found == {1: 7, 3: 4} and first is points[0]
        assert list(function.stats["calls"]) == [f"(points: list[{cls.__name__}])"], function.stats
