"""The thesis of weft: operators, loops and lists that say the same mathematics become the same optimised program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from weft.ir.canonical import canonical
from weft.ir.expr import Expr, Var
from weft.ir.program import SizeOf
from weft.ir.text import show
from weft.ir.walk import map_program_exprs, substitute
from weft.pipeline import stages


def matmul_operator(a, b):
    return a @ b


def matmul_loops(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def matmul_scalar(a, b):
    c = np.empty((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total
    return c


def matmul_broadcast(a, b):
    return (a[:, :, None] * b[None, :, :]).sum(axis=1)


def matmul_dot(a, b):
    return np.dot(a, b)


def matmul_rows(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            c[i] += a[i, k] * b[k]
    return c


def matvec_operator(a, x):
    return a @ x


def matvec_loops(a, x):
    y = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y[i] += a[i, j] * x[j]
    return y


def matvec_sum(a, x):
    return np.sum(a * x, axis=1)


def axpy_operator(alpha, x, y):
    y += alpha * x


def axpy_slice(alpha, x, y):
    y[:] = y + alpha * x


def axpy_loops(alpha, x, y):
    for i in range(len(x)):
        y[i] += alpha * x[i]


def axpy_enumerate(alpha, x, y):
    for i, value in enumerate(x):
        y[i] = y[i] + alpha * value


def stencil_operator(a, b):
    b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])


def stencil_loops(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])


def stencil_rows(a, b):
    for i in range(1, a.shape[0] - 1):
        b[i, 1:-1] = 0.2 * (a[i, 1:-1] + a[i, :-2] + a[i, 2:] + a[i + 1, 1:-1] + a[i - 1, 1:-1])


def row_sums_operator(a):
    return a.sum(axis=1)


def row_sums_loops(a):
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i] += a[i, j]
    return out


def row_sums_function(a):
    return np.sum(a, axis=-1)


def row_sums_mixed(a):
    out = np.empty(a.shape[0])
    for i in range(a.shape[0]):
        out[i] = a[i].sum()
    return out


def outer_operator(u, v):
    return u[:, None] * v[None, :]


def outer_loops(u, v):
    out = np.empty((len(u), len(v)))
    for i in range(len(u)):
        for j in range(len(v)):
            out[i, j] = u[i] * v[j]
    return out


def outer_function(u, v):
    return np.outer(u, v)


def transpose_operator(a):
    return a.T.copy()


def transpose_loops(a):
    out = np.empty((a.shape[1], a.shape[0]))
    for i in range(a.shape[1]):
        for j in range(a.shape[0]):
            out[i, j] = a[j, i]
    return out


def transpose_interchanged(a):
    out = np.empty((a.shape[1], a.shape[0]))
    for j in range(a.shape[0]):
        for i in range(a.shape[1]):
            out[i, j] = a[j, i]
    return out


# --- the same over nested lists --------------------------------------------------------------------------------------


def matmul_lists(a, b, c):
    for i in range(len(a)):
        for j in range(len(b[0])):
            c[i][j] = 0.0
            for k in range(len(b)):
                c[i][j] += a[i][k] * b[k][j]


def matmul_in_place(a, b, c):
    c[:] = a @ b


def axpy_lists(alpha, x, y):
    for i in range(len(x)):
        y[i] += alpha * x[i]


def stencil_lists(a, b):
    for i in range(1, len(a) - 1):
        for j in range(1, len(a[0]) - 1):
            b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j] + a[i - 1][j])


def row_sums_lists(a, out):
    for i in range(len(a)):
        out[i] = 0.0
        for j in range(len(a[0])):
            out[i] += a[i][j]


def row_sums_in_place(a, out):
    out[:] = a.sum(axis=1)


A, B, X = np.ones((6, 7)), np.ones((7, 8)), np.ones(7)
GRID = np.ones((9, 10))
def matvec_in_place(a, x, y):
    y[:] = a @ x


def matvec_lists(a, x, y):
    for i in range(len(a)):
        y[i] = 0.0
        for j in range(len(x)):
            y[i] += a[i][j] * x[j]


def outer_in_place(u, v, out):
    out[:] = np.outer(u, v)


def outer_lists(u, v, out):
    for i in range(len(u)):
        for j in range(len(v)):
            out[i][j] = u[i] * v[j]


def transpose_in_place(a, out):
    out[:] = a.T


def transpose_lists(a, out):
    for i in range(len(a[0])):
        for j in range(len(a)):
            out[i][j] = a[j][i]


CASES: dict[str, tuple[tuple[Callable[..., Any], ...], tuple[Any, ...]]] = {
    "matmul": ((matmul_operator, matmul_dot, matmul_loops, matmul_scalar, matmul_broadcast, matmul_rows), (A, B)),
    "matvec": ((matvec_operator, matvec_loops, matvec_sum), (A, X)),
    "axpy": ((axpy_operator, axpy_slice, axpy_loops, axpy_enumerate), (2.0, X, X.copy())),
    "stencil": ((stencil_operator, stencil_loops, stencil_rows), (GRID, GRID.copy())),
    "row_sums": ((row_sums_operator, row_sums_function, row_sums_loops, row_sums_mixed), (A,)),
    "outer": ((outer_operator, outer_function, outer_loops), (np.ones(5), np.ones(6))),
    "transpose": ((transpose_operator, transpose_loops, transpose_interchanged), (A,)),
}
LISTS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {
    "matmul": (matmul_in_place, matmul_lists, (A, B, np.ones((6, 8)))),
    "axpy": (axpy_operator, axpy_lists, (2.0, X, X.copy())),
    "stencil": (stencil_operator, stencil_lists, (GRID, GRID.copy())),
    "row_sums": (row_sums_in_place, row_sums_lists, (A, np.ones(6))),
    "matvec": (matvec_in_place, matvec_lists, (A, X, np.ones(A.shape[0]))),
    "outer": (outer_in_place, outer_lists, (np.ones(5), np.ones(6), np.ones((5, 6)))),
    "transpose": (transpose_in_place, transpose_lists, (A, np.ones(A.shape[::-1]))),
}


def optimised(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """The text of the last program whose statements still have their domains, up to what the spellings assume of sizes.

    An operator demands that shapes agree, a loop only that its indices stay inside; both say so in guards.  The sample
    arguments have as many different sizes as the mathematics has, so here sizes of one value become one, and the
    guards, whose text is about those sizes, are left out.
    """
    program = dict(stages(function, arguments))["match"]
    program = canonical(program)
    first: dict[int, str] = {}
    renamed: dict[str, Expr] = {}
    for symbol in program.symbols:
        if isinstance(symbol.source, SizeOf):
            value = arguments[program.params.index(symbol.source.buffer)]
            size = np.shape(value)[symbol.source.axis]
            renamed[symbol.name] = Var(first.setdefault(size, symbol.name))
    shapes = [tuple(substitute(extent, renamed) for extent in buffer.shape) for buffer in program.buffers]
    buffers = tuple(replace(buffer, shape=shape) for buffer, shape in zip(program.buffers, shapes))
    program = replace(program, guards=(), buffers=buffers)
    merged = map_program_exprs(program, lambda expr: substitute(expr, renamed))
    return show(canonical(merged))


PAIRS = [
    (name, functions[0], function, arguments)
    for name, (functions, arguments) in CASES.items()
    for function in functions[1:]
]


@pytest.mark.parametrize(("name", "one", "other", "arguments"), PAIRS, ids=[pair[2].__name__ for pair in PAIRS])
def test_spellings_become_one_program(name: str, one: Any, other: Any, arguments: tuple[Any, ...]) -> None:
    assert optimised(one, arguments) == optimised(other, arguments)


@pytest.mark.parametrize("name", LISTS)
def test_list_form_becomes_the_same_program(name: str) -> None:
    array_form, list_form, arguments = LISTS[name]
    nested = tuple(value.tolist() if isinstance(value, np.ndarray) else value for value in arguments)
    assert optimised(array_form, arguments) == optimised(list_form, nested)


def test_different_mathematics_stays_different() -> None:
    """The comparison can tell programs apart."""

    def other_coefficient(a, b):
        b[1:-1, 1:-1] = 0.25 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])

    def other_neighbour(a, b):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, :-2] + a[2:, 1:-1] + a[:-2, 1:-1])

    grids = (GRID, GRID.copy())
    assert optimised(stencil_operator, grids) != optimised(other_coefficient, grids)
    assert optimised(stencil_operator, grids) != optimised(other_neighbour, grids)
    assert optimised(row_sums_operator, (A,)) != optimised(transpose_operator, (A,))
