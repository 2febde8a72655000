# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
def sieve(long n):
    cdef bytearray prime = bytearray([1]) * (n + 1)
    cdef long i = 2, j
    prime[0] = prime[1] = 0
    while i * i <= n:
        if prime[i]:
            for j in range(i * i, n + 1, i):
                prime[j] = 0
        i += 1
    return [i for i in range(n + 1) if prime[i]]
