"""The spectral norm of an infinite matrix by comprehensions and functions as arguments."""

import sys


def entry(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def product(u, a):
    return [sum(a(i, j) * x for j, x in enumerate(u)) for i in range(len(u))]


def transposed(i, j):
    return entry(j, i)


def both(u):
    return product(product(u, entry), transposed)


def main(n, rounds):
    u = [1.0] * n
    for _ in range(rounds):
        v = both(u)
        u = both(v)
    above = below = 0.0
    for x, y in zip(u, v):
        above += x * y
        below += y * y
    print(f"{(above / below) ** 0.5:.9f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 250, 90)
