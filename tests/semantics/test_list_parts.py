"""Slices of lists as targets, lists compared as wholes, and what deques have beyond lists."""

from __future__ import annotations

import copy
from collections import deque

import pytest

import weft


def stored(xs, a, b, ys):
    zs = list(xs)
    zs[a:b] = ys
    return zs


def stored_everywhere(xs, a, b, ys):
    zs = list(xs)
    zs[a:] = ys
    zs[:b] = zs
    zs[2:3] = [7.5, 8.5]
    zs[1:1] = [0.5]
    zs[:] = zs[::-1]
    return zs


def deleted(xs, a, b, ys):
    zs = list(xs)
    del zs[a:b]
    return zs, len(zs)


def deleted_by_steps(xs, a, b, ys):
    one, two, three = list(xs), list(xs), list(xs)
    del one[a:b:2]
    del two[::-3]
    del three[b:a:-1]
    return one, two, three


def stored_by_steps(xs, a, b, ys):
    zs = list(xs)
    zs[::2] = [0.5] * len(zs[::2])
    zs[b:a:-1] = zs[b:a:-1][::-1]
    return zs


def argument_stored(xs, a, b, ys):
    xs[a:b] = ys
    del xs[:1]


def argument_rotated(xs, a, b, ys):
    xs[:] = xs[1:] + xs[:1]
    return xs == ys, xs != ys


def repeated(xs, a, b, ys):
    zs = list(xs)
    other = zs
    zs *= a
    other.append(1.5)
    xs *= b
    return zs, len(other)


BOUNDS = [(1, 3), (0, 0), (2, 1), (-3, -1), (-9, 2), (3, 99), (-1, 0), (5, -5)]


@pytest.mark.parametrize(
    "function", [stored, stored_everywhere, deleted, deleted_by_steps, stored_by_steps, argument_stored,
                 argument_rotated, repeated]
)  # fmt: skip
def test_slices(function):
    native = weft.jit(function, fallback="error")
    for xs in ([1.5, 2.5, 3.5, 4.5, 5.5], [1.0], [float(i) for i in range(40)]):
        for a, b in BOUNDS:
            if function is repeated:
                a, b = a % 4 - 1, b % 4 - 1
            for ys in ([9.5, 8.5, 7.5], [6.5], xs):
                mine, other = copy.deepcopy(([*xs], [*ys])), copy.deepcopy(([*xs], [*ys]))
                want, have = function(mine[0], a, b, mine[1]), native(other[0], a, b, other[1])
                assert repr(want) == repr(have)
                assert repr(mine) == repr(other)


def pairs_stored(n):
    pairs = [(i, i * 0.5) for i in range(n)]
    pairs[1:3] = [(7, 7.5)]
    pairs[3:3] = pairs[:2]
    del pairs[-2:]
    return pairs, (7, 7.5) in pairs, (7, 7.0) not in pairs


def test_slices_of_pairs():
    native = weft.jit(pairs_stored, fallback="error")
    for n in (4, 9):
        assert repr(native(n)) == repr(pairs_stored(n))


def uneven(xs):
    zs = list(xs)
    zs[::2] = [1, 2]
    return zs


def test_extended_slice_of_another_size():
    native = weft.jit(uneven, fallback="error")
    assert native([5, 6, 7]) == [1, 6, 2]
    with pytest.raises(ValueError, match="attempt to assign sequence of size 2 to extended slice of size 3"):
        native([1, 2, 3, 4, 5])


def compared(xs, ys):
    return xs == ys, xs != ys, xs < ys, xs <= ys, xs > ys, xs >= ys, xs == [1, 2], [1, 2, 3] == xs, xs == (1, 2)


def compared_pairs(n, k):
    one = [(i, i * 0.5) for i in range(n)]
    two = [(i, i * 0.5) for i in range(n)]
    two[k] = (k, 9.5)
    return one == two, one < two, one[:k] == two[:k], deque(one) == deque(two), deque(one) == deque(one)


def test_comparisons():
    native = weft.jit(compared, fallback="error")
    whole = [[1, 2], [1, 2, 3], [1], [0, 9], [2], [1, 3]]
    for xs in whole:
        for ys in whole:
            assert native([*xs], [*ys]) == compared(xs, ys)
            floats = [float(y) for y in ys]
            assert native([*xs], floats) == compared(xs, floats)
    native = weft.jit(compared_pairs, fallback="error")
    for n, k in ((3, 0), (4, 3), (2, 1)):
        assert native(n, k) == compared_pairs(n, k)


def equal(xs, ys):
    return xs == ys


def test_nan_is_itself():
    native = weft.jit(equal, fallback="error")
    nan = float("nan")
    assert native([1.0, nan], [1.0, nan]) is True
    assert native([1.0, nan], [1.0, float("nan")]) is False
    assert native([1.0, 2.0], [1.0, 2.0]) is True


def placed(xs, wanted, low, high):
    return xs.index(wanted), xs.index(wanted, low), xs.index(wanted, low, high), xs.count(wanted)


def test_index_between():
    native = weft.jit(placed, fallback="error")
    xs = [5, 3, 8, 1, 3, 9]
    for low, high in ((0, 6), (1, 5), (-3, 99), (-99, -1)):
        assert native([*xs], 3, low, high) == placed(xs, 3, low, high)
    with pytest.raises(ValueError, match="5 is not in list"):
        native([*xs], 5, 1, 3)
    with pytest.raises(ValueError, match="77 is not in list"):
        native([*xs], 77, 1, 3)


def windows(xs, most):
    last, sums = deque(maxlen=most), []
    for x in xs:
        last.append(x)
        sums.append(sum(last))
    last.appendleft(9)
    first = [*map(int, [x for x in last])]
    last.extend([1, 2, 3])
    last.extendleft([4, 5])
    return sums, len(last), first, [x for x in last]


def turned(xs, by):
    queue = deque(xs)
    queue.rotate(by)
    queue.extend([4, 5])
    queue.extendleft([7, 8])
    queue[1] = 3
    ends = queue.pop(), queue.popleft(), queue[0], queue[-1]
    queue.rotate()
    queue.reverse()
    return ends, list(queue), 3 in queue, 99 in queue, queue.count(3), queue.index(3)


def test_deques():
    native = weft.jit(windows, fallback="error")
    for most in (0, 1, 3, 50):
        assert native([3, 1, 4, 1, 5, 9], most) == windows([3, 1, 4, 1, 5, 9], most)
    with pytest.raises(ValueError, match="maxlen must be non-negative"):
        native([1], -1)
    native = weft.jit(turned, fallback="error")
    for by in (-7, -1, 0, 2, 8):
        assert native([3, 1, 2], by) == turned([3, 1, 2], by)
