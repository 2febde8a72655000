"""Arrays of rank 0: good for computing as the number in them, and shown as what they are or left to Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from tests.support import function_from_source

WHERE = "w = np.where(x > 0, x, 0)"
NEW = "w = np.asarray(x)"
#: What follows the line that makes w; native or not, the answer is NumPy's.
USES = (
    "w += 1\nreturn w",
    "v = w\nw += 1\nreturn v + 0",
    "u = w\nu -= 1\na = np.zeros(2)\na += w\nreturn a, u",
    "for _ in range(3):\n    w *= 2\nreturn w",
    "return isinstance(w, np.ndarray), isinstance(w, float), type(w) is np.ndarray",
    "return [w], (w, 1)",
    "r = []\nr.append(w)\nreturn r",
    "return {'a': w}",
    "return [np.where(v > 1, v, 0) for v in (x, x)]",
    "return [np.asarray(v) for v in np.array([x, x])]",
    "v = w if x > 1 else 3.0\nreturn v",
    "return w or 3, w and 2, not w",
    "return w.astype(int), w.copy(), w.real, w.T",
    "return np.copy(w), np.squeeze(w), np.zeros_like(w)",
    "w[()] = 3\nreturn w * 1",
    "a = np.atleast_1d(w)\na[0] = 9\nreturn w + 0, a",
    "return max(w, 0.5), min(w, 0.5)",
    "return w + 1, -w, abs(w), w > 1, float(w), np.sqrt(w), w.sum(), w.item(), w.shape, w.ndim",
    "a = np.zeros(w.shape + (2, 2))\na[..., 0, 0] = np.floor(w)\nreturn a",
    "a = np.arange(4.0)\na[1] = w\nreturn a * w, a + w",
)


def seen(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return (type(value), [seen(item) for item in value])
    if isinstance(value, dict):
        return {key: seen(item) for key, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return (type(value), value.dtype, value.tolist())
    return (type(value), value)


def function_of(made: str, use: str) -> Any:
    body = "\n".join(f"    {line}" for line in f"{made}\n{use}".splitlines())
    return function_from_source(f"def f(x):\n{body}\n", "f", {"np": np})


@pytest.mark.parametrize("made", [WHERE, NEW], ids=["where", "asarray"])
@pytest.mark.parametrize("use", USES)
def test_is_what_numpy_has(made: str, use: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_PLAIN", "0")
    function = function_of(made, use)
    compiled = weft.jit(function, backend="python", fallback="silent")
    for x in (2.5, 0.0, np.float32(1.5), 2):
        assert seen(compiled(x)) == seen(function(x)), x


@pytest.mark.parametrize("use", USES[-3:])
def test_computing_with_them_is_native(use: str) -> None:
    function = function_of(NEW, use)
    compiled = weft.jit(function, fallback="error")
    assert seen(compiled(2.5)) == seen(function(2.5))
    assert compiled.stats["python_calls"] == 0
