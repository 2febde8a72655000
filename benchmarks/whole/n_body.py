"""Planets as lists in tuples, pairs of them with shared references: energy before and after many steps."""

import sys

PI = 3.141592653589793
SUN = 4 * PI * PI
YEAR = 365.24

BODIES = {
    "sun": ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], SUN),
    "inner": ([4.84, -1.16, -0.10], [0.00166 * YEAR, 0.00769 * YEAR, -0.00006 * YEAR], 0.00095 * SUN),
    "ring": ([8.34, 4.12, -0.40], [-0.00276 * YEAR, 0.00499 * YEAR, 0.00002 * YEAR], 0.00028 * SUN),
    "blue": ([12.89, -15.11, -0.22], [0.00296 * YEAR, 0.00237 * YEAR, -0.00002 * YEAR], 0.00004 * SUN),
    "outer": ([15.37, -25.91, 0.17], [0.00268 * YEAR, 0.00162 * YEAR, -0.00009 * YEAR], 0.00005 * SUN),
}
SYSTEM = list(BODIES.values())


def pairs_of(items):
    return [(items[i], items[j]) for i in range(len(items) - 1) for j in range(i + 1, len(items))]


PAIRS = pairs_of(SYSTEM)


def advance(dt, count, bodies=SYSTEM, pairs=PAIRS):
    for _ in range(count):
        for ([x1, y1, z1], v1, m1), ([x2, y2, z2], v2, m2) in pairs:
            dx, dy, dz = x1 - x2, y1 - y2, z1 - z2
            mag = dt * ((dx * dx + dy * dy + dz * dz) ** (-1.5))
            b1, b2 = m1 * mag, m2 * mag
            v1[0] -= dx * b2
            v1[1] -= dy * b2
            v1[2] -= dz * b2
            v2[0] += dx * b1
            v2[1] += dy * b1
            v2[2] += dz * b1
        for r, [vx, vy, vz], _ in bodies:
            r[0] += dt * vx
            r[1] += dt * vy
            r[2] += dt * vz


def energy(bodies=SYSTEM, pairs=PAIRS):
    e = 0.0
    for ((x1, y1, z1), _, m1), ((x2, y2, z2), _, m2) in pairs:
        dx, dy, dz = x1 - x2, y1 - y2, z1 - z2
        e -= (m1 * m2) / ((dx * dx + dy * dy + dz * dz) ** 0.5)
    for _, [vx, vy, vz], m in bodies:
        e += m * (vx * vx + vy * vy + vz * vz) / 2.0
    return e


def main(rounds):
    first = energy()
    for _ in range(rounds):
        advance(0.01, 1000)
    print(f"{first:.9f} {energy():.9f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 800)
