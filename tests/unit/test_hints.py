"""Hints: what each stands for, and that none is trusted without a guard."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from numpy.typing import NDArray

import weft
from weft.frontend.hints import rank_by_use, spec_of_hint, specs_from_hints
from weft.frontend.source import load

N = weft.symbol("N")
M = weft.symbol("M")


def shaped(a: weft.f64[N, M], x: weft.f64[M], scale: float, n: int) -> Any:
    return scale * (a @ x) + n


def loose(a: NDArray[np.float32], b: NDArray[np.float64], k: int) -> Any:
    m, n = b.shape
    total = 0.0
    for i in range(m):
        for j in range(n):
            total += a[i] * b[i, j] + k
    return total


def containers(e: list[tuple[int, float]], d: dict[int, float]) -> float:
    total = 0.0
    for u, w in e:
        if u in d:
            total += w
    return total


def sets(s: set[tuple[int, int]]) -> bool:
    return (1, 1) in s


def lists(a: list[list[float]], flag: bool) -> float:
    return a[0][0] if flag else a[1][1]


def missing(a: weft.f64[N], b) -> Any:
    return a


def of_any_dtype(a: np.ndarray) -> Any:
    return a.sum()


def of_any_number(a: NDArray[Any]) -> Any:
    return a.sum()


@pytest.mark.parametrize(
    ("function", "signature"),
    [
        (shaped, ["f64[:, :]", "f64[:]", "float", "int"]),
        (loose, ["f32[:]", "f64[:, :]", "int"]),
        (lists, ["list[list[float]]", "pybool"]),
        (containers, ["list[tuple[int, float]]", "dict[int, float]"]),
    ],
)
def test_specs(function: Any, signature: list[str]) -> None:
    found = specs_from_hints(function)
    assert found is not None and [str(kind) for kind in found] == signature


def test_an_incomplete_signature_is_not_compiled() -> None:
    for function in (missing, of_any_dtype, of_any_number, sets):
        assert specs_from_hints(function) is None and not weft.jit(function).compile_hints()


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (shaped, (np.ones((3, 4)), np.arange(4.0), 2.0, 1)),
        (loose, (np.ones(3, np.float32), np.ones((3, 2)), 2)),
        (lists, ([[1.0, 2.0], [3.0, 4.0]], True)),
    ],
)
def test_compiled_ahead_and_called(function: Any, arguments: tuple[Any, ...]) -> None:
    compiled = weft.jit(fallback="error")(function)
    assert compiled.compile_hints() and len(compiled.signatures) == 1
    assert np.allclose(compiled(*arguments), function(*arguments))
    assert len(compiled.signatures) == 1, "the version made from the hints serves the call"


def test_a_wrong_hint_is_harmless() -> None:
    compiled = weft.jit(shaped)
    compiled.compile_hints()
    arguments = (np.ones((3, 4), np.complex64), np.arange(4), 2, 1.5)
    assert np.allclose(compiled(*arguments), shaped(*arguments))


def test_rank_by_use() -> None:
    def f(a: Any, b: Any, c: Any, d: Any) -> Any:
        return a[0][1], b.shape[2], c.T, d[..., None]

    tree = load(f).tree
    assert [rank_by_use(tree, name) for name in "abcd"] == [2, 3, 2, 1]


@pytest.mark.parametrize(
    "hint", [dict, "text", list[list[str]], Any, dict[str, complex], list[tuple[int, ...]], dict[int, str], set[float]]
)
def test_hints_that_say_too_little(hint: Any) -> None:
    assert spec_of_hint(hint) is None


@pytest.mark.parametrize("hint", [str, bytes, bytearray, list[str], list[bytes], dict[str, int], dict[str, str]])
def test_hints_of_strings(hint: Any) -> None:
    name = hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)
    assert str(spec_of_hint(hint)) == name


def test_bad_symbols_and_shapes() -> None:
    with pytest.raises(ValueError, match="identifier"):
        weft.symbol("2x")
    with pytest.raises(TypeError, match="shape hint"):
        weft.f64["n"]
