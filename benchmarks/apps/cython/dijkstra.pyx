# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
import heapq


def dijkstra(list neighbours, long source):
    cdef list distances = [float("inf")] * len(neighbours), heap = [(0.0, source)]
    cdef double distance, length, reached
    cdef long node, other
    distances[source] = 0.0
    while heap:
        distance, node = heapq.heappop(heap)
        if distance > <double>distances[node]:
            continue
        for other, length in neighbours[node]:
            reached = distance + length
            if reached < <double>distances[other]:
                distances[other] = reached
                heapq.heappush(heap, (reached, other))
    return distances
