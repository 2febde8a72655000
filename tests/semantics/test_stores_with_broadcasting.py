"""Values stored into arrays of any extents, 1 and 0 among them: the value is stretched, the target never is.

One compiled function meets all shapes in turn, so that versions made for one meet the others.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import compare, function_from_source, lines, made, outcome

Shape = tuple[int, ...]

LENGTHS: Sequence[Shape] = ((3,), (1,), (0,), (2,))
#: Shapes of values for a target of shape (3, 4), (1, 4), (3, 1).
TABLES: Sequence[Shape] = ((3, 4), (1, 4), (3, 1), (1, 1), (4,), (1,), (), (1, 3, 4), (2, 4))


def filled(shape: Shape, dtype: str = "f8", step: int = 1) -> np.ndarray:
    size = int(np.prod(shape))
    return (np.arange(1, 1 + size * step, step, dtype=dtype) * 10).reshape(shape)


def agree(source: str, calls: Sequence[tuple[Any, ...]], *, messages: bool = True) -> None:
    """One compiled function for all calls; `messages`: the text of exceptions is NumPy's, too."""
    function = function_from_source(source)
    compiled = weft.jit(fallback="silent")(function)
    for arguments in calls:
        make = made(*arguments)
        expected, actual = outcome(function, make()), outcome(compiled, make())
        if not messages and expected.error is not None:
            assert type(actual.error) is type(expected.error), (source, arguments, actual, expected)
            continue
        why = compare(actual, expected)
        shapes = [np.shape(argument) for argument in arguments]
        assert why is None, f"{source}{shapes}\n{why}"
    assert not any("inside weft" in reason for reason in compiled.stats["fallbacks"])


@pytest.mark.parametrize(
    "statement",
    ["a[i] = v", "a[i] += v", "np.add.at(a, i, v)", "a[i, ...] = v", "np.put(a, i, v)", "a[i[0:1]] = v"],
)
def test_index_arrays(statement: str) -> None:
    index = np.array([4, 0, 2])
    agree(
        lines("a, i, v", statement, "return a"),
        [(filled((5,)), index[: n[0]], filled(m)) for n, m in itertools.product(LENGTHS, LENGTHS)],
    )


@pytest.mark.parametrize(
    "statement", ["a[i, j] = v", "a[i, :] = v", "a[:, i] = v", "a[i] = v", "a[i, j] += v", "a[i[:, None], j] = v"]
)
def test_index_arrays_into_tables(statement: str) -> None:
    index = np.array([2, 0, 1])
    values: Sequence[Shape] = ((3, 4), (1, 4), (3, 1), (4, 1), (4, 3), (3,), (1,), (1, 3, 4))
    agree(
        lines("a, i, j, v", statement, "return a"),
        [
            (filled((4, 4)), index[:n], index[::-1][:m], filled(shape))
            for (n, m), shape in itertools.product(((3, 3), (1, 1), (1, 3)), values)
        ],
    )


@pytest.mark.parametrize(
    "statement",
    [
        "a[...] = v",
        "a[:, :] = v",
        "a += v",
        "np.copyto(a, v)",
        "np.copyto(a, v, where=a > 30)",
        "np.add(a, v, out=a)",
        "np.multiply(2.0, v, out=a)",
        "np.add(a, v, out=a, where=a > 30)",
        "a[a[:, 0] > 0] = v",
        "a[a[:, 0] > 0] += v",
    ],
)
@pytest.mark.parametrize("dtype", ["f8", "i4"])
def test_tables(statement: str, dtype: str) -> None:
    if dtype == "i4":
        statement = statement.replace("2.0", "2")
    agree(
        lines("a, v", statement, "return a"),
        [
            (filled(target, dtype), filled(value, dtype))
            for target, value in itertools.product(((3, 4), (1, 4), (3, 1), (0, 4)), TABLES)
        ],
        # How many rows a mask chooses is known too late for all of NumPy's text.
        messages="a[a" not in statement,
    )


@pytest.mark.parametrize(
    "statement", ["np.add.at(a, m, 1.0)", "a[m] = 1.0", "a[m] += 1.0", "a = a[m]", "a[m, 0] = 1.0"]
)
def test_masks_are_not_stretched(statement: str) -> None:
    sizes = [(n, k) for n in (3, 1, 0) for k in (3, 1, 0)]
    agree(
        lines("a, m", statement, "return a"),
        [(filled((n, 2)), np.ones(k, np.bool_)) for n, k in sizes],
    )


def test_values_of_two_axes_for_elements_of_a_mask() -> None:
    shapes: Sequence[Shape] = ((1, 3), (3,), (3, 1))
    agree(lines("a, v", "a[a > 10] = v", "return a"), [(filled((4,)), filled(shape)) for shape in shapes])


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
def test_put_into_nothing(mode: str) -> None:
    sizes = [(n, k, m) for n in (3, 0) for k in (2, 0) for m in (2, 1, 0)]
    agree(
        lines("a, i, v", f"np.put(a, i, v, mode='{mode}')", "return a"),
        [(filled((n,)), np.zeros(k, np.int64), filled((m,))) for n, k, m in sizes],
    )


@pytest.mark.parametrize("axis", [0, 1])
def test_put_along_axis(axis: int) -> None:
    shapes: Sequence[Shape] = ((3, 4), (1, 4), (3, 1), (1, 1))
    agree(
        lines("a, i, v", f"np.put_along_axis(a, i, v, {axis})", "return a"),
        [
            (filled((3, 4)), np.zeros(index, np.int64), filled(value))
            for index, value in itertools.product(shapes, shapes)
        ],
    )


@pytest.mark.parametrize(
    "call",
    [
        *(f"np.{name}(a, axis=0, out=o)" for name in ("sum", "prod", "mean", "max", "std", "median", "cumsum")),
        "np.round(a, 0, out=o)",
        "a.sum(axis=0, out=o)",
        "np.add.reduce(a, out=o)",
        "np.maximum.accumulate(a, out=o)",
        "np.clip(a, 15.0, 25.0, out=o)",
        "np.sqrt(a, out=o)",
        "np.dot(a, a.T, out=o)",
        "np.matmul(a, a.T, out=o)",
        "np.einsum('ij,kj->ik', a, a, out=o)",
        "np.outer(a[:, 0], a[0], out=o)",
        "np.trace(a[:, :, None], out=o)",
    ],
)
def test_results_into_arrays(call: str) -> None:
    agree(
        lines("a, o", f"return {call}"),
        [
            (filled(given), filled(out, step=3))
            for given, out in itertools.product(
                ((3, 4), (3, 1), (1, 4), (1, 1)), ((4,), (1,), (3, 3), (1, 1), (3, 4), (2, 3, 4))
            )
        ],
    )


@pytest.mark.parametrize(
    "call",
    [
        "np.sum(a, where=v > 0)",
        "np.mean(a, axis=1, where=v > 0)",
        "np.broadcast_to(a, v.shape).sum(axis=0)",
        "np.insert(a, 1, v, axis=0)",
        "np.squeeze(a), np.squeeze(v)",
        "np.repeat(a[:, 0], v[:, 0].astype(np.int64) // 10)",
        "a.squeeze() + v.squeeze()",
    ],
)
def test_values_that_are_stretched(call: str) -> None:
    shapes: Sequence[Shape] = ((3, 4), (1, 4), (3, 1), (1, 1))
    agree(
        lines("a, v", f"return {call}"),
        [(filled(one), filled(other)) for one, other in itertools.product(shapes, shapes)],
    )


#: Extents that only the run time knows, in functions that write an argument first: Python cannot begin again.
LATE = [
    ("i = np.flatnonzero(m)", "a[i] = v"),
    ("i = np.flatnonzero(m)", "a[i] += v"),
    ("i = np.flatnonzero(m)", "np.add.at(a, i, v)"),
    ("a[np.flatnonzero(m)] = v[v > 10]",),
    ("a[m] = v[v > 10]",),
    ("w = v[v > 10]", "a[:] = w"),
    ("w = v[v > 10]", "a += w"),
    ("c = a[m]", "a[0] = 9", "c += v", "a[1] = c.sum()"),
    ("c = a[m]", "a[0] = 9", "a[1] = (c * v).sum()"),
    ("c = a[m]", "a[0] = 9", "np.add(c, v, out=a)"),
    ("c = a[m]", "a[0] = 9", "a[1] = np.repeat(c, v.astype(np.int64) // 10).sum()"),
    ("c = a[m]", "a[0] = 9", "a[1] = c.squeeze().ndim"),
    ("for i in range(1, 4):", "    a[:i] = v[: 4 - i]"),
    ("for i in range(1, 4):", "    a[:i] += v[: 4 - i]"),
    ("for i in range(1, 4):", "    a[i] = (a[:i] * v[: 4 - i]).sum()"),
]


@pytest.mark.parametrize("body", LATE)
def test_extents_of_the_run_time(body: tuple[str, ...]) -> None:
    masks = [np.array([c == "1" for c in text]) for text in ("1000", "0110", "1111", "0000")]
    values = [filled((n,)) for n in (1, 2, 4, 0)]
    agree(
        lines("a, m, v", *body, "return a"),
        [(filled((4,)), mask, value) for mask, value in itertools.product(masks, values)],
        messages=False,
    )


def test_halves_of_one_element() -> None:
    """In a function that calls itself no guard tells that an extent is not 1."""
    source = """\
def f(a, b):
    n = a.shape[0]
    if n <= 2:
        return (a * b[:1] + b).sum()
    h = n // 2
    return f(a[:h], b[:h]) + f(a[h:], b[h:]) + (a[:h] + b[h:]).sum()
"""
    agree(source, [(filled((n,)), filled((n,))) for n in (4, 3, 8, 5, 2, 1)], messages=False)
