# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
from libc.math cimport cos, sin, M_PI


def l_system(str axiom, dict rules, long generations, double angle):
    cdef str word = axiom
    cdef long step
    cdef Py_UCS4 symbol
    cdef double x = 0.0, y = 0.0, heading = 90.0, highest = 0.0, widest = 0.0, length = 0.0
    cdef list places = []
    for step in range(generations):
        word = "".join([rules.get(letter, letter) for letter in word])
    for symbol in word:
        if symbol == "F":
            x += cos(heading * (M_PI / 180.0))
            y += sin(heading * (M_PI / 180.0))
            length += 1.0
            highest = max(highest, y)
            widest = max(widest, abs(x))
        elif symbol == "+":
            heading += angle
        elif symbol == "-":
            heading -= angle
        elif symbol == "[":
            places.append((x, y, heading))
        elif symbol == "]":
            x, y, heading = places.pop()
    return len(word), highest, widest, length
