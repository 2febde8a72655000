# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
cdef void sort_between(list values, long low, long high):
    cdef long i = low, j = high
    cdef double pivot
    while i < high:
        pivot = values[(low + high) // 2]
        while i <= j:
            while <double>values[i] < pivot:
                i += 1
            while <double>values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if low < j:
            sort_between(values, low, j)
        low = i
        j = high


def quicksort(list values):
    sort_between(values, 0, len(values) - 1)
