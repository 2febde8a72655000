"""Spheres over a plane, traced with a class of vectors."""

import math
import sys


class Vector:
    def __init__(self, x, y, z):
        self.x, self.y, self.z = x, y, z

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def scaled(self, f):
        return Vector(self.x * f, self.y * f, self.z * f)

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z

    def unit(self):
        return self.scaled(1.0 / math.sqrt(self.dot(self)))


class Ray:
    def __init__(self, start, direction):
        self.start = start
        self.direction = direction.unit()

    def at(self, t):
        return self.start + self.direction.scaled(t)


class Sphere:
    def __init__(self, centre, radius, shade):
        self.centre, self.radius, self.shade = centre, radius, shade

    def hit(self, ray):
        to = self.centre - ray.start
        v = to.dot(ray.direction)
        d = self.radius * self.radius - (to.dot(to) - v * v)
        if d < 0.0:
            return None
        return v - math.sqrt(d)

    def normal(self, place):
        return (place - self.centre).unit()


class Plane:
    def __init__(self, point, up, shade):
        self.point, self.up, self.shade = point, up.unit(), shade

    def hit(self, ray):
        v = ray.direction.dot(self.up)
        if abs(v) < 1e-9:
            return None
        return (self.point - ray.start).dot(self.up) / v

    def normal(self, place):
        return self.up


class Scene:
    def __init__(self):
        self.things = []
        self.lights = []

    def first(self, ray):
        best, at = None, 1e30
        for thing in self.things:
            t = thing.hit(ray)
            if t is not None and 1e-4 < t < at:
                best, at = thing, t
        return best, at

    def light(self, ray, depth):
        if depth > 3:
            return 0.0
        thing, t = self.first(ray)
        if thing is None:
            return 0.1
        place = ray.at(t)
        normal = thing.normal(place)
        total = 0.2 * self.light(Ray(place, ray.direction - normal.scaled(2.0 * ray.direction.dot(normal))), depth + 1)
        for lamp in self.lights:
            to = lamp - place
            blocker, _ = self.first(Ray(place, to))
            if blocker is None:
                total += max(0.0, to.unit().dot(normal)) * thing.shade
        return total

    def row(self, y, width, height):
        found = []
        eye = Vector(0.0, 1.8, 10.0)
        for x in range(width):
            direction = Vector((x - width / 2) / width, (height / 2 - y) / height, -1.0)
            found.append(self.light(Ray(eye, direction), 0))
        return found


def main(width):
    scene = Scene()
    scene.lights = [Vector(30.0, 30.0, 10.0), Vector(-10.0, 100.0, 30.0)]
    scene.things.append(Sphere(Vector(1.0, 3.0, -10.0), 1.0, 0.8))
    for k in range(6):
        scene.things.append(Sphere(Vector(-3.0 - k * 0.4, 2.3, -5.0 + k), 0.4, 0.3 + 0.1 * k))
    scene.things.append(Plane(Vector(0.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), 0.6))
    total = 0.0
    for y in range(width):
        total += sum(scene.row(y, width, width))
    print(f"{total:.9f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 380)
