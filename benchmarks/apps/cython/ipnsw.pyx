# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
import heapq
import numpy as np


cdef double inner(double[:, ::1] vectors, long i, double[:] query):
    cdef double total = 0.0
    cdef long k
    for k in range(vectors.shape[1]):
        total += vectors[i, k] * query[k]
    return total


cdef list search(list graph, double[:, ::1] vectors, double[:] query, long entry, long width, long count):
    cdef double score = inner(vectors, entry, query), negative
    cdef long node, neighbour
    cdef set visited = {entry}
    cdef list candidates = [(-score, entry)], best = [(score, entry)]
    while candidates:
        negative, node = heapq.heappop(candidates)
        if -negative < best[0][0]:
            break
        for neighbour in graph[node]:
            if neighbour not in visited:
                visited.add(neighbour)
                score = inner(vectors, neighbour, query)
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


def ipnsw(list graph, double[:, ::1] vectors, double[:, ::1] queries, long entry, long width, long count):
    cdef long number
    found = np.zeros((queries.shape[0], count), dtype=np.int64)
    for number in range(queries.shape[0]):
        found[number] = search(graph, vectors, queries[number], entry, width, count)
    return found
