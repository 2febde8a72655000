"""Shortest roads in a grid of towns: dicts of lists of tuples, a heap, and a few thousand questions."""

import heapq


def build(side):
    roads = {}
    for i in range(side):
        for j in range(side):
            here = (i, j)
            roads[here] = []
            for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                there = (i + di, j + dj)
                if 0 <= there[0] < side and 0 <= there[1] < side:
                    roads[here].append((there, 1 + (i * 7 + j * 13 + di * 3 + dj * 5) % 9))
    return roads


def shortest(roads, start, goal):
    best = {start: 0}
    heap = [(0, start)]
    while heap:
        cost, here = heapq.heappop(heap)
        if here == goal:
            return cost
        if cost > best[here]:
            continue
        for there, length in roads[here]:
            new = cost + length
            if there not in best or new < best[there]:
                best[there] = new
                heapq.heappush(heap, (new, there))
    return None


def main():
    side = 40
    roads = build(side)
    total = 0
    for k in range(2600):
        goal = ((k * 17) % side, (k * 29) % side)
        start = ((k * 5) % side, (k * 11) % side)
        total += shortest(roads, start, goal)
    print(total)


main()
