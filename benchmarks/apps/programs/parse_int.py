"""Numbers to hexadecimal text and back. One of Julia's microbenchmarks."""

from __future__ import annotations

import random

SIZES = {"S": (50,), "M": (20000,), "L": (500000,)}
JULIA = True


def parse_int(numbers):
    total = 0
    for number in numbers:
        text = hex(number)
        again = int(text, 16)
        assert again == number
        total += again
    return total


def initialise(size):
    (number,) = size
    generator = random.Random(19)
    return ([generator.randrange(2**32) for _ in range(number)],)
