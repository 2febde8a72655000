"""Integers, graphs, dynamic programming, sorting and searching."""

from __future__ import annotations

import numpy as np

from tests.apps.kernels.registry import Kernel


def floyd_warshall_numpy(paths):
    for k in range(paths.shape[0]):
        paths[:] = np.minimum(paths, paths[:, k, None] + paths[None, k, :])


def floyd_warshall_loops(paths):
    n = paths.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                paths[i, j] = min(paths[i, j], paths[i, k] + paths[k, j])


def floyd_warshall_lists(paths):
    n = len(paths)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if paths[i][k] + paths[k][j] < paths[i][j]:
                    paths[i][j] = paths[i][k] + paths[k][j]


def csr_matvec_loops(starts, columns, values, x):
    n = len(starts) - 1
    y = np.zeros(n)
    for i in range(n):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * x[columns[k]]
        y[i] = total
    return y


def csr_matvec_numpy(starts, columns, values, x):
    n = starts.shape[0] - 1
    y = np.empty(n)
    for i in range(n):
        y[i] = np.sum(values[starts[i] : starts[i + 1]] * x[columns[starts[i] : starts[i + 1]]])
    return y


def _csr(n, rng):
    dense = rng.random((n, n)) * (rng.random((n, n)) < 0.3)
    starts = np.zeros(n + 1, dtype=np.int64)
    columns, values = [], []
    for i in range(n):
        where = np.nonzero(dense[i])[0]
        columns.extend(where.tolist())
        values.extend(dense[i, where].tolist())
        starts[i + 1] = len(columns)
    return starts, np.array(columns, dtype=np.int64), np.array(values, dtype=np.float64), rng.random(n)


def crc16_loops(data):
    crc = 0xFFFF
    for i in range(len(data)):
        byte = data[i]
        cur = 0xFF & byte
        for _ in range(8):
            if (crc & 1) ^ (cur & 1):
                crc = (crc >> 1) ^ 0x8408
            else:
                crc >>= 1
            cur >>= 1
    crc = ~crc & 0xFFFF
    return (crc << 8) | ((crc >> 8) & 0xFF)


def crc16_lists(data):
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ 0x8408 if crc & 1 else crc >> 1
    return crc ^ 0xFFFF


def lcg_pi_loops(count, seed):
    """A linear congruential generator throws points at a quarter circle."""
    state = seed
    inside = 0
    for _ in range(count):
        state = (1103515245 * state + 12345) % 2147483648
        x = state / 2147483648
        state = (1103515245 * state + 12345) % 2147483648
        y = state / 2147483648
        if x * x + y * y <= 1.0:
            inside += 1
    return 4.0 * inside / count


def lcg_states_numpy(seeds, steps):
    state = seeds.copy()
    for _ in range(steps):
        state = (1664525 * state + 1013904223) % 4294967296
    return state


def levenshtein_loops(a, b):
    n = len(a)
    m = len(b)
    table = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(n + 1):
        table[i, 0] = i
    for j in range(m + 1):
        table[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + cost)
    return table[n, m]


def levenshtein_lists(a, b):
    previous = [j for j in range(len(b) + 1)]
    for i in range(1, len(a) + 1):
        current = [0] * (len(b) + 1)
        current[0] = i
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            current[j] = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost)
        previous = current
    return previous[len(b)]


def knapsack_loops(weights, values, capacity):
    best = np.zeros(capacity + 1, dtype=np.int64)
    for i in range(len(weights)):
        for c in range(capacity, weights[i] - 1, -1):
            candidate = best[c - weights[i]] + values[i]
            if candidate > best[c]:
                best[c] = candidate
    return best[capacity]


def knapsack_numpy(weights, values, capacity):
    best = np.zeros(capacity + 1, dtype=np.int64)
    for i in range(weights.shape[0]):
        w = weights[i]
        best[w:] = np.maximum(best[w:], best[: capacity + 1 - w] + values[i])
    return best


def sieve_loops(limit):
    composite = np.zeros(limit + 1, dtype=np.bool_)
    count = 0
    for p in range(2, limit + 1):
        if not composite[p]:
            count += 1
            for q in range(p * p, limit + 1, p):
                composite[q] = True
    return count


def sieve_numpy(limit):
    prime = np.ones(limit + 1, dtype=np.bool_)
    prime[:2] = False
    p = 2
    while p * p <= limit:
        if prime[p]:
            prime[p * p :: p] = False
        p += 1
    return prime.sum(), prime


def collatz_loops(limit):
    longest = 0
    where = 0
    for start in range(1, limit + 1):
        n = start
        length = 1
        while n != 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            length += 1
        if length > longest:
            longest = length
            where = start
    return where, longest


def bubble_sort_loops(a):
    n = len(a)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swapped = True
        if not swapped:
            break


def insertion_sort_loops(a):
    for i in range(1, len(a)):
        value = a[i]
        j = i - 1
        while j >= 0 and a[j] > value:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = value


def binary_search_loops(a, queries):
    out = np.empty(len(queries), dtype=np.int64)
    for q in range(len(queries)):
        low = 0
        high = len(a)
        while low < high:
            middle = (low + high) // 2
            if a[middle] < queries[q]:
                low = middle + 1
            else:
                high = middle
        out[q] = low
    return out


def run_lengths_loops(a):
    values = np.zeros_like(a)
    lengths = np.zeros(len(a), dtype=np.int64)
    runs = 0
    for i in range(len(a)):
        if i > 0 and a[i] == a[i - 1]:
            lengths[runs - 1] += 1
        else:
            values[runs] = a[i]
            lengths[runs] = 1
            runs += 1
    return runs, values, lengths


KERNELS = (
    Kernel(
        "floyd_warshall",
        {"numpy": floyd_warshall_numpy, "loops": floyd_warshall_loops, "lists": floyd_warshall_lists},
        lambda n, rng: (rng.integers(1, 100, (n, n)),),
        medium=30,
    ),
    Kernel(
        "csr_matvec",
        {"numpy": csr_matvec_numpy, "loops": csr_matvec_loops, "lists": csr_matvec_loops},
        _csr,
        small=(4, 9, 30),
        medium=100,
        tolerance=1e-12,
    ),
    Kernel(
        "crc16",
        {"loops": crc16_loops, "lists": crc16_lists},
        lambda n, rng: (rng.integers(0, 256, n),),
        medium=500,
    ),
    Kernel("lcg_pi", {"loops": lcg_pi_loops}, lambda n, rng: (n, 42), medium=2000),
    Kernel(
        "lcg_states",
        {"numpy": lcg_states_numpy},
        lambda n, rng: (rng.integers(0, 2**31, n), 4),
        small=(0, 1, 9),
        medium=300,
    ),
    Kernel(
        "levenshtein",
        {"loops": levenshtein_loops, "lists": levenshtein_lists},
        lambda n, rng: (rng.integers(0, 4, n), rng.integers(0, 4, n + 2)),
        medium=40,
    ),
    Kernel(
        "knapsack",
        {"loops": knapsack_loops, "numpy": knapsack_numpy},
        lambda n, rng: (rng.integers(1, 10, n), rng.integers(1, 50, n), 25),
        small=(0, 1, 9),
        medium=30,
    ),
    Kernel("sieve", {"numpy": sieve_numpy, "loops": sieve_loops}, lambda n, rng: (n,), medium=1000, partial=("numpy",)),
    Kernel("collatz", {"loops": collatz_loops}, lambda n, rng: (n,), medium=300),
    Kernel(
        "bubble_sort",
        {"loops": bubble_sort_loops, "lists": bubble_sort_loops},
        lambda n, rng: (rng.random(n),),
        medium=60,
    ),
    Kernel(
        "insertion_sort",
        {"loops": insertion_sort_loops, "lists": insertion_sort_loops},
        lambda n, rng: (rng.random(n),),
        medium=60,
    ),
    Kernel(
        "binary_search",
        {"loops": binary_search_loops},
        lambda n, rng: (np.sort(rng.random(n)), rng.random(n + 1)),
        small=(0, 1, 9),
        medium=100,
    ),
    Kernel(
        "run_lengths",
        {"loops": run_lengths_loops},
        lambda n, rng: (rng.integers(0, 3, n),),
        small=(0, 1, 9),
        medium=100,
    ),
)
