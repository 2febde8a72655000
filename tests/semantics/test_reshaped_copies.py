"""Reshapes that copy: of transposed and strided arrays, windows and unknown sizes, read by products and returned."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import weft
from tests.support import differential, outcome, same_as_plain
from weft.frontend.polynomials import Poly, poly
from weft.ir.expr import Op, Var, integer
from weft.ir.types import INT


def merged(x, rows):
    return x.transpose(0, 2, 1).reshape(rows, -1)


def turned(x, rows):
    return x.swapaxes(0, 1).reshape(-1, x.shape[2])


def product(x, rows):
    y = x.transpose(1, 0, 2).reshape(-1, rows)
    return y.T @ y


def windows(x, rows):
    n, m, k = x.shape
    w = sliding_window_view(x, (1, 2), axis=(1, 2))
    y = w.transpose(0, 2, 1, 3, 4).reshape(n * w.shape[1] * w.shape[2], -1)
    return (y @ np.ones((2, 3))).reshape(n, w.shape[1], -1)


def changed(x, rows):
    n = x.shape[0] * x.shape[1]
    y = x.swapaxes(0, 1).reshape(n, -1)
    y += 1
    return y.reshape(x.shape[1], x.shape[0], -1), x


def in_fortran_order(x, rows):
    return x.reshape((rows, -1), order="F"), x.transpose(2, 0, 1).ravel(), x.T.ravel("F")


LAYOUTS = {
    "C": lambda x: x.copy(),
    "F": np.asfortranarray,
    "reversed": lambda x: x[::-1],
    "strided": lambda x: np.repeat(np.repeat(x, 2, axis=1), 2, axis=2)[:, ::2, 1::2],
}
SHAPES = ((2, 3, 4), (1, 3, 4), (2, 1, 4), (2, 3, 2), (0, 3, 2), (6, 2, 2))


@pytest.mark.parametrize("function", [merged, turned, product, windows, changed, in_fortran_order])
def test_views_and_copies_are_those_of_numpy(function):
    compiled = weft.jit(fallback="silent")(function)
    for shape, (layout, dtype) in itertools.product(SHAPES, zip(LAYOUTS.values(), ("f8", "i4", "c16", "f4"))):

        def make(shape=shape, layout=layout, dtype=dtype):
            return layout(np.arange(np.prod(shape)).astype(dtype).reshape(shape)), shape[0]

        same_as_plain(compiled, function, make, tolerance=1e-12, calls=1)


def convolution(x, w):
    """By patches laid out as rows of a matrix."""
    n = x.shape[0]
    k = w.shape[2]
    patches = sliding_window_view(x, (k, k), axis=(2, 3))
    high, wide = patches.shape[2], patches.shape[3]
    rows = patches.transpose(0, 2, 3, 1, 4, 5).reshape(n * high * wide, -1)
    y = rows @ w.reshape(w.shape[0], -1).T
    return y.reshape(n, high, wide, -1).transpose(0, 3, 1, 2)


def test_patches_as_rows_need_no_divisions():
    rng = np.random.default_rng(0)
    make = lambda: (rng.integers(0, 9, (2, 3, 8, 7)).astype(float), np.ones((4, 3, 3, 3)))  # noqa: E731
    compiled = weft.jit(fallback="error")(convolution)
    given = make()
    assert np.array_equal(compiled(*given), convolution(*given))
    product = [line for line in compiled.inspect("ir").splitlines() if "sum[" in line]
    assert product and all("//" not in line.split("*")[0] for line in product), product
    bad = (given[0], np.ones((4, 2, 3, 3)))
    assert str(outcome(compiled, bad).error) == str(outcome(convolution, bad).error)


def test_a_copy_of_known_shape_is_native():
    for function in (merged, turned):
        differential(function, lambda: (np.arange(24.0).reshape(2, 3, 4), 2))


def test_quotients_of_polynomials():
    n, m, two = Var("n"), Var("m"), integer(2)
    wide = Op("mul", (Op("sub", (n, two), INT), Op("add", (m, n), INT)), INT)
    left, right = poly(Op("sub", (n, two), INT)), poly(Op("add", (m, n), INT))
    assert poly(wide).quotient(left) == right
    assert poly(wide).quotient(right) == left
    assert poly(wide).quotient(poly(m)) is None
    assert poly(Op("mul", (n, integer(3)), INT)).quotient(poly(two)) is None
    assert poly(wide).quotient(Poly(())) is None
    assert left.divides(poly(wide)) and not poly(m).divides(left)
