"""Graphs to work on. In come sizes and a generator of random numbers; out come neighbours in compressed rows."""

from __future__ import annotations

import numpy as np


def compressed(pairs: np.ndarray, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Undirected edges as rows of neighbours: where each row begins, and the neighbours, ascending, each once."""
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    keys = np.unique(np.concatenate((pairs[:, 0] * nodes + pairs[:, 1], pairs[:, 1] * nodes + pairs[:, 0])))
    sources, targets = keys // nodes, keys % nodes
    indptr = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(sources, minlength=nodes), out=indptr[1:])
    return indptr, targets.astype(np.int64)


def communities(
    random: np.random.Generator, groups: int, members: int, degree: int, mixing: float
) -> tuple[np.ndarray, np.ndarray]:
    """Groups of nodes that mostly know each other: a share `mixing` of the edges leaves the group. A ring through all
    nodes sees to it that nobody is alone.
    """
    nodes = groups * members
    sources = np.repeat(np.arange(nodes), degree // 2)
    inside = (sources // members) * members + random.integers(0, members, sources.size)
    anywhere = random.integers(0, nodes, sources.size)
    targets = np.where(random.random(sources.size) < mixing, anywhere, inside)
    ring = np.stack((np.arange(nodes), (np.arange(nodes) + 1) % nodes), axis=1)
    return compressed(np.concatenate((np.stack((sources, targets), axis=1), ring)), nodes)
