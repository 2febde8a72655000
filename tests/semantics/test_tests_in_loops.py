"""Loops whose iterations may raise run as vectors, and still raise what CPython raises, at the same iteration: with the
same exception, message and line, and with the arguments as CPython would have left them.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import same_as_plain
from weft.runtime import toolchain

SIZE = 37


def fresh_logarithms(x):
    out = np.empty(len(x))
    for i in range(len(x)):
        out[i] = math.log(x[i]) + 1.0
    return out


def logarithms_in_place(x):
    for i in range(len(x)):
        x[i] = math.log(x[i])


def into_another(x, out):
    for i in range(len(x)):
        out[i] = math.sqrt(x[i]) * 2.0
    return 1


def exponentials_of_what_it_wrote(x, out):
    for i in range(len(x)):
        out[i] = x[i] * 3.0
        out[i] = math.exp(float(out[i]))


def quotients(x, out):
    for i in range(len(x)):
        r = float(x[i]) * float(x[i])
        out[i] = 1.0 / r


def powers_of_distances(x, y):
    total = 0.0
    for i in range(len(x)):
        d = float(x[i]) - float(y[i])
        total += 1.0 / (d * d) ** 1.5
    return total


def pairs(x, force):
    for i in range(len(x)):
        for j in range(len(x)):
            d = float(x[i]) - float(x[j])
            r = math.sqrt(d * d + 0.1)
            force[i] += d / (r * r * r)


def nested_logarithms(x, out):
    for i in range(len(x)):
        s = 0.0
        for j in range(3):
            s += math.log(float(x[i]) + j)
        out[i] = s


def only_where_it_may(x, out):
    for i in range(len(x)):
        if x[i] > 0.0:
            out[i] = math.log(x[i])
        else:
            out[i] = -1.0


def scattered(x, out):
    n = len(x)
    for i in range(n):
        out[(i * 5) % n] = math.sqrt(x[i])


def two_tests(x, out):
    for i in range(len(x)):
        a = math.log(x[i])
        out[i] = a
        x[i] = 1.0 / a


def backwards(x, out):
    for i in range(len(x) - 1, -1, -1):
        out[i] = math.acos(x[i] / 100.0)


def a_sum_before_and_after(x, out):
    s = 1.0
    for i in range(len(x)):
        s += math.sqrt(x[i])
        out[i] = x[i]
    out[0] = s
    return s


def rows(x, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = math.exp(x[j] * i)


def whole_numbers(k, out):
    for i in range(len(k)):
        out[i] = 100 // int(k[i])


def remainders(k, out):
    for i in range(len(k)):
        out[i] = 7 % k[i] if k[i] > 0 else -1


FLOATS: list[Callable[..., Any]] = [
    logarithms_in_place,
    into_another,
    exponentials_of_what_it_wrote,
    quotients,
    powers_of_distances,
    pairs,
    nested_logarithms,
    only_where_it_may,
    scattered,
    two_tests,
    backwards,
    a_sum_before_and_after,
]
BAD = {"negative": -2.5, "zero": 0.0, "nan": math.nan, "inf": math.inf, "-inf": -math.inf, "huge": 1e300, "one": 1.0}
PLACES = {"first": 0, "middle": SIZE // 2, "last": SIZE - 1}


def values(seed: int = 3, dtype: Any = np.float64) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.5, 2.0, SIZE).astype(dtype)


def two(function: Callable[..., Any], x: np.ndarray) -> tuple[Any, ...]:
    return (x,) if function.__code__.co_argcount == 1 else (x, values(4, x.dtype))


@pytest.mark.parametrize("function", FLOATS, ids=lambda f: f.__name__)
def test_good_values_and_one_bad_value(function) -> None:
    compiled = weft.jit(fallback="error")(function)
    same_as_plain(compiled, function, lambda: two(function, values()), 1e-13)
    for bad in BAD.values():
        for place in PLACES.values():

            def make(bad: float = bad, place: int = place) -> tuple[Any, ...]:
                x = values()
                x[place] = bad
                return two(function, x)

            same_as_plain(compiled, function, make, 1e-13, calls=1)


@pytest.mark.parametrize("function", FLOATS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", ["float32", "strided", "reversed", "empty", "single"])
def test_other_arrays(function, kind: str) -> None:
    def make(bad: bool) -> tuple[Any, ...]:
        x = values(dtype=np.float32 if kind == "float32" else np.float64)
        if bad:
            x[-1 if kind == "reversed" else 0] = -3.0
        arguments = two(function, x)
        steps = {"strided": slice(None, None, 2), "reversed": slice(None, None, -1)}
        cut = {**steps, "empty": slice(0), "single": slice(1)}
        return tuple(a[cut[kind]] for a in arguments) if kind in cut else arguments

    compiled = weft.jit(fallback="error")(function)
    same_as_plain(compiled, function, lambda: make(False), 1e-6 if kind == "float32" else 1e-13)
    same_as_plain(compiled, function, lambda: make(True), 1e-6 if kind == "float32" else 1e-13)


def test_fresh_results_and_the_line_of_the_exception() -> None:
    compiled = weft.jit(fallback="error")(fresh_logarithms)
    same_as_plain(compiled, fresh_logarithms, lambda: (values(),), 1e-13)
    for function in (fresh_logarithms, logarithms_in_place):
        compiled = weft.jit(fallback="error")(function)
        compiled(values())
        lines = []
        for version in (compiled, function):
            x = values()
            x[20] = -1.0
            with pytest.raises(ValueError, match=r"math domain error|expected a positive input") as caught:
                version(x)
            lines.append(traceback.extract_tb(caught.value.__traceback__)[-1].lineno)
        # Generated Python raises from a line of its own.
        assert lines[0] == lines[1] or toolchain.find() is None


def test_a_matrix_by_rows() -> None:
    compiled = weft.jit(fallback="error")(rows)
    same_as_plain(compiled, rows, lambda: (values(), np.zeros((5, SIZE))), 1e-13)
    for place in PLACES.values():

        def make(place: int = place) -> tuple[Any, ...]:
            x = values()
            x[place] = 300.0
            return x, np.zeros((5, SIZE))

        same_as_plain(compiled, rows, make, 1e-13)


@pytest.mark.parametrize("function", [whole_numbers, remainders], ids=lambda f: f.__name__)
def test_integers(function) -> None:
    compiled = weft.jit(fallback="error")(function)
    for place in (None, *PLACES.values()):

        def make(place: int | None = place) -> tuple[Any, ...]:
            k = np.random.default_rng(1).integers(1, 9, SIZE)
            if place is not None:
                k[place] = 0
            return k, np.zeros(SIZE, np.int64)

        same_as_plain(compiled, function, make)


def lists_of_roots(x):
    out = []
    for i in range(len(x)):
        out.append(math.sqrt(x[i]))
    return out


def comprehension(x):
    return [math.exp(v) for v in x]


@pytest.mark.parametrize("function", [lists_of_roots, comprehension], ids=lambda f: f.__name__)
def test_lists(function) -> None:
    compiled = weft.jit(fallback="error")(function)
    same_as_plain(compiled, function, lambda: (values().tolist(),), 1e-13)
    for bad in BAD.values():
        same_as_plain(compiled, function, lambda bad=bad: ([*values().tolist(), bad, 1.0],), 1e-13, calls=1)


def steps_in_time(x, v, steps):
    for _ in range(steps):
        for i in range(len(x)):
            v[i] -= math.sin(x[i]) / x[i]
        for i in range(len(x)):
            x[i] = math.sqrt(x[i] + 0.01 * v[i])


def test_inside_a_loop_that_stays() -> None:
    compiled = weft.jit(fallback="error")(steps_in_time)
    same_as_plain(compiled, steps_in_time, lambda: (values(), values(5), 4), 1e-12)
    for place in PLACES.values():

        def make(place: int = place) -> tuple[Any, ...]:
            x, v = values(), values(5)
            v[place] = -400.0
            return x, v, 4

        same_as_plain(compiled, steps_in_time, make, 1e-12)


IN_PLACE = [logarithms_in_place, into_another, exponentials_of_what_it_wrote, quotients, nested_logarithms]


@pytest.mark.parametrize("function", [fresh_logarithms, *IN_PLACE], ids=lambda f: f.__name__)
def test_these_loops_are_vectors(function) -> None:
    """The loop that does the work has no exit: its tests are made beforehand or gathered in a flag."""
    from weft.ir.program import Check, Loop, LoopKind, Stmt
    from weft.ir.walk import walk
    from weft.pipeline import stages

    lowered = stages(function, two(function, values()))[-1][1]
    vectors = [node for node in walk(lowered.body) if isinstance(node, Loop) and node.kind is LoopKind.VECTOR]
    work = [repr(inner) for loop in vectors for inner in loop.body if isinstance(inner, Stmt)]
    assert any(name in text for text in work for name in ("log", "sqrt", "exp", "truediv"))
    assert not any(isinstance(inner, Check) for loop in vectors for inner in walk(loop.body))


def angles(a, b, c, d):
    out = np.empty(len(a))
    for i in range(len(a)):
        half = math.sin((c[i] - a[i]) / 2) ** 2 + math.cos(a[i]) * math.cos(c[i]) * math.sin((d[i] - b[i]) / 2) ** 2
        out[i] = 2 * math.atan2(math.sqrt(half), math.sqrt(1 - half))
    return out


def near_unit(x):
    total = 0.0
    for i in range(len(x)):
        s = math.sin(x[i])
        c = math.cos(x[i])
        total += math.acos(s * s + c * c)
    return total


@pytest.mark.parametrize("seed", range(12))
def test_at_the_boundary_of_a_domain_cpython_decides(seed: int) -> None:
    """Opposite points: whether `1 - half` is negative depends on the last place of a sine."""
    compiled = weft.jit(fallback="error")(angles)
    rng = np.random.default_rng(seed)

    def make() -> tuple[Any, ...]:
        local = np.random.default_rng(seed)
        latitude, longitude = local.uniform(-1.5, 1.5, (2, 8))
        return latitude, longitude, -latitude, longitude + math.pi

    same_as_plain(compiled, angles, make, 1e-9)
    x = rng.uniform(-3.0, 3.0, 1 + seed % 3)
    same_as_plain(weft.jit(fallback="error")(near_unit), near_unit, lambda: (x.copy(),), 1e-7)
