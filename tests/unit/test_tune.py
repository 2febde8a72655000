"""weft.tune: the search takes what is faster and the same, keeps it beside the source, and ends when it is told to."""

from __future__ import annotations

import importlib
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
import weft.tuning
from weft.directives import NoLibrary, Parallel, Place, Sequential, SkipPass, Threads, Tile, Unroll
from weft.tuning import _Search, measure, moves, tune
from weft.tuning.measure import Calls, agree

SOURCE = """
import numpy as np
import weft

@weft.jit
def scaled(a, b):
    n, m = a.shape
    for i in range(n):
        for j in range(m):
            b[i, j] = 2.0 * a[i, j]

@weft.jit
def unused(a):
    return a + 1.0
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "tuned_module.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "tuned_module", raising=False)
    return importlib.import_module("tuned_module")


def arguments() -> tuple[Any, ...]:
    return np.arange(600.0).reshape(20, 30), np.zeros((20, 30))


def clocked(monkeypatch: pytest.MonkeyPatch, faster: type) -> None:
    """A clock by which plans with a directive of one kind take half the time, and nothing else matters."""

    def seconds(self: Calls, function: Any, end: float, best: float | None = None) -> float:
        return 0.5 if any(isinstance(each, faster) for each in function.transforms()) else 1.0

    def compared(self: Calls, one: Any, other: Any) -> tuple[float, float]:
        return seconds(self, one, 0.0), seconds(self, other, 0.0)

    monkeypatch.setattr(Calls, "seconds", seconds)
    monkeypatch.setattr(Calls, "compared", compared)


def few(monkeypatch: pytest.MonkeyPatch, *kinds: type) -> None:
    """Only the first steps of these kinds are tried, so that a search ends by itself."""

    def neighbours(plan: Any, view: Any) -> Any:
        for kind in kinds:
            yield from islice((each for each in moves.neighbours(plan, view) if each and isinstance(each[-1], kind)), 2)

    monkeypatch.setattr(weft.tuning, "neighbours", neighbours)


def test_the_winner_is_kept_beside_the_source_and_applied(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    clocked(monkeypatch, Unroll)
    few(monkeypatch, SkipPass, Unroll)
    a, b = arguments()
    found = weft.tune(module.scaled, a, b, seconds=100)
    assert isinstance(found.directives[-1], Unroll) and (found.before, found.after) == (1.0, 0.5)
    assert found.speedup == 2.0 and not b.any()  # copies were used
    assert module.scaled.transforms() == found.directives
    assert found(a, b) is None and np.array_equal(b, 2.0 * a)
    assert found.file == Path(module.__file__).with_suffix(".weft.toml")
    text = found.file.read_text()
    assert 'do = "unroll"' in text and "untuned_ms = 1000.0" in text and "shapes = [[20, 30], [20, 30]]" in text
    assert "2.00x" in str(found) and "unroll" in str(found)
    again = weft.jit(module.scaled.py_func)
    assert again.transforms() == found.directives
    weft.transform(module.unused).skip_pass("hoist").save()  # another entry leaves this one as it is
    assert "untuned_ms = 1000.0" in found.file.read_text()


def test_what_is_not_faster_is_forgotten(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Calls, "seconds", lambda self, function, end, best=None: 1.0)
    few(monkeypatch, Tile)
    found = weft.tune(module.scaled, *arguments(), seconds=100)
    assert found.directives == () and found.file is None and len(found.trials) > 1
    assert not Path(module.__file__).with_suffix(".weft.toml").exists()
    assert "nothing was faster" in str(found)


def test_wrong_results_are_never_taken(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    clocked(monkeypatch, Unroll)
    right = Calls.result

    def result(self: Calls, function: Any) -> Any:
        value, args = right(self, function)
        wrong = any(isinstance(each, Unroll) for each in function.transforms())
        return (value, (args[0], args[1] + 1e-3)) if wrong else (value, args)

    monkeypatch.setattr(Calls, "result", result)
    few(monkeypatch, Unroll)
    found = weft.tune(module.scaled, *arguments(), seconds=100, save=False)
    assert found.directives == ()
    assert [t for t in found.trials if t.why_not == "its results differ"]


def test_ctrl_c_keeps_the_best_so_far(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    clocked(monkeypatch, Unroll)
    few(monkeypatch, Unroll, Tile)
    tried = _Search._tried

    def stopping(self: Any, plan: Any, best: float) -> Any:
        if self.best:
            raise KeyboardInterrupt
        return tried(self, plan, best)

    monkeypatch.setattr(_Search, "_tried", stopping)
    found = weft.tune(module.scaled, *arguments(), seconds=100, save=False)
    assert found.interrupted and isinstance(found.directives[-1], Unroll) and "Ctrl-C" in str(found)


def test_kind_errors(module: Any) -> None:
    with pytest.raises(ValueError, match="no time that a search could take"):
        weft.tune(module.scaled, *arguments(), seconds=0)
    with pytest.raises(TypeError, match="needs a function, not int"):
        tune(3)  # type: ignore[arg-type]
    with pytest.raises(weft.WeftError, match="only functions of one machine"):
        weft.tune(weft.jit(module.scaled.py_func, target="ray"), *arguments())
    with pytest.raises(TypeError):
        weft.tune(module.scaled, 1)

    def opened(name):
        return open(name).read()

    with pytest.raises(weft.Unsupported):
        weft.tune(opened, "x")


def test_steps_are_of_every_kind_and_replace_what_they_contradict(module: Any) -> None:
    view = module.scaled.program(*arguments())
    plans = list(moves.neighbours((), view))
    kinds = {type(each) for plan in plans for each in plan}
    assert {Tile, Unroll, SkipPass} <= kinds and kinds & {Parallel, Sequential}
    assert all(len(plan) == 1 for plan in plans) and len(set(plans)) == len(plans)
    place = Place.of(view.loops[-1].name)
    start = (Unroll(place, 4),)
    following = list(moves.neighbours(start, view))
    assert () in following and (Unroll(place, 2),) in following
    assert not any(plan.count(Unroll(place, 4)) and Unroll(place, 2) in plan for plan in following)


def test_fewer_threads_are_tried(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moves, "get_num_threads", lambda: 12)
    view = module.scaled.program(*arguments())
    counts = [each.count for plan in moves.neighbours((), view) for each in plan if isinstance(each, Threads)]
    assert counts == [6, 3, 1]
    following = list(moves.neighbours((Threads(6),), view))
    assert (Threads(3),) in following and not any(plan.count(Threads(6)) and Threads(3) in plan for plan in following)
    assert any(Threads(6) in plan and len(plan) == 2 for plan in following)


def test_products_may_become_loops() -> None:
    def product(a, b):
        return a @ b

    view = weft.jit(product).program(np.ones((60, 60)), np.ones((60, 60)))
    assert any(isinstance(plan[0], NoLibrary) for plan in moves.neighbours((), view))


@pytest.mark.parametrize(
    ("one", "other", "exact", "same"),
    [
        (1.0, 1.0 + 1e-13, False, True),
        (1.0, 1.0 + 1e-13, True, False),
        (1.0, 1.1, False, False),
        (1, 1.0, False, False),
        (np.arange(3), np.arange(3), False, True),
        (np.arange(3), np.array([0, 1, 3]), False, False),
        (np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), False, True),
        (np.ones(2), np.ones((2, 1)), False, False),
        (np.ones(2), np.ones(2, np.float32), False, False),
        ({"a": [1, 2.0]}, {"a": [1, 2.0]}, True, True),
        ((1, "x"), (1, "y"), False, False),
    ],
)
def test_agreement(one: Any, other: Any, exact: bool, same: bool) -> None:
    assert agree(one, other, exact) is same


def test_a_slow_candidate_is_called_once() -> None:
    calls, made = Calls((np.zeros(3),)), []
    calls.seconds(lambda a: made.append(a), measure.perf_counter() + 10, best=0.0)
    assert len(made) == 1


def test_the_command(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    script = tmp_path / "script.py"
    call = "scaled(np.ones((40, 50)), np.zeros((40, 50)))"
    script.write_text(SOURCE + f"import sys\n{call}\nprint('ran', sys.argv[1:])\n")
    command = [sys.executable, "-m", "weft", "tune"]

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *words], env=subprocess_environment, capture_output=True, text=True, timeout=120
        )

    done = run("--seconds", "1", "--dry-run", str(script), "x")
    assert done.returncode == 0, done.stderr
    assert "ran ['x']" in done.stdout and "scaled:" in done.stdout and "unused:" not in done.stdout
    assert not (tmp_path / "script.weft.toml").exists()
    done = run("--function", "none", str(script))
    assert done.returncode == 1 and "no function none under weft.jit; it has scaled, unused" in done.stderr
    assert run("--seconds", "0", str(script)).returncode == 2
    script.write_text("raise SystemExit(3)\n")
    done = run(str(script))
    assert done.returncode == 3 and "nothing is tuned" in done.stderr
    script.write_text("print(1)\n")
    assert "nothing to tune" in run(str(script)).stderr
