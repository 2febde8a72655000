"""Shortest paths by Dijkstra's algorithm with a heap: neighbours and lengths are lists of pairs."""

from __future__ import annotations

import heapq
import random

SIZES = {"S": (60, 4), "M": (5000, 8), "L": (100000, 8)}


def dijkstra(neighbours, source):
    distances = [float("inf")] * len(neighbours)
    distances[source] = 0.0
    heap = [(0.0, source)]
    while heap:
        distance, node = heapq.heappop(heap)
        if distance > distances[node]:
            continue
        for other, length in neighbours[node]:
            reached = distance + length
            if reached < distances[other]:
                distances[other] = reached
                heapq.heappush(heap, (reached, other))
    return distances


def initialise(size):
    nodes, degree = size
    generator = random.Random(22)
    neighbours = [[((i + 1) % nodes, 5.0)] for i in range(nodes)]
    for i in range(nodes):
        for _ in range(degree - 1):
            neighbours[i].append((generator.randrange(nodes), generator.uniform(0.1, 10.0)))
    return neighbours, 0
