# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
cdef extern from "complex.h":
    double cabs(double complex z)


cdef long steps(double complex z, long limit):
    cdef double complex c = z
    cdef long n
    for n in range(limit):
        if cabs(z) > 2:
            return n
        z = z * z + c
    return limit


def mandelbrot(long width, long height, long limit):
    cdef long total = 0, i, j
    for i in range(width):
        for j in range(height):
            total += steps((-2.0 + 2.5 * i / (width - 1)) + 1j * (-1.0 + 2.0 * j / (height - 1)), limit)
    return total
