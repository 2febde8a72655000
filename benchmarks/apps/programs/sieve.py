"""The sieve of Eratosthenes: the primes up to n."""

from __future__ import annotations

SIZES = {"S": (500,), "M": (200000,), "L": (4000000,)}


def sieve(n):
    prime = [True] * (n + 1)
    prime[0] = prime[1] = False
    i = 2
    while i * i <= n:
        if prime[i]:
            for j in range(i * i, n + 1, i):
                prime[j] = False
        i += 1
    return [i for i, is_prime in enumerate(prime) if is_prime]


def initialise(size):
    return size
