"""Python's numbers have Python's attributes, powers and exceptions; NumPy's questions about any value its answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft


def _outcome(function: Any, make: Any) -> str:
    try:
        return repr(function(*make()))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _same(function: Any, *makes: Any) -> None:
    run = weft.jit(function, fallback="silent")
    for make in makes:
        assert _outcome(run, make) == _outcome(function, make)


_METHODS = {
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(),
    "astype": lambda x: x.astype(int),
    "copy": lambda x: x.copy(),
    "clip": lambda x: x.clip(0, 2),
    "item": lambda x: x.item(),
    "reshape": lambda x: x.reshape(1),
    "round": lambda x: (x.max(), x.round(1)),
    "shape": lambda x: x.shape,
    "T": lambda x: x.T,
    "dtype": lambda x: x.dtype,
    "size": lambda x: x.size,
    "tolist": lambda x: x.tolist(),
    "real": lambda x: (x.real, x.imag, x.conjugate()),
}


@pytest.mark.parametrize("name", sorted(_METHODS))
def test_attributes_of_numbers(name: str) -> None:
    numbers = (2.5, 3, True, 1 + 2j, np.float64(2.5), np.int64(3), np.float32(1.5), np.bool_(True))
    for number in numbers:
        _same(_METHODS[name], lambda number=number: (number,))


def power(z: Any, e: Any) -> Any:
    return z**e


def square(z: Any) -> Any:
    return z**2 + z**3


def test_powers_of_complex_numbers() -> None:
    pairs = [(0j, -1), (0j, 1j), (complex(1e200, 0), 2), (0, 1j), (2 + 1j, 2), (2 + 1j, 0.5), (0j, 0), (1j, -2)]
    for pair in pairs:
        _same(power, lambda pair=pair: pair)
    _same(square, lambda: (1 + 2j,), lambda: (complex(1e200, 1),), lambda: (0j,), lambda: (complex(0, np.nan),))
    assert not weft.jit(square, fallback="error")(1 + 2j) != square(1 + 2j)


def questions(t: Any) -> Any:
    return np.ndim(t), np.shape(t), np.size(t)


def test_shapes_of_sequences_and_numbers() -> None:
    _same(questions, lambda: ((1, 2),), lambda: ([1, 2],), lambda: ((1, 2, 3.5),), lambda: (2.0,))
    _same(questions, lambda: (((1, 2), (3, 4)),), lambda: ([[1.0], [2.0]],), lambda: (np.zeros((2, 3)),))


def is_scalar(x: Any) -> Any:
    return 1 if np.isscalar(x) else 0


def test_what_is_a_scalar() -> None:
    values = ("s", b"s", None, 3, 2.5, 1j, True, np.float32(1), [1], (1, 2), np.zeros(2), np.float64)
    for value in values:
        _same(is_scalar, lambda value=value: (value,))


def test_bins_with_nan_and_counts_of_nothing() -> None:
    _same(
        lambda v, b: np.digitize(v, b),
        lambda: (np.array([0.0, 5]), np.array([1.0, np.nan])),
        lambda: (np.array([0.0, 5, np.nan]), np.array([1.0, 2.0])),
    )
    _same(
        lambda x, w: np.bincount(x, weights=w),
        lambda: (np.array([], int), np.array([])),
        lambda: (np.array([1, 3]), np.array([0.5, 2])),
    )


@pytest.mark.parametrize("end", [np.int32(2), np.float32(2), np.int64(2), 2, 2.0])
def test_types_of_grids(end: Any) -> None:
    _same(lambda n: np.mgrid[0:n, 0:2], lambda: (end,))
    _same(lambda n: np.ogrid[0:n, 0:2], lambda: (end,))
