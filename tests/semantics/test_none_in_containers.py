"""None or something else: arrays in variables, items of lists and dicts that are filled later."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.wide import needs_compiler, same_natively

pytestmark = needs_compiler


def vector(n=5):
    return np.arange(float(n)) + 0.5


def matrix(n, m):
    return np.arange(float(n * m)).reshape(n, m) + 0.5


# --- variables ------------------------------------------------------------------------------------------------------


def best_row(a):
    best = None
    most = 0.0
    for i in range(a.shape[0]):
        total = a[i].sum()
        if best is None or total > most:
            best, most = a[i].copy(), total
    return best


def best_view(a):
    best = None
    for i in range(a.shape[0]):
        if best is None or a[i].sum() > best.sum():
            best = a[i]
    return best * 2


def before(u, n):
    last = None
    steps = 0
    for _ in range(n):
        v = u * 0.5
        if last is not None and np.abs(v - last).max() < 1e-2:
            break
        last = u.copy()
        u = v
        steps += 1
    return u, steps, last


def of_any_size(u, n):
    best = None
    for i in range(1, n):
        w = u[:i] * 2
        if best is None or w.sum() > best.sum():
            best = w
    if best is None:
        return -1.0
    return best.sum() + best.shape[0]


def perhaps_missing(u, n):
    x = None
    for i in range(n):
        x = u * i
    return x.sum()


def two_names(u, n):
    x = y = None
    for i in range(n):
        y = x
        x = u * i
        z = x
        z[0] = 50
    return x, y


def set_and_unset(u, n):
    x = None
    total = 0.0
    for i in range(n):
        if x is None:
            x = u[i] * 2
        else:
            total += x.sum()
            x = None
    return total, x


def into_out(a, out=None):
    if out is None:
        out = np.zeros_like(a)
    for i in range(a.shape[0]):
        out[i] = a[i] * 2
    return out


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (best_row, [(matrix(5, 4),), (-matrix(5, 4)[:, ::-1],), (matrix(0, 4),)]),
        (best_view, [(matrix(5, 4),), (matrix(0, 4),)]),
        (before, [(vector(), 20), (vector(), 0)]),
        (of_any_size, [(vector(6), 5), (vector(6), 1)]),
        (perhaps_missing, [(vector(), 3), (vector(), 0)]),
        (two_names, [(vector(), 3), (vector(), 1), (vector(), 0)]),
        (set_and_unset, [(matrix(6, 3), 4), (matrix(6, 3), 3)]),
        (into_out, [(vector(),), (vector(), vector()), (vector(), None)]),
    ],
)
def test_variables(function, calls):
    same_natively(function, *calls)


# --- items ----------------------------------------------------------------------------------------------------------


def filled_with_arrays(u, n):
    rows = [None] * n
    for i in range(n):
        rows[i] = u * i
    return rows, np.array(rows), np.concatenate(rows), rows[1], sum(rows)


def partly_filled(u, n):
    rows = [None] * n
    for i in range(n - 1):
        rows[i] = float(u[i] * 2)
    total = 0.0
    for row in rows:
        if row is not None:
            total += row
    return rows, rows[0], rows[-1], total, rows[-1] is None


def filled_with_numbers(u, n):
    rows = [None] * n
    for i in range(n):
        rows[i] = float(u[-i] * 2)
    return sum(rows), np.array(rows), max(rows), len(rows), sorted(rows)


def filled_with_lists(u, n):
    rows = [None] * n
    for i in range(n):
        rows[i] = [float(u[i]), 2.0]
    rows[0].append(3.0)
    return rows


def filled_with_tuples(u, n):
    rows = [None] * n
    for i in range(n):
        rows[i] = (u[i], i)
    return rows


def of_known_length(u):
    rows = [None] * 4
    for i in range(3):
        rows[i] = u * i
    total = 0
    for i in range(4):
        if rows[i] is None:
            total += 1
        else:
            total += int(rows[i][0])
    return rows, total


def kept(n):
    known = [None] * (n + 1)
    known[0] = 0
    known[1] = 1
    for i in range(2, n + 1):
        if known[i] is None:
            known[i] = known[i - 1] + known[i - 2]
    return known[n]


def none_among_numbers(n):
    xs = []
    for i in range(n):
        if i % 2:
            xs.append(None)
        else:
            xs.append(i * 1.5)
    return xs


def never_filled(n):
    return [None] * n, [None, None]


def a_table(u, n):
    table = [[None] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            table[i][j] = u[i] * j
    return table


def parents(adj, target):
    parent = {0: None}
    waiting = [0]
    while waiting:
        v = waiting.pop()
        for w in adj[v]:
            if w not in parent:
                parent[w] = v
                waiting.append(w)
    path = []
    x = target
    while x is not None:
        path.append(x)
        x = parent[x]
    return path, parent


def parents_in_a_list(adj):
    parent = [None] * len(adj)
    waiting = [0]
    while waiting:
        v = waiting.pop()
        for w in adj[v]:
            if w != 0 and parent[w] is None:
                parent[w] = v
                waiting.append(w)
    return parent


_ADJACENT = [[1, 2], [3], [], [0]]


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (filled_with_arrays, [(vector(), 3), (vector(0), 2), (vector(), 1)]),
        (partly_filled, [(vector(), 3), (vector(), 1)]),
        (filled_with_numbers, [(vector(), 3), (vector(), 1), (vector(), 0)]),
        (filled_with_lists, [(vector(), 3), (vector(), 0)]),
        (filled_with_tuples, [(vector(), 3), (vector(), 6)]),
        (of_known_length, [(vector(),)]),
        (kept, [(7,), (1,)]),
        (none_among_numbers, [(5,), (0,)]),
        (never_filled, [(3,), (-1,)]),
        (a_table, [(vector(), 3), (vector(), 0)]),
        (parents, [(_ADJACENT, 3), (_ADJACENT, 0), (_ADJACENT, 7)]),
        (parents_in_a_list, [(_ADJACENT,)]),
    ],
)
def test_items(function, calls):
    same_natively(function, *calls)


def used_too_early(u, n):
    rows = [None] * n
    for i in range(n - 1):
        rows[i] = u * i
    return np.array(rows).shape, rows[n - 1][0]


def added_up(n):
    rows = [None] * n
    for i in range(n - 1):
        rows[i] = i
    return sum(rows)


@pytest.mark.parametrize(
    ("function", "calls"),
    [(used_too_early, [(vector(), 3)]), (added_up, [(1,), (3,), (0,)])],
)
def test_errors_are_pythons(function, calls):
    same_natively(function, *calls)
