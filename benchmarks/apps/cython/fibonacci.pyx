# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
cpdef long fibonacci(long n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
