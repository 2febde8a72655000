# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
import numpy as np


def kmeans(double[:, ::1] points, double[:, ::1] given, long iterations):
    cdef long number = points.shape[0], dimension = points.shape[1], groups = given.shape[0], i, k, d, step, nearest
    cdef double distance, least, difference
    centres, labels = np.array(given), np.zeros(number, dtype=np.int64)
    cdef double[:, ::1] centre = centres, sums
    cdef long[::1] label = labels, counts
    for step in range(iterations):
        sums = np.zeros((groups, dimension))
        counts = np.zeros(groups, dtype=np.int64)
        for i in range(number):
            least, nearest = 1e300, 0
            for k in range(groups):
                distance = 0.0
                for d in range(dimension):
                    difference = points[i, d] - centre[k, d]
                    distance += difference * difference
                if distance < least:
                    least, nearest = distance, k
            label[i] = nearest
            counts[nearest] += 1
            for d in range(dimension):
                sums[nearest, d] += points[i, d]
        for k in range(groups):
            if counts[k] > 0:
                for d in range(dimension):
                    centre[k, d] = sums[k, d] / counts[k]
    return labels, centres
