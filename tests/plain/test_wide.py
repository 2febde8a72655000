"""Integers beyond 64 bits in compiled plain Python: Python repeats a call that overflows, the next one is native."""

from __future__ import annotations

import math

import pytest

from tests.plain.warm import settled
from weft.plain.runtime import load

pytestmark = pytest.mark.skipif(load() is None, reason="no C compiler")


def operations(n):
    x = 3**n
    found = [x, 5, x // 7, x % 1000, -x, abs(-x), x & 255, x >> 60, ~x, x << 3, x | 1, x ^ x]
    tests = [x == 3**n, x > 10, 10 < x, x != 1, bool(x), not x, isinstance(x, int), x in [1, x], x is None]
    return found, [x / 3.5, x * 0.5, x / 2, x - 1.0], tests, type(x)


def as_keys(n):
    places = {}
    for i in range(n):
        places[2**i] = i
        places[i] = -i
    members = {2 ** (i * 3) for i in range(n)}
    most = max(places)
    texts = str(most), f"{most:,}", hex(most), "%d" % most, repr([most])
    return places, len(members), 2**30 in members, sum(places), sorted(places, reverse=True)[:3], texts


def hashes(text):
    number = int(text)
    digits = 0
    while number:
        number //= 10
        digits += 1
    h = 14695981039346656037
    for c in text:
        h = ((h ^ ord(c)) * 1099511628211) & 0xFFFFFFFFFFFFFFFF
    h ^= h >> 33
    h = h * 0xFF51AFD7ED558CCD % (1 << 64)
    return digits, h, h.bit_length(), pow(h, 65537, 10**20 + 39), divmod(h * h, 10**9)


def library(x):
    return (
        [math.factorial(25), math.comb(100, 50), math.gcd(10**20, 10**19 * 3), math.isqrt(10**40)],
        [round(x), int(x), math.floor(x), math.ceil(-x), float(10**20), math.log(10**50)],
    )


def remembered(n):
    memo = {0: 0, 1: 1}

    def fibonacci(k):
        if k not in memo:
            memo[k] = fibonacci(k - 1) + fibonacci(k - 2)
        return memo[k]

    return fibonacci(n), len(memo)


def of_arguments(values):
    total = 0
    for value in values:
        total += value * value
    values.append(total)
    return total, sum(values), min(values), max(values), [v for v in values if v > 0]


def guarded(n):
    try:
        return 10**40 // n
    except ZeroDivisionError:
        return -1


def powers(rows):
    out = []
    for base, exponent, modulus in rows:
        try:
            out.append(pow(base, exponent, modulus))
        except ValueError:
            out.append(None)
    return out


CASES = [
    (operations, (100,)),
    (operations, (2,)),
    (as_keys, (80,)),
    (hashes, ("123456789012345678901234567890",)),
    (library, (1e25,)),
    (remembered, (120,)),
    (of_arguments, ([1, -2, 10**18, 10**30],)),
    (guarded, (0,)),
    (guarded, (3,)),
    (powers, ([(3, 10**18, 10**18 + 9), (-7, 5, -13), (3, -1, 11), (2, -3, 4), (5, 0, 1), (5, 2, 0)],)),
    (powers, ([(2**63 - 1, 3, -(2**63)), (-(2**63), 2, 2**63 - 1)],)),
]


@pytest.mark.parametrize("function, arguments", CASES, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(CASES)])
def test_integers_of_any_size(function, arguments):
    settled(function, arguments)


MASK = (1 << 40) - 1
FACTOR = 6364136223846793005


def congruences(n, seed):
    x = y = z = w = seed
    out = []
    for k in range(n):
        x = (x * FACTOR + 1442695040888963407) & 0x7FFFFFFFFFFFFFFF
        y = (y * 25214903917 + 11) % (1 << 48)
        z = MASK & (z ^ z << 13 ^ (z * x - y) * 0x9E3779B97F4A7C15)
        w = (w * FACTOR - k) % 2**63
        out.append((x, y, z, w, (k - x * y) % 4294967296, (x | y * -3) & MASK))
    return out


def remainders(rows):
    out = []
    for a, b, m in rows:
        try:
            out.append((a * b % m, (a * b - m) % m, (a - b * b + m) % -m, (a * b + a * b) % m, (3 * a - b) % m))
        except ZeroDivisionError as problem:
            out.append(str(problem))
    return out


def other_operands(a, b):
    out = []
    for x in (a, b):
        out.append((x * 3 + a) % 8)
        out.append((x + (2 if x else True) * 5) % 16)
    return out


def of_any_kind(x):
    try:
        return (x * 3 + 1) & 255
    except TypeError:
        return None


class Odd:
    """Its operations are seen from outside, and so is when they happen."""

    def __init__(self, log):
        self.log = log

    def __mul__(self, other):
        self.log.append(("mul", other))
        return self

    def __add__(self, other):
        self.log.append(("add", other))
        return 1000 + other


def noted(log, x):
    log.append(x)
    return x


def in_order(n):
    log = []
    odd = Odd(log)
    found = (odd * noted(log, n) + noted(log, 7)) & 63
    found += (noted(log, 3) * noted(log, 5) + noted(log, 7)) & 63
    return found, log, (noted(log, n) * noted(log, 2)) % noted(log, 8)


EXTREMES = [0, 1, -1, 7, 2**31, -(2**31) - 1, 2**62, 2**63 - 1, -(2**63)]
REDUCED = [
    (congruences, (20, 1)),
    (congruences, (20, -(2**63))),
    (remainders, ([(a, b, m) for a in EXTREMES for b in EXTREMES for m in EXTREMES],)),
    (remainders, ([(2**70, 3, 5), (2, 2**65, 7)],)),
    (other_operands, (3, -4)),
    (other_operands, (3, 2.5)),
    (other_operands, (0, 2**64)),
    (of_any_kind, (2**63 - 1,)),
    (of_any_kind, (True,)),
    (of_any_kind, (1.5,)),
    (of_any_kind, ("a",)),
    (in_order, (4,)),
]


@pytest.mark.parametrize("function, arguments", REDUCED, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(REDUCED)])
def test_integers_that_are_masked_or_divided_at_once(function, arguments):
    settled(function, arguments)


def test_a_masked_product_stays_a_number_of_the_machine():
    import weft

    native = weft.jit(congruences)
    assert native(50, 3) == congruences(50, 3)
    assert native(50, 5) == congruences(50, 5)
    assert "int of any size" not in native.inspect("types")
