"""The remedies work.  Each case is a function that weft refuses and the same one after its remedy was followed: the
warning names the line, a variable with its type and the remedy; what the remedy makes is native and gives the answer.
"""

from __future__ import annotations

import json
import math
import os
import re
import statistics
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import weft

_TOTAL = 0.0


class _Body:
    def __init__(self, x: float) -> None:
        self.x = x


def _opened(a: Any, path: str) -> Any:
    with open(path) as file:
        scale = float(len(file.read()))
    return a * scale


def _scaled(a: Any, scale: float) -> Any:
    return a * scale


def _printed(a: Any) -> Any:
    total = 0.0
    for x in a:
        total += x
    print(end="")
    return total


def _total(a: Any) -> Any:
    total = 0.0
    for x in a:
        total += x
    return total


def _global(a: Any) -> Any:
    global _TOTAL
    _TOTAL = a.sum()
    return a / 2


def _returned(a: Any) -> Any:
    return a / 2, a.sum()


def _parsed(lines: Any) -> Any:
    total = 0
    for line in lines:
        total += len(json.loads(line))
    return total


def _given(rows: Any) -> Any:
    total = 0
    for row in rows:
        total += len(row)
    return total


def _mean(xs: Any) -> Any:
    middle = statistics.mean(xs)
    total = 0.0
    for x in xs:
        total += x - middle
    return total


def _mean_given(xs: Any, middle: float) -> Any:
    total = 0.0
    for x in xs:
        total += x - middle
    return total


def _two_types(a: Any, n: int) -> Any:
    x = 0
    for i in range(n):
        if i > 2:
            x = a
        else:
            x = i
    return x


def _two_names(a: Any, n: int) -> Any:
    k, x = 0, a
    for i in range(n):
        if i > 2:
            x = a
        else:
            k = i
    return x if n > 3 else a + k


def _truth(a: Any) -> Any:
    return 1 if a else 2


def _any(a: Any) -> Any:
    return 1 if a.any() else 2


def _yields(a: Any) -> Any:
    for x in a:
        yield x * 2


def _items(a: Any) -> Any:
    return [x * 2 for x in a]


def _plus(a: Any) -> Any:
    return a + 1


def _field(a: Any) -> Any:
    return a["x"] + 1


def _exp(a: Any) -> Any:
    return np.exp(a)


def _joined(a: Any) -> Any:
    total = 0
    for text in a:
        total += len(text)
    return total


def _unaligned() -> Any:
    return np.frombuffer(b"x" + np.ones(4).tobytes(), np.float64, 4, 1)


def _viewed(a: Any) -> Any:
    return a.view("m8[s]").view(np.int64).sum()


def _length(a: Any) -> Any:
    return a[-1] - a[0]


def _sum(a: Any) -> Any:
    return a.sum()


def _kept(data: Any, mask: Any) -> Any:
    return data[~mask].sum()


def _times(a: Any) -> Any:
    return a * a


def _in_place(a: Any) -> Any:
    a /= 2
    return a


def _new_array(a: Any) -> Any:
    a = a / 2
    return a


def _chained(a: Any) -> Any:
    return 0 < a < 1


def _both(a: Any) -> Any:
    return (0 < a) & (a < 1)


def _minus(a: Any, b: Any) -> Any:
    return a - b


def _xor(a: Any, b: Any) -> Any:
    return a ^ b


def _shape(a: Any) -> Any:
    b = a
    b.shape = (2, -1)
    return b


def _reshape(a: Any) -> Any:
    b = a.reshape((2, -1))
    return b


def _imaginary(a: Any) -> Any:
    a[0] = 1j
    return a


def _real(a: Any) -> Any:
    a[0] = (1j).real
    return a


def _new_attribute(body: Any, v: Any) -> Any:
    body.late = v
    return v * 2


def _no_attribute(body: Any, v: Any) -> Any:
    return v * 2


def _passed(f: Any, a: Any) -> Any:
    return f(a)


def _named(a: Any) -> Any:
    return np.sum(a)


def _along(a: Any) -> Any:
    rows = np.apply_along_axis(len, 1, a)
    return rows.sum()


def _timed(a: Any) -> Any:
    await_me = id(a)
    return a.sum() + 0.0 * math.sqrt(abs(await_me))


def _matched(a: Any, m: Any) -> Any:
    total = 0.0
    for x in a:
        total += x * int(m.group(1))
    return total


def _matched_given(a: Any, factor: int) -> Any:
    total = 0.0
    for x in a:
        total += x * factor
    return total


def _environment(a: Any) -> Any:
    total = 0.0
    for x in a:
        total += x * len(os.environ["PATH"])
    return total


@dataclass(frozen=True)
class _Case:
    before: Callable[..., Any]
    arguments: Callable[[], tuple[Any, ...]]
    says: tuple[str, ...]  # parts of the warning: variables with their types
    remedy: str
    after: Callable[..., Any]
    then: Callable[[], tuple[Any, ...]] | None = None  # the arguments of `after`, if they are others


def _ones() -> tuple[Any, ...]:
    return (np.array([0.25, 0.5, 2.0, 4.0]),)


_APART = "out of the compiled function"
_OUTSIDE = "call it outside the compiled function"
_MASKED = np.ma.array([1.0, 2.0], mask=[False, True])

_CASES = {
    "with": _Case(
        _opened, lambda: (*_ones(), __file__), ("block of `open(path)`",), _APART, _scaled, lambda: (*_ones(), 2.0)
    ),
    "print": _Case(_printed, _ones, ("print",), _OUTSIDE, _total),
    "global": _Case(_global, _ones, ("a global variable",), "return the value instead", _returned),
    "library": _Case(
        _parsed,
        lambda: (['{"v": 2}', "[1, 2]"],),
        ("json.loads", "line: str"),
        _OUTSIDE,
        _given,
        lambda: ([[2], [1, 2]],),
    ),
    "method": _Case(
        _matched,
        lambda: (*_ones(), re.match("(.*)", "12")),
        ("the method group", "m: an object of type Match"),
        f"{_OUTSIDE}, and pass its result",
        _matched_given,
        lambda: (*_ones(), 12),
    ),
    "library's object": _Case(
        _environment,
        _ones,
        ("environ is an object of type _Environ",),
        "pass what you need of it",
        _matched_given,
        lambda: (*_ones(), 7),
    ),
    "mean": _Case(
        _mean, lambda: ([1.0, 2.0],), ("statistics.mean", "xs: list"), _OUTSIDE, _mean_given, lambda: ([1.0, 2.0], 1.5)
    ),
    "two types": _Case(_two_types, lambda: (*_ones(), 5), ("x", "f64 of rank 1"), "another name", _two_names),
    "truth": _Case(_truth, lambda: (np.array([1.0]),), ("a: f64 of rank 1",), ".any()", _any),
    "yield": _Case(_yields, _ones, ("a generator",), "return a list of its items", _items),
    "object": _Case(
        _plus,
        lambda: (np.array([1, 2], object),),
        ("dtype object",),
        "a.astype(float)",
        _plus,
        lambda: (np.array([1.0, 2]),),
    ),
    "fields": _Case(
        _field, lambda: (np.zeros(3, [("x", float)]),), ("a: ", "'x'"), "a['x']", _plus, lambda: (np.zeros(3),)
    ),
    "float16": _Case(
        _exp,
        lambda: (np.ones(3, np.float16),),
        ("float16",),
        "a.astype(np.float32)",
        _exp,
        lambda: (np.ones(3, np.float32),),
    ),
    "byte order": _Case(
        _plus, lambda: (np.ones(3, ">f8"),), ("a: ", ">f8"), "a.astype(np.float64)", _plus, lambda: (np.ones(3),)
    ),
    "long double": _Case(
        _plus,
        lambda: (np.ones(3, ">f8").astype(np.longdouble),),
        ("a: ", np.dtype(np.longdouble).name),
        "a.astype(np.float64)",
        _plus,
        lambda: (np.ones(3),),
    ),
    "unaligned": _Case(
        _plus,
        lambda: (_unaligned(),),
        ("a: an object of type ndarray",),
        "a.copy()",
        _plus,
        lambda: (_unaligned().copy(),),
    ),
    "axes": _Case(
        _sum,
        lambda: (np.ones((2,) * 9),),
        ("a: an object of type ndarray",),
        "at most 8 axes: a.reshape",
        _sum,
        lambda: (np.ones((2,) * 9).reshape(2, -1),),
    ),
    "view": _Case(
        _viewed,
        _ones,
        ("the method view", "a: f64 of rank 1"),
        "compute it outside the compiled function, and pass the result",
        _sum,
        lambda: (_ones()[0].view("m8[s]").view(np.int64),),
    ),
    "strings": _Case(
        _joined, lambda: (np.array(["a", "bc"]),), ("<U2",), "a.tolist()", _joined, lambda: (["a", "bc"],)
    ),
    "dates": _Case(
        _length,
        lambda: (np.array(["2020-01-01", "2020-01-03"], "M8[D]"),),
        ("a: ", "datetime64[D]"),
        "a.view(np.int64)",
        _length,
        lambda: (np.array(["2020-01-01", "2020-01-03"], "M8[D]").view(np.int64),),
    ),
    "masked": _Case(
        _sum,
        lambda: (_MASKED,),
        ("a: an object of type MaskedArray",),
        "a.mask",
        _kept,
        lambda: (_MASKED.data, _MASKED.mask),
    ),
    "matrix": _Case(
        _times, lambda: (np.matrix([[1, 2], [3, 4]]),), ("type matrix",), "np.asarray(a)", _times, lambda: (np.eye(2),)
    ),
    "in place": _Case(_in_place, lambda: (np.arange(3),), ("a: i64 of rank 1",), "a = a / 2", _new_array),
    "chained": _Case(_chained, lambda: (np.array([0.5]),), ("a: f64 of rank 1",), "with &", _both),
    "booleans": _Case(_minus, lambda: (np.array([True]), np.array([True])), ("a: bool of rank 1",), "use ^", _xor),
    "shape": _Case(_shape, _ones, ("f64 of rank 1",), "use reshape", _reshape),
    "complex": _Case(_imaginary, _ones, ("a: f64 of rank 1",), ".real", _real),
    "attribute": _Case(
        _new_attribute, lambda: (_Body(1.0), 2.0), ("the attribute late",), "return the value instead", _no_attribute
    ),
    "function": _Case(_passed, lambda: (np.sum, *_ones()), ("f: ",), "by its own name", _named, _ones),
    "numpy": _Case(_along, lambda: (np.ones((3, 3)),), ("a: f64 of rank 2",), _OUTSIDE, _sum),
    "id": _Case(_timed, _ones, ("a: f64 of rank 1",), _OUTSIDE, _sum),
}


@pytest.mark.parametrize("name", _CASES)
def test_the_remedy_works(name: str) -> None:
    case = _CASES[name]
    refused = weft.jit(case.before, backend="python", cache=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            made = refused(*case.arguments())
            if hasattr(made, "send"):
                list(made)
        except (TypeError, ValueError):
            pass  # plain Python raises here, too
    told = [str(one.message) for one in caught if issubclass(one.category, weft.FallbackWarning)]
    assert told, refused.explain().short()
    code = case.before.__code__
    place, _, rest = told[0].partition(": runs as plain Python: ")
    assert place.startswith(f"{code.co_filename}:")
    assert code.co_firstlineno < int(place.rpartition(":")[2]) <= code.co_firstlineno + 12
    for part in case.says:
        assert part in rest, told[0]
    assert case.remedy in rest.rpartition("try:")[2], told[0]
    assert " this " not in rest and len(told[0].splitlines()) <= 15

    after = weft.jit(case.after, backend="python", cache=False, fallback="error")
    arguments = case.then or case.arguments
    expected = case.after(*arguments())
    found = after(*arguments())
    assert after.signatures, after.explain().short()
    assert type(found) is type(expected)
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected)) if not isinstance(found, tuple) else [
        np.testing.assert_allclose(*pair) for pair in zip(found, expected)
    ]
