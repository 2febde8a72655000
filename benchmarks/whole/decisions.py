"""A Markov decision process with exact probabilities: value iteration over Fractions and floats."""

import sys
from fractions import Fraction


def transitions(places):
    table = {}
    for place in range(places):
        for action in ("stay", "jump"):
            if action == "stay":
                table[place, action] = [(place, Fraction(3, 4)), ((place + 1) % places, Fraction(1, 4))]
            else:
                table[place, action] = [((place * 7 + 3) % places, Fraction(2, 3)), (0, Fraction(1, 3))]
    return table


def reward(place, action):
    return Fraction(place % 5, 3) - (1 if action == "jump" else 0)


def sweep(values, table, discount):
    found = {}
    for place in values:
        best = None
        for action in ("stay", "jump"):
            total = reward(place, action)
            for target, chance in table[place, action]:
                total += discount * chance * values[target]
            if best is None or total > best:
                best = total
        found[place] = best.limit_denominator(1000)
    return found


def main(rounds):
    table = transitions(40)
    values = {place: Fraction(0) for place in range(40)}
    for _ in range(rounds):
        values = sweep(values, table, Fraction(9, 10))
    print(max(values.values()), sum(values.values()))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2500)
