"""Arguments that refer to each other in long chains: longer than Python's own recursion could follow."""

from __future__ import annotations

import pytest

from weft.plain.function import Native
from weft.plain.runtime import load

pytestmark = pytest.mark.skipif(load() is None, reason="no C compiler")
LONG = 3000


class Cell:
    def __init__(self, value, following=None):
        self.value = value
        self.following = following
        self.readers = []


def through_objects(cell):
    total = 0
    while cell is not None:
        total += cell.value
        cell.value += 1
        cell = cell.following
    return total


def through_lists(cell):
    total = 0
    while cell.readers:
        total += cell.value * len(cell.readers)
        cell = cell.readers[-1]
    return total


def through_dicts(table):
    name, steps = "0", 0
    while table[name].following is not None:
        name = str(table[name].following.value)
        steps += 1
    return steps


def chain():
    cell = None
    for k in range(LONG, 0, -1):
        cell = Cell(k - 1, cell)
    return cell


def graph():
    cells = [Cell(k) for k in range(LONG)]
    for k in range(LONG):
        cells[k].readers = cells[k + 1 : k + 3]
    return cells[0]


def table():
    found, cell = {}, chain()
    while cell is not None:
        found[str(cell.value)] = cell
        cell = cell.following
    return found


@pytest.mark.parametrize("function, make", [(through_objects, chain), (through_lists, graph), (through_dicts, table)])
def test_long_chains_of_arguments(function, make):
    native = Native(function)
    given, plain = make(), make()
    native.extend((given,))
    for _ in range(2):
        assert native(given) == function(plain)
    assert native.versions[0].calls == 2
