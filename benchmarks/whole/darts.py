"""Monte Carlo with the random module and counters that are globals."""

import math
import random

hits = 0
thrown = 0
rings = [0] * 10


def throw():
    global hits, thrown
    x, y = random.random(), random.random()
    thrown += 1
    r = math.hypot(x, y)
    if r <= 1.0:
        hits += 1
        rings[int(r * 10) % 10] += 1


def walk(length):
    x = y = 0
    for _ in range(length):
        direction = random.randint(0, 3)
        if direction == 0:
            x += 1
        elif direction == 1:
            x -= 1
        elif direction == 2:
            y += 1
        else:
            y -= 1
    return abs(x) + abs(y)


random.seed(99)
for _ in range(6000000):
    throw()
far = 0
for k in range(15000):
    far += walk(300)
print(hits, thrown, rings, far)
