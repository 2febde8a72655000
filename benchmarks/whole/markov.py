"""Markov chains of letters: a defaultdict of Counters, cumulative choices, generated words and their surprise."""

import bisect
import math
import random
from collections import Counter, defaultdict

NAMES = """anna bernard carla dora emil frieda gustav hanna igor julia konrad lena martin nora otto paula quentin rosa
simon tilda ulrich vera walter xenia yann zoe albert berta claus diana erik franz gisela hugo ida jonas klara ludwig
""".split()


class Chain:
    def __init__(self, order):
        self.order = order
        self.counts = defaultdict(Counter)
        self.choices = {}

    def learn(self, word):
        state = "^" * self.order
        for letter in word + "$":
            self.counts[state][letter] += 1
            state = (state + letter)[1:]

    def settle(self):
        for state, counter in self.counts.items():
            letters, sums, total = [], [], 0
            for letter, count in sorted(counter.items()):
                total += count
                letters.append(letter)
                sums.append(total)
            self.choices[state] = (letters, sums, total)

    def word(self, chance):
        state, out = "^" * self.order, []
        while True:
            letters, sums, total = self.choices[state]
            letter = letters[bisect.bisect_right(sums, chance.random() * total)]
            if letter == "$":
                return "".join(out)
            out.append(letter)
            state = (state + letter)[1:]

    def surprise(self, word):
        state, bits = "^" * self.order, 0.0
        for letter in word + "$":
            counter = self.counts[state]
            bits -= math.log2(counter[letter] / sum(counter.values()))
            state = (state + letter)[1:]
        return bits


def main():
    chance = random.Random(11)
    chain = Chain(2)
    for name in NAMES:
        chain.learn(name)
    chain.settle()
    lengths, seen, total = Counter(), set(), 0.0
    for _ in range(700000):
        word = chain.word(chance)
        lengths[len(word)] += 1
        seen.add(word)
        total += chain.surprise(word)
    print(len(seen), f"{total:.6f}")
    print(lengths.most_common(6))
    print(sorted(seen)[:5], max(seen, key=len))


main()
