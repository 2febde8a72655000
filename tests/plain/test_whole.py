"""Whole programs as plain Python: what `weft run` asks of the compiler."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from weft.plain import infer
from weft.plain.emit import Writer

_PROGRAMS = Path(__file__).parents[2] / "benchmarks" / "whole"


def _generated(function, arguments):
    unit, root = infer.infer(function, [(value,) for value in arguments])
    return Writer(unit).source(root, [held.value for held in unit.hidden.values()])


@pytest.mark.parametrize(
    ("program", "name", "arguments"),
    [
        ("scheduler", "simulate", (100,)),
        ("constraints", "experiment", (10, 2)),
        ("spectral_norm", "both", ([1.0] * 4,)),
        ("queens", "solutions", (4,)),
    ],
)
def test_the_same_function_gives_the_same_c_in_every_process(monkeypatch, program, name, arguments):
    monkeypatch.syspath_prepend(str(_PROGRAMS))
    monkeypatch.delitem(sys.modules, program, raising=False)
    function = getattr(__import__(program), name)
    first = _generated(function, arguments)
    kept = []
    for count in (10, 1000, 3000):  # other addresses
        kept.append([object() for _ in range(count)])
        assert _generated(function, arguments) == first
