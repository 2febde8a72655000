"""The game of life on a set of tuples, without borders."""

from collections import defaultdict

GLIDERS = [(0, 1), (1, 2), (2, 0), (2, 1), (2, 2)]


def step(alive):
    counts = defaultdict(int)
    for x, y in alive:
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if dx or dy:
                    counts[x + dx, y + dy] += 1
    return {cell for cell, n in counts.items() if n == 3 or (n == 2 and cell in alive)}


def start():
    cells = set()
    for k in range(12):
        for x, y in GLIDERS:
            cells.add((x + 7 * k, y + 5 * (k % 3)))
    for x in range(40):
        cells.add((x, 60))
    return cells


if __name__ == "__main__":
    cells = start()
    largest = 0
    for generation in range(9000):
        cells = step(cells)
        largest = max(largest, len(cells))
    print(len(cells), largest, min(cells), max(cells))
