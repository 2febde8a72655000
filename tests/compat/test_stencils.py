"""`numba.stencil` of `weft.compat`: kernels with relative indices, against loops that are written out."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft.compat.numba import TypingError, njit, stencil
from weft.errors import attach_source

_SCALE = 3.0


@stencil
def _between(a):  # type: ignore[no-untyped-def]
    return a[-1] + a[1]


@stencil(cval=-2)
def _cross(a):  # type: ignore[no-untyped-def]
    return 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0])


@stencil(neighborhood=((-2, 0),))
def _mean(a):  # type: ignore[no-untyped-def]
    total = 0.0
    for k in range(-2, 1):
        total += a[k]
    return total / _SCALE


@stencil(standard_indexing=("w",))
def _weighted(a, w):  # type: ignore[no-untyped-def]
    return w[0] * a[-1] if a[0] > w[1] else 0.0


@stencil
def _pair(a, b):  # type: ignore[no-untyped-def]
    return a[0, 0] - b[1, 1]


def _plain(kernel: Callable[..., Any], reach: list[tuple[int, int]], arrays: Any, cval: float) -> Any:
    """What a stencil gives, point by point: `kernel` takes a function for the element at a distance of each array."""
    shape = arrays[0].shape
    ranges = [range(-low, size - high) for size, (low, high) in zip(shape, reach)]
    values = {}
    for point in itertools.product(*ranges):
        at = [lambda *d, array=array, point=point: array[tuple(np.add(point, d))] for array in arrays]
        values[point] = kernel(*at)
    found = np.full(shape, cval, dtype=np.asarray(next(iter(values.values()))).dtype)
    for point, value in values.items():
        found[point] = value
    return found


_LINE, _PLANE = np.arange(6) ** 2, np.arange(20).reshape(4, 5) ** 2 % 7


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("step", [1, -1, 2])
def test_as_loops(dtype: str, step: int) -> None:
    line, plane = np.repeat(_LINE, 2).astype(dtype)[::step], np.repeat(_PLANE, 2, axis=0).astype(dtype)[::step]
    cases = [
        (_between(line), _plain(lambda a: a(-1) + a(1), [(-1, 1)], [line], 0)),
        (
            _cross(plane),
            _plain(lambda a: 0.25 * (a(0, 1) + a(1, 0) + a(0, -1) + a(-1, 0)), [(-1, 1)] * 2, [plane], -2),
        ),
        (_pair(plane, plane + 1), _plain(lambda a, b: a(0, 0) - b(1, 1), [(0, 1)] * 2, [plane, plane + 1], 0)),
    ]
    for found, wanted in cases:
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_neighbourhoods_and_other_arguments() -> None:
    line = np.arange(6.0)
    assert _mean(line).tolist() == [0, 0, 1, 2, 3, 4]
    assert _weighted(line, np.array([0.5, 2.0])).tolist() == [0, 0, 0, 1, 1.5, 2]


def test_arrays_smaller_than_the_kernel_are_cval() -> None:
    assert _between(np.ones(1)).tolist() == [0.0] and _between(np.ones(0)).tolist() == []
    assert _cross(np.ones((2, 5))).tolist() == [[-2.0] * 5] * 2


def test_out_keeps_its_border_unless_there_is_a_cval() -> None:
    out = np.full(4, 9.0)
    assert _between(np.arange(4.0), out=out) is out and out.tolist() == [9, 2, 4, 9]
    plane = np.full((3, 3), 9.0)
    assert _cross(np.ones((3, 3)), out=plane)[1, 1] == 1.0 and plane[0, 0] == -2.0


def test_inside_a_compiled_function_and_with_variables_around() -> None:
    def made(scale: float) -> Any:
        @stencil
        def scaled(a):  # type: ignore[no-untyped-def]
            return scale * _SCALE * a[-1]

        return scaled

    kernel = made(2.0)

    @njit
    def twice(a: Any) -> Any:
        return _between(a) * 2

    assert kernel(np.arange(4.0)).tolist() == [0, 0, 6, 12]
    assert twice(np.arange(4.0)).tolist() == [0, 4, 8, 0] and not twice.stats["fallbacks"]


@pytest.mark.parametrize(
    ("kernel", "told"),
    [
        ("@stencil\ndef f(a):\n    s = 0\n    for i in range(3): s += a[i]\n    return s\n", "'neighborhood'"),
        ("@stencil\ndef f(a):\n    a[0] = 1\n    return a[1]\n", "line 3.*not allowed"),
        ("@stencil\ndef f(a):\n    x = a[0]\n", "must return a scalar"),
        ("@stencil\ndef f(a):\n    return a[0] + a[0, 1]\n", "2 indices, not 1"),
        ("@stencil(neighborhood=((-1, 1),))\ndef f(a):\n    return a[0, 1]\n", "1 dimensional neighborhood"),
        ("@stencil(standard_indexing=('a',))\ndef f(a):\n    return a[0]\n", "first argument"),
        ("@stencil\ndef f(a):\n    return 1.0\n", "no relative index"),
        ("@stencil(nearby=3)\ndef f(a):\n    return a[0]\n", "nearby"),
        ("@stencil('wrap')\ndef f(a):\n    return a[0]\n", "wrap"),
    ],
)
def test_what_is_no_stencil(kernel: str, told: str) -> None:
    attach_source("<stencil of a test>", kernel)
    with pytest.raises(TypingError, match=told):
        exec(compile(kernel, "<stencil of a test>", "exec"), {"stencil": stencil})
