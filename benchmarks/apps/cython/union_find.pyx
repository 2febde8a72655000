# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
cdef long find(list parents, long node):
    while <long>parents[node] != node:
        parents[node] = parents[<long>parents[node]]
        node = parents[node]
    return node


def union_find(long nodes, list edges):
    cdef list parents = list(range(nodes)), sizes = [1] * nodes
    cdef long components = nodes, one, other, a, b
    for one, other in edges:
        a, b = find(parents, one), find(parents, other)
        if a != b:
            if <long>sizes[a] < <long>sizes[b]:
                a, b = b, a
            parents[b] = a
            sizes[a] = <long>sizes[a] + <long>sizes[b]
            components -= 1
    return components, max(sizes)
