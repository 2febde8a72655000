"""Lists that grow and shrink, comprehensions with conditions and several loops, folds of generators: as CPython."""

from __future__ import annotations

import math

import numpy as np
import pytest

import weft


def squares(n):
    out = []
    for i in range(n):
        out.append(i * i)
    return out


def recurrence(n, x):
    terms = [1.0, x]
    for _ in range(2, n):
        terms.append(2 * x * terms[-1] - terms[-2])
    return terms


def chosen(x):
    out = []
    for v in x:
        if v > 0.5:
            out.append(v)
    return out, len(out)


def chosen_as_array(x):
    out = []
    for v in x:
        if v > 0.5:
            out.append(v * 2)
    return np.array(out), sum(out)


def stack(n):
    todo = [n]
    total = 0
    while todo:
        k = todo.pop()
        total += k
        if k > 1:
            todo.append(k // 2)
            todo.append(k // 3)
    return total


def too_many_pops(n):
    items = [1]
    for _ in range(n):
        items.pop()
    return items


def edits(n):
    s = []
    for i in range(n):
        s.insert(i // 2, i)
    s.insert(-1, 99)
    s.insert(-100, 98)
    s.insert(1000, 97)
    x = s.pop(0)
    y = s.pop(3)
    z = s.pop(-2)
    s.remove(5)
    del s[2]
    del s[-1]
    return s, x, y, z


def aliases(n):
    a = [0.5]
    a.extend([1.5, 2.5])
    a.extend(a)
    a += [3.5]
    b = a
    b.append(float(n))
    return a, len(b), sum(a), max(a), a[2:4], 2.5 in a


def primes(n):
    found = []
    for k in range(2, n):
        if all(k % p for p in found):
            found.append(k)
    return found


def fresh_each_time(x):
    total = 0.0
    for i in range(5):
        current = []
        for j in range(i):
            current.append(x[j] * i)
        for v in current:
            total += v
    return total


def through_a_function(n):
    def add(items, v):
        items.append(v)

    out = []
    for i in range(n):
        add(out, i)
    return out


def cleared(n):
    out = []
    lengths = 0
    for i in range(n):
        out.clear()
        for j in range(40):
            out.append(float(j + i))
        lengths += len(out)
    return lengths, out


def pairs(n):
    return [i * j for i in range(n) for j in range(i) if (i + j) % 3 == 0]


def conditions(x):
    return [v for v in x if v > 0.5], [float(v) for v in x if v < 0.5 if v > 0.1]


def stacked(x):
    rows = np.array([row * 2 for row in x])
    return rows, np.mean([np.sqrt(row) for row in x], axis=0), max(row.max() for row in x)


def folds(n):
    return (
        any(i * i == 49 for i in range(n)),
        all(i < n for i in range(n)),
        any(i > 100 for i in range(n)),
        sum(1 for i in range(n) if i % 3 == 0),
        sum(i * j for i in range(n) for j in range(i)),
    )


def shifted_sum(a):
    return sum(np.roll(np.roll(a, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))


def joined(n):
    return [0.5] + [1.5] * n + [2.5, 3.5] * 2, np.arange(3.0) + [1, 2, 3]


def never_filled(n):
    out = []
    return out, n


def of_two_kinds(n):
    out = [1]
    out.append(2.5)
    return out


X = np.random.default_rng(3).random(40)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (squares, (0,)),
        (squares, (1000,)),
        (recurrence, (2, 0.5)),
        (recurrence, (200, 0.5)),
        (chosen, (X,)),
        (chosen_as_array, (X,)),
        (stack, (300,)),
        (edits, (30,)),
        (aliases, (7,)),
        (primes, (200,)),
        (fresh_each_time, (X,)),
        (through_a_function, (50,)),
        (cleared, (3,)),
        (pairs, (0,)),
        (pairs, (20,)),
        (conditions, (X,)),
        (stacked, (X.reshape(5, 8),)),
        (folds, (20,)),
        (shifted_sum, (np.arange(12).reshape(3, 4),)),
        (joined, (4,)),
        (never_filled, (3,)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_same_as_cpython(function, arguments):
    expected = function(*arguments)
    got = weft.jit(fallback="error")(function)(*arguments)
    _same(got, expected)


def _same(got, expected):
    assert type(got) is type(expected)
    if isinstance(expected, (list, tuple)):
        assert len(got) == len(expected)
        for mine, other in zip(got, expected):
            _same(mine, other)
    elif isinstance(expected, np.ndarray):
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=1e-14)
    else:
        assert got == expected or math.isclose(got, expected, rel_tol=1e-13)


def test_pop_of_an_empty_list_raises():
    with pytest.raises(IndexError, match="pop from empty list"):
        weft.jit(fallback="error")(too_many_pops)(3)


def test_an_empty_list_has_the_sum_of_python():
    compiled = weft.jit(fallback="error")(chosen_as_array)
    _same(compiled(np.ones(3)), chosen_as_array(np.ones(3)))
    nothing = compiled(np.zeros(3))
    assert nothing[0].shape == (0,) and nothing[1] == 0 and type(nothing[1]) is int


def test_a_list_of_different_types_is_left_to_python():
    assert weft.jit(fallback="silent")(of_two_kinds)(3) == [1, 2.5]


def test_an_argument_may_grow():
    def longer(items):
        items.append(4)
        return len(items)

    items = [3, 1, 2]
    assert weft.jit(fallback="error")(longer)(items) == 4
    assert items == [3, 1, 2, 4]


def test_the_interpreted_version_is_the_same():
    for function, argument in ((edits, 30), (primes, 60), (pairs, 12), (aliases, 4)):
        _same(weft.jit(fallback="error", backend="python")(function)(argument), function(argument))
