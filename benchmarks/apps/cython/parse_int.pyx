# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
def parse_int(list numbers):
    cdef long total = 0, number, again
    for number in numbers:
        text = hex(number)
        again = int(text, 16)
        assert again == number
        total += again
    return total
