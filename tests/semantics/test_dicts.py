"""Dictionaries and sets of numbers and of tuples of numbers: as CPython, in order, and back to the caller."""

from __future__ import annotations

from collections import defaultdict, deque

import numpy as np
import pytest

import weft

RANDOM = np.random.default_rng(0)


def counts(a):
    d = {}
    for v in a:
        k = int(v)
        if k in d:
            d[k] += 1
        else:
            d[k] = 1
    best = -1
    bc = 0
    for k, c in d.items():
        if c > bc:
            best, bc = k, c
    return best, bc, len(d), sum(d.values()), max(d.values())


def memo(n):
    seen = set()
    x = n
    steps = 0
    while x not in seen:
        seen.add(x)
        x = (x * 1103515245 + 12345) % 1009
        steps += 1
    return steps, len(seen), x


def delete(n):
    d = {}
    for i in range(n):
        d[i * 7 % 101] = i * 0.5
    for i in range(0, n, 3):
        del d[i * 7 % 101]
    p = d.pop(7)
    for i in range(n, 3 * n):
        d[i] = float(i)
    out = []
    for k, v in d.items():
        out.append(k * 2.0 + v)
    return out, p, d.get(8, -1.0), d.get(100000, -1.0), d.setdefault(99999, 2.5), len(d)


def tupkey(n):
    d = {}
    for i in range(n):
        for j in range(n):
            d[(i, j % 5)] = d.get((i, j % 5), 0) + i * j
    return sum(d.values()), len(d), (3, 4) in d, (3, 5) in d


def lits(n):
    d = {1: 0.5, 2: 1.5}
    s = {n, n + 1, n}
    d[n] = 2.5
    return d[2] + d[n], len(s), n in s, 4 in s, 5 not in d


def setops(n):
    s = set()
    for i in range(100):
        s.add(i % 17)
    s.discard(3)
    s.discard(1000)
    s.remove(4)
    t = 0
    for i in range(20):
        if i in s:
            t += i
    s.clear()
    return t, len(s)


def retd(n):
    d = {}
    for i in range(n):
        d[i * 3 % 7] = i * 0.5
    return d


def retd2(n):
    d = {}
    for i in range(n):
        d[(i, i % 2)] = (i, i * 0.5)
    del d[(3, 1)]
    return d


def rets(n):
    s = set()
    for i in range(n):
        s.add(i % 4)
    return s


def retl(n):
    out = []
    for i in range(n):
        for j in range(i):
            if (i + j) % 3 == 0:
                out.append((i, j, i * 0.5))
    return out


def retq(n):
    q = deque()
    for i in range(n):
        q.append(i)
        q.appendleft(i)
        if i % 3 == 0:
            q.popleft()
    return q


def retdd(a):
    d = defaultdict(float)
    for v in a:
        d[int(v)] += 0.5
    return d


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (counts, RANDOM.integers(0, 20, 100)),
        (memo, 500),
        (delete, 50),
        (tupkey, 30),
        (lits, 10),
        (setops, 6),
        (retd, 10),
        (retd2, 10),
        (rets, 10),
        (retl, 10),
        (retq, 10),
        (retdd, RANDOM.integers(0, 9, 30)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_same_as_cpython(function, argument):
    got, expected = weft.jit(fallback="error")(function)(argument), function(argument)
    assert got == expected and type(got) is type(expected)
    if isinstance(expected, dict):
        assert list(got.items()) == list(expected.items())


def test_a_missing_key_is_named():
    def one(n):
        d = {1: 2}
        return d[n]

    def two(n):
        d = {(1, 2): 2}
        return d[(n, n)]

    for function, key in ((one, 3), (two, (3, 3))):
        with pytest.raises(KeyError) as error:
            weft.jit(fallback="error")(function)(3)
        assert error.value.args == (key,)
        with pytest.raises(KeyError) as error:
            weft.jit(fallback="error", backend="python")(function)(3)
        assert error.value.args == (key,)


def test_many_entries_move_into_larger_tables():
    def squares(n):
        d = {}
        for i in range(n):
            d[i * i * 7919] = i
        for i in range(0, n, 2):
            del d[i * i * 7919]
        return d

    assert list(weft.jit(fallback="error")(squares)(5000).items()) == list(squares(5000).items())


def test_keys_of_two_types_are_left_to_python():
    def mixed(n):
        d = {}
        d[n] = 1
        d[n + 0.5] = 2
        return d

    assert weft.jit(fallback="silent")(mixed)(3) == mixed(3)
