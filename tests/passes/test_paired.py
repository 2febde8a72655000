"""Two products of one matrix in a single pass: which pairs are joined, and that the interpreter agrees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import pipeline
from weft.ir import interp
from weft.ir.program import Alloc, Program
from weft.ir.walk import walk
from weft.passes import paired


def both_ways(a: Any, x: Any) -> Any:
    return (a @ x) @ a


def apart(a: Any, p: Any, r: Any) -> Any:
    return r @ a, a @ p


def added(x1: Any, x2: Any, y1: Any, y2: Any, a: Any) -> None:
    x1 += a @ y1
    x2 += 2.0 * (y2 @ a)


def rows_need_columns(a: Any, r: Any) -> Any:
    return a @ (r @ a)


def other_matrix(a: Any, b: Any, x: Any, y: Any) -> Any:
    return a @ x, y @ b


def rows_twice(a: Any, x: Any, y: Any) -> Any:
    return a @ x, a @ y


def changed_between(a: Any, x: Any, y: Any) -> Any:
    first = a @ x
    a[0, 0] = 7.0
    return first, y @ a


def arguments(function: Callable[..., Any], n: int, m: int) -> dict[str, Any]:
    rng = np.random.default_rng(n * 1000 + m)
    sizes = {"a": (n, m), "b": (n, m), "x": m, "p": m, "r": n, "x1": n, "x2": m, "y1": m, "y2": n}
    if function in (other_matrix, rows_twice, changed_between):
        sizes["y"] = m if function is rows_twice else n
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return {name: rng.random(sizes[name]) for name in names}


def stages(function: Callable[..., Any], given: dict[str, Any]) -> tuple[Program, Program]:
    found = dict(pipeline.stages(function, list(given.values())))
    return found["schedule"], found["paired"]


def is_joined(program: Program) -> bool:
    return any(isinstance(node, Alloc) and node.buffer.startswith("parts") for node in walk(program.body))


@pytest.mark.parametrize("function", [both_ways, apart, added])
@pytest.mark.parametrize(("n", "m"), [(257, 3), (300, 7), (12, 5)])
def test_one_pass_gives_the_same(function: Callable[..., Any], n: int, m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paired, "LEAST_BYTES", 0.0)
    given = arguments(function, n, m)
    _, joined = stages(function, given)
    assert is_joined(joined)
    expected = {name: value.copy() for name, value in given.items()}
    result = function(*expected.values())
    actual = interp.run(joined, given, order="shuffled")
    for one, other in zip(*(found if isinstance(found, tuple) else (found,) for found in (result, actual))):
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=1e-12)
    for name, value in given.items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-12)


@pytest.mark.parametrize("function", [rows_need_columns, other_matrix, rows_twice, changed_between])
def test_left_alone(function: Callable[..., Any]) -> None:
    before, after = stages(function, arguments(function, 30, 20))
    assert not is_joined(after)
    assert before.body == after.body


def test_columns_of_a_matrix_in_fortran_order_are_left_to_the_library() -> None:
    a = np.asfortranarray(np.ones((30, 20)))
    assert not is_joined(stages(both_ways, {"a": a, "x": np.ones(20)})[1])
