"""What the benchmark of sparse programs leaves out, and how often it repeats."""

import pytest

pytest.importorskip("scipy")

from benchmarks.sparse import __main__ as command  # noqa: E402
from benchmarks.sparse.measure import LEFT_OUT, Column, _take_turns  # noqa: E402


def _result(**seconds):
    return {"rows": 10, "columns": {name: {"times": [value], "problem": ""} for name, value in seconds.items()}}


def test_what_is_quick_is_measured():
    assert command._left_out(_result(scipy=0.01, weft=0.001), 10.0, 15.0) == ("", [])
    assert command._left_out(None, 10.0, 15.0) == ("", [])


def test_a_slow_column_is_left_out_alone():
    assert command._left_out(_result(scipy=0.01, graphblas=1.0), 10.0, 15.0) == ("", ["graphblas"])
    again = {"rows": 10, "columns": {"scipy": {"times": [0.01]}, "graphblas": {"problem": LEFT_OUT}}}
    assert command._left_out(again, 10.0, 15.0) == ("", ["graphblas"])


def test_without_scipy_there_is_nothing_to_compare_with():
    why, slow = command._left_out(_result(scipy=1.0, weft=0.1), 10.0, 15.0)
    assert why and slow == ["scipy"]
    assert command._left_out({"rows": 10, "columns": {}, "problem": "it ended"}, 10.0, 15.0)[0]


def test_a_long_call_is_not_repeated():
    long, quick = Column(lambda: None, times=[5.0]), Column(lambda: None)
    _take_turns([long, quick], 1e-9)
    assert long.times == [5.0] and quick.times


def test_sizes_and_names_are_checked():
    assert command._sizes("100,10,100") == [10, 100]
    with pytest.raises(ValueError):
        command._sizes("0")
    with pytest.raises(ValueError):
        command._chosen("nothing", ["spmm"], "program")
