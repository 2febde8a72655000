"""Sums over windows and over a few coordinates, side by side in vectors; look-ups at places that floats tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import differential, made, same_as_plain


def filtered(image, window):
    h, w = image.shape
    p, q = window.shape
    out = np.zeros((h - p + 1, w - q + 1), image.dtype)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = image[i, j] * 0
            for a in range(p):
                for b in range(q):
                    total += image[i + a, j + b] * window[a, b]
            out[i, j] = total
    return out


def filtered_in_place(image, window, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = 0.0
            for a in range(window.shape[0]):
                for b in range(window.shape[1]):
                    total += image[i + a, j + b] * window[a, b]
            out[i, j] = total


def distances(a, b):
    out = np.empty((a.shape[0], b.shape[0]))
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            total = 0.0
            for k in range(a.shape[1]):
                d = a[i, k] - b[j, k]
                total += d * d
            out[i, j] = np.sqrt(total)
    return out


def all_distances(a, b):
    return np.abs(a[:, None, :] - b[None, :, :]).sum(axis=2)


def nearest(points, centres):
    out = np.empty(points.shape[0], np.int64)
    for i in range(points.shape[0]):
        best = np.inf
        at = -1
        for j in range(centres.shape[0]):
            d = 0.0
            for k in range(3):
                d += (points[i, k] - centres[j, k]) ** 2
            if d < best:
                best = d
                at = j
        out[i] = at
    return out


def numbers(shape: tuple[int, ...], dtype: Any = float, seed: int = 3) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    found = rng.integers(-9, 9, shape)
    return (found + 1j * rng.integers(-9, 9, shape)).astype(dtype) if dtype is complex else found.astype(dtype)


@pytest.mark.parametrize("dtype", [float, np.float32, complex, np.int32])
@pytest.mark.parametrize("shape", [(5, 5), (9, 76), (4, 40), (6, 12)])
def test_windows_of_every_width(dtype: Any, shape: tuple[int, int]) -> None:
    differential(filtered, made(numbers(shape, dtype), numbers((3, 2), dtype)))


@pytest.mark.parametrize("window", [(1, 1), (4, 76), (1, 33), (0, 2)])
def test_windows_of_every_size(window: tuple[int, int]) -> None:
    differential(filtered, made(numbers((4, 76)), numbers(window)), native=0 not in window)


def test_windows_over_other_memory_and_special_values() -> None:
    compiled = weft.jit(filtered)
    image = numbers((7, 90))
    for given in (
        np.asfortranarray(image),
        image[:, ::2],
        image[::-1, ::-1],
        np.where(image > 7, np.nan, image),
        np.where(image > 7, np.inf, image),
        np.where(image == 0, -0.0, image),
    ):
        same_as_plain(compiled, filtered, made(given, numbers((2, 3))))


def test_a_result_that_is_the_window_or_the_image() -> None:
    image = numbers((6, 60))
    whole = numbers((6, 60), seed=5)
    differential(filtered_in_place, lambda: (image.copy(), numbers((2, 3)), whole[:5, :58].copy()))

    def overlapping() -> tuple[Any, ...]:
        both = np.concatenate([image, whole])
        return both[:6], numbers((2, 3)), both[4:9, :58]

    differential(filtered_in_place, overlapping, native=False)


@pytest.mark.parametrize("function", [distances, all_distances])
@pytest.mark.parametrize("sizes", [(1, 50, 3), (5, 40, 3), (6, 33, 1), (7, 9, 40), (0, 4, 3), (4, 0, 3), (5, 70, 10)])
def test_distances(function: Callable[..., Any], sizes: tuple[int, int, int]) -> None:
    n, m, k = sizes
    compiled = weft.jit(fallback="error")(function)
    same_as_plain(compiled, function, made(numbers((n, k)), numbers((m, k), seed=4)))
    same_as_plain(compiled, function, made(numbers((n, k)), np.asfortranarray(numbers((m, k), seed=4))))


def test_distances_of_points_to_each_other() -> None:
    points = numbers((37, 5))
    differential(distances, lambda: (points, points))
    found = weft.jit(distances)(points, points)
    assert (found == found.T).all() and not found.diagonal().any()


@pytest.mark.parametrize("centres", [0, 1, 7, 50])
def test_nearest(centres: int) -> None:
    points = numbers((40, 3))
    points[3, 1] = np.nan
    differential(nearest, made(points, numbers((centres, 3), seed=8)))


# --- look-ups ---


def interpolated(table, x):
    out = np.empty(x.size)
    for i in range(x.size):
        k = int(x[i])
        f = x[i] - k
        out[i] = table[k] * (1 - f) + table[k + 1] * f
    return out


def cubic(table, x):
    out = np.empty(x.size)
    for i in range(x.size):
        k = int(x[i])
        out[i] = table[k + 2] - table[k - 1] + table[k] * (x[i] - k)
    return out


def counted(x, bins):
    out = np.zeros(bins, np.int64)
    for i in range(x.size):
        k = int(x[i] * bins)
        if k >= bins:
            k = bins - 1
        out[k] += 1
    return out


@pytest.mark.parametrize("function", [interpolated, cubic])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "places",
    [(1.5, 2.25, 5.0), (-0.5, 3.0), (-1.5, 3.0), (-8.0,), (6.75, 1.0), (7.0,), (1e19,), (-1e19, 2.0), (np.nan, 1.0)]
    + [(np.inf,), (), (2.0**63,), (-(2.0**63),)],
)
def test_places_that_floats_tell(function: Callable[..., Any], dtype: Any, places: tuple[float, ...]) -> None:
    compiled = weft.jit(function)
    ordinary = np.linspace(1.0, 5.5, 9000).astype(dtype)
    for x in (ordinary, np.concatenate([ordinary, np.array(places, dtype)]), np.array(places, dtype)):
        same_as_plain(compiled, function, made(np.arange(8.0) ** 2, x))


@pytest.mark.parametrize("extra", [(), (1.0, 0.0), (-0.3,), (-1.3,), (np.nan,), (np.inf,), (1e30,)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bins_that_floats_tell(extra: tuple[float, ...], dtype: Any) -> None:
    x = np.concatenate([np.random.default_rng(1).random(5000), np.array(extra)]).astype(dtype)
    differential(counted, made(x, 16), native=False)


# --- tests of places that some loops do not change ---


def product(start, index, value, x):
    out = np.zeros((start.size - 1, x.shape[1]))
    for i in range(out.shape[0]):
        for p in range(start[i], start[i + 1]):
            for k in range(x.shape[1]):
                out[i, k] += value[p] * x[index[p], k]
    return out


@pytest.mark.parametrize("columns", [0, 1, 16, 70])
@pytest.mark.parametrize("wrong", [None, -1, 5, -6])
@pytest.mark.parametrize("end", [8, 9])
def test_sparse_products(columns: int, wrong: int | None, end: int) -> None:
    start = np.array([0, 3, 3, 5, end])
    index = np.array([0, 2, 4, 1, 1, 3, 0, 2])
    if wrong is not None:
        index[6] = wrong
    value, x = numbers((8,)), numbers((5, columns))
    compiled = weft.jit(product)
    same_as_plain(compiled, product, made(np.array([0, 3, 3, 5, 8]), np.arange(8) % 5, value, numbers((5, 4))))
    same_as_plain(compiled, product, made(start, index, value, x))


def bins_in_range(x, low, high):
    return np.histogram(x, 10, range=(low, high))[0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_edges_of_equal_bins_are_numpys(dtype: Any) -> None:
    steps = np.linspace(-3.0, 7.0, 11)
    near = np.concatenate([np.nextafter(steps, -9), steps, np.nextafter(steps, 9), [-50.0, 50.0]])
    differential(bins_in_range, made(near.astype(dtype), -3.0, 7.0))
    differential(bins_in_range, made((near * 0.1).astype(dtype), -0.3, 0.7))
    if dtype is not np.int32:
        differential(bins_in_range, made(np.append(near, np.nan).astype(dtype), 2.0, 7.0))
