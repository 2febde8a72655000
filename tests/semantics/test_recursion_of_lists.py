"""Recursive functions that take and return lists, None or a value, tuples; calls of them inside `try`."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.wide import needs_compiler, same_by_python, same_natively

pytestmark = needs_compiler


def quick_sort(xs):
    if len(xs) <= 1:
        return xs
    pivot = xs[0]
    low = quick_sort([x for x in xs[1:] if x < pivot])
    return low + [pivot] + quick_sort([x for x in xs[1:] if x >= pivot])


def merge_sort(xs):
    if len(xs) < 2:
        return list(xs)
    middle = len(xs) // 2
    left, right = merge_sort(xs[:middle]), merge_sort(xs[middle:])
    out = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            out.append(left[i])
            i += 1
        else:
            out.append(right[j])
            j += 1
    return out + left[i:] + right[j:]


def subset_sum(xs, total):
    if total == 0:
        return []
    if not xs or total < 0:
        return None
    rest = subset_sum(xs[1:], total - xs[0])
    if rest is not None:
        return [xs[0]] + rest
    return subset_sum(xs[1:], total)


def the_same_list(n):
    def last(xs, k):
        if k == 0:
            return xs
        return last(xs, k - 1)

    own = [1, 2]
    other = last(own, n)
    other.append(3)
    return own, len(other)


def found_at(a, x, low, high):
    if low > high:
        return None
    middle = (low + high) // 2
    if a[middle] == x:
        return middle
    if a[middle] < x:
        return found_at(a, x, middle + 1, high)
    return found_at(a, x, low, middle - 1)


def reachable(graph, start):
    seen, order = set(), []

    def visit(v):
        if v in seen:
            return
        seen.add(v)
        order.append(v)
        for w in graph[v]:
            visit(w)

    visit(start)
    return order


def grown_argument(xs, n):
    def rec(k):
        if k:
            xs.append(10 // k)
            rec(k - 1)

    rec(n)
    return len(xs)


def too_far(xs, n):
    def rec(k):
        xs.append(10 // k)
        rec(k - 1)

    rec(n)
    return len(xs)


def caught_outside(n):
    def fall(k):
        if k == 3:
            raise ValueError("three")
        return 0 if k == 0 else fall(k - 1) + 1

    try:
        return fall(n)
    except ValueError as problem:
        return str(problem)


def caught_inside(n):
    def fall(k):
        try:
            if k > 2:
                return fall(k - 1) + 1
            return 10 // (k - 2)
        except ZeroDivisionError:
            return 100
        finally:
            pass

    return fall(n)


def caught_after_a_change(a, n):
    def fall(k):
        if k < 0:
            raise ValueError("below")
        a[k] = k
        if k:
            fall(k - 1)

    try:
        fall(n)
    except ValueError:
        return -1
    return a.sum()


def named_self(self, n):
    def rec(value):
        return value if value is self else rec(value[0])

    return rec((self,)) == n


class Cell:
    def __init__(self, size):
        self.size = size


def of_objects(n):
    cells = [Cell(k) for k in range(n)]

    def total(k):
        if k == n:
            return 0
        cells[k].size += 1
        return cells[k].size + total(k + 1)

    return total(0), [cell.size for cell in cells]


NATIVE = [
    (quick_sort, [([5, 3, 8, 1, 9, 2],), ([],), ([1],), ([2, 2, 2],), ([1.5, 0.5],)]),
    (merge_sort, [([5, 3, 8, 1, 9, 2],), ([],), ([3.0, 1.0],)]),
    (subset_sum, [([3, 9, 8, 4, 5, 7], 15), ([3, 9], 1), ([], 3), ([1], 0)]),
    (the_same_list, [(0,), (3,)]),
    (found_at, [(np.array([1.0, 3.0, 5.0]), 3.0, 0, 2), (np.array([1.0, 3.0, 5.0]), 4.0, 0, 2)]),
    (reachable, [({0: [1, 2], 1: [3], 2: [3], 3: [0]}, 0), ({0: []}, 0), ({0: [7]}, 0)]),
    (grown_argument, [([1, 2], 3), ([], 2), ([1], 0)]),
    (too_far, [([1, 2], 3)]),
    (caught_outside, [(2,), (3,), (9,)]),
    (caught_inside, [(6,), (1,)]),
    (of_objects, [(4,), (0,)]),
    (named_self, [(3, False), (3, 3)]),
]


@pytest.mark.parametrize(("function", "calls"), NATIVE, ids=[function.__name__ for function, _ in NATIVE])
def test_as_python(function, calls):
    same_natively(function, *calls)


@pytest.mark.parametrize(
    ("function", "calls"),
    [(caught_after_a_change, [(np.zeros(4), 3), (np.zeros(4), -1)])],
)
def test_left_to_python(function, calls):
    same_by_python(function, *calls)


def deep(xs):
    return [0] if not xs else deep(xs[1:]) + [xs[0]]


def test_too_deep_is_an_exception():
    """Whatever the depth: the answer, or a RecursionError."""
    import weft

    compiled = weft.jit(fallback="error")(deep)
    assert compiled([1, 2, 3]) == deep([1, 2, 3])
    with pytest.raises(RecursionError):
        weft.jit(fallback="error")(endless)(1)


def endless(n):
    return endless(n + 1) + 1


def halves(n):
    """Lists of which nobody knows any more are given back at each return."""
    if n == 0:
        return [1]
    left, right = halves(n - 1), halves(n - 1)
    return [left[0] + right[0]]


def given_grows(n):
    """The list that is given moves to the end of the memory while it is changed."""

    def fill(xs, k):
        if k == 0:
            return xs
        ys = [k] * 3
        fill(xs, k - 1)
        xs.append(ys[0])
        return xs

    own = [0]
    other = [9, 9]
    found = fill(own, n)
    other.append(8)
    return own, other, len(found)


def kept_in_a_list(n):
    def down(k):
        return [0] if k == 0 else down(k - 1) + [k]

    rows = []
    for k in range(n):
        rows.append(down(k))
    rows[0].append(5)
    return rows, down(n)


def test_memory_of_lists():
    import resource

    import weft

    compiled = weft.jit(fallback="error")(halves)
    assert compiled(5) == halves(5)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert compiled(18) == [2**18]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 10_000


@pytest.mark.parametrize("function", [given_grows, kept_in_a_list])
def test_lists_that_stay(function):
    same_natively(function, (1,), (4,), (40,))
