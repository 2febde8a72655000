"""Word mover's distances from one document to many by Sinkhorn's iteration (Cuturi, 2013), dense: `M` holds the
distances between the words of the document and all words, `c` the words of the documents.
"""

from __future__ import annotations

import numpy as np

INTREPYDD = 46.44 / 1.22
SIZES = {"S": (6, 120, 20, 4), "M": (20, 1500, 200, 8), "L": (40, 5000, 500, 10)}


def sinkhorn_wmd(r, c, M, penalty, iterations):
    K = np.exp(-M * penalty)
    x = np.ones((len(r), c.shape[1])) / len(r)
    it = 0
    while it < iterations:
        u = 1.0 / x
        v = c * (1.0 / (K.T @ u))
        x = ((1.0 / r)[:, None] * K) @ v
        it += 1
    u = 1.0 / x
    v = c * (1.0 / (K.T @ u))
    return (u * ((K * M) @ v)).sum(axis=0)


def initialise(size):
    """Vectors of words; each document uses a few of them."""
    words, vocabulary, documents, iterations = size
    random = np.random.default_rng(16)
    vectors = random.normal(size=(vocabulary, 16)) / 4.0
    own = vectors[random.choice(vocabulary, words, replace=False)]
    M = np.sqrt(((own[:, None, :] - vectors[None, :, :]) ** 2).sum(axis=2))
    c = np.where(random.random((vocabulary, documents)) < 0.05, random.random((vocabulary, documents)), 0.0)
    c[0] += 0.01
    return np.full(words, 1.0 / words), c / c.sum(axis=0), M, 2.0, iterations
