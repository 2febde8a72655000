"""Gravitating bodies, softened: leapfrog steps, with the kinetic and the potential energy after each."""

import numpy as np

SIZES = {"tiny": (5, 3), "S": (60, 60), "M": (200, 120), "L": (450, 250)}


def initialise(size):
    n, steps = size
    rng = np.random.default_rng(37)
    mass = 20.0 * np.ones((n, 1)) / n
    return mass, rng.normal(size=(n, 3)), rng.normal(size=(n, 3)), steps, 0.01, 1.0, 0.1


def acceleration(position, mass, gravity, softening):
    x = position[:, 0:1]
    y = position[:, 1:2]
    z = position[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    inverse = (dx**2 + dy**2 + dz**2 + softening**2) ** (-1.5)
    ax = gravity * (dx * inverse) @ mass
    ay = gravity * (dy * inverse) @ mass
    az = gravity * (dz * inverse) @ mass
    return np.hstack((ax, ay, az))


def energies(position, velocity, mass, gravity):
    kinetic = 0.5 * np.sum(mass * velocity**2)
    x = position[:, 0:1]
    y = position[:, 1:2]
    z = position[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    distance = np.sqrt(dx**2 + dy**2 + dz**2)
    inverse = np.where(distance > 0, 1.0 / np.where(distance > 0, distance, 1.0), 0.0)
    potential = gravity * np.sum(np.sum(np.triu(-(mass * mass.T) * inverse, 1)))
    return kinetic, potential


def numpy_form(mass, position, velocity, steps, dt, gravity, softening):
    velocity -= np.mean(mass * velocity, axis=0) / np.mean(mass)
    current = acceleration(position, mass, gravity, softening)
    kinetic = np.empty(steps + 1)
    potential = np.empty(steps + 1)
    kinetic[0], potential[0] = energies(position, velocity, mass, gravity)
    for i in range(steps):
        velocity += current * dt / 2.0
        position += velocity * dt
        current = acceleration(position, mass, gravity, softening)
        velocity += current * dt / 2.0
        kinetic[i + 1], potential[i + 1] = energies(position, velocity, mass, gravity)
    return kinetic, potential


def loop_form(mass, position, velocity, steps, dt, gravity, softening):
    n = len(mass)
    total = 0.0
    for i in range(n):
        total += mass[i, 0]
    for d in range(3):
        momentum = 0.0
        for i in range(n):
            momentum += mass[i, 0] * velocity[i, d]
        for i in range(n):
            velocity[i, d] -= momentum / total
    current = np.zeros((n, 3))
    kinetic = np.zeros(steps + 1)
    potential = np.zeros(steps + 1)
    for step in range(steps + 1):
        if step > 0:
            for i in range(n):
                for d in range(3):
                    velocity[i, d] += current[i, d] * dt / 2.0
                    position[i, d] += velocity[i, d] * dt
        for i in range(n):
            for d in range(3):
                current[i, d] = 0.0
            for j in range(n):
                dx = position[j, 0] - position[i, 0]
                dy = position[j, 1] - position[i, 1]
                dz = position[j, 2] - position[i, 2]
                inverse = (dx**2 + dy**2 + dz**2 + softening**2) ** (-1.5)
                current[i, 0] += gravity * dx * inverse * mass[j, 0]
                current[i, 1] += gravity * dy * inverse * mass[j, 0]
                current[i, 2] += gravity * dz * inverse * mass[j, 0]
        if step > 0:
            for i in range(n):
                for d in range(3):
                    velocity[i, d] += current[i, d] * dt / 2.0
        for i in range(n):
            for d in range(3):
                kinetic[step] += 0.5 * mass[i, 0] * velocity[i, d] ** 2
            for j in range(i + 1, n):
                dx = position[j, 0] - position[i, 0]
                dy = position[j, 1] - position[i, 1]
                dz = position[j, 2] - position[i, 2]
                distance = np.sqrt(dx**2 + dy**2 + dz**2)
                if distance > 0:
                    potential[step] -= gravity * mass[i, 0] * mass[j, 0] / distance
    return kinetic, potential
