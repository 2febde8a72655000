"""Planets as objects with __slots__ and a vector class with operators; leapfrog steps."""

import math


class Vector:
    __slots__ = ("x", "y", "z")

    def __init__(self, x, y, z):
        self.x = x
        self.y = y
        self.z = z

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z


class Body:
    __slots__ = ("name", "mass", "place", "speed", "force")

    def __init__(self, name, mass, place, speed):
        self.name = name
        self.mass = mass
        self.place = place
        self.speed = speed
        self.force = Vector(0.0, 0.0, 0.0)


class System:
    def __init__(self, bodies):
        self.bodies = bodies

    def forces(self):
        for body in self.bodies:
            body.force = Vector(0.0, 0.0, 0.0)
        for i, a in enumerate(self.bodies):
            for b in self.bodies[i + 1 :]:
                way = b.place - a.place
                square = way.dot(way) + 0.01
                pull = way * (a.mass * b.mass / (square * math.sqrt(square)))
                a.force = a.force + pull
                b.force = b.force - pull

    def step(self, dt):
        for body in self.bodies:
            body.speed = body.speed + body.force * (0.5 * dt / body.mass)
            body.place = body.place + body.speed * dt
        self.forces()
        for body in self.bodies:
            body.speed = body.speed + body.force * (0.5 * dt / body.mass)

    def energy(self):
        total = 0.0
        for i, a in enumerate(self.bodies):
            total += 0.5 * a.mass * a.speed.dot(a.speed)
            for b in self.bodies[:i]:
                way = a.place - b.place
                total -= a.mass * b.mass / math.sqrt(way.dot(way) + 0.01)
        return total


def main():
    bodies = [Body("sun", 100.0, Vector(0.0, 0.0, 0.0), Vector(0.0, 0.0, 0.0))]
    for k in range(1, 9):
        angle = 0.7 * k
        place = Vector(k * 2.0 * math.cos(angle), k * 2.0 * math.sin(angle), 0.1 * k)
        speed = Vector(-math.sin(angle), math.cos(angle), 0.0) * math.sqrt(100.0 / (2.0 * k))
        bodies.append(Body(f"planet {k}", 0.1 * k, place, speed))
    system = System(bodies)
    system.forces()
    print(f"{system.energy():.9f}")
    for k in range(80000):
        system.step(0.002)
        if k % 20000 == 0:
            print(k, f"{system.energy():.9f}")
    print(f"{system.energy():.9f}")
    for body in system.bodies:
        print(f"{body.name:10} {body.place.x:12.6f} {body.place.y:12.6f} {body.place.z:12.6f}")


if __name__ == "__main__":
    main()
