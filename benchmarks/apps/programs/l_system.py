"""A plant by a system of Lindenmayer's: a word grows by rules, and a turtle that reads it draws the branches; how far
they reach, and how long they are altogether.
"""

from __future__ import annotations

import math

SIZES = {"S": (3, 25.0), "M": (6, 25.0), "L": (8, 25.0)}


def grow(word, rules):
    return "".join([rules.get(symbol, symbol) for symbol in word])


def l_system(axiom, rules, generations, angle):
    word = axiom
    for _ in range(generations):
        word = grow(word, rules)
    x, y, heading = 0.0, 0.0, 90.0
    highest = widest = length = 0.0
    places = []
    for symbol in word:
        if symbol == "F":
            x += math.cos(math.radians(heading))
            y += math.sin(math.radians(heading))
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


def initialise(size):
    generations, angle = size
    return "X", {"X": "F+[[X]-X]-F[-FX]+X", "F": "FF"}, generations, angle
