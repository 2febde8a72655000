"""Queens on a board, by permutations from a generator and sets of diagonals."""

import sys


def permutations(pool):
    n = len(pool)
    indices = list(range(n))
    cycles = list(range(n, 0, -1))
    yield tuple(pool)
    while True:
        for i in reversed(range(n)):
            cycles[i] -= 1
            if cycles[i] == 0:
                indices[i:] = indices[i + 1 :] + indices[i : i + 1]
                cycles[i] = n - i
            else:
                j = cycles[i]
                indices[i], indices[-j] = indices[-j], indices[i]
                yield tuple(pool[k] for k in indices)
                break
        else:
            return


def queens(count):
    columns = range(count)
    for places in permutations(columns):
        if count == len({places[i] + i for i in columns}) == len({places[i] - i for i in columns}):
            yield places


def solutions(count):
    found = list(queens(count))
    return len(found), found[0]


def main(rounds):
    total = 0
    for _ in range(rounds):
        number, first = solutions(8)
        total += number
    print(total, first)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
