"""Integers are Python's: results of more than 64 bits, shifts of any width, divisions of any sign, powers with a
modulus.  A call whose result leaves 64 bits is repeated in Python.
"""

from __future__ import annotations

import pytest

import weft
from tests.fuzz.test_containers import outcome


def modular(a, b, m):
    return pow(a, b, m)


def divided(a, b):
    return divmod(a, b), a % b, a // b


def bits(a):
    return a.bit_length(), a.bit_count(), ~a, -a, abs(a)


def right(a, b):
    return a >> b


def left(a, b):
    return a << b


def combined(a, b):
    return a & b, a | b, a ^ b


def power(a, b):
    return a**b


def factorial(n):
    product = 1
    for i in range(1, n + 1):
        product *= i
    return product


def total(xs):
    found = 0
    for x in xs:
        found += x
    return found


def factorials(n, out):
    product = 1
    for i in range(1, n + 1):
        product *= i
        out.append(product)
    return len(out)


def fibonacci(n):
    known = {0: 0, 1: 1}
    for i in range(2, n):
        known[i] = known[i - 1] + known[i - 2]
    return known[n - 1]


LOWEST, LARGEST = -(2**63), 2**63 - 1
CASES = [
    (modular, [(3, 100, 7), (3, 10**12, 10**9 + 7), (-3, 5, 7), (3, 5, -7), (3, -1, 7), (2, 3, 0), (2, -1, 4)]),
    (modular, [(10**18, 10**18, 2**61 - 1), (0, 0, 1), (5, 0, -3)]),
    (divided, [(7, 3), (-7, 3), (7, -3), (7, 0), (LOWEST, -1), (LOWEST, 1), (0, 5), (7.5, -2.0), (7.5, 0.0)]),
    (bits, [(0,), (255,), (-255,), (LOWEST,), (LARGEST,)]),
    (right, [(5, 1), (5, 100), (-5, 100), (1, -1), (5, 2**62), (LOWEST, 63)]),
    (left, [(1, 62), (1, 63), (1, 70), (0, 1000), (-1, 63), (-1, 64), (1, -1)]),
    (combined, [(5, -3), (LOWEST, 1), (-1, LARGEST)]),
    (power, [(2, 62), (2, 64), (3, -2), (0, -1), (-2, 63), (10, 0), (-1, 10**9)]),
    (factorial, [(20,), (21,), (25,)]),
    (total, [([2**62, 2**62, 5],), ([2**70, 1],), ([LOWEST, -1],), ([],)]),
    (factorials, [(25, []), (25, [1]), (20, [])]),
    (fibonacci, [(90,), (120,)]),
]


@pytest.mark.parametrize(("function", "calls"), CASES, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(CASES)])
def test_integers(function, calls):
    compiled = weft.jit(fallback="error")(function)
    for arguments in calls:
        plain = [list(part) if isinstance(part, list) else part for part in arguments]
        expected = outcome(function, tuple(list(part) if isinstance(part, list) else part for part in arguments))
        assert outcome(compiled, tuple(plain)) == expected, arguments
