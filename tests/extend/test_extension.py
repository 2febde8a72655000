"""Expansions, passes, patterns, programs as text, and models of users."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft.ir.program import Call, Program
from weft.ir.walk import walk
from weft.passes import expand, users


def product(a, b):
    c = a @ b
    return c


LINE = product.__code__.co_firstlineno + 1
A, B = np.random.default_rng(0).random((9, 200)), np.random.default_rng(1).random((200, 9))


def lowered(function: Any) -> Program:
    return function.program(A, B).stages["lowered"]


def test_expansions_by_priority() -> None:
    function = weft.jit(fallback="error")(product)
    function(A, B)
    assert weft.expand(function, LINE, "openblas") == "openblas"
    calls = [node for node in walk(lowered(function).body) if isinstance(node, Call)]
    assert calls and np.allclose(function(A, B), A @ B)
    assert weft.expand(function, LINE, "loops") == "loops"
    assert not [node for node in walk(lowered(function).body) if isinstance(node, Call)]
    assert np.allclose(function(A, B), A @ B)
    assert weft.expand(function, LINE, "blocked", "loops") == "blocked"
    assert "k_block" in function.program(A, B).stages["lowered"].__repr__()
    assert np.allclose(function(A, B), A @ B)
    assert len(function.transforms()) == 1, "a later choice for a line replaces the one before"


def test_the_next_expansion_is_tried() -> None:
    @weft.jit(fallback="error")
    def scaled(a):
        b = a * 2.0
        return b

    scaled(A)
    line = scaled.py_func.__code__.co_firstlineno + 2
    assert weft.expand(scaled, line, "blocked", "loops") == "loops"
    with pytest.raises(weft.TransformError, match="applies to no statement"):
        weft.expand(scaled, line, "blocked")
    for names, line_, words in (
        (("no",), line, "no expansion"),
        ((), line, "needs the name"),
        (("loops",), "i", "line"),
    ):
        with pytest.raises(ValueError, match=words):
            weft.expand(scaled, line_, *names)
    with pytest.raises(weft.TransformError, match="no statement"):
        weft.expand(scaled, 1, "loops")


def test_an_expansion_of_ones_own() -> None:
    seen = []

    @weft.expansion("watched")
    def watched(statement, workspace):
        seen.append(statement.buffer)
        return (statement,)

    function = weft.jit(fallback="error")(product)
    function(A, B)
    assert weft.expand(function, LINE, "watched") == "watched"
    assert seen and np.allclose(function(A, B), A @ B)
    del expand.EXPANSIONS["watched"]


@pytest.mark.parametrize(
    "made, words",
    [
        (lambda statement: 3, "gives a int"),
        (lambda statement: (statement, 3), "no nodes"),
        (lambda statement: 1 / 0, "ZeroDivisionError"),
        (lambda statement: (replace(statement, buffer="nothing"),), "no legal program"),
    ],
    ids=["number", "part", "exception", "illegal"],
)
def test_an_expansion_that_is_wrong_is_told(made, words) -> None:
    weft.expansion("wrong")(lambda statement, workspace: made(statement))
    function = weft.jit(fallback="error")(product)
    function(A, B)
    with pytest.raises(weft.TransformError, match=words):
        weft.expand(function, LINE, "wrong")
    assert np.allclose(function(A, B), A @ B)
    del expand.EXPANSIONS["wrong"]


@pytest.fixture
def clean() -> Iterator[None]:
    before = dict(users._passes)
    yield
    users._passes.clear()
    users._passes.update(before)


def exponents(x):
    return np.exp(x) * np.exp(x + 1.0)


def test_patterns(clean: None) -> None:
    weft.add_pattern("exp(a) * exp(b)", "exp(a + b)", name="exponents")
    function = weft.jit(fallback="error", cache=False)(exponents)
    assert np.allclose(function(A), exponents(A))
    assert function.inspect("ir").count("exp(") == 1
    weft.remove_pass("exponents")
    function = weft.jit(fallback="error", cache=False)(exponents)
    function(A)
    assert function.inspect("ir").count("exp(") == 2
    for pattern, made, words in (
        ("a +", "a", "no expression"),
        ("f(a)", "a", "no operation f"),
        ("exp(a)", "b", "has no 'b'"),
        ("a", "a + 1", "every expression"),
        ("a[0]", "a", "patterns are made of"),
    ):
        with pytest.raises(ValueError, match=words):
            weft.add_pattern(pattern, made)


@pytest.mark.parametrize("stage", ["built", "optimised", "lowered"])
def test_passes_run_at_their_stage(stage: str, clean: None) -> None:
    seen: list[Program] = []

    @weft.add_pass(stage=stage, name="looks")
    def looks(program: Program) -> Program:
        seen.append(program)
        return program

    function = weft.jit(fallback="error", cache=False)(exponents)
    assert np.allclose(function(A), exponents(A))
    assert len(seen) == 1
    assert any(type(node).__name__ == "Loop" for node in walk(seen[0].body)) == (stage == "lowered")


def test_a_bad_pass_is_told(clean: None) -> None:
    def fails(program: Program) -> Program:
        raise KeyError("x")

    def nothing(program: Program) -> None:
        return None

    def illegal(program: Program) -> Program:
        return replace(program, buffers=())

    for run, words in ((fails, "fails: KeyError"), (nothing, "no Program"), (illegal, "no legal program")):
        users._passes.clear()
        weft.add_pass(run, stage="optimised", name="bad")
        with pytest.raises(weft.TransformError, match=f"'bad'.*{words}|what the pass 'bad'.*{words}"):
            weft.jit(cache=False)(exponents)(A)
    with pytest.raises(ValueError, match="stage='late'"):
        weft.add_pass(fails, stage="late")


def test_passes_from_the_environment(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    (tmp_path / "mine.py").write_text(
        "import weft\nfrom weft.passes.users import rewriting\n"
        "halves = rewriting('a * 0.5', 'a * 0.25 + a * 0.25')\nhalves.stage = 'optimised'\n"
    )
    dist = tmp_path / "mine-1.0.dist-info"
    dist.mkdir()
    (dist / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (dist / "entry_points.txt").write_text("[weft.passes]\nby_point = mine:halves\n")
    (tmp_path / "program.py").write_text(
        "import numpy as np, weft\n@weft.jit(fallback='error')\ndef f(x):\n    return x * 0.5\n"
        "f(np.ones(3))\nprint('0.25' in f.inspect('ir'))\n"
    )
    environment = dict(subprocess_environment)
    environment["PYTHONPATH"] = f"{tmp_path}:{environment.get('PYTHONPATH', '')}"

    def answer(passes: str) -> subprocess.CompletedProcess[str]:
        chosen = {**environment, "WEFT_PASSES": passes}
        return subprocess.run(
            [sys.executable, str(tmp_path / "program.py")], env=chosen, capture_output=True, text=True
        )

    assert answer("").stdout == "False\n"
    assert answer("mine:halves").stdout == "True\n"
    assert answer("by_point").stdout == "True\n"
    assert "cannot be loaded" in answer("mine:no").stderr
    assert "no installed package" in answer("nobody").stderr


def test_programs_as_text() -> None:
    function = weft.jit(fallback="error")(product)
    function(A, B)
    text = function.inspect("ir")
    again = weft.compile_ir(text)
    assert np.allclose(again(A, B), A @ B)
    doubled = weft.compile_ir(text.replace("a[i, k] * b[k, j]", "a[i, k] * b[k, j] * 2.0_f64"))
    assert np.allclose(doubled(A, B), 2 * (A @ B))
    with pytest.raises(TypeError, match="other arguments"):
        again(A.astype(np.float32), B)
    with pytest.raises(weft.WeftError, match="no program"):
        weft.compile_ir("program f(x")
    with pytest.raises(weft.WeftError, match="no program"):
        weft.compile_ir(text.replace("b[k, j]", "nobody[k, j]"))


class Grid:
    """A class that weft would not read: its attributes come from descriptors."""

    def __init__(self, values: Any, step: float) -> None:
        self._held = (values, step)

    values = property(lambda self: self._held[0])
    step = property(lambda self: self._held[1])

    def __call__(self, at: float) -> float:
        return float(np.interp(at, np.arange(len(self.values)) * self.step, self.values))

    def __mul__(self, factor: float) -> Grid:
        return Grid(self.values * factor, self.step)


def make_grid(values: Any, step: float) -> Grid:
    return Grid(values, step)


def test_models() -> None:
    @weft.model(Grid, fields=("values", "step"), make=make_grid)
    class Model:
        def __init__(self, values, step):
            self.values = values
            self.step = step

        def __call__(self, at):
            k = int(at / self.step)
            k = min(k, len(self.values) - 2)
            t = at / self.step - k
            return self.values[k] * (1 - t) + self.values[k + 1] * t

        def __mul__(self, factor):
            return Model(self.values * factor, self.step)

    @weft.jit(fallback="error")
    def total(grid, n):
        found = 0.0
        for i in range(n):
            found += grid(i * 0.1)
        return found

    grid = Grid(np.arange(9.0) ** 2, 0.5)
    assert total(grid, 30) == pytest.approx(sum(grid(i * 0.1) for i in range(30)))

    @weft.jit(fallback="error")
    def scaled(grid, factor):
        return grid * factor

    found = scaled(grid, 3.0)
    assert type(found) is Grid and np.array_equal(found.values, grid.values * 3) and found.step == 0.5
    with pytest.raises(TypeError, match="needs a class"):
        weft.model(grid, fields=("values",))
    with pytest.raises(ValueError, match="function of a module"):
        weft.model(Grid, fields=("values",), make=lambda values: None)
