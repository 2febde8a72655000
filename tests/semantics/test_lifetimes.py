"""No argument lives longer because weft has seen it: not as a sample, a key, or in the frames of a refusal."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest

import weft


class Body:
    def __init__(self):
        self.mass = 2.0
        self.place = np.arange(5.0)


class Node:
    def __init__(self):
        self.count = 3
        self.names = ["a", "b"]


def total(x):
    t = 0.0
    for v in x:
        t += v
    return t


def nested_total(x):
    t = 0.0
    for row in x:
        for v in row:
            t += v
    return t


def doubled(x):
    return (x * 2).sum()


def looked_up(x):
    t = 0
    for k in x:
        t += x[k]
    return t


def attributes(x):
    return x.place.sum() + x.mass


def counted(x):
    t = 0
    for i in range(x.count):
        t += i * len(x.names)
    return t


def refused(x):
    found = sys._getframe().f_code.co_name
    for _ in range(3):
        found += str(type(x))
    return found


def joined(x):
    return "".join(sorted(x))


CASES = {
    "list": (total, lambda: [1.0 * i for i in range(1000)]),
    "list of lists": (nested_total, lambda: [[1.0 * i] for i in range(100)]),
    "large array": (doubled, lambda: np.zeros(1000)),
    "small array": (doubled, lambda: np.zeros(10)),
    "dict": (looked_up, lambda: {i: i for i in range(100)}),
    "object with arrays": (attributes, Body),
    "object": (counted, Node),
    "list of arrays": (nested_total, lambda: [np.zeros(4) for _ in range(4)]),
    "list of strings": (joined, lambda: [f"a{i}" for i in range(100)]),
    "refused list": (refused, lambda: [1, 2, 3]),
    "refused object": (refused, Node),
    "refused object with arrays": (refused, Body),
}


def references(x):
    gc.collect()
    return sys.getrefcount(x)


@pytest.mark.parametrize("name", CASES)
def test_a_call_keeps_no_reference_to_its_arguments(name, tmp_path, monkeypatch):
    function, make = CASES[name]
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path))
    for _ in range(2):  # the second time from the disk cache
        compiled = weft.jit(fallback="silent")(function)
        x = make()
        before = references(x)
        for _ in range(3):
            compiled(x)
        assert references(x) == before


def test_a_version_can_be_made_again_without_its_arguments():
    compiled = weft.jit(fallback="silent", cache=False)(attributes)
    compiled(Body())
    compiled.explain()
    assert "place" in compiled.inspect("ir")
    assert compiled.program(Body()) is not None
    assert compiled(Body()) == attributes(Body())
