"""ip-NSW: maximum inner product search on a graph of similar vectors (Morozov and Babenko, 2018). From an entry the
best candidate so far is expanded, until none is better than the worst of the `width` best ones found.
"""

from __future__ import annotations

import heapq

import numpy as np

INTREPYDD = 17.44 / 0.79
SIZES = {"S": (200, 8, 6, 10, 8, 3), "M": (2000, 32, 12, 60, 32, 10), "L": (8000, 64, 16, 400, 48, 10)}


def search(graph, vectors, query, entry, width, count):
    score = np.dot(vectors[entry], query)
    visited = {entry}
    candidates = [(-score, entry)]
    best = [(score, entry)]
    while candidates:
        negative, node = heapq.heappop(candidates)
        if -negative < best[0][0]:
            break
        for neighbour in graph[node]:
            if neighbour not in visited:
                visited.add(neighbour)
                score = np.dot(vectors[neighbour], query)
                if len(best) < width or score > best[0][0]:
                    heapq.heappush(candidates, (-score, neighbour))
                    heapq.heappush(best, (score, neighbour))
                    if len(best) > width:
                        heapq.heappop(best)
    while len(best) > count:
        heapq.heappop(best)
    nodes = []
    while best:
        nodes.append(heapq.heappop(best)[1])
    return nodes[::-1]


def ipnsw(graph, vectors, queries, entry, width, count):
    found = np.zeros((len(queries), count), dtype=np.int64)
    for number in range(len(queries)):
        found[number] = search(graph, vectors, queries[number], entry, width, count)
    return found


def numba_form(graph, vectors, queries, entry, width, count):
    """Numba stores no list in a row of an array."""
    found = np.zeros((len(queries), count), dtype=np.int64)
    for number in range(len(queries)):
        nodes = search(graph, vectors, queries[number], entry, width, count)
        for k in range(count):
            found[number, k] = nodes[k]
    return found


def initialise(size):
    """Each vector is linked with those of the largest inner products, and with a few others at random."""
    number, dimension, links, queries, width, count = size
    random = np.random.default_rng(13)
    vectors = random.normal(size=(number, dimension)) * random.uniform(0.5, 1.5, (number, 1))
    graph = np.empty((number, links), np.int64)
    near = links - links // 4
    for start in range(0, number, 1000):
        block = vectors[start : start + 1000] @ vectors.T
        block[np.arange(len(block)), np.arange(start, start + len(block))] = -np.inf
        graph[start : start + 1000, :near] = np.argsort(-block, axis=1)[:, :near]
    graph[:, near:] = random.integers(0, number, (number, links - near))
    return graph.tolist(), vectors, random.normal(size=(queries, dimension)), 0, width, count
