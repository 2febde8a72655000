"""Nothing is computed twice: the four kinds of redundancy, counted in the lowered program, for loops and operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.passes.counting import counted

N = 12
RNG = np.random.default_rng(8)
A, B = RNG.random((N, N)) + 1, RNG.random((N, N)) + 1
X = RNG.random(N) + 1


# --- a reduction must not move into a larger domain -----------------------------------------------------------------


def normalised_operators(a):
    total = np.exp(a).sum(axis=1)
    return a / total[:, None]


def normalised_loops(a):
    out = np.empty_like(a)
    for i in range(a.shape[0]):
        total = 0.0
        for k in range(a.shape[1]):
            total += np.exp(a[i, k])
        for j in range(a.shape[1]):
            out[i, j] = a[i, j] / total
    return out


def normalised_by_rows(a):
    out = np.empty_like(a)
    for i in range(a.shape[0]):
        out[i] = a[i] / np.exp(a[i]).sum()
    return out


def two_products_operators(a, b, x):
    return a @ (b @ x)


def two_products_loops(a, b, x):
    n = x.size
    t = np.zeros(n)
    y = np.zeros(n)
    for i in range(n):
        for k in range(n):
            t[i] += b[i, k] * x[k]
    for i in range(n):
        for k in range(n):
            y[i] += a[i, k] * t[k]
    return y


def variance_twice(x):
    return x.var() + x.std()


@pytest.mark.parametrize("function", [normalised_operators, normalised_loops, normalised_by_rows])
def test_reduction_redundancy(function: Callable[..., Any]) -> None:
    assert counted(function, A).operations["exp"] == N * N


@pytest.mark.parametrize("function", [two_products_operators, two_products_loops])
def test_reduction_redundancy_of_products(function: Callable[..., Any]) -> None:
    """Two matrix-vector products, not one for each element of the other."""
    found = counted(function, A, B, X).operations
    assert found["mul"] <= 2 * N * N + 8  # some for the choice of a library routine


def test_reduction_redundancy_of_equal_sums() -> None:
    """One mean and one sum of squares, though they are asked for twice."""
    found = counted(variance_twice, X).operations
    assert found["mul"] <= N + 2 and found["sub"] <= 2 * N


# --- what does not change in a loop is computed before it -----------------------------------------------------------


def invariant_operators(a, x):
    out = np.zeros_like(a)
    for t in range(5):
        out += a * np.exp(x) + t
    return out


def invariant_loops(a, x):
    n = x.size
    out = np.zeros_like(a)
    for t in range(5):
        for i in range(n):
            for j in range(n):
                out[i, j] += a[i, j] * np.exp(x[j]) + t
    return out


def invariant_row(a, x):
    out = np.zeros_like(a)
    for i in range(a.shape[0]):
        scale = np.exp(x)
        out[i] = a[i] * scale
    return out


def invariant_in_while(a, x):
    out = a.copy()
    t = 0
    while out[0, 0] < 1e9 and t < 4:
        out = out * np.exp(x) + 1.0
        t += 1
    return out


@pytest.mark.parametrize("function", [invariant_operators, invariant_loops, invariant_row, invariant_in_while])
def test_loop_invariant_redundancy(function: Callable[..., Any]) -> None:
    assert counted(function, A, X).operations["exp"] == N


# --- what was stored need not be loaded, what was loaded need not be loaded again -----------------------------------


def chain_operators(x):
    t = x * 2.0
    u = t + 1.0
    v = u * u
    return v - 3.0


def chain_loops(x):
    n = x.size
    t = np.empty(n)
    u = np.empty(n)
    v = np.empty(n)
    out = np.empty(n)
    for i in range(n):
        t[i] = x[i] * 2.0
    for i in range(n):
        u[i] = t[i] + 1.0
    for i in range(n):
        v[i] = u[i] * u[i]
    for i in range(n):
        out[i] = v[i] - 3.0
    return out


def rows_in_turn(a):
    t = np.empty(a.shape[1])
    out = np.empty_like(a)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t[j] = a[i, j] * 0.5
        for j in range(a.shape[1]):
            out[i, j] = t[j] - 1.0
    return out


@pytest.mark.parametrize("function, argument", [(chain_operators, X), (chain_loops, X), (rows_in_turn, A)])
def test_load_store_redundancy(function: Callable[..., Any], argument: np.ndarray) -> None:
    """The result is stored once, and no temporary is stored at all; a compiler loads equal elements once."""
    found = counted(function, argument)
    assert sum(found.stores.values()) == argument.size
    assert set(found.loads) <= set(function.__code__.co_varnames[:1])


# --- what nobody needs is not computed ------------------------------------------------------------------------------


def dead_operators(a, x):
    lost = np.exp(a)
    lost = np.sin(lost)
    kept = a * 2.0
    lost = kept + x
    return kept


def dead_loops(a, x):
    kept = np.empty_like(a)
    lost = np.zeros_like(a)
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            lost[i, j] = np.exp(a[i, j]) + x[j]
            total += np.sin(a[i, j])
            kept[i, j] = 7.0
            kept[i, j] = a[i, j] * 2.0
    return kept


@pytest.mark.parametrize("function", [dead_operators, dead_loops])
def test_dead_value_redundancy(function: Callable[..., Any]) -> None:
    found = counted(function, A, X)
    assert found.operations == {"mul": N * N}
    assert sum(found.stores.values()) == N * N and sum(found.loads.values()) == N * N
