"""Sample data for the differential tests: every dtype with its awkward values, and one array in many memory layouts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

BOOLEAN = ("bool",)
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
REAL = INTEGERS + FLOATS
ALL = BOOLEAN + REAL + COMPLEX

# Pairs whose common type is neither operand's, or surprising.
MIXED = (
    ("bool", "int8"),
    ("bool", "float32"),
    ("int8", "uint8"),
    ("int16", "uint16"),
    ("int64", "uint64"),
    ("int32", "float32"),
    ("uint8", "float32"),
    ("int64", "float32"),
    ("float32", "float64"),
    ("float64", "complex64"),
    ("int32", "complex64"),
    ("uint32", "int8"),
)


def _special(dtype: np.dtype) -> np.ndarray:
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array([0, 1, info.max, info.min, 2, 3, info.max - 1], dtype=dtype)
    if dtype.kind == "f":
        return np.array([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 0.5, 2.0], dtype=dtype)
    return np.array([], dtype=dtype)


def ordinary(dtype: str, shape: int | tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Finite values of moderate size, zeros among them."""
    kind = np.dtype(dtype)
    rng = np.random.default_rng([seed, kind.num])
    if kind.kind == "b":
        return rng.integers(0, 2, shape).astype(kind)
    if kind.kind == "u":
        return rng.integers(0, 12, shape).astype(kind)
    if kind.kind == "i":
        return rng.integers(-9, 10, shape).astype(kind)
    if kind.kind == "f":
        return np.round(rng.normal(size=shape) * 3, 3).astype(kind)
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(kind)


def awkward(dtype: str, shape: int | tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Ordinary values with the extremes of the dtype, infinities, NaN and negative zero scattered among them."""
    values = ordinary(dtype, shape, seed)
    special = _special(values.dtype)
    if special.size and values.size:
        rng = np.random.default_rng([seed, 99])
        flat = values.reshape(-1)
        where = rng.permutation(flat.size)[: (flat.size + 1) // 2]
        flat[where] = special[np.arange(where.size) % special.size]
    return values


def positive(dtype: str, shape: int | tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Values from 1 upwards (complex: away from zero)."""
    values = np.abs(ordinary(dtype, shape, seed)) if np.dtype(dtype).kind != "b" else ordinary(dtype, shape, seed)
    return (values + np.ones(1, dtype=dtype)).astype(dtype)


# --- one array in many layouts ------------------------------------------------------------------------------------


def _stepped(values: np.ndarray) -> np.ndarray:
    roomy = np.zeros(tuple(2 * n + 1 for n in values.shape), dtype=values.dtype)
    view = roomy[tuple(slice(0, 2 * n, 2) for n in values.shape)]
    view[...] = values
    return view


def _reversed(values: np.ndarray) -> np.ndarray:
    every = tuple(slice(None, None, -1) for _ in values.shape)
    return values[every].copy()[every]


def _transposed(values: np.ndarray) -> np.ndarray:
    return values.T.copy().T


def _inner(values: np.ndarray) -> np.ndarray:
    roomy = np.zeros(tuple(n + 3 for n in values.shape), dtype=values.dtype)
    view = roomy[tuple(slice(1, n + 1) for n in values.shape)]
    view[...] = values
    return view


def _readonly(values: np.ndarray) -> np.ndarray:
    copy = values.copy()
    copy.flags.writeable = False
    return copy


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "contiguous": np.ndarray.copy,
    "fortran": _transposed,
    "stepped": _stepped,
    "reversed": _reversed,
    "inner": _inner,
}
READ_LAYOUTS = {**LAYOUTS, "readonly": _readonly}
