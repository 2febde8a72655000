"""Monte Carlo with `random`: hands of cards, a random walk, and an estimate of an integral."""

import random
from collections import Counter

RANKS = "23456789TJQKA"
DECK = [rank + suit for rank in RANKS for suit in "shdc"]


def rate(hand):
    ranks = sorted((RANKS.index(card[0]) for card in hand), reverse=True)
    counts = {}
    for rank in ranks:
        counts[rank] = counts.get(rank, 0) + 1
    shape = sorted(counts.values(), reverse=True)
    is_flush = len({card[1] for card in hand}) == 1
    is_straight = len(counts) == 5 and ranks[0] - ranks[4] == 4
    if is_straight and is_flush:
        return "straight flush"
    if shape[0] == 4:
        return "four"
    if shape == [3, 2]:
        return "full house"
    if is_flush:
        return "flush"
    if is_straight:
        return "straight"
    if shape[0] == 3:
        return "three"
    if shape == [2, 2, 1]:
        return "two pairs"
    return "pair" if shape[0] == 2 else "nothing"


def hands(count):
    seen = Counter()
    for _ in range(count):
        seen[rate(random.sample(DECK, 5))] += 1
    return seen


def walk(steps):
    x = y = 0
    farthest = 0
    for _ in range(steps):
        way = random.randrange(4)
        if way == 0:
            x += 1
        elif way == 1:
            x -= 1
        elif way == 2:
            y += 1
        else:
            y -= 1
        farthest = max(farthest, x * x + y * y)
    return x, y, farthest


def integral(points):
    inside = 0.0
    for _ in range(points):
        u, v = random.uniform(-1.0, 1.0), random.gauss(0.0, 1.0)
        inside += u * u * v * v
    return inside / points


def main():
    random.seed(2024)
    for name, count in sorted(hands(300000).items(), key=lambda item: -item[1]):
        print(f"{name:15}{count:8}")
    print(walk(3000000))
    print(f"{integral(3000000):.9f}")


main()
