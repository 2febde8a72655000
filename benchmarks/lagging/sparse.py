"""Sparse products as loops over index arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.lagging import Kernel


def csr_product(start, columns, values, x):
    y = np.zeros(start.shape[0] - 1)
    for i in range(start.shape[0] - 1):
        total = 0.0
        for k in range(start[i], start[i + 1]):
            total += values[k] * x[columns[k]]
        y[i] = total
    return y


def csr_slices(start, columns, values, x):
    y = np.empty(start.size - 1, values.dtype)
    for i in range(start.size - 1):
        y[i] = values[start[i] : start[i + 1]] @ x[columns[start[i] : start[i + 1]]]
    return y


def csc_product(start, rows, values, x, n):
    y = np.zeros(n)
    for j in range(start.shape[0] - 1):
        for k in range(start[j], start[j + 1]):
            y[rows[k]] += values[k] * x[j]
    return y


def coo_product(rows, columns, values, x, n):
    y = np.zeros(n)
    for k in range(values.shape[0]):
        y[rows[k]] += values[k] * x[columns[k]]
    return y


def padded_rows(columns, values, x):
    """As many entries in each row: two matrices."""
    y = np.zeros(columns.shape[0])
    for i in range(columns.shape[0]):
        for k in range(columns.shape[1]):
            y[i] += values[i, k] * x[columns[i, k]]
    return y


def _compressed(rng: np.random.Generator, rows: int, columns: int, entries: int) -> tuple[Any, ...]:
    start = np.arange(0, rows * entries + 1, entries)
    index = np.sort(rng.integers(0, columns, (rows, entries)), axis=1).ravel()
    return start, index, rng.random(rows * entries)


def _csr(rng: np.random.Generator) -> tuple[Any, ...]:
    return (*_compressed(rng, 50_000, 50_000, 10), rng.random(50_000))


def _padded(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.integers(0, 40_000, (40_000, 8)).astype(np.int32), rng.random((40_000, 8)), rng.random(40_000)


def _coo(rng: np.random.Generator) -> tuple[Any, ...]:
    start, index, values = _compressed(rng, 50_000, 50_000, 10)
    return np.repeat(np.arange(50_000), 10), index, values, rng.random(50_000), 50_000


KERNELS = [
    Kernel("sparse", csr_product, _csr),
    Kernel("sparse", csr_slices, _csr),
    Kernel("sparse", csc_product, lambda rng: (*_csr(rng), 50_000)),
    Kernel("sparse", coo_product, _coo),
    Kernel("sparse", padded_rows, _padded),
]
