# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
def pi_sum(long times, long terms):
    cdef double total = 0.0
    cdef long n, k
    for n in range(times):
        total = 0.0
        for k in range(1, terms + 1):
            total += 1.0 / (k * k)
    return total
