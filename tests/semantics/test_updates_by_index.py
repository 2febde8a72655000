"""Updates at places that data tell: histograms, degrees, extremes of groups; several into one array, any spelling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import differential, made, same_as_plain

LONG = 60_000


def degrees(edges, degree):
    for e in range(edges.shape[0]):
        degree[edges[e, 0]] += 1
        degree[edges[e, 1]] += 1


def weights(edges, degree):
    for e in range(edges.shape[0]):
        degree[edges[e, 0]] += 2 * e
        degree[edges[e, 1]] -= e
        if edges[e, 0] != edges[e, 1]:
            degree[0] += 1


def smallest(edges, degree):
    for e in range(edges.shape[0]):
        if edges[e, 1] < degree[edges[e, 0]]:
            degree[edges[e, 0]] = edges[e, 1]


def mixed(edges, degree):
    for e in range(edges.shape[0]):
        degree[edges[e, 0]] += 1
        degree[edges[e, 1]] *= 3


def of_itself(edges, degree):
    for e in range(edges.shape[0]):
        degree[edges[e, 0]] += 1
        degree[edges[e, 1]] += degree[edges[e, 0]]


def changed_between(edges, degree):
    for e in range(edges.shape[0]):
        k = edges[e, 0]
        if edges[e, 1] < degree[k]:
            k = edges[e, 1]
            degree[k] = edges[e, 0]


def two_in_branch(edges, degree):
    for e in range(edges.shape[0]):
        if degree[edges[e, 0]] < 40:
            degree[edges[e, 0]] += edges[e, 1]
            degree[edges[e, 1]] += 1


FUNCTIONS = [degrees, weights, smallest, mixed, of_itself, changed_between, two_in_branch]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_updates_of_integers(function: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 50, (LONG, 2))
    compiled = differential(function, made(edges, np.full(50, 30)), calls=1)
    if function in (degrees, weights, smallest):
        assert "parallel" in str(compiled.explain())
    for given in (edges[:7] - 25, edges[:0], rng.integers(-50, 50, (900, 2))):
        same_as_plain(compiled, function, made(given, np.arange(50) * 3 - 20), calls=1)
    # An index that is out of range, in the middle: what was done before it stays done.
    beyond = edges[:300].copy()
    beyond[200] = (7, 50)
    same_as_plain(compiled, function, made(beyond, np.arange(50)), calls=1)


def shares(places, near, values, grid):
    for i in range(places.shape[0]):
        grid[places[i]] += values[i] * 0.75
        grid[near[i]] += values[i] * 0.25


def test_sums_of_floats_at_two_places() -> None:
    rng = np.random.default_rng(1)
    places, near = rng.integers(0, 40, (2, LONG))
    given = made(places, near, rng.standard_normal(LONG), np.zeros(40))
    differential(shares, given, tolerance=1e-10, calls=1)
    differential(shares, given, fp="strict", calls=1)  # bit for bit


def least(places, values, found):
    for i in range(places.shape[0]):
        found[places[i]] = min(found[places[i]], values[i])


def least_by_test(places, values, found):
    for i in range(places.shape[0]):
        if values[i] < found[places[i]]:
            found[places[i]] = values[i]


def least_or_equal(places, values, found):
    for i in range(places.shape[0]):
        if values[i] <= found[places[i]]:
            found[places[i]] = values[i]


def least_of_numpy(places, values, found):
    np.minimum.at(found, places, values)


@pytest.mark.parametrize("function", [least, least_by_test, least_or_equal, least_of_numpy], ids=lambda f: f.__name__)
def test_which_of_two_zeros_stays(function: Callable[..., Any]) -> None:
    rng = np.random.default_rng(2)
    places = rng.integers(0, 9, LONG)
    values = np.copysign(np.zeros(LONG), rng.standard_normal(LONG))
    values[::1000] = rng.standard_normal(60)
    compiled = differential(function, made(places, np.abs(values) + 0.0, np.copysign(np.ones(9), values[:9])), calls=1)
    same_as_plain(compiled, function, made(places, values, np.ones(9)), calls=1)
    values[100::7000] = np.nan
    same_as_plain(compiled, function, made(places, values, np.ones(9)), calls=1)
    for first, second in ((0.0, -0.0), (-0.0, 0.0)):
        same_as_plain(compiled, function, made(places[:20], np.full(20, first), np.full(9, second)), calls=1)


def crossings(position, sources, targets):
    crossing = np.zeros(len(position))
    for edge in range(len(sources)):
        one, other = position[sources[edge]], position[targets[edge]]
        crossing[min(one, other)] += 1.0
        crossing[max(one, other)] -= 1.0
    return crossing


def test_places_that_the_loop_works_out_are_used_at_once():
    """Two updates at such places share a loop: in loops of their own they would need arrays of places."""
    random = np.random.default_rng(6)
    compiled = weft.jit(fallback="error")(crossings)
    arguments = random.permutation(50), random.integers(0, 50, 300), random.integers(-50, 50, 300)
    np.testing.assert_array_equal(compiled(*arguments), crossings(*arguments))
    locals_of = [line for line in compiled.inspect("ir").splitlines() if line.lstrip().startswith("local index")]
    assert not any("[" in line for line in locals_of)
    with pytest.raises(IndexError):
        compiled(arguments[0], arguments[1] + 40, arguments[2])
