"""Arrays of rank 0 as arguments: one element that is read, and written back through `a[()] = v`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from tests.support import function_from_source

#: What a function of (p, x, m) does with p; all of these are native for floats.
NATIVE = (
    "return p + 1, -p, p > 2, 2 / p, p ** 2, p * p",
    "return x * p, x + p, x > p, p - x, x ** p",
    "return float(p), int(p), bool(p), not p, p.item(), p[()], p.shape, p.ndim, p.size",
    "return np.sqrt(p), np.add(p, x), np.maximum(p, 1), p.sum(), p.max(), np.mean(p), np.float32(p)",
    "t = 0.0\nfor i in range(x.size):\n    t += x[i] * p\nreturn t",
    "t = 0\nfor i in range(3):\n    t += p\nreturn t",
    "a = np.zeros(p.shape + (2, 2))\na[..., 0, 0] = np.sqrt(p)\nreturn a",
    "p[()] = 5\nreturn p * 1",
    "p[...] = x[1]\nx[0] = 9\nreturn p + 0",
    "p[()] += 2\nreturn p + 0",
    "p += 1\np *= 2\nreturn p + 0",
    "q = p\nq += 1\nreturn p + 0",
    "q = p[...]\nq += 1\nreturn p + 0",
    "q = p[()]\nq += 1\nreturn p + 0, q",
    "q = p + 0\np[()] = 4\nreturn q",
    "q = p.reshape(1)\nq[0] = 8\nreturn p + 0",
    "p.fill(3)\nreturn p + 0",
    "for i in range(x.size):\n    p[()] += x[i]\nreturn p + 0",
    "while p > 1:\n    p -= 1\nreturn p + 0",
    "np.add(p, 1, out=p)\nreturn p + 0",
    "x[0], p[()] = p, x[0]\nreturn x",
    "x[x > p] = p\nreturn x",
    "if p > 2:\n    return 1\nreturn 2",
    "return p",
)
#: What NumPy has as an array, or has no meaning for: the same answer, or the same exception.
ANY = (
    "return p.copy(), np.array(p), np.asarray(p, float), p.astype(np.float32), np.where(p > 1, p, 0)",
    "return np.asarray(p), p[...], p.T, np.squeeze(p)",
    "return [p], {1: p}, (p, 2)",
    "r = []\nr.append(p)\nreturn r",
    "return p if p > 1 else 0",
    "return len(p)",
    "return [v for v in p]",
    "return p[0]",
    "return round(p)",
    "return np.std(p), np.var(p), p.imag, p.std()",
    "return np.float64(p), np.int64(p), isinstance(p, np.ndarray), isinstance(p, float), type(p) is np.ndarray",
    "p[()] = x\nreturn p",
    "p[()] = 9\nreturn x[10]",
    "p[()] = 9\nraise ValueError('no')",
    "x += p\np += x[0]\nreturn x",
)
#: What integers are for.
WHOLE = (
    "return x[p], m[p], m[p, 1], m[1, p], m[:, p], x[p:], x[:p]",
    "q = m[p]\nq[0] = -1\nreturn m",
    "return list(range(p)), np.zeros(p), [0] * p, (4, 5, 6)[p], [4, 5, 6][p], 'abc'[p]",
    "return 1 << p, p & 1, ~p, np.roll(x, p), p // 2, p % 2",
    "return p.bit_count()",
    "return chr(p)",
)


def seen(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return (type(value), [seen(item) for item in value])
    if isinstance(value, dict):
        return {key: seen(item) for key, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return (type(value), value.dtype, value.tolist())
    return (type(value), value)


def outcome(function: Any, arguments: list[Any]) -> Any:
    try:
        result = seen(function(*arguments))
    except Exception as raised:
        result = (type(raised), str(raised))
    return result, [seen(argument) for argument in arguments]


def arguments(kind: str) -> list[Any]:
    x, m = np.array([1.0, 2.0, 4.0]), np.arange(12.0).reshape(3, 4)
    p = x[1:2].reshape(()) if kind == "shared" else np.array({"float64": 2.5, "bool": True}.get(kind, 2), kind)
    if kind == "int16":
        p.flags.writeable = False
    return [p, x, m]


def function_of(body: str) -> Any:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return function_from_source(f"def f(p, x, m):\n{lines}\n", "f", {"np": np})


@pytest.mark.parametrize("kind", ["float64", "int64", "int16", "bool", "shared"])
@pytest.mark.parametrize("body", NATIVE + ANY + WHOLE)
def test_is_what_numpy_has(body: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_PLAIN", "0")
    function = function_of(body)
    compiled = weft.jit(function, backend="python", fallback="silent")
    for _ in range(2):
        assert outcome(compiled, arguments(kind)) == outcome(function, arguments(kind))


@pytest.mark.parametrize("backend", ["c", "python"])
def test_is_native(backend: str) -> None:
    whole = [body for body in NATIVE if body != "return p" and "**" not in body]
    source = "\n".join(
        f"def f{number}(p, x, m):\n" + "\n".join(f"    {line}" for line in body.splitlines())
        for number, body in enumerate(whole)
    )
    for number in range(len(whole)):
        function = function_from_source(source, f"f{number}", {"np": np})
        compiled = weft.jit(function, backend=backend, fallback="error")
        assert outcome(compiled, arguments("float64")) == outcome(function, arguments("float64")), whole[number]
        assert compiled.stats["python_calls"] == 0


def test_versions_tell_ranks_and_read_only_arrays_apart() -> None:
    function = function_of("p[()] = p + 1\nreturn p * 1")
    compiled = weft.jit(function, backend="c", fallback="silent")
    frozen = np.array(1.5)
    frozen.flags.writeable = False
    swapped = np.array(1.5).astype(">f8")
    for value in (np.array(1.5), frozen, swapped, np.array(1.5), np.ones(3), np.ones((1, 1)), 1.5, np.float64(1.5)):
        for _ in range(2):
            one, other = (value.copy() if value is not frozen and hasattr(value, "copy") else value for _ in range(2))
            assert outcome(compiled, [one, 0, 0]) == outcome(function, [other, 0, 0])


def test_from_outside_and_from_attributes() -> None:
    source = "def f(x):\n    return x * outside + outside.item()\n"
    function = function_from_source(source, "f", {"np": np, "outside": np.array(2.5)})
    compiled = weft.jit(function, backend="python", fallback="error")
    assert outcome(compiled, [np.ones(3)]) == outcome(function, [np.ones(3)])
    function.__globals__["outside"][()] = 4.0
    assert outcome(compiled, [np.ones(3)]) == outcome(function, [np.ones(3)])


@pytest.mark.parametrize("plain", ["0", "1"])
@pytest.mark.parametrize(
    "body", ["return x[..., 0]", "q = x[..., 0]\nq += 1\nreturn x", "q = x[..., 0]\nx[0] = 7\nreturn q + 0",
             "x[..., 0] += 3\nreturn x", "return x[..., 0] + 1, x[0, ...] * x"]
)  # fmt: skip
def test_an_ellipsis_leaves_an_array(body: str, plain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_PLAIN", plain)
    function = function_of(body)
    compiled = weft.jit(function, backend="c", fallback="silent")
    for _ in range(2):
        assert outcome(compiled, arguments("float64")) == outcome(function, arguments("float64"))
