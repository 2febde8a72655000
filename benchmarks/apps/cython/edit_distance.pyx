# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
def edit_distance(str first, str second):
    cdef long i, j, n = len(first), m = len(second)
    cdef list previous = list(range(m + 1)), current
    cdef Py_UCS4 letter
    for i in range(1, n + 1):
        letter = first[i - 1]
        current = [i]
        for j in range(1, m + 1):
            if letter == second[j - 1]:
                current.append(previous[j - 1])
            else:
                current.append(1 + min(<long>previous[j - 1], <long>previous[j], <long>current[j - 1]))
        previous = current
    return previous[m]
