"""The connected components of a graph by a forest of parents with path halving."""

from __future__ import annotations

import random

SIZES = {"S": (60, 50), "M": (20000, 20000), "L": (400000, 400000)}


def find(parents, node):
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node


def union_find(nodes, edges):
    parents = list(range(nodes))
    sizes = [1] * nodes
    components = nodes
    for one, other in edges:
        a, b = find(parents, one), find(parents, other)
        if a != b:
            if sizes[a] < sizes[b]:
                a, b = b, a
            parents[b] = a
            sizes[a] += sizes[b]
            components -= 1
    return components, max(sizes)


def initialise(size):
    nodes, edges = size
    generator = random.Random(23)
    return nodes, [(generator.randrange(nodes), generator.randrange(nodes)) for _ in range(edges)]
