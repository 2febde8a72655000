"""Edit distance and longest common subsequences of made-up genes: tables as lists of lists, strings."""

import sys


def gene(seed, length):
    letters = []
    for _ in range(length):
        seed = (seed * 1664525 + 1013904223) % 4294967296
        letters.append("ACGT"[seed >> 30])
    return "".join(letters)


def distance(a, b):
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        current = [i]
        for j, y in enumerate(b, 1):
            if x == y:
                current.append(previous[j - 1])
            else:
                current.append(1 + min(previous[j], current[-1], previous[j - 1]))
        previous = current
    return previous[-1]


def common(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                table[i + 1][j + 1] = table[i][j] + 1
            else:
                table[i + 1][j + 1] = max(table[i][j + 1], table[i + 1][j])
    i, j, letters = len(a), len(b), []
    while i and j:
        if a[i - 1] == b[j - 1]:
            letters.append(a[i - 1])
            i, j = i - 1, j - 1
        elif table[i - 1][j] >= table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return "".join(reversed(letters))


def main(length):
    first, second = gene(1, length), gene(2, length)
    print(distance(first, second))
    print(common(first, second)[:60])


main(int(sys.argv[1]) if len(sys.argv) > 1 else 2600)
