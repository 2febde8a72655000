# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
cdef bint is_letter(unsigned char byte):
    return 97 <= byte <= 122 or 65 <= byte <= 90 or byte == 95


def tokenizer(bytes text):
    cdef long names = 0, signs = 0, numbers = 0, total = 0, position = 0, value, key, size = len(text)
    cdef const unsigned char[::1] letters = text
    cdef dict counts = {}
    cdef unsigned char byte
    while position < size:
        byte = letters[position]
        if 48 <= byte <= 57:
            value = 0
            while position < size and 48 <= letters[position] <= 57:
                value = value * 10 + letters[position] - 48
                position += 1
            numbers += 1
            total += value
        elif is_letter(byte):
            key = 0
            while position < size and is_letter(letters[position]):
                key = (key * 31 + letters[position]) % 1000003
                position += 1
            names += 1
            counts[key] = counts.get(key, 0) + 1
        else:
            if byte != 32 and byte != 10:
                signs += 1
            position += 1
    return names, signs, numbers, total, len(counts), max(counts.values())
