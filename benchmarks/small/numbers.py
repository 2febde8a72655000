"""Numbers: loops, recursion, arrays."""

from __future__ import annotations

import math

import numpy as np


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def is_prime(n):
    if n < 2:
        return False
    i = 2
    while i * i <= n:
        if n % i == 0:
            return False
        i += 1
    return True


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def ackermann(m, n):
    if m == 0:
        return n + 1
    return ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))


def power_mod(base, exponent, modulus):
    result = 1
    base %= modulus
    while exponent > 0:
        if exponent & 1:
            result = result * base % modulus
        exponent >>= 1
        base = base * base % modulus
    return result


def newton_root(x):
    guess = x / 2 + 1
    while abs(guess * guess - x) > 1e-9 * x:
        guess = (guess + x / guess) / 2
    return guess


def leibniz(n):
    total = 0.0
    for k in range(n):
        total += (-1.0) ** k / (2 * k + 1)
    return 4 * total


def digits(n):
    total = 0
    while n:
        total += n % 10
        n //= 10
    return total


def hypotenuse(a, b):
    return math.sqrt(a * a + b * b)


def quadratic(a, b, c):
    inner = b * b - 4 * a * c
    if inner < 0:
        return None
    root = math.sqrt(inner)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def clamp(x, low, high):
    return low if x < low else high if x > high else x


def axpy(a, x, y):
    return a * x + y


def normalise(x):
    return (x - x.mean()) / x.std()


def smooth(x):
    y = x.copy()
    for i in range(1, len(x) - 1):
        y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3
    return y


def trace(a):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i, i]
    return total


def distances(p):
    n = p.shape[0]
    d = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            d[i, j] = np.sqrt(((p[i] - p[j]) ** 2).sum())
    return d


def histogram(x, bins):
    counts = np.zeros(bins, dtype=np.int64)
    for v in x:
        counts[min(int(v * bins), bins - 1)] += 1
    return counts


def matvec(a, x):
    return a @ x


def running_max(x):
    y = np.empty_like(x)
    best = x[0]
    for i in range(len(x)):
        best = max(best, x[i])
        y[i] = best
    return y


def _random(n):
    return np.random.default_rng(0).random(n)


def cases():
    yield "numeric", gcd, [(48, 18), (1071, 462), (832040, 514229)]
    yield "numeric", collatz, [(6,), (27,), (837799,)]
    yield "numeric", is_prime, [(7,), (10007,), (1000003,)]
    yield "recursion", fibonacci, [(3,), (10,), (18,)]
    yield "recursion", ackermann, [(1, 3), (2, 5)]
    yield "numeric", power_mod, [(3, 5, 7), (7, 1000, 13), (123456, 10**15, 10**9 + 7)]
    yield "numeric", newton_root, [(2.0,), (12345.6,)]
    yield "numeric", leibniz, [(1,), (20,), (2000,)]
    yield "numeric", digits, [(7,), (123456789,)]
    yield "numeric", hypotenuse, [(3.0, 4.0), (3, 4)]
    yield "numeric", quadratic, [(1.0, -3.0, 2.0), (1.0, 0.0, 1.0)]
    yield "numeric", clamp, [(5, 0, 3), (0.5, 0.0, 1.0)]
    yield "arrays", axpy, [(2.0, _random(4), _random(4)), (2.0, _random(1000), _random(1000))]
    yield "arrays", normalise, [(_random(8),), (_random(10000),)]
    yield "arrays", smooth, [(_random(5),), (_random(500),)]
    yield "arrays", trace, [(_random(9).reshape(3, 3),), (_random(10000).reshape(100, 100),)]
    yield "arrays", distances, [(_random(6).reshape(3, 2),), (_random(60).reshape(20, 3),)]
    yield "arrays", histogram, [(_random(5), 4), (_random(2000), 16)]
    yield "arrays", matvec, [(_random(9).reshape(3, 3), _random(3)), (_random(40000).reshape(200, 200), _random(200))]
    yield "arrays", running_max, [(_random(4),), (_random(1000),)]
