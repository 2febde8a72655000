"""A scanner over bytes: how many names, numbers and signs a text has, the sum of its numbers, and how often each word
comes, by a hash of its letters.
"""

from __future__ import annotations

import random

SIZES = {"S": (60,), "M": (20000,), "L": (400000,)}


def tokenizer(text):
    names = signs = numbers = total = 0
    counts = {}
    position = 0
    while position < len(text):
        byte = text[position]
        if 48 <= byte <= 57:
            value = 0
            while position < len(text) and 48 <= text[position] <= 57:
                value = value * 10 + text[position] - 48
                position += 1
            numbers += 1
            total += value
        elif 97 <= byte <= 122 or 65 <= byte <= 90 or byte == 95:
            key = 0
            while position < len(text) and (
                97 <= text[position] <= 122 or 65 <= text[position] <= 90 or text[position] == 95
            ):
                key = (key * 31 + text[position]) % 1000003
                position += 1
            names += 1
            counts[key] = counts.get(key, 0) + 1
        else:
            if byte != 32 and byte != 10:
                signs += 1
            position += 1
    return names, signs, numbers, total, len(counts), max(counts.values())


def initialise(size):
    (number,) = size
    generator = random.Random(24)
    words = ["".join(generator.choices("abcdefghijklmnopqrstuvwxyz_", k=generator.randint(1, 9))) for _ in range(500)]
    parts = []
    for _ in range(number):
        kind = generator.random()
        if kind < 0.6:
            parts.append(generator.choice(words))
        elif kind < 0.8:
            parts.append(str(generator.randrange(100000)))
        else:
            parts.append(generator.choice(["+", "-", "=", "(", ")", ";", ",\n"]))
    return (" ".join(parts).encode(),)
