"""Nested functions that call themselves and change what is around them: numbers, arrays, lists, dicts, sets."""

from __future__ import annotations

import copy
import functools
import heapq
from collections import deque
from functools import lru_cache

import numpy as np
import pytest

import weft
from weft import pipeline
from weft.ir import interp, text
from weft.options import Options
from weft.runtime.toolchain import find

STARTS, EDGES = [0, 2, 4, 5, 7, 8], [1, 2, 3, 0, 4, 1, 4, 3]
native = pytest.mark.skipif(find() is None, reason="no C compiler: containers that calls share stay in Python")


def permutations(n):
    out = 0

    def rec(k, used):
        nonlocal out
        if k == n:
            out += 1
            return
        for i in range(n):
            if not used & (1 << i):
                rec(k + 1, used | (1 << i))

    rec(0, 0)
    return out


def queens(n):
    count = 0

    def free(row, columns, one, other, c):
        return not (columns >> c & 1 or one >> (row + c) & 1 or other >> (row - c + n) & 1)

    def place(row, columns, one, other):
        nonlocal count
        if row == n:
            count += 1
            return
        for c in range(n):
            if free(row, columns, one, other, c):
                place(row + 1, columns | 1 << c, one | 1 << (row + c), other | 1 << (row - c + n))

    place(0, 0, 0, 0)
    return count


def in_order(n):
    """What stands to the left of a call has the value from before it."""
    t = 1

    def rec(k):
        nonlocal t
        if k <= 0:
            t += 2
            return t
        t += rec(k - 1)
        x = (t, rec(k - 2), t)
        y = max(t, rec(k - 1), t - 1)
        z = t < rec(k - 2) < t or 0 < t < rec(k - 3)
        w = [t, rec(k - 3), t][0] if z else 3
        t = (t + rec(k - 2) * 2 + x[0] + x[1] * 3 + x[2] + y + w) % 1000
        return t

    return rec(n), t


def two_floats(n):
    best = 0.0
    calls = 0

    def rec(k, s):
        nonlocal best, calls
        calls += 1
        if s > best:
            best = s
        if k < n:
            rec(k + 1, s + 0.5 * k)
            rec(k + 1, s - 0.25)

    rec(0, 0.0)
    return best, calls


def each_other(n):
    steps = 0

    def even(k):
        nonlocal steps
        steps += 1
        return True if k == 0 else odd(k - 1)

    def odd(k):
        nonlocal steps
        steps += 10
        return False if k == 0 else even(k - 1)

    found = even(n)
    return found, steps


def by_a_helper(n):
    count = 0

    def note():
        nonlocal count
        count += 1

    def rec(k):
        note()
        if k:
            rec(k - 1)
            rec(k - 1)

    rec(n)
    first = count
    rec(n)
    return first, count


def one_in_another(n):
    total = 0

    def down(k):
        nonlocal total
        total += k
        if k:
            down(k - 1)

    def twice(k):
        nonlocal total
        if k:
            down(k)
            total += 1
            twice(k - 1)

    twice(n)
    return total


def subset_sums(xs, target):
    n = len(xs)
    found = 0

    def rec(i, s):
        nonlocal found
        if i == n:
            if s == target:
                found += 1
            return
        rec(i + 1, s)
        rec(i + 1, s + xs[i])

    rec(0, 0)
    return found


def raising(n):
    c = 0

    def rec(k):
        nonlocal c
        c += 1
        if k == 0:
            raise ValueError("bottom")
        rec(k - 1)

    rec(n)
    return c


def flooded(grid, si, sj, new):
    h, w = grid.shape
    old = grid[si, sj]
    area = 0

    def fill(i, j):
        nonlocal area
        if i < 0 or j < 0 or i >= h or j >= w or grid[i, j] != old or old == new:
            return
        grid[i, j] = new
        area += 1
        fill(i + 1, j)
        fill(i - 1, j)
        fill(i, j + 1)
        fill(i, j - 1)

    fill(si, sj)
    return area


def visited(start, starts, edges, n):
    seen = [False] * n
    order = np.zeros(n, dtype=np.int64)
    k = 0

    def visit(u):
        nonlocal k
        seen[u] = True
        order[k] = u
        k += 1
        for p in range(starts[u], starts[u + 1]):
            if not seen[edges[p]]:
                visit(edges[p])

    visit(start)
    return order[:k].copy(), seen


def collected(n):
    out = []
    current = [0] * n

    def rec(k, used):
        if k == n:
            out.append(current[0] * 100 + current[n - 1])
            return
        for i in range(n):
            if not used >> i & 1:
                current[k] = i
                rec(k + 1, used | 1 << i)

    rec(0, 0)
    return out


def memoised(n):
    memo = {}

    def fib(k):
        if k < 2:
            return k
        if k in memo:
            return memo[k]
        r = fib(k - 1) + fib(k - 2)
        memo[k] = r
        return r

    return fib(n), memo


def lattice(h, w):
    memo = {}

    def paths(i, j):
        if i == 0 or j == 0:
            return 1
        if (i, j) not in memo:
            memo[i, j] = paths(i - 1, j) + paths(i, j - 1)
        return memo[(i, j)]

    return paths(h, w), len(memo)


def reached(starts, edges, s):
    seen = set()

    def visit(u):
        if u in seen:
            return
        seen.add(u)
        for p in range(starts[u], starts[u + 1]):
            visit(edges[p])

    visit(s)
    return len(seen)


def components(starts, edges, n):
    """Tarjan's strongly connected components."""
    index = 0
    number = [-1] * n
    low = [0] * n
    waiting = [False] * n
    stack = []
    component = [-1] * n
    count = 0

    def strong(v):
        nonlocal index, count
        number[v] = index
        low[v] = index
        index += 1
        stack.append(v)
        waiting[v] = True
        for p in range(starts[v], starts[v + 1]):
            w = edges[p]
            if number[w] < 0:
                strong(w)
                low[v] = min(low[v], low[w])
            elif waiting[w]:
                low[v] = min(low[v], number[w])
        if low[v] == number[v]:
            while True:
                w = stack.pop()
                waiting[w] = False
                component[w] = count
                if w == v:
                    break
            count += 1

    for v in range(n):
        if number[v] < 0:
            strong(v)
    return component, count


def tree(left, right, value, root):
    out = []

    def walk(i):
        if i < 0:
            return
        walk(left[i])
        out.append(value[i])
        walk(right[i])

    walk(root)
    return out


def gray(n):
    out = []

    def rec(k, prefix, flip):
        if k == 0:
            out.append(prefix)
            return
        rec(k - 1, prefix << 1 | flip, 0)
        rec(k - 1, prefix << 1 | (1 - flip), 1)

    rec(n, 0, 0)
    return out


def combinations(xs, k):
    out = []
    current = []

    def rec(i):
        if len(current) == k:
            s = 0
            for c in current:
                s = s * 10 + c
            out.append(s)
            return
        for j in range(i, len(xs)):
            current.append(xs[j])
            rec(j + 1)
            current.pop()

    rec(0)
    return out, current


def hanoi(n):
    moves = []

    def move(k, a, b, c):
        if k == 0:
            return
        move(k - 1, a, c, b)
        moves.append((a, c))
        move(k - 1, b, a, c)

    move(n, 0, 1, 2)
    return moves


def grown_here_and_there(n):
    """The caller goes on with memory that a call has replaced, and the other way round."""
    xs = [0.5]
    total = 0.0

    def rec(k):
        nonlocal total
        for _ in range(k):
            xs.append(xs[-1] + k)
        if k:
            rec(k - 1)
            xs.append(total)
            total += xs[len(xs) // 2]

    for i in range(n):
        xs.append(i * 1.0)
        rec(i)
        total += xs[-1]
    return xs, total


def popped_too_often(n):
    stack = [1, 2]

    def rec(k):
        stack.pop()
        rec(k - 1)

    rec(n)
    return stack


def no_such_key(n):
    d = {1: 2}

    def rec(k):
        if k == 0:
            return d[7]
        d[k] = k
        return rec(k - 1)

    return rec(n)


def counted(n):
    seen = {}
    calls = 0

    def rec(k):
        nonlocal calls
        calls += 1
        seen[k] = seen.get(k, 0) + 1
        if k > 1:
            rec(k // 2)
            rec(k - 2)
            if k % 5 == 0:
                del seen[k // 2]

    rec(n)
    return seen, calls


def fill(out, k):
    if k:
        out.append(k)
        fill(out, k - 1)
        if k % 3 == 0:
            out.append(-k)


def filled_in_a_loop(n):
    s = 0
    last = []
    for i in range(n):
        xs = []
        fill(xs, i * 5)
        fill(last, i)
        for x in xs:
            s = s * 3 % 1000007 + x
    return s, last


def both_ends(n):
    waiting = deque()

    def rec(k):
        if k:
            waiting.append(k)
            waiting.appendleft(-k)
            rec(k - 1)
            if k % 4 == 0:
                waiting.popleft()

    rec(n)
    s = 0
    while waiting:
        s = s * 7 % 10007 + waiting.popleft()
    return s


def two_sets(n):
    seen = set()
    extra = {5, 6}

    def rec(k):
        if k not in seen:
            seen.add(k)
            if k > 0:
                rec(k // 2)
                rec(k - 3)
            elif k % 2:
                extra.add(k)
                seen.discard(k + 1)

    rec(n)
    return sorted(seen), sorted(extra)


def knapsack(xs):
    best = []
    current = []
    top = 0

    def rec(i, s):
        nonlocal top
        if s > top:
            top = s
            best.clear()
            for c in current:
                best.append(c)
        for j in range(i, len(xs)):
            if s + xs[j] <= 20:
                current.append(xs[j])
                rec(j + 1, s + xs[j])
                current.pop()

    rec(0, 0)
    return best, top


def smallest(n):
    heap = []

    def rec(k):
        if k:
            heapq.heappush(heap, k * 7 % 11)
            rec(k - 1)
            if len(heap) > 5:
                heapq.heappop(heap)

    rec(n)
    return heap


def in_parallel(n):
    out = []

    def rec(k):
        if k:
            out.append(k)
            rec(k - 1)

    for i in weft.prange(n):
        rec(i)
    return out


def cached_paths(n):
    @functools.cache
    def paths(i, j):
        if i == 0 or j == 0:
            return 1
        return paths(i - 1, j) + paths(i, j - 1)

    return paths(n, n + 1)


def cached_edits(a, b):
    calls = 0

    @lru_cache(maxsize=None)
    def distance(i, j):
        nonlocal calls
        calls += 1
        if i == 0 or j == 0:
            return i + j
        same = distance(i - 1, j - 1) + (a[i - 1] != b[j - 1])
        return min(distance(i - 1, j) + 1, distance(i, j - 1) + 1, same)

    found = distance(len(a), len(b))
    return found, calls


def cached_and_flat(n):
    @functools.cache
    def square(k):
        m = k
        k = k * 0.5
        return k * m

    return square(n) + square(n + 1) + square(n)


NUMBERS = [
    (permutations, (5,)), (permutations, (0,)), (queens, (6,)), (in_order, (5,)), (two_floats, (6,)),
    (each_other, (9,)), (by_a_helper, (4,)), (one_in_another, (6,)), (subset_sums, ([3, 5, 2, 8, 5], 10)),
    (raising, (3,)), (flooded, (np.array([[1, 1, 0], [0, 1, 0], [1, 1, 1]]), 0, 0, 7)),
    (flooded, (np.ones((4, 5), order="F")[::-1, ::2], 1, 1, 2.5)), (visited, (0, STARTS, EDGES, 5)),
]  # fmt: skip
CONTAINERS = [
    (collected, (4,)), (memoised, (60,)), (lattice, (8, 9)), (reached, (STARTS, EDGES, 0)),
    (components, (STARTS, EDGES, 5)), (components, ([0, 1, 1, 2], [1, 0], 3)),
    (tree, (np.array([1, 3, -1, -1, -1]), np.array([2, 4, -1, -1, -1]), np.arange(5) * 1.5, 0)), (gray, (6,)),
    (combinations, ([1, 2, 3, 4, 5, 6, 7, 8], 4)), (combinations, ([], 2)), (hanoi, (7,)), (hanoi, (0,)),
    (grown_here_and_there, (12,)), (popped_too_often, (3,)), (no_such_key, (3,)), (counted, (40,)),
    (filled_in_a_loop, (12,)), (both_ends, (30,)), (two_sets, (50,)), (knapsack, ([7, 3, 9, 4, 8, 6],)),
    (smallest, (30,)), (in_parallel, (30,)), (cached_paths, (12,)),
    (cached_edits, ([1, 2, 3, 4, 5, 6], [2, 3, 4, 9, 6])), (cached_and_flat, (3,)),
]  # fmt: skip


def outcome(function, arguments):
    arguments = copy.deepcopy(arguments)
    try:
        return repr((function(*arguments), arguments))
    except Exception as error:
        return repr((type(error), str(error), arguments))


COMPILED = {f: weft.jit(fallback="error")(f) for f, _ in [*NUMBERS, *CONTAINERS]}


@pytest.mark.parametrize(("function", "arguments"), NUMBERS)
def test_variables_around(function, arguments):
    assert outcome(COMPILED[function], arguments) == outcome(function, arguments)


@pytest.mark.parametrize(("function", "arguments"), [(two_floats, (6,)), (in_order, (4,)), (collected, (4,))])
def test_without_a_compiler(function, arguments):
    """Variables go round there, too; containers that calls share are left to plain Python."""
    compiled = weft.jit(fallback="silent", backend="python")(function)
    assert outcome(compiled, arguments) == outcome(function, arguments)


@native
@pytest.mark.parametrize(("function", "arguments"), CONTAINERS)
def test_containers_around(function, arguments):
    assert outcome(COMPILED[function], arguments) == outcome(function, arguments)


@pytest.mark.parametrize(
    ("function", "arguments"), [(two_floats, (4,)), (collected, (3,)), (hanoi, (4,)), (grown_here_and_there, (8,))]
)
def test_every_stage_means_the_same(function, arguments):
    """The interpreter runs each stage, and the text of each stage reads back as the same program."""
    expected = None
    for name, program in pipeline.stages(function, arguments, Options()):
        assert text.parse(text.show(program)) == program, name
        found = repr(interp.run(program, dict(zip(program.params, arguments))))
        expected = expected or found
        assert found == expected, name


def another_type(n):
    t = 0

    def rec(k):
        nonlocal t
        if k:
            t = t + 0.5
            rec(k - 1)

    rec(n)
    return t


def another_array(n):
    a = np.zeros(3)

    def rec(k):
        nonlocal a
        if k:
            a = a + k
            rec(k - 1)

    rec(n)
    return a.tolist()


def two_types_of_keys(starts, edges, s):
    seen = set()

    def visit(u):
        if u not in seen:
            seen.add(u)
            for p in range(starts[u], starts[u + 1]):
                visit(edges[p])

    visit(s)
    return sorted(seen)


def same_list_twice(n):
    xs = [1, 2]

    def rec(ys, k):
        if k:
            ys.append(k)
            xs.append(len(ys))
            rec(ys, k - 1)

    rec(xs, n)
    return xs


def few_results(n):
    calls = 0

    @lru_cache(maxsize=2)
    def rec(k):
        nonlocal calls
        calls += 1
        return k if k < 2 else rec(k - 1) + rec(k - 2)

    return rec(n), calls


def by_keyword(n):
    calls = 0

    @functools.cache
    def rec(k):
        nonlocal calls
        calls += 1
        return k if k < 2 else rec(k=k - 1) + rec(k - 2)

    return rec(n), calls


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (few_results, (8,)),
        (by_keyword, (8,)),
        (another_type, (3,)),
        (another_type, (0,)),
        (another_array, (3,)),
        (two_types_of_keys, (np.array(STARTS), np.array(EDGES), 0)),
        (same_list_twice, (3,)),
    ],
)
@pytest.mark.usefixtures("array_compiler_only")
def test_what_is_not_native_is_left_to_python(function, arguments):
    with pytest.raises(weft.errors.WeftError):
        weft.jit(fallback="error")(function)(*copy.deepcopy(arguments))
    assert outcome(weft.jit(fallback="silent")(function), arguments) == outcome(function, arguments)


@native
def test_deep_and_large():
    """Too deep is an exception, and the memory of a call that failed is given back."""
    found = COMPILED[gray](14)
    assert found == gray(14)
    compiled = COMPILED[popped_too_often]
    for _ in range(200):
        with pytest.raises(IndexError, match="pop from empty list"):
            compiled(5)
