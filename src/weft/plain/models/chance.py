"""The module `random` and its class `Random`, over three primitives. `rng` is a generator, or None: the module's."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any

from weft.plain.models.primitives import random_bits, random_float, random_gauss, same
from weft.plain.models.sequences import bisect_right


def below(rng: Any, n: Any) -> Any:
    """A whole number from 0 to n - 1, as CPython draws it."""
    bits = n.bit_length()
    drawn = random_bits(rng, bits)
    while drawn >= n:
        drawn = random_bits(rng, bits)
    return drawn


def uniform(rng: Any, a: Any, b: Any) -> Any:
    return a + (b - a) * random_float(rng)


def randrange(rng: Any, stop: Any) -> Any:
    if stop <= 0:
        raise ValueError("empty range for randrange()")
    return below(rng, stop)


def randrange_between(rng: Any, start: Any, stop: Any) -> Any:
    if stop <= start:
        raise ValueError("empty range for randrange()")
    return start + below(rng, stop - start)


def randrange_by(rng: Any, start: Any, stop: Any, step: Any) -> Any:
    count = len(range(start, stop, step))
    if count == 0:
        raise ValueError("empty range for randrange()")
    return start + step * below(rng, count)


def randint(rng: Any, a: Any, b: Any) -> Any:
    return randrange_between(rng, a, b + 1)


def choice(rng: Any, values: Any) -> Any:
    if len(values) == 0:
        raise IndexError("Cannot choose from an empty sequence")
    return values[below(rng, len(values))]


def shuffle(rng: Any, values: Any) -> None:
    for i in range(len(values) - 1, 0, -1):
        j = below(rng, i + 1)
        held = values[i]
        values[i] = values[j]
        values[j] = held


def sample(rng: Any, values: Any, k: Any) -> Any:
    n = len(values)
    if k < 0 or k > n:
        raise ValueError("Sample larger than population or is negative")
    few = 21
    if k > 5:
        few += 4 ** math.ceil(math.log(k * 3, 4))
    found = []
    if n <= few:
        pool = list(values)
        for i in range(k):
            j = below(rng, n - i)
            found.append(pool[j])
            pool[j] = pool[n - i - 1]
        return found
    taken = set()
    for _ in range(k):
        j = below(rng, n)
        while j in taken:
            j = below(rng, n)
        taken.add(j)
        found.append(values[j])
    return found


def choices(rng: Any, values: Any, k: Any) -> Any:
    n = float(len(values))
    return [values[int(random_float(rng) * n)] for _ in range(k)]


def choices_weighted(rng: Any, values: Any, weights: Any, k: Any) -> Any:
    return choices_cumulative(rng, values, list(accumulate(weights)), k)


def choices_cumulative(rng: Any, values: Any, sums: Any, k: Any) -> Any:
    if len(sums) != len(values):
        raise ValueError("The number of weights does not match the population")
    total = float(sums[-1])
    if total <= 0.0 or not math.isfinite(total):
        raise ValueError("Total of weights must be greater than zero")
    last = len(values) - 1
    return [values[bisect_right(sums, random_float(rng) * total, 0, last)] for _ in range(k)]


def gauss(rng: Any, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    return mu + random_gauss() * sigma


def normalvariate(rng: Any, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    constant = 4 * math.exp(-0.5) / math.sqrt(2.0)
    while True:
        u = random_float(rng)
        v = 1.0 - random_float(rng)
        z = constant * (u - 0.5) / v
        if z * z / 4.0 <= -math.log(v):
            return mu + z * sigma


def expovariate(rng: Any, rate: Any) -> Any:
    return -math.log(1.0 - random_float(rng)) / rate


def triangular(rng: Any, low: Any = 0.0, high: Any = 1.0, mode: Any = None) -> Any:
    u = random_float(rng)
    if same(low, high):
        return low
    c = 0.5 if mode is None else (mode - low) / (high - low)
    if u > c:
        return high + (low - high) * math.sqrt((1.0 - u) * (1.0 - c))
    return low + (high - low) * math.sqrt(u * c)
