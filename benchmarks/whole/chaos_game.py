"""A chaos game: a point wanders over splines made of small objects, a picture counts where it was."""

import math
import random
import sys


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def mixed(self, other, part):
        return Point(self.x + (other.x - self.x) * part, self.y + (other.y - self.y) * part)

    def distance(self, other):
        return math.sqrt((self.x - other.x) ** 2 + (self.y - other.y) ** 2)


class Curve:
    def __init__(self, points, knots):
        self.points = points
        self.knots = knots

    def length(self):
        total = 0.0
        for k in range(len(self.points) - 1):
            total += self.points[k].distance(self.points[k + 1])
        return total

    def __call__(self, u):
        count = len(self.points)
        work = [p for p in self.points]
        for level in range(1, count):
            for k in range(count - level):
                work[k] = work[k].mixed(work[k + 1], u)
        return work[0]


class Game:
    def __init__(self, curves, size):
        self.curves = curves
        self.size = size
        self.picture = [[0] * size for _ in range(size)]
        self.where = Point(0.5, 0.5)

    def move(self, chance):
        curve = self.curves[int(chance.random() * len(self.curves))]
        target = curve(chance.random())
        self.where = self.where.mixed(target, 0.6)

    def play(self, count, chance):
        for _ in range(count):
            self.move(chance)
            x = int(self.where.x * self.size)
            y = int(self.where.y * self.size)
            if 0 <= x < self.size and 0 <= y < self.size:
                self.picture[y][x] += 1


def main(rounds):
    chance = random.Random(1234)
    curves = [
        Curve([Point(0.1, 0.1), Point(0.4, 0.9), Point(0.9, 0.8), Point(0.6, 0.2)], 3),
        Curve([Point(0.9, 0.1), Point(0.7, 0.5), Point(0.2, 0.9)], 2),
        Curve([Point(0.1, 0.8), Point(0.3, 0.3), Point(0.5, 0.5), Point(0.9, 0.4)], 3),
    ]
    game = Game(curves, 100)
    for _ in range(rounds):
        game.play(2000, chance)
    print(sum(map(max, game.picture)), f"{sum(c.length() for c in curves):.6f} {game.where.x:.9f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 650)
