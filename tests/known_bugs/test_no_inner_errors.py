"""Programs that once ended in an error inside weft: each compiles, or is refused with a reason of its own."""

from __future__ import annotations

import collections
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from tests.semantics.agreement import agree
from weft.cli import main
from weft.errors import WeftError
from weft.ir.expr import Const, Dim, Op, Read, Reduce, Var, integer
from weft.ir.program import Buffer, Check, Program, Role
from weft.ir.types import BOOL, F64
from weft.ir.walk import node_exprs, subexpressions, walk
from weft.passes.scheduling.lower import Workspace
from weft.passes.scheduling.plain import plain_check


def looked_up(d, k):
    return d[k], len(d)


def looked_up_in_a_branch(d, k):
    if k > 3:
        return d[k]
    return type(d[k])(0)


def counted(d, keys):
    for k in keys:
        d[k] += 1
    return len(d)


@pytest.mark.parametrize("factory", [int, float])
@pytest.mark.parametrize("key", [1, 5])
def test_missing_keys_of_defaultdicts(factory: Any, key: int) -> None:
    for function in (looked_up, looked_up_in_a_branch):
        agree(function, collections.defaultdict(factory, {1: factory(2)}), key, native=function is looked_up)
    agree(counted, collections.defaultdict(int, {1: 2}), [key, 1, 7, 7])


def stored(a: Any, i: Any, j: Any, v: Any) -> Any:
    a[i, j] = v
    return a


def taken(a: Any, i: Any, j: Any) -> Any:
    return a[i, j]


def test_slices_as_arguments_beside_index_arrays() -> None:
    places, part = np.array([1, 1]), slice(1, 3)
    grid = np.arange(20.0).reshape(4, 5)
    for i, j in ((slice(None), places), (places, part)):
        run = weft.jit(taken, fallback="silent")
        np.testing.assert_array_equal(run(grid, i, j), taken(grid, i, j))
        assert run.stats["fallbacks"] == ["an index of type an object of type slice"]
    run = weft.jit(stored, fallback="silent")
    np.testing.assert_array_equal(
        run(np.zeros((4, 5)), slice(None), places, np.array([5.0, 6])),
        stored(np.zeros((4, 5)), slice(None), places, np.array([5.0, 6])),
    )


def made_by_tasks(n):
    with weft.finish():
        with weft.task():
            a = np.zeros((n, 2))
            a[0, 1] = 3.0
        with weft.task():
            b = np.ones((n, n)) @ np.ones((n, 2))
    return a + b


def of_rank_three(n):
    with weft.finish():
        with weft.task():
            a = np.ones((n, 2, 3)) * n
        s = 2.0
    return a, s


@pytest.mark.parametrize("function", [made_by_tasks, of_rank_three])
def test_tasks_that_make_arrays_of_higher_rank(function: Any) -> None:
    agree(function, 5)


def test_values_of_a_failed_check_are_lowered() -> None:
    buffers = (Buffer("a", F64, (integer(4), integer(4)), Role.PARAM),)
    program = Program("f", ("a",), (), buffers, (), (), ())
    total = Reduce("add", (Dim("k", integer(0), integer(4)),), Read("a", (Var("i"), Var("k")), F64))
    test = Op("gt", (total, Const(0.0, F64)), BOOL)
    check = Check((Dim("i", integer(0), integer(4)),), test, "ValueError", "{0}", (total,))
    lowered = plain_check(check, Workspace.of(program))
    found = [e for node in walk(lowered) for expr in node_exprs(node) for e in subexpressions(expr)]
    assert found and not any(isinstance(e, Reduce) for e in found)


RAY = """
import numpy as np, weft

@weft.jit(target="ray")
def f(a: weft.f64[:, :], b: np.ndarray):
    return a @ b + 1.0

@weft.jit(target="ray")
def g(a: weft.f64[:, :]):
    return (a * 2).sum()
"""


def test_commands_on_functions_of_clusters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ray")
    file = tmp_path / "spread_out.py"
    file.write_text(RAY)
    assert main(["explain", str(file)]) == 0
    assert "parallel vectorised  return (a * 2).sum()" in capsys.readouterr().out
    assert main(["explain", str(file), "--json"]) == 0
    assert main(["explain", str(file), "--html", str(tmp_path / "page.html")]) == 0
    assert main(["build", "--host", "weft", str(file), "-o", str(tmp_path / "out")]) == 0
    assert "g: left to the first call (it runs on a cluster)" in capsys.readouterr().err


def test_functions_of_clusters_are_not_transformed() -> None:
    pytest.importorskip("ray")
    with pytest.raises(WeftError, match="target='ray'"):
        weft.transform(weft.jit(taken, target="ray"))


def test_what_a_cluster_cannot_take_is_refused_aloud() -> None:
    pytest.importorskip("ray")
    sparse = pytest.importorskip("scipy.sparse")

    def doubled(s: Any) -> Any:
        return s * 2.0

    matrix = sparse.dok_array((30, 30))
    matrix[3, 4] = 5.0
    with pytest.raises(weft.errors.Unsupported):
        weft.jit(doubled, target="ray", fallback="error")(matrix)
    with pytest.warns(weft.errors.FallbackWarning):
        assert weft.jit(doubled, target="ray")(matrix)[3, 4] == 10.0


def test_explain_of_a_refused_function() -> None:
    def reads(name: str) -> Any:
        return open(name)

    run = weft.jit(reads, fallback="silent")
    assert "not compiled yet" in str(run.explain())
    with pytest.raises(OSError):
        run("/nowhere/at/all")
    assert "not compiled: it runs as plain Python" in str(run.explain())
