"""Python's numbers have Python's attributes, powers and exceptions; NumPy's questions about any value its answers."""

from __future__ import annotations

import math
import random
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


def _carried(xs: list[float]) -> list[float]:
    found, s = [], 0.0
    for x in xs:
        s = (s + x) ** 2 % 7.0
        found.append(s)
    return found


_EXACT = {
    "square": lambda xs: [x**2 for x in xs],
    "cube": lambda xs: [x**3 for x in xs],
    "fourth": lambda xs: [x**4 for x in xs],
    "inverse": lambda xs: [x**-1 for x in xs],
    "carried": lambda xs: _carried(xs),
    "hypot": lambda xs: [math.hypot(x, 0.77 * x) for x in xs],
    "hypot of three": lambda xs: [math.hypot(x, 0.77 * x, 1.5) for x in xs],
    "dist": lambda xs: [math.dist((x, 0.3 * x, 1.0), (0.1, 0.2, 0.3)) for x in xs],
    "dist in a plane": lambda xs: [math.dist((x, 0.3 * x), (0.1, 0.2)) for x in xs],
}


@pytest.mark.parametrize("name", sorted(_EXACT))
def test_powers_and_lengths_have_the_bits_of_python(name: str) -> None:
    seeded = random.Random(name)
    usual = [seeded.uniform(0.01, 50.0) for _ in range(3000)]
    extreme = [seeded.uniform(0.5, 2.0) * 10.0 ** seeded.randint(-75, 75) for _ in range(1000)]
    _same(_EXACT[name], lambda: (usual,), lambda: (extreme,))


def test_lengths_of_special_vectors() -> None:
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 2.2e-308, 1.7e308, 3.0, -4.0, 1e-170, 1e170]
    run = weft.jit(_length, fallback="silent")
    for x in special:
        for y in special:
            for z in (0.0, 1.0, math.nan):
                given = (x, y, z)
                assert _outcome(run, lambda given=given: given) == _outcome(_length, lambda given=given: given)


def _length(x: float, y: float, z: float) -> Any:
    return math.hypot(x, y), math.hypot(x, y, z), math.hypot(x), math.hypot()


def _gamma(x: float) -> float:
    return math.gamma(x) + math.lgamma(x)


def test_gamma_of_its_poles_and_infinities() -> None:
    def near(text: str) -> Any:
        return pytest.approx(float(text), rel=1e-12) if text[-1].isdigit() else text

    for fp in ("numpy", "strict"):
        run = weft.jit(_gamma, fallback="silent", fp=fp)
        for x in (1.5, 0.0, -0.0, -1.0, -2.5, 171.0, 172.0, 1e308, -math.inf, math.inf, math.nan, -1e-310):
            ours, plain = (_outcome(each, lambda x=x: (x,)) for each in (run, _gamma))
            assert (float(ours) if ours[-1].isdigit() else ours) == near(plain) if fp == "numpy" else (ours == plain)


def test_magnitudes_of_complex_numbers_have_the_bits_of_python() -> None:
    def magnitudes(n):
        found = []
        for i in range(n):
            found.append(abs(complex(i * 0.1, 1 / (i + 1))))
        return found

    _same(magnitudes, lambda: (1003,), lambda: (3,), lambda: (0,))


def test_the_magnitude_of_a_finite_number_may_be_infinite() -> None:
    def beyond(a, b):
        z = np.array([complex(a, b)])
        return [1 if np.isfinite(z[0]) and np.isinf(np.abs(z[0])) else 0]

    with np.errstate(all="ignore"):
        _same(beyond, lambda: (1.5e308, 1.5e308), lambda: (1.0, 2.0), lambda: (math.inf, 1.0))
