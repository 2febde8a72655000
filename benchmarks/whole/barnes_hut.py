"""Gravity by a tree of squares."""

import random
import sys


class Body:
    def __init__(self, x, y, mass):
        self.x, self.y, self.mass = x, y, mass
        self.vx = self.vy = 0.0


class Square:
    def __init__(self, x, y, size):
        self.x, self.y, self.size = x, y, size
        self.mass = self.cx = self.cy = 0.0
        self.body = None
        self.parts = None

    def add(self, body, depth=0):
        if self.mass == 0.0 or depth > 40:
            self.body = body
        else:
            if self.parts is None:
                self.split()
                if self.body is not None:
                    self.part_of(self.body).add(self.body, depth + 1)
                    self.body = None
            self.part_of(body).add(body, depth + 1)
        total = self.mass + body.mass
        self.cx = (self.cx * self.mass + body.x * body.mass) / total
        self.cy = (self.cy * self.mass + body.y * body.mass) / total
        self.mass = total

    def split(self):
        half = self.size / 2
        self.parts = [Square(self.x + i * half, self.y + j * half, half) for j in range(2) for i in range(2)]

    def part_of(self, body):
        half = self.size / 2
        i = 1 if body.x >= self.x + half else 0
        j = 1 if body.y >= self.y + half else 0
        return self.parts[2 * j + i]

    def pull(self, body, force):
        if self.mass == 0.0 or self.body is body:
            return
        dx, dy = self.cx - body.x, self.cy - body.y
        d2 = dx * dx + dy * dy + 1e-4
        if self.parts is None or self.size * self.size < 0.25 * d2:
            f = self.mass / (d2 * d2**0.5)
            force[0] += f * dx
            force[1] += f * dy
        else:
            for part in self.parts:
                part.pull(body, force)


def step(bodies, dt):
    root = Square(-4.0, -4.0, 8.0)
    for body in bodies:
        root.add(body)
    for body in bodies:
        force = [0.0, 0.0]
        root.pull(body, force)
        body.vx += dt * force[0]
        body.vy += dt * force[1]
    for body in bodies:
        body.x += dt * body.vx
        body.y += dt * body.vy


def main(steps):
    chance = random.Random(7)
    bodies = [Body(chance.uniform(-1.0, 1.0), chance.uniform(-1.0, 1.0), 0.01) for _ in range(200)]
    for _ in range(steps):
        step(bodies, 0.001)
    print(f"{sum(b.x for b in bodies):.9f} {sum(b.vy for b in bodies):.9f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 550)
