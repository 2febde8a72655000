"""Functions with `*` and `**` parameters: a form for each number and names of further arguments."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from tests.semantics.agreement import agree


def weighted(x, *rest, scale=1.0):
    total = x * scale
    for part in rest:
        total = total + part
    return total


def options(x, **kwargs):
    total = x
    for name, value in kwargs.items():
        total += value * len(name)
    if "extra" in kwargs:
        total += 100
    return total, kwargs.get("power", 2), len(kwargs), [name for name in kwargs], list(kwargs.values())


def both(x, *args, **kwargs):
    return x * kwargs.get("alpha", 1.0) + sum(args) + len(args)


def helper(x, y=1.0, *more, z=2.0):
    return x + y * z + len(more)


def passed_on(*args, **kwargs):
    return helper(*args, **kwargs)


def nested(*args):
    def largest(*values):
        return max(values)

    return largest(*args), args[0], args[-1], len(args), args


def statistics(*values):
    if not values:
        return 0.0
    mean = sum(values) / len(values)
    return max(abs(value - mean) for value in values), [value * 2 for value in values], values[::-1]


def stacked(*arrays):
    return np.stack(arrays), sum(arrays)


def changes(*lists):
    for one in lists:
        one[0] = 100
    return [sum(one) for one in lists]


def grows(*lists):
    for one in lists:
        one.append(1)
    return len(lists)


def mode(x, **settings):
    if settings.get("kind", "plain") == "square":
        return x * x
    return x


A = np.arange(3.0)


@pytest.mark.parametrize(
    ("function", "args", "kwargs"),
    [
        (weighted, (1.0, 2.0, 3.0), {}),
        (weighted, (A,), {}),
        (weighted, (A, 2, 3), {"scale": 2.0}),
        (weighted, (), {"x": 2.0, "scale": 3.0}),
        (options, (1.0,), {"a": 2.0, "extra": 3.0}),
        (options, (1.0,), {"power": 5.0}),
        (options, (1.0,), {"a b": 2.0, "lambda": 1.0}),
        (both, (A, A, A), {"alpha": 2.0}),
        (both, (A,), {}),
        (passed_on, (1.0, 2.0), {"z": 3.0}),
        (passed_on, (1.0,), {}),
        (passed_on, (1.0, 2.0, 3.0, 4.0), {}),
        (passed_on, (), {"y": 3.0, "x": 1.0}),
        (nested, (1, 2, 3), {}),
        (nested, (2.5,), {}),
        (statistics, (), {}),
        (statistics, (1, 2, 3), {}),
        (statistics, (1.5, 2.5), {}),
        (stacked, (A, A + 1), {}),
        (changes, ([1, 2], [3, 4]), {}),
        (grows, ([1, 2],), {}),
        (mode, (3.0,), {"kind": "square"}),
        (mode, (3.0,), {"kind": "other"}),
        (mode, (3.0,), {}),
    ],
)
def test_calls(function, args, kwargs):
    agree(function, *args, **kwargs)


@pytest.mark.parametrize(
    ("args", "kwargs"), [((), {}), ((1.0, 2.0), {"x": 1.0}), ((1.0,), {"other": 1}), ((1.0, None), {})]
)
def test_bad_calls(args, kwargs):
    run = weft.jit(weighted)
    with pytest.raises(TypeError) as wanted:
        weighted(*args, **kwargs)
    with pytest.raises(TypeError) as found:
        run(*args, **kwargs)
    assert str(found.value) == str(wanted.value)


def test_one_form_for_each_shape_of_calls():
    run = weft.jit(weighted)
    for _ in range(3):
        run(1.0, 2.0)
        run(1.0, 2.0, 3.0)
    assert len(run.signatures) == 2
    assert sum(run.stats["calls"].values()) == 6
    assert run.stats["python_calls"] == 0
    assert "weighted" in str(run.explain())
    assert run.inspect("c")


def test_names_do_not_collide():
    def f(rest_0, *rest):
        rest_1 = 10
        return rest_0 + rest[0] + rest_1 + rest[1]

    agree(f, 1, 2, 3)


def test_closures_and_defaults():
    factor = 3.0

    def f(x, y=2.0, *rest, bias=factor, **more):
        return x * factor + y + bias + len(rest) + len(more)

    agree(f, 1.0)
    agree(f, 1.0, 5.0, 6.0, bias=1.0, other=2)


def test_what_has_no_native_form_runs_in_python():
    def f(*args, **kwargs):
        return repr(args), sorted(kwargs.items())

    assert weft.jit(fallback="silent")(f)(1, b=2) == f(1, b=2)
