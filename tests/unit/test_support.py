"""`weft support`: names are found as people write them, the table agrees with what compiles, and entries bind arguments
as the functions themselves do.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

import weft
from tests.support import differential_source, function_from_source, lines, made
from weft.cli import main
from weft.frontend import knowledge
from weft.report import support

TABLE = support.rows()


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("np.add", "np.add"),
        ("numpy.add", "np.add"),
        ("add", "np.add"),
        ("ndarray.sum", "ndarray.sum"),
        ("np.ndarray.sum", "ndarray.sum"),
        ("math.exp", "math.exp"),
        ("numpy.linalg.norm", "np.linalg.norm"),
        ("np.add.reduce", "np.add.reduce"),
        ("len", "len"),
        ("np.abs", "np.abs"),
    ],
)
def test_names_as_people_write_them(written: str, found: str) -> None:
    assert found in [row.name for row in support.find(written, TABLE)]


def test_a_short_name_finds_every_home() -> None:
    assert {"sum", "np.sum", "ndarray.sum"} <= {row.name for row in support.find("sum", TABLE)}


def test_an_alias_names_the_function() -> None:
    [row] = support.find("np.abs", TABLE)
    assert row.alias_of == "np.absolute"


def test_every_path_is_there() -> None:
    paths = {row.name: row.path for row in TABLE}
    assert paths["np.add"] == "native"
    assert paths["np.loadtxt"] == "Python"


def test_one_name_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["support", "np.sum"]) == 0
    text = capsys.readouterr().out
    assert "np.sum: native" in text and "keepdims" in text


def test_everything_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["support"]) == 0
    text = capsys.readouterr().out
    for heading in ("NumPy", "np.linalg", "np.fft", "Methods of arrays", "math", "cmath", "Builtins"):
        assert f"\n{heading}: " in "\n" + text
    assert "np.loadtxt" in text


def test_an_unknown_name_has_suggestions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["support", "np.hystogram"]) == 2
    assert "did you mean np.histogram" in capsys.readouterr().err
    assert main(["support", "sume"]) == 2
    assert "did you mean np.sum" in capsys.readouterr().err
    assert main(["support", "qqqqqq"]) == 2


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["support", "math.exp", "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert row["name"] == "math.exp" and row["path"] == "native"


def test_markdown_is_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["support", "--markdown"]) == 0
    assert capsys.readouterr().out == support.page()


# --- how entries bind arguments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        "np.count_nonzero(a, 0, True)",  # keepdims is by name only
        "np.add(x1=a, x2=a)",  # operands of a ufunc are by position only
        "np.hstack((a, a), axis=0)",
        "np.sum(a, 0, axis=0)",
        "np.sum(a, nonsense=1)",
        "a.sum(axes=0)",
    ],
)
def test_calls_that_python_refuses_are_left_to_it(call: str) -> None:
    function = function_from_source(lines("a", f"return {call}"))
    with pytest.raises(TypeError) as plain:
        function(np.ones((2, 3)))
    with pytest.raises(weft.Unsupported):
        weft.jit(fallback="error", backend="python")(function)(np.ones((2, 3)))
    with pytest.raises(type(plain.value)):
        weft.jit(fallback="silent", backend="python")(function)(np.ones((2, 3)))


@pytest.mark.parametrize("call", ["np.sum(a, 0, None, None, True)", "np.sum(axis=1, a=a)", "np.clip(a, 0, a_max=1)"])
def test_arguments_by_position_and_by_name(call: str) -> None:
    differential_source(lines("a", f"return {call}"), made(np.arange(6.0).reshape(2, 3)), backend="python")


def test_kinds_that_are_not_covered_are_refused() -> None:
    limited = [entry for entry in knowledge.entries() if entry.coverage.kinds == "biuf" and entry.is_method]
    for entry in limited:
        function = function_from_source(lines("a", f"return a.{entry.name}()"))
        with pytest.raises(weft.Unsupported):
            weft.jit(fallback="error", backend="python")(function)(np.ones(3, complex))


def test_an_entry_knows_what_it_leaves_out() -> None:
    entry = knowledge.lookup(np.loadtxt)
    assert entry is None
    [row] = [row for row in TABLE if row.name == "np.array"]
    assert "subok" in row.uncovered and "dtype" in row.covered


def test_functions_outside_of_the_table_are_black_boxes():
    table = support.rows()
    for name in ("np.random.default_rng", "numpy.random.default_rng", "scipy.special.erf"):
        (row,) = support.find(name, table)
        assert row.path == "Python"
    assert not support.find("np.random.no_such", table)
