"""Nearest centres: loops over points with a branch, an integer result and a sum, and what weft says about them."""

import numpy as np

import weft


@weft.jit
def nearest(points, centres):
    label = np.empty(points.shape[0], dtype=np.int64)
    total = 0.0
    for i in range(points.shape[0]):
        best = np.inf
        for c in range(centres.shape[0]):
            distance = 0.0
            for k in range(points.shape[1]):
                distance += (points[i, k] - centres[c, k]) ** 2
            if distance < best:
                best = distance
                label[i] = c
        total += best
    return label, total


def main():
    generator = np.random.default_rng(0)
    points, centres = generator.random((2000, 3)), generator.random((10, 3))
    label, total = nearest(points, centres)
    distances = ((points[:, None] - centres[None]) ** 2).sum(axis=2)
    if hasattr(nearest, "explain"):
        print(nearest.explain())
    same = np.array_equal(label, distances.argmin(axis=1)) and np.isclose(total, distances.min(axis=1).sum())
    print("same answer:", same)


if __name__ == "__main__":
    main()
