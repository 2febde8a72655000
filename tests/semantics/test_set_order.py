"""The order of sets: CPython's, after any sequence of changes, natively; and what Python must do instead."""

from __future__ import annotations

import random

import pytest

import weft

SIZES = (1, 4, 5, 20, 86, 3000)
RANGES = (6, 60, 10**4, 2**63)


def run_through(items):
    s = set()
    for x in items:
        s.add(x)
    out = []
    for x in s:
        out.append(x)
    return out, list(s), [x % 7 for x in s]


def churn(kinds, keys):
    s = set()
    out = []
    for kind, k in zip(kinds, keys):
        if kind < 8:
            s.add(k)
        elif kind < 12:
            s.discard(k)
        elif kind == 12:
            if len(s) > 0:
                out.append(s.pop())
        elif kind == 13:
            t = set(s)
            out.extend(list(t))
        elif kind == 14:
            if k % 5 == 0:
                s.clear()
        elif kind == 15:
            s.update([k, k // 3, k // 5, k // 7])
        else:
            for x in s:
                out.append(x)
    return out, len(s)


def pairs(xs, ys):
    s = {(x, y) for x in xs for y in ys}
    t = {((x, y), x) for x, y in s}
    return [a ^ b ^ c for (a, b), c in t], list(s)


def union(xs, ys):
    a = set(xs)
    b = set(ys)
    c = a.copy()
    c |= b
    return list(c)


def difference(xs, ys):
    a = set(xs)
    b = set(ys)
    return list(a - b)


def operators(xs, ys):
    a = set(xs)
    b = set(ys)
    a -= b
    c = a.union(b)
    c &= set(xs)
    c.add(7)
    return list(c)


def from_dict(keys):
    d = {}
    for k in keys:
        d[k] = 1
    s = set(d)
    t = set(d.keys())
    t.update(d)
    return list(s), list(t)


def drained(items):
    s = set(items)
    out = []
    while s:
        x = s.pop()
        out.append(x)
        if x % 3 == 0 and x > 2:
            s.add(x // 3)
    return out


def by_key(items):
    s = set(items)
    return sorted(s, key=lambda x: x % 3), min(s, key=lambda x: x % 4)


def moved(items, n):
    cells = set(items)
    for step in range(n):
        cells = {x // 2 + step for x in cells}
        cells.discard(3)
        cells.add(1000 * step)
    return list(cells)


def native(function):
    return weft.jit(fallback="error")(function)


RUNS = {
    f: native(f)
    for f in (run_through, churn, pairs, union, difference, operators, from_dict, drained, by_key, moved)
}


def agree(function, *args):
    expected = function(*args)
    found = RUNS[function](*args)
    assert repr(found) == repr(expected)


def numbers(seed: int, count: int, bound: int) -> list[int]:
    draw = random.Random(seed)
    return [draw.randrange(-bound, bound) for _ in range(count)]


@pytest.mark.parametrize("bound", RANGES)
def test_order_after_additions(bound):
    for count in SIZES:
        agree(run_through, numbers(count, count, bound))
        agree(drained, numbers(count, count, bound))
        agree(by_key, numbers(count, count, bound))
        agree(from_dict, numbers(count, count, bound))
        agree(moved, numbers(count, count, bound), 4)


@pytest.mark.parametrize("bound", RANGES)
def test_order_after_changes(bound):
    for seed in range(12):
        draw = random.Random(seed)
        count = draw.choice((10, 60, 400))
        some = numbers(seed, count // 3 + 1, bound)
        agree(churn, [draw.randrange(17) for _ in range(count)], [draw.choice(some) for _ in range(count)])


@pytest.mark.parametrize("bound", RANGES)
def test_order_after_operations(bound):
    for count in SIZES:
        for other in (1, count // 5 + 1, count):
            some = numbers(2, other, bound) + numbers(1, other // 2, bound)
            for function in (union, difference, operators):
                agree(function, numbers(1, count, bound), some)


def test_tuples():
    for bound in RANGES:
        agree(pairs, numbers(1, 30, bound), numbers(2, 9, bound))


def test_special_hashes():
    edge = [-1, -2, 0, 1, 2**61 - 1, 2**61 - 2, 2**61, 1 - 2**61, -(2**61), 2**62, 2**63 - 1, -(2**63), 2 - 2**62]
    agree(run_through, edge)
    agree(churn, [0] * len(edge) + [16], [*edge, 0])
    agree(pairs, edge, edge)


def test_an_argument_runs_in_its_own_order():
    def f(s):
        out = []
        for x in s:
            out.append(x)
        return out, list(s)

    run = native(f)
    s = set(range(100))
    for x in range(0, 90, 2):
        s.discard(x)
    s.update((1000, 2000, 24, 48))
    assert run(s) == f(s)
    assert run({1, 2}) == f({1, 2})


def life(cells, n):
    for _ in range(n):
        counts = {}
        for x, y in cells:
            for dx in (-1, 0, 1):
                for dy in (-1, 0, 1):
                    if dx or dy:
                        counts[(x + dx, y + dy)] = counts.get((x + dx, y + dy), 0) + 1
        cells = {c for c, k in counts.items() if k == 3 or (k == 2 and c in cells)}
    out = []
    for x, y in cells:
        out.append(x * 100 + y)
    return out


def test_a_set_of_cells():
    draw = random.Random(0)
    cells = {(draw.randrange(30), draw.randrange(30)) for _ in range(200)}
    run = native(life)
    for n in (0, 1, 6):
        assert run(cells, n) == life(cells, n)


def shrunk(items, gone):
    s = set(items)
    for x in gone:
        s.discard(x)
    return s


def copied(d):
    t = set(d)
    t.add(3)
    return t


def display(k):
    s = {1, 17, 33, 2, 50}
    s.add(k)
    return s


def united(xs, ys):
    a = set(xs)
    a |= set(ys)
    return a


def test_results_stand_in_order():
    """Also those that Python must make."""
    draw = random.Random(1)
    for function, cases in (
        (shrunk, [(numbers(k, 40, 60), numbers(k + 50, draw.randrange(60), 60)) for k in range(12)]),
        (copied, [({k: 1 for k in numbers(n, n, 100)},) for n in (1, 5, 6, 21, 30)]),
        (display, [(4,), (1,)]),
        (united, [(numbers(k, 20, 90), numbers(k + 50, 3 * k, 90)) for k in range(1, 8)]),
    ):
        run = weft.jit(function)
        for args in cases:
            assert list(run(*args)) == list(function(*args)), function.__name__


def constants(k):
    out = []
    for x in {3, 1, 2}:
        out.append(x * k)
    s = {6, 4, 5, k}
    for x in {1, 9, 17}:
        out.append(x)
    return out, list(s)


def test_displays():
    run = weft.jit(constants)
    for k in (0, 1, 12):
        assert run(k) == constants(k)


def grows(items):
    s = set(items)
    for x in s:
        if x == 5:
            s.add(1000)
    return len(s)


def alias(items, more):
    s = set(items)
    t = s
    s |= set(more)
    t.discard(2)
    return sorted(s), sorted(t)


def test_bad_input():
    run = weft.jit(grows)
    assert run([1, 2, 3]) == 3
    with pytest.raises(RuntimeError, match="changed size"):
        run([1, 5, 9])
    empty = native(_take)
    with pytest.raises(KeyError, match="pop from an empty set"):
        empty(2)
    assert empty(0) == _take(0)
    assert native(alias)([1, 2], [2, 3]) == alias([1, 2], [2, 3])


def _take(n):
    s = {4}
    t = 0
    for _ in range(n):
        t += s.pop()
    return t


def copy_of_argument(s, n):
    t = set(s)
    t.discard(n)
    return list(t), [x for x in s - t]


def test_a_copy_of_an_argument():
    """Where the items of the argument have their places is not known: Python goes on."""
    run = weft.jit(copy_of_argument)
    for items in (set(range(9)), set(numbers(1, 50, 1000)), {5}, set()):
        assert run(items, 5) == copy_of_argument(items, 5)


def test_update_of_an_argument():
    def f(s, xs):
        s |= set(xs)
        return len(s)

    run = weft.jit(f)
    one, other = {1, 2, 40}, {1, 2, 40}
    assert run(one, [5, 6, 7, 100]) == f(other, [5, 6, 7, 100])
    assert list(one) == list(other)
