"""Powers of arrays, of elements and by np.power: NumPy computes them in ways that differ in dtype and at the ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft

_ROOTS = {
    "array": lambda a: a**0.5,
    "function": lambda a: np.power(a, 0.5),
    "elements": lambda a: [x**0.5 for x in a],
    "strong": lambda a: [x ** np.float64(0.5) for x in a],
}
_SQUARES = {
    "array": lambda a: a**2,
    "function": lambda a: np.power(a, 2),
    "element": lambda a: a[0] ** 2,
    "function of an element": lambda a: np.power(a[0], 2),
    "square": lambda a: np.square(a),
}


def _described(value: Any) -> Any:
    parts = map(np.asarray, value if type(value) is list else [value])
    return [(part.dtype, part.tobytes()) for part in parts]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", sorted(_ROOTS))
def test_roots(name: str, dtype: Any) -> None:
    function = _ROOTS[name]
    a = np.array([-np.inf, -0.0, 0.0, np.inf, 4, 0.25, 1e-30], dtype)
    with np.errstate(all="ignore"):
        assert _described(weft.jit(function, backend="python", fallback="silent")(a)) == _described(function(a))


@pytest.mark.parametrize("name", sorted(_SQUARES))
def test_squares(name: str) -> None:
    function = _SQUARES[name]
    for dtype in (np.bool_, np.int8, np.uint16, np.float32):
        a = np.array([1, 0, 1], dtype)
        run = weft.jit(function, backend="python", fallback="silent")
        assert _described(run(a)) == _described(function(a)), dtype
