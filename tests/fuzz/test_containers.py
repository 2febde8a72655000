"""Random sequences of operations on lists, deques, heaps, dicts, sets and lists inside them: the compiled machine
returns, raises and leaves behind what CPython does, and the same objects are in the same places.  The number of
sequences is fixed and the choice reproducible; WEFT_FUZZ=n tries n new ones.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from tests.fuzz.machines import MACHINES
from tests.fuzz.test_random_programs import MORE, budget

_COMPILED: dict[Any, Callable[..., Any]] = {}


def compiled(machine: Callable[..., Any]) -> Callable[..., Any]:
    if machine not in _COMPILED:
        _COMPILED[machine] = weft.jit(fallback="error")(machine)
    return _COMPILED[machine]


def described(value: Any, met: dict[int, int]) -> Any:
    """A value with its types, and which of its lists are one object."""
    if isinstance(value, (list, dict, set)) or hasattr(value, "popleft"):
        if id(value) in met:
            return ("again", met[id(value)])
        met[id(value)] = len(met)
    if isinstance(value, dict):
        return (type(value).__name__, [(described(k, met), described(v, met)) for k, v in value.items()])
    if isinstance(value, set):
        return ("set", sorted(value))
    if isinstance(value, np.ndarray):
        return ("array", value.tolist())
    if isinstance(value, (list, tuple)) or hasattr(value, "popleft"):
        return (type(value).__name__, [described(item, met) for item in value])
    return (type(value).__name__, value)


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What a call gives or raises, and what it leaves behind."""
    try:
        done = ("result", function(*arguments))
    except Exception as problem:
        done = ("raised", (type(problem).__name__, str(problem)))
    return described((list(arguments), done), {})


def operations(codes: int) -> st.SearchStrategy[list[tuple[int, int, int]]]:
    small = st.integers(-1, 5)
    return st.lists(st.tuples(st.integers(0, codes - 1), small, small), min_size=1, max_size=60)


@pytest.mark.parametrize("name", sorted(MACHINES))
@pytest.mark.timeout(0 if MORE else 600)
@given(data=st.data())
@budget(60)
def test_the_same_operations(name: str, data: st.DataObject) -> None:
    machine, start, codes = MACHINES[name]
    steps = data.draw(operations(codes))
    native, plain = (*start(), steps), (*start(), copy.deepcopy(steps))
    assert outcome(compiled(machine), native) == outcome(machine, plain)
